"""Languages, words and colours in the window: both directions, words of Qt, none that acts; sizes change at once."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QPoint, QRect, Qt, QTimer, QTranslator
from PySide6.QtGui import QAccessible, QColor, QContextMenuEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QLabel,
    QLineEdit,
    QProgressBar,
    QScrollBar,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

import review.desktop
from review.desktop.frame.page import Page
from review.desktop.frame.page_parts import MoreBelow
from review.desktop.item.item_page import ItemPage
from review.desktop.look import COLOURS, LARGE, SIZES, Look, Theme, undrawn
from review.desktop.pages.first_pages import ChoosePage
from review.desktop.parts.buttons import GAP, RING, Button, Wrapped
from review.desktop.parts.texts import Line, TextPane
from review.desktop.program.application import QT_WORDS, QtWords, without_mnemonic
from review.files.manifests import BatchItem
from review.log.payloads import Rate
from review.rating import Rating
from review.session.opening import WORDS_FOLDER
from review.session.words.catalogue import Words
from review.session.words.keys import KEYS, Act
from tests.desktop.item_scene import Make, Scene
from tests.desktop.pixels import colours, contrast, picture, strongest
from tests.desktop.program.driven import driven
from tests.desktop.visit_scene import Enter, Entry
from tests.review.session.scenes import CODE, batch_of, catalogue, item_id, items_of, write_file
from tests.review.session.scenes import entry as said
from tests.review.thorough import first

LANGUAGES = {
    "crk-Cans": {"English": "ᓀᐦᐃᔭᐍᐏᐣ", "Reject": "ᓇᒨᔭ", "Gist": "ᐃᐦᑕᓯᐣ", "Excellent": "ᒥᔼᓯᐣ"},
    "crk": {"English": "nêhiyawêwin", "Reject": "namôya", "Gist": "ihtasin", "Excellent": "miywâsin"},
    "ckb": {
        "English": "کوردی", "ltr": "rtl", "Reject": "ڕەتکردنەوە", "Gist": "واتا", "Excellent": "زۆر باش"
    },
}  # fmt: skip


def add(home: Path, tag: str) -> None:
    """Put a catalogue where a community puts it."""
    catalogue(home / WORDS_FOLDER, tag, "".join(said(*pair) for pair in LANGUAGES[tag].items()))


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    folder = tmp_path / "stick"
    write_file(batch_of(items_of(2)), folder)
    return folder


@pytest.mark.parametrize("tag", first(1, LANGUAGES))
def test_language_is_chosen_by_name(enter: Enter, tmp_path: Path, stick: Path, tag: str) -> None:
    words = LANGUAGES[tag]
    add(tmp_path / "home", tag)
    entry = enter(sticks=[stick])
    entry.click(words["English"])
    entry.page(ChoosePage)
    entry.press("\r")
    page = entry.to_item()
    spoken = [each.text() for each in page.answers.findChildren(Button)]
    for english in ("Reject", "Gist", "Excellent"):
        assert words[english] in spoken
    assert "Acceptable" in spoken, "what is missing is said in English"
    entry.close()
    again = enter(sticks=[stick], language=None)
    assert again.desk.words.language == tag, "the choice is remembered"


def test_every_letter_of_these_languages_can_be_drawn(qapp: QApplication) -> None:
    assert undrawn([word for words in LANGUAGES.values() for word in words.values()]) == []
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


@pytest.mark.thorough
def test_window_from_the_right_keeps_keys_and_texts(
    enter: Enter, tmp_path: Path, stick: Path, from_the_right: None
) -> None:
    add(tmp_path / "home", "ckb")
    entry = enter(sticks=[stick], language="ckb")
    entry.window.resize(1024, 600)
    entry.press("\r")
    page = entry.to_item()
    entry.qtbot.waitUntil(lambda: len(set(places(page))) == 4)
    assert places(page) == sorted(places(page), reverse=True), "the first stands at the right"
    first = page.answers.findChildren(Button)[0]
    assert first.text() == LANGUAGES["ckb"]["Reject"]
    block = page.texts.source.document().firstBlock()
    assert block.textDirection() == Qt.LayoutDirection.LeftToRight, "a sentence keeps its own"
    entry.answer("1")
    assert [e.payload.rating for e in entry.laptop.events() if isinstance(e.payload, Rate)] == [Rating.REJECT]


@pytest.mark.thorough
def test_catalogue_turns_the_whole_program_around(tmp_path: Path) -> None:
    add(tmp_path, "ckb")
    ran, seen = driven(tmp_path, "ckb", "iu", "ckb", "fr")
    assert ran.returncode == 0, ran.stderr
    assert [(each["tag"], each["mirrored"], each["copy"]) for each in seen] == [
        ("ckb", True, "Copy"), ("en", False, "Copy"), ("ckb", True, "Copy"), ("fr", False, "Copier"),
    ]  # fmt: skip


def test_place_read_from_the_right_keeps_its_first_sign(qapp: QApplication) -> None:
    """Otherwise ``/media/stick`` would stand there as ``media/stick/``."""
    wide = 600
    text = Wrapped("/media/stick", qapp.font(), Qt.LayoutDirection.RightToLeft)
    text.height(wide)
    [line] = text._lines()  # only Qt's own line tells where a sign stands
    assert line.cursorToX(0)[0] < line.cursorToX(len("/media"))[0], "it is read from the left"
    assert line.cursorToX(len("/media/stick"))[0] == pytest.approx(wide, abs=2), "at the right"


# Qt's own words are of the catalogue, and no word acts as markup or shortcut

NO_WORDS = {"QT_LAYOUT_DIRECTION", "%p%", "Alt"}
"""Asked of a translator, and no words of our pages: a direction, a form of numbers, a key that is never used."""


class Asked(QTranslator):
    """Notes what Qt asks, and has no word for anything."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: set[str] = set()

    def isEmpty(self) -> bool:
        return False

    def translate(
        self,
        context: str,
        sourceText: str,  # noqa: N803  Qt's own name of it
        disambiguation: str | None = None,
        n: int = -1,
    ) -> str:
        if context:  # what a page asks of itself has none
            self.texts.add(without_mnemonic(sourceText))
        return ""


