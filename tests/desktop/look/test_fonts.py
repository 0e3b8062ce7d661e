"""The bundled fonts draw the letters they are there for, on a computer that has no other font."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QFontDatabase, QRawFont, QTextLayout
from PySide6.QtWidgets import QApplication

from review.desktop.look import fonts
from review.desktop.look.fonts import forget_fonts, legible, shown, undrawn
from tests.desktop.conftest import NO_FONTS
from tests.growth import grows_less

ROOT = Path(__file__).parents[3]

LETTERS = {
    "Plains Cree, roman": "âêîôĀāĒēĪīŌō",
    "apart": unicodedata.normalize("NFD", "âêîôāēīō"),
    "Salish and Dene": "x̌ ƛ̓ ʔ ɬ q̓ʷ ł ą́ ǫ̀ ᶿ",
    "syllabics": "ᓂᐚᐸᒫᐤ ᐊᑎᒼ ᐃᓄᒃᑎᑐᑦ ᣇᣉ",
    "syllabics of 2021": "\U00011ab0\U00011abf",
    "Sorani": "سڵاو ێ ۆ ڕ",
    "what pages say": "A− … “” «» → ← ↑ ↓ ⚙ ·",
}

SEEN = """
import sys
from PySide6.QtGui import QGuiApplication, QTextLayout
from review.desktop.look import fonts
app = QGuiApplication([])
fonts.load()
for text in sys.argv[1:]:
    for bold in (False, True):
        layout = QTextLayout(text, fonts.font(20, bold=bold))
        layout.beginLayout()
        layout.createLine()
        layout.endLayout()
        runs = layout.glyphRuns()
        assert runs, ascii(text)
        assert all(0 not in run.glyphIndexes() for run in runs), ascii(text)
        assert {run.rawFont().familyName() for run in runs} <= set(fonts.FAMILIES), ascii(text)
