"""What each key does, and what is on the disk when it says so."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from review.log.fold import fold
from review.log.payloads import Kind, Rate, Scope
from review.rating import CannotJudge, Rating, Reason
from review.session.course import ActiveTime
from review.session.view import Phase, TextField
from tests.review.session.scenes import (
    CODE,
    Clock,
    Sitting,
    batch_of,
    item_id,
    items_of,
    training_of,
)


@pytest.fixture
def sitting(tmp_path: Path) -> Sitting:
    return Sitting(tmp_path)


def kinds(sitting: Sitting) -> list[Kind]:
    return [event.kind for event in sitting.laptop.events()]


def test_nothing_is_asked_or_written_before_consent(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, agreed=False)
    view = sitting.session.view
    assert view.phase is Phase.CONSENT
    assert view.item is None
    sitting.session.rate(item_id(1), Rating.GIST)
    assert kinds(sitting) == []
    view = sitting.session.agree(share_corrections=True)
    assert view.phase is Phase.ITEMS
    assert kinds(sitting) == [Kind.CONSENT]


def test_a_key_rates_saves_and_goes_on(sitting: Sitting) -> None:
    view = sitting.rate(Rating.GIST)
    assert (view.item and view.item.number, view.done, view.said) == (2, 1, "Saved: Gist.")
    event = list(sitting.laptop.events())[-1]
    assert isinstance(event.payload, Rate)
    assert (event.payload.position, event.payload.active_ms) == (0, 1000)
    assert kinds(sitting) == [Kind.CONSENT, Kind.SESSION, Kind.RATE]


def test_fifty_keys_in_a_tenth_of_a_second_rate_the_item_that_was_shown(sitting: Sitting) -> None:
    first = sitting.see(0.3)
    for _ in range(50):
        view = sitting.session.view
        assert view.item is not None
        sitting.session.painted(view.item.id)
        sitting.session.rate(view.item.id, Rating.GIST)
        sitting.clock.seconds += 0.002
    rated = [e.payload.item for e in sitting.laptop.events() if isinstance(e.payload, Rate)]
    assert rated == [first]


@pytest.mark.parametrize("late", [0.0, 0.1, 0.249])
def test_a_key_right_after_painting_is_not_meant_for_what_was_painted(
    sitting: Sitting, late: float
) -> None:
    item = sitting.see(late)
    for act in (
        lambda: sitting.session.rate(item, Rating.EXCELLENT),
        lambda: sitting.session.cannot_judge(item, CannotJudge.SUBJECT),
        lambda: sitting.session.skip(item),
        sitting.session.undo,
    ):
        view = act()
        assert view.too_soon
        assert view.said == "That came too soon to be meant, so it did nothing. Do it again."
        assert (view.item, view.trouble) == (sitting.session.view.item, "")
    assert kinds(sitting) == [Kind.CONSENT]
    sitting.clock.seconds += 1
    assert not sitting.session.rate(item, Rating.EXCELLENT).too_soon


def test_of_many_keys_in_a_row_only_the_first_counts_however_slowly_they_are_taken() -> None:
    """A computer under load takes keys that were pressed in a moment over a longer time than the guard's."""
    clock = Clock()
    time = ActiveTime(clock, guard=0.25)
    time.painted()
    for _ in range(20):
        clock.seconds += 0.1
        assert not time.takes_keys()
        time.too_soon()
    clock.seconds += 0.25
    assert time.takes_keys()


def test_a_key_for_another_item_or_before_painting_does_nothing(sitting: Sitting) -> None:
    assert sitting.session.rate(item_id(1), Rating.GIST).too_soon  # not painted
    sitting.see()
    before = sitting.session.view
    assert sitting.session.rate(item_id(2), Rating.GIST) is before
    sitting.session.close()
    assert sitting.session.rate(item_id(1), Rating.GIST).done == 0
    assert kinds(sitting) == [Kind.CONSENT]


def test_undo_goes_back_without_limit_and_shows_what_it_was(sitting: Sitting) -> None:
    sitting.rate(Rating.REJECT)
    sitting.session.cannot_judge(sitting.see(), CannotJudge.OTHER_DIALECT)
    sitting.session.skip(sitting.see())
    said = []
    sitting.see()
    for number in (3, 2, 1):
        view = sitting.session.undo()
        assert view.item is not None
        assert view.item.number == number
        said.append(view.said)
        sitting.see()
    assert said == [
        "Taken back. You had left it for later.",
        "Taken back. You could not judge it: It is another dialect.",
        "Taken back. Your answer was: Reject.",
    ]
    assert view.item.rating is Rating.REJECT
    assert (view.done, view.can_undo) == (0, False)
    assert sitting.session.undo().said == "There is nothing to take back."


