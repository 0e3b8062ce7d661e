import re
import sys
import unicodedata

import pytest
from hypothesis import given, settings
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


@given(st.text())
def test_the_comparison_form_is_a_fixed_point_without_outer_space(text: str) -> None:
    form = comparison_form(text)
    assert comparison_form(form) == form == form.strip()
    assert unicodedata.is_normalized("NFC", form)


@pytest.mark.parametrize(
    ("left", "right"),
    [("niwa\u0302pama\u0302w", "niwâpamâw"), (" a \t\u3000 b\n", "a b"), ("a\u00a0b", "a b")],
)
def test_what_readers_cannot_see_makes_no_difference(left: str, right: str) -> None:
    assert comparison_form(left) == comparison_form(right)


@pytest.mark.parametrize(("left", "right"), [("Atim", "atim"), ("atim.", "atim"), ("â", "a")])
def test_case_punctuation_and_accents_do(left: str, right: str) -> None:
    assert comparison_form(left) != comparison_form(right)


@pytest.mark.parametrize("text", ["", " \u3000", "\u200b", " \u200b \ufeff ", "\u00ad"])
def test_nothing_to_see_is_blank(text: str) -> None:
    assert is_blank(text)
    assert not is_blank(text + "ᐊ" + text)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("plain", NormalForm.EITHER),
        ("ᐊᑎᒼ", NormalForm.EITHER),
        ("â", NormalForm.NFC),
        ("a\u0302", NormalForm.NFD),
        ("â a\u0302", NormalForm.NEITHER),
        ("\u0958", NormalForm.NEITHER),  # DEVANAGARI QA: excluded from composition
    ],
)
def test_normal_forms_are_told_apart(text: str, form: NormalForm) -> None:
    assert normal_form(text) is form


def test_scripts_are_shares_of_letters_only() -> None:
    assert scripts(["ᐊᑎᒼ abc 123 !?"]) == {"Canadian_Aboriginal": 0.5, "Latin": 0.5}
    assert scripts(["123", ""]) == {}
    assert script_of("ж") == "Cyrillic"
    assert script_of("\U00016a40") == "Mro"
    assert script_of("\U00012000") == "Other"  # cuneiform


@settings(deadline=None)
@given(st.text())
def test_shares_add_up_to_one(text: str) -> None:
    shares = scripts([text])
    assert not shares or sum(shares.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    "tag",
    [
        "en",
        "crk",
        "crk-Cans",
        "es-MX",
        "es-419",
        "zh-yue-Hant-HK",
        "sl-rozaj-biske",
        "de-1996",
        "en-u-ca-gregory",
        "crk-x-plains",
        "x-private",
    ],
)
def test_well_formed_tags_pass(tag: str) -> None:
    assert is_language_tag(tag)


@pytest.mark.parametrize(
    "tag",
    ["", "e", "English", "cree", "en_US", "en-", "-en", "en--US", "en US", "ën", "en\n", "a-b"],
)
def test_ill_formed_tags_do_not(tag: str) -> None:
    assert not is_language_tag(tag)


@pytest.mark.parametrize(
    ("name", "tag"),
    [
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
    ],
)
def test_a_tag_is_read_out_of_a_file_name(name: str, tag: str | None) -> None:
    assert language_of_file(name) == tag


def test_labels_and_nearest_tags() -> None:
    assert pair_label("en", "crk-Cans") == "EN→CRK"
    assert nearest("Conversation", ("conversational", "formal")) == "conversational"
    assert nearest("gold standard", ("gold_standard",)) == "gold_standard"
    assert nearest("tatoeba", ("formal",)) is None
    assert nearest("x" * 10**6, ("formal",)) is None


@given(st.text())
def test_ids_are_shown_as_harmless_short_text(text: str) -> None:
    assert shown(text).isprintable()
    assert len(shown(text)) <= 60


def test_reading_a_corpus_loads_no_heavy_library() -> None:
    import subprocess

    code = (
        "import sys, corpora.formats.load; "
        "print([m for m in ('regex', 'numpy', 'click', 'textual', 'httpx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


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
