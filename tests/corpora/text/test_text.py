"""Texts: tags, words and placeholders, what a window shows of hostile ones, and names near a mistyped one."""

from __future__ import annotations

import re
import sys
import time
import unicodedata
from collections import Counter

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from corpora.checks.entries import check_entries
from corpora.files.problems import shown
from corpora.languages.tags import is_language_tag, language_of_file, nearest, pair_label
from corpora.model.entry import Entry
from corpora.text.comparison import (
    MOST_STACKED,
    NormalForm,
    alike,
    comparison_form,
    is_blank,
    mixtures,
    normal_form,
    script_of,
    scripts,
    stacked,
)
from corpora.text.messages import near_names, one_of
from corpora.text.model_reply import answer_text
from corpora.text.tokens import JOINERS, pieces, read_placeholders, words
from corpora.text.visible import MOST_MARKS, plain, readable
from scoring.packs.judge_replies import CONTRACTS, parse_reply
from tests.growth import grows_less
from tests.review.thorough import examples, first
from tests.scoring.samples import HOSTILE, sentences


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
    for left, right in (("niwa\u0302pama\u0302w", "niwâpamâw"), (" a \t\u3000 b\n", "a b"), ("a\u00a0b", "a b")):
        assert comparison_form(left) == comparison_form(right)
    for left, right in (("Atim", "atim"), ("atim.", "atim"), ("â", "a")):
        assert comparison_form(left) != comparison_form(right)
    for text in ("", " \u3000", "\u200b", " \u200b \ufeff ", "\u00ad"):
        assert is_blank(text)
        assert not is_blank(text + "ᐊ" + text)


def test_normal_forms_and_scripts_are_told_apart() -> None:
    for text, form in [
        ("ᐊᑎᒼ", NormalForm.EITHER), ("â", NormalForm.NFC), ("a\u0302", NormalForm.NFD),
        ("â a\u0302", NormalForm.NEITHER),
        ("\u0958", NormalForm.NEITHER),  # DEVANAGARI QA: excluded from composition
    ]:  # fmt: skip
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
    for tag in ["", "e", "English", "cree", "en_US", "en-", "-en", "en--US", "en US", "ën", "en\n", "a-b"]:
        assert not is_language_tag(tag)


def test_tags_are_read_from_file_names_and_labelled() -> None:
    for name, tag in [
        ("newstest2019-ref.eng.txt", "eng"), ("corpus.en", "en"), ("eng_Latn.dev", "eng-Latn"),
        ("corpus.crk_Cans.txt", "crk-Cans"), ("test.en.src", "en"), ("my.txt", None),
        ("corpus.txt", None), ("corpus.version2.txt", None), ("source", None),
    ]:  # fmt: skip
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
@example("{ a } c, ${ a }c, 5 %d c", JOINERS, "")
@example("5 %un, 5 %s", JOINERS, "")
def test_no_word_is_cut_between_pieces(text: str, joiners: str, letters: str) -> None:
    apart = [word for piece in pieces(text) for word in found(piece, joiners, letters)]
    assert (apart, " ".join(pieces(text))) == (found(text, joiners, letters), text)


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


SLOW = [
    "{n, plural, a {", "{a ", "<a b='", "%(", "{", "}", "{{", "{a", "<a ", "%", "{a,plural,", "{ ", "%1",
    "$", "https://", "{a|", "{}", "5 %", "%0", "0", "a-", "'",
]  # fmt: skip


@pytest.mark.parametrize("piece", first(4, SLOW))
def test_the_time_grows_with_the_text_and_not_faster(piece: str) -> None:
    assert grows_less(lambda many: list(words("%" + piece * many)), 2_000, 20_000, 4)


OPTIONS = (
    "--form", "--source-language", "--target-language", "--source-column", "--reference-column",
    "--other-reference", "--model", "--endpoint", "--temperature", "--max-tokens", "--max-retries",
    "--outputs", "--source-name", "--target-name", "--metrics", "--language-card", "--terms", "--tag",
    "--concurrency", "--limit", "--plain", "--json-lines", "--help",
)  # fmt: skip


