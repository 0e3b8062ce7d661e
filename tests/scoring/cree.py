"""What the tests of the Plains Cree rules share: the card, and analyses as the strict analyser gives them."""

from __future__ import annotations

from functools import cache

from corpora.languages.cards import LanguageCard, find_card
from corpora.text.tokens import words
from scoring.core.setup import Acceptance, FstAnnotation, Translation, WordAnalysis
from tests.scoring.samples import entry

ANALYSES = {
    "atim": ("atim+N+A+Sg", "atimêw+V+TA+Imp+Imm+2Sg+3SgO"), "atimwa": ("atim+N+A+Obv",),
    "awâsis": ("awâsis+N+A+Sg",), "awâsisak": ("awâsis+N+A+Pl",), "cî": ("cî+Ipc",),
    "kimîcisonaw": ("mîcisow+V+AI+Ind+12Pl",), "kimîcisonânaw": ("mîcisow+V+AI+Ind+12Pl",),
    "kinâpêminaw": ("ninâpêm+N+A+D+Px12Pl+Sg",), "kiwâpamâw": ("wâpamêw+V+TA+Ind+2Sg+3SgO",),
    "kî-mîcisow": ("PV/ki+mîcisow+V+AI+Ind+3Sg",), "kîspin": ("kîspin+Ipc",),
    "minôs": ("minôs+N+A+Sg",), "minôsa": ("minôs+N+A+Obv",), "misatim": ("misatim+N+A+Sg",),
    "misatimwak": ("misatim+N+A+Pl",), "mistatim": ("mistatim+N+A+Sg",),
    "mistatimwak": ("mistatim+N+A+Pl",), "mîcisow": ("mîcisow+V+AI+Ind+3Sg",),
    "mîna": ("mîna+Ipc",), "namôya": ("namôya+Ipc",), "nâpêw": ("nâpêw+N+A+Sg",),
    "nimîcison": ("mîcisow+V+AI+Ind+1Sg",), "nimîcisonân": ("mîcisow+V+AI+Ind+1Pl",),
    "ninâpêminân": ("ninâpêm+N+A+D+Px1Pl+Sg",), "nipâw": ("nipâw+V+AI+Ind+3Sg",),
    "nipâwak": ("nipâw+V+AI+Ind+3Pl",), "niwâpamâw": ("wâpamêw+V+TA+Ind+1Sg+3SgO",),
    "wâpamêw": ("wâpamêw+V+TA+Ind+3Sg+4Sg/PlO",),
    "ê-ati-mîcisot": ("PV/e+PV/ati+mîcisow+V+AI+Cnj+3Sg",),
    "ê-mîcisot": ("PV/e+mîcisow+V+AI+Cnj+3Sg",), "ê-mîcisoyahk": ("PV/e+mîcisow+V+AI+Cnj+12Pl",),
    "ê-mîcisoyâhk": ("PV/e+mîcisow+V+AI+Cnj+1Pl",), "êkwa": ("êkwa+Ipc",),
}  # fmt: skip
"""Word → analyses of the strict analyser; a word that is not here is rejected."""

GLOSSES = {
    "atim": ("dog; horse",), "atimêw": ("s/he catches up to s.o.",),
    "wâpamêw": ("s/he sees s.o., s/he witnesses s.o.",), "minôs": ("cat",),
    "nipâw": ("s/he sleeps",), "mîcisow": ("s/he eats, s/he has a meal",), "namôya": ("no, not",),
    "êkwa": ("and", "now"), "mîna": ("and, also",), "nâpêw": ("man",), "awâsis": ("child",),
    "mistatim": ("horse",), "misatim": ("horse",), "wiyâs": ("meat",),
}  # fmt: skip
"""A handful of well-known words with glosses in the way of dictionaries, for these tests only."""


@cache
def card() -> LanguageCard:
    found = find_card("crk")
    assert found.card.variants is not None
    return found.card


def analysed(text: str) -> tuple[WordAnalysis, ...]:
    return tuple(
        WordAnalysis(word.text, Acceptance.LOWER_CASED, ANALYSES[word.text.lower()])
        if word.text.lower() in ANALYSES
        else WordAnalysis(word.text, None)
        for word in words(text)
        if not word.number
    )


def annotation(output: str, reference: str) -> FstAnnotation:
    return FstAnnotation(analysed(output), analysed(reference))


def translated(output: str, reference: str, source: str = "", variants: tuple[str, ...] = ()) -> Translation:
    """An output with its analyses."""
    made = entry(reference, variants=variants).model_copy(update={"source": source})
    return Translation(made, output, {"fst": annotation(output, reference)})
