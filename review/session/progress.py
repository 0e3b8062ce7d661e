"""How far one reviewer is in one batch, read from the events on this laptop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from operator import attrgetter

from review.log.event import Event
from review.log.fold import Person
from review.log.payloads import (
    Comment,
    Export,
    Kind,
    NotJudged,
    Rate,
    Scope,
    Skip,
    Suggest,
    Train,
    Translate,
    Undo,
)
from review.log.withdrawal import covered, withdrawals
from review.rating import Rating
from review.session.view import TextField

Decision = Rate | NotJudged | Translate | Skip
"""What undo can take back."""


class SittingProgress:
    """What a sitting must know of everything before it; ``add`` folds in what is new, and nothing else."""

    def __init__(
        self, events: Sequence[Event], batch: str, reviewer: str, order: Sequence[str]
    ) -> None:
        """``events`` are those of one person (``own_events``), in any order; ``order`` are this person's items."""
        self._order = order
        self._places = {item: place for place, item in enumerate(order)}
        self._front = 0
        """Items before this place of the order were all decided or skipped."""
        self.person = Person()
        self.withdrawn = False
        """True where the person took back the whole batch: nothing can be added any more."""
        self.words_withdrawn = False
        """True where the person took back comments and better wordings: no more of these are kept."""
        self.taken_back: dict[str, Decision] = {}
        """Item → what was taken back last, while nothing was decided since."""
        self.reopened: str | None = None
        """The item whose decision was taken back last, while nothing was decided about any item since."""
        self.judged_last: str | None = None
        """The item decided last, other than left for later, since anything was taken back; None for none."""
        self.answers: dict[str, list[Rating]] = {}
        """Training item → its answers, in order."""
        self.decisions: dict[str, Decision] = {}
        """Event id → decision, of all that were ever made."""
        self._handed_over: str | None = None
        """Time of the file that holds everything; None where something came after it."""
        self._texts: dict[tuple[str, Kind], list[Event]] = defaultdict(list)
        """Item and kind of text → what was saved, one after the other."""
        self._read(events, batch, reviewer)

    def _read(self, events: Sequence[Event], batch: str, reviewer: str) -> None:
        withdrawn = withdrawals(events)
        scopes = withdrawn.get((reviewer, batch), frozenset())
        scopes |= withdrawn.get((reviewer, None), frozenset())
        self.withdrawn = bool(scopes - {Scope.COMMENTS})
        self.words_withdrawn = Scope.COMMENTS in scopes
        for event in sorted(events, key=attrgetter("order")):
            self.add(event.erased() if covered(event, withdrawn) else event)

    def add(self, event: Event) -> None:
        """Fold in the newest event; after a withdrawal, everything that is left is to be read again."""
        if isinstance(event.payload, Decision) and event.payload.item not in self._places:
            event = event.erased()
        self.person.add(event)
        payload = event.payload
        self._handed_over = payload.wall if isinstance(payload, Export) else None
        match payload:
            case Undo():
                self._taken_back(payload.target)
            case Rate() | NotJudged() | Translate() | Skip():
                self._decided(event.id, payload)
            case Train():
                self.answers.setdefault(payload.item, []).append(payload.rating)
            case Comment() | Suggest():
                self._texts[payload.item, payload.kind].append(event)
            case _:
                pass

    @property
    def handed_over(self) -> str:
        """When everything was submitted, by this computer's clock; empty where something came after that."""
        if self._handed_over is None:
            return ""
        return datetime.fromisoformat(self._handed_over).astimezone().strftime("%Y-%m-%d %H:%M")

    def written(self, item: str, field: TextField) -> str:
        """Return what this person saved about an item and did not take back; empty for nothing."""
        if field is TextField.TRANSLATION:
            return self.person.translation(item) or ""
        saved = self.person.comments if field is TextField.COMMENT else self.person.suggestions
        return saved.get(item, "")

    def replaced(self, item: str, texts: Collection[str]) -> list[tuple[Comment | Suggest, str]]:
        """Return what was saved of an item by these events, each with the text that it took the place of.

        A text that was changed since is left out.
        """
        replaced_payloads = []
        for kind in (Kind.COMMENT, Kind.SUGGEST):
            saved = self._texts.get((item, kind), [])
            last = saved[-1] if saved else None
            if last and last.id in texts and isinstance(last.payload, Comment | Suggest):
                before = saved[-2].payload if len(saved) > 1 else None
                text = before.text if isinstance(before, Comment | Suggest) else ""
                replaced_payloads.append((last.payload, text))
        return replaced_payloads

    @property
    def last_act(self) -> str | None:
        """Event of the decision or skip that undo takes back next; None for none."""
        return next(reversed(self.person.acts), None)

    def number(self, item: str) -> int:
        """Return the 1-based place of an item in the person's order, 0 for one that is not theirs."""
        return self._places.get(item, -1) + 1

    def first_unseen(self) -> str | None:
        """Return the first item in the person's order that was neither decided nor skipped; None for none."""
        while self._front < len(self._order) and self._is_seen(self._order[self._front]):
            self._front += 1
        return self._order[self._front] if self._front < len(self._order) else None

    def _is_seen(self, item: str) -> bool:
        return item in self.person.decided or item in self.person.skipped

    def _decided(self, event: str, said: Decision) -> None:
        self.decisions[event] = said
        self.taken_back.pop(said.item, None)
        self.reopened = None
        self.judged_last = self.judged_last if isinstance(said, Skip) else said.item

    def _taken_back(self, target: str) -> None:
        if target in self.decisions:
            self.reopened = self.decisions[target].item
            self._front = min(self._front, self._places[self.reopened])
            self.taken_back[self.reopened] = self.decisions[target]
            self.judged_last = None


def own_events(events: Iterable[Event], batch: str, reviewer: str) -> list[Event]:
    """Select what one person did in one batch or took back in all, and when the batch was submitted."""
    return [event for event in events if _is_own(event, batch, reviewer)]


def _is_own(event: Event, batch: str, reviewer: str) -> bool:
    payload = event.payload
    if isinstance(payload, Export):
        return payload.batch == batch
    return getattr(payload, "reviewer", None) == reviewer and getattr(payload, "batch", "") in {
        batch,
        None,
    }


def trained_before(events: Iterable[Event], batch: str, reviewer: str) -> bool:
    """Return whether a person rated anything in another batch here: the training came before that."""
    return any(
        isinstance(event.payload, Rate)
        and event.payload.reviewer == reviewer
        and event.payload.batch != batch
        for event in events
    )
