"""Patterns of cards: what could take long is refused, and what is let through is fast."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.languages.cards import SHIPPED, read_card
from corpora.languages.writing import LONGEST_WORD, Forbidden, why_endless
from tests.growth import grows_less


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
