"""No entry ever receives another entry's text, whatever the model makes of the numbers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.methods.briefing import by_number, numbered


def own(number: int) -> str:
    """The right answer for a number."""
    return f"translation <{number}>"


def written(pairs: list[tuple[int, str]]) -> str:
    return "{" + ",".join(f"{json.dumps(str(n))}:{json.dumps(text)}" for n, text in pairs) + "}"


garblings = st.lists(
    st.tuples(
        st.sampled_from(["drop", "double", "invent", "move", "empty"]),
        st.integers(0, 30),
        st.integers(0, 30),
    ),
    max_size=6,
)


@given(st.integers(1, 8), garblings)
def test_garbled_numbers_never_shift_a_text(
    count: int, operations: list[tuple[str, int, int]]
) -> None:
    pairs = [(number, own(number)) for number in range(1, count + 1)]
    for kind, first, second in operations:
        place = first % len(pairs) if pairs else 0
        if kind == "drop" and pairs:
            pairs.pop(place)
        elif kind == "double" and pairs:
            pairs.insert(second % (len(pairs) + 1), pairs[place])
        elif kind == "invent":
            pairs.append((count + 1 + second, own(second)))
        elif kind == "move" and pairs:
            pairs.insert(second % len(pairs), pairs.pop(place))
        elif kind == "empty" and pairs:
            pairs[place] = (pairs[place][0], "")
    for number, text in enumerate(by_number(written(pairs), count), 1):
        assert text in {None, "", own(number)}


def test_a_reply_that_only_repeats_a_number_is_read_as_fast_as_it_is_long() -> None:
    """Looking through all numbers for each of them would take minutes."""
    assert by_number(written([(1, own(1))] * 200_000), 1) == [None]


@given(st.integers(2, 8), st.data())
def test_joined_or_split_texts_never_shift_the_rest(count: int, data: st.DataObject) -> None:
    """The model counts on by itself after it joined or split texts."""
    texts = [own(number) for number in range(1, count + 1)]
    place = data.draw(st.integers(0, count - 2))
    if data.draw(st.booleans()):
        texts[place : place + 2] = [texts[place] + " " + texts[place + 1]]
    else:
        texts[place : place + 1] = [texts[place][:5], texts[place][5:]]
    assert by_number(written(list(enumerate(texts, 1))), count) == [None] * count


@given(st.integers(1, 6), st.data())
def test_a_cut_reply_gives_no_wrong_text(count: int, data: st.DataObject) -> None:
    whole = written([(number, own(number)) for number in range(1, count + 1)])
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    for number, text in enumerate(by_number(cut, count), 1):
        assert text in {None, own(number)}


@given(st.text(max_size=200), st.integers(1, 5))
def test_any_text_at_all_is_read(reply: str, count: int) -> None:
    assert len(by_number(reply, count)) == count


@given(st.lists(st.text(min_size=1).filter(lambda text: text == text.strip()), min_size=1))
def test_what_is_asked_can_be_answered(texts: list[str]) -> None:
    """Texts of several lines, with quotes, brackets, numbers, survive the way there and back."""
    assert by_number(numbered(texts), len(texts)) == texts


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"1": "a", "2": "b", "3": "c"}', ["a", "b", "c"]),
        ('{"3": "c", "1": "a", "2": "b"}', ["a", "b", "c"]),
        ('Here you are:\n```json\n{"1": "a", "2": "b", "3": "c"}\n```\nDone.', ["a", "b", "c"]),
        ('<think>{"1": "x"}</think>{"1": "a", "2": "b", "3": "c"}', ["a", "b", "c"]),
        ('{"1": "a", "3": "c"}', ["a", None, "c"]),
        ('{"1": "a", "2": "b"}', [None, None, None]),
        ('{"1": "a", "2": "b", "2": "x", "3": "c"}', ["a", None, "c"]),
        ('{"1": "a", "01": "b", "2": "b", "3": "c"}', [None, "b", "c"]),
        ('{"1": "a", "2": "b", "3": "c", "4": "d"}', [None, None, None]),
        ('{"1": "a", "2": null, "3": {"text": "c"}}', ["a", None, None]),
        ('{"1": "a", "2": "", "3": "c"}', ["a", "", "c"]),
        ('["a", "b", "c"]', [None, None, None]),
        ("1. a\n2. b\n3. c", [None, None, None]),
        ('{"1": "\\ud800x", "2": "b", "3": "c"}', ["\ufffdx", "b", "c"]),
        ("{" * 100_000, [None, None, None]),
        ('{"1": ' + "[" * 100_000 + "}", [None, None, None]),
    ],
)
def test_known_habits_of_models(reply: str, expected: list[str | None]) -> None:
    assert by_number(reply, 3) == expected