def test_typed_option_or_command_is_understood() -> None:
    for typed, meant in [
        ("--source", ["--source-language", "--source-column", "--source-name"]),
        ("--source-lang", ["--source-language"]), ("--Source_Language", ["--source-language"]),
        ("--reference", ["--reference-column", "--other-reference"]),
        ("--lang", ["--language-card", "--source-language", "--target-language"]),
        ("--modle", ["--model"]), ("--temprature", ["--temperature"]), ("--format", ["--form"]),
        ("--json", ["--json-lines"]), ("--max", ["--max-tokens", "--max-retries"]),
        ("--alpha", []), ("--by", []), ("--max-cost", []), ("-" * 99, []), ("--" + "x" * 10**6, []),
    ]:  # fmt: skip
        assert near_names(typed, OPTIONS) == meant
    for typed, meant in [
        ("comparison", ["compare"]), ("listing", ["list"]), ("lsit", ["list"]), ("rnu", ["run"]),
        ("leader", ["leaderboard"]), ("evaluate", []), ("xyzzy", []), ("", []),
    ]:  # fmt: skip
        assert near_names(typed, ("run", "compare", "list", "leaderboard", "key")) == meant
    assert [one_of(each) for each in ("a", "ab", "abc")] == ["a", "a or b", "a, b or c"]


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


def test_spellings_of_one_piece_are_one_and_others_differ() -> None:
    for one, other in [
        ("{ name }", "{name}"), ("{{ name }}", "{{name}}"), ("<br>", "<br />"),
        ("<a href='x'>", '<a  href="x" >'),
        ('<img alt="dog" src="d.png">', '<img src="d.png" alt="hundo"/>'),
        ("{d, date, MM/dd}", "{d, date, dd.MM.}"), ("%d files, 100 %", "100%, %d dosieroj"),
    ]:  # fmt: skip
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


def test_plural_words_are_each_languages_own() -> None:
    keys = ["{n, plural}", "{n, plural, =0}", "{n, plural, other}", "{n}", "{who}"]
    assert variables(PLURAL) == dict.fromkeys(keys, 1)
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
    lost = Counter(variables(source)) - Counter(variables(good.replace("female", "ina")))
    assert lost == Counter(["{g, select, female}"])
    assert "plural" not in read_placeholders(PLURAL).prose
    assert read_placeholders(good).prose.split() == ["Li", "vidas", "Ŝi", "vidas", "Ili", "vidas"]


@examples(15, 100)
@given(st.one_of(sentences, st.text(alphabet="{}%<>/# ,=aplursect$", max_size=80)))
def test_any_text_can_be_read(text: str) -> None:
    reading = read_placeholders(text)
    assert all(count > 0 for count in reading.variables.values())
    assert text not in HOSTILE or all(piece.startswith("<") for piece in reading.variables)


@pytest.mark.parametrize(
    ("text", "language", "form"),
    [
        *((f"nikî{hyphen}wâpamâw", "crk", "nikî-wâpamâw") for hyphen in "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"),
        *((f"Gwich{mark}in", "gwi", "Gwich'in") for mark in "’ʼ‘`´′ꞌ"),
        ("ni\u00adkî\u200b \u2060atim\ufeff\u200e", "crk", "nikî atim"), ("wo\u200drd", "en", "word"),
        ("l∙l", "ca", "l·l"), ("x\u0332 k\u0315", "", "x\u0331 k\u0313"),
        ("ᐧᐋᐸᒣᐤ", "crk", "ᐙᐸᒣᐤ"), ("ᐋᐧᐸᒣᐤ", "crk", "ᐚᐸᒣᐤ"), ("ᐋᐧᐸ", "crm", "ᐋᑄ"),
        ("'ōlelo Hawai’i", "haw", "ʻōlelo Hawaiʻi"), ("‘aloha’", "haw", "‘aloha’"),
        # what differs to the eye, or is no part of a word, stays
        ("a – b 1990–2000 −5", "en", "a – b 1990–2000 −5"), ("‘dogs’ “a”—b", "en", "‘dogs’ “a”—b"),
        ("nikî nikī", "crk", "nikî nikī"), ("می\u200cخواهم क्\u200dष", "fa", "می\u200cخواهم क्\u200dष"), ("👩\u200d👧", "", "👩\u200d👧"),
        ("ᐚᐸᒣᐤ ᐙᐸ", "crk", "ᐚᐸᒣᐤ ᐙᐸ"),
        *((f"Gwich{mark}in", "gwi", "Gwich'in") for mark in "ʽʾˈʹ‵｀Ꞌ"), ("ג׳ירפה צה״ל", "he", "ג'ירפה צה\"ל"),
        *((f"col{dot}lecció", "ca", "col·lecció") for dot in "•・･"), ("ﬁn ĳs µg ǝ", "", "fin ijs μg ə"),
        ("ᓀᐦᐃᔭᐁ·ᐃ‧ᐣ ᐋᕀ ᐊᑎᑦ ᐊᕁ", "crk", "ᓀᐦᐃᔭᐍᐏᐣ ᐋᐩ ᐊᑎᒼ ᐊᕽ"), ("ᐃᓄᒃᑎᑐᑦ", "iu", "ᐃᓄᒃᑎᑐᑦ"), ("• ᐊᐸ", "crk", "• ᐊᐸ"),
        ("şi ţară", "ro", "și țară"), ("şu", "tr", "şu"), ("كتاب يك", "fa", "کتاب یک"), ("كتاب", "ar", "كتاب"), ("അവന്\u200d", "ml", "അവൻ"),
        ("a\ufe0fti\x00m\U000e0101", "crk", "atim"), ("☺\ufe0f", "en", "☺\ufe0f"), ("ᠠ\u180b", "mn", "ᠠ\u180b"),
    ],
)  # fmt: skip
def test_what_looks_alike_is_one(text: str, language: str, form: str) -> None:
    assert alike(text, language) == form
    assert alike(form, language) == form


