"""Gold analyses in both notations, and analyser strings taken apart."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.grammar.gold_analysis import UnreadableAnalysisError, gold_words, tagged_word
from tests.review.thorough import examples
from tests.scoring.analysed import GLOSSES

CREE_GLOSSES = {"1sg": "1Sg", "3sg.DIR": "3SgO", "TA": "TA", "AN": "A"}

DEMO_GLOSSES = dict.fromkeys(
    [
        "NOUN", "ADJ", "ADV", "PL", "ACC", "PRS", "PST", "FUT", "COND", "VOL", "INF",
        "PTCP.ACT.PRS", "PTCP.ACT.PST", "PTCP.PASS.PRS", "PTCP.PASS.PST", "OPP", "AGAIN", "NEG",
        "FEM", "DIM", "AUG", "PLACE", "CONTAINER", "COLL", "TOOL", "PERSON", "PROFESSION", "CAUS",
        "INCH", "LINK", "1sg", "2", "3sg.M", "3sg.F", "3sg.N", "1pl", "3pl", "REFL", "Q",
    ],
    "Tag",
)  # fmt: skip


def test_analyser_strings_taken_apart() -> None:
    for analysis, lemma, tags in [
        ("wâpamêw+V+TA+Ind+1Sg+3SgO", "wâpamêw", {"V", "TA", "Ind", "1Sg", "3SgO"}),
        ("PV/e+PV/ki+nipâw+V+AI+Cnj+3Sg", "nipâw", {"PV/e", "PV/ki", "V", "AI", "Cnj", "3Sg"}),
        ("IC+nipâw+V", "nipâw", {"IC", "V"}),
        ("giella+N+Cmp/SgNom+Cmp#teknologiija+N+Sg+Nom", "giella#teknologiija", {"N", "Sg", "Nom"}),
        ("tlacatl<n><abs>", "tlacatl", {"n", "abs"}),
        ("la", "la", set()),
        ("+", "+", set()),
        ("++CLB", "+", {"CLB"}),
        ("#+CLB+Sent", "#", {"CLB", "Sent"}),
        ("PV/e+", "PV/e+", set()),
        ("", "", set()),
    ]:
        found = tagged_word(analysis)
        assert (found.lemma, set(found.tags)) == (lemma, tags)


@examples(15, 100)
@given(st.text(max_size=40))
def test_any_string_is_taken_apart(text: str) -> None:
    assert "" not in tagged_word(text).tags


def test_analyser_notation_leaves_out_numbers_and_signs() -> None:
    words = gold_words("wâpamêw+V+TA+1Sg; atim+N+A+Sg\nêkosi+Ipc  mîna", GLOSSES)
    assert [word.shown for word in words] == ["wâpamêw", "atim", "êkosi", "mîna"]
    assert [word.size for word in words] == [4, 4, 2, 1]
    text = "Mi+Pron;la+Det ;+CLB ++CLB 3+Num+Arab <+PUNCT 5<num> .+CLB"
    words = gold_words(text, GLOSSES)
    assert [word.size for word in words] == [2, 2, 0, 0, 0, 0, 0, 0]
    left_out = [word.unmapped for word in words if not word.a_word]
    assert left_out == [(piece,) for piece in text.split()[1:]]
    mi, sign, number, stop = gold_words("mi , 3 . | 1sg , three .", GLOSSES)
    assert (mi.size, sign.size, number.size, stop.size) == (2, 0, 0, 0)


def test_interlinear_notation_of_demo_and_specification() -> None:
    mi, vidas, la, hundon = gold_words(
        "mi vid-as la hund-o-n | 1sg see-PRS the dog-NOUN-ACC", GLOSSES
    )
    assert (mi.form, mi.tags, mi.stems) == ("mi", {"1Sg"}, ("mi",))
    assert (vidas.form, vidas.tags, vidas.stems) == ("vidas", {"V", "Prs"}, ("vid",))
    assert (la.tags, la.stems) == (frozenset(), ("la",))
    assert (hundon.tags, hundon.stems) == ({"N", "Acc"}, ("hund",))
    see, dog = gold_words("ni-wâpam-âw atim | 1sg-see.TA-3sg.DIR dog.AN", CREE_GLOSSES)
    assert (see.stems, see.tags) == (("niwâpam", "wâpam"), {"1Sg", "TA", "3SgO"})
    assert (dog.stems, dog.tags) == (("atim",), {"A"})
    derived, linked = gold_words(
        "mal-nov-a mult-e-kost-a | OPP-new-ADJ much-LINK-cost-ADJ",
        {"OPP": "", "ADJ": "A", "LINK": ""},
    )
    assert set(derived.stems) == {"malnov", "nov"}
    assert set(linked.stems) == {"multekost", "multkost"}


def test_glosses_without_a_tag_are_left_out_or_meanings() -> None:
    (word,) = gold_words("hund-eg-o-j | dog-AUG-NOUN-PL", GLOSSES)
    assert (word.unmapped, word.tags) == (("AUG",), {"N", "Pl"})
    (word,) = gold_words("neniu | no.one", GLOSSES)
    assert (word.unmapped, word.tags, word.size) == ((), frozenset(), 1)


def test_what_cannot_be_read_says_why_and_quotes_nothing() -> None:
    for text, why in [
        ("verb, 1st person, transitive", "neither"),
        ("", "neither"),
        ("mi vid-as | 1sg", "2 words and 1 glosses"),
        ("mi vid-as | 1sg see", "word 2 has 2 segments and 1 glosses"),
        ("mi | 1sg | x", "segments | glosses"),
        ("mi | 1sg\nvidas", "segments | glosses"),
    ]:
        with pytest.raises(UnreadableAnalysisError, match=why.replace("|", r"\|")):
            gold_words(text, GLOSSES)
    with pytest.raises(UnreadableAnalysisError, match="glosses"):
        gold_words("mi | 1sg", {})
    with pytest.raises(UnreadableAnalysisError) as caught:
        gold_words("sekreto vid-as | SECRET hidden", GLOSSES)
    assert "sekreto" not in str(caught.value)
    assert "hidden" not in str(caught.value)


@examples(15, 100)
@given(st.text(alphabet="ab-|+ .;A1\n=~", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        words = gold_words(text, GLOSSES)
    except UnreadableAnalysisError:
        return
    assert all(word.size >= 1 or word.unmapped for word in words)


def test_every_analysis_of_the_demo_is_read() -> None:
    corpus = json.loads(
        files("corpora.samples").joinpath("eo-demo-v1.json").read_text(encoding="utf-8")
    )
    analyses = [entry["morphological_analysis"] for entry in corpus["entries"]]
    words = [word for text in analyses for word in gold_words(text, DEMO_GLOSSES)]
    assert len(analyses) == 96
    assert not [word for word in words if word.unmapped]
    assert sum(len(word.stems) > 1 for word in words) > 20
