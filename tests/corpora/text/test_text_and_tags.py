"""Texts: their tags and words, what a window shows of hostile ones, and names that are near a mistyped one."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from corpora.files.problems import shown
from corpora.languages.tags import is_language_tag, language_of_file, nearest, pair_label
from corpora.text.comparison import (
    MOST_STACKED,
    NormalForm,
    comparison_form,
    is_blank,
    normal_form,
    script_of,
    scripts,
    stacked,
)
from corpora.text.near_names import near_names, one_of
from corpora.text.visible import MOST_MARKS, plain, readable
from corpora.text.words import JOINERS, pieces, read_placeholders, words
from tests.growth import grows_less
from tests.review.thorough import examples, first


@examples(24, 300)
@given(st.text())
def test_any_text_has_a_comparison_form_shares_and_a_short_form(text: str) -> None:
    form = comparison_form(text)
    assert comparison_form(form) == form == form.strip()
    assert unicodedata.is_normalized("NFC", form)
    shares = scripts([text])
    assert not shares or sum(shares.values()) == pytest.approx(1)
    assert shown(text).isprintable()
    assert len(shown(text)) <= 60


def test_comparison_form_keeps_only_what_readers_see() -> None:
    for left, right in (
        ("niwa\u0302pama\u0302w", "niwâpamâw"),
        (" a \t\u3000 b\n", "a b"),
        ("a\u00a0b", "a b"),
    ):
        assert comparison_form(left) == comparison_form(right)
    for left, right in (("Atim", "atim"), ("atim.", "atim"), ("â", "a")):
        assert comparison_form(left) != comparison_form(right)
    for text in ("", " \u3000", "\u200b", " \u200b \ufeff ", "\u00ad"):
        assert is_blank(text)
        assert not is_blank(text + "ᐊ" + text)


def test_normal_forms_and_scripts_are_told_apart() -> None:
    for text, form in [
        ("plain", NormalForm.EITHER),
        ("ᐊᑎᒼ", NormalForm.EITHER),
        ("â", NormalForm.NFC),
        ("a\u0302", NormalForm.NFD),
        ("â a\u0302", NormalForm.NEITHER),
        ("\u0958", NormalForm.NEITHER),  # DEVANAGARI QA: excluded from composition
    ]:
        assert normal_form(text) is form
    assert scripts(["ᐊᑎᒼ abc 123 !?"]) == {"Canadian_Aboriginal": 0.5, "Latin": 0.5}
    assert (scripts(["123", ""]), script_of("ж")) == ({}, "Cyrillic")
    assert script_of("\U00016a40") == "Mro"
    assert script_of("\U00012000") == "Other"  # cuneiform


def test_well_formed_tags_are_told_from_others() -> None:
    for tag in [
        "en", "crk", "crk-Cans", "es-MX", "es-419", "zh-yue-Hant-HK", "sl-rozaj-biske", "de-1996",
        "en-u-ca-gregory", "crk-x-plains", "x-private",
    ]:  # fmt: skip
        assert is_language_tag(tag)
    for tag in ["", "e", "English", "cree", "en_US", "en-", "-en", "en--US", "en US", "ën", "en\n", "a-b"]:  # fmt: skip
        assert not is_language_tag(tag)


def test_tags_are_read_from_file_names_and_labelled() -> None:
    for name, tag in [
        ("newstest2019-ref.eng.txt", "eng"),
        ("corpus.en", "en"),
        ("corpus.crk-Cans.txt", "crk-Cans"),
        ("corpus.crk_Cans.txt", "crk-Cans"),
        ("eng_Latn.dev", "eng-Latn"),
        ("test.en.src", "en"),
        ("my.txt", None),
        ("corpus.txt", None),
        ("corpus.version2.txt", None),
        ("source", None),
    ]:
        assert language_of_file(name) == tag
    assert pair_label("en", "crk-Cans") == "EN→CRK"
    assert nearest("Conversation", ("conversational", "formal")) == "conversational"
    assert nearest("gold standard", ("gold_standard",)) == "gold_standard"
    assert nearest("tatoeba", ("formal",)) is None
    assert nearest("x" * 10**6, ("formal",)) is None


def test_reading_a_corpus_loads_no_heavy_library() -> None:
    import subprocess

    code = (
        "import sys, corpora.formats.load; "
        "print([m for m in ('regex', 'numpy', 'click', 'textual', 'httpx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@examples(15, 100)
@given(st.text("a\u0301\u0316ḿ\u093f\u20dd", max_size=80), st.integers(0, 70))
def test_a_row_of_marks_is_found_wherever_it_stands(text: str, length: int) -> None:
    text += "\u0301\u0316" * (length // 2) + text
    longest = max((len(row) for row in re.findall("[\u0301\u0316]+", text)), default=0)
    assert stacked(text) is (longest > MOST_STACKED)


def test_every_mark_that_normal_forms_reorder_counts() -> None:
    marks = [chr(code) for code in range(sys.maxunicode) if unicodedata.combining(chr(code))]
    assert all(stacked("x" + mark * (MOST_STACKED + 1)) for mark in marks)
    assert not any(stacked("x" + mark * MOST_STACKED) for mark in marks)


def test_looking_for_rows_takes_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row one short of the bound, again and again: the worst that is let through."""
    asked = 0

    def combining(character: str) -> int:
        nonlocal asked
        asked += 1
        return 230 if character == "\u0301" else 0

    monkeypatch.setattr("corpora.text.comparison.unicodedata.combining", combining)
    text = ("\u0301" * MOST_STACKED + "x") * 1000
    assert not stacked(text)
    assert asked <= 3 * len(text)


