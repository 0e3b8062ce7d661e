"""What a language card may say, what is derived from it, and patterns that could take long."""

import re
import string
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from corpora.languages.cards import SHIPPED, read_card
from corpora.languages.language import LanguageCard, WritingSystem
from corpora.languages.writing import LONGEST_WORD, Forbidden, Tokenizer, graphemes, why_endless
from scoring.words import tokenizers
from tests.growth import grows_less


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
    assert set(get_args(Tokenizer)) == set(tokenizers.MODULES)


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


@pytest.mark.parametrize(
    "pattern",
    [
        "aaa|iii", "[âêîô].*[cs]h|[cs]h.*[âêîô]", "colou?r", "^q(?!u)", "(?<=a)b+c", r"\(*\)", "[*+]{2}", "a{3}",
        "(sch|tsch)?[a-z]*x", "x$", "[]*+|()]+a", "a{2,5}b{2,5}", "(?:a|b)(?:c|d)e*", "a*|b*|c*|d*", "{a}", "a{",
    ],
)  # fmt: skip
def test_what_cards_need_is_let_through(pattern: str) -> None:
    assert why_endless(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("a*a*a*a*b", "100,000,000 ways"),
        (".*.*.*.*x", "100,000,000 ways"),
        ("[^b]*[^b]*x", "10,000 ways"),
        ("a{0,}a{,}b", "10,000 ways"),
        ("a{1,60}a{1,60}b", "3,600 ways"),
        ("a?" * 60 + "a" * 60, "ways"),
        ("(a|a)" * 30 + "b", "ways"),
        ("(a*|b*)c", "20,000 ways"),
        ("(?:x(?:a*b))a*c", "10,000 ways"),
        ("a*?a*+b", "10,000 ways"),
        (r"[\]a]*[]a]*b", "10,000 ways"),
        ("(a+)+$", "repeats a group"),
        ("(?:a|a)*b", "repeats a group"),
        ("(a|aa){2,9}", "repeats a group"),
        ("(a){0,1}b", "repeats a group"),
        (r"(a*)\1b", "refers to one"),
        ("(?x)a* # [\na*a*b", "sets flags"),
        ("(?i:a*)b", "sets flags"),
        ("(?P<n>a)b", "has a name"),
        ("(?#[)a*a*b", "is a comment"),
        ("(a)(?(1)b|c)", "sets flags"),
    ],
)  # fmt: skip
def test_what_could_take_long_is_refused(pattern: str, reason: str) -> None:
    re.compile(pattern)
    assert reason in (why_endless(pattern) or "")


@given(
    st.lists(
        st.sampled_from(
            ["a", ".", "[ab]", "[^b]", "(", "(?:", "(?=", ")", "|", "*", "+", "?", "{1,9}", "{2,}", "b", r"\w", "$"]
        ),
        max_size=40,
    ).map("".join)
)  # fmt: skip
def test_what_is_let_through_is_fast(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error:
        return
    if not pattern or why_endless(pattern):
        return
    rule = Forbidden(pattern=pattern, why="x")

    def look(letters: int) -> None:
        for word in ("a" * letters, "ab" * (letters // 2), "a" * letters + "!"):
            rule.stands_in(word)

    assert grows_less(look, 1_000, 10_000, 12)


def test_only_the_first_letters_of_a_word_are_searched() -> None:
    rule = Forbidden(pattern="x", why="x")
    assert rule.stands_in("a" * (LONGEST_WORD - 1) + "x")
    assert not rule.stands_in("a" * LONGEST_WORD + "x")


def test_the_shipped_cards_keep_to_it() -> None:
    patterns = [
        rule.pattern
        for path in sorted(SHIPPED.glob("*.toml"))
        for writing in read_card(path).card.writings.values()
        for rule in writing.forbidden
    ]
    assert len(patterns) > 5
    assert not any(map(why_endless, patterns))
