"""One table of keys: no two acts want one key, and every keyboard reaches it."""

import re
from pathlib import Path

import pytest

from review.log.payloads import Scope
from review.rating import CannotJudge, Rating, Reason
from review.session.words.catalogue import Words
from review.session.words.keys import (
    ACT_WORDS,
    BACKSPACE,
    KEYS,
    RATING_OF,
    Act,
    act_of,
    cannot_judge_of,
    key_name,
    reason_of,
    scope_of,
    table,
)
from review.session.words.labels import RATINGS as RATINGS_SAID

RATINGS = [Act.REJECT, Act.GIST, Act.ACCEPTABLE, Act.EXCELLENT]


@pytest.mark.parametrize("keys", ["1234", "dfgh", "DFGH", "&é\"'", "١٢٣٤", "１２３４"], ids=ascii)
def test_every_row_of_keys_rates_from_worst_to_best(keys: str) -> None:
    assert [act_of(key) for key in keys] == RATINGS
    assert [RATING_OF[act] for act in RATINGS] == list(Rating)


@pytest.mark.parametrize("key", ["0", "à", "٠"], ids=ascii)
def test_zero_means_that_one_cannot_judge(key: str) -> None:
    assert act_of(key) is Act.CANNOT_JUDGE


@pytest.mark.parametrize("key", ["\x7f", "\b", "u", "U"], ids=ascii)
def test_backspace_undoes_whatever_a_terminal_sends_for_it(key: str) -> None:
    assert act_of(key) is Act.UNDO


@pytest.mark.parametrize("key", ["", "12", "5", "²", "½", "z", "\x1b", " ", "ᐊ"], ids=ascii)
def test_other_keys_do_nothing(key: str) -> None:
    assert act_of(key) is None


def test_every_act_has_a_key_and_words() -> None:
    assert set(KEYS) == set(Act)
    assert set(ACT_WORDS) | set(RATING_OF) == set(Act)


@pytest.mark.parametrize("key", ["s", "&"])
def test_a_key_that_is_taken_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="is taken"):
        table({Act.SKIP: ("s",), Act.HELP: (key,)})


@pytest.mark.parametrize("row", ["12345678", "&é\"'(-è_"])
def test_lists_are_chosen_from_by_digit_on_every_keyboard(row: str) -> None:
    assert [reason_of(key) for key in row] == list(Reason)
    assert [cannot_judge_of(key) for key in row[:7]] == [*CannotJudge, None]
    assert [scope_of(key) for key in row[:4]] == [*Scope, None]
    assert [reason_of(key) for key in ("0", "9", "d", "12", "")] == [None] * 5


def test_signs_have_names_for_the_ear() -> None:
    words = Words.load("fr")
    assert [key_name(words, key) for key in ",!x"] == ["virgule", "point d’exclamation", "x"]


def test_the_page_for_speakers_names_the_keys_that_work() -> None:
    page = Path(__file__).parents[3] / "docs" / "review-for-speakers.md"
    rows = re.findall(r"(?m)^\| (.*?) \| .* \|$", page.read_text("utf-8"))
    named = {key for row in rows for key in re.findall(r"`(.)`", row)}
    own = {key for keys in KEYS.values() for key in keys}
    assert named == own - {BACKSPACE}


def test_the_page_for_speakers_says_the_answers_as_the_program_does() -> None:
    page = (Path(__file__).parents[3] / "docs" / "review-for-speakers.md").read_text("utf-8")
    for number, rating in enumerate(Rating, 1):
        label, meaning = RATINGS_SAID[rating]
        assert f"| `{number}` | {label} | {meaning} |" in page