"""


def test_every_letter_is_drawn_where_the_computer_has_no_font() -> None:
    environment = {"QT_QPA_PLATFORM": "offscreen", "FONTCONFIG_FILE": str(NO_FONTS), "PATH": "/x"}
    subprocess.run(
        [sys.executable, "-c", SEEN, *LETTERS.values()],
        cwd=ROOT,
        env=environment,
        check=True,
        timeout=600,
    )


@pytest.mark.parametrize("weight", ["Regular", "Bold"])
def test_the_syllabics_are_all_there(qapp: QApplication, weight: str) -> None:
    font = QRawFont(str(fonts.FOLDER / f"RosettaNotoSansCanadianAboriginal-{weight}.ttf"), 20)
    blocks = (range(0x1400, 0x1680), range(0x18B0, 0x18F6), range(0x11AB0, 0x11AC0))
    assert [sum(map(font.supportsCharacter, block)) for block in blocks] == [640, 70, 16]


@pytest.mark.parametrize("weight", ["Regular", "Bold"])
def test_all_marks_that_stand_on_latin_letters_are_there(qapp: QApplication, weight: str) -> None:
    font = QRawFont(str(fonts.FOLDER / f"RosettaNotoSans-{weight}.ttf"), 20)
    assert all(map(font.supportsCharacter, range(0x300, 0x370)))


def test_a_mark_stands_above_its_letter_and_takes_no_room(qapp: QApplication) -> None:
    def width(text: str) -> float:
        layout = QTextLayout(text, fonts.font(40))
        layout.beginLayout()
        line = layout.createLine()
        layout.endLayout()
        return line.naturalTextWidth()

    for letter in "xaoqʔ":
        assert width(f"{letter}\u030c") == pytest.approx(width(letter), abs=1)


def test_bold_letters_are_the_fonts_own(qapp: QApplication) -> None:
    for family in fonts.FAMILIES:
        assert {"Regular", "Bold"} <= set(QFontDatabase.styles(family))


def test_a_damaged_font_is_named(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(fonts.FOLDER, tmp_path / "fonts")
    monkeypatch.setattr(fonts, "FOLDER", tmp_path / "fonts")
    damaged, gone = (
        tmp_path / "fonts" / name
        for name in ("RosettaNotoSans-Regular.ttf", "RosettaNotoSansArabic-Bold.ttf")
    )
    damaged.write_bytes(damaged.read_bytes()[:40])
    gone.unlink()
    assert fonts.load() == [damaged, gone]


def test_the_licence_of_each_family_lies_beside_it() -> None:
    for family in fonts.FAMILIES:
        text = (fonts.FOLDER / f"{family.replace(' ', '')}-OFL.txt").read_text("utf-8")
        assert "SIL OPEN FONT LICENSE Version 1.1" in text
        assert "The Noto Project Authors" in text


def test_the_font_of_a_rating_has_a_name() -> None:
    assert fonts.named(26) == "Rosetta Noto Sans / Rosetta Noto Sans Canadian Aboriginal 26 px"


def test_no_font_of_the_computer_can_take_the_place_of_ours(qapp: QApplication) -> None:
    """Debian, for one, has another Noto Sans, without some of the signs: Qt would mix the two."""
    for family in fonts.FAMILIES:
        assert family.startswith("Rosetta ")
        raw = QRawFont(str(fonts.FOLDER / f"{family.replace(' ', '')}-Regular.ttf"), 20)
        assert raw.familyName() == family


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("ᓂᐚᐸᒫᐤ ᐊᑎᒼ \U00011ab0", None),
        ("niwâpamâw atim", None),
        (unicodedata.normalize("NFD", "niwâpamâw"), None),
        ("x̌ ƛ̓ ʔ", None),
        ("سڵاو", None),
        ("", None),
        (" \n\t\u2028", None),
        ("a\u200db\u200c\u200e\u2066c\u2069\ufeff\u00ad", None),
        ("a\ufe0f", None),
        ("abc שלום", "ש"),
        ("漢字", "漢"),
        ("ab\ue000c", "\ue000"),
        ("a\u0378", "\u0378"),
        ("a😀b", "😀"),
        ("\U000e1234", "\U000e1234"),
        ("a\U000111ebb", "\U000111eb"),
        ("a\u07ca", "\u07ca"),
        ("\u0712b", "\u0712"),
        ("\u0780", "\u0780"),
        ("! \u07ca", "\u07ca"),
    ],
)
def test_with_the_bundled_fonts_alone(qapp: QApplication, text: str, missing: str | None) -> None:
    assert undrawn([text])[:1] == ([] if missing is None else [missing])


def test_all_of_all_texts_are_found_with_their_marks(qapp: QApplication) -> None:
    texts = ["good", "also good", "here ק\u05b8 and 漢", "漢", "a\u07ca ! \u2014 \u0712"]
    assert undrawn(texts) == ["ק\u05b8", "漢", "\u07ca", "\u0712"]
    assert undrawn(texts[2:3]) == ["ק\u05b8", "漢"], "what was asked before is known"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("good 😀 ê ᓂ", "good ‹GRINNING FACE› ê ᓂ"),
        ("▁Mi▁vidas 中", "‹LOWER ONE EIGHTH BLOCK›Mi‹LOWER ONE EIGHTH BLOCK›vidas ‹CJK UNIFIED IDEOGRAPH-4E2D›"),
        ("👩🏽\u200d🏫", "‹WOMAN + EMOJI MODIFIER FITZPATRICK TYPE-4 + ZERO WIDTH JOINER + SCHOOL›"),
        ("ק\u05b8\u202e", "‹HEBREW LETTER QOF + HEBREW POINT QAMATS›‹RLO›"),
        ("a\ue000😀😀😀😀", "a‹U+E000›‹GRINNING FACE›‹×4›"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_shown_by_name(qapp: QApplication, text: str, seen: str) -> None:
    assert shown(text) == seen
    assert shown(seen) == seen


@given(st.text(alphabet="aᐊê \u0302漢ש😀▁\ue000\u202e\n", max_size=30))
def test_nothing_is_shown_that_cannot_be_drawn(qapp: QApplication, text: str) -> None:
    assert undrawn([shown(text)]) == []


@pytest.mark.parametrize(
    ("text", "script", "reads"),
    [
        ("Mi vidas 😀 ▁ 中", "Latn", True),
        ("Mi 中 漢", "Latn", True),
        ("Mi 中漢字", "Latn", False),
        ("😀 ▁ 1", "Latn", True),
        ("ᏣᎳᎩ", None, False),
        ("one word of many: ᏣᎳᎩ", None, True),
        ("one word of many: ᏣᎳᎩ", "Cher", False),
        ("one word of many: 漢", "Jpan", False),
        ("one letter of many: Ａ", "Latn", False),
        ("one letter of many: ק\u05b8", "Hebr", False),
        ("▁ " * 201, "Latn", False),
        ("", "Latn", True),
    ],
)
def test_a_text_is_judged_only_where_it_can_be_read(
    qapp: QApplication, text: str, script: str | None, reads: bool
) -> None:
    assert legible(text, script) is reads


@given(st.lists(st.text(alphabet="aêᐊᓂ ̌سx\u200d", max_size=20), max_size=5))
def test_a_text_of_letters_that_are_there_misses_none(qapp: QApplication, texts: list[str]) -> None:
    assert undrawn(texts) == []


@given(st.text(alphabet="aᐊ \u0302漢ש", max_size=20))
def test_one_that_is_named_stands_in_the_text_and_cannot_be_drawn(
    qapp: QApplication, text: str
) -> None:
    found = undrawn([text])
    assert {each[0] for each in found} == set(text) & set("漢ש")
    assert all(each in text for each in found)


def test_the_time_of_looking_through_a_review_grows_as_its_texts_do(qapp: QApplication) -> None:
    letters = [chr(code) for code in (*range(0x1400, 0x1680), *range(0xC0, 0x180))]
    texts = ["".join(letters[(7 * n + m) % len(letters)] for m in range(200)) for n in range(300)]
    assert undrawn(texts) == []
    assert grows_less(lambda size: undrawn(texts[:size]), 60, 300, 2.5)


def test_a_sign_that_scripts_share_is_not_blamed_for_its_neighbour(qapp: QApplication) -> None:
    assert undrawn(["\u2014 \u2212", "\u07ca\u2014\u2212"]) == ["\u07ca"]


def _assigned() -> list[str]:
    """Return every character that shows something, in no order of scripts; the seed keeps it the same."""
    known = [chr(code) for code in range(0x20, 0x30000)]
    seen = [each for each in known if unicodedata.category(each)[0] in "LMNPS"]
    return random.Random(5).sample(seen, len(seen))


@pytest.mark.parametrize("kind", ["one text", "a text each", "all with a mark"])
def test_five_thousand_different_characters_hold_nobody_up(qapp: QApplication, kind: str) -> None:
    letters = _assigned()[:5000]
    undrawn(letters)  # every font that is needed is open now, as after the first page

    def look(size: int) -> list[str]:
        forget_fonts()
        some = letters[:size]
        texts = {
            "one text": ["".join(some)],
            "a text each": some,
            "all with a mark": ["".join(f"{letter}\u07eb" for letter in some)],
        }[kind]
        return undrawn(texts)

    assert look(5000)
    assert grows_less(look, 1000, 5000, 4)


def test_a_thousand_marks_on_one_letter_are_looked_at_once(qapp: QApplication) -> None:
    assert undrawn(["a" + "\u0301" * 20_000]) == []
    assert undrawn(["a" + "\u0301" * 20_000 + "\u0378"])
    look = lambda marks: undrawn(["a" + "\u0301" * marks + "\u0378"])  # noqa: E731
    assert grows_less(look, 4_000, 20_000, 2.5)