def test_undo_takes_the_reasons_of_the_answer_back_with_it(sitting: Sitting) -> None:
    item = sitting.see()
    sitting.session.rate(item, Rating.GIST)
    sitting.session.set_reasons(item, {Reason.SPELLING})
    sitting.see()
    view = sitting.session.undo()
    assert view.said == "Taken back. Your answer was: Gist. Its reasons are taken back, too."
    view = sitting.rate(Rating.EXCELLENT)
    assert view.last is not None
    assert view.last.item.reasons == ()
    assert fold(sitting.laptop.events()).reviewers[sitting.batch.manifest.batch, CODE].reasons == {}
    sitting.see()
    assert sitting.session.undo().said == "Taken back. Your answer was: Excellent."


def test_what_was_handed_over_is_known_until_something_is_added(sitting: Sitting) -> None:
    for _ in range(4):
        sitting.rate()
    assert sitting.session.view.handed_over == ""
    sitting.session.export(sitting.folder)
    local = datetime(2026, 3, 2, tzinfo=UTC) + timedelta(seconds=sitting.clock())
    expected = f"{local.astimezone():%Y-%m-%d %H:%M}"
    assert (sitting.session.view.phase, sitting.session.view.handed_over) == (Phase.END, expected)
    sitting.restart()
    assert sitting.session.view.handed_over == expected
    assert sitting.session.undo().handed_over == ""
    sitting.rate()
    assert sitting.session.view.handed_over == ""


def test_undo_across_a_restart_lands_on_the_same_item(sitting: Sitting) -> None:
    for rating in (Rating.REJECT, Rating.GIST, Rating.EXCELLENT):
        sitting.rate(rating)
    sitting.restart()
    sitting.see()
    sitting.session.undo()
    sitting.restart()
    view = sitting.session.view
    assert view.item is not None
    assert (view.item.number, view.item.rating, view.done) == (3, Rating.EXCELLENT, 2)
    sitting.see()
    view = sitting.session.undo()
    assert view.item is not None
    assert (view.item.number, view.item.rating) == (2, Rating.GIST)


def test_what_was_left_for_later_comes_once_more_and_then_no_more(sitting: Sitting) -> None:
    for number in range(1, 5):
        if number in (1, 3):
            sitting.session.skip(sitting.see())
        else:
            sitting.rate()
    view = sitting.session.view
    assert (view.phase, view.item, view.skipped) == (Phase.SKIPPED, None, 2)
    view = sitting.session.go_on()
    assert view.item is not None
    assert (view.phase, view.item.id, view.item.number, view.item.of) == (
        Phase.SKIPPED, item_id(1), 1, 2,
    )  # fmt: skip
    view = sitting.session.skip(sitting.see())
    assert view.item is not None
    assert (view.item.id, view.item.number, view.item.of) == (item_id(3), 2, 2)
    view = sitting.rate()
    assert (view.phase, view.done, view.total, view.skipped) == (Phase.END, 3, 4, 1)
    view = sitting.session.go_on()
    assert view.item is not None
    assert view.item.id == item_id(1)
    assert sitting.rate().phase is Phase.END


def test_a_jump_goes_to_the_next_without_an_answer_and_around(sitting: Sitting) -> None:
    sitting.session.skip(sitting.see())
    sitting.rate()
    numbers = []
    for _ in range(3):
        view = sitting.session.go_to_unrated()
        assert view.item is not None
        numbers.append(view.item.number)
    assert numbers == [4, 1, 3]


def test_reasons_are_for_the_last_answer_but_not_while_one_is_open_again(sitting: Sitting) -> None:
    sitting.rate()
    sitting.rate()
    view = sitting.session.go_to_unrated()
    assert view.last is not None
    assert view.last.item.id == item_id(2)
    sitting.see()
    assert sitting.session.undo().last is None
    view = sitting.rate(Rating.REJECT)
    assert view.last is not None
    assert (view.last.item.id, view.last.rating) == (item_id(2), Rating.REJECT)


