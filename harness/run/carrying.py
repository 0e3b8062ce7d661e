"""Having a run's calls made elsewhere: what goes there, and what is done here with what comes back.

Anyone who carries them, the run stays one of this store: its rows are scored and written by its recorder here, its money
is counted by its ledger here, and its seal is made here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from corpora.model.corpus import Dataset
from corpora.model.entry import Entry
from harness.events.control import Control
from harness.method.method import Method
from harness.run.call_runner import RunCalls
from harness.run.recorder import Recorder
from harness.setup.plan import Plan
from harness.store.shared_budget import SharedBudget

MADE_HERE: Final = frozenset({"copy-source", "constant", "glossary", "replay", "human"})
"""Methods that ask nobody and take so little that they are never carried."""


@dataclass(frozen=True, slots=True)
class RemoteWork:
    """A stretch of a run whose calls are made elsewhere."""

    run_id: str
    dataset: Dataset
    plan: Plan
    method: Method
    """Made here, to know what it has to be there."""
    entries: Mapping[int, Entry]
    waiting: Sequence[int]
    """Places of the entries to be translated, in order."""
    calls: RunCalls
    """Limits, money, and where replies are kept and found."""
    known: Collection[bytes]
    """Keys of the replies that can be found."""
    purse: SharedBudget | None
    """Where the ledger of ``calls`` takes money from; None where the run shares none."""
    recorder: Recorder
    control: Control


class RemoteCalls(Protocol):
    """Makes the calls of runs elsewhere, one run after the other."""

    lost: bool
    """Whether the last stretch ended because anyone who was at it is gone, so that another may continue at once."""
    gone: bool
    """Whether no further run can be carried."""

    def carry(self, work: RemoteWork) -> str | None:
        """Process the pending entries. Return the stop reason, or None. Blocks."""
        ...
