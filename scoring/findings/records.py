"""What a finding is: a code, how many entries it is about, and what undoing it would gain."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, computed_field

from corpora.model.entry import EntryId

LEAST_SHARE = 0.02
"""Share of the entries from which lists name a finding, and its cost is computed."""

_MOST = 10**9
"""No run has as many entries."""


class FindingCode(StrEnum):
    """Kinds of findings, in the order in which equally frequent ones are shown."""

    EMPTY = "empty"
    """No output, or nothing of it can be seen."""
    REFUSAL = "refusal"
    """The output says that it does not translate."""
    COPIED = "copied"
    """The source as it was, where the reference is another text."""
    REPEATED = "repeated"
    """One output for several sources whose references differ."""
    BEGINNING = "beginning"
    """Outputs begin with the same words, found by counting; their references do not."""
    ENDING = "ending"
    """Outputs end with the same words, found by counting; their references do not."""
    PROSE = "prose"
    """Reasoning, an introduction, a note, a gloss or alternatives around the answer."""
    WRAPPER = "wrapper"
    """A code fence, JSON, a tag or Markdown around the answer."""
    QUOTES = "quotes"
    """A pair of quotation marks around the whole output that neither source nor reference has."""
    LINE_BREAKS = "line_breaks"
    """A line break that neither source nor reference has."""
    DECODER_MARKS = "decoder_marks"
    """Marks of a decoder or a file format: ``@@``, ``▁``, ``H-3``, ``|||``, entities, leading ids."""
    CUT = "cut"
    """Less than half as long as the reference, or it ends in the middle of a sentence."""
    NUMBERS = "numbers"
    """A number of source and reference is missing, or there is one that neither has."""
    PLACEHOLDERS = "placeholders"
    """Variables and tags are not those of the source."""
    LETTERS = "letters"
    """Letters or accents of the references that hardly ever occur in the outputs."""
    CAPITALS = "capitals"
    """All capitals, none, or one in every word, where the reference is written otherwise."""
    END_MARK = "end_mark"
    """The punctuation mark at the end is lost or added, where source and reference agree."""


class FindingCount(BaseModel):
    """A finding as a run card has it: numbers, and no text."""

    model_config = ConfigDict(frozen=True)

    code: FindingCode
    count: int
    """Entries that have it."""
    of: int
    """Entries of the run."""
    cost: float | None = None
    """Points of chrF++ (0–100) that the whole run would gain without it; null where it cannot be undone by rule,
    or fewer than ``LEAST_SHARE`` of the entries have it."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def share(self) -> float:
        """Share of the entries, 0–1."""
        return self.count / self.of if self.of else 0.0


class OutputFinding(FindingCount):
    """A finding with its entries. Examples quote outputs: they are hostile text, and never of a secret entry."""

    entries: tuple[EntryId, ...]
    """Ids of the entries that have it, in the order of the run."""
    examples: tuple[str, ...] = ()
    """Up to three short pieces of open outputs; of ``letters`` the letters."""

    def counts(self) -> FindingCount:
        """Return the part that a card has."""
        return FindingCount(code=self.code, count=self.count, of=self.of, cost=self.cost)


def read_counts(listed: object) -> tuple[FindingCount, ...]:
    """Return the findings that a card states; what is not of the expected form is left out."""
    return tuple(_read(listed)) if isinstance(listed, list | tuple) else ()


def _read(listed: list[Any] | tuple[Any, ...]) -> Iterator[FindingCount]:
    for each in listed:
        try:
            count = FindingCount.model_validate(each)
        except ValidationError:
            continue
        if 0 < count.count <= count.of <= _MOST and abs(count.cost or 0.0) <= 100.0:
            yield count
