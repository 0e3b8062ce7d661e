"""From a double click to the first answer, and every way back."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from review.desktop.item.item_page import ItemPage
from review.desktop.pages.choose_page import ChoosePage
from review.desktop.pages.first_pages import (
    AskingPage,
    ConsentPage,
    MissingPage,
    OrganisationPage,
    RelationPage,
    SharingPage,
    WelcomePage,
    letter_names,
)
from review.files.batch import Batch, write_batch
from review.log.payloads import Consent, NotJudged, Rate, Related
from review.rating import CannotJudge, Rating
from review.session.words.item import GOES_ON_BELOW
from tests.desktop.program.to_consent import to_consent
from tests.desktop.visit_scene import Enter, Entry
from tests.review.session.scenes import (
    CODE,
    CONSENT,
    GUIDE,
    OTHER_CODE,
    STRANGER,
    batch_of,
    items_of,
    training_of,
    write_file,
)


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    return tmp_path / "stick"


def test_first_answer_takes_at_most_seven_keys(enter: Enter, stick: Path, qtbot: QtBot) -> None:
    """Beside the code and the practice, from a double click on the file to the first saved answer."""
    file = write_file(batch_of(training=training_of([Rating.GIST])), stick)
    entry = enter(places=[file])
    to_consent(entry)
    entry.press("\r")
    entry.page(ItemPage)
    spent = entry.keys
    entry.answer("2")
    entry.press("\r")
    practice = entry.keys - spent
    entry.answer("3")
    rated = [e.payload for e in entry.laptop.events() if isinstance(e.payload, Rate)]
    assert [each.rating for each in rated] == [Rating.ACCEPTABLE]
    assert entry.keys - practice <= 7


def test_named_file_needs_no_choosing(enter: Enter, stick: Path) -> None:
    file = write_file(batch_of(), stick)
    enter(places=[file]).page(OrganisationPage)


def test_file_on_stick_is_opened_by_enter(enter: Enter, stick: Path) -> None:
    write_file(batch_of(), stick)
    entry = enter(sticks=[stick])
    entry.page(ChoosePage)
    assert any("Spring sentences" in each for each in entry.buttons)
    entry.press("\r")
    entry.page(OrganisationPage)


def test_nothing_here_says_what_to_do_and_looks_again(enter: Enter, stick: Path) -> None:
    entry = enter()
    assert "Put the stick that you were given into this computer" in entry.read
    write_file(batch_of(), stick)
    entry.sticks.append(stick)
    entry.press("\r")
    assert any("Spring sentences" in each for each in entry.buttons)


def test_organisation_is_asked_about_once(enter: Enter, stick: Path) -> None:
    batch = batch_of()
    file = write_file(batch, stick)
    entry = enter(places=[file])
    assert batch.organisation_phrase in entry.read
    entry.press("\r", "\x1b")
    entry.page(ChoosePage)
    entry.press("\r")
    assert entry.page(AskingPage).text == ""


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("1234", "A code has 8 letters and digits."),
        (STRANGER, "This code is for other sentences."),
    ],
    ids=["short", "stranger"],
)
def test_wrong_code_stays_in_the_line_and_says_why(
    enter: Enter, stick: Path, typed: str, said: str
) -> None:
    entry = enter(places=[write_file(batch_of(), stick)])
    entry.press("\r")
    entry.type(typed)
    entry.press("\r")
    page = entry.page(AskingPage)
    assert said in entry.read
    assert page.text == typed.upper() or page.text == typed
    entry.type(CODE)
    entry.press("\r")
    entry.page(ConsentPage)


def test_empty_code_is_no_answer(enter: Enter, stick: Path) -> None:
    entry = enter(places=[write_file(batch_of(), stick)])
    entry.press("\r", "\r")
    assert "This code" not in entry.read
    entry.page(AskingPage)


def test_nothing_is_said_to_be_below_what_one_can_agree_to(enter: Enter, stick: Path) -> None:
    """The sentence goes when the end was shown: the page must not contradict its own button."""
    entry = enter(places=[write_file(batch_of(consent="You may stop at any time. " * 40), stick)])
    entry.window.resize(1024, 600)
    to_consent(entry)
    assert "Read on" in entry.buttons
    assert GOES_ON_BELOW in entry.read
    while "Read on" in entry.buttons:
        assert GOES_ON_BELOW in entry.read
        entry.press("\r")
    entry.page(ConsentPage)
    assert "I agree" in entry.buttons
    assert GOES_ON_BELOW not in entry.read


def test_consent_says_everything_and_notes_the_choice(enter: Enter, stick: Path) -> None:
    entry = enter(places=[write_file(batch_of(), stick)])
    to_consent(entry)
    for said in (CONSENT, GUIDE, "Nothing is sent over the internet.", "Language Council"):
        assert said in entry.read
    entry.page(ConsentPage)
    entry.press("\r")
    entry.page(SharingPage)
    entry.press("\r")
    entry.page(SharingPage)
    assert list(entry.laptop.events()) == [], "Enter answers nothing"
    entry.press("1")
    entry.page(ItemPage)
    agreed = [e.payload for e in entry.laptop.events() if isinstance(e.payload, Consent)]
    assert [each.share_corrections for each in agreed] == [True]


def test_not_now_begins_nothing_and_forgets_the_code(enter: Enter, stick: Path) -> None:
    entry = enter(places=[write_file(batch_of(), stick)])
    to_consent(entry)
    entry.click("Not now")
    entry.page(ChoosePage)
    assert "Nothing was begun. Your code is not kept for the next person." in entry.read
    assert list(entry.laptop.events()) == []
    assert not entry.laptop.setting("reviewer")


_SAID = (
    "text", "plainText", "windowTitle", "toolTip", "statusTip", "whatsThis", "placeholderText",
    "accessibleName", "accessibleDescription", "objectName",
)  # fmt: skip
"""Everything by which a widget of Qt can say something, seen or heard."""


def test_same_person_comes_back_with_one_key(enter: Enter, stick: Path) -> None:
    file = write_file(batch_of(), stick)
    entry = enter(places=[file])
    to_consent(entry)
    entry.press("\r")
    entry.answer("1")
    entry.close()
    again = enter(places=[file])
    again.page(WelcomePage)
    assert "1 of 4 done" in again.read
    assert f"The code on your card begins with:\n{CODE[:2]} …" in again.read
    for widget in (again.window, *again.window.findChildren(QWidget)):
        shown = [value for name in _SAID if (value := widget.property(name)) is not None]
        assert CODE[:3] not in " ".join(map(str, shown)).replace("-", ""), widget
    again.press("\r")
    again.page(ItemPage)
    assert again.keys == 1


def test_another_person_on_the_same_laptop_types_a_code(enter: Enter, stick: Path) -> None:
    file = write_file(batch_of(), stick)
    entry = enter(places=[file])
    to_consent(entry)
    entry.press("\r")
    entry.page(ItemPage)
    entry.close()
    again = enter(places=[file])
    again.click("I have another card")
    assert again.page(AskingPage).text == ""
    again.type(OTHER_CODE)
    again.press("\r")
    again.page(ConsentPage)


def test_locked_file_asks_for_the_words_until_they_are_right(enter: Enter, stick: Path) -> None:
    words = "abacus zebra lantern window candle river"
    stick.mkdir()
    file = stick / "Sealed.rosetta-batch"
    file.write_bytes(write_batch(batch_of(secret=True), passphrase=words))
    entry = enter(places=[file])
    page = entry.page(AskingPage)
    entry.type("not these words at all here")
    entry.press("\r")
    assert entry.page(AskingPage) is page
    assert "Look at the words on your card again" in entry.read
    page.findChild(QLineEdit).setText(words)
    entry.press("\r")
    entry.page(OrganisationPage)


def test_named_file_that_is_not_here_is_told(enter: Enter, tmp_path: Path) -> None:
    entry = enter(places=None)
    # the scene opens no such place itself, and what is missing is given once, at the start
    entry.opening._missing = (tmp_path / "gone.rosetta-batch",)
    entry.visit.begin()
    entry.idle()
    assert "gone.rosetta-batch is not in this folder." in entry.read


@pytest.mark.parametrize(
    "batch",
    [
        batch_of([each.model_copy(update={"source": "\U0001e922\U0001e923"}) for each in items_of(2)]),
        batch_of(items_of(2), consent="\U0001e922\U0001e923"),
    ],
    ids=["every sentence", "what one agrees to"],
)  # fmt: skip
def test_a_review_of_which_nothing_can_be_read_is_not_begun(
    enter: Enter, stick: Path, batch: Batch
) -> None:
    entry = enter(places=[write_file(batch, stick)])
    entry.page(OrganisationPage)
    entry.press("\r")
    entry.page(MissingPage)
    assert "U+1E922 ADLAM SMALL LETTER ALIF" in entry.read
    assert "Language Council" in entry.read
    assert entry.buttons.count("Back") == 1
    entry.press("\r")
    entry.page(ChoosePage)
    assert entry.laptop.batches() == ()


def test_one_item_that_cannot_be_read_is_left_out_with_a_record_and_the_others_are_rated(
    enter: Enter, stick: Path
) -> None:
    items = items_of(4)
    items[0] = items[0].model_copy(update={"candidate": "▁a 😀\u202e 中"})
    items[1] = items[1].model_copy(update={"source": "\U0001e922\U0001e923"})
    items[2] = items[2].model_copy(update={"candidate": "\U0001e922 \U0001e923"})
    batch = batch_of(items, salt=bytes(range(32)), shows_words=False)
    entry = enter(places=[write_file(batch, stick)])
    to_consent(entry)
    entry.press("\r")
    page = entry.page(ItemPage)
    candidate = page.texts.candidate.toPlainText()
    assert (
        candidate == "‹LOWER ONE EIGHTH BLOCK›a ‹GRINNING FACE›‹RLO› ‹CJK UNIFIED IDEOGRAPH-4E2D›"
    )
    entry.answer("1")
    assert "This computer cannot show the letters of this sentence." in entry.read
    assert "Go on without it" in entry.buttons
    assert not page.answers.isVisible()
    entry.answer("4")
    assert not _decisions(entry)[1:], "no rating of what cannot be seen"
    entry.answer("\r")
    entry.answer("\r")
    entry.answer("3")
    assert _decisions(entry) == [
        (items[0].id, Rating.REJECT),
        (items[1].id, CannotJudge.NOT_SHOWN),
        (items[2].id, CannotJudge.NOT_SHOWN),
        (items[3].id, Rating.ACCEPTABLE),
    ]


def _decisions(entry: Entry) -> list[tuple[str, Rating | CannotJudge]]:
    said = (each.payload for each in entry.laptop.events())
    return [
        (each.item, each.rating if isinstance(each, Rate) else each.why)
        for each in said
        if isinstance(each, Rate | NotJudged)
    ]


def test_letter_without_a_name_is_told_by_its_number() -> None:
    assert letter_names("\ue000") == "U+E000"
    assert letter_names("x\u030c") == "U+0078 LATIN SMALL LETTER X, U+030C COMBINING CARON"


def test_language_is_changed_by_its_own_name_and_remembered(enter: Enter, stick: Path) -> None:
    entry = enter(places=[write_file(batch_of(), stick)], language=None)
    to_consent(entry)
    entry.click("Français")
    entry.page(ConsentPage)
    assert "I agree" not in entry.buttons
    assert entry.laptop.setting("language") == "fr"
    entry.press("\r")
    entry.page(ItemPage)
    agreed = [e.payload for e in entry.laptop.events() if isinstance(e.payload, Consent)]
    assert [each.language for each in agreed] == ["fr"]


def test_the_language_that_is_chosen_changes_what_the_organisation_says(
    enter: Enter, stick: Path
) -> None:
    said = {"fr": {"consent": "Nous vous demandons.", "guide": ""}}
    batch = batch_of(salt=bytes(32), translations=said)
    entry = enter(places=[write_file(batch, stick)], language="en")
    to_consent(entry)
    assert CONSENT in entry.read
    assert "Nous vous demandons." not in entry.read
    entry.click("Français")
    entry.page(ConsentPage)
    assert "Nous vous demandons." in entry.read
    assert CONSENT not in entry.read
    assert "L’organisation ne l’a pas donné dans cette langue (Français)" in entry.read, "the guide"
    assert GUIDE in entry.read
    entry.press("\r")
    entry.page(ItemPage)
    [agreed] = [e.payload for e in entry.laptop.events() if isinstance(e.payload, Consent)]
    assert agreed.consent_sha256 == sha256(b"Nous vous demandons.").hexdigest()
    assert (agreed.language, agreed.text_language) == ("fr", "fr")


def test_what_is_typed_stays_when_the_language_changes(enter: Enter, stick: Path) -> None:
    entry = enter(places=[write_file(batch_of(), stick)], language=None)
    entry.press("\r")
    entry.type("WXWC")
    entry.window.open_settings()
    entry.click("Français")
    entry.press("\x1b")
    assert entry.page(AskingPage).text == "WXWC"
    assert "Which code is on your card?" not in entry.read


def test_keys_that_come_while_a_file_is_opened_are_dropped(enter: Enter, stick: Path) -> None:
    write_file(batch_of(), stick)
    entry = enter(sticks=[stick])
    for _ in range(5):
        entry.send("\r")
    entry.page(OrganisationPage)


def test_font_is_recorded_with_the_answer(enter: Enter, stick: Path) -> None:
    entry = enter(places=[write_file(batch_of(), stick)])
    to_consent(entry)
    entry.press("\r")
    entry.look.set_size(40)
    entry.answer("4")
    rated = [e.payload for e in entry.laptop.events() if isinstance(e.payload, Rate)]
    assert [each.font for each in rated] == [
        "Rosetta Noto Sans / Rosetta Noto Sans Canadian Aboriginal 40 px"
    ]


@pytest.mark.parametrize(("key", "said"), [("1", "made"), ("2", "knows"), ("3", "neither")])
def test_it_is_asked_once_how_near_one_is_to_the_method(
    enter: Enter, stick: Path, key: str, said: str
) -> None:
    file = write_file(batch_of(), stick)
    entry = enter(places=[file])
    to_consent(entry)
    entry.press("\r")
    entry.page(RelationPage)
    assert "Did you take part in making it?" in entry.read
    entry.press("\r", "4")  # nobody says it by a slip
    entry.page(RelationPage)
    entry.close()
    again = enter(places=[file])
    again.press("\r")
    again.page(RelationPage)
    again.press(key)
    again.page(ItemPage)
    told = [e.payload.relation for e in again.laptop.events() if isinstance(e.payload, Related)]
    assert told == [said]
    again.close()
    third = enter(places=[file])
    third.press("\r")
    third.page(ItemPage)
    assert third.keys == 1
