"""What the entry screen says about one entry: labels, texts, and its values by category."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

from textual.content import Content

from corpora.model.entry import Entry
from harness.core.failures import HarnessError
from harness.method.method import Attempt, Result
from harness.setup.scoring_tools import stated_setup, stored_scorer
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.replies import Exchange
from harness.store.runs import Run, read_run
from rosetta_tui.show import figures
from rosetta_tui.show.card_fields import references_accepted
from rosetta_tui.show.cree import CreeTarget, converted
from rosetta_tui.show.metric_words import by_category, by_reason, of_entries
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import PageLine, show, show_lines, shown_value
from rosetta_tui.toolkit.diff_text import LEGEND, diff_content
from scoring.core.columns import TRANSLATIONS
from scoring.core.inventory import short_title
from scoring.core.scorer import Scorer
from scoring.core.specification import quality_tier
from scoring.core.table import StatisticsError
from scoring.core.wording import counted


@dataclass(frozen=True, slots=True)
class RunScoring:
    """How the stored statistics of a run's entries are read."""

    target_language: str
    scorer: Scorer
    references: float | None
    """Share of the references' own words that the run's analyser accepts, 0–1."""

    def values(self, result: Result) -> dict[str, float | None]:
        """Read an entry's own values from its statistics; the kept ones stand where these do not fit."""
        try:
            return dict(self.scorer.entry_values(self.scorer.unpack(result.statistics)).values)
        except StatisticsError:
            kept = self.scorer.columns
            if kept != TRANSLATIONS:
                return kept.told(result.kept)
            return {"exact_match_rate": float(result.exact), "chrf_plus_plus": result.headline}


def run_scoring(store: sqlite3.Connection, run: Run) -> RunScoring:
    """Find out how a run was scored; one that states it in a way nobody can read is read by no metric."""
    target = read_dataset(store, run.corpus).target_language
    try:
        setup = stated_setup(run.opening.scoring)
    except HarnessError:
        return RunScoring(target, Scorer(()), None)
    entries = []
    if setup is None:  # only texts are known, and whether there are variants decides what is read
        entries = list(read_entries(store, run.corpus, read_run(store, run.id).positions).values())
    scorer = stored_scorer(run, target, entries)
    return RunScoring(target, scorer, references_accepted(run.opening.scoring))


def scores(result: Result, missing: Mapping[str, str], scoring: RunScoring) -> Content:
    """Return composite and tier, which translations alone have, then one line of values for each category.

    What a single entry reaches is no verdict of speakers, whatever the name of its tier.
    """
    values = {id_: v for id_, v in scoring.values(result).items() if of_entries(id_)}
    if not scoring.scorer.mixes:
        return Content("\n").join([*_lines(values, scoring), *_nothing(values, missing)])
    tier = quality_tier(result.second)
    mixed = Content.assemble(
        ("composite ", "$quiet"),
        (figures.number(result.second, 2), "bold"),
        ("  ", ""),
        (figures.meter(tier), "$mark"),
        f" {tier}",
        (" by its scores alone", "$quiet"),
    )
    return Content("\n").join([mixed, *_lines(values, scoring), *_nothing(values, missing)])


def _lines(values: Mapping[str, float | None], scoring: RunScoring) -> Iterator[Content]:
    dot = Content.styled(" · ", "$quiet")
    for _, metrics in by_category(id_ for id_, value in values.items() if value is not None):
        yield dot.join([_score(id_, values[id_], scoring) for id_ in metrics])


def _score(metric: str, value: float | None, scoring: RunScoring) -> Content:
    name = Content.styled(f"{short_title(metric)} ", "$quiet")
    if metric in {"exact_match_rate", "equivalent_match_rate"}:
        return name.append(Content.styled("yes", "$good") if value else Content("no"))
    return name.append(shown_value(metric, value, scoring.references))


def _nothing(values: Mapping[str, float | None], missing: Mapping[str, str]) -> Iterator[Content]:
    """Name the metrics of the run that find nothing to look at in this entry."""
    idle = [short_title(id_) for id_, v in values.items() if v is None and id_ not in missing]
    if idle:
        yield show(f"no value for this entry: {', '.join(idle)}", "$quiet")


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """Everything that the store knows about one entry of a run."""

    entry: Entry
    result: Result | None
    attempts: Sequence[Attempt]
    exchanges: Sequence[Exchange | None]
    """What was asked and answered in each attempt, None where nothing was kept."""
    missing: Mapping[str, str]
    """Metric id → why it has no value in this run."""
    scoring: RunScoring
    elsewhere: bool = False
    """Whether the run's outputs were made elsewhere."""
    writing: CreeTarget | None = None
    """What the texts of the target language are converted into; None: they are shown as they are."""


