"""Taking back in the window: never by a slip, said before and after, and gone from every byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from review.desktop.item.item_page import ItemPage
from review.desktop.item.pauses import WithdrawnPage
from review.desktop.pages.choose_page import ChoosePage
from review.desktop.pages.ending_pages import WithdrawPage
from review.desktop.pages.first_pages import (
    AskingPage,
    ConsentPage,
    OrganisationPage,
    RelationPage,
    WelcomePage,
)
from review.desktop.pages.settings_page import SettingsPage
from review.files.ratings import open_ratings
from review.log.payloads import Consent, Rate, Scope, Withdraw
from tests.desktop.sitting_scene import Scene, SceneOf
from tests.desktop.visit_scene import Enter, Entry
from tests.review.session.scenes import CODE, CUSTODIANS, batch_of, write_file

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape
WORDS = "said in confidence"


@pytest.fixture
def scene(scene_of: SceneOf) -> Scene:
    """One answer and one comment were given."""
    scene = scene_of()
    scene.press("c", *WORDS, ENTER, "4")
    assert WORDS.encode() in every_byte(scene)
    return scene


def every_byte(scene: Scene) -> bytes:
    return b"\n".join(path.read_bytes() for path in scene.home.rglob("*") if path.is_file())


def given(scene: Scene, kind: type) -> list[object]:
    return [each.payload for each in scene.laptop.events() if isinstance(each.payload, kind)]


@pytest.mark.parametrize(
    "keys",
    [["w"] * 5, ["w", ENTER, "w", ENTER], ["w", "2", ESC], ["w", "2", ENTER], ["w", "1", "3", ESC]],
    ids=["w-alone", "enter", "esc", "enter-after-choice", "esc-after-two-choices"],
)
def test_no_slip_takes_anything_back(scene: Scene, keys: list[str | Qt.Key]) -> None:
    scene.press(*keys)
    assert not given(scene, Withdraw)
    assert len(given(scene, Rate)) == 1
    assert WORDS.encode() in every_byte(scene)


def test_the_second_button_is_not_there_before_a_choice_and_never_the_main_one(
    scene: Scene,
) -> None:
    scene.press("w")
    page = scene.page_of(WithdrawPage)
    assert "Erase it" not in scene.buttons()
    assert "at any time and without a reason" in scene.texts()
    scene.press("2")
    assert "This cannot be undone." in scene.texts()
    assert scene.button("Erase it").property("role") != "main"
    assert scene.button("Keep everything").property("role") == "main"
    assert not scene.button("Erase it").hasFocus()
    assert page is scene.page


@pytest.mark.parametrize("scope", ["2", "3"])
def test_what_was_taken_back_is_gone_from_every_byte(scene: Scene, scope: str) -> None:
    scene.press("w", scope, "w")
    scene.page_of(WithdrawnPage)
    assert "is erased on this computer" in scene.texts()
    found = every_byte(scene)
    assert WORDS.encode() not in found
    assert b'"rating":"excellent"' not in found
    scene.press("4", "u", "c")
    assert not given(scene, Rate)


def test_comments_alone_are_taken_back_and_the_answers_stay(scene: Scene) -> None:
    scene.press("w", "1")
    scene.click("Erase it")
    scene.page_of(ItemPage)
    assert "Your comments and better translations are erased." in scene.texts()
    assert WORDS.encode() not in every_byte(scene)
    assert len(given(scene, Rate)) == 1


def test_a_draft_in_an_open_box_goes_too(scene: Scene) -> None:
    scene.press("c", *"half a thought")
    scene.press(ESC)
    assert b"half a thought" in every_byte(scene)
    scene.press("w", "2", "w")
    assert b"half a thought" not in every_byte(scene)


def test_the_next_stick_tells_the_organisation(scene: Scene) -> None:
    scene.press("w", "2", "w")
    scene.press(ENTER, ENTER)
    assert "You may pull the stick out." in scene.texts()
    (file,) = scene.stick.iterdir()
    lines = b"".join(open_ratings(file.read_bytes(), CUSTODIANS).lines)
    assert b'"kind":"withdraw"' in lines
    assert WORDS.encode() not in lines
    scene.press(ENTER)
    scene.page_of(WithdrawnPage)


def test_a_second_press_takes_back_once(scene: Scene) -> None:
    scene.press("w", "2")
    page = scene.page_of(WithdrawPage)
    page.answered.emit(Scope.BATCH)
    page.answered.emit(Scope.BATCH)
    scene.idle()
    assert len(given(scene, Withdraw)) == 1


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    return tmp_path / "stick"


@pytest.fixture
def at_consent(enter: Enter, stick: Path) -> Entry:
    entry = enter(places=[write_file(batch_of(), stick)])
    entry.press("\r")
    entry.type(CODE)
    entry.press("\r")
    entry.page(ConsentPage)
    return entry


def _winter(stick: Path) -> Path:
    return write_file(batch_of(batch="cd" * 8, title="Winter"), stick)


def test_one_that_comes_while_the_last_answer_before_is_kept_waits_for_the_end(
    at_consent: Entry, stick: Path
) -> None:
    at_consent.press("\r")
    at_consent.page(RelationPage)
    at_consent.send("3")
    at_consent.visit.take(_winter(stick))
    page = at_consent.page(ItemPage)
    assert at_consent.visit.flow.sits
    assert "Winter.rosetta-batch is opened when you stop here." in at_consent.read
    assert page.session is at_consent.visit.flow.session
    assert not at_consent.window.takes_files
    at_consent.answer("3")
    assert at_consent.visit.flow.sits
    at_consent.press("q")
    at_consent.page(WelcomePage)
    assert "Winter" in at_consent.read
    agreed = [e for e in at_consent.laptop.events() if isinstance(e.payload, Consent)]
    assert len(agreed) == 1


@pytest.mark.parametrize("late", [True, False], ids=["at the sentence", "before it"])
def test_the_one_whose_sentences_are_shown_is_open_already(
    at_consent: Entry, stick: Path, late: bool
) -> None:
    """As when somebody clicks it twice, or has lost the window behind others."""
    at_consent.press("\r")
    at_consent.page(RelationPage)
    at_consent.send("3")
    if late:
        at_consent.idle()
    at_consent.visit.take(stick / "Spring sentences.rosetta-batch")
    at_consent.page(ItemPage)
    assert "is opened when you stop here" not in at_consent.read
    at_consent.answer("3")
    at_consent.press("q")
    at_consent.page(ChoosePage)
    assert "Everything is kept." in at_consent.read


def test_one_that_comes_while_a_session_begins_waits_for_the_end(
    at_consent: Entry, stick: Path
) -> None:
    at_consent.press("\r")
    at_consent.answer("3")
    at_consent.press("q")
    at_consent.page(ChoosePage)
    at_consent.press("\r")
    at_consent.page(WelcomePage)
    at_consent.send("\r")
    at_consent.visit.take(_winter(stick))
    at_consent.page(ItemPage)
    at_consent.press("q")
    at_consent.page(WelcomePage)
    assert "Winter" in at_consent.read


def test_one_that_comes_while_another_is_opened_comes_after_it(enter: Enter, stick: Path) -> None:
    write_file(batch_of(title="Spring"), stick)
    entry = enter(sticks=[stick])
    entry.send("\r")
    entry.visit.take(_winter(stick))
    entry.page(OrganisationPage)
    entry.press("\r")
    entry.type(CODE)
    entry.press("\r")
    entry.page(ConsentPage)
    assert "Winter" in entry.read


def test_one_that_comes_before_the_consent_begins_nothing_of_the_other(
    at_consent: Entry, stick: Path
) -> None:
    at_consent.visit.take(_winter(stick))
    assert at_consent.page(AskingPage).text == ""
    assert at_consent.visit.flow.session is None
    assert not at_consent.laptop.setting("reviewer")
    assert list(at_consent.laptop.events()) == []


def test_one_that_comes_while_settings_are_open_takes_them_away(enter: Enter, stick: Path) -> None:
    entry = enter()
    entry.window.open_settings()
    entry.page(SettingsPage)
    entry.visit.take(write_file(batch_of(), stick))
    entry.page(OrganisationPage)


def test_a_list_that_comes_while_settings_are_open_lies_below_them(
    enter: Enter, stick: Path
) -> None:
    entry = enter()
    entry.send("\r")  # looks again
    entry.window.open_settings()
    settings = entry.window.page
    entry.idle()
    assert entry.page(SettingsPage) is settings
    entry.press("\x1b")
    entry.page(ChoosePage)


def test_settings_stay_when_a_sentence_below_is_said_in_another_language(
    at_consent: Entry,
) -> None:
    at_consent.press("\r")
    at_consent.page(ItemPage)
    at_consent.window.open_settings()
    at_consent.click("Français")
    at_consent.page(SettingsPage)
    at_consent.press("\x1b")
    at_consent.page(ItemPage)
    assert "Reject" not in "".join(at_consent.buttons)
    at_consent.answer("1")


def test_file_that_comes_during_a_sitting_waits_for_its_end(enter: Enter, stick: Path) -> None:
    entry = enter(places=[write_file(batch_of(), stick)])
    entry.press("\r")
    entry.type(CODE)
    entry.press("\r")
    entry.press("\r")
    page = entry.page(ItemPage)
    other = write_file(batch_of(batch="cd" * 8, title="Winter"), stick)
    entry.visit.take(other)
    assert entry.page(ItemPage) is page
    assert "Winter.rosetta-batch is opened when you stop here." in entry.read
    entry.press("q")
    entry.page(WelcomePage)
    assert "Winter" in entry.read
