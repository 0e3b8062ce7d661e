"""What each key does, and what is on the disk when it says so."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from review.files.ratings import open_ratings
from review.log.event import read_event
from review.log.fold import fold
from review.log.payloads import Consent, Kind, Rate, Scope, SittingBegan, Skip, Undo
from review.rating import CannotJudge, Rating, Reason
from review.session.position import ActiveTime
from review.session.view import LastJudged, Phase, TextField, View
from tests.review.session.scenes import (
    CODE,
    CUSTODIANS,
    OTHER_CODE,
    Clock,
    Sitting,
    batch_of,
    item_id,
    item_of,
    items_of,
    training_of,
)


@pytest.fixture
def sitting(tmp_path: Path) -> Sitting:
    return Sitting(tmp_path)


def kinds(sitting: Sitting) -> list[Kind]:
    return [event.kind for event in sitting.laptop.events()]


def last_rate(sitting: Sitting) -> Rate:
    payload = list(sitting.laptop.events())[-1].payload
    assert isinstance(payload, Rate)
    return payload


def last_of(view: View) -> LastJudged:
    assert view.last is not None
    return view.last


def undo(sitting: Sitting) -> View:
    sitting.see()
    return sitting.session.undo()


def test_session_before_consent_asks_and_writes_nothing(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, agreed=False)
    view = sitting.session.view
    assert (view.phase, view.item) == (Phase.CONSENT, None)
    sitting.session.rate(item_id(1), Rating.GIST)
    assert sitting.session.go_to(item_id(1)).phase is Phase.CONSENT
    assert kinds(sitting) == []
    view = sitting.session.agree(share_corrections=True)
    assert (view.phase, kinds(sitting)) == (Phase.ITEMS, [Kind.CONSENT])
    assert sitting.session.go_to("f" * 16) == view  # an item that is not theirs
    assert sitting.session.answered() == ()


def test_rating_key_saves_and_goes_on(sitting: Sitting) -> None:
    view = sitting.rate(Rating.GIST)
    assert (item_of(view).number, view.done, view.said) == (2, 1, "Saved: Gist.")
    assert (last_rate(sitting).position, last_rate(sitting).active_ms) == (0, 1000)
    assert kinds(sitting) == [Kind.CONSENT, Kind.SESSION, Kind.RATE]


def test_fifty_keys_in_a_tenth_of_a_second_rate_once(sitting: Sitting) -> None:
    first = sitting.see(0.3)
    for _ in range(50):
        item = item_of(sitting.session.view).id
        sitting.session.painted(item)
        sitting.session.rate(item, Rating.GIST)
        sitting.clock.seconds += 0.002
    rated = [e.payload.item for e in sitting.laptop.events() if isinstance(e.payload, Rate)]
    assert rated == [first]


@pytest.mark.parametrize("late", [0.0, 0.1, 0.249])
def test_key_right_after_painting_does_nothing(sitting: Sitting, late: float) -> None:
    item = sitting.see(late)
    for act in (
        lambda: sitting.session.rate(item, Rating.EXCELLENT),
        lambda: sitting.session.cannot_judge(item, CannotJudge.SUBJECT),
        lambda: sitting.session.skip(item),
        sitting.session.undo,
    ):
        view = act()
        assert view.too_soon
        assert view.said == "That came too soon, so nothing was done. Please do it again."
        assert (view.item, view.trouble) == (sitting.session.view.item, "")
    assert kinds(sitting) == [Kind.CONSENT]
    sitting.clock.seconds += 1
    assert not sitting.session.rate(item, Rating.EXCELLENT).too_soon


def test_of_many_keys_in_a_row_only_the_first_counts() -> None:
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


def test_key_for_another_item_or_before_painting_does_nothing(sitting: Sitting) -> None:
    assert sitting.session.rate(item_id(1), Rating.GIST).too_soon  # not painted
    sitting.see()
    before = sitting.session.view
    assert sitting.session.rate(item_id(2), Rating.GIST) is before
    sitting.session.close()
    assert sitting.session.rate(item_id(1), Rating.GIST).done == 0
    assert kinds(sitting) == [Kind.CONSENT]


def test_undo_goes_back_without_limit_and_says_what_it_was(sitting: Sitting) -> None:
    sitting.rate(Rating.REJECT)
    sitting.session.cannot_judge(sitting.see(), CannotJudge.OTHER_DIALECT)
    sitting.session.skip(sitting.see())
    said = []
    for number in (3, 2, 1):
        view = undo(sitting)
        assert item_of(view).number == number
        said.append(view.said)
    assert said == [
        "Taken back. You had left it for later.",
        "Taken back. You could not judge it: It is another dialect.",
        "Taken back. Your answer was: Reject.",
    ]
    assert (item_of(view).rating, view.done, view.can_undo) == (Rating.REJECT, 0, False)
    assert undo(sitting).said == "There is nothing to take back."


def test_undo_takes_the_reasons_of_the_answer_back(sitting: Sitting) -> None:
    item = sitting.see()
    sitting.session.rate(item, Rating.GIST)
    sitting.session.set_reasons(item, {Reason.SPELLING})
    said = undo(sitting).said
    assert said == "Taken back. Your answer was: Gist. Its reasons are taken back, too."
    assert last_of(sitting.rate(Rating.EXCELLENT)).item.reasons == ()
    assert fold(sitting.laptop.events()).reviewers[sitting.batch.manifest.batch, CODE].reasons == {}
    assert undo(sitting).said == "Taken back. Your answer was: Excellent."


def test_hand_over_is_known_until_something_is_added(sitting: Sitting) -> None:
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


def test_skipped_items_come_once_more_and_then_no_more(sitting: Sitting) -> None:
    for number in range(1, 5):
        if number in (1, 3):
            sitting.session.skip(sitting.see())
        else:
            sitting.rate()
    view = sitting.session.view
    assert (view.phase, view.item, view.skipped) == (Phase.SKIPPED, None, 2)
    view = sitting.session.go_on()
    item = item_of(view)
    assert (view.phase, item.id, item.number, item.of) == (Phase.SKIPPED, item_id(1), 1, 2)
    item = item_of(sitting.session.skip(sitting.see()))
    assert (item.id, item.number, item.of) == (item_id(3), 2, 2)
    view = sitting.rate()
    assert (view.phase, view.done, view.total, view.skipped) == (Phase.END, 3, 4, 1)
    assert item_of(sitting.session.go_on()).id == item_id(1)
    assert sitting.rate().phase is Phase.END


def test_jump_goes_to_the_next_without_an_answer_and_around(sitting: Sitting) -> None:
    sitting.session.skip(sitting.see())
    sitting.rate()
    numbers = [item_of(sitting.session.go_to_unrated()).number for _ in range(3)]
    assert numbers == [4, 1, 3]


def test_reasons_after_two_undos_are_for_the_one_answered(sitting: Sitting) -> None:
    sitting.rate(Rating.GIST)
    sitting.rate(Rating.REJECT)
    undo(sitting)
    undo(sitting)
    view = sitting.rate(Rating.EXCELLENT)
    item, last = item_of(view), last_of(view)
    assert (item.id, item.stands) == (item_id(2), False)  # taken back, and open again
    assert (last.item.id, last.rating) == (item_id(1), Rating.EXCELLENT)
    sitting.session.set_reasons(item_id(1), {Reason.MISSING})
    assert last_of(sitting.session.view).item.reasons == (Reason.MISSING,)


def test_reasons_and_words_reach_the_item_and_the_one_before(sitting: Sitting) -> None:
    first = sitting.see()
    sitting.session.rate(first, Rating.GIST)
    view = sitting.session.set_reasons(first, {Reason.SPELLING, Reason.GRAMMAR})
    assert last_of(view).item.reasons == (Reason.GRAMMAR, Reason.SPELLING)
    assert view.said == "Saved: The grammar is wrong; The spelling is wrong."
    second, save = sitting.see(), sitting.session.save_text
    assert item_of(save(second, TextField.COMMENT, "  too formal \n")).comment == "too formal"
    item = item_of(save(second, TextField.SUGGESTION, "Bone."))
    assert (item.comment, item.suggestion) == ("too formal", "Bone.")
    before = sitting.session.view
    assert save(item_id(4), TextField.COMMENT, "never shown") is before
    view = save(second, TextField.COMMENT, "")
    assert (item_of(view).comment, view.said) == ("", "Your comment is removed.")
    view = save(second, TextField.COMMENT, "a\udce9b\udc80")  # of a broken terminal
    assert (item_of(view).comment, view.trouble) == ("a\ufffdb\ufffd", "")
    sitting.session.keep_draft(second, TextField.COMMENT, "half a thought")
    assert item_of(sitting.session.view).comment == "half a thought"


def test_each_part_ends_once_and_says_how_long_the_next_takes(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, batch_of(items_of(60)), agreed=False)
    view = sitting.session.view
    assert (view.total, view.minutes) == (60, 5)  # 30 s each: no pace is known
    view = sitting.session.agree(share_corrections=False)
    rests = []
    while view.phase is not Phase.END:
        view = sitting.rate(seconds=40.0 if view.done % 3 else 600.0)  # the median is 40 s
        if view.phase is Phase.REST:
            rests.append((view.done, view.minutes))
            assert view.item is None
            sitting.session.undo()
            assert sitting.rate(seconds=40.0).phase is Phase.ITEMS, "nobody is told twice"
            sitting.restart()
            view = sitting.session.view
            assert (view.done, view.phase) == (rests[-1][0], Phase.ITEMS)
    assert rests == [(done, 7) for done in (10, 20, 30, 40, 50)]
    kept = {type(event.payload) for event in sitting.laptop.events()}
    assert kept == {SittingBegan, Consent, Rate, Undo}, "no part and no pace is stored"


def test_idle_time_and_a_closed_lid_count_a_minute_at_most(sitting: Sitting) -> None:
    item = sitting.see(10)
    sitting.session.touched()
    sitting.clock.seconds += 8 * 3600
    sitting.session.touched()
    sitting.clock.seconds += 5
    sitting.session.painted(item)  # a resize
    sitting.session.rate(item, Rating.GIST)
    assert last_rate(sitting).active_ms == 75_000


def test_each_training_item_comes_once_whatever_the_answer(tmp_path: Path) -> None:
    training = training_of([Rating.REJECT, Rating.GIST, Rating.EXCELLENT])
    sitting = Sitting(tmp_path, batch_of(training=training))
    seen = []
    for answer in (Rating.REJECT, Rating.ACCEPTABLE, Rating.GIST):
        view = sitting.rate(answer)
        assert view.phase is Phase.TRAINING
        assert view.lesson is not None
        item = item_of(view)
        seen.append((item.number, item.of, view.lesson.expected))
        assert sitting.session.rate(item.id, Rating.GIST) is view  # the answer is being read
        assert sitting.session.view.said == ""
        if len(seen) == 1:  # it goes on where it was cut
            sitting.restart()
            assert sitting.session.view.lesson is None
            continue
        said = sitting.session.go_on().said
    assert seen == [(1, 3, Rating.REJECT), (2, 3, Rating.GIST), (3, 3, Rating.EXCELLENT)]
    assert said == "Practice is over. From here your answers count."
    assert sitting.session.view.phase is Phase.ITEMS
    sitting.rate()
    sitting.batch = batch_of(training=training, batch="cd" * 8)
    sitting.begin()
    assert sitting.session.agree(share_corrections=False).phase is Phase.ITEMS


def test_practice_can_be_skipped(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, batch_of(training=training_of([Rating.REJECT, Rating.GIST])))
    view = sitting.session.skip(item_of(sitting.session.view).id)
    assert (view.phase, view.said) == (Phase.ITEMS, "Practice is over. From here your answers count.")
    assert (view.skipped, view.can_undo) == (0, False)
    sitting.restart()
    assert sitting.session.view.phase is Phase.ITEMS
    sitting.rate()
    sitting.session.undo()
    sitting.restart()
    assert sitting.session.view.phase is Phase.ITEMS


def test_skipped_practice_is_not_handed_over(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, batch_of(training=training_of([Rating.REJECT, Rating.GIST])))
    sitting.session.skip(item_of(sitting.session.view).id)
    sitting.session.skip(first := sitting.see())
    events = map(read_event, open_ratings(sitting.session.export(tmp_path).path.read_bytes(), CUSTODIANS).lines)
    skips = [event.payload.item for event in events if isinstance(event.payload, Skip)]
    assert (skips, kinds(sitting).count(Kind.SKIP)) == ([first], 3)


def test_withdrawing_everything_erases_and_ends(sitting: Sitting) -> None:
    sitting.session.save_text(sitting.see(), TextField.COMMENT, "my secret words")
    sitting.rate()
    view = sitting.session.withdraw(Scope.BATCH)
    assert (view.phase, view.done) == (Phase.WITHDRAWN, 0)
    assert sitting.session.undo().said == "There is nothing to take back."
    assert b"my secret words" not in (sitting.folder / "review.sqlite").read_bytes()
    sitting.restart()
    assert sitting.session.view.phase is Phase.WITHDRAWN


def test_withdrawing_comments_leaves_ratings(sitting: Sitting) -> None:
    sitting.session.save_text(sitting.see(), TextField.COMMENT, "words")
    sitting.rate()
    view = sitting.session.withdraw(Scope.COMMENTS)
    assert (view.phase, view.done) == (Phase.ITEMS, 1)
    view = sitting.session.save_text(sitting.see(), TextField.SUGGESTION, "Bone.")
    assert "no new ones are kept" in view.trouble
    sitting.session.keep_draft(sitting.see(), TextField.COMMENT, "new")
    assert item_of(sitting.session.view).comment == ""


def test_two_people_on_one_laptop_do_not_see_each_other(sitting: Sitting) -> None:
    sitting.rate()
    sitting.code = OTHER_CODE
    sitting.begin()
    assert sitting.session.view.phase is Phase.CONSENT
    view = sitting.session.agree(share_corrections=False)
    assert (item_of(view).id, view.done, view.can_undo) == (item_id(4), 0, False)


def test_own_answer_is_looked_at_and_left_or_given_anew(sitting: Sitting) -> None:
    for rating in (Rating.EXCELLENT, Rating.GIST):
        sitting.rate(rating)
    first, second = sitting.session.answered()
    assert [(each.number, each.rating, each.stands) for each in (first, second)] == [
        (1, Rating.EXCELLENT, True), (2, Rating.GIST, True),
    ]  # fmt: skip
    item = item_of(sitting.session.go_to(first.id))
    assert (item.id, item.rating, item.stands) == (first.id, first.rating, True)
    item = item_of(sitting.session.go_to(None))
    assert (item.number, item.stands) == (3, False)
    sitting.session.go_to(first.id)
    sitting.rate(Rating.REJECT)
    assert [each.rating for each in sitting.session.answered()] == [Rating.REJECT, Rating.GIST]
    assert item_of(sitting.session.view).number == 3