def texts(facts: EntryFacts) -> list[PageLine]:
    """Return source, reference, variants and output, and what the output scored."""
    entry, result, writing = facts.entry, facts.result, facts.writing
    reference = _text(entry.reference, entry, writing)
    lines = [PageLine("Source", show(entry.source)), PageLine("Reference", reference)]
    if entry.variants:
        variants = [_text(variant, entry, writing) for variant in entry.variants]
        lines.append(PageLine("Variants", Content("\n").join(variants)))
    lines += _outcome(entry, result, writing)
    if result is not None:
        lines.append(PageLine("Scores", scores(result, facts.missing, facts.scoring)))
    return lines


def background(facts: EntryFacts) -> list[PageLine]:
    """Return what is known of the entry, how its output came about, and the metrics without a value."""
    lines = about(facts.entry)
    if facts.result is not None:
        missing = {**facts.missing, **facts.scoring.scorer.as_stated}
        lines += [PageLine("Attempts", _attempts(facts)), *_gaps(missing)]
    return lines


def _text(text: str, entry: Entry, writing: CreeTarget | None) -> Content:
    """Return a text of the target language, and say so where it is converted."""
    turned = _turned(text, entry, writing)
    if turned == text:
        return show(text)
    return Content.assemble(show(turned), (f"   converted into {writing}", "$quiet"))


def _turned(text: str, entry: Entry, writing: CreeTarget | None) -> str:
    return text if writing is None else converted(text, writing, entry.source)


def tags(entry: Entry) -> Content:
    """Return difficulty, segment, provenance, register and context in one line."""
    parts = [
        f"difficulty {entry.difficulty}" if entry.difficulty is not None else None,
        entry.segment.value.replace("_", " ") if entry.segment else None,
        entry.provenance,
        entry.register_,
        entry.context,
    ]
    return show(" · ".join(part for part in parts if part), "$quiet")


def _outcome(entry: Entry, result: Result | None, writing: CreeTarget | None) -> list[PageLine]:
    if result is None:
        return [PageLine("Output", Content.styled("not yet", "$quiet"))]
    if result.error_class is not None:
        kind = result.error_class.value.replace("_", " ")
        return [
            PageLine(
                "Failed", Content.assemble((f"{kind}: ", "bold $bad"), show(result.error or ""))
            )
        ]
    output = result.output or ""
    if not output.strip():
        return [PageLine("Output", Content.styled("(empty)", "$warn"))]
    shown = _text(output, entry, writing)
    if result.exact:
        return [PageLine("Output", Content.assemble(shown, ("   = reference", "$good")))]
    return [PageLine("Output", shown), PageLine("Difference", _difference(output, entry, writing))]


def _difference(output: str, entry: Entry, writing: CreeTarget | None) -> Content:
    """Compare an output with its reference as both are shown; a conversion may hide how they differ."""
    ours, theirs = (_turned(text, entry, writing) for text in (output, entry.reference))
    if writing is not None and normalize("NFC", ours) == normalize("NFC", theirs):
        told = "the same after conversion; v shows how they are written, and differ"
        return Content.styled(told, "$quiet")
    return Content.assemble(diff_content(ours, theirs), "\n", (LEGEND, "$quiet"))


def _gaps(missing: Mapping[str, str]) -> list[PageLine]:
    if not missing:
        return []
    lines = [show(f"{metrics}: {reason}", "$quiet") for reason, metrics in by_reason(missing)]
    return [PageLine("No value", Content("\n").join(lines))]


def about(entry: Entry) -> list[PageLine]:
    """Return dialect, spelling, analysis, notes and the fields that the specification does not know."""
    texts = {
        "Variety": entry.variety,
        "Orthography": entry.orthography,
        "Analysis": entry.morphological_analysis,
        "Notes": entry.notes,
        "Variant class": entry.variant_class,
    }
    lines = [PageLine(label, show_lines(text)) for label, text in texts.items() if text]
    if entry.model_extra:
        lines += [
            PageLine(plain(k)[:14], show_lines(field_words(v)))
            for k, v in entry.model_extra.items()
        ]
    return lines


