"""When a card was sealed, by the log of the vault that its run came from: behind one line and before another.

A seal names the last line of the log, which nobody could name before it was written; the line behind it names the seal.
The lines name each other, so the order cannot be changed later; their times are those of keepers' computers.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from hashlib import sha256

from harness.card.signing.card_seal import CardSeal, LogPlace, SealFile, SignedSeal
from harness.card.signing.signed_run import sign_run
from harness.core.canonical import canonical_bytes
from harness.sealed.keys import Identity
from harness.sealed.strict_records import FileProblem
from harness.vault.folder import VaultState
from harness.vault.log import LogLine, VaultError
from harness.vault.records import CardSealed
from harness.vault.vault import Vault


def log_end(state: VaultState) -> LogPlace:
    """Return the last line of a vault's log, as a seal names it."""
    last = state.lines[-1]
    return LogPlace(vault=state.head.vault, seq=last.seq, line=last.id, when=last.record.when)


def sign_vault_run(
    vault: Vault, connection: sqlite3.Connection, run: int, card: bytes, identity: Identity
) -> SealFile:
    """Sign the card of a run over a vault's texts with a keeper's keys, and write it into the log.

    Under the vault's lock, so nothing comes between the line that the seal names and the one that names the seal.
    Stopped in between, the seal has no line behind it, and ``sealed_between`` says so.
    """
    with vault.changing(identity) as state:
        made = sign_run(connection, run, card, identity, vault.clock(), log_end(state))
        if _line_of(made.seal, state.lines) is None:
            act = CardSealed(card=made.seal.card, seal=seal_sha256(made.seal))
            vault.write(state, act, identity)
    return made


def seal_sha256(seal: SignedSeal) -> str:
    """Return the hash by which a log names a seal."""
    return sha256(canonical_bytes(seal.model_dump(mode="json"))).hexdigest()


def sealed_between(
    seal: SignedSeal, lines: Sequence[LogLine]
) -> tuple[LogLine | None, LogLine | None]:
    """Return the line that a seal was made behind, and the one before which it was made; None for one that is not there.

    ``lines`` were read by ``read_lines``. Raises VaultError where the seal names a line that this log does not have.
    """
    return _line_behind(seal, lines), _line_of(seal, lines)


def _line_behind(seal: CardSeal, lines: Sequence[LogLine]) -> LogLine | None:
    named = seal.after
    if named is None:
        return None
    line = lines[named.seq] if named.seq < len(lines) else None
    line_facts = None if line is None else (lines[0].id, line.id, line.record.when)
    if line_facts != (named.vault, named.line, named.when):
        raise VaultError(
            FileProblem.INVALID,
            f"The seal names line {named.seq + 1} of the log of the vault {named.vault[:16]}…, which is not in this log: "
            "it is another vault's, or an older copy.",
        )
    return line


def _line_of(seal: SignedSeal, lines: Sequence[LogLine]) -> LogLine | None:
    sha = seal_sha256(seal)
    acts = ((line, line.record.act) for line in lines)
    named = (line for line, act in acts if isinstance(act, CardSealed) and act.seal == sha)
    return next(named, None)
