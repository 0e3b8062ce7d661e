"""What the rows of a card say of each output besides numbers: its analyses, and its lint verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from corpora.model.entry import Entry
from corpora.text.comparison import is_blank
from harness.method.result import Result
from harness.setup.scoring_tools import ScoringTools
from harness.store.row_words import RowWords
from scoring.core.translation import FstAnnotation, Translation, WordAnalysis

EXACT, EQUIVALENT, MISS, NO_OUTPUT = "EXACT", "EQUIVALENT", "MISS", "NO_OUTPUT"


def row_words(
    tools: ScoringTools, entries: Mapping[int, Entry], results: Sequence[Result]
) -> dict[int, RowWords]:
    """Return the words of the rows by place in the corpus; secret entries have none.

    Empty where there is neither an analyser nor a language with rules of variants.
    """
    annotators = [each for each in tools.annotators if each.id == "fst"]
    rules = tools.setup.variant_rules
    if not annotators and not rules:
        return {}
    open_ones = [each for each in results if not entries[each.position].secret]
    texts = [Translation(entries[each.position], each.output or "") for each in open_ones]
    found: Sequence[object] = [None] * len(texts)
    if annotators:
        found = annotators[0].annotate(texts)
    return {
        result.position: RowWords(_analyses(said), verdict(result) if rules else None)
        for result, said in zip(open_ones, found, strict=True)
    }


def _analyses(said: object) -> tuple[str, ...] | None:
    if not isinstance(said, FstAnnotation):
        return None
    return tuple(string for word in said.output for string in _strings(word))


def _strings(word: WordAnalysis) -> Sequence[str]:
    if word.accepted is None:
        return (f"{word.word}+?",)
    return word.analyses or (word.word,)


def verdict(result: Result) -> str:
    """Return the lint verdict on an output by the rules of variants (scoring-specification, appendix B)."""
    if is_blank(result.output or ""):
        return NO_OUTPUT
    if result.exact:
        return EXACT
    return EQUIVALENT if result.equivalent else MISS
