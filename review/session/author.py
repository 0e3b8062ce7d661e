"""Who says what, where and with which program: the fields that events of one sitting have in common."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from harness.core.version import VERSION
from review.log.payloads import Consent, Face, SittingBegan


class Author:
    """One reviewer in one batch at one face."""

    def __init__(
        self,
        batch: str,
        reviewer: str,
        order: tuple[str, ...],
        face: Face,
        now: Callable[[], datetime],
    ) -> None:
        """``order`` is this person's; ``now`` gives an aware time."""
        self.reviewer = reviewer
        self._batch, self._order, self._face, self._now = batch, order, face, now
        self._places = {item: place for place, item in enumerate(order)}

    def wall(self) -> str:
        """Return the time as events write it: UTC, whole seconds."""
        return self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def who(self) -> dict[str, Any]:
        """Return the fields of what a person does in a batch."""
        return {"wall": self.wall(), "reviewer": self.reviewer, "batch": self._batch}

    def about(self, item: str) -> dict[str, Any]:
        """Return the fields of what a person says about an item."""
        return {**self.who(), "item": item}

    def decided(
        self, item: str, *, active_ms: int, font: str | None, override: bool
    ) -> dict[str, Any]:
        """Return the fields of a decision about an item."""
        return {
            **self.about(item),
            "position": self._places[item],
            "active_ms": active_ms,
            "face": self._face,
            "font": font,
            "version": VERSION,
            "override": override,
        }

    def agreed(
        self, text: str, language: str, *, shares: bool, text_language: str | None
    ) -> Consent:
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
        """Return the event that begins a sitting."""
        return SittingBegan(
            **self.who(),
            order_sha256=hashlib.sha256("\n".join(self._order).encode()).hexdigest(),
            face=self._face,
            version=VERSION,
            language=language,
        )