@pytest.fixture
def asked(qapp: QApplication) -> Iterator[Asked]:
    translator = Asked()
    qapp.installTranslator(translator)
    yield translator
    qapp.removeTranslator(translator)


def look_at_everything(entry: Entry) -> None:
    """Open every menu of what is seen, and ask of everything what a screen reader asks."""
    assert entry.window.page is not None
    for widget in [entry.window.page, *entry.window.page.findChildren(QWidget)]:
        if isinstance(widget, QTextEdit | QLineEdit):
            menu = widget.createStandardContextMenu()
            menu.grab()
            menu.deleteLater()
        elif isinstance(widget, QScrollBar | QLabel) and widget.isVisible():
            _right_click(widget)
        interface = QAccessible.queryAccessibleInterface(widget)
        actions = interface.actionInterface() if interface is not None else None
        for action in actions.actionNames() if actions is not None else ():
            actions.localizedActionName(action)
            actions.localizedActionDescription(action)


def _right_click(widget: QWidget) -> None:
    def close() -> None:
        if (menu := QApplication.activePopupWidget()) is not None:
            menu.close()

    QTimer.singleShot(0, widget, close)
    place = QPoint(1, 1)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, widget.mapToGlobal(place))
    QCoreApplication.sendEvent(widget, event)


def test_pages_say_no_other_words_of_qt(enter: Enter, asked: Asked, tmp_path: Path) -> None:
    write_file(batch_of(items_of(2), consent="A long text.\n" * 60), tmp_path / "stick")
    started = enter(sticks=[tmp_path / "stick"])
    started.window.resize(640, 420)
    for keys, typed in (("", ""), ("\r", ""), ("\r", CODE), ("\r", ""), ("\rc", "")):
        started.press(*keys)
        started.type(typed)
        if typed:  # this page is longer than the window, once it was laid out
            bars = started.window.findChildren(QScrollBar)
            started.qtbot.waitUntil(partial(lambda bars: any(bar.isVisible() for bar in bars), bars))
        look_at_everything(started)
    started.window.open_settings()
    look_at_everything(started)
    assert asked.texts - NO_WORDS == set(QT_WORDS)


def test_menu_of_a_text_speaks_french(qtbot: QtBot, qapp: QApplication) -> None:
    french, box = QtWords(lambda: Words.load("fr")), QTextEdit("x")
    qtbot.addWidget(box)
    qapp.installTranslator(french)
    menu = box.createStandardContextMenu()
    qapp.removeTranslator(french)
    qtbot.addWidget(menu)
    shown = [action.text().partition("\t")[0] for action in menu.actions() if action.text()]
    assert shown[:4] == ["Annuler l’action", "Rétablir", "Couper", "Copier"]
    assert shown[4:] == ["Coller", "Supprimer", "Tout sélectionner"]


