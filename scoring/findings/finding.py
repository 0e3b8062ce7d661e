"""What a finding is: a code, how many entries it is about, and what undoing it would gain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from corpora.files.json_types import JsonObject
from corpora.text.messages import percent

if TYPE_CHECKING:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingCount:
    """A finding as a run card has it: numbers, and no text."""

    code: FindingCode
    count: int
    """Entries that have it."""
    of: int
    """Entries of the run."""
    cost: float | None = None
    """Points of chrF++ (0–100) that the whole run would gain without it; null where it cannot be undone by rule,
    or fewer than ``LEAST_SHARE`` of the entries have it."""

    @property
    def share(self) -> float:
        """Share of the entries, 0–1."""
        return self.count / self.of if self.of else 0.0

    def record(self) -> JsonObject:
        """Return the finding as a card writes it."""
        numbers = {"count": self.count, "of": self.of, "share": self.share, "cost": self.cost}
        return {"code": self.code.value, **numbers}


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputFinding(FindingCount):
    """A finding with its entries. Examples quote outputs: they are hostile text, and never of a secret entry."""

    entries: tuple[EntryId, ...]
    """Ids of the entries that have it, in the order of the run."""
    places: tuple[int, ...] = ()
    """Where those entries are among the ones that were examined, from 0."""
    examples: tuple[str, ...] = ()
    """Up to three short pieces of open outputs; of ``letters`` the letters."""

    def counts(self) -> FindingCount:
        """Return the part that a card has."""
        return FindingCount(code=self.code, count=self.count, of=self.of, cost=self.cost)


def read_counts(listed: object) -> tuple[FindingCount, ...]:
    """Return the findings that a card states; what is not of the expected form is left out."""
    stated = listed if isinstance(listed, list | tuple) else ()
    return tuple(result for item in stated if (result := _read(item)) is not None)


def _read(stated: object) -> FindingCount | None:
    if isinstance(stated, FindingCount):
        return stated
    fields = stated if isinstance(stated, Mapping) else {}
    code, count, of, cost = (fields.get(name) for name in ("code", "count", "of", "cost"))
    if not isinstance(code, str) or code not in set(FindingCode):
        return None
    if type(count) is not int or type(of) is not int or not 0 < count <= of <= _MOST:
        return None
    if cost is not None and (not isinstance(cost, int | float) or not abs(cost) <= 100):  # NaN too
        return None
    return FindingCount(code=FindingCode(code), count=count, of=of, cost=cost)


# ---- Findings in words: a few for lists, a sentence for pages ----

MOST_IN_LIST = 3
"""Findings that a line of a list names."""
_LEAST_COST = 0.05
"""Points of chrF++ from which a cost is told: less is nothing at one decimal."""

_SHORTLY = {
    FindingCode.EMPTY: "empty",
    FindingCode.REFUSAL: "refused",
    FindingCode.COPIED: "source copied",
    FindingCode.REPEATED: "equal outputs",
    FindingCode.BEGINNING: "begin alike",
    FindingCode.ENDING: "end alike",
    FindingCode.PROSE: "with prose",
    FindingCode.WRAPPER: "wrapped",
    FindingCode.QUOTES: "in quotes",
    FindingCode.LINE_BREAKS: "with line breaks",
    FindingCode.DECODER_MARKS: "with decoder marks",
    FindingCode.CUT: "cut",
    FindingCode.NUMBERS: "wrong numbers",
    FindingCode.PLACEHOLDERS: "wrong placeholders",
    FindingCode.LETTERS: "lack letters",
    FindingCode.CAPITALS: "wrong capitals",
    FindingCode.END_MARK: "wrong end mark",
}

_WHOLLY = {
    FindingCode.EMPTY: "outputs are empty or missing",
    FindingCode.REFUSAL: "outputs say that they do not translate",
    FindingCode.COPIED: "outputs are the source, unchanged",
    FindingCode.REPEATED: "outputs are the same for different sources",
    FindingCode.BEGINNING: "outputs begin with the same words, which their references lack",
    FindingCode.ENDING: "outputs end with the same words, which their references lack",
    FindingCode.PROSE: "outputs have reasoning, an introduction, a note or alternatives around the answer",
    FindingCode.WRAPPER: "outputs are in a fence, Markdown, JSON or a tag",
    FindingCode.QUOTES: "outputs are in quotation marks that source and reference lack",
    FindingCode.LINE_BREAKS: "outputs have line breaks that source and reference lack",
    FindingCode.DECODER_MARKS: "outputs have marks of a decoder or a file format",
    FindingCode.CUT: "outputs are cut: far shorter than the reference, or they end in mid-sentence",
    FindingCode.NUMBERS: "outputs lack a number of the source, or have another one",
    FindingCode.PLACEHOLDERS: "outputs do not have the placeholders or tags of the source",
    FindingCode.LETTERS: "outputs lack letters of their references that hardly any output has",
    FindingCode.CAPITALS: "outputs have other capitals than their references",
    FindingCode.END_MARK: "outputs lack the mark at the end, or have one too many",
}


def finding_name(code: FindingCode) -> str:
    """Return a kind of finding in two or three words, such as "source copied"."""
    return _SHORTLY[code]


def finding_words(findings: Iterable[FindingCount]) -> str:
    """Return the findings of at least 2 % of the entries in few words; empty where there are none."""
    frequent = [item for item in findings if item.share >= LEAST_SHARE]
    shown = sorted(frequent, key=lambda item: -item.share)
    words = [f"{percent(item.share)} {_SHORTLY[item.code]}" for item in shown[:MOST_IN_LIST]]
    more = len(shown) - len(words)
    return ", ".join([*words, *([f"{more} more findings" if more > 1 else "1 more finding"] if more else [])])


def finding_sentence(finding: FindingCount) -> str:
    """Return a finding with its numbers, and what the run would gain without it."""
    number, share = f"{finding.count:,} of {finding.of:,}", percent(finding.share)
    words = f"{number} {_WHOLLY[finding.code]} ({share})"
    cost = finding.cost
    return words if cost is None or abs(cost) < _LEAST_COST else f"{words}. Without that: chrF++ {cost:+.1f}"
