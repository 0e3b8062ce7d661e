"""A batch that speaks several languages: what is shown and recorded, and what does not work, in the reviewer's own."""

import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

from harness.core.failures import HarnessError
from harness.core.storage_problems import StorageProblem
from harness.sealed.forms import FileError, FileProblem
from harness.sealed.stick import StickError
from review.files.batch import Batch
from review.files.reviewer_codes import CodeError, CodeProblem, tag_of
from review.log.laptop import Laptop
from review.log.payloads import Consent, Face, Rate, Scope
from review.log.table import NotSaved
from review.rating import Rating
from review.session.opening import Opening
from review.session.view import Phase, TextField
from review.session.words import page as page_words
from review.session.words.catalogue import Words
from review.session.words.page import Given
from review.session.words.troubles import OtherReviewerError, trouble
from tests.review.session.scenes import (
    CODE,
    CONSENT,
    GUIDE,
    Sitting,
    batch_of,
    item_of,
    items_of,
    training_of,
    write_file,
)

SALT = bytes(range(32))
FRENCH, SPANISH = "Nous vous demandons votre avis.", "Le pedimos su opinión."
SAID = {"fr": {"consent": FRENCH, "guide": "Jugez."}, "es": {"consent": SPANISH}}


NOTE = "The organiser has not given this in English; here it is in Français."


def sitting(folder: Path, language: str, **added: Any) -> Sitting:
    batch = batch_of(items_of(3), salt=SALT, **{"translations": SAID, **added})
    person = tag_of(CODE, SALT)
    return Sitting(folder, batch, person, Words.load(language), agreed=False)


def agreed(sitting: Sitting) -> list[Consent]:
    found = [event.payload for event in sitting.laptop.events()]
    return [each for each in found if isinstance(each, Consent)]


def test_text_that_was_shown_is_the_one_recorded(tmp_path: Path) -> None:
    here = sitting(tmp_path / "a", "fr")
    here.session.agree(share_corrections=False)
    here.words = Words.load("en")  # who agreed in French and then reads English agreed to French
    here.restart()
    here.session.share(True)
    said = agreed(here)
    assert [each.share_corrections for each in said] == [False, True]
    for each in said:
        assert (each.text_language, each.language) == ("fr", "fr")
        assert each.consent_sha256 == sha256(FRENCH.encode()).hexdigest()
    here = sitting(tmp_path / "b", "fr", translations={"es": {"consent": SPANISH}})
    here.session.agree(share_corrections=False)
    [said_] = agreed(here)  # where the language is missing, the batch's own
    assert (said_.text_language, said_.language) == ("en", "fr")
    [old] = agreed(Sitting(tmp_path / "c", batch_of(items_of(2)), words=Words.load("fr")))
    assert "text_language" not in old.model_dump()  # a batch of before says nothing of it
    own = sha256(CONSENT.encode()).hexdigest()
    assert (said_.consent_sha256, old.consent_sha256) == (own, own)


def test_missing_language_is_said_and_old_batch_claims_nothing() -> None:
    english, french = Words.load("en"), Words.load("fr")
    given = batch_of(language="fr", salt=SALT, translations={"es": {"consent": SPANISH}}).manifest
    assert page_words.consent(english, given) == Given(CONSENT, NOTE)
    assert page_words.guide(english, given) == Given(GUIDE, NOTE)
    assert page_words.consent(french, given) == Given(CONSENT)
    before = batch_of(language="fr").manifest
    assert page_words.consent(english, before) == Given(CONSENT)
    only_spanish = given.model_copy(update={"consent": ""})
    assert "in Spanish." in page_words.consent(english, only_spanish).note


QUECHUA = "Qanta tapukuyku."
WRITTEN = {
    "qu": {"consent": QUECHUA},
    "crk-Latn": {"guide": "Nitaskiy."},
    "fr": {"consent": FRENCH},
}
STAYS = (
    "The program itself does not speak Quechua: its own words stay in English. "
    "What the organiser wrote is shown in Quechua."
)


def opened(laptop: Laptop, stick: Path, **added: Any) -> tuple[Opening, Batch]:
    if not stick.exists():
        write_file(batch_of(items_of(2), salt=SALT, **{"translations": WRITTEN, **added}), stick)
    opening = Opening(laptop, places=[stick], language=None, system=("en",), mounted=list)
    return opening, opening.open(opening.choices()[0])


def test_language_of_the_batch_alone_is_chosen_and_remembered(tmp_path: Path) -> None:
    with Laptop.open(tmp_path / "home") as laptop:
        opening, batch = opened(laptop, tmp_path / "stick")
        assert opening.languages == {
            "en": "English", "fr": "Français", "qu": "Quechua", "crk-Latn": "Plains Cree (Latin script)"
        }  # fmt: skip
        assert opening.set_language("qu")("Settings") == "Settings"
        session = opening.session(batch, opening.reviewer(batch, CODE), Face.LINES)
        assert page_words.consent(session.words, batch.manifest) == Given(QUECHUA, STAYS)
        assert page_words.guide(session.words, batch.manifest).note == (
            "The organiser has not given this in Quechua; here it is in English."
        )
        session.agree(share_corrections=False)
        [said] = [each.payload for each in laptop.events() if isinstance(each.payload, Consent)]
        assert (said.text_language, said.language) == ("qu", "en")
        assert said.consent_sha256 == sha256(QUECHUA.encode()).hexdigest()
        again = Opening(laptop, mounted=list)
        assert (again.words.chosen, again.words.language) == ("qu", "en")
        assert list(again.languages) == ["en", "fr", "qu"]
        assert again.set_language("fr").chosen == "fr"
        assert Opening(laptop, mounted=list).words.reads == ("fr",)


