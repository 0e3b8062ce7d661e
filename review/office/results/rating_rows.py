"""Every judgement of a review as one row, for tables of researchers; people are letters, not pseudonyms."""

from __future__ import annotations

import csv
import io
import random
import unicodedata
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields

from corpora.model.entry import EntryId
from review.log.state import Judgement, ReviewerState, State
from review.verdict.panel.counted import counted
from review.verdict.panel.key import AnswerKey, KeyItem


@dataclass(frozen=True, slots=True)
class RatingRow:
    """What one person decided about one item."""

    person: str
    """A letter that stands for the person in this review alone."""
    item: str
    run_id: str
    """Empty for controls that are no system's output."""
    entry_id: EntryId
    difficulty: int
    """0 where the corpus does not say."""
    control: str
    """``bad``, ``repeat``, ``anchor``, or empty for a real item."""
    rating: str
    """``reject``, ``gist``, ``acceptable``, ``excellent``, or empty where the person could not judge."""
    rank: int | None
    """0–3, higher is better."""
    cannot_judge: str
    """Why not; empty where there is a rating."""
    reasons: str
    """Separated by blanks."""
    harmful: bool
    relation: str
    """The person's own word: ``made`` (took part in making the method), ``knows`` (who made it), ``neither``; empty
    where it was not asked."""
    active_seconds: float
    """Time spent with the item, idle time cut."""
    position: int
    """0-based place in this person's order."""
    face: str
    drawn_anyway: bool
    """The face may have drawn the text wrongly, and the person went on."""
    comment: str
    suggestion: str


def rating_rows(key: AnswerKey, state: State, *, free_text: bool) -> list[RatingRow]:
    """Return the rows of the people who count by person and position; ``free_text`` adds comments and suggested wordings.

    What people wrote may quote the texts and give away who wrote it, so it is left out unless asked for.
    """
    letters = people(key)
    rows = [
        _row(letters[reviewer], item, key.items[item], judgement, said, free_text)
        for reviewer, _, said in counted(state, key)
        for item, judgement in said.judgements.items()
        if item in key.items
    ]
    return sorted(rows, key=lambda row: (len(row.person), row.person, row.position, row.item))


def people(key: AnswerKey) -> dict[str, str]:
    """Return the letter of each reviewer, drawn with the review's seed so that it says nothing of the order."""
    drawn = sorted(key.orders)
    random.Random(f"{key.seed} letters").shuffle(drawn)  # noqa: S311  names, not secrets
    return {reviewer: _letter(place) for place, reviewer in enumerate(drawn)}


def _letter(place: int) -> str:
    """Return A … Z, AA, AB …"""
    more, last = divmod(place, 26)
    return (_letter(more - 1) if more else "") + chr(ord("A") + last)


def _row(
    person: str,
    item: str,
    known: KeyItem,
    judgement: Judgement,
    said: ReviewerState,
    free_text: bool,
) -> RatingRow:
    rating, why_not = judgement.rating, judgement.why_not
    return RatingRow(
        person=person,
        item=item,
        run_id=known.run_id or "",
        entry_id=known.entry,
        difficulty=known.stratum,
        control=known.control or "",
        rating=rating or "",
        rank=None if rating is None else rating.rank,
        cannot_judge=why_not or "",
        reasons=" ".join(said.reasons.get(item, ())),
        harmful=item in said.harmful,
        relation=said.relation or "",
        active_seconds=judgement.active_ms / 1000,
        position=judgement.position,
        face=judgement.face,
        drawn_anyway=judgement.override,
        comment=said.comments.get(item, "") if free_text else "",
        suggestion=said.suggestions.get(item, "") if free_text else "",
    )


def ratings_csv(rows: list[RatingRow]) -> bytes:
    """Write rows as CSV in UTF-8 with a heading.

    A cell that a spreadsheet would run as a formula gets an apostrophe before it. Control characters, which a
    terminal would obey and many readers of CSV choke on, become U+FFFD.
    """
    file = io.StringIO(newline="")
    table = csv.DictWriter(file, [field.name for field in fields(RatingRow)], lineterminator="\r\n")
    table.writeheader()
    table.writerows({name: _cell(value) for name, value in asdict(row).items()} for row in rows)
    return file.getvalue().encode()


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, str):
        return value
    text = "".join(map(_shown, value.replace("\r\n", "\n")))
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t")) else text


def _shown(letter: str) -> str:
    control = letter not in "\n\t" and unicodedata.category(letter) == "Cc"
    return "\N{REPLACEMENT CHARACTER}" if control else letter


def mean_ranks(rows: list[RatingRow]) -> dict[tuple[str, EntryId], float]:
    """Return the mean rank of each rated output (run, entry) over the people who rated it; controls are left out."""
    ranks: dict[tuple[str, EntryId], list[int]] = {}
    for row in real_ratings(rows):
        ranks.setdefault((row.run_id, row.entry_id), []).append(row.rank or 0)
    return {output: sum(each) / len(each) for output, each in ranks.items()}


def real_ratings(rows: list[RatingRow]) -> Iterator[RatingRow]:
    """Return the rows that rate a system's output."""
    return (row for row in rows if not row.control and row.rank is not None)
