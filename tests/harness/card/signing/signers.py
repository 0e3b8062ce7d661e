"""Two keys that sign cards in tests, one of which is known."""

from __future__ import annotations

from datetime import UTC, datetime

from harness.card.checking.signed import KnownSigners
from harness.sealed.keys import Identity, Role

NOW = datetime(2026, 11, 23, 8, 30, tzinfo=UTC)
MINE, THEIRS = Identity.make(Role.COMPUTER), Identity.make(Role.COMPUTER)
OWN = KnownSigners(keys={MINE.public.signing_key: "this computer's key"})