def test_qt_is_given_words_and_the_direction(qapp: QApplication, tmp_path: Path) -> None:
    words = QtWords(lambda: Words.load("xx"))
    assert words.translate("QWidgetTextControl", "Cu&t") == "Cut"
    assert words.translate("any", "Save && &close") == "Save && close"
    assert words.translate("any", "never heard of") == "never heard of"
    assert words.translate("any", "") == ""
    catalogue(tmp_path, "xx", said("ltr", "rtl"))
    for tag, direction in (("xx", "RTL"), ("fr", "LTR")):
        words = QtWords(partial(Words.load, tag, [tmp_path]))
        assert words.translate("QGuiApplication", "QT_LAYOUT_DIRECTION") == direction


MARKUP = "<b>Ask</b> Jo &amp; <a href='x'>Ann</a>"


def test_no_label_is_made_elsewhere() -> None:
    for path in Path(review.desktop.__file__).parent.rglob("[a-z]*.py"):
        made = re.search(r"(?<!\w)QLabel\(|class \w+\(.*\bQLabel\b", path.read_text("utf-8"))
        assert path.stem == "texts" or not made, path


def test_no_markup_acts_in_a_label_of_a_page(make: Make) -> None:
    scene = make()
    labels = scene.page.findChildren(QLabel)
    assert len(labels) > 5
    assert {each.textFormat() for each in labels} == {Qt.TextFormat.PlainText}

    page = Page(scene.desk)
    scene.qtbot.addWidget(page)
    [below] = page.findChildren(MoreBelow)
    plain = Line("M" * len(MARKUP), wraps=False)
    scene.qtbot.addWidget(plain)
    below.setWordWrap(False)
    below.setText(MARKUP)
    assert below.textFormat() is Qt.TextFormat.PlainText
    assert below.sizeHint().height() == plain.sizeHint().height()


def test_a_name_makes_no_shortcut_and_reads_as_it_stands(qtbot: QtBot) -> None:
    box = QLineEdit()
    name = Line("Words &c & more").name_of(box)
    for widget in (box, name):
        qtbot.addWidget(widget)
    heard = QAccessible.queryAccessibleInterface(name)
    assert heard.text(QAccessible.Text.Name) == "Words &c & more"
    assert heard.text(QAccessible.Text.Accelerator) == ""
    name.setText("This &that")
    heard = QAccessible.queryAccessibleInterface(name)
    assert heard.text(QAccessible.Text.Name) == "This &that"

    line = Line(MARKUP, "quiet")
    qtbot.addWidget(line)
    assert (line.text(), line.property("role"), line.wordWrap()) == (MARKUP, "quiet", True)


TEXT, EDGE = 7.0, 3.0
"""WCAG 2: 1.4.6 at level AAA, and 1.4.11."""


@pytest.fixture
def kept() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def look(qapp: QApplication, kept: list[tuple[str, str]]) -> Look:
    made = Look(Theme.LIGHT, 20, lambda name, value: kept.append((name, value)))
    made.apply(qapp)
    return made


@pytest.mark.parametrize("theme", list(Theme))
def test_every_pair_of_colours_that_is_used_can_be_told_apart(theme: Theme) -> None:
    found = COLOURS[theme]
    grounds = (found.ground, found.field)
    texts = (found.text, found.quiet, found.good, found.warn)
    for text, ground in [*itertools.product(texts, grounds), (found.on_accent, found.accent)]:
        assert contrast(text, ground) >= TEXT, (text.name(), ground.name())
    for edge, ground in itertools.product((found.border, found.accent, found.focus), grounds):
        assert contrast(edge, ground) >= EDGE, (edge.name(), ground.name())


def shown(qtbot: QtBot, *widgets: QWidget) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    window.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    column = QVBoxLayout(window)
    for widget in widgets:
        column.addWidget(widget)
    window.resize(400, 900)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def place(widget: QWidget) -> QRect:
    return QRect(widget.mapTo(widget.window(), widget.rect().topLeft()), widget.size())


