"""What people said of outputs, on one scale: 0 for its worst and 1 for its best step; from a table or a review of ours."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from corpora.files.json_types import Json, JsonObject
from corpora.model.entry import EntryId
from harness.core.canonical import canonical_sha256
from harness.core.failures import UsageError
from harness.core.storage import read_text
from harness.inputs.table import table_rows
from review.rating import LEAST_ACCEPTABLE, RANKS, Rating


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers from the worst to the best, and from which of them on an output counts as acceptable."""

    worst: float
    best: float
    acceptable_from: float
    words: bool = False  # Whether the names of our own ratings may stand for numbers

    def number(self, given: object) -> float:
        """Read a rating; ValueError says in words what is wrong, without quoting it."""
        if self.words and isinstance(given, str) and given.strip().lower() in set(Rating):
            return float(Rating(given.strip().lower()).rank)
        try:
            number = float(given) if isinstance(given, int | float | str) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        low, high = sorted((self.worst, self.best))
        if isinstance(given, bool) or not low <= number <= high:
            raise ValueError(self._wanted())
        return number

    def place(self, number: float) -> float:
        """Return the place of a rating between the worst, 0, and the best, 1."""
        return (number - self.worst) / (self.best - self.worst)

    def acceptable(self, number: float) -> bool:
        return self.place(number) >= self.place(self.acceptable_from)

    def _wanted(self) -> str:
        number = f"a number from {self.worst:g} to {self.best:g} is wanted"
        if not self.words:
            return number
        return f"one of {', '.join(Rating)}, or {number}; --scale WORST:BEST names another scale"


# reject 0, gist 1, acceptable 2, excellent 3
OURS = Scale(0.0, float(RANKS - 1), float(LEAST_ACCEPTABLE), words=True)


def read_scale(text: str | None, acceptable_from: float | None = None) -> Scale:
    """Read ``WORST:BEST``, ours where it is None; the worst may be the larger number.

    Without ``acceptable_from`` the upper half of a foreign scale counts as acceptable, its middle included.
    """
    if text is None:
        worst, best, middle = OURS.worst, OURS.best, OURS.acceptable_from
    else:
        try:
            worst, best = map(float, text.split(":"))
        except ValueError:
            worst = best = math.nan
        if not (math.isfinite(worst) and math.isfinite(best)) or worst == best:
            raise UsageError("--scale: two numbers are wanted, the worst and the best, such as 0:100.")
        middle = (worst + best) / 2
    from_ = middle if acceptable_from is None else acceptable_from
    low, high = sorted((worst, best))
    if not low <= from_ <= high:
        raise UsageError(f"--acceptable-from: a number on the scale from {worst:g} to {best:g} is wanted.")
    return Scale(worst, best, from_, words=text is None)


MOST_BYTES = 64 * 2**20
MOST_RATINGS = 1_000_000

ENTRY = ("entry_id", "entry", "id")
RATING = ("rating", "score")
REVIEWER = ("reviewer", "person", "rater", "annotator")
# Names of the columns, the first that is there counts; other columns are not examined
RUN = ("run", "run_id", "system", "model")

# A column of our own tables: rows in which it says something rate no system's output
CONTROL = "control"


@dataclass(frozen=True, slots=True)
class PersonRating:
    """One rating of one output by one person."""

    entry_id: str
    run: str | None  # Run id, or the name of its system; None where the table does not say
    reviewer: str | None
    place: float  # 0 for the worst and 1 for the best step of the scale
    acceptable: bool
    where: str  # Line of the file, for messages


@dataclass(frozen=True, slots=True)
class Ratings:
    """All ratings of one source, with what is needed to name it in a proposal."""

    rows: tuple[PersonRating, ...]
    # `kind` (file or review), SHA-256 of the file or of the review's ratings, and the scale
    source: Mapping[str, str | float]
    empty: int = 0  # Rows without a rating, such as those of people who could not judge
    controls: int = 0  # Rows that rate a control item


class ItemRating(Protocol):
    """One rating as a review gives it."""

    @property
    def run_id(self) -> str:
        """Run whose output was rated."""

    @property
    def entry_id(self) -> EntryId:
        """Entry of the run's corpus."""

    @property
    def reviewer(self) -> str:
        """Pseudonym."""

    @property
    def rating(self) -> int:
        """Rank 0–3."""