def field_words(value: object) -> str:
    """Return a field of a record as people read it.

    A text stands as it is; pieces of evidence and turns of a conversation stand one after the other, with what
    else is known of each; tools, calls and states are JSON, one line for each of several.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple) or not value:
        return _json(value)
    parts = [_piece(each) for each in value]
    return "\n".join(f"{number}. {part}" for number, part in enumerate(parts, 1))


_SAID = ("user", "assistant", "reference")
"""What a turn of a conversation holds, in its order."""


def _piece(piece: object) -> str:
    if isinstance(piece, str):
        return piece
    if not isinstance(piece, Mapping):
        return _json(piece)
    if isinstance(text := piece.get("text"), str):
        rest = {name: each for name, each in piece.items() if name != "text"}
        return f"{text}   {_json(rest)}" if rest else text
    if isinstance(piece.get("user"), str):
        said = [f"{name}: {piece[name]}" for name in _SAID if isinstance(piece.get(name), str)]
        rest = {name: each for name, each in piece.items() if name not in _SAID}
        return "\n   ".join([*said, *([_json(rest)] if rest else [])])
    return _json(piece)


def _attempts(facts: EntryFacts) -> Content:
    result = facts.result
    if result is None or not facts.attempts:
        known = result is not None and (result.latency_seconds or result.total_tokens) is not None
        recorded = facts.elsewhere and known
        told = "recorded when the output was made elsewhere" if recorded else "nothing was called"
        return Content.styled(told, "$quiet")
    lines = [_attempt(number, attempt) for number, attempt in enumerate(facts.attempts, 1)]
    return Content("\n").join([*lines, _sum(result)])


def _attempt(number: int, attempt: Attempt) -> Content:
    status = "cache" if attempt.cached else str(attempt.status or figures.NONE)
    took = (
        ""
        if attempt.latency_seconds is None
        else f" in {figures.seconds(attempt.latency_seconds)} s"
    )
    waited = (
        f" after {figures.seconds(attempt.waited_seconds)} s of waiting"
        if attempt.waited_seconds
        else ""
    )
    error = ""
    if attempt.error_class is not None:
        error = f" · {attempt.error_class.value.replace('_', ' ')}: {attempt.error or ''}"
    note = f" · {attempt.note}" if attempt.note else ""
    return Content.assemble(
        (f"{number}. ", "$quiet"), f"{status}{took}{waited}", show(error, "$bad"), show(note)
    )


def _sum(result: Result) -> Content:
    parts = [
        counted(result.total_tokens, "token")
        if result.total_tokens is not None
        else "tokens unknown",
        f"cost {figures.charged(result.cost_usd, failed=result.failed)}",
        f"paid {figures.money(result.spent_usd)}" if result.spent_usd != result.cost_usd else "",
        f"a share of a call for {result.batch_size} entries" if result.batch_size > 1 else "",
    ]
    return Content.styled(" · ".join(part for part in parts if part), "$quiet")


def prompts(facts: EntryFacts) -> list[PageLine]:
    """Return what was asked, message by message."""
    lines: list[PageLine] = []
    for number, exchange in _kept(facts):
        body = exchange.body
        messages = body.get("messages") if isinstance(body, Mapping) else None
        if isinstance(body, Mapping) and isinstance(messages, list):
            lines += [_message(message) for message in messages]
            rest = {name: value for name, value in body.items() if name != "messages"}
            lines.append(PageLine("with", show(_json(rest), "$quiet")))
        else:
            lines.append(PageLine(f"Request {number}", show_lines(_json(body))))
    return lines or [PageLine("Prompt", Content.styled("none is kept for this entry", "$quiet"))]


def _message(message: Any) -> PageLine:
    if not isinstance(message, dict):
        return PageLine("message", show(_json(message)))
    content = message.get("content")
    text = content if isinstance(content, str) else _json(content)
    return PageLine(plain(str(message.get("role", "message")))[:14], show_lines(text))


def replies(facts: EntryFacts) -> list[PageLine]:
    """Return what was answered, as it came."""
    lines = []
    for number, exchange in _kept(facts):
        reply = exchange.stored.reply
        lines.append(PageLine(f"Reply {number}", show_lines(reply.text)))
        lines += [PageLine("tool call", show(_json(call))) for call in reply.tool_calls]
        facts_of_reply = [reply.model_id or "", reply.finish_reason or ""]
        lines.append(
            PageLine("", show(" · ".join(part for part in facts_of_reply if part), "$quiet"))
        )
    return lines or [PageLine("Raw reply", Content.styled("none is kept for this entry", "$quiet"))]


def _kept(facts: EntryFacts) -> list[tuple[int, Exchange]]:
    return [(n, exchange) for n, exchange in enumerate(facts.exchanges, 1) if exchange is not None]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