def test_reasons_and_words_reach_the_item_shown_and_the_one_before(sitting: Sitting) -> None:
    first = sitting.see()
    sitting.session.rate(first, Rating.GIST)
    view = sitting.session.set_reasons(first, {Reason.SPELLING, Reason.GRAMMAR})
    assert view.last is not None
    assert view.last.item.reasons == (Reason.GRAMMAR, Reason.SPELLING)
    assert view.said == "Saved: The grammar is wrong; The spelling is wrong."
    second = sitting.see()
    view = sitting.session.save_text(second, TextField.COMMENT, "  too formal \n")
    assert view.item is not None
    assert view.item.comment == "too formal"
    view = sitting.session.save_text(second, TextField.SUGGESTION, "Bone.")
    assert view.item is not None
    assert (view.item.comment, view.item.suggestion) == ("too formal", "Bone.")
    before = sitting.session.view
    assert sitting.session.save_text(item_id(4), TextField.COMMENT, "never shown") is before
    view = sitting.session.save_text(second, TextField.COMMENT, "")
    assert view.item is not None
    assert (view.item.comment, view.said) == ("", "Your comment is removed.")


def test_half_characters_of_a_broken_terminal_are_saved_as_a_mark(sitting: Sitting) -> None:
    view = sitting.session.save_text(sitting.see(), TextField.COMMENT, "a\udce9b\udc80")
    assert view.item is not None
    assert not view.trouble
    assert view.item.comment == "a\ufffdb\ufffd"


def test_the_harm_flag_is_set_and_taken_back(sitting: Sitting) -> None:
    item = sitting.see()
    assert sitting.session.flag_harm(item, True).item.harmful
    assert not sitting.session.flag_harm(item, False).item.harmful


def test_a_rest_is_offered_after_25_answers(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, batch_of(items_of(60)))
    rests = []
    for number in range(1, 61):
        if sitting.rate().phase is Phase.REST:
            rests.append(number)
            assert sitting.session.view.item is None
            sitting.session.go_on()
    assert rests == [25, 50]
    assert sitting.session.view.phase is Phase.END


def test_a_rest_is_offered_after_twenty_minutes(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, batch_of(items_of(30)))
    phases = [sitting.rate(seconds=59.9).phase for _ in range(21)]
    assert phases.index(Phase.REST) == 20


def test_idle_time_and_a_closed_lid_count_a_minute_at_most(sitting: Sitting) -> None:
    item = sitting.see(10)
    sitting.session.touched()
    sitting.clock.seconds += 8 * 3600
    sitting.session.touched()
    sitting.clock.seconds += 5
    sitting.session.painted(item)  # a resize
    sitting.session.rate(item, Rating.GIST)
    event = list(sitting.laptop.events())[-1]
    assert isinstance(event.payload, Rate)
    assert event.payload.active_ms == 75_000


def test_training_repeats_what_was_wrong_once_and_never_again(tmp_path: Path) -> None:
    training = training_of([Rating.REJECT, Rating.GIST, Rating.EXCELLENT])
    sitting = Sitting(tmp_path, batch_of(training=training))
    given = [Rating.REJECT, Rating.ACCEPTABLE, Rating.GIST, Rating.GIST, Rating.REJECT]
    seen = []
    for answer in given:
        view = sitting.rate(answer)
        assert view.phase is Phase.TRAINING
        assert view.lesson is not None
        assert view.item is not None
        seen.append((view.item.number, view.item.of, view.item.again, view.lesson.expected))
        assert sitting.session.rate(view.item.id, Rating.GIST) is view  # the answer is being read
        assert sitting.session.view.said == ""
        said = sitting.session.go_on().said
    assert seen == [
        (1, 3, False, Rating.REJECT), (2, 3, False, Rating.GIST), (3, 3, False, Rating.EXCELLENT),
        (1, 2, True, Rating.GIST), (2, 2, True, Rating.EXCELLENT),
    ]  # fmt: skip
    assert said == "Practice is over. From here your answers count."
    assert sitting.session.view.phase is Phase.ITEMS
    sitting.rate()
    other = batch_of(training=training, batch="cd" * 8)
    sitting.batch = other
    sitting.begin()
    assert sitting.session.agree(share_corrections=False).phase is Phase.ITEMS


def test_training_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, batch_of(training=training_of([Rating.REJECT, Rating.GIST])))
    sitting.rate(Rating.GIST)
    sitting.restart()
    view = sitting.session.view
    assert view.item is not None
    assert (view.item.number, view.lesson) == (2, None)


def test_withdrawing_everything_erases_and_ends(sitting: Sitting) -> None:
    sitting.session.save_text(sitting.see(), TextField.COMMENT, "my secret words")
    sitting.rate()
    view = sitting.session.withdraw(Scope.BATCH)
    assert view.phase is Phase.WITHDRAWN
    assert view.done == 0
    assert sitting.session.undo().said == "There is nothing to take back."
    assert b"my secret words" not in (sitting.folder / "review.sqlite").read_bytes()
    sitting.restart()
    assert sitting.session.view.phase is Phase.WITHDRAWN


