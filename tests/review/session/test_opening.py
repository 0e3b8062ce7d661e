"""From a stick to the first item: what is found, kept and remembered, codes nowhere; and which page follows which."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.core.storage import StorageProblem
from harness.sealed.keys import Identity, Role
from harness.sealed.phrase import draw_words
from harness.sealed.strict_records import FileError, FileProblem
from review.files.batch import write_batch
from review.files.identities import CodeError
from review.files.ratings import open_ratings
from review.log.laptop import FILE_NAME, Laptop
from review.log.payloads import Consent, Face, Related, Scope, Withdraw
from review.log.table import NotSaved
from review.rating import Rating, Relation
from review.session.choice import of_file, where
from review.session.flow import (
    AskCode,
    AskConsent,
    AskRelation,
    AskSecret,
    AskSharing,
    AskWhoAsks,
    AskWithdraw,
    AtSentences,
    CheckLetters,
    ChooseFile,
    ChooseReview,
    Flow,
    FlowStep,
    HandOver,
    Other,
    ShowAnswers,
    ShowHelp,
)
from review.session.opening import Opening
from review.session.session import Session
from review.session.view import Phase
from review.session.waiting import hand_over_all, kept
from review.session.words.catalogue import Words
from review.session.words.keys import NextAction
from review.session.words.troubles import OtherReviewerError
from tests.harness.sealed.refusals import refuses
from tests.keyring_in_memory import no_keyring
from tests.review.session.scenes import (
    CODE,
    CUSTODIANS,
    OTHER_CODE,
    STRANGER,
    batch_of,
    item_id,
    item_of,
    items_of,
    write_file,
)
from tests.review.thorough import examples

__all__ = ["no_keyring"]

SECRET_WORDS = "river stone cloud ember"
NEW, OLD = batch_of(salt=bytes(range(32))), batch_of(batch="0d" * 8, title="Autumn sentences")
"""A batch that lists nobody's code, so that events name people by tags, and one that lists them."""


@pytest.fixture
def laptop(tmp_path: Path) -> Laptop:
    return Laptop.open(tmp_path / "home")


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    return tmp_path / "stick"


def opening_of(laptop: Laptop, stick: Path, **options: object) -> Opening:
    return Opening(laptop, mounted=lambda: [stick], **options)  # type: ignore[arg-type]


def begun(opening: Opening, code: str = CODE) -> Session:
    batch = opening.open(opening.choices()[0])
    opening.accept(batch)
    return opening.session(batch, opening.reviewer(batch, code), Face.LINES, guard=0)


def titles(opening: Opening) -> list[str]:
    return [each.title for each in opening.choices()]


def rate_all(session: Session) -> None:
    session.agree(share_corrections=False)
    while session.view.phase is Phase.ITEMS:
        item = item_of(session.view)
        session.painted(item.id)
        session.rate(item.id, Rating.GIST)


def test_file_on_a_stick_is_found_and_then_kept_here(laptop: Laptop, stick: Path) -> None:
    file = write_file(batch_of(), stick / "deep" / "er")
    opening = opening_of(laptop, stick)
    (found,) = opening.choices()
    assert (found.title, found.path, found.batch) == ("Spring sentences", file, None)
    assert where(Words.load("en"), found) == f"Language Council · new, on {file.parent}"
    damaged = replace(found, organisation="")  # nothing of it can be read before it is opened
    assert where(Words.load("en"), damaged) == f"new, on {file.parent}"
    batch = opening.open(found)
    assert laptop.batches() == ()  # nothing is kept before a session begins
    assert not opening.is_known(batch)
    begun(opening)
    assert opening_of(laptop, stick).is_known(batch)  # asked about once
    (here,) = opening_of(laptop, stick).choices()
    assert (here.title, here.organisation, here.path) == ("Spring sentences", "Language Council", None)
    file.unlink()
    assert opening_of(laptop, stick).open(here) == batch_of()