def from_review(name: str, items: Iterable[ItemRating]) -> Ratings:
    """Return the ratings of a review of ours; UsageError where there are none yet."""
    rows = tuple(
        PersonRating(
            str(item.entry_id),
            item.run_id,
            item.reviewer,
            OURS.place(item.rating),
            OURS.acceptable(item.rating),
            "the review",
        )
        for item in items
    )
    if not rows:
        raise UsageError(f"Review {name!r} has no ratings yet. `rosetta review import` takes them in.")
    rated_rows = sorted([row.run or "", row.entry_id, row.place] for row in rows)
    source: dict[str, str | float] = {
        "kind": "review",
        "review": name,
        "sha256": canonical_sha256(rated_rows),
        **_scale(OURS),
    }
    return Ratings(rows, source)


def read_ratings(path: Path, scale: Scale) -> Ratings:
    """Read a table of ratings (.csv, .tsv, .jsonl); UsageError names file, line, field and fix."""
    if (reader := _READERS.get(path.suffix.lower())) is None:
        raise UsageError(f"{path}: ratings are read from {', '.join(_READERS)} files. Give it one of these names.")
    text, sha256 = read_text(path, "a file of ratings", MOST_BYTES)
    rows: list[PersonRating] = []
    empty = controls = count = 0
    for count, (where, row) in enumerate(reader(path, text), 1):
        if count > MOST_RATINGS:
            raise UsageError(f"{path}: more than {MOST_RATINGS:,} ratings. Take fewer.")
        if row.get(CONTROL) not in (None, ""):
            controls += 1
        elif _blank(_field(path, where, row, RATING)):
            empty += 1
        else:
            if (entry := _name(path, where, row, ENTRY)) is None:
                raise UsageError(f"{path}: {where}: field {_wanted(row, ENTRY)!r} is empty. Give the id.")
            try:
                number = scale.number(_field(path, where, row, RATING))
            except ValueError as error:
                raise UsageError(f"{path}: {where}: field {_wanted(row, RATING)!r}: {error}.") from None
            rating = PersonRating(
                entry,
                _name(path, where, row, RUN),
                _name(path, where, row, REVIEWER),
                scale.place(number),
                scale.acceptable(number),
                where,
            )
            rows.append(rating)
    if not rows:
        count_words = "no row" if not count else f"no rating in its {count:,} rows"
        raise UsageError(f"{path}: there is {count_words}. One row for each rating is wanted.")
    _refuse_doubled(path, rows)
    source: dict[str, str | float] = {"kind": "file", "sha256": sha256, **_scale(scale)}
    return Ratings(tuple(rows), source, empty, controls)


def _scale(scale: Scale) -> dict[str, float]:
    return {"scale_worst": scale.worst, "scale_best": scale.best, "acceptable_from": scale.acceptable_from}


def _field(path: Path, where: str, row: JsonObject, names: tuple[str, ...]) -> Json:
    if _wanted(row, names) not in row:
        raise UsageError(f"{path}: {where}: a field {names[0]!r} is wanted ({' or '.join(names[1:])} will do).")
    return row[_wanted(row, names)]


def _wanted(row: JsonObject, names: tuple[str, ...]) -> str:
    return next((name for name in names if name in row), names[0])


def _name(path: Path, where: str, row: JsonObject, names: tuple[str, ...]) -> str | None:
    """Read an id or a name, which may be a number; optional ones may be absent or blank."""
    given = _field(path, where, row, names) if names is ENTRY else row.get(_wanted(row, names))
    if _blank(given):
        return None
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int | str):
        raise UsageError(f"{path}: {where}: field {_wanted(row, names)!r}: a text or a whole number is wanted.")
    return str(given).strip()


def _blank(given: object) -> bool:
    return given is None or (isinstance(given, str) and not given.strip())


def _refuse_doubled(path: Path, rows: Iterable[PersonRating]) -> None:
    """Refuse two ratings of one output by one person: neither may be dropped without a word."""
    seen: dict[tuple[str | None, str, str], str] = {}
    for row in rows:
        if row.reviewer is None:
            continue
        before = seen.setdefault((row.run, row.entry_id, row.reviewer), row.where)
        if before != row.where:
            raise UsageError(f"{path}: {row.where}: this person rated the same output at {before}. Keep one of them.")


def _json_rows(path: Path, text: str) -> Iterator[tuple[str, JsonObject]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise UsageError(f"{path}: line {number}: one JSON object a line is wanted.")
        yield f"line {number}", row


_READERS: dict[str, Callable[[Path, str], Iterator[tuple[str, JsonObject]]]] = {
    ".csv": table_rows,
    ".tsv": table_rows,
    ".jsonl": _json_rows,
}
