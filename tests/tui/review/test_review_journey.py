"""The whole way once, from the list of runs and back; the pages as plain text; every key at their foot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from review.files.batch import open_batch
from review.files.manifests import Around
from review.files.reviewer_codes import printed
from review.log.laptop import Laptop
from review.office.store.store import Office
from review.rating import Rating
from review.session.choice import Choice
from review.session.view import Phase, TextField, Unsaved, View
from review.session.words.catalogue import Words, languages
from review.session.words.keys import ONWARD_OF, act_of
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.review.mis_drawn import MisDrawn
from rosetta_tui.review.rating.pages.agreeing import (
    ConsentPage,
    OrganisationPage,
    RelationPage,
    SharingPage,
    WarningPage,
)
from rosetta_tui.review.rating.pages.choosing import AskPage, ChoosePage, LanguagePage, Question
from rosetta_tui.review.rating.pages.handing_over import WithdrawPage
from rosetta_tui.review.rating.pages.page import HelpPage, Page
from rosetta_tui.review.rating.pages.resting import PAUSES, PausePage
from rosetta_tui.review.rating.sitting import TerminalOpening
from rosetta_tui.toolkit.dialogs.help import HERE, keys_of
from tests.review.office import made
from tests.review.session.scenes import CODE, Sitting, batch_of, items_of
from tests.tui.golden import compare
from tests.tui.review.creating import create, home, rosetta
from tests.tui.review.reviewing import (
    SMALL,
    Doors,
    Reviewing,
    begin,
    begun,
    press,
    settle,
    text,
    until,
)
from tests.tui.screens import App
from tests.tui.screens import settle as settle_home

__all__ = ["home"]


async def test_a_review_is_opened_from_home_and_leads_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of()
    with Laptop.open(tmp_path) as laptop:
        opening = TerminalOpening(laptop)
        opening.accept(batch)
        opening.reviewer(batch, CODE)
        opening.laptop.add_batch(batch.manifest_bytes, batch.archive, secret=False)
    monkeypatch.setattr("rosetta_tui.review.rating.visit.TerminalOpening", Doors)
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle_home(pilot)
        await pilot.press("v")
        await until(pilot, lambda: not isinstance(app.screen, HomeScreen))
        await begin(pilot)
        await press(pilot, "enter", "2", "3")
        assert "Sentence 1 of 4" in text(app)
        await press(pilot, "3", "question_mark")
        assert "Leave it for later" in text(app)
        await press(pilot, "escape", "q")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
    with Laptop.open(tmp_path) as laptop:
        assert len(list(laptop.events())) == 4  # consent, nearness to the method, session, rating


async def test_a_data_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "review.sqlite").write_text(
        "not a database, but long enough to be taken for one" * 9
    )
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle_home(pilot)
        await pilot.press("v")
        await settle_home(pilot)
        assert "The review cannot open" in text(app)
        assert isinstance(app.screen, HomeScreen)
        assert "q" in keys_of(app.screen)[HERE]["Quit"].split()


NAMES = {"Enter": "enter", "Esc": "escape"}
OF_WIDGETS = {"submit", "choose", "open"}
"""Done by the box or the list that has the focus, which takes Enter itself."""


def pages(app: Reviewing, words: Words) -> list[Page[Any]]:
    manifest = batch_of().manifest
    app.doors.words = words
    read = ConsentPage(words, manifest)
    read._end_shown = True  # it is shown nowhere here, so nothing scrolls
    unsaved = (Unsaved("a", 1, frozenset({TextField.COMMENT})),)
    view = View(Phase.END, 3, 4, skipped=1, can_undo=True, unsaved=unsaved)
    return [
        ChoosePage(app.doors, []),
        ChoosePage(app.doors, [Choice("Spring")]),
        LanguagePage(app.doors),
        AskPage(words, Question("place", "asked", "about")),
        OrganisationPage(words, batch_of()),
        WarningPage(words, next(iter(MisDrawn))),
        ConsentPage(words, manifest),
        read,
        SharingPage(words, manifest),
        RelationPage(words),
        HelpPage(words),
        WithdrawPage(words),
        *(page(words, view) for page in PAUSES.values()),
    ]


@pytest.mark.parametrize("language", languages())
def test_every_key_shown_is_bound_to_what_its_words_do(tmp_path: Path, language: str) -> None:
    """What is not wanted now is left by one key, as in the window, on every page before the first sentence."""
    words = Words.load(language)
    names = {words(name): key for name, key in NAMES.items()}
    app = Reviewing(tmp_path, batch_of())
    shown = pages(app, words)
    for page in shown:
        for hint in page.hints():
            key = names.get(hint.key, hint.key)
            bindings = page._bindings  # Textual tells them of a page only while it is shown
            bound = {each.action for each in bindings.key_to_bindings.get(key, ())}
            if isinstance(page, PausePage) and (act := act_of(key)) in ONWARD_OF:
                bound.add(f"onward('{ONWARD_OF[act].name}')")
            by_widget = key == "enter" and hint.action in OF_WIDGETS
            assert hint.action in bound or by_widget, (type(page).__name__, hint, bound)
            assert hasattr(page, f"action_{hint.action.partition('(')[0]}")
    for page in shown[3:10]:
        leaving = [hint.key for hint in page.hints() if hint.action == "leave"]
        assert [names.get(key, key) for key in leaving] in (["escape"], ["enter"]), page


async def test_item_looks_as_kept(tmp_path: Path) -> None:
    said = {
        "source": "I saw his dog yesterday.", "candidate": "Hieraŭ mi vidis lian hundon.",
        "around": Around(
            context="narrative", formality="conversational",
            before="Paul went home.", after="It did not bark.",
        ),
    }  # fmt: skip
    items = [item.model_copy(update=said) for item in items_of(9)]
    batch = batch_of(items, salt=bytes(32), translations={})
    async with begun(Reviewing(tmp_path, batch)) as (app, pilot):
        for size in ((80, 24), (160, 48)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
            compare("review-item-context", size, app)


async def test_lists_and_the_end_look_as_kept(tmp_path: Path) -> None:
    async with begun(Reviewing(tmp_path, batch_of(items_of(3)))) as (app, pilot):
        await press(pilot, "0")
        compare("review-why-not", SMALL, app)
        await press(pilot, "escape", "2", "comma", "5", "comma")
        compare("review-reasons", SMALL, app)
        await press(pilot, "escape", "4", "s", "enter", "s")
        compare("review-end", SMALL, app)


def sit(folder: Path, file: Path, code: str, rating: Rating) -> str:
    """Take the batch to the end, every sentence with one rating, and hand it over; gives the six words."""
    batch = open_batch(file.read_bytes())
    person = batch.person(code)
    assert person
    sitting = Sitting(folder, batch=batch, code=person)
    for _ in range(4 * len(batch.items)):
        phase = sitting.session.view.phase
        if phase is Phase.END:
            break
        if phase in {Phase.TRAINING, Phase.ITEMS} and sitting.session.view.lesson is None:
            sitting.rate(rating)
        else:
            sitting.session.go_on()
    assert sitting.session.view.phase is Phase.END
    phrase = sitting.session.export(file.parent).phrase
    sitting.session.close()
    return phrase


def test_what_speakers_press_is_what_the_office_knows(home: Path, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    create(stick, "--name", "spring", "--reviewers", "3", "--items", "8", "--anyway")
    file = stick / "spring.rosetta-batch"
    codes = made.codes_of(home)
    assert not any(code.encode() in file.read_bytes() for code in (*codes, *codes.values()))
    given = dict(zip(codes.values(), [*Rating][1:], strict=True))
    phrases = {code: sit(tmp_path / code, file, code, rating) for code, rating in given.items()}
    told = rosetta("import", stick, "--enrol", "--yes").output
    assert all(phrase in told for phrase in phrases.values())
    assert "SET ASIDE" not in told, "each laptop is vouched for in the same go"
    assert "damaged 0" in told
    assert "LOOK" not in told
    with Office.open(home) as office:
        found = office.review("spring")
        state = office.state(found)
        for who, code in codes.items():
            person, rating = state.reviewers[found.key.batches[0], who], given[code]
            assert list(person.judgements) == list(found.key.orders[who])
            assert {each.rating for each in person.judgements.values()} == {rating}
            assert len(person.trained) == 8
    shown = rosetta("status", "spring").output
    assert all(printed(code) in shown for code in given)
    each = len(found.key.items)
    assert f"{3 * each} of {3 * each} decisions are here, from 3 files." in shown
