"""A corpus in the making as lines of text: what is there, what is lacking, what is worth having, and the next step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.checks.envelope import MIDDLE_TIERS
from corpora.model.labels import label_words
from harness.estimate.framework import CostRange, read_framework, work_out
from rosetta_tui.report.framework import amount
from rosetta_tui.show.text import plain
from scoring.core.wording import counted, percent

if TYPE_CHECKING:
    from harness.project.making import ProjectProgress, SegmentProgress

PER_HOUR = CostRange(50, 65)
"""US dollars that a speaker gets for an hour (benchmark-specification §10.3)."""

HOURS_ALONE, HOURS_HELPED = "about 80", "30–40"
"""Hours of speakers for a language, without help and where sources and analyses are proposed (§11.3)."""


def segment_fields(segment: SegmentProgress) -> dict[str, Any]:
    """Return the progress of a segment for JSON."""
    return {**asdict(segment), "segment": str(segment.segment)}


def progress_lines(found: ProjectProgress, folder: Path) -> Iterator[str]:
    """Yield what ``rosetta corpus progress`` prints."""
    dataset = found.dataset
    title = (dataset.model_extra or {}).get("title", dataset.id)
    yield plain(f"{title} · {dataset.language_pair} · {dataset.name}")
    yield from map(plain, _labels(found))
    yield ""
    yield f"{'segment':<16}{'needed':>8}{'sources':>9}{'translated':>12}{'agreed':>8}"
    for each in found.segments:
        yield f"{each.segment:<16}{each.needed:>8}{each.sources:>9}{each.translated:>12}{each.agreed:>8}"
    yield f"difficulty      {_counts(found.by_difficulty)}{_middle(found.by_difficulty)}"
    yield f"register        {_counts(found.by_register)}"
    yield f"sources         {_counts(found.by_origin)}"
    for out in found.out:
        yield plain(
            f"with speakers   {out.review}: {out.left} of {counted(out.asked, 'sentence')} not done"
        )
    yield ""
    yield "what a benchmark needs (§11.1)"
    for row in found.requirements:
        verdict = "met" if row.met else f"short by {row.short_by}"
        note = f" ({row.note})" if row.note else ""
        yield plain(f"  {row.name:<26}{row.found:>5} of {row.needed:<5}{verdict}{note}")
    yield "worth having beside it (§11.2)"
    yield from (f"  {line}" for line in _advice(found))
    yield "what a language takes (§10.3)"
    yield from (f"  {line}" for line in _cost())
    yield ""
    yield plain(f"next: {next_step(found, folder)}")


def _labels(found: ProjectProgress) -> Iterator[str]:
    for each in label_words((found.dataset.model_extra or {}).get("labels")):
        yield f"label: {each}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none yet"


def _middle(by_difficulty: Mapping[str, int]) -> str:
    total = sum(by_difficulty.values())
    middle = sum(by_difficulty.get(str(tier), 0) for tier in MIDDLE_TIERS)
    return f" ({percent(middle / total)} of them 2 to 4, where most should be)" if total else ""


def _advice(found: ProjectProgress) -> Iterator[str]:
    tag = found.dataset.target_language
    done = sum(each.translated for each in found.segments)
    yield f"analyses: {found.analysed} of {done} (rosetta corpus analyse; an analyser: rosetta language check {tag})"
    yield f"variant classes: {found.with_class} of {done}; other right wordings: {found.with_variants}"
    yield "a bilingual dictionary: methods can look words up in it (--glossary), and it keeps them from inventing some"
    yield (
        "an organisation that holds the secret part: it lies in a vault"
        if found.in_vault
        else "an organisation that holds the secret part: make a vault (rosetta vault init), then rosetta vault add"
    )


def _cost() -> Iterator[str]:
    worked = work_out(read_framework(None))
    for each in worked.establishment:
        yield f"{each.name:<36}{amount(each.usd):<16}{each.notes}".rstrip()
    total = worked.establishment_total
    if total is not None:
        yield f"{total.name:<36}{amount(total.usd)}"
        if total.differs and total.stated_usd is not None:
            yield f"! {amount(total.stated_usd)} is stated, but the rows come to {amount(total.usd)}."
    speakers = worked.establishment[0].usd
    low, high = speakers.low / PER_HOUR.high, speakers.high / PER_HOUR.low
    yield (
        f"hours of speakers: {low:.0f}–{high:.0f} at {amount(PER_HOUR)} an hour; {HOURS_ALONE} without help, {HOURS_HELPED} where sources and "
        "analyses are proposed (§11.3). Numbers of your own: rosetta cost --write FILE.toml"
    )


def next_step(found: ProjectProgress, folder: Path) -> str:
    """Return the command that comes next, with why."""
    short = ", ".join(
        f"{each.needed - each.sources} of {each.segment}"
        for each in found.segments
        if each.sources < each.needed
    )
    sources, done, agreed = (
        sum(getattr(each, name) for each in found.segments)
        for name in ("sources", "translated", "agreed")
    )
    alone = f"{counted(done - agreed, 'translation')} that no second speaker saw"
    steps = (
        (found.in_vault, "nothing: it lies in the vault, and corpus.json is its open part"),
        (found.waiting, f"when sticks come back: rosetta review import STICK, then rosetta corpus gather {folder}"),
        (short, f"rosetta corpus sources {folder} FILE (still {short})"),
        (done < sources, f"rosetta corpus translate {folder} ({counted(sources - done, 'sentence')} to translate)"),
        (agreed < done, f"rosetta corpus agree {folder} ({alone})"),
        (not found.consent.documented, f"rosetta corpus consent {folder}"),
    )  # fmt: skip
    last = f"rosetta vault add VAULT {folder} (VAULT: rosetta vault init)"
    return next((words for holds, words in steps if holds), last)
