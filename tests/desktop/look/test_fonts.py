"""The bundled fonts draw the letters they are there for, on a computer that has no other font."""

from __future__ import annotations

import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from PySide6.QtGui import QFontDatabase, QRawFont, QTextLayout
from PySide6.QtWidgets import QApplication

from review.desktop.look import fonts
from tests.desktop.conftest import NO_FONTS

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
        timeout=60,
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
