"""What is typed and not saved yet: kept for its own sentence, gone as soon as it is saved, never saved in silence."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.files.ratings import open_ratings
from review.log.fold import fold
from review.log.laptop import FILE_NAME, Laptop
from review.log.payloads import Export, Face, Kind, NotJudged, Scope, Translate
from review.log.table import NotSaved
from review.rating import CannotJudge, Rating
from review.session.session import Session
from review.session.view import TextField, View
from review.session.words.catalogue import Words
from review.session.words.item import translation_marks
from tests.review.log.material import kept_draft
from tests.review.session.scenes import CODE, CUSTODIANS, Sitting, batch_of, item_id, item_of, sentences_of
from tests.review.thorough import examples

WORDS = Words.load("en")
FIRST, SECOND = item_id(1), item_id(2)


@pytest.fixture
def rating(tmp_path: Path) -> Sitting:
    return Sitting(tmp_path)


@pytest.fixture
def translating(tmp_path: Path) -> Sitting:
    return Sitting(tmp_path, batch_of(sentences_of(3), task="translate"))


def draft(sitting: Sitting, item: str, field: TextField) -> str | None:
    return kept_draft(sitting.laptop, sitting.batch.manifest.batch, CODE, item, field.value)


def test_draft_survives_a_restart_and_saved_text_replaces_it(rating: Sitting) -> None:
    item = rating.see()
    rating.session.keep_draft(item, TextField.COMMENT, "half a tho")
    rating.restart()
    assert item_of(rating.session.view).comment == "half a tho"
    rating.see()
    assert item_of(rating.session.save_text(item, TextField.COMMENT, "")).comment == ""
    view = rating.session.save_text(item, TextField.COMMENT, "a" * 4001)
    assert "4001" in view.trouble
    rating.restart()
    assert item_of(rating.session.view).comment == "a" * 4000


def given_texts(sitting: Sitting) -> list[str]:
    said = [event.payload for event in sitting.laptop.events()]
    return [each.text for each in said if isinstance(each, Translate)]


def come_back(sitting: Sitting, item: str) -> str:
    sitting.session.go_to(item)
    return sitting.see()


def test_draft_of_a_changed_answer_is_saved_after_coming_back(translating: Sitting) -> None:
    session = translating.session
    session.translate(translating.see(), "old one")
    session.keep_draft(FIRST, TextField.TRANSLATION, "old one")  # what is saved is no draft
    assert draft(translating, FIRST, TextField.TRANSLATION) is None
    session.keep_draft(come_back(translating, FIRST), TextField.TRANSLATION, "old one, better")
    assert [each.translation for each in session.answered()] == ["old one"]
    session.go_to(None)
    item = come_back(translating, FIRST)
    shown = item_of(session.view)
    assert (shown.stands, shown.translation) == (True, "old one, better")
    view = session.translate(item, shown.translation)
    assert given_texts(translating) == ["old one", "old one, better"]
    assert draft(translating, FIRST, TextField.TRANSLATION) is None
    assert view.said == "Your translation is saved."


def test_answer_that_stays_as_it_is_adds_nothing(translating: Sitting, tmp_path: Path) -> None:
    session = translating.session
    session.translate(translating.see(), "one")
    session.translate(translating.see(), "two")
    session.keep_draft(come_back(translating, FIRST), TextField.TRANSLATION, "one more")
    view = session.translate(FIRST, " one ")
    assert (item_of(view).id, view.done, view.said) == (item_id(3), 2, "Your translation is saved.")
    assert given_texts(translating) == ["one", "two"]
    assert draft(translating, FIRST, TextField.TRANSLATION) is None
    session.export(tmp_path)
    session.translate(come_back(translating, FIRST), "one")
    assert session.view.handed_over
    assert isinstance(list(translating.laptop.events())[-1].payload, Export)
    come_back(translating, FIRST)
    session.cannot_judge(FIRST, CannotJudge.UNSAID)
    session.translate(come_back(translating, FIRST), "one")  # after that it is an answer again
    assert given_texts(translating) == ["one", "two", "one"]


def test_what_holds_is_told_beside_a_draft(translating: Sitting) -> None:
    session = translating.session
    session.keep_draft(translating.see(), TextField.TRANSLATION, "half")
    session.cannot_judge(FIRST, CannotJudge.UNSAID)
    [answered] = session.answered()
    assert (answered.could_not, answered.translation) == (True, "")
    come_back(translating, FIRST)
    shown = item_of(session.view)
    assert (shown.could_not, shown.translation) == (True, "half")
    [mark] = translation_marks(WORDS, shown)
    assert mark.said == "You said that you cannot translate this one."
    said = [event.payload for event in translating.laptop.events()]
    assert [each.item for each in said if isinstance(each, NotJudged)] == [FIRST]


@pytest.mark.parametrize("field", [TextField.COMMENT, TextField.SUGGESTION])
def test_of_a_text_that_is_saved_no_draft_remains(rating: Sitting, field: TextField) -> None:
    session, item = rating.session, rating.see()
    session.keep_draft(item, field, "my wor")
    session.save_text(item, field, "my words")
    for typed, left in (("my words", None), ("my words, more", "my words, more"), (" my words", None), ("", "")):
        session.keep_draft(item, field, typed)
        assert draft(rating, item, field) == left
    session.rate(item, Rating.GIST)
    session.keep_draft(item, field, "late, about the first")
    assert draft(rating, item, field) == "late, about the first"
    assert draft(rating, SECOND, field) is None


TEXTS = st.sampled_from(["", "a", " a ", "b", "a\ud800", "a\ufffd"])
STEPS = st.lists(st.tuples(st.sampled_from(["keep", "save"]), TEXTS), max_size=8)


@examples(20, 400)
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
    typed = steps[-1][1].replace("\ud800", "\ufffd").strip() if steps else ""
    assert item_of(sitting.session.view).comment.strip() == typed
    sitting.laptop.close()


# an answer saves what is typed about its sentence, and undo takes both back


def said_of(sitting: Sitting, item: str) -> tuple[str, str]:
    """Return comment and better wording of an item as they would be handed in: from the events alone."""
    place = (sitting.batch.manifest.batch, CODE)
    person = fold(sitting.laptop.events()).reviewers[place]
    return person.comments.get(item, ""), person.suggestions.get(item, "")


def type_both(sitting: Sitting, item: str) -> None:
    sitting.session.keep_draft(item, TextField.COMMENT, " too formal ")
    sitting.session.keep_draft(item, TextField.SUGGESTION, "mi vidis")


ANSWERS: dict[str, Callable[[Session, str], View]] = {
    "rate": lambda session, item: session.rate(item, Rating.GIST),
    "cannot": lambda session, item: session.cannot_judge(item, CannotJudge.SUBJECT),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=list(ANSWERS))
def test_answer_saves_words_until_undo(rating: Sitting, answer: Callable[[Session, str], View]) -> None:
    item = rating.see()
    rating.session.save_text(item, TextField.COMMENT, "old")
    type_both(rating, item)
    assert [each.number for each in rating.session.view.unsaved] == [1]
    view = answer(rating.session, item)
    assert view.said.endswith("Your comment is saved. Your translation is saved.")
    assert (view.unsaved, said_of(rating, item)) == ((), ("too formal", "mi vidis"))
    assert draft(rating, item, TextField.COMMENT) is None
    rating.restart()  # undo works the next day, too
    rating.see()
    view = rating.session.undo()
    assert view.said.endswith("Your words are kept, but not saved yet.")
    assert said_of(rating, item) == ("old", "")
    assert (item_of(view).comment, item_of(view).suggestion) == ("too formal", "mi vidis")
    assert [each.fields for each in view.unsaved] == [{TextField.COMMENT, TextField.SUGGESTION}]
    rating.see()
    answer(rating.session, item)
    assert said_of(rating, item) == ("too formal", "mi vidis")


def handed_over(sitting: Sitting, stick: Path) -> bytes:
    stick.mkdir(exist_ok=True)
    file = sitting.session.export(stick).path
    return b"".join(open_ratings(file.read_bytes(), CUSTODIANS).lines)


def test_what_undo_took_back_is_in_no_file(rating: Sitting, tmp_path: Path) -> None:
    item = rating.see()
    rating.session.save_text(item, TextField.COMMENT, "of before")
    type_both(rating, item)
    rating.session.rate(item, Rating.GIST)
    told = handed_over(rating, tmp_path / "stick")
    assert [said in told for said in (b"too formal", b"mi vidis", b"of before")] == [
        True, True, False,
    ]  # fmt: skip
    rating.see()
    rating.session.undo()
    told = handed_over(rating, tmp_path / "stick")
    assert [said in told for said in (b"too formal", b"mi vidis", b"of before")] == [
        False, False, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("scope", "left"),
    [(Scope.EVERYTHING, []), (Scope.BATCH, []), (Scope.COMMENTS, ["a translation"])],
    ids=["everything", "batch", "comments"],
)
def test_no_draft_outlives_withdrawal(translating: Sitting, scope: Scope, left: list[str]) -> None:
    """The other one knows nothing of it: what is typed there comes to no disk."""
    item = translating.see()
    with closing(Laptop.open(translating.folder, busy_seconds=1)) as other:
        Session(other, translating.batch, CODE, Face.DESKTOP, WORDS, guard=0).withdraw(scope)
    translating.session.keep_draft(item, TextField.COMMENT, "a comment")
    translating.session.keep_draft(item, TextField.TRANSLATION, "a translation")
    drafts = translating.laptop.drafts(translating.batch.manifest.batch, CODE)
    assert [each.text for each in drafts] == left


def test_a_translation_saves_a_comment_that_is_typed(translating: Sitting) -> None:
    item = translating.see()
    translating.session.keep_draft(item, TextField.COMMENT, "an old word")
    translating.session.translate(item, "niwâpamâw")
    assert said_of(translating, item)[0] == "an old word"
    session = translating.session
    session.keep_draft(come_back(translating, item), TextField.COMMENT, "a very old word")
    view = session.translate(item, "niwâpamâw")  # which stays as it is
    assert (view.unsaved, said_of(translating, item)[0]) == ((), "a very old word")


def test_undo_leaves_words_that_were_saved_otherwise(rating: Sitting) -> None:
    item = rating.see()
    rating.session.save_text(item, TextField.COMMENT, "saved on its own")
    rating.session.keep_draft(item, TextField.SUGGESTION, "with the answer")
    rating.session.rate(item, Rating.GIST)
    rating.session.save_text(come_back(rating, item), TextField.SUGGESTION, "changed since")
    rating.session.undo()
    assert said_of(rating, item) == ("saved on its own", "changed since")
    assert draft(rating, item, TextField.SUGGESTION) is None
    rating.session.keep_draft(rating.see(), TextField.COMMENT, "")  # emptied: the answer takes it back
    rating.session.rate(item, Rating.GIST)
    assert said_of(rating, item) == ("", "changed since")


def test_undo_of_a_second_answer_leaves_what_the_first_saved(rating: Sitting) -> None:
    item = rating.see()
    type_both(rating, item)
    rating.session.rate(item, Rating.GIST)
    rating.session.rate(come_back(rating, item), Rating.REJECT)
    rating.see()
    rating.session.undo()
    assert said_of(rating, item) == ("too formal", "mi vidis")
    rating.see()
    rating.session.undo()
    assert said_of(rating, item) == ("", "")


def test_answer_and_words_are_saved_together_or_not_at_all(rating: Sitting) -> None:
    """The transaction fails at its last step: neither the comment nor the answer is there, and nothing is lost."""
    item, connection = rating.see(), rating.laptop.connection
    type_both(rating, item)
    connection.execute(
        "CREATE TEMP TRIGGER full BEFORE DELETE ON main.draft WHEN OLD.field = 'suggestion'"
        " BEGIN SELECT RAISE(ABORT, 'full'); END"
    )
    view = rating.session.rate(item, Rating.GIST)
    assert view.trouble
    assert [each.kind for each in rating.laptop.events()] == [Kind.CONSENT]
    assert (view.done, len(view.unsaved), view.item is not None) == (0, 1, True)
    connection.execute("DROP TRIGGER full")
    assert rating.session.rate(item, Rating.GIST).unsaved == ()
    assert said_of(rating, item) == ("too formal", "mi vidis")
    kinds = [each.kind for each in rating.laptop.events()]
    assert kinds == [Kind.CONSENT, Kind.SESSION, Kind.COMMENT, Kind.SUGGEST, Kind.RATE]


def test_words_that_the_disk_refused_are_saved_with_the_next(rating: Sitting) -> None:
    item = rating.see()
    with closing(sqlite3.connect(rating.folder / FILE_NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for text in ("too", "too formal"):
            with pytest.raises(NotSaved):
                rating.session.keep_draft(item, TextField.COMMENT, text)
    shown = item_of(rating.session.view)
    assert (shown.comment, shown.drafts) == ("too formal", {TextField.COMMENT})
    rating.session.skip(item)
    assert draft(rating, item, TextField.COMMENT) == "too formal"


def test_what_is_only_a_draft_is_named_and_can_be_gone_to(rating: Sitting) -> None:
    session = rating.session
    type_both(rating, rating.see())
    session.skip(FIRST)
    session.rate(rating.see(), Rating.GIST)
    session.keep_draft(come_back(rating, SECOND), TextField.COMMENT, "later")
    session.go_to(None)
    rating.restart()
    session = rating.session
    unsaved = [(each.item, each.number, len(each.fields)) for each in session.view.unsaved]
    assert unsaved == [(FIRST, 1, 2), (SECOND, 2, 1)]
    went = [session.go_to_unsaved() for _ in range(3)]
    assert [item_of(view).id for view in went] == [FIRST, SECOND, FIRST]
    assert "not saved yet" in went[-1].said
    session.rate(rating.see(), Rating.GIST)
    session.save_text(come_back(rating, SECOND), TextField.COMMENT, "later")
    assert session.view.unsaved == ()
    assert session.go_to_unsaved().said == "Everything that you wrote is saved."
    session.keep_draft(SECOND, TextField.COMMENT, "more")
    view = session.withdraw(Scope.COMMENTS)  # no draft outlives what was taken back
    assert (view.unsaved, item_of(view).comment) == ((), "")


def test_half_written_translation_is_named_an_untouched_one_not(translating: Sitting) -> None:
    session = translating.session
    session.keep_draft(translating.see(), TextField.TRANSLATION, "ni")
    assert [each.number for each in session.view.unsaved] == [1]
    session.keep_draft(FIRST, TextField.TRANSLATION, "")
    assert session.view.unsaved == ()
