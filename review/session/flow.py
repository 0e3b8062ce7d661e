"""Which page follows which, from the list of reviews to the last sentence: told once, for every face.

A face shows the step at which the flow is and passes on what the person answered; the flow does what follows from
it, on the disk and in the session, and gives the next step. On every step None is the way back.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from enum import Enum, auto
from pathlib import Path
from typing import Any, Generic, TypeVar

from harness.core.failures import HarnessError
from harness.sealed.stick import StickError
from harness.sealed.strict_records import FileError, FileProblem
from review.files.batch import Batch
from review.log.payloads import Face, Scope
from review.rating import Relation
from review.session import choice as opening_words
from review.session.choice import Choice, of_file
from review.session.opening import Opening
from review.session.position import GUARD_SECONDS
from review.session.session import Session
from review.session.view import Phase, ShownItem, View
from review.session.words.keys import NextAction
from review.session.words.troubles import Trouble, trouble, trouble_of_view

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class FlowStep(Generic[Answer]):
    """What a page shows and asks; ``Answer`` is what a person can give to it beside None."""

    _: KW_ONLY
    # What went wrong with the answer before: the step is asked again, or the way led back to it
    why: Trouble | None = None


class Other(Enum):
    """Nothing of what is offered."""

    FILE = auto()  # A review that the person looks for among files
    CARD = auto()  # The card of somebody else than who was here last


@dataclass(frozen=True, slots=True)
class ChooseReview(FlowStep[Choice | Other]):
    choices: tuple[Choice, ...] = ()
    said: str = ""  # One sentence about what led here
    # True where a person stopped who was at the sentences: a program for one review ends here
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class ChooseFile(FlowStep[Path]):
    sticks: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class AskSecret(FlowStep[str]):
    """Which words open the file."""


@dataclass(frozen=True, slots=True)
class AskWhoAsks(FlowStep[bool]):
    """Whether the six words of an organisation that was never met are those of the card."""

    batch: Batch


@dataclass(frozen=True, slots=True)
class CheckLetters(FlowStep[bool]):
    """Whether this face can show the sentences; where it can it answers True and shows nothing."""

    batch: Batch


@dataclass(frozen=True, slots=True)
class WasHere:
    """The person who answered sentences of a review here last."""

    letters: str  # How their code begins
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class AskCode(FlowStep[str | Other]):
    """Whose card it is; an empty answer is the person who was here last."""

    batch: Batch
    last: WasHere | None


@dataclass(frozen=True, slots=True)
class AskConsent(FlowStep[bool]):
    """Whether the person agrees."""

    session: Session


@dataclass(frozen=True, slots=True)
class AskSharing(FlowStep[bool]):
    """Whether what the person writes may be used."""

    session: Session
    # What holds until something else is chosen; None where it was not asked yet
    now: bool | None = None


@dataclass(frozen=True, slots=True)
class AskRelation(FlowStep[Relation]):
    """How near the person is to the method."""

    session: Session


@dataclass(frozen=True, slots=True)
class AtSentences(FlowStep[NextAction]):
    """Where the person is: at a sentence, or between two; answers are given to the session itself.

    None shows where the person is now, as after an answer that leads to another page.
    """

    session: Session
    view: View
    answered: tuple[ShownItem, ...] = ()  # The person's own answers, at the end
    writes: bool = False  # True where the person writes a better translation next


@dataclass(frozen=True, slots=True)
class HandOver(FlowStep[NextAction]):
    """Where to write the answers; UNSAVED looks first at what is only a draft."""

    session: Session
    batch: Batch


@dataclass(frozen=True, slots=True)
class AskWithdraw(FlowStep[Scope]):
    """How much is taken back."""

    session: Session


@dataclass(frozen=True, slots=True)
class ShowHelp(FlowStep[None]):
    """How to judge, and what keys mean."""

    session: Session


@dataclass(frozen=True, slots=True)
class ShowAnswers(FlowStep[str]):
    """The person's own answers; the answer is the item to look at again."""

    session: Session
    answered: tuple[ShownItem, ...]


def _ask(step: FlowStep[Answer]) -> Generator[FlowStep[Any], Any, Answer | None]:
    given: Answer | None = yield step
    return given


_Steps = Generator[FlowStep[Any], Any, Answer]


