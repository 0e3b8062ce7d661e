"""Analysed words by hand and by the real Plains Cree analyser, for the tests of structural metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from corpora.languages.cards import LanguageCard
from corpora.model.entry import Entry
from corpora.text.tokens import words
from harness.fst.analyser import Analyser, open_analyser
from scoring.core.setup import Acceptance, AnalyserFacts, FstAnnotation, ScoringSetup, Translation, WordAnalysis
from scoring.words.source_words import Resources
from tests.outside import STRICT, only_with

Lexicon = Mapping[str, Sequence[str]]
needs_cree = only_with(STRICT)

CREE = {
    "niwâpamâw": ("wâpamêw+V+TA+Ind+1Sg+3SgO",), "kiwâpamâw": ("wâpamêw+V+TA+Ind+2Sg+3SgO",),
    "wâpamêw": ("wâpamêw+V+TA+Ind+3Sg+4Sg/PlO",),
    "atim": ("atim+N+A+Sg", "atimêw+V+TA+Imp+Imm+2Sg+3SgO"), "atimwak": ("atim+N+A+Pl",),
    "awâsisak": ("awâsis+N+A+Pl",), "êkosi": ("êkosi+Ipc",),
}  # fmt: skip
"""As the strict analyser of Plains Cree gives them."""

ESPERANTO = {
    "mi": ("mi+Pron+Pers+1Sg+Nom",), "iras": ("iri+V+Prs",), "iris": ("iri+V+Prt",),
    "vidas": ("vidi+V+Prs",), "la": ("la+Det",), "hundo": ("hundo+N+Sg+Nom",),
    "hundon": ("hundo+N+Sg+Acc",), "hundojn": ("hundo+N+Pl+Acc",), "katon": ("kato+N+Sg+Acc",),
    "vendejo": ("vendejo+N+Sg+Nom",), "butiko": ("butiko+N+Sg+Nom",), "hejmen": ("hejme+Adv+Acc",),
}  # fmt: skip

GLOSSES = {
    "NOUN": "N", "ACC": "Acc", "PL": "Pl", "PRS": "V+Prs", "PST": "V+Prt", "1sg": "1Sg", "FEM": "",
}  # fmt: skip


def analysed(text: str, lexicon: Lexicon) -> tuple[WordAnalysis, ...]:
    return tuple(
        WordAnalysis(word, Acceptance.AS_WRITTEN if word in lexicon else None, tuple(lexicon.get(word, ())))
        for word in text.split()
    )


def annotation(output: str, reference: str, lexicon: Lexicon = ESPERANTO) -> FstAnnotation:
    return FstAnnotation(analysed(output, lexicon), analysed(reference, lexicon))


def translation(output: str, reference: str, gold: str | None = None, lexicon: Lexicon = ESPERANTO) -> Translation:
    entry = Entry(id=1, source="source", reference=reference, morphological_analysis=gold)
    return Translation(entry, output, {"fst": annotation(output, reference, lexicon)})


def facts(**changes: object) -> AnalyserFacts:
    known: dict[str, Any] = {
        "name": "epo.hfstol", "sha256": "0123456789abcdef" * 4, "engine": "builtin",
        "engine_version": "1", "acceptor": False, "reference_words": 100, "reference_accepted": 97,
    }  # fmt: skip
    return AnalyserFacts(**{**known, **changes})


def setup(analyser: AnalyserFacts | None = None, **changes: object) -> ScoringSetup:
    metrics = ("fst_acceptance_rate", "morphological_accuracy")
    languages = {"source_language": "en", "target_language": "eo"}
    return ScoringSetup(metrics=metrics, analyser=analyser, **languages, **changes)


def card(glosses: Mapping[str, str] = GLOSSES) -> LanguageCard:
    writing = {"letters": "a-z ĉ ĝ ĥ ĵ ŝ ŭ", "cased": True}
    facts = {"tag": "eo", "name": "Esperanto", "default_script": "Latn", "sources": {}}
    told = {"writings": {"Latn": writing}, "glosses": dict(glosses)}
    return LanguageCard.model_validate(facts | told)


def resources(entries: Sequence[Entry] = (), **facts_changes: object) -> Resources:
    return Resources(setup(facts(**facts_changes)), card=card(), covered=entries)


@cache
def cree_analyser() -> Analyser:
    return open_analyser(STRICT)


def cree_words() -> Callable[[str], tuple[WordAnalysis, ...]]:
    """Analyse the words of a text with the real analyser, as they stand."""

    def analyse(text: str) -> tuple[WordAnalysis, ...]:
        found = [word.text for word in words(text)]
        verdicts = zip(found, cree_analyser().analyse(found), strict=True)
        return tuple(
            WordAnalysis(word, Acceptance.AS_WRITTEN if accepted else None, analyses)
            for word, (accepted, analyses) in verdicts
        )

    return analyse
