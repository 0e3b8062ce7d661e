"""From a double click to the first answer, every way back, files that come meanwhile, and what cannot be saved or opened."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLineEdit, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from harness.core.storage import StorageProblem
from harness.sealed.sealing import AgeIdentity, seal
from harness.sealed.strict_records import FileProblem
from review.desktop.item.item_page import ItemPage
from review.desktop.item.sentence_face import Mode
from review.desktop.pages import first_pages
from review.desktop.pages.first_pages import ChoosePage
from review.desktop.parts.buttons import Button
from review.files.batch import Batch, write_batch
from review.log.payloads import Comment, Consent, NotJudged, Rate, Related
from review.office.making.texts import review_texts
from review.rating import CannotJudge, Rating, Relation
from review.session.words.item import GOES_ON_BELOW
from review.session.words.troubles import FILES, SAVING, STICKS
from tests.desktop.conftest import as_often_as_wanted
from tests.desktop.trouble import causes
from tests.desktop.trouble.causes import Cause
from tests.desktop.visit_scene import Enter, Entry
from tests.review.session.scenes import (
    CODE,
    CONSENT,
    GUIDE,
    OTHER_CODE,
    STRANGER,
    batch_of,
    item_id,
    items_of,
    training_of,
    write_file,
)
from tests.review.thorough import first


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    return tmp_path / "stick"


_SAID = (
    "text", "plainText", "windowTitle", "toolTip", "statusTip", "whatsThis", "placeholderText",
    "accessibleName", "accessibleDescription", "objectName",
)  # fmt: skip
"""Everything by which a widget of Qt can say something, seen or heard."""


def test_first_answer_takes_six_keys_and_coming_back_one(enter: Enter, stick: Path) -> None:
    """Beside the code and the practice, from a double click on the file to the first saved answer."""
    consent = review_texts("en").consent.format(organisation="Language Council")
    file = write_file(batch_of(training=training_of([Rating.GIST]), consent=consent), stick)
    entry = enter(places=[file])
    read: dict[str, list[str]] = {}

    def look() -> None:
        """Note the words of two letters and more that are seen, without those that stand on every page."""
        buttons = [each.accessibleName() for each in entry.seen(Button)]
        words = re.findall(r"[^\W\d_]{2,}", " ".join([entry.read, *buttons]))
        everywhere = {"Settings", "Français", "Smaller", "Larger", "letters"}
        read[type(entry.here).__name__] = [word for word in words if word not in everywhere]

    for page in (
        first_pages.OrganisationPage,
        first_pages.AskingPage,
        first_pages.ConsentPage,
        first_pages.RelationPage,
    ):
        entry.page(page)
        look()
        if page is first_pages.AskingPage:
            entry.type(CODE)
        entry.press("3" if page is first_pages.RelationPage else "\r")
    spent = entry.keys
    entry.answer("2")
    entry.press("\r")
    practice = entry.keys - spent
    look()
    assert sum(map(len, read.values())) <= 200, read
    entry.answer("3")
    assert [each.rating for each in entry.events(Rate)] == [Rating.ACCEPTABLE]
    assert entry.keys - practice <= 6
    entry.close()
    again = enter(places=[file])
    again.page(first_pages.WelcomePage)
    assert "1 of 4 done" in again.read
    assert f"The code on your card begins with:\n{CODE[:2]} …" in again.read
    for widget in (again.window, *again.window.findChildren(QWidget)):
        shown = [value for name in _SAID if (value := widget.property(name)) is not None]
        assert CODE[:3] not in " ".join(map(str, shown)).replace("-", ""), widget
    again.press("\r")
    again.page(first_pages.WelcomePage)
    again.click("This is my card")
    again.page(ItemPage)
    again.press("q")
    assert "Everything is kept." in again.read
    again.press("\r")
    again.click("I have another card")
    assert again.page(first_pages.AskingPage).text == ""
    again.type(OTHER_CODE)
    again.press("\r")
    again.page(first_pages.ConsentPage)


def test_first_pages_ask_again_lead_back_and_note_the_choice(enter: Enter, stick: Path) -> None:
    entry, batch = enter(), batch_of()
    assert "Put the stick that you were given into this computer" in entry.read
    write_file(batch, stick)
    entry.sticks.append(stick)
    entry.press("\r")
    assert any("Spring sentences" in each for each in entry.buttons)
    for _ in range(5):  # those that come while the file is opened are dropped
        entry.send("\r")
    entry.page(first_pages.OrganisationPage)
    assert batch.organisation_phrase in entry.read
    entry.press("\r", "\r")
    assert "This code" not in entry.read, "an empty line is not an answer"
    for typed, said in (("1234", "A code has 8 letters and digits."), (STRANGER, "This code is for other sentences.")):
        entry.type(typed)
        entry.press("\r")
        assert said in entry.read
        page = entry.page(first_pages.AskingPage)
        assert page.text in {typed, typed.upper()}
        page.begin()
    entry.press("\x1b")
    entry.page(ChoosePage)
    entry.press("\r")
    assert entry.page(first_pages.AskingPage).text == "", "the organisation is asked about once"
    entry.type(CODE)
    entry.press("\r")
    entry.page(first_pages.ConsentPage)
    for said in (CONSENT, "Nothing is sent over the internet.", "Language Council"):
        assert said in entry.read
    entry.click("Not now")
    entry.page(ChoosePage)
    assert "Nothing was begun. Your code is not kept for the next person." in entry.read
    assert entry.events() == []
    assert not entry.laptop.setting("reviewer")
    entry.press("\r")
    entry.type(CODE)
    entry.press("\r")
    consent = entry.page(first_pages.ConsentPage)
    assert GUIDE not in entry.read, "folded"
    entry.click("Read more")
    assert GUIDE in entry.read
    entry.agree()
    assert consent is not entry.here
    assert "Did you take part in making the translation program?" in entry.read
    relation = entry.page(first_pages.RelationPage)
    entry.press("\r", "4")
    assert entry.page(first_pages.RelationPage) is relation, "a slip answers nothing"
    entry.press("2")
    entry.page(ItemPage)
    assert [each.relation for each in entry.events(Related)] == [Relation.KNOWS]
    entry.press("e")
    entry.page(first_pages.SharingPage)
    entry.press("\r")
    assert [each.share_corrections for each in entry.events(Consent)] == [False], "Enter answers nothing"
    entry.press("1")
    item = entry.page(ItemPage)
    assert item.mode is Mode.WRITING, "asked once, and one may write"
    entry.press("\x1b", "\x1b", "e")
    assert entry.page(ItemPage).mode is Mode.WRITING
    entry.press("\x1b")
    assert [each.share_corrections for each in entry.events(Consent)] == [False, True]
    entry.look.set_size(40)
    entry.answer("4")
    font = "Rosetta Noto Sans / Rosetta Noto Sans Canadian Aboriginal 40 px"
    assert [each.font for each in entry.events(Rate)] == [font]


def test_consent_is_read_to_its_end_before_one_can_agree(enter: Enter, stick: Path) -> None:
    """The sentence goes when the end was shown: the page must not contradict its own button."""
    entry = enter(places=[write_file(batch_of(consent="You may stop at any time. " * 40), stick)])
    entry.window.resize(1024, 600)
    entry.to_consent()
    assert "Read on" in entry.buttons
    while "Read on" in entry.buttons:
        assert GOES_ON_BELOW in entry.read
        entry.press("\r")
    page = entry.page(first_pages.ConsentPage)
    assert "I agree" in entry.buttons
    assert GOES_ON_BELOW not in entry.read
    entry.click("Read more")
    assert "Read on" in entry.buttons, "what was folded is read, too"
    entry.press("\r")
    assert entry.here is page
    entry.agree()
    assert entry.here is not page


def test_locked_file_asks_until_the_words_are_right(enter: Enter, stick: Path) -> None:
    words = "abacus zebra lantern window candle river"
    stick.mkdir()
    file = stick / "Sealed.rosetta-batch"
    file.write_bytes(write_batch(batch_of(secret=True), passphrase=words))
    entry = enter(places=[file])
    page = entry.page(first_pages.AskingPage)
    entry.type("not these words at all here")
    entry.press("\r")
    assert entry.page(first_pages.AskingPage) is page
    assert page.text == "not these words at all here"
    assert "Look at the words on your card again" in entry.read
    entry.window.open_settings()
    entry.click("Français")
    entry.press("\x1b")
    page = entry.page(first_pages.AskingPage)
    assert page.text == "not these words at all here", "it is said in another language, and kept"
    assert "your card" not in entry.read
    page.findChild(QLineEdit).setText(words)
    entry.press("\r")
    entry.page(first_pages.OrganisationPage)


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
    entry.page(first_pages.OrganisationPage)
    entry.press("\r")
    entry.page(first_pages.MissingPage)
    assert "U+1E922 ADLAM SMALL LETTER ALIF" in entry.read
    assert "Language Council" in entry.read
    assert entry.buttons.count("Back") == 1
    entry.press("\r")
    entry.page(ChoosePage)
    assert entry.laptop.batches() == ()


@pytest.mark.thorough
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
    assert "Continue without it" in entry.buttons
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
    assert first_pages.letter_names("\ue000") == "U+E000"
    assert first_pages.letter_names("x\u030c") == "U+0078 LATIN SMALL LETTER X, U+030C COMBINING CARON"


# a file that comes meanwhile


def _winter(stick: Path) -> Path:
    return write_file(batch_of(batch="cd" * 8, title="Winter"), stick)


def test_file_that_comes_at_the_sentences_waits_for_their_end(enter: Enter, stick: Path) -> None:
    spring = write_file(batch_of(), stick)
    entry = enter(places=[spring])
    entry.to_consent()
    entry.press("\r")
    entry.page(first_pages.RelationPage)
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
    entry.page(first_pages.WelcomePage)
    assert "Winter" in entry.read
    assert len(entry.events(Consent)) == 1


# what cannot be saved or opened: it is said, nothing is lost, and another try works


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder for the laptop and the stick; what is mounted in it is taken away."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for each in folder.iterdir():
        while os.path.ismount(each):
            causes.pulled(each)
    shutil.rmtree(folder)


@pytest.fixture
def begin(qtbot: QtBot, folder: Path) -> Iterator[Enter]:
    (folder / "home").mkdir()
    yield from as_often_as_wanted(Entry, qtbot, folder / "home")


TROUBLES: dict[str, tuple[Cause, StorageProblem]] = {
    "moved": (causes.moved, StorageProblem.GONE),
    "removed": (causes.removed, StorageProblem.GONE),
    "disk gone": (causes.gone, StorageProblem.GONE),
    "read-only": (causes.read_only, StorageProblem.READ_ONLY),
    "full": (causes.full, StorageProblem.DISK_FULL),
}


def shown(entry: Entry) -> ItemPage:
    """Wait until a sentence is painted, and give its page."""
    page, session = entry.page(ItemPage), entry.visit.flow.session
    assert session is not None
    entry.qtbot.waitUntil(lambda: session.time.runs)
    return page


@pytest.mark.parametrize("name", first(1, TROUBLES))
def test_answers_and_words_that_are_not_saved(begin: Enter, folder: Path, name: str) -> None:
    cause, problem = TROUBLES[name]
    if problem is StorageProblem.DISK_FULL:
        causes.mounted(folder / "home", 1024)
    entry = begin(places=[write_file(batch_of(items_of(4)), folder / "mail")])
    entry.window.resize(1024, 600)
    entry.to_item()
    entry.answer("2")
    before = shown(entry)
    with cause(entry.home):
        entry.press("3")
        page = shown(entry)
        assert page is before
        said, detail = entry.trouble
        assert said == SAVING[problem]
        assert re.fullmatch(r"(SQLITE_|E)[A-Z_]+", detail)
        assert entry.copied() == detail
        assert "Sentence 2 of 4" in page.accessibleName()
        candidate = page.texts.candidate
        assert candidate.toPlainText() == "Candidate 2."
        entry.qtbot.waitUntil(lambda: not candidate.visibleRegion().isEmpty())
    entry.press("3")
    assert entry.trouble == ("", ""), "it is over before the next key, and gone with it"
    rated = [(each.item, each.rating) for each in entry.events(Rate) if isinstance(each, Rate)]
    assert rated == [(item_id(1), Rating.GIST), (item_id(2), Rating.ACCEPTABLE)]
    assert "Sentence 3 of 4" in shown(entry).accessibleName()
    with cause(entry.home):
        entry.press("c")
        entry.type("my words, 1 2 3")
        entry.press("\r")
        shown(entry)
        said, detail = entry.trouble
        assert said == SAVING[problem]
        found = entry.page(ItemPage).findChildren(QTextEdit)
        [box] = [each for each in found if not each.isReadOnly()]
        entry.qtbot.waitUntil(lambda: not box.visibleRegion().isEmpty())
        assert box.toPlainText() == "my words, 1 2 3"
    entry.press("\r")
    [said_now] = [each for each in entry.events(Comment) if isinstance(each, Comment)]
    assert (said_now.item, said_now.text) == (item_id(3), "my words, 1 2 3")
    assert entry.trouble == ("", "")


# files that cannot be opened


def test_file_that_is_not_taken_is_told_and_a_good_one_opens(enter: Enter, tmp_path: Path) -> None:
    file = write_file(batch_of(items_of(2)), tmp_path / "stick")
    good = file.read_bytes()
    file.write_bytes(good.replace(b"Candidate 2", b"candidate 2"))
    entry = enter(places=[file])
    entry.page(ChoosePage)
    said, detail = entry.trouble
    assert said == f"{file.name}: {FILES[FileProblem.DAMAGED]}"
    assert detail.startswith(f"{file}: ")
    assert said.partition(": ")[2] not in detail
    assert "andidate" not in detail
    assert entry.copied() == detail
    assert entry.laptop.batches() == ()
    # one of another laptop asks for nothing that helps nobody
    file.write_bytes(seal(good, [AgeIdentity.make().recipient]))
    entry.visit.take(file)
    entry.page(ChoosePage)
    assert entry.trouble[0] == f"{file.name}: {FILES[FileProblem.WRONG_KEY]}"
    # under a file's name a pipe stops nobody
    os.mkfifo(odd := file.with_name("odd.rosetta-batch"))
    entry.visit.take(odd)
    entry.page(ChoosePage)
    assert entry.trouble[0]
    file.write_bytes(good)
    entry.visit.take(file)
    entry.page(first_pages.OrganisationPage)
    assert entry.trouble == ("", "")


def test_a_stick_that_is_gone_between_list_and_key(enter: Enter, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    write_file(batch_of(items_of(2)), stick)
    entry = enter(sticks=[stick])
    stick.rename(tmp_path / "pocket")
    entry.press("\r")
    entry.page(ChoosePage)
    assert entry.trouble[0] == STICKS[StorageProblem.GONE]
    (tmp_path / "pocket").rename(stick)
    entry.click("Look again")
    entry.press("\r")
    entry.page(first_pages.OrganisationPage)
