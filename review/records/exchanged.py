"""The records that computers hand to each other by a stick, with who reads each."""

from __future__ import annotations

from typing import Final

from harness.exchange.kinds import FileKind
from review.records import ownership, profile

KINDS: Final = (
    FileKind(ownership.SUFFIX, "a record of ownership", ownership.read_ownership, "rosetta ownership take FILE", ownership.MOST_BYTES),
    FileKind(profile.SUFFIX, "the profile of an organisation", profile.read_profile, "rosetta verify FILE", profile.MOST_BYTES),
)  # fmt: skip
