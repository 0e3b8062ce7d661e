"""Languages that neither Qt nor Babel know, in the window: names, forms for numbers, both directions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from PySide6.QtCore import QLocale, QPoint, Qt
from PySide6.QtWidgets import QApplication

from review.desktop.item.item_page import ItemPage
from review.desktop.look.fonts import undrawn
from review.desktop.pages.choose_page import ChoosePage
from review.desktop.parts.buttons import Button, Wrapped
from review.log.payloads import Rate
from review.rating import Rating
from review.session.opening import WORDS_FOLDER
from review.session.words.catalogue import DOMAIN
from tests.desktop.program.started import driven
from tests.desktop.visit_scene import Enter
from tests.review.session.catalogues import entry as said
from tests.review.session.scenes import batch_of, items_of, write_file
from tests.review.thorough import first


class Language(NamedTuple):
    tag: str
    name: str
    words: dict[str, str]


LANGUAGES = {
    "crk": Language(
        "crk", "nêhiyawêwin", {"Reject": "namôya", "Gist": "ihtasin", "Excellent": "miywâsin"}
    ),
    "syllabics": Language(
        "crk-Cans", "ᓀᐦᐃᔭᐍᐏᐣ", {"Reject": "ᓇᒨᔭ", "Gist": "ᐃᐦᑕᓯᐣ", "Excellent": "ᒥᔼᓯᐣ"}
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
        '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
    )
    words = {"English": language.name, **language.words}
    body = "".join(said(english, own) for english, own in words.items())
    source = path.with_suffix(".po")
    source.write_text(head + body, "utf-8")
    path.write_bytes(build.compiled(build.read(source)))


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    folder = tmp_path / "stick"
    write_file(batch_of(items_of(2)), folder)
    return folder


@pytest.mark.parametrize("name", first(1, ["syllabics", "crk", "ckb"]))
def test_language_is_chosen_by_name(enter: Enter, tmp_path: Path, stick: Path, name: str) -> None:
    language = LANGUAGES[name]
    add(tmp_path / "home", language)
    entry = enter(sticks=[stick])
    entry.click(language.name)
    entry.page(ChoosePage)
    entry.press("\r")
    page = entry.to_item()
    spoken = [each.text() for each in page.answers.findChildren(Button)]
    for english in ("Reject", "Gist", "Excellent"):
        assert language.words[english] in spoken
    assert "Acceptable" in spoken, "what is missing is said in English"
    entry.close()
    again = enter(sticks=[stick], language=None)
    assert again.desk.words.language == language.tag, "the choice is remembered"


def test_every_letter_of_these_languages_can_be_drawn(qapp: QApplication) -> None:
    for language in LANGUAGES.values():
        assert undrawn([language.name, *language.words.values()]) == []
    # why nothing of the window may ask QLocale for names, directions or forms of numbers
    assert QLocale("crk").language() is QLocale.Language.C


def places(page: ItemPage) -> list[int]:
    """Return where the four answers stand from the left, the first one first."""
    return [each.mapTo(page, QPoint(0, 0)).x() for each in page.answers.findChildren(Button)]


@pytest.fixture
def from_the_right(qapp: QApplication) -> Iterator[None]:
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    yield
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def test_window_from_the_right_keeps_keys_and_texts(
    enter: Enter, tmp_path: Path, stick: Path, from_the_right: None
) -> None:
    add(tmp_path / "home", LANGUAGES["ckb"])
    entry = enter(sticks=[stick], language="ckb")
    entry.window.resize(1024, 600)
    entry.press("\r")
    page = entry.to_item()
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


@pytest.mark.thorough
def test_catalogue_turns_the_whole_program_around(tmp_path: Path) -> None:
    add(tmp_path, LANGUAGES["ckb"])
    ran, seen = driven(tmp_path, "ckb", "iu", "ckb", "fr")
    assert ran.returncode == 0, ran.stderr
    facts = ("tag", "mirrored", "first button is left", "copy")
    assert [tuple(each[name] for name in facts) for each in seen] == [
        ("ckb", True, False, "Copy"),
        ("en", False, True, "Copy"),
        ("ckb", True, False, "Copy"),
        ("fr", False, True, "Copier"),
    ]


def test_place_read_from_the_right_keeps_its_first_sign(qapp: QApplication) -> None:
    """Otherwise ``/media/stick`` would stand there as ``media/stick/``."""
    wide = 600
    text = Wrapped("/media/stick", qapp.font(), Qt.LayoutDirection.RightToLeft)
    text.height(wide)
    [line] = text._lines()  # only Qt's own line tells where a sign stands
    assert line.cursorToX(0)[0] < line.cursorToX(len("/media"))[0], "it is read from the left"
    assert line.cursorToX(len("/media/stick"))[0] == pytest.approx(wide, abs=2), "at the right"
