"""What texts of a vault are opened for, and which work needs a grant."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class VaultWork(StrEnum):
    """What the program opened texts for."""

    RUN = "run"
    SCORE = "score"
    ESTIMATE = "estimate"
    RESUME = "resume"
    RETRY = "retry"
    RESCORE = "rescore"
    CALIBRATE = "calibrate"
    """Scores beside people's ratings."""
    SEAL = "seal"
    """The signature over the rows of a run's card."""
    COMPARE = "compare"
    """How a run differs from another one, worked out inside and told in steps."""
    LOOK = "look"
    """The texts of a run, read on the screens of the program."""
    REVIEW = "review"
    """Sentences and outputs of a run, sealed for the laptops of speakers who judge them."""
    ADJUDICATE = "adjudicate"
    """What speakers flagged, or differ about, read by who decides."""
    CHECK = "check"
    """Checks and counts of a corpus."""
    SCRIPT = "script"
    """The package ``rosetta``, in a notebook or a script."""
    EXPORT = "export"
    """All that belongs to a community, written out in open files."""


GRANTED: Final = frozenset(VaultWork) - {VaultWork.ESTIMATE, VaultWork.CHECK, VaultWork.EXPORT}
"""Work for which texts are opened by a grant only: whatever runs over them, and what opens a run's texts again."""
