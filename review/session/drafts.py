"""What one reviewer is typing in one batch: kept at each pause, so that no crash loses it.

What the disk does not take is held in memory and tried again with everything that is written after it.

What a person typed or pasted, in the form in which it is kept; the same for every face.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from corpora.text.visible import plain
from harness.core.storage_problems import storable
from review.log.laptop import Draft, Laptop
from review.log.payloads import MOST_TEXT
from review.session.view import TextField


def harmless(text: str) -> str:
    """Omit every character that acts on a screen; blanks of all kinds become spaces."""
    kept = (
        character if character == "\n" or plain(character) == character else _blank(character)
        for character in text.replace("\r\n", "\n")
    )
    return "".join(kept)


def as_kept(text: str) -> str:
    """Compose the letters, so that the same word is the same text, and take the blanks around it away."""
    return unicodedata.normalize("NFC", text).strip()


def _blank(character: str) -> str:
    return " " if character == "\t" or unicodedata.category(character) == "Zs" else ""


_FIELDS = {text_field.value: text_field for text_field in TextField}


class Drafts:
    """What is typed and not saved, as the person sees it: on the disk, or only here while the disk refuses it."""

    def __init__(self, laptop: Laptop, batch: str, reviewer: str) -> None:
        """Raises NotSaved where the laptop's file cannot be read."""
        self._laptop, self._place = laptop, (batch, reviewer)
        self._texts: dict[str, dict[TextField, str]] = {}
        self._not_kept: dict[tuple[str, TextField], Draft] = {}
        """What the disk did not take yet."""
        self.reload()

    def reload(self) -> None:
        """Read what is on the disk: something was erased there."""
        self._texts, self._not_kept = {}, {}
        for draft in self._laptop.drafts(*self._place):
            if draft.text is not None and draft.field in _FIELDS:
                self._texts.setdefault(draft.item, {})[_FIELDS[draft.field]] = draft.text

    def of(self, item: str) -> dict[TextField, str]:
        """Return what is being typed about an item."""
        return self._texts.get(item, {})

    def items(self) -> dict[str, frozenset[TextField]]:
        """Return the items about which something is typed and not saved; an emptied translation is nothing."""
        return {
            item: fields
            for item, texts in self._texts.items()
            if (fields := frozenset(_worth_naming(texts)))
        }

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


def _worth_naming(texts: dict[TextField, str]) -> list[TextField]:
    return [
        field for field, text in texts.items() if text.strip() or field is not TextField.TRANSLATION
    ]
