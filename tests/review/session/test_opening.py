"""From a stick to the first item: what is found, kept, trusted and remembered."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.sealed.forms import FileError, FileProblem
from harness.sealed.keys import Identity, Role
from review.files.batch import write_batch
from review.files.reviewer_codes import CodeError
from review.log.laptop import Laptop
from review.log.payloads import Face
from review.rating import Rating
from review.session.opening import Opening
from review.session.opening_words import where
from review.session.session import Session
from review.session.view import Phase
from review.session.words.catalogue import Words
from review.session.words.troubles import OtherReviewerError
from tests.keyring_in_memory import no_keyring
from tests.review.session.scenes import CODE, OTHER_CODE, STRANGER, batch_of, item_id, write_file

__all__ = ["no_keyring"]

SECRET_WORDS = "river stone cloud ember"


@pytest.fixture
def laptop(tmp_path: Path) -> Laptop:
    return Laptop.open(tmp_path / "home")


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    return tmp_path / "stick"


def opening_of(laptop: Laptop, stick: Path, **options: object) -> Opening:
    return Opening(laptop, mounted=lambda: [stick], **options)  # type: ignore[arg-type]


def begun(opening: Opening) -> Session:
    """Go through a first opening."""
    batch = opening.open(opening.choices()[0])
    opening.accept(batch)
    return opening.session(batch, opening.reviewer(batch, CODE), Face.LINES, guard=0)


def test_a_file_on_a_stick_is_found_and_then_kept_here(laptop: Laptop, stick: Path) -> None:
    file = write_file(batch_of(), stick / "deep" / "er")
    (found,) = opening_of(laptop, stick).choices()
    assert (found.title, found.path, found.batch) == ("Spring sentences", file, None)
    assert where(Words.load("en"), found) == f"Language Council · new, on {file.parent}"
    damaged = replace(found, organisation="")  # nothing of it can be read before it is opened
    assert where(Words.load("en"), damaged) == f"new, on {file.parent}"
    begun(opening_of(laptop, stick))
    (kept,) = opening_of(laptop, stick).choices()
    assert (kept.title, kept.organisation, kept.path) == (
        "Spring sentences",
        "Language Council",
        None,
    )
    file.unlink()
    batch = opening_of(laptop, stick).open(kept)
    assert batch == batch_of()


def test_nothing_is_kept_before_a_session_begins(laptop: Laptop, stick: Path) -> None:
    write_file(batch_of(), stick)
    opening = opening_of(laptop, stick)
    opening.open(opening.choices()[0])
    assert laptop.batches() == ()


def test_a_named_file_is_the_only_choice_even_if_it_was_taken_before(
    laptop: Laptop, stick: Path
) -> None:
    file = write_file(batch_of(), stick)
    begun(opening_of(laptop, stick))
    opening = opening_of(laptop, stick, places=[file])
    (choice,) = opening.choices()
    assert opening.is_named(choice)
    assert where(opening.words, choice) == "Language Council · 0 of 4 done"
    begun(opening)
    assert len(laptop.batches()) == 1


def test_after_a_named_file_was_begun_with_everything_else_is_offered_too(
    laptop: Laptop, stick: Path, tmp_path: Path
) -> None:
    begun(opening_of(laptop, tmp_path / "none", places=[write_file(batch_of(), tmp_path / "a")]))
    named = write_file(batch_of(batch="cd" * 8, title="Named"), tmp_path / "mail")
    opening = opening_of(laptop, stick, places=[named])
    begun(opening)
    write_file(batch_of(batch="ef" * 8, title="On the stick"), stick)
    assert [each.title for each in opening.choices()] == [
        "On the stick",
        "Named",
        "Spring sentences",
    ]
    assert not any(map(opening.is_named, opening.choices()))


def test_a_named_folder_is_searched_instead_of_the_sticks(laptop: Laptop, stick: Path) -> None:
    write_file(batch_of(), stick)
    other = stick.parent / "other"
    write_file(batch_of(batch="cd" * 8, title="Summer"), other, "file-17")
    titles = [each.title for each in opening_of(laptop, stick, places=[other]).choices()]
    assert titles == ["Summer"]


def test_the_last_received_one_comes_first(laptop: Laptop, stick: Path) -> None:
    for batch, title in (("ab" * 8, "first"), ("cd" * 8, "second")):
        write_file(batch_of(batch=batch, title=title), stick, title)
        begun(opening_of(laptop, stick))
    assert [each.title for each in opening_of(laptop, stick).choices()] == ["second", "first"]


def test_an_organisation_is_asked_about_once(laptop: Laptop, stick: Path) -> None:
    write_file(batch_of(), stick)
    opening = opening_of(laptop, stick)
    batch = opening.open(opening.choices()[0])
    assert not opening.is_known(batch)
    opening.accept(batch)
    assert opening_of(laptop, stick).is_known(batch)


def test_the_code_is_forgiving_checked_and_remembered(laptop: Laptop, stick: Path) -> None:
    opening, batch = opening_of(laptop, stick), batch_of()
    assert opening.remembered(batch) is None
    assert opening.reviewer(batch, f" {CODE[:4].lower()}-{CODE[4:]} ") == CODE
    assert opening_of(laptop, stick).remembered(batch) == CODE[:2]
    with pytest.raises(OtherReviewerError):
        opening.reviewer(batch, STRANGER)
    with pytest.raises(CodeError):
        opening.reviewer(batch, CODE[:-1])
    assert opening.remembered(batch) == CODE[:2]
    opening.reviewer(batch, OTHER_CODE)
    assert opening.remembered(batch) == OTHER_CODE[:2]


def test_a_batch_sealed_for_this_laptop_opens_and_stays_sealed_here(
    laptop: Laptop, stick: Path
) -> None:
    identity = Identity.load(laptop.path.parent, Role.LAPTOP)
    stick.mkdir()
    sealed = write_batch(batch_of(secret=True), recipients=[identity.public.recipient])
    (stick / "s.rosetta-batch").write_bytes(sealed)
    begun(opening_of(laptop, stick))
    assert laptop.batch("ba" * 8).members == sealed
    assert b"Candidate" not in laptop.path.read_bytes()
    opening = opening_of(laptop, stick)
    assert opening.open(opening.choices()[0]).items


def test_a_batch_sealed_with_a_passphrase_asks_for_it_each_time(
    laptop: Laptop, stick: Path
) -> None:
    from harness.sealed.phrase import draw_words

    secret = draw_words(3)
    stick.mkdir()
    (stick / "s.rosetta-batch").write_bytes(write_batch(batch_of(secret=True), passphrase=secret))
    opening = opening_of(laptop, stick)
    (choice,) = opening.choices()
    for given, problem in ((None, FileProblem.LOCKED), (draw_words(3), FileProblem.WRONG_KEY)):
        with pytest.raises(FileError) as caught:
            opening.open(choice, given)
        assert caught.value.problem is problem
    batch = opening.open(choice, secret)
    opening.session(batch, CODE, Face.LINES)
    (kept,) = opening_of(laptop, stick).choices()
    with pytest.raises(FileError):
        opening.open(kept)
    assert opening.open(kept, secret).items == batch.items


def test_the_language_is_the_one_asked_for_then_remembered_then_the_computers_then_the_batchs(
    laptop: Laptop, stick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "fr_CA.UTF-8")
    english, french = batch_of(language="en"), batch_of(language="fr")
    opening = opening_of(laptop, stick)
    assert opening.words.language == "fr"
    assert opening.session(english, CODE, Face.LINES).words.language == "fr"
    monkeypatch.setenv("LANG", "en_CA.UTF-8")
    assert opening_of(laptop, stick).session(french, CODE, Face.LINES).words.language == "fr"
    opening.set_language("fr")
    again = opening_of(laptop, stick)
    assert again.session(english, CODE, Face.LINES).words.language == "fr"
    asked = opening_of(laptop, stick, language="en")
    assert asked.session(french, CODE, Face.LINES).words.language == "en"


def test_the_list_tells_how_far_the_remembered_person_is(laptop: Laptop, stick: Path) -> None:
    write_file(batch_of(), stick)
    opening = opening_of(laptop, stick)
    assert opening.choices()[0].done is None
    session = begun(opening)
    session.agree(share_corrections=False)
    session.painted(item_id(1))
    session.rate(item_id(1), Rating.GIST)
    (choice,) = opening.choices()
    assert (choice.title, choice.done, choice.total) == ("Spring sentences", 1, 4)
    opening.forget_reviewer()
    assert opening.choices()[0].done is None


def test_a_code_that_was_typed_is_forgotten_and_the_one_before_stays(
    laptop: Laptop, stick: Path
) -> None:
    opening = opening_of(laptop, stick)
    opening.reviewer(batch_of(), CODE)
    opening.reviewer(batch_of(), OTHER_CODE)
    opening.forget_reviewer()
    assert opening.remembered(batch_of()) == CODE[:2]


def test_ratings_go_back_where_the_batch_came_from(laptop: Laptop, stick: Path) -> None:
    file = write_file(batch_of(), stick / "review")
    opening = opening_of(laptop, stick)
    batch = opening.open(opening.choices()[0])
    assert opening.hand_over_places(batch) == [file.parent]  # a stick is offered once
    begun(opening)
    later = opening_of(laptop, stick)
    batch = later.open(later.choices()[0])
    assert later.hand_over_places(batch) == [stick]


def test_what_was_handed_over_holds_everything_and_is_noted(laptop: Laptop, stick: Path) -> None:
    write_file(batch_of(), stick)
    opening = opening_of(laptop, stick)
    batch = opening.open(opening.choices()[0])
    session = opening.session(batch, CODE, Face.LINES)
    session.agree(share_corrections=False)
    exported = session.export(stick)
    assert exported.path.parent == stick
    assert len(exported.phrase.split()) == 6
    assert [event.kind for event in laptop.events()] == ["consent", "export"]
    assert session.view.phase is Phase.ITEMS


# copies of one review


@pytest.mark.parametrize("locked", [False, True], ids=["open", "locked"])
def test_copies_of_a_review_are_one_entry_with_one_progress(
    laptop: Laptop, stick: Path, tmp_path: Path, locked: bool
) -> None:
    data = write_batch(batch_of(secret=locked), passphrase=SECRET_WORDS if locked else None)
    downloads = tmp_path / "Downloads"
    for number, folder in enumerate((stick, stick, downloads)):
        folder.mkdir(exist_ok=True)
        (folder / f"copy {number}.rosetta-batch").write_bytes(data)
    write_file(batch_of(batch="cd" * 8), downloads, "another review with the same title")
    both = [stick, downloads]
    opening = opening_of(laptop, stick, places=both)
    choices = opening.choices()
    assert len(choices) == 2
    files = sorted(downloads.iterdir())
    assert len(opening_of(laptop, stick, places=files).choices()) == 2
    (first,) = [each for each in choices if "copy" in str(each.path)]
    batch = opening.open(first, SECRET_WORDS if locked else None)
    session = opening.session(batch, opening.reviewer(batch, CODE), Face.LINES, guard=0.0)
    session.agree(share_corrections=False)
    session.painted(item_id(1))
    session.rate(item_id(1), Rating.GIST)
    (downloads / "copied later.rosetta-batch").write_bytes(data)
    again = opening_of(laptop, stick, places=both).choices()
    assert [(each.path is None, each.done) for each in again] == [(False, None), (True, 1)]


def test_a_damaged_copy_hides_no_whole_one(laptop: Laptop, stick: Path) -> None:
    file = write_file(batch_of(), stick)
    data = file.read_bytes()
    (stick / "a damaged copy.rosetta-batch").write_bytes(data[:-40])
    choices = opening_of(laptop, stick).choices()
    assert sorted(each.title for each in choices) == ["Spring sentences", "a damaged copy"]


def test_a_place_is_named_whole_from_inside_its_folder(
    laptop: Laptop, stick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_file(batch_of(), stick)
    monkeypatch.chdir(stick)
    (choice,) = opening_of(laptop, stick, places=[Path(file.name)]).choices()
    assert where(Words.load("en"), choice) == f"Language Council · new, on {stick}"
