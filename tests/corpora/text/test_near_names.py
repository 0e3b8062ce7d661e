"""A mistyped name is answered with what it may mean, and with nothing where nothing is near."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.text.near_names import near_names, one_of

OPTIONS = (
    "--form", "--source-language", "--target-language", "--source-column", "--reference-column",
    "--other-reference", "--model", "--endpoint", "--temperature", "--max-tokens", "--max-retries",
    "--outputs", "--source-name", "--target-name", "--metrics", "--language-card", "--terms", "--tag",
    "--concurrency", "--limit", "--plain", "--json-lines", "--help",
)  # fmt: skip


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--source", ["--source-language", "--source-column", "--source-name"]),
        ("--soruce", ["--source-language", "--source-column", "--source-name"]),
        ("--target", ["--target-language", "--target-name"]),
        ("--source-lang", ["--source-language"]),
        ("--Source_Language", ["--source-language"]),
        ("--reference", ["--reference-column", "--other-reference"]),
        ("--lang", ["--language-card", "--source-language", "--target-language"]),
        ("--modle", ["--model"]),
        ("--temp", ["--temperature"]),
        ("--temprature", ["--temperature"]),
        ("--metric", ["--metrics"]),
        ("--output", ["--outputs"]),
        ("--format", ["--form"]),
        ("--json", ["--json-lines"]),
        ("--concurrent", ["--concurrency"]),
        ("--max-token", ["--max-tokens"]),
        ("--max", ["--max-tokens", "--max-retries"]),
        ("--alpha", []),
        ("--by", []),
        ("--as", []),
        ("--verbose", []),
        ("--max-cost", []),
        ("-" * 99, []),
        ("--" + "x" * 10**6, []),
    ],
)
def test_what_a_typed_option_may_mean(typed: str, meant: list[str]) -> None:
    assert near_names(typed, OPTIONS) == meant


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("comparison", ["compare"]), ("listing", ["list"]), ("lsit", ["list"]), ("rnu", ["run"]),
     ("leader", ["leaderboard"]), ("evaluate", []), ("xyzzy", []), ("", [])],
)  # fmt: skip
def test_what_a_typed_command_may_mean(typed: str, meant: list[str]) -> None:
    assert near_names(typed, ("run", "compare", "list", "leaderboard", "key")) == meant


@given(st.sampled_from(OPTIONS), st.data())
def test_one_slip_in_a_long_name_is_always_understood(name: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(2, len(name) - 2))
    letter = data.draw(st.sampled_from("aeikotz"))
    slip = data.draw(
        st.sampled_from(
            [
                name[:at] + name[at + 1 :],
                name[:at] + letter + name[at:],
                name[:at] + letter + name[at + 1 :],
                name[:at] + name[at + 1] + name[at] + name[at + 2 :],
            ]
        )
    )
    if len(name) > 7 and slip not in OPTIONS:
        assert name in near_names(slip, OPTIONS)


def test_a_choice_of_names_in_words() -> None:
    assert [one_of(each) for each in ("a", "ab", "abc")] == ["a", "a or b", "a, b or c"]
