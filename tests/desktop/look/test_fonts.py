"""The bundled fonts draw the letters they are there for, and a batch brings others; a bad font costs itself alone."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QFont, QFontDatabase, QRawFont, QTextLayout
from PySide6.QtWidgets import QApplication

from review.desktop import look as fonts
from review.desktop.item.item_page import ItemPage
from review.desktop.look import forget_fonts, legible, shown, undrawn
from review.files.batch import Batch, make_batch, open_batch, write_batch
from review.files.font_file import CarriedFont
from review.log.payloads import Rate
from review.office.making.carried_fonts import brought, lacking_in
from tests.desktop.conftest import NO_FONTS
from tests.desktop.visit_scene import Enter
from tests.growth import grows_less
from tests.harness.process import ROOT
from tests.review.files.made_font import CHEROKEE, OFL, carried
from tests.review.session.scenes import ORGANISATION, batch_of, items_of, write_file
from tests.review.thorough import examples, times

LETTERS = {
    "Plains Cree, roman": "âêîôĀāĒēĪīŌō",
    "apart": unicodedata.normalize("NFD", "âêîôāēīō"),
    "Salish and Dene": "x̌ ƛ̓ ʔ ɬ q̓ʷ ł ą́ ǫ̀ ᶿ",
    "syllabics": "ᓂᐚᐸᒫᐤ ᐊᑎᒼ ᐃᓄᒃᑎᑐᑦ ᣇᣉ",
    "syllabics of 2021": "\U00011ab0\U00011abf",
    "Sorani": "سڵاو ێ ۆ ڕ",
    "what pages say": "A− … “” «» → ← ↑ ↓ ⚙ ·",
}


def laid_out(text: str, font: QFont) -> QTextLayout:
    layout = QTextLayout(text, font)
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    return layout


@pytest.mark.parametrize("bold", [False, True])
def test_letters_are_drawn_without_a_system_font(bold: bool) -> None:
    """Of the tests in this folder none finds a font of the computer."""
    assert os.environ["FONTCONFIG_FILE"] == str(NO_FONTS)
    for text in LETTERS.values():
        runs = laid_out(text, fonts.font(20, bold=bold)).glyphRuns()
        assert runs, ascii(text)
        assert all(0 not in run.glyphIndexes() for run in runs), ascii(text)
        assert {run.rawFont().familyName() for run in runs} <= set(fonts.FAMILIES), ascii(text)


@pytest.mark.parametrize("weight", ["Regular", "Bold"])
def test_syllabics_and_marks_are_all_there(weight: str) -> None:
    font = QRawFont(str(fonts.FOLDER / f"RosettaNotoSansCanadianAboriginal-{weight}.ttf"), 20)
    blocks = (range(0x1400, 0x1680), range(0x18B0, 0x18F6), range(0x11AB0, 0x11AC0))
    assert [sum(map(font.supportsCharacter, block)) for block in blocks] == [640, 70, 16]
    font = QRawFont(str(fonts.FOLDER / f"RosettaNotoSans-{weight}.ttf"), 20)
    assert all(map(font.supportsCharacter, range(0x300, 0x370)))


def test_a_mark_stands_above_its_letter_and_takes_no_room() -> None:
    def width(text: str) -> float:
        layout = laid_out(text, fonts.font(40))
        return layout.lineAt(0).naturalTextWidth()

    for letter in "xaoqʔ":
        assert width(f"{letter}\u030c") == pytest.approx(width(letter), abs=1)


def test_a_damaged_font_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(fonts.FOLDER, tmp_path / "fonts")
    monkeypatch.setattr(fonts, "FOLDER", tmp_path / "fonts")
    damaged, gone = (
        tmp_path / "fonts" / name for name in ("RosettaNotoSans-Regular.ttf", "RosettaNotoSansArabic-Bold.ttf")
    )
    damaged.write_bytes(damaged.read_bytes()[:40])
    gone.unlink()
    assert fonts.load() == [damaged, gone]


def test_families_are_our_own_with_licence_and_bold_letters() -> None:
    """Debian, for one, has another Noto Sans, without some of the signs: Qt would mix the two."""
    for family in fonts.FAMILIES:
        assert family.startswith("Rosetta ")
        name = family.replace(" ", "")
        assert QRawFont(str(fonts.FOLDER / f"{name}-Regular.ttf"), 20).familyName() == family
        assert {"Regular", "Bold"} <= set(QFontDatabase.styles(family))
        text = (fonts.FOLDER / f"{name}-OFL.txt").read_text("utf-8")
        assert "SIL OPEN FONT LICENSE Version 1.1" in text
        assert "The Noto Project Authors" in text
    assert fonts.font_label(26) == "Rosetta Noto Sans / Rosetta Noto Sans Canadian Aboriginal 26 px"


DRAWN = [
    *("ᓂᐚᐸᒫᐤ ᐊᑎᒼ \U00011ab0", "niwâpamâw atim", unicodedata.normalize("NFD", "niwâpamâw")),
    *("x̌ ƛ̓ ʔ", "سڵاو", "", " \n\t\u2028", "a\u200db\u200c\u200e\u2066c\u2069\ufeff\u00ad", "a\ufe0f"),
]
MISSING = {
    "abc שלום": "ש", "漢字": "漢", "ab\ue000c": "\ue000", "a\u0378": "\u0378", "a😀b": "😀",
    "\U000e1234": "\U000e1234", "a\U000111ebb": "\U000111eb", "a\u07ca": "\u07ca", "\u0712b": "\u0712",
    "\u0780": "\u0780", "! \u07ca": "\u07ca",
}  # fmt: skip


def test_with_the_bundled_fonts_alone() -> None:
    for text in DRAWN:
        assert undrawn([text]) == [], ascii(text)
    for text, missing in MISSING.items():
        assert undrawn([text])[:1] == [missing], ascii(text)


def test_all_of_all_texts_are_found_with_their_marks() -> None:
    texts = ["good", "also good", "here ק\u05b8 and 漢", "漢", "a\u07ca ! \u2014 \u0712"]
    assert undrawn(["\u2014"]) == []  # as on the page before
    assert undrawn(texts) == ["ק\u05b8", "漢", "\u07ca", "\u0712"]
    assert undrawn(texts[2:3]) == ["ק\u05b8", "漢"], "what was asked before is known"
    assert undrawn(["\u2014 \u2212", "\u07ca\u2014\u2212"]) == ["\u07ca"]


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
def test_what_cannot_be_drawn_is_shown_by_name(text: str, seen: str) -> None:
    assert shown(text) == seen
    assert shown(seen) == seen


@examples(30, 100)
@given(st.text(alphabet="aᐊê \u0302漢ש😀▁\ue000\u202e\n", max_size=30))
def test_nothing_is_shown_that_cannot_be_drawn(text: str) -> None:
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
def test_text_is_legible_as_stated(text: str, script: str | None, reads: bool) -> None:
    assert legible(text, script) is reads


@examples(30, 100)
@given(st.text(alphabet="aᐊ \u0302漢ש", max_size=20))
def test_what_is_undrawn_stands_in_the_text(text: str) -> None:
    found = undrawn([text])
    assert {each[0] for each in found} == set(text) & set("漢ש")
    assert all(each in text for each in found)


@pytest.mark.thorough
def test_five_thousand_different_characters_hold_nobody_up() -> None:
    """Of every script, in no order; the seed keeps them the same."""
    known = [chr(code) for code in range(0x20, 0x30000)]
    seen = [each for each in known if unicodedata.category(each)[0] in "LMNPS"]
    letters = random.Random(5).sample(seen, 5000)
    undrawn(letters)  # every font that is needed is open now, as after the first page

    def look(size: int) -> list[str]:
        forget_fonts()
        some = letters[:size]
        return undrawn(["".join(some), *some, "".join(f"{letter}\u07eb" for letter in some)])

    assert look(5000)
    assert grows_less(look, 1000, 5000, 4)


def test_a_thousand_marks_on_one_letter_are_looked_at_once() -> None:
    assert undrawn(["a" + "\u0301" * 20_000]) == []
    assert undrawn(["a" + "\u0301" * 20_000 + "\u0378"])
    look = lambda marks: undrawn(["a" + "\u0301" * marks + "\u0378"])  # noqa: E731
    assert grows_less(look, 4_000, 20_000, 2.5)


# letters that a batch brings

SALT = bytes(range(32))
HOSTILE = """
import sys
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication
from review.desktop import look as fonts
from review.files.font_file import CarriedFont
from tests.review.files.made_font import ARABIC, CHEROKEE, OFL, carried, changed, subset_font

