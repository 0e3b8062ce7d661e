"""Languages that neither Qt nor Babel know, in the window: names, forms for numbers, both directions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from PySide6.QtCore import QLocale, QPoint, Qt
from PySide6.QtWidgets import QApplication

from review.desktop.item.item_page import ItemPage
from review.desktop.look.fonts import undrawn
from review.desktop.pages.choose_page import ChoosePage
from review.desktop.pages.first_pages import ConsentPage
from review.desktop.parts.buttons import Button, Wrapped
from review.log.payloads import Consent, Rate
from review.rating import Rating
from review.session.opening import WORDS_FOLDER
from review.session.words.catalogue import DOMAIN, Words
from tests.desktop.visit_scene import Enter, Entry
from tests.harness.process import ROOT
from tests.review.session.catalogues import entry as said
from tests.review.session.scenes import CODE, batch_of, items_of, write_file


class Language(NamedTuple):
    tag: str
    name: str
    words: dict[str, str]
    rule: str = "nplurals=2; plural=(n != 1);"


LANGUAGES = {
    "crk": Language(
        "crk", "nêhiyawêwin", {"Reject": "namôya", "Gist": "ihtasin", "Excellent": "miywâsin"}
    ),
    "syllabics": Language(
        "crk-Cans", "ᓀᐦᐃᔭᐍᐏᐣ", {"Reject": "ᓇᒨᔭ", "Gist": "ᐃᐦᑕᓯᐣ", "Excellent": "ᒥᔼᓯᐣ"}
    ),
    "oj": Language("oj", "Anishinaabemowin", {"Reject": "gaawiin", "Gist": "ge", "Excellent": "gichi"}),
    "iu": Language(
        "iu", "ᐃᓄᒃᑎᑐᑦ", {"Reject": "ᐋᒃᑲ", "Gist": "ᐃᒪᓐᓇ", "Excellent": "ᐱᐅᔪᖅ"},
        "nplurals=3; plural=(n == 1 ? 0 : n == 2 ? 1 : 2);",
    ),
    "ckb": Language(
        "ckb", "کوردی", {"ltr": "rtl", "Reject": "ڕەتکردنەوە", "Gist": "واتا", "Excellent": "زۆر باش"}
    ),
}  # fmt: skip


def add(home: Path, language: Language) -> None:
    """Put a catalogue where a community puts it."""
    from review.session.words import build

    path = home / WORDS_FOLDER / language.tag / "LC_MESSAGES" / f"{DOMAIN}.mo"
    path.parent.mkdir(parents=True)
    head = (
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n'
        f'"Plural-Forms: {language.rule}\\n"\n\n'
    )
    words = {"English": language.name, **language.words}
    body = "".join(said(english, own) for english, own in words.items())
    source = path.with_suffix(".po")
    source.write_text(head + body, "utf-8")
    path.write_bytes(build.compiled(build.read(source)))


def to_item(entry: Entry) -> ItemPage:
    entry.press("\r", "\r")
    entry.type(CODE)
    entry.press("\r", "\r")
    return entry.page(ItemPage)


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    folder = tmp_path / "stick"
    write_file(batch_of(items_of(2)), folder)
    return folder


@pytest.mark.parametrize("name", list(LANGUAGES))
def test_a_language_is_chosen_by_its_own_name_and_speaks(
    enter: Enter, tmp_path: Path, stick: Path, name: str
) -> None:
    language = LANGUAGES[name]
    add(tmp_path / "home", language)
    entry = enter(sticks=[stick])
    entry.click(language.name)
    entry.page(ChoosePage)
    page = to_item(entry)
    spoken = [each.text() for each in page.answers.findChildren(Button)]
    for english in ("Reject", "Gist", "Excellent"):
        assert language.words[english] in spoken
    assert "Acceptable" in spoken, "what is missing is said in English"
    entry.close()
    again = enter(sticks=[stick], language=None)
    assert again.desk.words.language == language.tag, "the choice is remembered"


def test_a_language_in_which_only_the_batch_is_written_is_chosen_on_its_pages(
    enter: Enter, tmp_path: Path
) -> None:
    given = {"qu": {"consent": "Qanta tapukuyku."}}
    write_file(batch_of(items_of(2), salt=bytes(32), translations=given), tmp_path / "new")
    entry = enter(sticks=[tmp_path / "new"])
    assert "Quechua" not in entry.buttons
    entry.press("\r", "\r")
    entry.type(CODE)
    entry.press("\r")
    entry.page(ConsentPage)
    entry.click("Quechua")
    assert "Qanta tapukuyku." in entry.read
    assert "its own words stay in English" in entry.read
    assert {"I agree", "Read on"} & {*entry.buttons}
    assert ("English" in entry.buttons, "Quechua" in entry.buttons) == (True, False)
    entry.press("\r", "\r")
    entry.page(ItemPage)
    [agreed] = [e.payload for e in entry.laptop.events() if isinstance(e.payload, Consent)]
    assert (agreed.text_language, agreed.language) == ("qu", "en")


@pytest.mark.parametrize("name", list(LANGUAGES))
def test_every_letter_of_its_name_and_words_can_be_drawn(qapp: QApplication, name: str) -> None:
    language = LANGUAGES[name]
    assert undrawn([language.name, *language.words.values()]) == []


def test_qt_itself_knows_these_languages_not() -> None:
    """Why nothing of the window may ask QLocale for names, directions or forms of numbers."""
    assert QLocale("crk").language() is QLocale.Language.C


def places(page: ItemPage) -> list[int]:
    """Return where the four answers stand from the left, the first one first."""
    return [each.mapTo(page, QPoint(0, 0)).x() for each in page.answers.findChildren(Button)]


@pytest.fixture
def from_the_right(qapp: QApplication) -> Iterator[None]:
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    yield
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def test_a_window_that_is_read_from_the_right_keeps_keys_and_texts(
    enter: Enter, tmp_path: Path, stick: Path, from_the_right: None
) -> None:
    add(tmp_path / "home", LANGUAGES["ckb"])
    entry = enter(sticks=[stick], language="ckb")
    entry.window.resize(1024, 600)
    page = to_item(entry)
    entry.qtbot.waitUntil(lambda: len(set(places(page))) == 4)
    assert places(page) == sorted(places(page), reverse=True), (
        "the first answer stands at the right"
    )
    first = page.answers.findChildren(Button)[0]
    assert first.text() == LANGUAGES["ckb"].words["Reject"]
    block = page.texts.source.document().firstBlock()
    assert block.textDirection() == Qt.LayoutDirection.LeftToRight, "a sentence keeps its own"
    entry.answer("1")
    assert [e.payload.rating for e in entry.laptop.events() if isinstance(e.payload, Rate)] == [
        Rating.REJECT
    ]


def test_the_catalogue_turns_the_whole_program_around_and_another_turns_it_back(
    tmp_path: Path,
) -> None:
    add(tmp_path, LANGUAGES["ckb"])
    done = subprocess.run(
        [sys.executable, "-m", "tests.desktop.speaking", "ckb", "iu", "ckb", "fr"],
        cwd=ROOT,
        env={**os.environ, "ROSETTA_HOME": str(tmp_path), "LC_ALL": "C.UTF-8"},
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert said == [
        {"tag": "ckb", "mirrored": True, "first button is left": False, "copy": "Copy"},
        {"tag": "en", "mirrored": False, "first button is left": True, "copy": "Copy"},
        {"tag": "ckb", "mirrored": True, "first button is left": False, "copy": "Copy"},
        {"tag": "fr", "mirrored": False, "first button is left": True, "copy": "Copier"},
    ]


def test_numbers_have_the_forms_of_the_language(tmp_path: Path) -> None:
    from review.session.words import build

    language = LANGUAGES["iu"]
    add(tmp_path, language)
    source = tmp_path / WORDS_FOLDER / "iu" / "LC_MESSAGES" / f"{DOMAIN}.po"
    one, many = "{n} answer is kept on this computer.", "{n} answers are kept on this computer."
    forms = "".join(
        f'msgstr[{k}] "{{n}} {form}"\n' for k, form in enumerate(("ᐊᑕᐅᓯᖅ", "ᒪᕐᕉᒃ", "ᐅᓄᖅᑐᑦ"))
    )
    source.write_text(
        source.read_text("utf-8") + f'msgid "{one}"\nmsgid_plural "{many}"\n{forms}', "utf-8"
    )
    source.with_suffix(".mo").write_bytes(build.compiled(build.read(source)))
    words = Words.load("iu", [tmp_path / WORDS_FOLDER])
    assert [words.plural(one, many, n) for n in (1, 2, 3, 0)] == [
        "1 ᐊᑕᐅᓯᖅ", "2 ᒪᕐᕉᒃ", "3 ᐅᓄᖅᑐᑦ", "0 ᐅᓄᖅᑐᑦ",
    ]  # fmt: skip


def test_a_place_keeps_its_first_sign_in_a_window_that_is_read_from_the_right(
    qapp: QApplication,
) -> None:
    """Otherwise ``/media/stick`` would stand there as ``media/stick/``."""
    wide = 600
    text = Wrapped("/media/stick", qapp.font(), Qt.LayoutDirection.RightToLeft)
    text.height(wide)
    [line] = text._lines()  # only Qt's own line tells where a sign stands
    assert line.cursorToX(0)[0] < line.cursorToX(len("/media"))[0], "it is read from the left"
    assert line.cursorToX(len("/media/stick"))[0] == pytest.approx(wide, abs=2), "at the right"
