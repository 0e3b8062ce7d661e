"""What one reviewer's sitting keeps on the laptop: events, drafts, and what both add up to; only what is new is folded in."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, TypedDict

from corpora.text.visible import plain
from harness.core.storage import storable
from harness.core.version import VERSION
from review.log.event import Event
from review.log.laptop import Draft, Laptop
from review.log.payloads import (
    MOST_TEXT,
    AnyPayload,
    Comment,
    Consent,
    Face,
    Kind,
    Reasons,
    SittingBegan,
    Skip,
    Suggest,
    Withdraw,
)
from review.session.view import SittingProgress, TextField, own_events

# ---- What one reviewer is typing in one batch: kept at each pause, so that no crash loses it.
#
# What the disk does not take is held in memory and tried again with everything that is written
# after it.
#
# What a person typed or pasted, in the form in which it is kept; the same for every face.


def harmless(text: str) -> str:
    kept = (
        character
        if character == "\n" or plain(character) == character
        else (" " if character == "\t" or unicodedata.category(character) == "Zs" else "")
        for character in text.replace("\r\n", "\n")
    )
    return "".join(kept)


def as_kept(text: str) -> str:
    """Compose the letters, so that the same word is the same text, and take the blanks around it away."""
    return unicodedata.normalize("NFC", text).strip()


_FIELDS = {text_field.value: text_field for text_field in TextField}


class Drafts:
    """What is typed and not saved, as the person sees it: on the disk, or only here while the disk refuses it."""

    def __init__(self, laptop: Laptop, batch: str, reviewer: str) -> None:
        """Raises NotSaved where the laptop's file cannot be read."""
        self._laptop, self._place = laptop, (batch, reviewer)
        self._texts: dict[str, dict[TextField, str]] = {}
        self._not_kept: dict[tuple[str, TextField], Draft] = {}  # What the disk did not take yet
        self.reload()

    def reload(self) -> None:
        """Read what is on the disk: something was erased there."""
        self._texts, self._not_kept = {}, {}
        for draft in self._laptop.drafts(*self._place):
            if draft.text is not None and draft.field in _FIELDS:
                self._texts.setdefault(draft.item, {})[_FIELDS[draft.field]] = draft.text

    def of(self, item: str) -> dict[TextField, str]:
        return self._texts.get(item, {})

    def items(self) -> dict[str, frozenset[TextField]]:
        """Return the items about which something is typed and not saved; an emptied translation is nothing."""
        named = {}
        for item, texts in self._texts.items():
            empty = {TextField.TRANSLATION} if not texts.get(TextField.TRANSLATION, "").strip() else set()
            if fields := frozenset(texts.keys() - empty):
                named[item] = fields
        return named

    def keep(self, item: str, field: TextField, text: str, saved: str = "") -> None:
        """Store what is being typed, as much of it as an event could hold; nothing where it is saved as it is.

        Raises NotSaved where the disk does not take it; it is held all the same.
        """
        text = storable(text)
        self._hold(Draft(item, field.value, None if text.strip() == saved else text[:MOST_TEXT]))
        self.keep_held()

    def keep_held(self) -> None:
        """Write what the disk did not take yet; raises NotSaved where it still does not."""
        if self._not_kept:
            self._laptop.save_drafts(*self._place, self._not_kept.values())
            self._not_kept = {}

    def with_held(self, changes: Iterable[Draft]) -> list[Draft]:
        """Return changes together with what the disk did not take yet, for one transaction."""
        changed = {(change.item, _FIELDS[change.field]): change for change in changes}
        return list((self._not_kept | changed).values())

    def changed(self, changes: Iterable[Draft]) -> None:
        """Apply what a transaction wrote, with everything that was held."""
        for change in changes:
            self._hold(change)
        self._not_kept = {}

    def _hold(self, draft: Draft) -> None:
        field, texts = _FIELDS[draft.field], self._texts.setdefault(draft.item, {})
        known = texts.pop(field, None)
        if draft.text is not None:
            texts[field] = draft.text
        if not texts:
            del self._texts[draft.item]
        if draft.text != known:
            self._not_kept[draft.item, field] = draft


class AuthorFields(TypedDict):
    """The fields that every event of a person has."""

    wall: str
    reviewer: str
    batch: str


class ItemFields(AuthorFields):
    """The fields of an event about an item."""

    item: str


class DecisionFields(ItemFields):
    """The fields of an event that decides about an item."""

    position: int
    active_ms: int
    face: Face
    font: str | None
    version: str
    override: bool