class Flow:
    """One for the whole run of a program; one sitting after the other.

    ``begin``, ``open``, ``answer`` and ``end`` wait for a disk: a face with a screen calls them away from it.
    """

    def __init__(self, opening: Opening, face: Face, *, guard: float = GUARD_SECONDS, strict: bool = False) -> None:
        self.opening = opening
        self.session: Session | None = None  # From the code of the person to the end of the sitting
        self.sits = False  # True from the first sentence to the end of the sitting
        self.file: Path | None = None  # The file that was opened last
        self._face, self._guard, self._strict = face, guard, strict
        self._batch: Batch | None = None
        # True until a list of reviews was made: one that was named at the start needs no choosing
        self._first = True
        self._step: FlowStep[Any] = ChooseReview()
        self._steps: _Steps[None] = self._visits(None, None)

    def begin(self, why: Trouble | None = None) -> FlowStep[Any]:
        """Show the reviews, or open the one that was named; ``why`` is what went wrong before."""
        return self._start(self._visits(why, None))

    def open(self, path: Path) -> FlowStep[Any]:
        """Open a file; what was begun before its first sentence is left."""
        return self._start(self._visits(None, of_file(path)))

    def answer(self, given: object) -> FlowStep[Any]:
        """Advance by an answer to the step; None goes back.

        After an error, which nobody foresaw, the step stays as it is; whatever is answered then shows where the
        person is.
        """
        return self._led(lambda: self._steps.send(given))

    def reworded(self) -> FlowStep[Any]:
        """Return the step in the language that the person chose."""
        if self.session is not None:
            self.session.words = self.opening.words
        if isinstance(self._step, AtSentences):
            self._step = _at(self._step.session)
        return self._step

    def end(self) -> None:
        session, self.session, self.sits = self.session, None, False
        if session is not None:
            agreed = session.view.phase is not Phase.CONSENT
            session.close()
            if not agreed:
                self.opening.forget_reviewer()

    def _start(self, steps: _Steps[None]) -> FlowStep[Any]:
        def start() -> FlowStep[Any]:
            self.end()
            self._steps = steps
            return next(steps)

        return self._led(start)

    def _led(self, lead: Callable[[], FlowStep[Any]]) -> FlowStep[Any]:
        try:
            self._step = lead()
        except Exception:
            self._steps = self._recovered(self._step)
            next(self._steps)
            raise
        return self._step

    def _recovered(self, step: FlowStep[Any]) -> _Steps[None]:
        yield step
        if self.sits and self.session is not None and self._batch is not None:
            yield from self._sit(self.session, self._batch)
        self.end()
        yield from self._visits(None, None)

    # which review

    def _visits(self, why: Trouble | None, choice: Choice | None) -> _Steps[None]:
        """Lead from the list to a review and back, as many times as the person likes; ``choice`` is chosen already."""
        message, stopped = "", False
        while True:
            if choice is None:
                choice = yield from self._choose(ChooseReview(why=why, said=message, stopped=stopped))
            message, stopped, why = "", False, None
            try:
                message = yield from self._visit(choice)
                stopped = self.sits
                self.end()
            except HarnessError as error:
                self.end()
                if self._strict and self.opening.is_named(choice):
                    raise
                why = opening_words.why_not_open(self.opening.words, choice, error)
            choice = None

    def _choose(self, led: ChooseReview) -> _Steps[Choice]:
        """Yield the choice of a review until one is chosen; the only one that was named at the start is."""
        while True:
            step = self._listed(led)
            first, self._first = self._first, False
            alone = step.choices[0] if len(step.choices) == 1 else None
            if first and alone is not None and self.opening.is_named(alone):
                return alone
            chosen = yield from _ask(step)
            if isinstance(chosen, Choice):
                return chosen
            if chosen is Other.FILE:
                file = yield from _ask(ChooseFile(tuple(self.opening.sticks())))
                if file is not None:
                    return of_file(file)
            led = ChooseReview()

    def _listed(self, led: ChooseReview) -> ChooseReview:
        """Find sticks, files and stored reviews."""
        message = led.said or self.opening.not_here()
        try:
            choices = tuple(self.opening.choices())
            others = 0 if choices else sum(len(skipped_files.names) for skipped_files in self.opening.skipped)
            message = message or opening_words.other_files(self.opening.words, others)
            return replace(led, choices=choices, said=message)
        except HarnessError as error:
            return replace(led, why=trouble(self.opening.words, error), said=message)

    def _visit(self, choice: Choice) -> _Steps[str]:
        """Lead through one review until the person stops or goes back; return what the next list says of that."""
        batch = yield from self._open(choice)
        if batch is None or not (yield from self._trusts(batch)):
            return ""
        if not (yield from _ask(CheckLetters(batch))):
            return ""
        person = yield from self._person(batch)
        if person is None:
            return ""
        session = self.opening.session(batch, person, self._face, guard=self._guard)
        self.session, self._batch = session, batch
        if not (yield from self._agrees(session)):
            return session.words(opening_words.NOTHING_BEGUN)
        if not (yield from self._relates(session)):
            return ""
        self.sits = True
        yield from self._sit(session, batch)
        return self.opening.words("Everything is kept. You may close the program.")

    def _open(self, choice: Choice) -> _Steps[Batch | None]:
        """Open a review; one that is locked asks for the words of the card until they are right."""
        self.file = None if choice.path is None else choice.path.absolute()
        secret = why = None
        while True:
            try:
                return self.opening.open(choice, secret)
            except (FileError, StickError) as error:
                if secret is not None:
                    why = trouble(self.opening.words, error)
                elif not (isinstance(error, FileError) and error.problem is FileProblem.LOCKED):
                    raise
            secret = yield from _ask(AskSecret(why=why))
            if secret is None:
                return None

    # who asks, and who answers

    def _trusts(self, batch: Batch) -> _Steps[bool]:
        if self.opening.is_known(batch):
            return True
        if not (yield from _ask(AskWhoAsks(batch))):
            return False
        self.opening.accept(batch)
        return True

    def _person(self, batch: Batch) -> _Steps[str | None]:
        """Yield the question for the code until it is a right one."""
        opening, why = self.opening, None
        last = None
        if letters := opening.remembered(batch):
            last = WasHere(letters, opening.answered(batch), opening.asked(batch))
        while (typed := (yield from _ask(AskCode(batch, last, why=why)))) is not None:
            why = None
            if isinstance(typed, Other):
                last = None
                continue
            try:
                return opening.reviewer(batch, typed)
            except HarnessError as error:
                why = trouble(opening.words, error)
        return None

    def _agrees(self, session: Session) -> _Steps[bool]:
        """Yield the question of consent; who translates is asked at once whether translations may be used."""
        why = None
        while session.view.phase is Phase.CONSENT:
            if not (yield from _ask(AskConsent(session, why=why))):
                return False
            shares = (yield from _ask(AskSharing(session))) if session.translating else False
            why = None if shares is None else trouble_of_view(session.agree(share_corrections=shares))
        return True

    def _relates(self, session: Session) -> _Steps[bool]:
        why = None
        while session.asks_relation:
            relation = yield from _ask(AskRelation(session, why=why))
            if relation is None:
                return False
            why = trouble_of_view(session.relate(relation))
        return True

    # the sentences

    def _sit(self, session: Session, batch: Batch) -> _Steps[None]:
        """Lead from page to page until the person stops; everything they gave is on the disk at each step."""
        acts: Mapping[NextAction, Callable[[], View]] = {
            NextAction.GO_ON: session.go_on,
            NextAction.UNDO: session.undo,
            NextAction.UNSAVED: session.go_to_unsaved,
        }
        writes = False
        while (onward := (yield from _ask(_at(session, writes=writes)))) is not NextAction.LEAVE:
            writes = False
            if onward is NextAction.HAND_OVER:
                onward = yield from _ask(HandOver(session, batch))
            if onward is None:
                continue
            if onward in acts:
                acts[onward]()
            else:
                step, choose = _aside(session, onward)
                if (chosen := (yield from _ask(step))) is not None:
                    choose(chosen)
                    writes = onward is NextAction.WORDING and not session.asks_sharing


def _aside(session: Session, onward: NextAction) -> tuple[FlowStep[Any], Callable[[Any], View]]:
    """Return a page that leads back, and what is done with what is chosen on it."""
    match onward:
        case NextAction.ANSWERS:
            return ShowAnswers(session, session.answered()), session.go_to
        case NextAction.SHARING:
            return AskSharing(session, session.view.shares), session.share
        case NextAction.WORDING:
            return AskSharing(session), session.share
        case NextAction.WITHDRAW:
            return AskWithdraw(session), session.withdraw
        case _:
            return ShowHelp(session), lambda _: session.view


def _at(session: Session, *, writes: bool = False) -> AtSentences:
    view = session.view
    ended = view.item is None and view.phase is Phase.END
    return AtSentences(session, view, session.answered() if ended else (), writes and not ended)
