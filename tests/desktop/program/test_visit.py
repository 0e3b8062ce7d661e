"""From a double click to the first answer, every way back, and files that come meanwhile."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLineEdit, QWidget

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
from review.desktop.pages.settings_page import SettingsPage
from review.files.batch import Batch, write_batch
from review.log.payloads import Consent, NotJudged, Rate, Related
from review.rating import CannotJudge, Rating, Relation
from review.session.words.item import GOES_ON_BELOW
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


_SAID = (
    "text", "plainText", "windowTitle", "toolTip", "statusTip", "whatsThis", "placeholderText",
    "accessibleName", "accessibleDescription", "objectName",
)  # fmt: skip
"""Everything by which a widget of Qt can say something, seen or heard."""


def test_first_answer_takes_seven_keys_and_coming_back_one(enter: Enter, stick: Path) -> None:
    """Beside the code and the practice, from a double click on the file to the first saved answer."""
    file = write_file(batch_of(training=training_of([Rating.GIST])), stick)
    entry = enter(places=[file])
    entry.to_item()
    spent = entry.keys
    entry.answer("2")
    entry.press("\r")
    practice = entry.keys - spent
    entry.answer("3")
    assert [each.rating for each in entry.events(Rate)] == [Rating.ACCEPTABLE]
    assert entry.keys - practice <= 7
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
    again.press("q")
    assert "Everything is kept." in again.read
    again.press("\r")
    again.click("I have another card")
    assert again.page(AskingPage).text == ""
    again.type(OTHER_CODE)
    again.press("\r")
    again.page(ConsentPage)


def test_first_pages_ask_again_lead_back_and_note_the_choice(enter: Enter, stick: Path) -> None:
    entry, batch = enter(), batch_of()
    assert "Put the stick that you were given into this computer" in entry.read
    write_file(batch, stick)
    entry.sticks.append(stick)
    entry.press("\r")
    assert any("Spring sentences" in each for each in entry.buttons)
    for _ in range(5):  # those that come while the file is opened are dropped
        entry.send("\r")
    entry.page(OrganisationPage)
    assert batch.organisation_phrase in entry.read
    entry.press("\r", "\r")
    assert "This code" not in entry.read, "an empty line is no answer"
    for typed, said in (
        ("1234", "A code has 8 letters and digits."),
        (STRANGER, "This code is for other sentences."),
    ):
        entry.type(typed)
        entry.press("\r")
        assert said in entry.read
        page = entry.page(AskingPage)
        assert page.text in {typed, typed.upper()}
        page.begin()
    entry.press("\x1b")
    entry.page(ChoosePage)
    entry.press("\r")
    assert entry.page(AskingPage).text == "", "the organisation is asked about once"
    entry.type(CODE)
    entry.press("\r")
    entry.page(ConsentPage)
    for said in (CONSENT, GUIDE, "Nothing is sent over the internet.", "Language Council"):
        assert said in entry.read
    entry.click("Not now")
    entry.page(ChoosePage)
    assert "Nothing was begun. Your code is not kept for the next person." in entry.read
    assert entry.events() == []
    assert not entry.laptop.setting("reviewer")
    entry.press("\r")
    entry.type(CODE)
    entry.press("\r", "\r", "\r")
    entry.page(SharingPage)
    assert entry.events() == [], "Enter answers nothing"
    entry.press("1")
    entry.page(ItemPage)
    assert [each.share_corrections for each in entry.events(Consent)] == [True]
    entry.look.set_size(40)
    entry.answer("4")
    font = "Rosetta Noto Sans / Rosetta Noto Sans Canadian Aboriginal 40 px"
    assert [each.font for each in entry.events(Rate)] == [font]


def test_relation_is_asked_once_and_never_by_a_slip(enter: Enter, stick: Path) -> None:
    file = write_file(batch_of(), stick)
    entry = enter(places=[file])
    entry.to_consent()
    entry.press("\r")
    page = entry.page(RelationPage)
    assert "Did you take part in making it?" in entry.read
    given: list[object] = []
    other = RelationPage(entry.desk)
    other.answered.connect(given.append)
    for key in "123":
        assert other.typed(key)
    assert given == list(Relation)
    other.deleteLater()
    entry.press("\r", "4")
    assert entry.page(RelationPage) is page
    entry.close()
    again = enter(places=[file])
    again.press("\r")
    again.page(RelationPage)
    again.press("2")
    again.page(ItemPage)
    assert [each.relation for each in again.events(Related)] == [Relation.KNOWS]


def test_consent_is_read_to_its_end_before_one_can_agree(enter: Enter, stick: Path) -> None:
    """The sentence goes when the end was shown: the page must not contradict its own button."""
    entry = enter(places=[write_file(batch_of(consent="You may stop at any time. " * 40), stick)])
    entry.window.resize(1024, 600)
    entry.to_consent()
    assert "Read on" in entry.buttons
    while "Read on" in entry.buttons:
        assert GOES_ON_BELOW in entry.read
        entry.press("\r")
    entry.page(ConsentPage)
    assert "I agree" in entry.buttons
    assert GOES_ON_BELOW not in entry.read


def test_locked_file_asks_until_the_words_are_right(enter: Enter, stick: Path) -> None:
    words = "abacus zebra lantern window candle river"
    stick.mkdir()
    file = stick / "Sealed.rosetta-batch"
    file.write_bytes(write_batch(batch_of(secret=True), passphrase=words))
    entry = enter(places=[file])
    page = entry.page(AskingPage)
    entry.type("not these words at all here")
    entry.press("\r")
    assert entry.page(AskingPage) is page
    assert page.text == "not these words at all here"
    assert "Look at the words on your card again" in entry.read
    page.findChild(QLineEdit).setText(words)
    entry.press("\r")
    entry.page(OrganisationPage)


@pytest.mark.parametrize(
    "batch",
    [
        batch_of([each.model_copy(update={"source": "\U0001e922\U0001e923"}) for each in items_of(2)]),
        batch_of(items_of(2), consent="\U0001e922\U0001e923"),
    ],
    ids=["every sentence", "what one agrees to"],
)  # fmt: skip
def test_unreadable_review_is_not_begun(enter: Enter, stick: Path, batch: Batch) -> None:
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


def test_unreadable_item_is_left_out_with_a_record(enter: Enter, stick: Path) -> None:
    items = items_of(4)
    items[0] = items[0].model_copy(update={"candidate": "▁a 😀\u202e 中"})
    items[1] = items[1].model_copy(update={"source": "\U0001e922\U0001e923"})
    items[2] = items[2].model_copy(update={"candidate": "\U0001e922 \U0001e923"})
    batch = batch_of(items, salt=bytes(range(32)), shows_words=False)
    entry = enter(places=[write_file(batch, stick)])
    page = entry.to_item()
    shown = "‹LOWER ONE EIGHTH BLOCK›a ‹GRINNING FACE›‹RLO› ‹CJK UNIFIED IDEOGRAPH-4E2D›"
    assert page.texts.candidate.toPlainText() == shown
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


def test_letter_names_give_the_number_and_the_name_if_any() -> None:
    assert letter_names("\ue000") == "U+E000"
    assert letter_names("x\u030c") == "U+0078 LATIN SMALL LETTER X, U+030C COMBINING CARON"


@pytest.mark.thorough
def test_language_changes_every_text_and_keeps_what_is_typed(enter: Enter, stick: Path) -> None:
    said = {"fr": {"consent": "Nous vous demandons.", "guide": ""}}
    batch = batch_of(salt=bytes(32), translations=said)
    entry = enter(places=[write_file(batch, stick)], language="en")
    entry.press("\r")
    entry.type("WXWC")
    entry.window.open_settings()
    entry.click("Français")
    entry.press("\x1b")
    assert entry.page(AskingPage).text == "WXWC"
    assert "Which code is on your card?" not in entry.read
    entry.click("English")
    entry.page(AskingPage).begin()
    entry.type(CODE)
    entry.press("\r")
    entry.page(ConsentPage)
    assert CONSENT in entry.read
    assert "Nous vous demandons." not in entry.read
    entry.click("Français")
    entry.page(ConsentPage)
    assert "Nous vous demandons." in entry.read
    assert "I agree" not in entry.buttons
    assert CONSENT not in entry.read
    assert "L’organisation ne l’a pas donné dans cette langue (Français)" in entry.read, "the guide"
    assert GUIDE in entry.read
    assert entry.laptop.setting("language") == "fr"
    entry.press("\r")
    entry.page(ItemPage)
    [agreed] = entry.events(Consent)
    assert isinstance(agreed, Consent)
    assert agreed.consent_sha256 == sha256(b"Nous vous demandons.").hexdigest()
    assert (agreed.language, agreed.text_language) == ("fr", "fr")
    entry.window.open_settings()
    entry.click("English")
    entry.page(SettingsPage)
    entry.press("\x1b")
    entry.page(ItemPage)
    assert "Reject" in "".join(entry.buttons), "the page below is said anew, too"
    entry.answer("1")


# a file that comes meanwhile


def _winter(stick: Path) -> Path:
    return write_file(batch_of(batch="cd" * 8, title="Winter"), stick)


def test_file_that_comes_at_the_sentences_waits_for_their_end(enter: Enter, stick: Path) -> None:
    spring = write_file(batch_of(), stick)
    entry = enter(places=[spring])
    entry.to_consent()
    entry.press("\r")
    entry.page(RelationPage)
    entry.send("3")
    entry.visit.take(spring)  # as when somebody clicks it twice
    page = entry.page(ItemPage)
    entry.visit.take(spring)
    assert "is opened when you stop here" not in entry.read
    entry.visit.take(_winter(stick))
    assert entry.page(ItemPage) is page
    assert "Winter.rosetta-batch is opened when you stop here." in entry.read
    assert not entry.window.takes_files
    entry.answer("3")
    assert entry.visit.flow.sits
    entry.press("q")
    entry.page(WelcomePage)
    assert "Winter" in entry.read
    assert len(entry.events(Consent)) == 1


@pytest.mark.thorough
def test_file_that_comes_while_a_session_begins_waits(enter: Enter, stick: Path) -> None:
    entry = enter(places=[write_file(batch_of(), stick)])
    entry.to_item()
    entry.answer("3")
    entry.press("q", "\r")
    entry.page(WelcomePage)
    entry.send("\r")
    entry.visit.take(_winter(stick))
    entry.page(ItemPage)
    assert "is opened when you stop here" in entry.read
    entry.press("q")
    entry.page(WelcomePage)
    assert "Winter" in entry.read


@pytest.mark.thorough
def test_file_that_comes_before_the_consent_is_opened_at_once(enter: Enter, stick: Path) -> None:
    spring = write_file(batch_of(), stick)
    entry = enter()
    entry.send("\r")  # looks again
    entry.window.open_settings()
    settings = entry.window.page
    entry.idle()
    assert entry.page(SettingsPage) is settings, "a list that comes lies below"
    entry.visit.take(spring)
    entry.page(OrganisationPage)  # it takes the settings away
    entry.press("\x1b")
    entry.page(ChoosePage)
    entry.sticks.append(stick)
    entry.press("\r")
    entry.send("\r")
    entry.visit.take(_winter(stick))
    entry.to_consent()
    assert "Winter" in entry.read, "it comes after the one that was opened"
    entry.visit.take(spring)
    assert entry.page(AskingPage).text == ""
    assert entry.visit.flow.session is None
    assert not entry.laptop.setting("reviewer")
    assert entry.events() == []
