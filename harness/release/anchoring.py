"""The ledger's head in the log of the vault: a ledger that was emptied, cut or replaced since is not believed.

The ledger is on one computer, and anyone who deletes it would have all answers again. So each time that scores of a vault's
texts are told, the vault's log, which every keeper checks, gets a line with the ledger's number, its length and its last line.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.release.ledger import ReleaseLedger
from harness.sealed.strict_records import FileError, FileProblem
from harness.vault.folder import VaultState
from harness.vault.log import signers, splits_of
from harness.vault.opening import vault_at
from harness.vault.records import LedgerStood


@contextmanager
def anchored(ledger: ReleaseLedger, vault: Path | None) -> Iterator[None]:
    """Tell within the block: the vault's log is held against the ledger before, and gets its head after; None: there is no vault.

    FileError where the ledger is not the one that told last, or lacks lines. A keeper of another vault's keys writes no line.
    """
    if vault is None:
        yield
        return
    state = check_anchor(ledger, vault)
    at = vault_at(vault, ledger.folder.parent, clock_was_wrong=ledger.clock_was_wrong)
    yield
    if ledger.identity.public.signing_key not in signers(state.keepers, splits_of(state.lines)):
        return
    number, lines, head = ledger.head()
    with at.changing(ledger.identity) as now:
        at.write(now, LedgerStood(ledger=number, lines=lines, head=head), ledger.identity)


def check_anchor(ledger: ReleaseLedger, vault: Path) -> VaultState:
    """Return the vault; FileError where its log says that the ledger was another one, or longer."""
    state = vault_at(vault, ledger.folder.parent, clock_was_wrong=ledger.clock_was_wrong).read()
    stood = [
        line.record.act
        for line in state.lines
        if isinstance(line.record.act, LedgerStood)
        and line.record.by == ledger.identity.public.signing_key
    ]
    if stood and not ledger.goes_on_from(stood[-1].ledger, stood[-1].lines, stood[-1].head):
        raise FileError(
            FileProblem.DAMAGED,
            f"The ledger in {ledger.folder} is not the one that told scores of this vault before: the vault's log says that it had {stood[-1].lines:,} lines. "
            "Nothing is told without them, for nobody knows who had which answer. Put back the newest copy of that folder. Where it is lost for good, "
            "exchange the entries (rosetta vault rotate) and tell from the computer of another keeper.",
        )
    return state
