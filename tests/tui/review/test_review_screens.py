"""Every page of a reviewer's sitting, by keys alone and by the mouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from review.log.payloads import Face, Kind
from review.rating import CannotJudge, Rating, Reason
from review.session.view import Phase
from rosetta_tui.review.rating.pages.item_page import Box
from tests.review.session.scenes import (
    CODE,
    CONSENT,
    GUIDE,
    OTHER_CODE,
    batch_of,
    items_of,
    training_of,
)
from tests.tui.review.reviewing import Reviewing, begun, press, settle, started, text, write

SIZES = [(80, 24), (160, 48)]


@pytest.fixture
def app(tmp_path: Path) -> Reviewing:
    return Reviewing(tmp_path, batch_of(items_of(6)))


def kinds(app: Reviewing) -> list[Kind]:
    return [event.kind for event in app.laptop.events()]


def judgements(app: Reviewing) -> list[Rating | CannotJudge]:
    said = [event.payload for event in app.laptop.events()]
    return [
        getattr(each, "rating", None) or each.why
        for each in said
        if each and each.kind in {Kind.RATE, Kind.CANNOT_JUDGE}
    ]


# Before the first item


async def test_where_there_is_nothing_the_page_says_what_to_do_and_looks_again(
    tmp_path: Path,
) -> None:
    app = Reviewing(tmp_path)
    app.stick.mkdir()
    async with started(app) as pilot:
        assert "There is nothing to look at yet." in text(app)
        assert "Put the stick that you were given into this computer" in text(app)
        assert "No sentences were found." not in text(app)
        await press(pilot, "enter")
        assert "No sentences were found." in text(app), "it looked again"
        from tests.review.session.scenes import write_file

        write_file(batch_of(), app.stick)
        await press(pilot, "enter")
        assert "Spring sentences" in text(app)


async def test_the_newest_review_has_the_cursor(tmp_path: Path) -> None:
    import os

    app = Reviewing(
        tmp_path,
        batch_of(batch="aa" * 8, title="Old ones"),
        batch_of(batch="bb" * 8, title="New ones"),
    )
    os.utime(app.stick / "Old ones.rosetta-batch", (1, 1))
    async with started(app) as pilot:
        assert text(app).index("New ones") < text(app).index("Old ones")
        await press(pilot, "enter")
        await write(pilot, CODE)
        await press(pilot, "enter")
        assert "New ones" in text(app)


async def test_a_damaged_file_is_refused_in_words_and_the_list_stays(tmp_path: Path) -> None:
    app = Reviewing(tmp_path, batch_of())
    path = next(app.stick.iterdir())
    path.write_bytes(path.read_bytes()[:-9])
    async with started(app) as pilot:
        await press(pilot, "enter")
        assert "A part of this file is missing" in text(app)
        assert "For whoever helps:" in text(app)
        assert "Which sentences do you want to look at?" in text(app)


async def test_an_unknown_organisation_is_shown_once_with_its_six_words(tmp_path: Path) -> None:
    batch = batch_of()
    app = Reviewing(tmp_path, batch, known=False)
    async with started(app) as pilot:
        await press(pilot, "enter")
        assert "Language Council" in text(app)
        assert batch.organisation_phrase in text(app)
        await press(pilot, "escape")
        assert "Which sentences do you want to look at?" in text(app)
        await press(pilot, "enter", "enter")
        assert "Which code is on your card?" in text(app)
        await press(pilot, "escape", "enter")
        assert "Which code is on your card?" in text(app)


async def test_a_code_is_taken_as_people_type_it_and_a_wrong_one_explained(app: Reviewing) -> None:
    async with started(app) as pilot:
        await press(pilot, "enter")
        await write(pilot, CODE[:5])
        await press(pilot, "enter")
        assert "A code has 8 letters and digits." in text(app)
        swapped = CODE[1] + CODE[0] + CODE[2:]
        await write(pilot, swapped)
        await press(pilot, "enter")
        assert "two are swapped" in text(app)
        await write(pilot, f"{CODE[:4].lower()}-{CODE[4:].lower()}")
        await press(pilot, "enter")
        assert "Before you begin" in text(app)


async def test_the_code_is_remembered_and_one_key_enough(tmp_path: Path) -> None:
    batch = batch_of()
    app = Reviewing(tmp_path, batch)
    app.doors.reviewer(batch, OTHER_CODE)
    async with started(app) as pilot:
        await press(pilot, "enter")
        assert f"If your code begins with {OTHER_CODE[:2]}, only press Enter." in text(app)
        assert app.screen.query_one(Input).value == ""
        assert OTHER_CODE[:3] not in text(app).replace("-", "")
        await press(pilot, "enter", "enter", "2", "3")
        await press(pilot, "1")
        assert [
            event.payload.reviewer for event in app.laptop.events() if event.kind is Kind.RATE
        ] == [OTHER_CODE]


async def test_a_locked_file_asks_for_the_words_of_the_card_until_they_are_right(
    tmp_path: Path,
) -> None:
    from review.files.batch import write_batch

    batch = batch_of(secret=True)
    app = Reviewing(tmp_path)
    app.stick.mkdir()
    (app.stick / "s.rosetta-batch").write_bytes(write_batch(batch, passphrase="red stone river"))
    app.doors.accept(batch)
    async with started(app) as pilot:
        await press(pilot, "enter")
        assert "Which secret words are on your card?" in text(app)
        await write(pilot, "red stone")
        await press(pilot, "enter")
        assert "This file does not open." in text(app)
        await write(pilot, "red stone river")
        await press(pilot, "enter")
        assert "Which code is on your card?" in text(app)


async def test_consent_comes_before_anything_and_not_now_leaves_no_trace(app: Reviewing) -> None:
    async with started(app) as pilot:
        await press(pilot, "enter")
        await write(pilot, CODE)
        await press(pilot, "enter")
        for words in (
            "You will see 6 translated sentences",
            "Nothing is sent over the internet",
            "You may stop at any time.",
        ):
            assert words in text(app)
        assert kinds(app) == []
        await press(pilot, "w")
        assert "Nothing was begun." not in text(app)
        await press(pilot, "escape")
        assert "Nothing was begun." in text(app)
        assert "Which sentences do you want to look at?" in text(app)
        assert kinds(app) == []
        assert app.laptop.setting("reviewer") in {None, ""}
        await press(pilot, "q")
        assert app.return_code == 0


async def test_enter_agrees_only_after_the_end_of_the_text_was_shown(tmp_path: Path) -> None:
    batch = batch_of(consent="You may stop at any time.\n" * 60)
    app = Reviewing(tmp_path, batch)
    app.doors.reviewer(batch, CODE)
    async with started(app) as pilot:
        await press(pilot, "enter", "enter")
        assert "↓ The text goes on below" in text(app)
        assert "read on" in text(app)
        assert "I agree" not in text(app)
        read = 0
        while "↓ The text goes on below" in text(app):
            await press(pilot, "enter")
            read += 1
            assert "May the better translations" not in text(app)
        assert read >= 3
        assert "I agree" in text(app)
        assert kinds(app) == []
        await press(pilot, "home", "enter")
        assert "May the better translations that you write be used?" in text(app)


async def test_what_the_organisation_says_is_in_the_language_that_is_chosen(tmp_path: Path) -> None:
    said = {"fr": {"consent": "Nous vous demandons."}}
    app = Reviewing(tmp_path, batch_of(salt=bytes(32), translations=said), language="fr")
    async with started(app, (100, 60)) as pilot:
        await press(pilot, "enter")
        await write(pilot, CODE)
        await press(pilot, "enter")
        assert "Nous vous demandons." in text(app)
        assert CONSENT not in text(app)
        assert "L’organisation ne l’a pas donné dans cette langue" in text(app), "the guide"
        assert GUIDE in text(app)
        await press(pilot, "enter", "2", "3", "question_mark")
        assert "L’organisation ne l’a pas donné dans cette langue" in text(app)


@pytest.mark.parametrize("share", [False, True])
async def test_whether_better_translations_may_be_used_is_asked_and_not_presumed(
    app: Reviewing, share: bool
) -> None:
    async with started(app) as pilot:
        await press(pilot, "enter")
        await write(pilot, CODE)
        await press(pilot, "enter", "enter", "enter")
        assert kinds(app) == []
        await press(pilot, "escape", "enter", "1" if share else "2")
        (consent,) = [event.payload for event in app.laptop.events()]
        assert consent is not None
        assert consent.share_corrections is share


# Training


async def test_training_explains_and_repeats_a_wrong_answer_once(tmp_path: Path) -> None:
    async with begun(
        Reviewing(tmp_path, batch_of(items_of(3), training_of([Rating.REJECT, Rating.EXCELLENT])))
    ) as (app, pilot):
        assert "Practice 1 of 2" in text(app)
        await press(pilot, "c", "s", "0", "exclamation_mark")
        assert "Practice 1 of 2" in text(app)
        assert "That comes after the practice." in text(app)
        await press(pilot, "3")
        assert "You said Acceptable. We would say Reject." in text(app)
        assert "Because of 1." in text(app)
        await press(pilot, "1")
        assert "Practice 1 of 2" in text(app)
        await press(pilot, "enter", "4")
        assert "Yes: Excellent." in text(app)
        await press(pilot, "enter")
        assert "Practice, once more: 1 of 1" in text(app)
        await press(pilot, "1", "enter")
        assert "Sentence 1 of 3" in text(app)
        assert "Practice is over. From here your answers count." in text(app)


# The item


async def test_one_key_rates_saves_and_shows_the_next(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        for key in ("1", "f", "G", "4"):
            await press(pilot, key)
        assert "Sentence 5 of 6" in text(app)
        assert "Saved: Excellent." in text(app)
        assert judgements(app) == list(Rating)
        rated = [e.payload for e in app.laptop.events() if e.kind is Kind.RATE]
        assert {each.face for each in rated} == {Face.TERMINAL}
        assert not any(each.override for each in rated)


async def test_keys_of_a_french_keyboard_rate(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "ampersand", "é", "quotation_mark", "apostrophe")
        assert judgements(app) == list(Rating)


@pytest.mark.parametrize("size", SIZES)
async def test_the_four_answers_stay_in_sight_whatever_the_length(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    long = [
        item.model_copy(
            update={"source": "a long source " * 200, "candidate": "longa traduko " * 300}
        )
        for item in items_of(1)
    ]
    async with begun(Reviewing(tmp_path, batch_of(long)), size) as (app, pilot):
        for words in (
            "Reject",
            "Gist",
            "Acceptable",
            "Excellent",
            "as a good speaker",
            "The translation is below: read it, then answer",
        ):
            assert words in text(app)
        assert "longa" not in text(app)
        for _ in range(20):
            await press(pilot, "pagedown")
        assert "longa" in text(app)
        assert "below" not in text(app)
        assert "Excellent" in text(app)
        await press(pilot, "4")
        assert app.session.view.phase is Phase.END


async def test_undo_goes_back_without_end_and_shows_what_it_was(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "2", "0", "4", "s", "u")
        assert "You had left it for later" in text(app)
        await press(pilot, "backspace")
        assert "You could not judge it: It should not be shown" in text(app)
        await press(pilot, "u")
        assert "Your answer was: Gist." in text(app)
        assert "Gist ✓" not in text(app)  # it does not count any more
        await press(pilot, "u")
        assert "There is nothing to take back." in text(app)


async def test_reasons_belong_to_the_one_just_rated_and_return_by_themselves(
    app: Reviewing,
) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "comma")
        assert "First give an answer, then say why." in text(app)
        await press(pilot, "2", "comma")
        assert "Candidate 1." in text(app)
        assert "You answered: Gist. What is wrong with it?" in text(app)
        assert "wrong, or not our language" not in text(app)
        await press(pilot, "5", "comma", "1")
        assert "Sentence 2 of 6" in text(app)
        said = [e.payload.reasons for e in app.laptop.events() if e.kind is Kind.REASONS]
        assert said == [(Reason.WORD_FORM,), (Reason.WRONG_MEANING, Reason.WORD_FORM)]
        await press(pilot, "comma", "escape", "3")
        assert "Sentence 3 of 6" in text(app)


async def test_cannot_judge_asks_why_and_a_double_press_decides_nothing(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "0", "0")
        assert "Why can you not judge it?" in text(app)
        await press(pilot, "escape", "0", "1")
        assert "Saved: you cannot judge this one." in text(app)
        assert judgements(app) == [CannotJudge.OTHER_DIALECT]


async def test_harm_takes_one_other_key_and_is_taken_back_alike(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "exclamation_mark", "exclamation_mark", "1", "escape")
        assert kinds(app) == [Kind.CONSENT, Kind.SESSION, Kind.RELATION]
        await press(pilot, "exclamation_mark", "enter")
        assert "You marked this as harmful." in text(app)
        assert "Sentence 1 of 6" in text(app)
        await press(pilot, "exclamation_mark")
        assert "Take the mark “harmful” away again?" in text(app)
        await press(pilot, "enter")
        said = [e.payload.harmful for e in app.laptop.events() if e.kind is Kind.HARM]
        assert said == [True, False]


async def test_larger_letters_are_the_business_of_the_window(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await press(pilot, "plus")
        assert "hold Ctrl and press +" in text(app)


async def test_help_lists_every_key_and_goes_back_to_the_same_item(app: Reviewing) -> None:
    async with begun(app, (100, 40)) as (_, pilot):
        await press(pilot, "1", "question_mark")
        for words in (
            "Reject – wrong, or not our language",
            "Leave it for later",
            "Read it aloud first.",
        ):
            assert words in text(app)
        await press(pilot, "1")
        assert "Help" in text(app)
        await press(pilot, "escape")
        assert "Sentence 2 of 6" in text(app)


# The mouse


async def test_the_mouse_presses_answers_and_keys(app: Reviewing) -> None:
    async with begun(app) as (_, pilot):
        await pilot.click("#ratings", offset=(50, 1))
        await settle(pilot)
        assert judgements(app) == [Rating.ACCEPTABLE]
        row = next(n for n, line in enumerate(text(app).split("\n")) if "undo" in line)
        await pilot.click(offset=(text(app).split("\n")[row].index("undo"), row))
        await settle(pilot)
        assert "Taken back." in text(app)
        await press(pilot, "c")
        assert app.screen.query_one(Box).has_focus


async def test_no_line_begins_with_the_sign_that_ends_a_french_sentence() -> None:
    from textual.app import App, ComposeResult
    from textual.widgets import Static

    from rosetta_tui.review.rating.pages.page import told
    from rosetta_tui.toolkit.textual_inside import hold_no_break_spaces

    class Narrow(App[None]):
        def compose(self) -> ComposeResult:
            yield Static(told("Voulez-vous regarder\u202f? Oui\u00a0: Entrée\u202f!"))

    hold_no_break_spaces()
    for width in range(12, 40):
        app = Narrow()
        async with app.run_test(size=(width, 12)):
            rows = [line.strip() for line in text(app).splitlines()]
            assert not [row for row in rows if row[:1] in {"?", ":", "!"}], (width, rows)
