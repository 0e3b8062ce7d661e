"""What became of one file of ratings, in numbers and words for the organiser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from review.log.clocks import WildClock
from review.log.merge import Remark
from review.office.intake.speaking import Several


class FileOutcome(StrEnum):
    """What became of a file."""

    TAKEN = "taken"
    SET_ASIDE = "set aside"
    """Its laptop is unknown; it waits until somebody vouches for it."""
    REFUSED = "refused"


@dataclass(frozen=True)
class FileReport:
    """One file, in numbers and words for the organiser; no text of a reviewer."""

    name: str
    outcome: FileOutcome
    why: str = ""
    """Why it was refused."""
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
    several: Sequence[Several] = ()
    """Of the people in it those for whom several laptops speak."""
    far_ahead: bool = False
    """Its laptop's log has a time that no honest laptop comes to."""
    copied: bool = False
    """Its data was copied to a second laptop, and both went on."""
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
    """Files that wait and that none of the keys at hand opens, so they may hold it too."""
    unclean: bool = False
    """What was taken back is erased, but the disk had no room to rewrite the file without it."""