def test_own_words_stand_in_where_a_text_is_missing(tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    with Laptop.open(tmp_path / "home") as laptop:
        opening, batch = opened(laptop, stick)
        opening.set_language("fr")
        words = opening.set_language("crk-Latn")
        assert words("Settings") != "Settings"
        text, note = page_words.consent(words, batch.manifest)
        assert text == FRENCH, "the nearest that this person reads"
        assert "Plains Cree (Latin script)" in note
    write_file(batch_of(language="qu"), tmp_path / "old")
    with Laptop.open(tmp_path / "other") as laptop:
        opening, batch = opened(laptop, tmp_path / "old")  # which does not state its language
        assert list(opening.languages) == ["en", "fr"]
        assert page_words.consent(opening.set_language("qu"), batch.manifest).note == ""


def test_a_lesson_is_explained_in_the_language_that_is_chosen(tmp_path: Path) -> None:
    [item] = training_of([Rating.GIST])
    lesson = item.model_copy(update={"explanations": {"fr": "À cause de cela."}})
    batch = batch_of(items_of(2), [lesson], salt=SALT, language="es", translations={})
    here = Sitting(tmp_path, batch, tag_of(CODE, SALT), Words.load("fr"))
    here.see()
    here.session.rate(item.id, Rating.REJECT)
    note = "The organiser has not given this in English; here it is in Spanish."
    for tag, expected in (("fr", ("À cause de cela.", "")), ("en", ("Because of 1.", note))):
        here.session.words = Words.load(tag)
        shown = here.session.view.lesson
        assert shown is not None
        assert (shown.explanation, shown.note) == expected


ERRORS = [
    *(NotSaved(problem, Path("x"), "SQLITE_X") for problem in StorageProblem),
    *(FileError(problem, "English") for problem in FileProblem),
    *(StickError(Path("x"), problem) for problem in StorageProblem),
    *(CodeError(problem, "English") for problem in CodeProblem),
    OtherReviewerError("English"),
    HarnessError("English"),
]


def test_every_problem_has_words_in_both_languages() -> None:
    for error in ERRORS:
        english, french = (trouble(Words.load(tag), error) for tag in ("en", "fr"))
        assert english.said, error
        assert french.said != english.said, error
        assert english.detail == french.detail
        said_all = isinstance(error, CodeError | OtherReviewerError) or (
            isinstance(error, FileError)
            and error.problem in {FileProblem.LOCKED, FileProblem.WRONG_KEY}
        )
        assert bool(english.detail) is not said_all  # what only says it once more is not copied


def test_program_that_holds_the_file_stops_only_the_key(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, words=Words.load("fr"))
    sitting.rate()
    item = sitting.see()
    with closing(sqlite3.connect(tmp_path / "review.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        view = sitting.session.rate(item, Rating.GIST)
        assert (item_of(view).id, view.done, view.said) == (item, 1, "")
        assert "autre fenêtre" in view.trouble
        assert view.detail == "SQLITE_BUSY"
        view = sitting.session.save_text(item, TextField.COMMENT, "kept")
        assert view.trouble
    view = sitting.session.rate(item, Rating.GIST)
    assert (view.done, view.trouble) == (2, "")
    assert sum(isinstance(e.payload, Rate) for e in sitting.laptop.events()) == 2


def test_a_file_that_was_moved_takes_no_rating_and_says_so(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path)
    item = sitting.see()
    (tmp_path / "review.sqlite").rename(tmp_path / "elsewhere")
    view = sitting.session.rate(item, Rating.GIST)
    assert "moved" in view.trouble
    assert item_of(view).id == item
    (tmp_path / "elsewhere").rename(tmp_path / "review.sqlite")
    assert sitting.session.rate(item, Rating.GIST).done == 1


def test_full_disk_takes_no_rating_until_there_is_room(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path)
    connection = sitting.laptop.connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    view = sitting.session.view
    while not view.trouble:
        view = sitting.session.save_text(sitting.see(), TextField.COMMENT, "a" * 3000)
    assert "disk is full" in view.trouble
    done, item = view.done, sitting.see()
    connection.execute("PRAGMA max_page_count = 100000")
    assert sitting.session.rate(item, Rating.GIST).done == done + 1


def test_withdrawal_in_another_window_is_said(tmp_path: Path) -> None:
    first = Sitting(tmp_path)
    second = Sitting(tmp_path, agreed=False)
    second.session.withdraw(Scope.EVERYTHING)
    item = first.see()
    view = first.session.rate(item, Rating.GIST)
    assert view.trouble
    assert "withdrew" in view.detail
    first.restart()
    assert first.session.view.phase is Phase.WITHDRAWN
