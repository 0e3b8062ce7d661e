"""Entries of a run as a page shows them: the weakest ones, and those that changed most against another run."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.card.reading import block, number
from harness.compare.comparison import Comparison, EntryTexts, open_texts
from rosetta_tui.compare.lines import leading, refusals
from rosetta_tui.compare.sentences import claim_words, sentence, told_apart
from rosetta_tui.compare.sentences import number as written
from rosetta_tui.html.page import MOST_LETTERS, shortened
from rosetta_tui.show import figures
from rosetta_tui.show.figures import value
from rosetta_tui.show.output_text import DiffKind, Piece, diff
from scoring.core.inventory import row_of, short_title
from scoring.core.specification import TRANSLATIONS, KeptColumns

MOST_ENTRIES = 10  # entries that a page shows of a run, and as many that changed


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


def weakest(card: Mapping[str, Any], kept: KeptColumns) -> tuple[ShownEntry, ...]:
    """Return the entries on which a run did worst, failed ones first; without perfect ones and those without texts."""
    rows = [row for row in card.get("results") or () if not row.get("withheld")]
    info = None if (known := row_of(kept.headline)) is None else known.info
    way = -1 if info is not None and info.better == "lower" else 1
    best = 1.0 if info is None else info.low if way < 0 else info.high

    def reached(row: Mapping[str, Any]) -> float:
        score = _score(row, kept)
        return -1.0 if score is None else way * score

    poor = [row for row in rows if _failed(row) or reached(row) < way * best]
    shown = sorted(poor, key=lambda row: (not _failed(row), reached(row)))[:MOST_ENTRIES]
    return tuple(_weak(row, kept) for row in shown)


def _score(row: Mapping[str, Any], kept: KeptColumns) -> float | None:
    if kept == TRANSLATIONS:
        return number(row.get("entry_chrf"))
    return number(block(row, "values").get(kept.headline))


def _failed(row: Mapping[str, Any]) -> str:
    return str(row.get("error_class") or row.get("error") or "").replace("_", " ")


def _weak(row: Mapping[str, Any], kept: KeptColumns) -> ShownEntry:
    reference, failed = str(row.get("reference") or ""), _failed(row)
    verdict = row.get("semantic_verdict")
    score = f"{short_title(kept.headline)} {value(kept.headline, _score(row, kept))}"
    score += f" · {shortened(verdict)}" if isinstance(verdict, str) else ""
    level = row.get("difficulty")
    facts = "" if level is None else f"difficulty {level}", row.get("segment"), row.get("register")
    words = () if failed else marked(str(row.get("predicted") or ""), reference)
    return ShownEntry(
        str(row.get("entry_id")),
        " · ".join(str(fact) for fact in facts if fact),
        shortened(str(row.get("source") or "")),
        shortened(reference),
        (ShownOutput("output", score, words, failed),),
    )


def marked(output: str, reference: str) -> tuple[MarkedText, ...]:
    """Return an output with what differs from its reference; a long one, cut, without."""
    if max(len(output), len(reference)) > MOST_LETTERS:
        return (MarkedText("", shortened(output)),)
    parts = (part for piece in diff(output, reference) or () for part in _parts(piece))
    return tuple(parts)


def _parts(piece: Piece) -> Iterator[MarkedText]:
    output, reference = ("".join(part.text for part in side) for side in (piece.output, piece.reference))
    kinds = {DiffKind.SAME: "", DiffKind.EXTRA: "del", DiffKind.CHANGED: "del"}
    yield MarkedText("", piece.space)
    yield MarkedText(kinds.get(piece.kind, ""), output)
    yield MarkedText("ins", reference)


def changes(connection: sqlite3.Connection, found: Comparison) -> Changes:
    """Return how the second run of a comparison differs from the first, and on which entries most."""
    leads = leading(found.metrics) or list(found.metrics[:1])
    [pair] = found.pairs
    there = found.entries.values
    metric = next((id_ for id_ in (*leads, *there) if id_ in there), "")
    places = found.entries.spread_first(metric)[:MOST_ENTRIES] if metric else []
    texts = open_texts(connection, found.entries, found.sides, places)
    words = told_apart(found.runs)
    return Changes(
        f"{pair.first.letter}: {words[0]}",
        (*(f"{sentence(pair, id_)}." for id_ in leads), *filter(None, map(claim_words, found.runs)), *refusals(found)),
        short_title(metric) if metric else "",
        tuple(_changed(found, metric, place, text, words) for place, text in zip(places, texts, strict=True)),
    )


def _changed(found: Comparison, metric: str, place: int, texts: EntryTexts, words: Sequence[str]) -> ShownEntry:
    reference = texts.reference or ""
    values = found.entries.values[metric][:, place]
    outputs = (
        ShownOutput(
            f"{run.letter}: {word}",
            figures.NONE if reached != reached else f"{short_title(metric)} {written(metric, float(reached))}",  # noqa: PLR0124  NaN
            () if output is None else marked(output, reference),
            "no output" if output is None else "",
        )
        for run, word, reached, output in zip(found.runs, words, values, texts.outputs, strict=True)
    )  # fmt: skip
    return ShownEntry(
        str(found.entries.ids[place]), "", shortened(texts.source or ""), shortened(reference), tuple(outputs)
    )
