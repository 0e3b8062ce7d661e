"""How far one reviewer is in one batch, read from the events on this laptop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from review.log.event import Event
from review.log.fold import fold
from review.log.payloads import Export, NotJudged, Rate, Scope, Skip, Train, Translate, Undo
from review.log.state import ReviewerState
from review.rating import Rating
from review.session.view import TextField

Decision = Rate | NotJudged | Translate | Skip
"""What undo can take back."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What a sitting must know of everything before it."""

    state: ReviewerState
    withdrawn: bool
    """True where the person took back the whole batch: nothing can be added any more."""
    words_withdrawn: bool
    """True where the person took back comments and better wordings: no more of these are kept."""
    taken_back: Mapping[str, Decision]
    """Item → what was taken back last, while nothing was decided since."""
    reopened: str | None
    """The item whose decision was taken back last, while nothing was decided about any item since."""
    judged_last: str | None
    """The item decided last, other than left for later, since anything was taken back; None for none."""
    answers: Mapping[str, Sequence[Rating]]
    """Training item → its answers, in order."""
    decisions: Mapping[str, Decision]
    """Event id → decision, of all that were ever made."""
    handed_over: str = ""
    """When everything was handed over, by this computer's clock; empty where something came after that."""

    def written(self, item: str, field: TextField) -> str:
        """Give what this person saved about an item and did not take back; empty for nothing."""
        saved = {
            TextField.COMMENT: self.state.comments,
            TextField.SUGGESTION: self.state.suggestions,
            TextField.TRANSLATION: self.state.translations,
        }
        return saved[field].get(item, "")


def own_events(events: Iterable[Event], batch: str, reviewer: str) -> list[Event]:
    """Keep what one person did in one batch or took back in all, and when the batch was handed over."""
    return [event for event in events if _is_own(event, batch, reviewer)]


def _is_own(event: Event, batch: str, reviewer: str) -> bool:
    said = event.payload
    if isinstance(said, Export):
        return said.batch == batch
    return getattr(said, "reviewer", None) == reviewer and getattr(said, "batch", "") in {
        batch,
        None,
    }


def progress(events: Iterable[Event], batch: str, reviewer: str) -> Progress:
    """Read the events of one person (``own_events``) as the place from which the sitting goes on."""
    ordered = sorted(events, key=lambda event: event.order)
    state = fold(ordered)
    decisions = {each.id: each.payload for each in ordered if isinstance(each.payload, Decision)}
    taken_back, reopened, judged_last = _taken_back(ordered, decisions)
    scopes = state.withdrawn.get((reviewer, batch), frozenset())
    scopes |= state.withdrawn.get((reviewer, None), frozenset())
    return Progress(
        state=state.reviewers.get((batch, reviewer), ReviewerState()),
        withdrawn=bool(scopes - {Scope.COMMENTS}),
        words_withdrawn=Scope.COMMENTS in scopes,
        taken_back=taken_back,
        reopened=reopened,
        judged_last=judged_last,
        answers=_answers(ordered),
        decisions=decisions,
        handed_over=_handed_over(ordered),
    )


def _handed_over(ordered: Sequence[Event]) -> str:
    """Give when a file was written, where nothing came after it."""
    last = ordered[-1].payload if ordered else None
    if not isinstance(last, Export):
        return ""
    return datetime.fromisoformat(last.wall).astimezone().strftime("%Y-%m-%d %H:%M")


def _taken_back(
    ordered: Iterable[Event], decisions: Mapping[str, Decision]
) -> tuple[dict[str, Decision], str | None, str | None]:
    """Give what was taken back of each item, the item that is open again, and the one decided last since."""
    found: dict[str, Decision] = {}
    reopened: str | None = None
    judged: str | None = None
    for event in ordered:
        said = event.payload
        if isinstance(said, Undo) and said.target in decisions:
            reopened = decisions[said.target].item
            found[reopened] = decisions[said.target]
            judged = None
        elif isinstance(said, Decision):
            found.pop(said.item, None)
            reopened = None
            judged = judged if isinstance(said, Skip) else said.item
    return found, reopened, judged


def _answers(ordered: Iterable[Event]) -> dict[str, list[Rating]]:
    answers: dict[str, list[Rating]] = {}
    for event in ordered:
        if isinstance(event.payload, Train):
            answers.setdefault(event.payload.item, []).append(event.payload.rating)
    return answers


def trained_before(events: Iterable[Event], batch: str, reviewer: str) -> bool:
    """Tell whether a person rated anything in another batch here: the training came before that."""
    return any(
        isinstance(event.payload, Rate)
        and event.payload.reviewer == reviewer
        and event.payload.batch != batch
        for event in events
    )
