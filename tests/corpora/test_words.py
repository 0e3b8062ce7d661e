"""Words of a text, and the pieces in which a text may be taken apart."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpora.words import JOINERS, pieces, words

_hostile = st.lists(
    st.sampled_from(
        ["{", "}", "{{", "<b", ">", "</b>", "%(", ")s", "%s", "%1$d", "https://", "a", "é", "e\u0301",
         " ", "  ", "\u00a0", "\n", "-", "’", "'", "ʼ", "·", ".", "7", "かな", "ไทย", "اب", "हि", "{a b}"]
    ),
    max_size=14,
).map("".join)  # fmt: skip
_texts = st.one_of(st.text(), _hostile)


def found(text: str, joiners: str, letters: str) -> list[str]:
    return [word.text for word in words(text, joiners, letters)]


@given(_texts, st.sampled_from([JOINERS, "", "-'"]), st.sampled_from(["", "'ʼ"]))
@example("see {a b} and <b class='x y'>that</b> %(na me)s", JOINERS, "")
def test_no_word_is_cut_between_pieces(text: str, joiners: str, letters: str) -> None:
    apart = [word for piece in pieces(text) for word in found(piece, joiners, letters)]
    assert apart == found(text, joiners, letters)
    assert " ".join(pieces(text)) == text


@given(st.text(st.characters(categories=["L"]), min_size=1))
def test_letters_alone_are_one_word_as_they_are_among_others(text: str) -> None:
    [alone] = words(text)
    [first] = words(f"{text}.")
    assert alone == first
    assert (alone.text, alone.start, alone.end) == (text, 0, len(text))


@pytest.mark.parametrize("text", ["{a b} c", "<b title='d e'>c</b>", "${a b}c"])
def test_what_may_hold_a_space_is_not_cut(text: str) -> None:
    assert pieces(text) == [text]
    assert found(text, JOINERS, "") == ["c"]
