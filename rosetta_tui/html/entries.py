"""Entries of a run as a page shows them: the weakest ones, and those that changed most against another run."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from harness.card.model import EntryResult
from harness.card.rows import raw_card
from harness.compare.comparison import Comparison, open_texts
from harness.store.runs import find_run
from rosetta_tui.compare.lines import leading, ordered, refusals
from rosetta_tui.compare.sentences import claim_words, ends, sentence, told_apart
from rosetta_tui.compare.sentences import number as written
from rosetta_tui.html.page import MOST_LETTERS, shortened
from rosetta_tui.show import figures
from rosetta_tui.show.card_fields import stated_findings
from rosetta_tui.show.figures import value
from rosetta_tui.show.output_text import DiffKind, diff
from scoring.core.inventory import row_of, short_title
from scoring.core.specification import TRANSLATIONS, KeptColumns
from scoring.findings.finding import FindingCode, finding_name

MOST_ENTRIES = 10  # entries that a page shows of a run, and as many that changed
MOST_FAILED = 3  # of them failed ones, where others did badly enough


@dataclass(frozen=True, slots=True)
class MarkedText:
    """Some letters of an output, or of the reference where the output lacks them."""

    mark: str  # `del`: only in the output; `ins`: only in the reference; empty: in both
    text: str


@dataclass(frozen=True, slots=True)
class ShownOutput:
    name: str
    score: str
    words: tuple[MarkedText, ...]
    failed: str = ""  # how it failed; empty where there is an output


@dataclass(frozen=True, slots=True)
class ShownEntry:
    name: str
    facts: str
    source: str
    reference: str
    outputs: tuple[ShownOutput, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    other: str  # what the other one is
    said: tuple[str, ...]
    metric: str
    entries: tuple[ShownEntry, ...]
    metrics: tuple[tuple[str, ...], ...] = ()  # name, both values, difference, its interval, p, which is better
    faults: tuple[tuple[str, ...], ...] = ()  # what was found in the outputs, and in how many of both


def weakest(results: Iterable[EntryResult], kept: KeptColumns) -> tuple[ShownEntry, ...]:
    """Return the entries on which a run did worst, a few failed ones first; without perfect ones and those without texts."""
    info = None if (known := row_of(kept.headline)) is None else known.info
    way = -1 if info is not None and info.better == "lower" else 1
    best = 1.0 if info is None else info.low if way < 0 else info.high

    def reached(row: EntryResult) -> float:
        score = _score(row, kept)
        return -1.0 if score is None else way * score

    poor = [row for row in results if not row.withheld and (_failed(row) or reached(row) < way * best)]
    failed_rows = [row for row in poor if _failed(row)]
    with_output = sorted((row for row in poor if not _failed(row)), key=reached)
    few = failed_rows[: max(MOST_FAILED, MOST_ENTRIES - len(with_output))]
    weak = []
    for row in [*few, *with_output][:MOST_ENTRIES]:
        reference, failed = row.reference or "", _failed(row)
        score = f"{short_title(kept.headline)} {value(kept.headline, _score(row, kept))}"
        score += f" · {shortened(row.semantic_verdict)}" if row.semantic_verdict is not None else ""
        level = "" if row.difficulty is None else f"difficulty {row.difficulty}"
        words = () if failed else marked(row.predicted or "", reference)
        weak.append(
            ShownEntry(
                str(row.entry_id),
                " · ".join(filter(None, (level, row.segment, row.register_))),
                shortened(row.source or ""),
                shortened(reference),
                (ShownOutput("output", score, words, failed),),
            )
        )
    return tuple(weak)


def _score(row: EntryResult, kept: KeptColumns) -> float | None:
    return row.entry_chrf if kept == TRANSLATIONS else (row.values or {}).get(kept.headline)


def _failed(row: EntryResult) -> str:
    return (row.error_class or row.error or "").replace("_", " ")


def marked(output: str, reference: str) -> tuple[MarkedText, ...]:
    """Return an output with what differs from its reference; a long one, cut, without."""
    if max(len(output), len(reference)) > MOST_LETTERS:
        return (MarkedText("", shortened(output)),)
    kinds = {DiffKind.SAME: "", DiffKind.EXTRA: "del", DiffKind.CHANGED: "del"}
    parts: list[MarkedText] = []
    for piece in diff(output, reference) or ():
        given, wanted = ("".join(part.text for part in side) for side in (piece.output, piece.reference))
        parts += MarkedText("", piece.space), MarkedText(kinds.get(piece.kind, ""), given), MarkedText("ins", wanted)
    return tuple(parts)


def changes(connection: sqlite3.Connection, found: Comparison) -> Changes:
    """Return how the second run of a comparison differs from the first, and on which entries most."""
    leads = leading(found.metrics) or list(found.metrics[:1])
    [pair] = found.pairs
    there = found.entries.values
    metric = next((id_ for id_ in (*leads, *there) if id_ in there), "")
    places = found.entries.spread_first(metric)[:MOST_ENTRIES] if metric else []
    texts = open_texts(connection, found.entries, found.sides, places)
    words = told_apart(found.runs)
    entries = []
    for position, text in zip(places, texts, strict=True):
        reference, values = text.reference or "", found.entries.values[metric][:, position]
        outputs = (
            ShownOutput(
                f"{run.letter}: {word}",
                figures.NONE if reached != reached else f"{short_title(metric)} {written(metric, float(reached))}",  # noqa: PLR0124  NaN
                () if output is None else marked(output, reference),
                "no output" if output is None else "",
            )
            for run, word, reached, output in zip(found.runs, words, values, text.outputs, strict=True)
        )  # fmt: skip
        name = str(found.entries.ids[position])
        entries.append(ShownEntry(name, "", shortened(text.source or ""), shortened(reference), tuple(outputs)))
    beside = [
        (
            short_title(id_), written(id_, one.first), written(id_, one.second), written(id_, one.difference, sign=True),
            ends(id_, one), figures.p_value(pair.p_adjusted[id_]), better.letter if (better := pair.better(id_)) else figures.NONE,
        )
        for id_ in ordered(list(pair.by_metric))
        for one in [pair.by_metric[id_]]
    ]  # fmt: skip
    counts = [
        {one.code: one.count for one in stated_findings(raw_card(connection, find_run(connection, run.run_id)))}
        for run in (pair.first, pair.second)
    ]
    faults = [
        (finding_name(code), *(f"{side.get(code, 0):,}" for side in counts))
        for code in FindingCode
        if any(code in side for side in counts)
    ]
    return Changes(
        f"{pair.first.letter}: {words[0]}",
        (*(f"{sentence(pair, id_)}." for id_ in leads), *filter(None, map(claim_words, found.runs)), *refusals(found)),
        short_title(metric) if metric else "",
        tuple(entries),
        tuple(beside),
        tuple(faults),
    )