def test_named_file_is_the_only_choice_though_taken_before(laptop: Laptop, stick: Path) -> None:
    file = write_file(batch_of(), stick)
    begun(opening_of(laptop, stick))
    opening = opening_of(laptop, stick, places=[file])
    (choice,) = opening.choices()
    assert opening.is_named(choice)
    assert where(opening.words, choice) == "Language Council · 0 of 4 done"
    begun(opening)
    assert len(laptop.batches()) == 1
    named = write_file(batch_of(batch="cd" * 8, title="Named"), stick.parent / "mail")
    opening = opening_of(laptop, stick, places=[named])
    begun(opening)  # after which everything else is offered too, the last received first
    write_file(batch_of(batch="ef" * 8, title="On the stick"), stick)
    assert titles(opening) == ["On the stick", "Named", "Spring sentences"]
    assert not any(map(opening.is_named, opening.choices()))
    other = stick.parent / "other"  # a named folder is searched instead of the sticks
    write_file(batch_of(batch="0c" * 8, title="Summer"), other, "file-17")
    assert titles(opening_of(laptop, stick, places=[other]))[0] == "Summer"
    assert "On the stick" not in titles(opening_of(laptop, stick, places=[other]))


def test_code_is_forgiving_checked_and_remembered(laptop: Laptop, stick: Path) -> None:
    opening, batch = opening_of(laptop, stick), batch_of()
    assert opening.remembered(batch) is None
    assert opening.reviewer(batch, f" {CODE[:4].lower()}-{CODE[4:]} ") == CODE
    assert opening_of(laptop, stick).remembered(batch) == CODE[:2]
    refuses(OtherReviewerError, "", opening.reviewer, batch, STRANGER)
    refuses(CodeError, "", opening.reviewer, batch, CODE[:-1])
    assert opening.remembered(batch) == CODE[:2]
    opening.reviewer(batch, OTHER_CODE)
    assert opening.remembered(batch) == OTHER_CODE[:2]
    opening.forget_reviewer()  # the one that was typed; the one before stays
    assert opening.remembered(batch) == CODE[:2]


def test_batch_sealed_for_this_laptop_opens_and_stays_sealed(laptop: Laptop, stick: Path) -> None:
    identity = Identity.load(laptop.path.parent, Role.LAPTOP)
    stick.mkdir()
    sealed = write_batch(batch_of(secret=True), recipients=[identity.public.recipient])
    (stick / "s.rosetta-batch").write_bytes(sealed)
    begun(opening_of(laptop, stick))
    assert laptop.batch("ba" * 8).members == sealed
    assert b"Candidate" not in laptop.path.read_bytes()
    opening = opening_of(laptop, stick)
    assert opening.open(opening.choices()[0]).items


def test_batch_with_a_passphrase_asks_for_it_each_time(laptop: Laptop, stick: Path) -> None:
    stick.mkdir()
    sealed = write_batch(batch_of(secret=True), passphrase=SECRET_WORDS)
    (stick / "s.rosetta-batch").write_bytes(sealed)
    opening = opening_of(laptop, stick)
    (choice,) = opening.choices()
    for typed, problem in ((None, FileProblem.LOCKED), (draw_words(3), FileProblem.WRONG_KEY)):
        caught = refuses(FileError, "", opening.open, choice, typed)
        assert caught.problem is problem
    batch = opening.open(choice, SECRET_WORDS)
    opening.session(batch, CODE, Face.LINES)
    (here,) = opening_of(laptop, stick).choices()
    refuses(FileError, "", opening.open, here)
    assert opening.open(here, SECRET_WORDS).items == batch.items


