"""Ratings in the folder layout of the metrics shared tasks (MT Metrics Eval, version 2), for researchers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from corpora.model.entry import EntryId
from harness.card.model import EntryResult, RunCard
from harness.core.failures import UsageError
from review.office.results.rating_rows import RatingRow, mean_ranks, real_ratings
from review.office.store.store import Review
from review.verdict.panel.key import AnswerKey

HUMAN = "rosetta"
"""Name of the mean rank over people among the human scores; one person's is ``rosetta-A`` and so on."""

REFERENCE = "refA"


def mtme_files(
    review: Review, rows: list[RatingRow], cards: Mapping[str, RunCard]
) -> dict[str, bytes]:
    """Return path → bytes of every file, paths relative to the top folder of the test set.

    ``cards`` are the reviewed runs' by id. Scores are ranks 0–3, higher is better, ``None`` where nobody
    rated. Raises UsageError where the review is secret, for the layout holds its texts.
    """
    if review.secret:
        raise UsageError(
            "This layout holds sources, references and outputs, and entries of this review are secret. "
            "Export the table of ratings instead (--csv): it holds no text."
        )
    names = system_names(cards)
    reviewed = {
        run_id: {row.entry_id: row for row in card.results} for run_id, card in cards.items()
    }
    entries = _entries(review.key, reviewed)
    first, pair = next(iter(reviewed.values())), _pair(next(iter(cards.values())))
    files = {
        f"sources/{pair}.txt": [_one_line(first[each].source) for each in entries],
        f"references/{pair}.{REFERENCE}.txt": [
            _one_line(first[each].reference) for each in entries
        ],
        f"documents/{pair}.docs": ["none review"] * len(entries),
    }
    for run_id, name in names.items():
        outputs = reviewed[run_id]
        files[f"system-outputs/{pair}/{name}.txt"] = [
            _one_line(outputs[each].predicted) for each in entries
        ]
    files.update(_scores(pair, names, entries, rows))
    return {path: "".join(f"{line}\n" for line in lines).encode() for path, lines in files.items()}


def _scores(
    pair: str, names: Mapping[str, str], entries: Sequence[EntryId], rows: list[RatingRow]
) -> dict[str, list[str]]:
    """Return the human scores: the mean over people, and each person's own."""
    panels = {HUMAN: rows}
    for person in sorted({row.person for row in real_ratings(rows)}):
        panels[f"{HUMAN}-{person}"] = [row for row in rows if row.person == person]
    files: dict[str, list[str]] = {}
    for panel, said in panels.items():
        ranks, stem = mean_ranks(said), f"human-scores/{pair}.{panel}"
        scores = {run_id: [ranks.get((run_id, entry)) for entry in entries] for run_id in names}
        files[f"{stem}.seg.score"] = [
            f"{names[run_id]}\t{_score(each)}" for run_id in names for each in scores[run_id]
        ]
        files[f"{stem}.sys.score"] = [
            f"{names[run_id]}\t{_score(_mean(scores[run_id]))}" for run_id in names
        ]
    return files


def system_names(cards: Mapping[str, RunCard]) -> dict[str, str]:
    """Name each run by its model and condition, in letters that the layout allows, each name once."""
    names: dict[str, str] = {}
    for run_id, card in cards.items():
        words = re.sub(r"[^0-9A-Za-z_+]+", "-", f"{card.model_slug} {card.condition}").strip("-")
        name = words[:60] or "system"
        names[run_id] = name if name not in names.values() else f"{name}-{run_id[:8]}"
    return names


def _entries(
    key: AnswerKey, reviewed: Mapping[str, Mapping[EntryId, EntryResult]]
) -> list[EntryId]:
    """Return the entries that were asked of every run, in the corpus' order."""
    asked = {item.entry for item in key.items.values() if item.control is None}
    first = next(iter(reviewed.values()))
    return [
        entry
        for entry in first
        if entry in asked and all(entry in each for each in reviewed.values())
    ]


def _pair(card: RunCard) -> str:
    sides = (card.dataset.source_language, card.dataset.target_language)
    return "-".join(re.sub(r"[^0-9A-Za-z]+", "_", side or "und") for side in sides)


def _mean(numbers: Sequence[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) / len(known) if known else None


def _score(number: float | None) -> str:
    return "None" if number is None else f"{number:.6f}"


def _one_line(text: str | None) -> str:
    """Return a text as one line, for the layout counts lines."""
    return " ".join((text or "").split())
