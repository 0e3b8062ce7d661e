"""Words of a text, and the pieces in which a text may be taken apart."""

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from corpora.text.placeholders import read
from corpora.text.words import JOINERS, pieces, words
from tests.growth import grows_less

_hostile = st.lists(
    st.sampled_from(
        ["{", "}", "{{", "<b", ">", "</b>", "%(", ")s", "%s", "%1$d", "https://", "a", "é", "e\u0301",
         " ", "  ", "\u00a0", "\n", "-", "’", "'", "ʼ", "·", ".", "7", "かな", "ไทย", "اب", "हि", "{a b}",
         "%", "%un", "5 ", "{n, plural, ", "one {", "# a}"]
    ),
    max_size=14,
).map("".join)  # fmt: skip
_texts = st.one_of(st.text(), _hostile)


def found(text: str, joiners: str, letters: str) -> list[str]:
    return [word.text for word in words(text, joiners, letters)]


@given(_texts, st.sampled_from([JOINERS, "", "-'"]), st.sampled_from(["", "'ʼ"]))
@example("see {a b} and <b class='x y'>that</b> %(na me)s", JOINERS, "")
@example("5 %un, 5 %s", JOINERS, "")
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


@pytest.mark.parametrize("text", ["{ a } c", "<b title='d e'>c</b>", "${ a }c", "5 %d c"])
def test_what_may_hold_a_space_is_not_cut(text: str) -> None:
    assert pieces(text) == [text]
    assert found(text, JOINERS, "")[-1] == "c"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("See ${x} and {{y}} or %(z)s", "See and or"),
        ("<a href='words in a tag'>dog</a> <br/>cat", "dog cat"),
        ("{n, plural, =0 {no dog} one {# dog of {who}} other {# dogs}}!", "no dog dog of dogs"),
        ("{g, select, male {he} other {they}} came on {d, date, long}", "he they came on"),
        ("{see above} 100 %: https://example.org/dog", "see above 100"),
    ],
)
def test_placeholders_tags_and_addresses_hold_no_words(text: str, wanted: str) -> None:
    assert found(text, JOINERS, "") == wanted.split()


@given(_texts)
def test_the_words_of_a_text_are_those_of_its_prose(text: str) -> None:
    assert found(text, JOINERS, "") == found_without_placeholders(read(text).prose)
    assert all(text[word.start : word.end] == word.text for word in words(text))


def found_without_placeholders(prose: str) -> list[str]:
    letter = r"[\p{L}\p{M}\p{N}]+"
    return regex.findall(rf"{letter}(?:[{regex.escape(JOINERS)}]{letter})*", prose)


@pytest.mark.parametrize(
    "piece", ["%0", "0", "%(w", "{a ", "<a ", "a-", "'", "https://", "{n, plural, a {", "5 %"]
)
def test_the_time_grows_with_the_text_and_not_faster(piece: str) -> None:
    def act(times: int) -> None:
        text = "%" + piece * times
        for _ in words(text):
            pass

    assert grows_less(act, 4_000, 40_000, 4)