def test_language_is_the_chosen_one(laptop: Laptop, stick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_ratings_go_back_where_the_batch_came_from(laptop: Laptop, stick: Path) -> None:
    file = write_file(batch_of(), stick / "review")
    opening = opening_of(laptop, stick)
    batch = opening.open(opening.choices()[0])
    assert opening.hand_over_places(batch) == [file.parent]  # a stick is offered once
    session = begun(opening)
    later = opening_of(laptop, stick)
    batch = later.open(later.choices()[0])
    assert later.hand_over_places(batch) == [stick]
    session.agree(share_corrections=False)
    exported = session.export(stick)
    assert (exported.path.parent, len(exported.phrase.split())) == (stick, 6)
    assert [event.kind for event in laptop.events()] == ["consent", "export"]
    assert session.view.phase is Phase.ITEMS


@pytest.mark.parametrize("locked", [False, True], ids=["open", "locked"])
def test_copies_of_a_review_are_one_entry(laptop: Laptop, stick: Path, locked: bool) -> None:
    secret = SECRET_WORDS if locked else None
    data = write_batch(batch_of(secret=locked), passphrase=secret)
    downloads = stick.parent / "Downloads"
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
    batch = opening.open(first, secret)
    session = opening.session(batch, opening.reviewer(batch, CODE), Face.LINES, guard=0.0)
    session.agree(share_corrections=False)
    session.painted(item_id(1))
    session.rate(item_id(1), Rating.GIST)
    (downloads / "copied later.rosetta-batch").write_bytes(data)
    again = opening_of(laptop, stick, places=both).choices()
    assert [(each.path is None, each.done) for each in again] == [(False, None), (True, 1)]


def test_damaged_copy_hides_none(laptop: Laptop, stick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_file(batch_of(), stick)
    monkeypatch.chdir(stick)
    (choice,) = opening_of(laptop, stick, places=[Path(file.name)]).choices()
    assert where(Words.load("en"), choice) == f"Language Council · new, on {stick}"
    (stick / "a damaged copy.rosetta-batch").write_bytes(file.read_bytes()[:-40])
    assert sorted(titles(opening_of(laptop, stick))) == ["Spring sentences", "a damaged copy"]


def test_who_types_a_code_finds_their_sentences_by_tag(laptop: Laptop, stick: Path) -> None:
    write_file(NEW, stick)
    opening = opening_of(laptop, stick)
    batch = opening.open(opening.choices()[0])
    refuses(OtherReviewerError, "", opening.reviewer, batch, STRANGER)
    person, other = opening.reviewer(batch, CODE.lower()), NEW.person(OTHER_CODE)
    assert person == NEW.person(CODE)
    assert other is not None
    assert batch.manifest.order(person) == batch.manifest.order(other)[::-1]
    opening.session(batch, person, Face.LINES, guard=0)
    opening.forget_reviewer()  # who did not agree is forgotten
    assert opening.remembered(batch) is None
    assert laptop.path.name == FILE_NAME
    content = laptop.path.read_bytes()
    assert not [each for each in (CODE, person) if each.encode() in content]
    session = opening.session(batch, opening.reviewer(batch, CODE), Face.LINES, guard=0)
    rate_all(session)
    assert {getattr(e.payload, "reviewer", person) for e in laptop.events()} == {person}
    assert (opening.remembered(batch), opening.answered(batch), opening.asked(batch)) == (CODE[:2], 4, 4)
    [again] = Opening(laptop, mounted=list).choices()
    assert (again.done, again.total) == (4, 4)
    lines = b"".join(open_ratings(session.export(stick).path.read_bytes(), CUSTODIANS).lines)
    assert (CODE.encode() in lines, person.encode() in lines) == (False, True)
    rate_all(begun(opening, OTHER_CODE))
    content = laptop.path.read_bytes()
    assert not [code for code in (CODE, OTHER_CODE) if code.encode() in content]
    assert laptop.setting("reviewer") == OTHER_CODE[:2]  # it goes on by how the last one begins
    later = Opening(laptop, mounted=list)
    assert (later.remembered(batch), later.reviewer(batch, "1")) == (OTHER_CODE[:2], other)


def test_batches_of_both_kinds_lie_on_one_laptop(laptop: Laptop, stick: Path) -> None:
    rate_all(begun(opening_of(laptop, stick, places=[write_file(OLD, stick / "old")])))
    opening = opening_of(laptop, stick, places=[write_file(NEW, stick / "new")])
    new = opening.open(opening.choices()[0])
    assert opening.remembered(new) is None  # the code typed for the other review is no tag here
    rate_all(begun(opening, OTHER_CODE))
    assert opening.remembered(new) == OTHER_CODE[:2]
    there = [(each.title, each.done) for each in Opening(laptop, mounted=list).choices()]
    assert there == [("Spring sentences", 4), ("Autumn sentences", None)]
    people = {OLD.manifest.batch: CODE, NEW.manifest.batch: NEW.person(OTHER_CODE)}
    assert (kept(laptop).reviewers, len(hand_over_all(laptop, stick))) == (people, 2)
    assert kept(laptop).waiting == 0


SECRET = "river stone cloud ember"
ON: dict[type[FlowStep[Any]], object] = {
    AskSecret: SECRET, AskWhoAsks: True, CheckLetters: True, AskCode: CODE, AskConsent: True,
    AskSharing: False, AskRelation: Relation.NEITHER,
}  # fmt: skip
"""Step → the answer that leads on."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_file(batch_of(items_of(2)), tmp_path / "stick")


FlowOf = Callable[..., Flow]


@pytest.fixture
def flow_of(tmp_path: Path, file: Path) -> FlowOf:
    laptop = Laptop.open(tmp_path / "home", busy_seconds=0.05)

    def make(*named: Path, strict: bool = False) -> Flow:
        opening = Opening(laptop, places=named or None, mounted=lambda: [file.parent])
        return Flow(opening, Face.LINES, guard=0.0, strict=strict)

    return make


def lead(flow: Flow, step: FlowStep[Any], until: type[FlowStep[Any]]) -> FlowStep[Any]:
    seen = []
    while not isinstance(step, until):
        seen.append(type(step))
        assert len(seen) < 20, seen
        chosen = step.choices[0] if isinstance(step, ChooseReview) else ON[type(step)]
        step = flow.answer(chosen)
    return step


def at_sentences(flow: Flow) -> AtSentences:
    step = lead(flow, flow.begin(), AtSentences)
    assert isinstance(step, AtSentences)
    return step


def rate_next(session: Session) -> None:
    item = item_of(session.view)
    session.painted(item.id)
    session.rate(item.id, Rating.GIST)


def test_new_person_is_asked_everything_once(flow_of: FlowOf, file: Path) -> None:
    locked = file.with_name("Locked.rosetta-batch")
    locked.write_bytes(write_batch(batch_of(secret=True, batch="cd" * 8), passphrase=SECRET))
    flow, seen = flow_of(), []
    step = flow.open(locked)
    while not isinstance(step, AtSentences):
        seen.append(type(step))
        step = flow.answer(ON[type(step)])
    assert seen == [
        AskSecret, AskWhoAsks, CheckLetters, AskCode, AskConsent, AskRelation
    ]  # fmt: skip
    assert (flow.sits, flow.file) == (True, locked)


def test_person_who_was_here_is_only_asked_for_the_code(flow_of: FlowOf) -> None:
    flow = flow_of()
    step = at_sentences(flow)
    rate_next(step.session)
    stopped = flow.answer(NextAction.LEAVE)
    assert isinstance(stopped, ChooseReview)
    assert (stopped.stopped, flow.session, flow.sits) == (True, None, False)
    asked = lead(flow, stopped, AskCode)
    assert isinstance(asked, AskCode)
    assert asked.last is not None
    assert (asked.last.letters, asked.last.done, asked.last.total) == (CODE[:2], 1, 2)
    other = flow.answer(Other.CARD)
    assert isinstance(other, AskCode)
    assert other.last is None
    assert isinstance(flow.answer(""), AskCode), "nothing typed is nobody's answer"
    assert isinstance(flow.answer("1"), AtSentences)


@pytest.mark.parametrize("at", [kind for kind in ON if kind is not AskSharing])
def test_none_leads_back_to_the_list(flow_of: FlowOf, file: Path, at: type[FlowStep[Any]]) -> None:
    if at is AskSecret:
        file.write_bytes(write_batch(batch_of(secret=True), passphrase=SECRET))
    flow = flow_of()
    lead(flow, flow.begin(), at)
    back = flow.answer(None)
    assert isinstance(back, ChooseReview)
    assert (back.why, back.stopped, flow.session) == (None, False, None)
    laptop = flow.opening.laptop
    kinds = {type(each.payload) for each in laptop.events()}
    assert kinds <= {Consent}
    assert (at is AskRelation) == (kinds == {Consent})
    forgotten = at is not AskRelation
    assert bool(laptop.setting("reviewer")) is not forgotten
    assert ("Your code is not kept" in back.said) is (at is AskConsent)


def test_what_is_wrong_is_asked_again_with_the_reason(flow_of: FlowOf, file: Path) -> None:
    file.write_bytes(write_batch(batch_of(secret=True), passphrase=SECRET))
    flow = flow_of()
    asked = lead(flow, flow.begin(), AskSecret)
    assert asked.why is None
    again = flow.answer("not these words at all")
    assert isinstance(again, AskSecret)
    assert again.why is not None
    lead(flow, again, AskCode)
    for wrong in ("ABC", STRANGER):
        step = flow.answer(wrong)
        assert isinstance(step, AskCode)
        assert step.why is not None
    assert isinstance(flow.answer(CODE), AskConsent)


def test_file_that_does_not_open_is_told_or_raised(flow_of: FlowOf, file: Path) -> None:
    file.write_bytes(file.read_bytes()[:200])
    told = flow_of(file).begin()
    assert isinstance(told, ChooseReview)
    assert told.why is not None
    assert file.name in told.why.said
    assert [each.path for each in told.choices] == [file], "it is not opened again on its own"
    with pytest.raises(FileError):
        flow_of(file, strict=True).begin()


def test_file_from_outside_leaves_what_was_not_agreed_to(flow_of: FlowOf, file: Path) -> None:
    flow = flow_of()
    flow.begin()
    step = flow.answer(Other.FILE)
    assert isinstance(step, ChooseFile)
    assert step.sticks == (file.parent,)
    assert isinstance(flow.answer(None), ChooseReview)
    flow.answer(Other.FILE)
    lead(flow, flow.answer(file), AskConsent)
    assert flow.opening.laptop.setting("reviewer")
    other = write_file(batch_of(batch="cd" * 8, title="Winter"), file.parent)
    step = flow.open(other)
    assert (type(step), flow.session, flow.file) == (CheckLetters, None, other)
    assert not flow.opening.laptop.setting("reviewer")


@pytest.mark.parametrize(("onward", "page", "chosen"), [
    (NextAction.HELP, ShowHelp, None), (NextAction.ANSWERS, ShowAnswers, "0" * 15 + "1"),
    (NextAction.SHARING, AskSharing, True), (NextAction.WORDING, AskSharing, True),
    (NextAction.WITHDRAW, AskWithdraw, Scope.EVERYTHING), (NextAction.HAND_OVER, HandOver, NextAction.UNSAVED),
])  # fmt: skip
def test_a_page_beside_the_sentences_leads_back_to_them(
    flow_of: FlowOf, onward: NextAction, page: type[FlowStep[Any]], chosen: object
) -> None:
    flow = flow_of()
    at_sentences(flow)
    before = list(flow.opening.laptop.events())
    assert isinstance(flow.answer(onward), page)
    assert isinstance(flow.answer(None), AtSentences)
    assert list(flow.opening.laptop.events()) == before, "going back changes nothing"
    flow.answer(onward)
    assert isinstance(flow.answer(chosen), AtSentences)
    changed = list(flow.opening.laptop.events())[len(before) :]
    kinds = {NextAction.SHARING: {Consent}, NextAction.WORDING: {Consent}, NextAction.WITHDRAW: {Withdraw}}
    assert {type(each.payload) for each in changed} == kinds.get(onward, set())


def test_who_could_not_be_heard_is_asked_again(flow_of: FlowOf, monkeypatch: pytest.MonkeyPatch) -> None:
    flow = flow_of()
    session = at_sentences(flow).session
    for broken in (True, False):
        assert isinstance(flow.answer(NextAction.WORDING), AskSharing)
        with monkeypatch.context() as patch:
            if broken:
                patch.setattr(flow.opening.laptop, "record", _full)
            step = flow.answer(True)
        assert isinstance(step, AtSentences)
        assert (step.writes, session.asks_sharing, bool(step.view.trouble)) == (not broken, broken, broken)


def _full(*_: object) -> None:
    raise NotSaved(StorageProblem.DISK_FULL, Path("x"), "told by the test")


def test_end_counts_own_answers_in_the_language_of_now(flow_of: FlowOf) -> None:
    flow = flow_of()
    step = at_sentences(flow)
    while step.session.view.item is not None:
        rate_next(step.session)
    end = flow.answer(None)
    assert isinstance(end, AtSentences)
    assert end.view.phase is Phase.END
    assert [each.rating for each in end.answered] == [Rating.GIST, Rating.GIST]
    flow.opening.set_language("fr")
    again = flow.reworded()
    assert isinstance(again, AtSentences)
    assert (again.answered, again.session.words.language) == (end.answered, "fr")


@pytest.mark.parametrize("sits", [True, False], ids=["at the sentences", "before them"])
def test_fault_still_shows_place(flow_of: FlowOf, monkeypatch: pytest.MonkeyPatch, sits: bool) -> None:
    flow = flow_of()
    lead(flow, flow.begin(), AtSentences if sits else AskCode)
    owner, name = (Session, "answered") if sits else (Opening, "reviewer")
    with monkeypatch.context() as broken:
        broken.setattr(owner, name, lambda *_: 1 // 0)
        refuses(ZeroDivisionError, "", flow.answer, NextAction.ANSWERS if sits else CODE)
    after = flow.answer("anything")
    assert isinstance(after, AtSentences if sits else ChooseReview)
    assert isinstance(lead(flow, after, AtSentences), AtSentences)


CAN_BE_SAID: dict[type[FlowStep[Any]], list[object]] = {
    AskCode: [CODE, None, "", STRANGER, Other.CARD],
    AskSharing: [True, False, None],
    AskRelation: [Relation.NEITHER, None],
}
"""Step → what can be answered; the others are agreed to or not."""


@examples(12, 100)
@example([0] * 8)
@given(st.lists(st.integers(0, 9), min_size=6, max_size=20))
def test_none_rates_unagreed(tmp_path_factory: pytest.TempPathFactory, said: list[int]) -> None:
    """Whatever is answered: whoever is at the sentences said yes to who asks, to the consent, and how near they are."""
    folder = tmp_path_factory.mktemp("flow")
    file = write_file(batch_of(items_of(2)), folder / "stick")
    with closing(Laptop.open(folder / "home", busy_seconds=0.05)) as laptop:
        flow = Flow(Opening(laptop, places=[file], mounted=list), Face.LINES, guard=0.0)
        step, agreed = flow.begin(), set()
        for number in said:
            if isinstance(step, AtSentences):
                break
            given = CAN_BE_SAID.get(type(step), [True, None, False])
            answer = of_file(file) if isinstance(step, ChooseReview) else given[number % len(given)]
            agreed |= {type(step)} if answer is not None and answer is not False else set()
            step = flow.answer(answer)
        kinds = {type(each.payload) for each in laptop.events()}
        at = isinstance(step, AtSentences)
        assert at is ({Consent, Related} <= kinds)
        assert not at or {AskWhoAsks, CheckLetters, AskCode, AskConsent, AskRelation} <= agreed
