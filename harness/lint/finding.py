"""What linting says of a run: what was seen, how likely that is by chance, and what it does not prove."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from corpora.model.entry import EntryId


class LintFinding(BaseModel):
    """One thing that somebody ought to look at, or to know. It names entries by id and has no text of any."""

    model_config = ConfigDict(frozen=True)

    check: Literal["variants", "generalization", "copies", "prompt", "declaration", "canary"]
    severity: Literal["look", "note"]
    """``look``: somebody should look at these entries; ``note``: to be known."""
    seen: str
    """What was seen, as a sentence."""
    count: int
    of: int
    """Entries at which it was seen, and those that were looked at."""
    entries: tuple[EntryId, ...] = ()
    """Ids of those entries, all of them."""
    chance: float | None = None
    """Probability of as much or more by chance (0–1); null where none can be computed."""
    rests_on: str
    """What the finding was made of, and what it takes for granted."""
    proves_not: str
    """What else may be the reason."""


class NotLookedAt(BaseModel):
    """A check that could not be made."""

    model_config = ConfigDict(frozen=True)

    check: str
    why: str


class LintReport(BaseModel):
    """All that was found in one run."""

    model_config = ConfigDict(frozen=True)

    run: str
    """Id of the run, or name of the card's file."""
    findings: tuple[LintFinding, ...]
    not_looked_at: tuple[NotLookedAt, ...]