def test_what_unicode_calls_ignorable_is_neither_read_nor_seen() -> None:
    letters = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
    ignorable = regex.findall(r"\p{Default_Ignorable_Code_Point}", letters)
    assert all(map(is_blank, ignorable))
    assert {one for one in ignorable if alike(f"a{one}b", "en") not in {"ab", "a b"}} == {
        "\u115f", "\u1160", *map(chr, range(0xE0020, 0xE0080))  # parts of Korean syllables and of flags
    }  # fmt: skip


def test_what_nobody_sees_is_blank() -> None:
    for text in (
        "",
        " ",
        "\u200b",
        "\u00ad \u200d",
        "\u200e\u2060",
        "\ufe0f",
        "\u034f",
        "\x00\x1b",
        "\u3164",
        "\u2800 \u115f",
        "\U000e0101",
    ):
        assert is_blank(text)
    assert not any(map(is_blank, ("a", "\u200ba", "\u200d.", "ᐧ", "\u0301")))


def test_a_mixture_is_named_with_its_entries() -> None:
    texts = ["nikî-wâpam", "nikî\u2011wâpam", "a-b", "ni\u00adkî"]
    entries = [Entry(id=at, source="s’s", reference=text) for at, text in enumerate(texts)]
    named = {each.message: each.places for each in check_entries(entries, "c")}
    assert named["Several forms of one look: hyphens in the references: U+002D (2), U+2011 (1)."] == (1,)
    assert named["There are characters without width in the references: U+00AD (1)."] == (3,)
    assert list(mixtures(["ᐧᐋᐸ", "ᐙᐸ"])) == ["syllables"]
    assert mixtures(["ᐚᐸ", "ᐙᐸ", "don't", "a-b", "plain"]) == {}


