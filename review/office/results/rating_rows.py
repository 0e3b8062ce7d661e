"""Every judgement of a review as one row, people as letters: for tables, for MT Metrics Eval, and for weighing metrics."""

from __future__ import annotations

import csv
import io
import random
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields

from corpora.model.entry import EntryId
from corpora.text.visible import guarded
from harness.card.exporting import ExportedRun, MtmeSet, encoded_files
from harness.core.failures import UsageError
from review.log.fold import Judgement, ReviewerState, State
from review.office.store.store import Office, Review
from review.verdict.gate.key import AnswerKey, KeyItem, counted


@dataclass(frozen=True, slots=True)
class RatedItem:
    """One person's rating of one run's output of one entry; controls are none."""

    run_id: str
    entry_id: EntryId  # As on the run's card
    reviewer: str  # Pseudonym
    rating: int  # Rank, 0 reject … 3 excellent


def rated_items(office: Office, review: Review) -> list[RatedItem]:
    """Return the ratings of the people who count; repeats and other controls are left out."""
    items = review.key.items
    return [
        RatedItem(truth.run_id, truth.entry, reviewer, judgement.rating.rank)
        for reviewer, _, person in counted(office.state(review), review.key)
        for item, judgement in sorted(person.judgements.items())
        if (truth := items.get(item)) is not None
        and truth.control is None
        and truth.run_id is not None
        and judgement.rating is not None
    ]


@dataclass(frozen=True, slots=True)
class RatingRow:
    """What one person decided about one item."""

    person: str  # A letter that stands for the person in this review alone
    item: str
    run_id: str  # Empty for controls that are no system's output
    entry_id: EntryId
    difficulty: int  # 0 where the corpus does not say
    control: str  # `bad`, `repeat`, `anchor`, or empty for a real item
    # `reject`, `gist`, `acceptable`, `excellent`, or empty where the person could not judge
    rating: str
    rank: int | None  # 0–3, higher is better
    cannot_judge: str  # Why not; empty where there is a rating
    reasons: str  # Separated by blanks
    harmful: bool
    # The person's own word: `made` (took part in making the method), `knows` (who made it),
    # `neither`; empty where it was not asked
    relation: str
    active_seconds: float  # Time spent with the item, idle time cut
    position: int  # 0-based place in this person's order
    face: str
    drawn_anyway: bool  # The face may have drawn the text wrongly, and the person continued
    comment: str
    suggestion: str


def rating_rows(key: AnswerKey, state: State, *, free_text: bool) -> list[RatingRow]:
    """Return the rows of the people who count by person and position; ``free_text`` adds comments and suggested wordings.

    What people wrote may quote the texts and reveal who wrote it, so it is left out unless asked for.
    """
    letters = people(key)
    rows = [
        _row(letters[reviewer], item, key.items[item], judgement, reviewer_state, free_text)
        for reviewer, _, reviewer_state in counted(state, key)
        for item, judgement in reviewer_state.judgements.items()
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
    person: str, item: str, known: KeyItem, judgement: Judgement, said: ReviewerState, free_text: bool
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
    text = value.replace("\r\n", "\n")
    controls = {letter for letter in set(text) - {"\n", "\t"} if unicodedata.category(letter) == "Cc"}
    return guarded("".join("\N{REPLACEMENT CHARACTER}" if letter in controls else letter for letter in text))


def mean_ranks(rows: list[RatingRow]) -> dict[tuple[str, EntryId], float]:
    """Return the mean rank of each rated output (run, entry) over the people who rated it; controls are left out."""
    ranks: dict[tuple[str, EntryId], list[int]] = {}
    for row in real_ratings(rows):
        ranks.setdefault((row.run_id, row.entry_id), []).append(row.rank or 0)
    return {output: sum(given) / len(given) for output, given in ranks.items()}


def real_ratings(rows: list[RatingRow]) -> Iterator[RatingRow]:
    """Return the rows that rate a system's output."""
    return (row for row in rows if not row.control and row.rank is not None)


# Name of the mean rank over people among the human scores; one person's is `rosetta-A` and so on
HUMAN = "rosetta"


def mtme_files(review: Review, rows: list[RatingRow], runs: Sequence[ExportedRun]) -> dict[str, bytes]:
    """Return path → bytes of every file, paths relative to the top folder of the test set, human scores among them.

    The mean over people, and each person's own: ranks 0–3, higher is better, ``None`` where nobody rated. Raises
    UsageError where the review is secret, for the layout holds its texts.
    """
    if review.secret:
        raise UsageError(
            "This layout holds sources, references and outputs, and entries of this review are secret. "
            "Export the table of ratings instead (--csv): it holds no text."
        )
    # The entries that were asked of every run
    asked = {item.entry for item in review.key.items.values() if item.control is None}
    mtme = MtmeSet(runs, asked)
    files = mtme.files()
    panels = {HUMAN: rows}
    for person in sorted({row.person for row in real_ratings(rows)}):
        panels[f"{HUMAN}-{person}"] = [row for row in rows if row.person == person]
    for panel, panel_rows in panels.items():
        ranks, stem = mean_ranks(panel_rows), f"human-scores/{mtme.pair}.{panel}"
        scores = {run_id: [ranks.get((run_id, entry)) for entry in mtme.entries] for run_id in mtme.names}
        known = {run_id: [score for score in given if score is not None] for run_id, given in scores.items()}
        means = {run_id: [sum(given) / len(given) if given else None] for run_id, given in known.items()}
        files |= {f"{stem}.seg.score": mtme.score_lines(scores), f"{stem}.sys.score": mtme.score_lines(means)}
    return encoded_files(files)
