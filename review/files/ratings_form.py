"""The signed head of a file of ratings."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from review.forms import Since, StrictForm, VersionedForm
from review.log.payloads import Count, Hex64, Id, Reviewer, Short

RATINGS_FORMAT: Final = "rosetta-ratings/2"
MOST_EVENTS: Final = 1_000_000

Recipient = Annotated[str, Field(max_length=200)]


class Sender(StrictForm):
    """The laptop that wrote the file; whether it is known, the organisation's list of laptops tells."""

    signing_key: Hex64
    """Ed25519 public key, 32 bytes."""
    recipient: Recipient
    """Its age recipient, for which a batch can be sealed."""


class SignedChain(StrictForm):
    """How far a device's chain goes in a file: the signature thereby fixes every event of it."""

    events: Annotated[Count, Field(ge=1)]
    tips: Annotated[tuple[Hex64, ...], Field(min_length=1, max_length=1_000)]
    """Ids of the events that no other names as the one before it, sorted: one where the chain is whole."""


Place = Annotated[int, Field(ge=0, lt=2**40)]
"""Of an event in its device's chain, from 0."""
Places = tuple[tuple[Place, Place], ...]
"""First and last place of stretches of a device's chain."""


class RatingsManifest(VersionedForm):
    """What a file of ratings holds; it names for whom it was sealed, because age does not say by whom."""

    format: Literal["rosetta-ratings/1", "rosetta-ratings/2"] = RATINGS_FORMAT
    batch: Id
    batch_sha256: Hex64
    """Of the manifest of the batch that was rated."""
    review: Short
    device: Id
    """The device whose chain ends in ``head``."""
    events: Annotated[Count, Field(ge=1)]
    """Lines of ``events.jsonl``."""
    head: Hex64
    """Id of the last event."""
    chains: Annotated[dict[Id, SignedChain], Since(2)] = Field(default_factory=dict)
    """Device → its chain in this file."""
    contents: Annotated[dict[Reviewer, dict[Id, Places]], Since(2)] = Field(default_factory=dict)
    """Reviewer → device → where in its chain the answers of this person to this batch stand, as ``answers`` has it.

    Whose content is missing later, and whether that person took it back, can be told by this.
    """
    laptop: Sender
    recipients: Annotated[tuple[Recipient, ...], Field(min_length=2, max_length=20)]
    members: dict[Short, Hex64]
    """Name of every other member of the file → SHA-256 of its bytes."""

    @property
    def signer(self) -> str:
        """The key under which the file is signed."""
        return self.laptop.signing_key
