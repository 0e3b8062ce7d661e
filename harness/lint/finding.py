"""What linting says of a run: what was seen, how likely that is by chance, and what it does not prove."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from corpora.model.entry import EntryId
from scoring.findings.records import FindingCode


class LintFinding(BaseModel):
    """One thing that somebody ought to look at, or to know. It names entries by id.

    ``examples`` are the only texts: short pieces of open outputs.
    """

    model_config = ConfigDict(frozen=True)

    check: (
        Literal["variants", "generalization", "copies", "prompt", "declaration", "canary"]
        | FindingCode
    )
    severity: Literal["look", "note"]
    """``look``: somebody should look at these entries; ``note``: to be known."""
    seen: str
    """What was seen, as a sentence."""
    count: int
    of: int
    """Entries at which it was seen, and those that were examined."""
    entries: tuple[EntryId, ...] = ()
    """Ids of those entries, all of them."""
    chance: float | None = None
    """Probability of as much or more by chance (0–1); null where none can be computed."""
    share: float | None = None
    """``count`` / ``of`` (0–1) of a finding in outputs; null of the checks of legitimacy."""
    cost: float | None = None
    """Points of chrF++ that the run would gain without it; null where that cannot be computed, or below 2 %."""
    examples: tuple[str, ...] = ()
    """Pieces of outputs that show it, never of a secret entry. Hostile text."""
    rests_on: str = ""
    """What the finding was made of, and what it takes for granted; empty where ``seen`` says it."""
    proves_not: str = ""
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
    checks: int = 0
    """How many checks there are, those that could not be made among them."""
