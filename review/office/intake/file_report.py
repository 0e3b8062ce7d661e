"""What became of one file of ratings, in numbers and words for the organiser.

What a laptop may not say in a file of one batch, and whose logs it adds nothing to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from harness.sealed.strict_records import FileProblem
from review.files.manifests import BatchManifest
from review.log.clocks import WildClock
from review.log.event import Event
from review.log.merge import Objection, Remark
from review.log.payloads import ItemPayload, Rate, ReviewerPayload, Train, Translate, Withdraw
from review.log.voices import OWN_WORDS, may_go_on_with
from review.log.withdrawal import reach
from review.office.intake.speaking import DuplicateLaptops
from review.office.store.store import Office, Review

FORGED: Final = "is written in the organisation's name, and the organisation did not write it"
OTHER_LAPTOPS: Final = "is of another laptop's log, and this laptop did not come instead of it"


def closed_devices(office: Office, signing_key: str) -> dict[str, str]:
    """Return device → why a laptop adds nothing to its chain: the organisation's, or another laptop's."""
    before = {laptop.signing_key: laptop.instead_of for laptop in office.laptops()}
    keys = may_go_on_with(signing_key, before)
    others = {device for device, key in office.devices().items() if key not in keys}
    return dict.fromkeys(others, OTHER_LAPTOPS) | dict.fromkeys(office.own_devices, FORGED)


def objection(review: Review, batch: str) -> Objection:
    """Return what a laptop may not say in a file of one batch."""
    manifest = BatchManifest.model_validate_json(review.manifests[batch])
    other_task = Rate if manifest.task == "translate" else Translate

    def why_not(event: Event) -> str | None:
        if event.kind in OWN_WORDS:
            return "decides what only the organisation decides"
        everywhere = isinstance(event.payload, Withdraw) and reach(event.payload) is None
        if not everywhere and getattr(event.payload, "batch", None) != batch:
            return "belongs to another batch than the file"
        if isinstance(event.payload, other_task):
            return f"is an answer to something else: this batch asks people to {manifest.task}"
        return _unasked(event, manifest)

    return why_not


def _unasked(event: Event, manifest: BatchManifest) -> str | None:
    """Return that a batch does not know the reviewer of an event, or did not ask this person about its item."""
    payload = event.payload
    if isinstance(payload, ReviewerPayload | Withdraw) and not manifest.order(payload.reviewer):
        return "is of a reviewer whom this batch does not know"
    if not isinstance(payload, ItemPayload) or isinstance(payload, Train):
        return None
    asked = payload.item in manifest.order(payload.reviewer)
    return None if asked else "is about an item that this reviewer was not asked"


class FileOutcome(StrEnum):
    """What became of a file."""

    TAKEN = "taken"
    SET_ASIDE = "set aside"
    """Its laptop is unknown; it waits until somebody vouches for it."""
    REFUSED = "refused"
    PASSED_OVER = "passed over"
    """It was found in a folder by its first bytes alone, and it is for somebody else's keys."""


@dataclass(frozen=True)
class FileReport:
    """One file, in numbers and words for the organiser; no text of a reviewer."""

    name: str
    outcome: FileOutcome
    why: str = ""
    """Why it was refused or passed over."""
    problem: FileProblem | None = None
    """Kind of the fault of a file that could not be opened."""
    review: str = ""
    phrase: str = ""
    """Six words of its content, as the laptop showed them."""
    signing_key: str = ""
    laptop_phrase: str = ""
    """Six words of its laptop's key."""
    added: int = 0
    erased: int = 0
    """New events whose content was taken back before: of them the head alone is kept."""
    already_here: int = 0
    aside: Sequence[Remark] = ()
    """Events that this laptop may not say."""
    damaged: Sequence[Remark] = ()
    """Lines that are no sound events."""
    elsewhere: Sequence[str] = ()
    """Codes of the reviewers in it of whom another laptop handed something over before."""
    speaks_for: Sequence[str] = ()
    """Codes of those for whom its laptop speaks in this review, where they are several."""
    several: Sequence[DuplicateLaptops] = ()
    """Of the people in it those for whom several laptops speak."""
    far_ahead: bool = False
    """Its laptop's log has a time that no honest laptop comes to."""
    copied: bool = False
    """Its data was copied to a second laptop, and both continued."""
    gaps: int = 0
    """Events that are missing in its chains, or do not fit the one before."""
    clocks: Sequence[WildClock] = ()
    withdrawn: Sequence[str] = ()
    """Codes of the reviewers whose withdrawals were new."""
    recompute: int = 0
    """Certificates that rest on what was taken back."""
    dropped: int = 0
    """Files that waited and held what was taken back: they are gone."""
    unopened: int = 0
    """Files that wait and that none of the keys available opens, so they may hold it too."""
    unclean: bool = False
    """What was taken back is erased, but the disk had no room to rewrite the file without it."""