class Author:
    """One reviewer in one batch at one face."""

    def __init__(
        self, batch: str, reviewer: str, order: tuple[str, ...], face: Face, now: Callable[[], datetime]
    ) -> None:
        """``order`` is this person's; ``now`` gives an aware time."""
        self.reviewer = reviewer
        self._batch, self._order, self._face, self._now = batch, order, face, now
        self._places = {item: place for place, item in enumerate(order)}

    def wall(self) -> str:
        """Return the time as events write it: UTC, whole seconds."""
        return self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def who(self) -> AuthorFields:
        return {"wall": self.wall(), "reviewer": self.reviewer, "batch": self._batch}

    def about(self, item: str) -> ItemFields:
        return {**self.who(), "item": item}

    def decided(self, item: str, *, active_ms: int, font: str | None, override: bool) -> DecisionFields:
        return {
            **self.about(item),
            "position": self._places[item],
            "active_ms": active_ms,
            "face": self._face,
            "font": font,
            "version": VERSION,
            "override": override,
        }

    def agreed(self, text: str, language: str, *, shares: bool, text_language: str | None) -> Consent:
        """Return the event that says yes to a consent text, and whether what is written may be used.

        ``language`` is the program's, ``text_language`` that of the text; None where the batch has one text.
        """
        shown = {} if text_language is None else {"text_language": text_language}
        return Consent(
            **self.who(),
            consent_sha256=hashlib.sha256(text.encode()).hexdigest(),
            language=language,
            share_corrections=shares,
            **shown,
        )

    def began(self, language: str) -> SittingBegan:
        return SittingBegan(
            **self.who(),
            order_sha256=hashlib.sha256("\n".join(self._order).encode()).hexdigest(),
            face=self._face,
            version=VERSION,
            language=language,
        )


# What is written beside an answer → its kind of event
KIND_OF: Final[Mapping[TextField, type[Comment | Suggest]]] = {
    TextField.COMMENT: Comment,
    TextField.SUGGESTION: Suggest,
}
_FIELD_OF: Final = {Kind.COMMENT: TextField.COMMENT, Kind.SUGGEST: TextField.SUGGESTION}


class Record:
    """One person's part of one batch on this laptop."""

    def __init__(
        self, laptop: Laptop, batch: str, author: Author, order: Sequence[str], events: Iterable[Event]
    ) -> None:
        """``events`` are all of the laptop; raises NotSaved where its drafts cannot be read, StoreError where no key opens them."""
        self._laptop, self._batch, self._author, self._order = laptop, batch, author, order
        self._began = False
        self.drafts = Drafts(laptop, batch, author.reviewer)
        self.progress = self._read(events)

    def keep(self, payloads: Sequence[AnyPayload], drafts: Sequence[Draft] = (), *, language: str) -> None:
        """Make events and changes of drafts durable, all or none, with drafts that the disk refused before.

        Before the first event of a sitting goes that it began. Raises NotSaved or UsageError: nothing changed.
        """
        begins = not self._began and any(not isinstance(e, Consent | Withdraw) for e in payloads)
        began = [self._author.began(language)] if begins else []
        changes = self.drafts.with_held(drafts)
        place = (self._batch, self._author.reviewer)
        events = self._laptop.record([*began, *payloads], place, changes)
        self._began = self._began or begins
        self.drafts.changed(changes)
        for event in events:
            self.progress.add(event)

    def reread(self) -> None:
        """Read what is on the disk: something was erased there, or noted by another."""
        self.progress = self._read(self._laptop.events())
        self.drafts.reload()

    def _read(self, events: Iterable[Event]) -> SittingProgress:
        own = own_events(events, self._batch, self._author.reviewer)
        self._laptop.require_open(own)
        return SittingProgress(own, self._batch, self._author.reviewer, self._order)

    # words beside an answer

    def typed_about(self, item: str) -> tuple[list[Comment | Suggest], list[Draft]]:
        """Return what is typed beside an item's answer as it is to be saved, and the drafts that are over then."""
        typed = {field: text for field, text in self.drafts.of(item).items() if field in KIND_OF}
        texts = [
            KIND_OF[field](**self._author.about(item), text=text.strip())
            for field, text in typed.items()
            if text.strip() != self.progress.written(item, field)
        ]
        return texts, [Draft(item, field, None) for field in typed]

    def undone_beside(self, target: str) -> tuple[list[AnyPayload], list[Draft]]:
        """Return what goes with a decision that is taken back: its reasons, and texts that it saved are drafts again.

        Raises NotSaved where it cannot be read which texts that are.
        """
        decision = self.progress.decisions[target]
        if isinstance(decision, Skip):
            return [], []
        about, beside, drafts = self._author.about(decision.item), list[AnyPayload](), list[Draft]()
        if decision.item in self.progress.person.reasons:
            beside.append(Reasons(**about, reasons=()))
        saved = self._laptop.saved_with(target)
        for text, before in self.progress.replaced(decision.item, saved):
            beside.append(type(text)(**about, text=before))
            if (field := _FIELD_OF[text.kind]) not in self.drafts.of(decision.item):
                drafts.append(Draft(decision.item, field, text.text))
        return beside, drafts
