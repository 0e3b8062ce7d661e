"""Words with the analyser's verdicts, readable without colour."""

from __future__ import annotations

import pytest

from corpora.model.entry import Entry
from rosetta_tui.entry.explaining import MOST_WORDS, analyses, verdicts
from rosetta_tui.entry.page import about
from scoring.core.translation import Acceptance, WordAnalysis
from tests.tui.entry.explained import HOSTILE_WORDS, WORDS


def test_each_verdict_has_its_sign_and_its_words() -> None:
    assert verdicts(WORDS).plain.split("\n") == [
        "↓La virino ≈kīes ✗butikoj",
        (
            "✓ 1 accepted as written   ↓ 1 accepted in lower case   "
            "≈ 1 accepted in the analyser's spelling   ✗ 1 rejected"
        ),
    ]


def test_verdicts_that_do_not_occur_are_not_explained() -> None:
    assert verdicts(WORDS[1:2]).plain == "virino\n✓ 1 accepted as written"


def test_analyses_stand_below_each_other() -> None:
    assert analyses((*WORDS, WORDS[0])).plain.split("\n") == [
        "↓ La       la+Det",
        "✓ virino   virino+N+Sg+Nom",
        "           vir+N+Der/in+Sg+Nom",
        "≈ kīes     kies+Pron+Gen",
        "✗ butikoj  rejected",
    ]


def test_a_word_wider_than_its_column_has_a_line_of_its_own() -> None:
    long = WordAnalysis("malsanulejestrinoj" * 2, Acceptance.AS_WRITTEN, ("x+N", "y+N"))
    assert analyses([long]).plain.split("\n") == [
        "✓ " + long.word,
        " " * 24 + "x+N",
        " " * 24 + "y+N",
    ]


def test_an_acceptor_says_only_that_it_accepts() -> None:
    said = analyses([WordAnalysis("mun", Acceptance.AS_WRITTEN)]).plain
    assert said == "✓ mun  accepted as written; this analyser gives no analyses"


@pytest.mark.parametrize("show", [verdicts, analyses])
def test_of_very_many_words_only_the_first_are_shown(show: object) -> None:
    words = [WordAnalysis(f"w{n}", None) for n in range(MOST_WORDS + 7)]
    said = show(words).plain
    assert "… and 7 more words" in said
    assert f"w{MOST_WORDS - 1}" in said
    assert f"w{MOST_WORDS}" not in said


@pytest.mark.parametrize("show", [verdicts, analyses])
def test_hostile_words_are_harmless(show: object) -> None:
    said = show(HOSTILE_WORDS).plain
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "[/foo] text" in said


def test_dialect_and_spelling_system_stand_on_the_page() -> None:
    """An entry without them has no line for them."""
    plain = Entry(id=1, source="dog", reference="kurī")
    tagged = plain.model_copy(update={"variety": "Waikato\x1b[2J", "orthography": "1994"})
    assert [line.label for line in about(plain)] == []
    assert [(line.label, line.text.plain) for line in about(tagged)] == [
        ("Variety", "Waikato␛[2J"),
        ("Orthography", "1994"),
    ]
