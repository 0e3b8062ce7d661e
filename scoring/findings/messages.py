"""Findings in words: a few for lists, a sentence for pages."""

from __future__ import annotations

from collections.abc import Iterable

from scoring.core.messages import percent
from scoring.findings.records import LEAST_SHARE, FindingCode, FindingCount

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


def finding_words(findings: Iterable[FindingCount]) -> str:
    """Return the findings of at least 2 % of the entries in few words; empty where there are none."""
    shown = sorted(
        (item for item in findings if item.share >= LEAST_SHARE), key=lambda item: -item.share
    )
    words = [f"{percent(item.share)} {_SHORTLY[item.code]}" for item in shown[:MOST_IN_LIST]]
    more = len(shown) - len(words)
    return ", ".join([*words, *([f"{more} more findings" if more > 1 else "1 more finding"] if more else [])])  # fmt: skip


def finding_sentence(finding: FindingCount) -> str:
    """Return a finding with its numbers, and what the run would gain without it."""
    words = (
        f"{finding.count:,} of {finding.of:,} {_WHOLLY[finding.code]} ({percent(finding.share)})"
    )
    cost = finding.cost
    return words if cost is None or abs(cost) < _LEAST_COST else f"{words}. Without that: chrF++ {cost:+.1f}"  # fmt: skip