REACHING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def tower(text: str) -> int:
    """Count the most marks in a row."""
    best = run = 0
    for character in text:
        run = run + 1 if unicodedata.category(character).startswith("M") else 0
        best = max(best, run)
    return best


@examples(15, 100)
@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from(REACHING + "\u0301\u20dd"))))
def test_nothing_acts_and_nothing_is_stacked_high(text: str) -> None:
    shown = readable(text)
    assert not set(shown) & set(REACHING)
    acting = [c for c in shown if unicodedata.category(c) in {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}]
    assert set(acting) <= {"\n", "\t"}
    assert tower(shown) <= MOST_MARKS


def test_readable_shows_what_acts_and_keeps_what_people_write() -> None:
    for text in [
        "ᓂᐚᐸᒫᐤ ᐊᑎᒼ\nnîpîy", "Il dit\u202f: «\u00a0oui\u00a0»", "ƛ\u0313 x\u030c k\u0313\u02b7",
        "שלום (abc)\u200f!", "کتاب\u200cخانه", "क्षत्रिय", "a\tb",
    ]:  # fmt: skip
        assert readable(text) == text
    assert readable("a\u202eb\x00c\x1b[0m\ud800") == "a‹RLO›b‹U+0000›c‹U+001B›[0m‹U+D800›"
    assert (readable("a\r\nb\rc"), plain("a\u200fb")) == ("a\nb‹U+000D›c", "a⟨RLM⟩b")
    assert readable("a" + "\x00" * 20_000 + "b") == "a‹U+0000›‹×20000›b"
    assert readable("\x00\x00\x00") == "‹U+0000›" * 3
    assert readable("éééé\x00" + "\u00a0" * 9) == "éééé‹U+0000›" + "\u00a0" * 9
    acting = [chr(code) for code in range(0x3000) if readable(chr(code)) != chr(code)]
    shown = set("".join(map(readable, acting)))
    assert shown <= set("‹›+ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    high = readable("a" + "\u0301" * 10_000)
    assert (high.count("\u0301"), tower(high)) == (10_000, MOST_MARKS)


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


@examples(15, 100)
@given(_texts, st.sampled_from([JOINERS, "", "-'"]), st.sampled_from(["", "'ʼ"]))
@example("see {a b} and <b class='x y'>that</b> %(na me)s", JOINERS, "")
@example("5 %un, 5 %s", JOINERS, "")
def test_no_word_is_cut_between_pieces(text: str, joiners: str, letters: str) -> None:
    apart = [word for piece in pieces(text) for word in found(piece, joiners, letters)]
    assert (apart, " ".join(pieces(text))) == (found(text, joiners, letters), text)


@examples(15, 100)
@given(st.text(st.characters(categories=["L"]), min_size=1))
def test_letters_alone_are_one_word(text: str) -> None:
    [alone] = words(text)
    [first] = words(f"{text}.")
    assert alone == first
    assert (alone.text, alone.start, alone.end) == (text, 0, len(text))


def test_placeholder_that_holds_a_space_is_not_cut() -> None:
    for text in ("{ a } c", "<b title='d e'>c</b>", "${ a }c", "5 %d c"):
        assert (pieces(text), found(text, JOINERS, "")[-1]) == ([text], "c")


def test_placeholders_tags_and_addresses_hold_no_words() -> None:
    for text, wanted in [
        ("See ${x} and {{y}} or %(z)s", "See and or"),
        ("<a href='words in a tag'>dog</a> <br/>cat", "dog cat"),
        ("{n, plural, =0 {no dog} one {# dog of {who}} other {# dogs}}!", "no dog dog of dogs"),
        ("{g, select, male {he} other {they}} came on {d, date, long}", "he they came on"),
        ("{see above} 100 %: https://example.org/dog", "see above 100"),
    ]:
        assert found(text, JOINERS, "") == wanted.split()


@examples(36, 300)
@given(_texts)
def test_words_of_a_text_are_those_of_its_prose(text: str) -> None:
    letter = r"[\p{L}\p{M}\p{N}]+"
    word_of = rf"{letter}(?:[{regex.escape(JOINERS)}]{letter})*"
    assert found(text, JOINERS, "") == regex.findall(word_of, read_placeholders(text).prose)
    assert all(text[word.start : word.end] == word.text for word in words(text))


@pytest.mark.parametrize(
    "piece",
    first(3, ["{n, plural, a {", "{a ", "%(w", "5 %", "%0", "0", "<a ", "a-", "'", "https://"]),
)
def test_the_time_grows_with_the_text_and_not_faster(piece: str) -> None:
    def act(times: int) -> None:
        text = "%" + piece * times
        for _ in words(text):
            pass

    assert grows_less(act, 2_000, 20_000, 4)


OPTIONS = (
    "--form", "--source-language", "--target-language", "--source-column", "--reference-column",
    "--other-reference", "--model", "--endpoint", "--temperature", "--max-tokens", "--max-retries",
    "--outputs", "--source-name", "--target-name", "--metrics", "--language-card", "--terms", "--tag",
    "--concurrency", "--limit", "--plain", "--json-lines", "--help",
)  # fmt: skip


def test_typed_option_or_command_is_understood() -> None:
    for typed, meant in [
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
    ]:
        assert near_names(typed, OPTIONS) == meant
    for typed, meant in [("comparison", ["compare"]), ("listing", ["list"]), ("lsit", ["list"]), ("rnu", ["run"]),
     ("leader", ["leaderboard"]), ("evaluate", []), ("xyzzy", []), ("", [])]:  # fmt: skip
        assert near_names(typed, ("run", "compare", "list", "leaderboard", "key")) == meant
    assert [one_of(each) for each in ("a", "ab", "abc")] == ["a", "a or b", "a, b or c"]


@examples(15, 100)
@given(st.sampled_from(OPTIONS), st.data())
def test_one_slip_in_a_long_name_is_always_understood(name: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(2, len(name) - 2))
    letter = data.draw(st.sampled_from("aeikotz"))
    head, tail = name[:at], name[at + 1 :]
    slips = [head + tail, head + letter + name[at:], head + letter + tail]
    slip = data.draw(st.sampled_from([*slips, head + name[at + 1] + name[at] + name[at + 2 :]]))
    if len(name) > 7 and slip not in OPTIONS:
        assert name in near_names(slip, OPTIONS)