THOUGHT = "hello {is} <b> tânisi"
WRAPPED = [
    "<think>{r}</think>\n\n{a}", "<THINK>{r}</Think>{a}", "{r}\n</think>\n{a}", "<thinking>{r}</thinking>\n{a}",
    "<thought>{r}</thought>{a}", "<reasoning>{r}</reasoning>\n{a}", "<seed:think>{r}</seed:think>{a}",
    "[THINK]{r}[/THINK]{a}", "◁think▷{r}◁/think▷{a}", "<unused94>thought\n{r}<unused95>{a}", "{r}◁/think▷{a}",
    "<|channel|>analysis<|message|>{r}<|end|><|start|>assistant<|channel|>final<|message|>{a}<|return|>",
    "<|channel|>final <|constrain|>json<|message|>{a}", "analysis{r}assistantfinal{a}",
    "<|channel>thought\n{r}<channel|>{a}<turn|>", "<|START_THINKING|>{r}<|END_THINKING|><|START_RESPONSE|>{a}<|END_RESPONSE|>",
    "<|begin_of_thought|>{r}<|end_of_thought|><|begin_of_solution|>{a}<|end_of_solution|>",
    "<think>{r}</think><answer>{a}</answer>", "<answer>\n{a}", "<|begin_of_box|>{a}<|end_of_box|>",
    "{a}\n<think>{r}</think>", "{a} <think>{r}</think>", "<think>1</think>\n<think>{r}</think>{a}", "<think>\n\n</think>\n\n{a}",
    "{a}</s>", "<s>{a}", "{a}<|im_end|>", "{a}<|eot_id|>\n", "{a}<|im_end|>\n<|im_start|>user\n{r}",
    "<|im_start|>assistant\n{a}<|im_end|>", "{a}<｜end▁of▁sentence｜>", "{a}<end_of_turn>", "{a}<|endoftext|><|im_end|>",
    "<Thought>{r}</Thought>\n<Output>{a}</Output>", "<chain_of_thought>{r}</chain_of_thought>{a}", "<cot>{r}</cot>\n{a}",
    "<analysis>{r}</analysis>\n{a}", "<think time='3'>{r}</think >{a}", "<|thinking|>{r}<|/thinking|>{a}",
    "[REASONING]{r}[/REASONING]\n<translation>{a}</translation>", "<|startofthought|>{r}<|endofthought|>{a}",
    "Here is my thought process: {r}\n\nHere is my response: {a}", "<thought_process>{r}</thought_process><final>{a}</final>",
    "<|header_start|>assistant<|header_end|>\n\n{a}<|eot|>", "{a}<end_of_utterance>", "{a}<|EOT|>", "{a}<|eom|>",
    "<|start_of_role|>assistant<|end_of_role|>{a}<|end_of_text|>",
    "```\n{a}\n```", "```text\n{a}\n```", "~~~\n{a}\n~~~", "<think>{r}</think>```\n{a}\n```", " {a} \n",
]  # fmt: skip


@pytest.mark.parametrize("wrapped", WRAPPED)
def test_answer_and_judgement_are_read_within_all_marks(wrapped: str) -> None:
    around = wrapped.replace("{r}", THOUGHT)
    assert answer_text(around.replace("{a}", "tânisi\nnitôtêm")) == "tânisi\nnitôtêm"
    around = wrapped.replace("{r}", '{"score": 1}')
    told = '{"score": 4, "explanation": "it says </think>,\nand <think>"}'
    judged = parse_reply(CONTRACTS["judge_detailed"], around.replace("{a}", told))
    assert (judged.score, judged.explanation) == (4, "it says </think>,\nand <think>")


@pytest.mark.parametrize("text", [
    "“tânisi”", '"tânisi"', "Here is the translation: tânisi", "Use ```code``` here", "`tânisi`",
    "```\na\n```\nand\n```\nb\n```", "a <think> b </think> c", "a <think> b", "Use <|im_end|> to end", "<s>tânisi</s>",
    "<p>tânisi</p>", "[pause] tânisi", "<answer>a</answer> and <answer>b</answer>", '{"a": "</think>"}', "analysis",
    "Hello <|name|>", "<result>a</result>", "the <cot> is full", "Here is my response: a",
])  # fmt: skip
def test_what_may_belong_to_an_answer_stays(text: str) -> None:
    assert answer_text(text) == text


@pytest.mark.parametrize("reply", [
    "<think>on and on", "[THINK]on", "◁think▷on", "<|channel|>analysis<|message|>on", "<seed:think>on", "tânisi\n<think>on",
])  # fmt: skip
def test_reasoning_without_end_is_no_answer(reply: str) -> None:
    assert answer_text(reply) is None
    assert parse_reply(CONTRACTS["judge_binary"], f'{reply} {{"score": 1}}').score is None


@pytest.mark.parametrize("part", [
    "<think></think>", "a <think> ", "a <think> b </think> c ", "{", "<", "<|im_end|> ", "<answer>", "<|channel|>a", "a_", " ",
])  # fmt: skip
def test_hostile_replies_take_linear_time(part: str) -> None:
    def seconds(length: int) -> float:
        began = time.process_time()
        answer_text(f"<{part * (length // len(part))}x")
        return time.process_time() - began

    assert seconds(160_000) < 40 * max(seconds(16_000), 0.002)