def label(role: str) -> QLabel:
    made = QLabel("HHH EEE")
    made.setProperty("role", role)
    return made


@pytest.mark.parametrize("theme", list(Theme))
def test_words_and_edges_are_painted_clear(qtbot: QtBot, look: Look, theme: Theme) -> None:
    look.set_theme(theme)
    labels = [label(each) for each in ("", "title", "strong", "mark", "quiet", "good", "warn")]
    button, main, off, down = (Button("HHH", "E") for _ in range(4))
    main.setProperty("role", "main")
    off.setEnabled(False)
    down.setDown(True)
    line, asks, box = QLineEdit("HHH EEE"), QLineEdit(), QTextEdit("HHH EEE")
    asks.setPlaceholderText("HHH EEE")
    pane, tick, bar = TextPane(), QCheckBox("x"), QProgressBar()
    pane.show_text("HHH EEE")
    tick.setChecked(True)
    bar.setMaximum(10)
    inside = [button, main, off, down, line, asks, box, pane]
    window = shown(qtbot, *labels, tick, *inside, bar)
    window.setFocus()
    image = picture(window)
    for widget in [*labels, tick, *inside]:
        margin = 10 if widget in inside else 0
        at = place(widget).adjusted(margin, margin, -margin, -margin)
        assert strongest(image, at) >= TEXT, (widget, widget.property("role"))
    ground = COLOURS[theme].ground
    for widget in (button, line, box, bar):
        at = QRect(place(widget).center().x(), place(widget).top(), 1, 12)
        assert max(contrast(ground, QColor(c)) for c in colours(image, at)) >= EDGE, widget


@pytest.mark.parametrize("theme", list(Theme))
def test_focus_is_a_thick_ring_or_edge(qtbot: QtBot, look: Look, theme: Theme) -> None:
    look.set_theme(theme)
    plain, main = Button("HHH"), Button("HHH")
    main.setProperty("role", "main")
    edged = [QLineEdit(), QTextEdit(), TextPane()]
    window = shown(qtbot, plain, main, *edged, QLabel("."))
    window.setFocus()
    ground, ring = COLOURS[theme].ground.name(), COLOURS[theme].focus.name()
    assert RING >= 3
    for button in (plain, main):
        assert ring not in colours(picture(window), place(button))
        button.setFocus(Qt.FocusReason.TabFocusReason)
        image, at = picture(window), place(button)
        down = [image.pixelColor(at.center().x(), at.top() + y).name() for y in range(-2, RING + GAP)]
        assert down == [ground] * 2 + [ring] * RING + [ground] * GAP
    for widget in edged:
        widget.setFocus()
        image, at = picture(window), place(widget)
        down = [image.pixelColor(at.center().x(), at.top() + y).name() for y in range(4)]
        assert down == [ring] * 4


def test_a_size_changes_everything_at_once(qtbot: QtBot, look: Look) -> None:
    plain, title, button, box = QLabel("x"), label("title"), Button("x"), QTextEdit("x")
    window = shown(qtbot, plain, title, button, box)
    for size in SIZES:
        look.set_size(size)
        assert [each.font().pixelSize() for each in (plain, button, box)] == [size] * 3
        assert title.font().pixelSize() > size
        assert title.font().bold()
    assert window.isVisible()


def test_change_is_told_once(qtbot: QtBot, look: Look, kept: list[tuple[str, str]]) -> None:
    with qtbot.waitSignal(look.changed):
        look.set_theme(Theme.CONTRAST)
    with qtbot.waitSignal(look.changed):
        look.larger()
    with qtbot.assertNotEmitted(look.changed):
        look.set_theme(Theme.CONTRAST)
        look.set_size(26)
    assert kept == [("window colours", "contrast"), ("window text size", "25")]


def test_the_sizes_have_two_ends(look: Look, kept: list[tuple[str, str]]) -> None:
    for _ in SIZES:
        look.larger()
    assert look.size == SIZES[-1]
    for _ in range(len(SIZES) + 1):
        look.smaller()
    assert look.size == SIZES[0]
    assert [value for _, value in kept] == ["25", "30", "40", "48", "40", "30", "25", "20", "16"]


@pytest.mark.parametrize(("asked", "taken"), [(0, 16), (-5, 16), (19, 20), (26, 25), (36, 40), (10**9, 48)])
def test_unknown_size_becomes_the_nearest(qapp: QApplication, asked: int, taken: int) -> None:
    assert Look(Theme.LIGHT, asked, lambda *_: None).size == taken


