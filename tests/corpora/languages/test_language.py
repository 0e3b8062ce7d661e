"""What a language card may say, and what is derived from it."""

import re
import string
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from corpora.languages.language import LanguageCard, WritingSystem
from corpora.languages.writing import Tokenizer, graphemes
from scoring.words import tokenizers


def writing(**fields: Any) -> WritingSystem:
    return WritingSystem.model_validate({"letters": "a b", "cased": True} | fields)


def card(**fields: Any) -> LanguageCard:
    least = {
        "tag": "xx",
        "name": "Test",
        "default_script": "Latn",
        "writings": {"Latn": {"letters": "a b", "cased": True}},
        "sources": {},
    }
    return LanguageCard.model_validate(least | fields)


def test_the_alphabet_has_both_cases_and_each_character_of_a_long_letter() -> None:
    made = writing(letters="a sh ß", foreign_letters="é", word_letters="'")
    assert made.graphemes == ("a", "sh", "ß")
    assert made.native == frozenset("ashßASHẞ'")
    assert made.alphabet == made.native | frozenset("éÉ")


def test_a_script_without_capitals_gets_none() -> None:
    assert writing(letters="a é", cased=False).alphabet == frozenset("aé")


def test_ranges_are_written_out() -> None:
    made = writing(letters="ᐁ-ᐄ ᑊ", cased=False)
    assert made.graphemes == ("ᐁ", "ᐂ", "ᐃ", "ᐄ", "ᑊ")


def test_letters_are_composed() -> None:
    assert writing(letters="a e\u0302 g\u0303").graphemes == ("a", "ê", "g\u0303")
    assert writing(vowel_marks=["e\u0302", "e\u0304"]).vowel_marks == ("ê", "ē")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"letters": " "}, "at least one character"),
        ({"letters": "z-a"}, "from a later character"),
        ({"letters": "!-\U0010ffff", "cased": False}, "holds more than"),
        ({"letters": "abcdefghijkl"}, "put spaces between"),
        ({"letters": "a B"}, "lower case"),
        ({"foreign_letters": "É"}, "lower case"),
        ({"joiners": "- "}, "white space"),
        ({"word_letters": "1"}, "a digit"),
        ({"quotes": ["“"]}, "opening and a closing"),
        ({"quotes": ["ab"]}, "opening and a closing"),
        ({"quotes": ["“x”"]}, "opening and a closing"),
        ({"sentence_end": ""}, "at least one character"),
        ({"bleu_tokenizer": "13b"}, "'13a'"),
        ({"normalisation": [["", "a"]]}, "at least one character"),
        ({"vowel_marks": ["âê"]}, "one set alone"),
        ({"vowel_marks": ["âê", "ēâ"]}, "stands twice"),
        ({"direction": "up"}, "'ltr' or 'rtl'"),
        ({"forbidden": [{"pattern": "(", "why": "x"}]}, "no regular expression"),
        ({"forbidden": [{"pattern": "[[a]", "why": "x"}]}, "no regular expression"),
        ({"forbidden": [{"pattern": "", "why": "x"}]}, "between 1 and"),
        ({"forbidden": [{"pattern": "a" * 201, "why": "x"}]}, "between 1 and"),
        ({"forbidden": [{"pattern": "(a+)+$", "why": "x"}]}, "repeats a group"),
        ({"forbidden": [{"pattern": "(a|a)*b", "why": "x"}]}, "repeats a group"),
        ({"forbidden": [{"pattern": "(a|aa){9,}", "why": "x"}]}, "repeats a group"),
        ({"forbidden": [{"pattern": r"(a*)\1b", "why": "x"}]}, "repeats a group"),
        ({"forbidden": [{"pattern": "a*a*a*a*b", "why": "x"}]}, "100,000,000 ways"),
        ({"forbidden": [{"pattern": "a", "why": ""}]}, "at least 1 character"),
    ],
)
def test_a_writing_that_cannot_be_meant_is_refused_in_words(
    fields: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValidationError, match=re.escape(said)):
        writing(**fields)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"tag": "crk-Cans"}, "two or three small letters"),
        ({"tag": "CRK"}, "two or three small letters"),
        ({"aliases": ["../x"]}, "two or three small letters"),
        ({"name": ""}, "at least 1 character"),
        ({"default_script": "Cans"}, "[writings.Cans]"),
        ({"default_script": "latin"}, "ISO 15924"),
        ({"writings": {}}, "at least 1 item"),
        ({"writings": {"latin": {"letters": "a", "cased": True}}}, "ISO 15924"),
        ({"loan_words": ["two words"]}, "one word"),
        ({"affixes": [" s"]}, "one word"),
        ({"analysers": ["../../secret.hfstol"]}, "plain file name"),
        ({"analysers": ["/x"]}, "plain file name"),
        ({"analysers": [".."]}, "plain file name"),
        ({"glosses": {"1 SG": "1Sg"}}, "no gloss"),
        ({"glosses": {"1SG": "1 Sg"}}, "no tag"),
        ({"sources": {"leters": "x"}}, "there is no field “leters”"),
    ],
)
def test_a_card_that_cannot_be_meant_is_refused_in_words(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(said)):
        card(**fields)


def test_the_empty_tag_of_a_gloss_is_kept() -> None:
    assert card(glosses={"EP": "", "NA": "N+A"}).glosses == {"EP": "", "NA": "N+A"}


def test_an_unknown_script_is_written_as_the_default_one() -> None:
    made = card()
    assert made.writing("Cyrl") is made.writing(None) is made.writings["Latn"]


def test_tokenizers_are_those_that_scoring_can_load() -> None:
    assert set(get_args(Tokenizer)) == set(tokenizers._MODULES)


def test_derived_sets_do_not_change_what_a_card_equals() -> None:
    used, fresh = writing(), writing()
    assert used.alphabet
    assert used == fresh
    assert used.model_dump() == fresh.model_dump()


@given(st.text())
def test_letters_are_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        made = writing(letters=text, cased=False)
    except ValidationError:
        return
    assert made.graphemes
    assert all(made.graphemes)
    assert set("".join(made.graphemes)) <= made.alphabet


@given(st.text(alphabet=string.printable, max_size=60))
def test_a_pattern_is_compiled_or_refused(text: str) -> None:
    try:
        made = writing(forbidden=[{"pattern": text, "why": "x"}])
    except ValidationError:
        return
    made.forbidden[0].stands_in("aaaaaaaaaaaaaaaaaaaaaaaaaaaa!")


def test_an_item_that_is_no_range_is_one_letter() -> None:
    assert list(graphemes("a-b ch -")) == ["a", "b", "ch", "-"]
