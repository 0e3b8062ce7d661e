"""What one reviewer is typing in one batch: kept at each pause, so that no crash loses it."""

from __future__ import annotations

from harness.store.texts import storable
from review.log.laptop import Laptop
from review.log.payloads import MOST_TEXT
from review.session.view import TextField


class Drafts:
    """Every method raises NotSaved where the laptop's file cannot be used."""

    def __init__(self, laptop: Laptop, batch: str, reviewer: str) -> None:
        self._laptop, self._place = laptop, (batch, reviewer)

    def read(self, item: str, field: TextField) -> str | None:
        """Give what is being typed, None for nothing."""
        return self._laptop.draft(*self._place, item, field.value)

    def keep(self, item: str, field: TextField, text: str, saved: str = "") -> None:
        """Keep what is being typed, as much of it as an event could hold; nothing where it is saved as it stands."""
        text = storable(text)
        if text.strip() == saved:
            self.drop(item, field)
        else:
            self._laptop.save_draft(*self._place, item, field.value, text[:MOST_TEXT])

    def drop(self, item: str, field: TextField) -> None:
        """Forget it, because it was saved."""
        self._laptop.drop_draft(*self._place, item, field.value)