# letters of 100, 150 and 200 %, on small and large screens

SCREENS = [(1024, 560), (1366, 728), (1920, 1040)]
"""Pixels of the window on three screens, without the bars of the system."""
_TEXTS = (
    "The woman whose son went to the store is the teacher whom my children like best.",
    "La virino, kies filo iris al la vendejo, estas la instruistino, kiun miaj infanoj ŝatas.",
)
_TABS = 80


def scene_of(qtbot: QtBot, folder: Path, window: tuple[int, int], size: int) -> Scene:
    folder.mkdir()
    items = [BatchItem(id=item_id(n), source=_TEXTS[0], candidate=_TEXTS[1]) for n in (1, 2, 3)]
    return Scene(qtbot, folder, batch=batch_of(items), size=size, window=window)


@pytest.mark.parametrize(
    ("window", "size"), first(1, dict.fromkeys([((1024, 560), 40), ((1920, 1040), 20), *product(SCREENS, (20, 40))]))
)
def test_column_is_all_reached_by_tab_and_wheel(
    qtbot: QtBot, tmp_path: Path, window: tuple[int, int], size: int
) -> None:
    scene = scene_of(qtbot, tmp_path / "one", window, size)
    page = scene.page
    pane = page.texts.source
    place = QRect(pane.mapTo(page, QPoint(0, 0)), pane.size())
    assert place.width() <= 900
    assert abs(place.left() - (page.width() - place.right())) <= 30  # a scroll bar's width
    scene.rate("2")  # now there is something to undo
    seen: dict[str, bool] = {}
    page.setFocus()
    for _ in range(_TABS):
        scene.send(Qt.Key.Key_Tab)
        _settled()
        focused = QApplication.focusWidget()
        assert focused is not None
        if focused.accessibleName() in seen:
            break
        seen[focused.accessibleName()] = in_sight(page, focused)
    assert all(seen.values()), seen
    wanted = {each.accessibleName() for each in page.findChildren(Button) if each.isVisible()}
    assert wanted <= set(seen)
    assert {name.split(".")[0] for name in seen} > {"Reject", "Gist", "Acceptable", "Excellent"}
    bar, clicked = page.reading.verticalScrollBar(), set[str]()
    for at in range(0, bar.maximum() + 1, max(1, bar.pageStep() // 3)):
        bar.setValue(at)
        clicked |= {name for name in wanted if hit(page, name)}
    bar.setValue(bar.maximum())
    assert clicked | {name for name in wanted if hit(page, name)} == wanted
    scene.close()


def in_sight(page: QWidget, widget: QWidget) -> bool:
    """Tell whether all of a widget is seen, or it fills all that can be seen."""
    seen = widget.visibleRegion().boundingRect()
    return seen == widget.rect() or (
        widget.height() > page.reading.viewport().height() and seen.height() > 0  # type: ignore[attr-defined]
    )


def hit(page: QWidget, name: str) -> bool:
    """Tell whether the middle of a button is seen and would be clicked."""
    (each,) = (b for b in page.findChildren(Button) if b.isVisible() and b.accessibleName() == name)
    middle = each.mapTo(page, each.rect().center())
    return page.rect().contains(middle) and page.childAt(middle) is each


def _settled() -> None:
    for _ in range(3):
        QApplication.processEvents()


def test_most_valued_acts_are_seen_on_a_small_screen(qtbot: QtBot, tmp_path: Path) -> None:
    for language in ("en", "fr"):
        scene = Scene(qtbot, tmp_path / language, language=language, window=(1024, 600))
        shown = [each for each in scene.page.acts.findChildren(Button) if each.isVisible()]
        keys = {each.key for each in shown if in_sight(scene.page, each)}
        assert {KEYS[act][0] for act in (Act.CANNOT_JUDGE, Act.WORDING, Act.HARM)} <= keys
        scene.close()


def test_window_takes_the_screen_for_large_letters(enter: Enter) -> None:
    entry = enter()
    entry.window.showNormal()
    entry.look.set_size(25)
    assert not entry.window.isMaximized()
    entry.look.set_size(LARGE)
    assert entry.window.isMaximized()
    entry.window.showNormal()
    entry.look.smaller()
    assert not entry.window.isMaximized()
