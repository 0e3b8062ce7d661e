"""Placeholders are found in every notation, counted, and told apart from prose."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.text.words import read_placeholders
from tests.growth import grows_less
from tests.review.thorough import examples, first
from tests.scoring.samples import HOSTILE, sentences

PIECES = (
    "{x}", "{0}", "{}", "{user-name}", "{user.name}", "{total:.2f}", "{x!r}", "{{x}}", "{{{x}}}", "${x}",
    "%{x}", "{{#if}}", "{{/if}}", "%s", "%d", "%1$d", "%2$s", "%(x)s", "%(n)02d", "%5.2f", "%ld", "%@",
    "<b>", "</b>", "<br/>", "<x:a-b/>", "{d, date}", "{n, number}",
)  # fmt: skip


def variables(text: str) -> dict[str, int]:
    return dict(read_placeholders(text).variables)


def test_each_notation_is_found_in_each_surrounding() -> None:
    for piece in PIECES:
        for around in ("{}", "a {} b", "日本{}語", "{}.", "ᐊᑎᒼ {}, ᐊᑎᒼ", "“{}”"):
            assert variables(around.replace("{}", piece, 1)) == {piece: 1}


@examples(15, 100)
@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_pieces_are_counted(pieces: list[str]) -> None:
    assert read_placeholders(" and ".join(pieces)).variables == Counter(pieces)


def test_spellings_of_one_piece_are_one_and_others_differ() -> None:
    for one, other in [
        ("{ name }", "{name}"),
        ("{{ name }}", "{{name}}"),
        ("<br>", "<br />"),
        ("<a href='x'>", '<a  href="x" >'),
        ('<img alt="dog" src="d.png">', '<img src="d.png" alt="hundo"/>'),
        ("{d, date, MM/dd}", "{d, date, dd.MM.}"),
        ("%d files, 100 %", "100%, %d dosieroj"),
    ]:
        assert read_placeholders(one).variables == read_placeholders(other).variables != Counter()
    for one, other in [
        ("{x}", "{{x}}"), ("{x}", "${x}"), ("%s", "%d"), ("%1$s", "%2$s"), ("{x}", "{X}"),
        ("<b>", "</b>"), ("<x>", "<x/>"), ('<a href="x">', '<a href="y">'), ("{n, number}", "{n}"),
    ]:  # fmt: skip
        assert read_placeholders(one).variables != read_placeholders(other).variables


def test_prose_is_no_placeholder_and_is_left() -> None:
    for text in [
        "50 % of the people", "14% surge", "14%surge", "70-90% of men", "30%الشيء", "90%ቱን", "100%", "5 %un",
        "%", "%%", "100 %% sure", "%%s", "the %increase", "a < b and c > d", "<3", "x <- y", "{see above}", "{",
        "}{", "{a", "100 %:n", "ሆናለው።{", "<john@example.org>", "<https://example.org/a>", "{1, 2}", "e.g. {a; b}",
    ]:  # fmt: skip
        assert variables(text) == {}
    reading = read_placeholders("See <b>{name}</b> at https://example.org/x?a=b or 100 %% of %s")
    assert reading.prose.split() == ["See", "at", "or", "100", "of"]


PLURAL = "{n, plural, =0 {no file} one {# file of {who}} other {# files of {who}}}"


def test_a_plural_is_argument_keys_and_what_its_branches_hold_once() -> None:
    assert variables(PLURAL) == {
        "{n, plural}": 1, "{n, plural, =0}": 1, "{n, plural, other}": 1, "{n}": 1, "{who}": 1,
    }  # fmt: skip


def test_plural_words_are_each_languages_own() -> None:
    for translated in [
        "{n, plural, =0 {ファイルなし} other {{who}のファイル#個}}",
        "{n,plural, =0{нет} one{# файл {who}} few{# файла {who}} many{# файлов {who}} other{# файла {who}}}",
        "{n, plural, =0 {neniu} one {unu de {who}} other {{n} de {who}}}",
    ]:
        assert read_placeholders(translated).variables == read_placeholders(PLURAL).variables


def test_a_broken_plural_differs() -> None:
    for broken in [
        "{n, plural, =0 {neniu} unu {# de {who}} alia {# de {who}}}",
        "{n, plural, =0 {neniu} one {# de {who}}}",
        "{m, plural, =0 {neniu} one {# de {who}} other {# de {who}}}",
        "{n, select, =0 {neniu} one {# de {who}} other {# de {who}}}",
        "{n, plural, one {# de {who}} other {# de {who}}}",
        "{n, plural, =0 {neniu} one {# dosiero} other {# dosieroj}}",
        "{n, plural, =0 {neniu} one {# de {who}} other {# de {who}",
        "{n, plural, =0 {neniu} one {# de {who}} other {# de {who}} kaj plu}",
        "neniu dosiero de {who}",
    ]:
        assert read_placeholders(broken).variables != read_placeholders(PLURAL).variables


def test_keys_of_a_select_are_kept_as_they_are() -> None:
    source = "{g, select, male {He sees {x}} female {She sees {x}} other {They see {x}}}"
    good = "{g, select, male {Li vidas {x}} female {Ŝi vidas {x}} other {Ili vidas {x}}}"
    assert read_placeholders(source).variables == read_placeholders(good).variables
    assert read_placeholders(source).variables - read_placeholders(
        good.replace("female", "ina")
    ).variables == Counter(["{g, select, female}"])
    assert "plural" not in read_placeholders(PLURAL).prose
    assert read_placeholders(good).prose.split() == ["Li", "vidas", "Ŝi", "vidas", "Ili", "vidas"]


@examples(15, 100)
@given(st.one_of(sentences, st.text(alphabet="{}%<>/# ,=aplursect$", max_size=80)))
def test_any_text_can_be_read(text: str) -> None:
    reading = read_placeholders(text)
    assert all(count > 0 for count in reading.variables.values())


def test_hostile_strings_hold_nothing_but_tags() -> None:
    for text in HOSTILE:
        assert all(piece.startswith("<") for piece in variables(text))


@pytest.mark.parametrize(
    "piece",
    first(5, ["{a,plural,b{", "{a ", "{", "<a b='", "%(", "}", "{{", "{a", "<a ", "%", "{a,plural,", "{ ", "%1", "$", "http://", "{a|", "{}"]),
)  # fmt: skip
def test_reading_time_grows_with_the_text_and_not_faster(piece: str) -> None:
    def act(times: int) -> None:
        text = piece * times
        read_placeholders(text)

    assert grows_less(act, 2_000, 20_000, 4)
