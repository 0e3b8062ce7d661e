"""A corpus in the making as lines of text: what is there, what is lacking, what is worth having, and the next step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from corpora.checks.envelope import MIDDLE_TIERS
from corpora.files.json_types import JsonObject
from corpora.model.vocabularies import label_words
from corpora.text.messages import counted, percent
from harness.estimate.framework import CostRange, Worked, WorkedFramework, read_framework, work_out
from rosetta_tui.report.cost import amount
from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.text import plain

if TYPE_CHECKING:
    from harness.project.authoring import ProjectProgress, SegmentProgress
    from harness.project.candidates import TakenSources
    from review.office.results.progress import WorkingTime

PER_HOUR = CostRange(50, 65)  # US dollars for an hour of a speaker (specification §10.3)

HOURS_ALONE, HOURS_HELPED = "about 80", "30–40"
"""Hours of speakers for a language, without help and where sources and analyses are proposed (§11.3)."""

Command = tuple[str, ...]  # its words; a person fills in those in CAPITAL LETTERS


class NextStep(NamedTuple):
    words: str
    commands: tuple[Command, ...] = ()  # one after the other; none where nothing is left to do


class Advice(NamedTuple):
    """One thing that is worth having beside the minimum (benchmark-specification §11.2)."""

    name: str
    found: int | None  # how many entries have it; None where it is not counted
    words: str
    commands: Mapping[str, Command]  # what can be done about it, by which command


def segment_fields(segment: SegmentProgress) -> JsonObject:
    return {**asdict(segment), "segment": str(segment.segment)}


def progress_lines(found: ProjectProgress, folder: Path, worked: Sequence[WorkingTime] | None = None) -> Iterator[str]:
    """Yield what ``rosetta corpus progress`` prints; ``worked``: None where the reviews are in another data folder."""
    dataset = found.dataset
    title = (dataset.model_extra or {}).get("title", dataset.id)
    yield plain(f"{title} · {dataset.language_pair} · {dataset.name}")
    yield from (plain(f"label: {label}") for label in label_words((dataset.model_extra or {}).get("labels")))
    yield ""
    yield f"{'segment':<16}{'needed':>8}{'sources':>9}{'translated':>12}{'agreed':>8}"
    for segment in found.segments:
        yield f"{segment.segment:<16}{segment.needed:>8}{segment.sources:>9}{segment.translated:>12}{segment.agreed:>8}"
    middle = middle_words(found.by_difficulty)
    yield f"difficulty      {_counts(found.by_difficulty)}{f' ({middle})' if middle else ''}"
    yield f"register        {_counts(found.by_register)}"
    yield f"sources         {_counts(found.by_origin)}"
    if found.withdrawn:
        yield f"left out        {withdrawn_words(found.withdrawn)}"
    for out in found.out:
        yield plain(f"with speakers   {out.review}: {out.left} of {counted(out.asked, 'sentence')} not done")
    yield ""
    yield "what a benchmark needs (§11.1)"
    for row in found.requirements:
        verdict = "met" if row.met else f"short by {row.short_by}"
        note = f" ({row.note})" if row.note else ""
        yield plain(f"  {row.name:<26}{row.found:>5} of {row.needed:<5}{verdict}{note}")
    yield "worth having next to it (§11.2)"
    done = sum(segment.translated for segment in found.segments)
    for kind in advice(found, folder):
        count = "" if kind.found is None else f"{kind.found} of {done}; "
        yield plain(f"  {kind.name}: {count}{kind.words}{_by(kind.commands.values())}")
    yield "what a language takes (§10.3)"
    worked_out = work_out(read_framework(None))
    for cost in worked_out.establishment:
        yield f"  {cost.name:<36}{amount(cost.usd):<16}{cost_notes(cost)}".rstrip()
    if (total := worked_out.establishment_total) is not None:
        yield f"  {total.name:<36}{amount(total.usd)}"
    yield from (f"  {line}" for line in cost_words(worked_out))
    yield "  Numbers of your own: rosetta cost --write FILE.toml"
    yield "what speakers worked"
    yield from (f"  {plain(line)}" for line in worked_words(worked))
    yield ""
    step = next_step(found, folder)
    yield plain(f"next: {step.words}{_by(step.commands)}")


def withdrawn_words(count: int) -> str:
    """Return of how many sentences consent was taken back."""
    return f"{counted(count, 'sentence')} of which consent was withdrawn (rosetta community notices)"


def _by(commands: Iterable[Command]) -> str:
    lines = "; ".join(map(command_line, commands))
    return f" ({lines})" if lines else ""


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none yet"


def middle_words(by_difficulty: Mapping[str, int]) -> str:
    """Return how many sentences are of the middle tiers, where most should be; nothing where there is none."""
    total = sum(by_difficulty.values())
    middle = sum(by_difficulty.get(str(tier), 0) for tier in MIDDLE_TIERS)
    return f"{percent(middle / total)} of them 2 to 4, where most should be" if total else ""


def advice(found: ProjectProgress, folder: Path) -> Iterator[Advice]:
    """Yield what is worth having beside the minimum, and how much of it there is."""
    tag, here = found.dataset.target_language, str(folder)
    yield Advice(
        "a morphological analyser (FST)",
        None,
        "the most powerful metric for polysynthetic languages rests on it, and it proposes analyses",
        {"See which analyser the language has": ("rosetta", "language", "check", tag)},
    )
    yield Advice(
        "analyses",
        found.analysed,
        "proposed by an analyser of the language, confirmed by a person",
        {"Confirm what the analyser proposes": ("rosetta", "corpus", "analyse", here, "--by", "NAME")},
    )  # fmt: skip
    yield Advice("variant classes", found.with_class, "what of the language a sentence tests", {})
    yield Advice("other right wordings", found.with_variants, "so that a method is not marked down for one", {})
    yield Advice(
        "a bilingual dictionary", None, "methods can look words up in it (--glossary), and it keeps them from inventing some", {}
    )  # fmt: skip
    make = {} if found.in_vault else {"Make a vault": VAULT_INIT}
    words = "it is in a vault" if found.in_vault else "make a vault, then rosetta vault add"
    yield Advice("an organisation that holds the secret part", None, words, make)


VAULT_INIT: Command = (
    "rosetta", "vault", "init", "VAULT", "--name", "WORDS", "--as", "NAME", "--recovery", "FILE.txt",
)  # fmt: skip


def cost_notes(each: Worked) -> str:
    """Return what is to be known of a row of the costs, and whether it comes back every year."""
    return "; ".join(filter(None, (each.factors, each.notes)))


def cost_words(worked: WorkedFramework) -> Iterator[str]:
    """Yield what is to be said of the costs of a language: the hours of speakers, and a total that is stated otherwise."""
    speakers = worked.establishment[0].usd
    low, high = speakers.low / PER_HOUR.high, speakers.high / PER_HOUR.low
    yield (
        f"Hours of speakers: {low:.0f}–{high:.0f} at {amount(PER_HOUR)} an hour; {HOURS_ALONE} without help, {HOURS_HELPED} where sources and "
        "analyses are proposed (§11.3)."
    )
    total = worked.establishment_total
    if total is not None and total.differs and total.stated_usd is not None:
        yield f"! {amount(total.stated_usd)} is stated, but the rows come to {amount(total.usd)}."


def worked_words(worked: Sequence[WorkingTime] | None) -> Iterator[str]:
    """Yield the hours that speakers worked by review, as the logs have them that came back, and what they come to."""
    for work in worked or ():
        yield f"{work.review}: {work.hours:.1f} hours, {counted(work.people, 'person', 'people')}, {counted(work.answers, 'answer')}"
    yield from total_words(worked)


def total_words(worked: Sequence[WorkingTime] | None) -> Iterator[str]:
    """Yield what the hours of speakers come to, or why there are none, and how they are counted."""
    if worked is None:
        yield "what came back is in another data folder"
        return
    if not worked:
        yield "nothing came back yet"
        return
    hours = sum(work.hours for work in worked)
    usd = PER_HOUR.times(CostRange(hours, hours))
    yield f"in all {hours:.1f} hours: {amount(usd)} at {amount(PER_HOUR)} an hour"
    yield "Counted is the time in which a sentence was on the screen and its person active; reading, practice, breaks and talking are in no log."


def added_words(taken: TakenSources) -> str:
    """Return how many sentences were added, and to which segments."""
    counts = Counter(str(entry.segment) for entry in taken.entries)
    counts_words = ", ".join(f"{name} {count}" for name, count in counts.items())
    many = counted(len(taken.entries), "entry", "entries")
    return f"Added: {many}{f' ({counts_words})' if counts_words else ''}."


def taken_out_words(count: int) -> str:
    """Return how many sentences were taken out again."""
    return f"Taken out again: {counted(count, 'entry', 'entries')}."


def left_out_lines(taken: TakenSources) -> Iterator[str]:
    """Yield what was left out of the sentences that were to be added; they are named by their lines."""
    yield from (f"left out: {line}" for line in taken.copies)
    if taken.left:
        yield f"{taken.left} more were not taken (--take)."


def erase_words(folder: Path, file: Path) -> str:
    """Return that secret sentences still are in the file that they came from."""
    return f"Those of secret segments are stored encrypted in {folder}. In {file} they are open: erase it, and its copies, once you are done."


def next_step(found: ProjectProgress, folder: Path) -> NextStep:
    """Return what comes next, with its commands."""
    corpus, here = ("rosetta", "corpus"), str(folder)
    short = ", ".join(
        f"{segment.needed - segment.sources} of {segment.segment}"
        for segment in found.segments
        if segment.sources < segment.needed
    )
    sources, done, agreed = (
        sum(getattr(segment, name) for segment in found.segments) for name in ("sources", "translated", "agreed")
    )
    alone = f"hand {counted(done - agreed, 'translation')} to a second speaker, who did not write them"
    untold = sources - done - found.objected
    sealed = ("--passphrases", "-o", "STICK")
    steps = (
        (found.in_vault, NextStep("nothing: it is in the vault, and corpus.json is its open part")),
        (found.waiting, NextStep("take in what speakers did, when sticks come back", (("rosetta", "review", "import", "STICK"), (*corpus, "gather", here)))),
        (short, NextStep(f"add sentences, still {short}", ((*corpus, "sources", here, "FILE"),))),
        (untold, NextStep(f"hand {counted(untold, 'sentence')} to speakers, who translate them", ((*corpus, "translate", here, *sealed),))),
        (agreed < done, NextStep(alone, ((*corpus, "agree", here, *sealed),))),
        (found.objected, NextStep(f"decide on {counted(found.objected, 'translation')} to which somebody objects, with those who did", (("rosetta", "review", "adjudicate", "REVIEW"), (*corpus, "gather", here)))),
        (not found.consent.documented, NextStep("record that the community agreed", (consent_command(folder),))),
    )  # fmt: skip
    last = NextStep("seal all of it in a vault", (VAULT_INIT, ("rosetta", "vault", "add", "VAULT", here)))
    return next((step for holds, step in steps if holds), last)


def consent_command(folder: Path) -> Command:
    """Return the command that records the community's consent."""
    return (
        "rosetta", "corpus", "consent", str(folder), "--community", "NAME", "--person", "WORDS",
        "--date", "YYYY-MM-DD", "--statement", "FILE.txt",
    )  # fmt: skip
