"""What is typed and not saved yet: kept for its own sentence, gone as soon as it is saved, never saved in silence."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from review.log.payloads import Export, NotJudged, Translate
from review.rating import CannotJudge, Rating
from review.session.item_words import marks, translation_marks
from review.session.view import TextField
from review.session.words import Words
from tests.review.session.scenes import CODE, Sitting, batch_of, item_id, sentences_of
from tests.review.thorough import times

WORDS = Words.load("en")
FIRST, SECOND = item_id(1), item_id(2)


@pytest.fixture
def rating(tmp_path: Path) -> Iterator[Sitting]:
    sitting = Sitting(tmp_path)
    yield sitting
    sitting.laptop.close()


@pytest.fixture
def translating(tmp_path: Path) -> Iterator[Sitting]:
    sitting = Sitting(tmp_path, batch_of(sentences_of(3), task="translate"))
    yield sitting
    sitting.laptop.close()


def draft(sitting: Sitting, item: str, field: TextField) -> str | None:
    return sitting.laptop.draft(sitting.batch.manifest.batch, CODE, item, field.value)


def given_texts(sitting: Sitting) -> list[str]:
    said = [event.payload for event in sitting.laptop.events()]
    return [each.text for each in said if isinstance(each, Translate)]


def come_back(sitting: Sitting, item: str) -> str:
    sitting.session.go_to(item)
    return sitting.see()


def test_a_draft_of_a_changed_answer_is_saved_after_coming_back(translating: Sitting) -> None:
    session = translating.session
    session.translate(translating.see(), "old one")
    session.keep_draft(come_back(translating, FIRST), TextField.TRANSLATION, "old one, better")
    session.go_to(None)
    item = come_back(translating, FIRST)
    shown = session.view.item
    assert shown is not None
    assert (shown.stands, shown.translation) == (True, "old one, better")
    view = session.translate(item, shown.translation)
    assert given_texts(translating) == ["old one", "old one, better"]
    assert draft(translating, FIRST, TextField.TRANSLATION) is None
    assert view.said == "Your translation is saved."


def test_an_answer_that_stays_as_it_is_adds_nothing_and_leads_back(translating: Sitting) -> None:
    session = translating.session
    session.translate(translating.see(), "one")
    session.translate(translating.see(), "two")
    session.keep_draft(come_back(translating, FIRST), TextField.TRANSLATION, "one more")
    view = session.translate(FIRST, " one ")
    assert view.item is not None
    assert (view.item.id, view.done, view.said) == (item_id(3), 2, "Your translation is saved.")
    assert given_texts(translating) == ["one", "two"]
    assert draft(translating, FIRST, TextField.TRANSLATION) is None


def test_answers_that_were_handed_over_still_are_after_a_look(
    translating: Sitting, tmp_path: Path
) -> None:
    session = translating.session
    session.translate(translating.see(), "one")
    (tmp_path / "stick").mkdir()
    session.export(tmp_path / "stick")
    session.translate(come_back(translating, FIRST), "one")
    assert session.view.handed_over
    last = list(translating.laptop.events())[-1].payload
    assert isinstance(last, Export)


def test_after_could_not_the_same_words_are_an_answer_again(translating: Sitting) -> None:
    session = translating.session
    session.translate(translating.see(), "one")
    come_back(translating, FIRST)
    session.cannot_judge(FIRST, CannotJudge.UNSAID)
    session.translate(come_back(translating, FIRST), "one")
    assert given_texts(translating) == ["one", "one"]


def test_what_holds_is_told_beside_a_draft(translating: Sitting) -> None:
    session = translating.session
    session.keep_draft(translating.see(), TextField.TRANSLATION, "half")
    session.cannot_judge(FIRST, CannotJudge.UNSAID)
    [answered] = session.answered()
    assert (answered.could_not, answered.translation) == (True, "")
    come_back(translating, FIRST)
    shown = session.view.item
    assert shown is not None
    assert (shown.could_not, shown.translation) == (True, "half")
    [mark] = translation_marks(WORDS, shown)
    assert mark.said == "You said that you cannot translate this one."
    [not_judged] = [
        each.payload for each in translating.laptop.events() if isinstance(each.payload, NotJudged)
    ]
    assert not_judged.item == FIRST


def test_answers_are_listed_as_they_were_saved(translating: Sitting) -> None:
    session = translating.session
    session.translate(translating.see(), "saved")
    session.keep_draft(come_back(translating, FIRST), TextField.TRANSLATION, "typed")
    assert [each.translation for each in session.answered()] == ["saved"]


def test_a_person_who_could_not_judge_is_told_so(rating: Sitting) -> None:
    rating.session.cannot_judge(rating.see(), CannotJudge.UNSAID)
    come_back(rating, FIRST)
    shown = rating.session.view.item
    assert shown is not None
    assert [mark.said for mark in marks(WORDS, shown)] == [
        "You said that you cannot judge this one."
    ]


@pytest.mark.parametrize("field", [TextField.COMMENT, TextField.SUGGESTION])
def test_of_a_text_that_is_saved_no_draft_remains(rating: Sitting, field: TextField) -> None:
    session, item = rating.session, rating.see()
    session.keep_draft(item, field, "my wor")
    session.save_text(item, field, "my words")
    session.keep_draft(item, field, "my words")
    assert draft(rating, item, field) is None
    session.keep_draft(item, field, "my words, more")
    assert draft(rating, item, field) == "my words, more"
    session.keep_draft(item, field, " my words")
    assert draft(rating, item, field) is None
    session.keep_draft(item, field, "")
    assert draft(rating, item, field) == ""


def test_of_an_answer_that_is_saved_no_draft_remains(translating: Sitting) -> None:
    translating.session.translate(translating.see(), "one")
    translating.session.keep_draft(FIRST, TextField.TRANSLATION, "one")
    assert draft(translating, FIRST, TextField.TRANSLATION) is None


def test_a_draft_that_comes_late_is_its_own_sentences(rating: Sitting) -> None:
    session = rating.session
    session.rate(rating.see(), Rating.GIST)
    session.keep_draft(FIRST, TextField.COMMENT, "about the first")
    assert draft(rating, FIRST, TextField.COMMENT) == "about the first"
    assert draft(rating, SECOND, TextField.COMMENT) is None


TEXTS = st.sampled_from(["", "a", " a ", "b", "a\ud800", "a\ufffd"])
STEPS = st.lists(st.tuples(st.sampled_from(["keep", "save"]), TEXTS), max_size=8)


@settings(max_examples=times(60, 1000), deadline=None)
@given(steps=STEPS)
def test_what_was_typed_last_is_what_is_shown(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str]]
) -> None:
    sitting = Sitting(tmp_path_factory.mktemp("home"))
    item = sitting.see()
    for step, text in steps:
        if step == "keep":
            sitting.session.keep_draft(item, TextField.COMMENT, text)
        else:
            sitting.session.save_text(item, TextField.COMMENT, text)
    sitting.restart()
    shown = sitting.session.view.item
    assert shown is not None
    typed = steps[-1][1].replace("\ud800", "\ufffd").strip() if steps else ""
    assert shown.comment.strip() == typed
    sitting.laptop.close()
