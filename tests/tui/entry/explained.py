"""Explanations for screens: those of an analyser that is not here, made by hand."""

from __future__ import annotations

from corpora.model.entry import Entry
from harness.method.method import Result
from rosetta_tui.entry.explaining import EntryExplanation, Explaining
from scoring.core.setup import Acceptance, FstAnnotation, WordAnalysis
from tests.tui.scenes import HOSTILE, Scene

WORDS = (
    WordAnalysis("La", Acceptance.LOWER_CASED, ("la+Det",)),
    WordAnalysis("virino", Acceptance.AS_WRITTEN, ("virino+N+Sg+Nom", "vir+N+Der/in+Sg+Nom")),
    WordAnalysis("kīes", Acceptance.NORMALISED, ("kies+Pron+Gen",)), WordAnalysis("butikoj", None),
)  # fmt: skip

HOSTILE_WORDS = tuple(
    WordAnalysis(text, kind, (text, text + "+N") if kind else ())
    for text, kind in zip(HOSTILE, [*Acceptance, None] * len(HOSTILE), strict=False)
)


class Known(Explaining):
    """Gives one explanation for every entry, and counts how often it was asked."""

    def __init__(self, made: Scene, why: EntryExplanation | None, why_not: str | None = None) -> None:
        super().__init__(made.path, made.run_id)
        self.asked: list[object] = []
        self._why = why
        self._reason = why_not

    def explain(self, entry: Entry, result: Result) -> EntryExplanation | None:
        self.asked.append(entry.id)
        self.why_not = self._reason
        return self._why


def why(words: tuple[WordAnalysis, ...] = WORDS) -> EntryExplanation:
    return EntryExplanation(
        {"fst_acceptance_rate": ("Three of four words are known.",)},
        FstAnnotation(words, words[:2]),
        ("“iras”: present instead of past.",),
    )


def hostile_why() -> EntryExplanation:
    texts = tuple(HOSTILE)
    return EntryExplanation(
        {"code_switching_rate": texts, "x[/]\x1b": texts}, FstAnnotation(HOSTILE_WORDS, HOSTILE_WORDS), texts
    )