app = QApplication([])
fonts.load()
texts = ["سلام و ێۆڕ بتث", CHEROKEE]
good = [subset_font(ARABIC, set(texts[0])), carried().font]
drawn = 0
for seed in range(int(sys.argv[1])):
    if not fonts.carry([CarriedFont(changed(good[seed % 2], seed), OFL)]):
        image = QImage(600, 80, QImage.Format.Format_ARGB32)
        font = fonts.font(30)
        font.setFamilies([*fonts._CARRIED, *font.families()])
        painter = QPainter(image)
        painter.setFont(font)
        painter.drawText(10, 50, texts[seed % 2])
        painter.end()
        drawn += 1
print("drawn", drawn)
"""
"""Draws with fonts that were changed in such a way that their sums are right."""


@pytest.fixture(autouse=True)
def none_carried(qapp: QApplication) -> None:
    fonts.carry(())
    forget_fonts()


def batch_with(*carried_fonts: CarriedFont) -> Batch:
    items = [each.model_copy(update={"candidate": CHEROKEE}) for each in items_of(2)]
    plain = batch_of(items, salt=SALT, shows_words=False)
    return make_batch(plain.manifest, items, (), ORGANISATION, SALT, carried_fonts)


def test_letters_of_a_batch_are_drawn_and_recorded(enter: Enter, tmp_path: Path) -> None:
    batch = batch_with(carried())
    assert undrawn([CHEROKEE]) == [*CHEROKEE]
    entry = enter(places=[write_file(batch, tmp_path)])
    entry.to_consent()
    assert undrawn([CHEROKEE]) == []
    entry.press("\r")
    page = entry.page(ItemPage)
    assert page.texts.candidate.toPlainText() == CHEROKEE
    assert _family(CHEROKEE) == {carried().read().family}
    entry.answer("2")
    (rated,) = [e.payload for e in entry.laptop.events() if isinstance(e.payload, Rate)]
    assert carried().read().family in (rated.font or "")
    entry.look.take_fonts(())
    assert undrawn([CHEROKEE]) == [*CHEROKEE], "the next review has its own"


def _family(text: str) -> set[str]:
    runs = laid_out(text, fonts.font(20)).glyphRuns()
    return {run.rawFont().familyName() for run in runs}


BAD = [
    CarriedFont(b"no font", OFL),
    CarriedFont(carried().font[:-1], OFL),
    CarriedFont(carried().font, b"All rights reserved."),
    CarriedFont((fonts.FOLDER / "RosettaNotoSans-Regular.ttf").read_bytes(), OFL),
]


def test_bad_fonts_and_letters_that_are_there_cost_nothing() -> None:
    mixed = carried("aê" + CHEROKEE)
    assert ord("a") not in mixed.read().characters or fonts.carry([mixed]) == []
    assert _family("aê") == {"Rosetta Noto Sans"}
    for bad in (BAD[:3], BAD[3:]):
        brought = open_batch(write_batch(batch_with(*bad, carried()))).fonts
        assert brought == (*bad, carried())
        assert len(fonts.carry(brought)) == len(bad)
        forget_fonts()
        assert undrawn([CHEROKEE]) == []
        assert fonts.families() == [*fonts.FAMILIES, carried().read().family]


@pytest.mark.thorough
def test_fonts_made_to_deceive_do_not_end_the_program() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", HOSTILE, str(times(300, 10_000))],
        env={**os.environ},
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr[-500:]
    assert int(ran.stdout.split()[-1]) > times(300, 10_000) // 3, "most get past our own look"


def test_the_organiser_is_told_what_the_window_finds() -> None:
    """Both look at the same fonts: one in their tables, the other by drawing."""
    letters = [chr(code) for code in range(0x20, 0x30000, times(211, 1)) if chr(code).isprintable()]
    lacking = lacking_in("".join(letters), brought())
    drawn_otherwise = {each for each in letters if (each in lacking) != (undrawn([each]) != [])}
    assert drawn_otherwise == set()
