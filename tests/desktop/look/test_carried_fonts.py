"""A batch brings letters that the program lacks; a bad font costs itself alone, and draws no letter of ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QTextLayout
from PySide6.QtWidgets import QApplication

from harness.sealed.forms import FileError
from review.desktop.item.item_page import ItemPage
from review.desktop.look import fonts
from review.desktop.look.fonts import forget_fonts, undrawn
from review.desktop.pages.first_pages import ConsentPage
from review.files.batch import Batch, make_batch, open_batch, write_batch
from review.files.font_file import CarriedFont
from review.log.payloads import Rate
from review.office.making.carried_fonts import brought, lacking_in
from tests.desktop.program.to_consent import to_consent
from tests.desktop.visit_scene import Enter
from tests.harness.process import ROOT
from tests.review.files.made_font import CHEROKEE, OFL, carried
from tests.review.session.scenes import ORGANISATION, batch_of, items_of, write_file
from tests.review.thorough import times

SALT = bytes(range(32))
HOSTILE = """
import sys
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication
from review.desktop.look import fonts
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


def test_letters_that_a_batch_brings_are_drawn_rated_and_recorded(
    enter: Enter, tmp_path: Path
) -> None:
    batch = batch_with(carried())
    assert undrawn([CHEROKEE]) == [*CHEROKEE]
    entry = enter(places=[write_file(batch, tmp_path)])
    to_consent(entry)
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
    layout = QTextLayout(text, fonts.font(20))
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    return {run.rawFont().familyName() for run in layout.glyphRuns()}


def test_no_font_of_a_batch_draws_a_letter_that_the_program_has(qapp: QApplication) -> None:
    mixed = carried("aê" + CHEROKEE)
    assert ord("a") not in mixed.read().characters or fonts.carry([mixed]) == []
    assert _family("aê") == {"Rosetta Noto Sans"}


@pytest.mark.parametrize(
    "bad",
    [
        CarriedFont(b"no font", OFL),
        CarriedFont(carried().font[:-1], OFL),
        CarriedFont(carried().font, b"All rights reserved."),
        CarriedFont((fonts.FOLDER / "RosettaNotoSans-Regular.ttf").read_bytes(), OFL),
    ],
    ids=["no font", "cut", "no licence", "ours"],
)
def test_a_bad_font_costs_only_itself(enter: Enter, tmp_path: Path, bad: CarriedFont) -> None:
    batch = batch_with(bad, carried())
    assert open_batch(write_batch(batch)).fonts == (bad, carried())
    entry = enter(places=[write_file(batch, tmp_path)])
    to_consent(entry)
    entry.page(ConsentPage)
    assert undrawn([CHEROKEE]) == []
    assert fonts.families() == [*fonts.FAMILIES, carried().read().family]


def test_a_font_is_signed_with_the_batch_and_belongs_to_version_3() -> None:
    batch = batch_with(carried())
    assert "font-1-licence.txt" in batch.manifest.members
    other = batch.archive.replace(b"Cherokee", b"cherokee").replace(OFL[:40], OFL[:39] + b"!")
    with pytest.raises(FileError):
        open_batch(other)
    items = items_of(2)
    earlier = batch_of(items)
    with pytest.raises(FileError, match="from version 3 on"):
        make_batch(earlier.manifest, items, (), ORGANISATION, b"", [carried()])


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


def test_the_organiser_is_told_what_the_window_finds(qapp: QApplication) -> None:
    """Both look at the same fonts: one in their tables, the other by drawing."""
    letters = [chr(code) for code in range(0x20, 0x30000, times(17, 1)) if chr(code).isprintable()]
    lacking = lacking_in("".join(letters), brought())
    drawn_otherwise = {each for each in letters if (each in lacking) != (undrawn([each]) != [])}
    assert drawn_otherwise == set()
