"""What the office notes of laptops and of the files that came from them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnownLaptop:
    """A laptop whose ratings are taken."""

    signing_key: str
    """Ed25519 public key, hexadecimal."""
    recipient: str | None
    """age recipient; None where it is known by its ratings only."""
    name: str
    """What the organisation calls it."""
    enrolled: str
    instead_of: str | None = None
    """Signing key of the laptop whose log this one goes on with; None for a log of its own."""
    removed: str | None = None
    """UTC, since when it is not heard; None where it is."""
    reason: str = ""
    """Why it is not heard, in the organisation's words."""


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A file that was set aside because nobody has vouched for its laptop yet."""

    sha256: str
    signing_key: str
    received: str
    name: str
    """Of the file."""
    content: bytes
    """The file as it came, still sealed."""
    phrase: str
    """Its six words, as the laptop showed them; they stand for the laptop's key too."""


@dataclass(frozen=True, slots=True)
class Import:
    """One file that was taken in."""

    sha256: str
    received: str
    name: str
    signing_key: str
    batch: str
    added: int
    """Events that were new."""