def test_withdrawing_comments_leaves_ratings_and_takes_no_new_comment(sitting: Sitting) -> None:
    sitting.session.save_text(sitting.see(), TextField.COMMENT, "words")
    sitting.rate()
    view = sitting.session.withdraw(Scope.COMMENTS)
    assert (view.phase, view.done) == (Phase.ITEMS, 1)
    view = sitting.session.save_text(sitting.see(), TextField.SUGGESTION, "Bone.")
    assert "no new ones are kept" in view.trouble
    sitting.session.keep_draft(sitting.see(), TextField.COMMENT, "new")
    assert sitting.session.view.item is not None
    assert sitting.session.view.item.comment == ""


def test_two_people_on_one_laptop_do_not_see_each_other(sitting: Sitting) -> None:
    from tests.review.session.scenes import OTHER_CODE

    sitting.rate()
    sitting.code = OTHER_CODE
    sitting.begin()
    assert sitting.session.view.phase is Phase.CONSENT
    view = sitting.session.agree(share_corrections=False)
    assert view.item is not None
    assert (view.item.id, view.done, view.can_undo) == (item_id(4), 0, False)


def test_what_the_session_says_is_what_the_events_add_up_to(sitting: Sitting) -> None:
    sitting.rate(Rating.GIST)
    sitting.session.undo()
    sitting.see()
    sitting.session.undo()
    sitting.rate(Rating.EXCELLENT)
    state = fold(sitting.laptop.events()).reviewers[sitting.batch.manifest.batch, CODE]
    assert [each.rating for each in state.judgements.values()] == [Rating.EXCELLENT]
    assert state.consented


def test_an_answer_of_ones_own_is_looked_at_and_left_or_given_anew(sitting: Sitting) -> None:
    for rating in (Rating.EXCELLENT, Rating.GIST):
        sitting.rate(rating)
    first, second = sitting.session.answered()
    assert [(each.number, each.rating, each.stands) for each in (first, second)] == [
        (1, Rating.EXCELLENT, True),
        (2, Rating.GIST, True),
    ]
    view = sitting.session.go_to(first.id)
    assert view.item is not None
    assert (view.item.id, view.item.rating, view.item.stands) == (first.id, first.rating, True)
    view = sitting.session.go_to(None)
    assert view.item is not None
    assert (view.item.number, view.item.stands) == (3, False)
    sitting.session.go_to(first.id)
    sitting.rate(Rating.REJECT)
    assert [each.rating for each in sitting.session.answered()] == [Rating.REJECT, Rating.GIST]
    assert sitting.session.view.item is not None
    assert sitting.session.view.item.number == 3


def test_nobody_goes_to_an_item_that_is_not_theirs_or_before_consent(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, agreed=False)
    assert sitting.session.go_to(item_id(1)).phase is Phase.CONSENT
    sitting.session.agree(share_corrections=False)
    before = sitting.session.view
    assert sitting.session.go_to("f" * 16) == before
    assert sitting.session.answered() == ()


def test_a_draft_is_in_the_view_as_soon_as_it_is_kept(sitting: Sitting) -> None:
    item = sitting.see()
    sitting.session.keep_draft(item, TextField.COMMENT, "half a thought")
    assert sitting.session.view.item is not None
    assert sitting.session.view.item.comment == "half a thought"


def test_reasons_are_for_the_one_answered_after_an_undo_even_where_the_next_was_taken_back_too(
    tmp_path: Path,
) -> None:
    sitting = Sitting(tmp_path)
    sitting.rate(Rating.GIST)
    sitting.rate(Rating.REJECT)
    sitting.see()
    sitting.session.undo()
    assert sitting.session.view.last is None  # its reasons would go to another one
    sitting.see()
    sitting.session.undo()
    view = sitting.rate(Rating.EXCELLENT)
    assert view.item is not None
    assert (view.item.id, view.item.stands) == (item_id(2), False)  # taken back, and open again
    assert view.last is not None
    assert (view.last.item.id, view.last.rating) == (item_id(1), Rating.EXCELLENT)
    sitting.session.set_reasons(item_id(1), {Reason.MISSING})
    assert sitting.session.view.last is not None
    assert sitting.session.view.last.item.reasons == (Reason.MISSING,)


def test_after_an_undo_what_is_left_for_later_does_not_lead_reasons_to_an_older_answer(
    tmp_path: Path,
) -> None:
    sitting = Sitting(tmp_path)
    sitting.rate()
    sitting.rate()
    sitting.see()
    sitting.session.undo()
    view = sitting.session.skip(sitting.see())
    assert view.last is None
