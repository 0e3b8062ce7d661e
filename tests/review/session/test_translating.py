"""A sitting in which sentences are translated: what each key does, and what is on the disk when it says so."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from review.log.fold import fold
from review.log.payloads import MOST_TEXT, Kind, NotJudged, Scope, Translate
from review.log.state import ReviewerState
from review.rating import CannotJudge, Rating
from review.session.view import Phase, TextField, View
from tests.review.session.scenes import (
    CODE,
    Sitting,
    batch_of,
    item_id,
    items_of,
    sentences_of,
    training_of,
)
from tests.review.thorough import times


def translating(folder: Path, count: int = 4) -> Sitting:
    return Sitting(folder, batch_of(sentences_of(count), task="translate"))


@pytest.fixture
def sitting(tmp_path: Path) -> Sitting:
    return translating(tmp_path)


def give(sitting: Sitting, text: str, seconds: float = 1.0) -> View:
    return sitting.session.translate(sitting.see(seconds), text)


def said(sitting: Sitting) -> ReviewerState:
    return fold(sitting.laptop.events()).reviewers[sitting.batch.manifest.batch, CODE]


def kinds(sitting: Sitting) -> list[Kind]:
    return [event.kind for event in sitting.laptop.events()]


def test_a_translation_is_saved_and_the_next_sentence_shown(sitting: Sitting) -> None:
    view = give(sitting, "  niwâpamâw\natim ", 3.5)
    assert (view.item and view.item.number, view.done) == (2, 1)
    assert view.said == "Your translation is saved."
    event = list(sitting.laptop.events())[-1]
    assert isinstance(event.payload, Translate)
    assert event.payload.text == "niwâpamâw\natim"
    assert (event.payload.position, event.payload.active_ms) == (0, 3500)
    assert said(sitting).translations == {item_id(1): "niwâpamâw\natim"}
    assert said(sitting).judgements == {}


@pytest.mark.parametrize("empty", ["", "   ", "\n\t"])
def test_an_empty_translation_is_none(sitting: Sitting, empty: str) -> None:
    view = give(sitting, empty)
    assert view.trouble.startswith("Write your translation first")
    assert view.item is not None
    assert view.item.number == 1
    assert Kind.TRANSLATE not in kinds(sitting)


def test_one_that_is_too_long_stays_a_draft(sitting: Sitting) -> None:
    view = give(sitting, "a" * (MOST_TEXT + 1))
    assert "4001" in view.trouble
    assert Kind.TRANSLATE not in kinds(sitting)
    sitting.restart()
    assert sitting.session.view.item is not None
    assert sitting.session.view.item.translation == "a" * MOST_TEXT


def test_what_is_being_typed_outlives_the_power(sitting: Sitting) -> None:
    item = sitting.see()
    sitting.session.keep_draft(item, TextField.TRANSLATION, "niwâp")
    sitting.restart()
    shown = sitting.session.view.item
    assert shown is not None
    assert (shown.id, shown.translation) == (item, "niwâp")
    give(sitting, "niwâpamâw")
    assert sitting.laptop.draft(sitting.batch.manifest.batch, CODE, item, "translation") is None


def test_undo_brings_sentence_and_translation_back(sitting: Sitting) -> None:
    give(sitting, "one")
    give(sitting, "two")
    sitting.see()
    view = sitting.session.undo()
    assert view.said == "Taken back. Your translation is here again."
    assert view.item is not None
    assert (view.item.number, view.item.translation) == (2, "two")
    assert said(sitting).translations == {item_id(1): "one"}
    view = give(sitting, "two, better")
    assert view.item is not None
    assert view.item.number == 3
    assert said(sitting).translations == {item_id(1): "one", item_id(2): "two, better"}


def test_a_later_decision_counts_whatever_it_was_before(sitting: Sitting) -> None:
    give(sitting, "one")
    sitting.see()
    sitting.session.undo()
    view = sitting.session.cannot_judge(sitting.see(), CannotJudge.UNCLEAR_SOURCE)
    assert view.said == "Saved: you cannot translate this one."
    assert said(sitting).translations == {}
    assert said(sitting).judgements[item_id(1)].why_not is CannotJudge.UNCLEAR_SOURCE
    sitting.see()
    view = sitting.session.undo()
    assert view.said.startswith("Taken back. You could not translate it")


def test_what_was_left_for_later_comes_again_and_then_the_end(sitting: Sitting) -> None:
    for text in ("one", "", "three", "four"):
        item = sitting.see()
        if text:
            sitting.session.translate(item, text)
        else:
            sitting.session.skip(item)
    assert (sitting.session.view.phase, sitting.session.view.skipped) == (Phase.SKIPPED, 1)
    sitting.session.go_on()
    view = give(sitting, "two")
    assert (view.phase, view.done) == (Phase.END, 4)


def test_comment_and_harm_are_about_the_sentence(sitting: Sitting) -> None:
    item = sitting.see()
    sitting.session.save_text(item, TextField.COMMENT, "An old word.")
    sitting.session.flag_harm(item, True)
    give(sitting, "one")
    assert said(sitting).comments == {item: "An old word."}
    assert said(sitting).harmful == {item}


def test_a_pause_is_suggested_to_translators_too(tmp_path: Path) -> None:
    sitting = translating(tmp_path, 30)
    for number in range(25):
        view = give(sitting, f"text {number}")
    assert view.phase is Phase.REST


def test_ratings_and_translations_are_not_taken_for_each_other(tmp_path: Path) -> None:
    rated, translated = Sitting(tmp_path / "a"), translating(tmp_path / "b")
    view = translated.session.rate(translated.see(), Rating.GIST)
    assert "nothing to rate" in view.trouble
    view = rated.session.translate(rated.see(), "text")
    assert "are to be rated" in view.trouble
    assert {Kind.RATE, Kind.TRANSLATE}.isdisjoint({*kinds(rated), *kinds(translated)})


def test_translating_is_no_training_for_rating(tmp_path: Path) -> None:
    first = translating(tmp_path)
    give(first, "one")
    first.session.cannot_judge(first.see(), CannotJudge.UNSAID)
    first.laptop.close()
    lessons = batch_of(items_of(2), training_of([Rating.GIST]), batch="cd" * 8)
    assert Sitting(tmp_path, lessons).session.view.phase is Phase.TRAINING


@pytest.mark.parametrize("scope", list(Scope))
def test_taking_back_comments_leaves_translations_and_their_drafts(
    sitting: Sitting, scope: Scope
) -> None:
    give(sitting, "a first text")
    item = sitting.see()
    sitting.session.save_text(item, TextField.COMMENT, "a remark of mine")
    sitting.session.keep_draft(item, TextField.COMMENT, "an unfinished remark")
    sitting.session.keep_draft(item, TextField.TRANSLATION, "a second te")
    view = sitting.session.withdraw(scope)
    content = sitting.laptop.path.read_bytes()
    assert (b"remark" in content) is False
    kept = scope is Scope.COMMENTS
    assert (b"a first text" in content, b"a second te" in content) == (kept, kept)
    if kept:
        assert view.said == "Your comments are erased."
        assert give(sitting, "a second text").done == 2
    else:
        assert view.phase is Phase.WITHDRAWN
        assert Kind.TRANSLATE in kinds(sitting)  # the head stays in its chain


KEYS = st.lists(st.sampled_from("tttt 0suuunRE"), max_size=30)


@settings(
    max_examples=times(12, 500),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(KEYS)
def test_any_keys_give_what_a_person_remembers(keys: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sitting = translating(Path(folder), 5)
        stands: list[tuple[str, str | None]] = []
        for number, key in enumerate(keys):
            _press(sitting, stands, key, f"text {number}")
            view = sitting.session.view
            assert view.done == len({item for item, given in stands if given != "later"})
            assert view.can_undo == bool(stands)
        sitting.restart()
        _check(sitting, dict(stands))
        sitting.laptop.close()


def _press(sitting: Sitting, stands: list[tuple[str, str | None]], key: str, text: str) -> None:
    session = sitting.session
    if key in {"R", "E", "n"}:
        {"R": sitting.restart, "E": session.go_on, "n": session.go_to_unrated}[key]()
        return
    item = sitting.see() if session.view.item else None
    if key == "u":
        session.undo()
        if stands:
            back, given = stands.pop()
            shown = session.view.item
            assert shown is not None
            assert shown.id == back
            assert given in {None, "later", shown.translation}
    elif item is not None and key.strip():
        act = {
            "t": lambda: session.translate(item, text),
            "0": lambda: session.cannot_judge(item, CannotJudge.UNSAID),
            "s": lambda: session.skip(item),
        }
        act[key]()
        stands.append((item, {"t": text, "0": None, "s": "later"}[key]))


def _check(sitting: Sitting, stands: dict[str, str | None]) -> None:
    state = fold(sitting.laptop.events()).reviewers[sitting.batch.manifest.batch, CODE]
    given = {item: text for item, text in stands.items() if text not in {None, "later"}}
    assert state.translations == given
    assert set(state.judgements) == {item for item, text in stands.items() if text is None}
    decided = [e.payload for e in sitting.laptop.events() if isinstance(e.payload, NotJudged)]
    assert len(decided) >= len(state.judgements)
