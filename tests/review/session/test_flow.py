"""Which page follows which: what leads to the sentences, what leads back, and what is left behind on the way."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.sealed.forms import FileError
from review.files.batch import write_batch
from review.log.laptop import Laptop
from review.log.payloads import Consent, Face, Related, Scope, Withdraw
from review.rating import Rating, Relation
from review.session.choice import of_file
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
from review.session.words.keys import Onward
from tests import keyring_in_memory
from tests.review.session.scenes import CODE, STRANGER, batch_of, item_of, items_of, write_file
from tests.review.thorough import examples

SECRET = "river stone cloud ember"
ON: dict[type[FlowStep[Any]], object] = {
    AskSecret: SECRET,
    AskWhoAsks: True,
    CheckLetters: True,
    AskCode: CODE,
    AskConsent: True,
    AskSharing: False,
    AskRelation: Relation.NEITHER,
}
"""Step → the answer that leads on."""


@pytest.fixture(autouse=True)
def keyring() -> Any:
    with keyring_in_memory.memory_keyring():
        yield


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
    """Answer what leads on until a step of this kind comes."""
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
        AskSecret, AskWhoAsks, CheckLetters, AskCode, AskConsent, AskSharing, AskRelation
    ]  # fmt: skip
    assert (flow.sits, flow.file) == (True, locked)


def test_person_who_was_here_is_only_asked_for_the_code(flow_of: FlowOf) -> None:
    flow = flow_of()
    step = at_sentences(flow)
    rate_next(step.session)
    stopped = flow.answer(Onward.LEAVE)
    assert isinstance(stopped, ChooseReview)
    assert (stopped.stopped, flow.session, flow.sits) == (True, None, False)
    asked = lead(flow, stopped, AskCode)
    assert isinstance(asked, AskCode)
    assert asked.last is not None
    assert (asked.last.letters, asked.last.done, asked.last.total) == (CODE[:2], 1, 2)
    other = flow.answer(Other.CARD)
    assert isinstance(other, AskCode)
    assert other.last is None
    assert isinstance(flow.answer(""), AtSentences), "nothing typed is still who was here last"


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
    assert [each.path for each in told.choices] == [file], "it is not opened again by itself"
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
    lead(flow, flow.answer(file), AskSharing)
    assert isinstance(flow.answer(None), AskConsent), "back to what one agrees to"
    assert flow.opening.laptop.setting("reviewer")
    other = write_file(batch_of(batch="cd" * 8, title="Winter"), file.parent)
    step = flow.open(other)
    assert (type(step), flow.session, flow.file) == (CheckLetters, None, other)
    assert not flow.opening.laptop.setting("reviewer")


@pytest.mark.parametrize(
    ("onward", "page", "chosen"),
    [
        (Onward.HELP, ShowHelp, None),
        (Onward.ANSWERS, ShowAnswers, "0" * 15 + "1"),
        (Onward.SHARING, AskSharing, True),
        (Onward.WITHDRAW, AskWithdraw, Scope.EVERYTHING),
        (Onward.HAND_OVER, HandOver, Onward.UNSAVED),
    ],
)
def test_a_page_beside_the_sentences_leads_back_to_them(
    flow_of: FlowOf, onward: Onward, page: type[FlowStep[Any]], chosen: object
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
    kinds = {Onward.SHARING: {Consent}, Onward.WITHDRAW: {Withdraw}}
    assert {type(each.payload) for each in changed} == kinds.get(onward, set())


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
    assert again.answered == end.answered
    assert again.session.words.language == "fr"


@pytest.mark.parametrize("sits", [True, False], ids=["at the sentences", "before them"])
def test_answer_after_fault_shows_place(
    flow_of: FlowOf, monkeypatch: pytest.MonkeyPatch, sits: bool
) -> None:
    flow = flow_of()
    lead(flow, flow.begin(), AtSentences if sits else AskCode)
    owner, name = (Session, "answered") if sits else (Opening, "reviewer")
    with monkeypatch.context() as broken:
        broken.setattr(owner, name, lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            flow.answer(Onward.ANSWERS if sits else CODE)
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
def test_nobody_rates_without_consent(
    tmp_path_factory: pytest.TempPathFactory, said: list[int]
) -> None:
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
