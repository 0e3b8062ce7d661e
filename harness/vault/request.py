"""What is asked of a vault for a run, before anything that opens it is loaded."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora.model.entry import Segment
from harness.core.failures import UsageError


@dataclass(frozen=True, slots=True)
class VaultRequest:
    """Out of which vault a corpus is opened, what for, and with whose keys."""

    folder: Path
    purpose: str
    """In a person's words; the log of the vault keeps it for ever."""
    key: Path | None = None
    """File of a keeper's keys, such as the recovery key; None: those of this computer's keeper."""
    segments: tuple[Segment, ...] = ()
    """Only entries of these are opened; without any, all but ``held_out``."""
    work: str = "run"
    """One of ``harness.vault.records.VaultWork``."""
    run_id: str = ""
    """Of the run that it is opened for, where that is known."""
    clock_was_wrong: bool = False
    """True where the keeper says that the clock of the log's last line was."""
    despite_network: str = ""
    """Why a run goes on though this computer has a way to other machines, in a custodian's words; empty: it does not."""

    @classmethod
    def asked(cls, told: Mapping[str, Any], work: str = "run") -> VaultRequest | None:
        """Read the options of a command line about a vault, by name; None where no vault is named.

        UsageError where the purpose is missing, or an option stands there without a vault.
        """
        if told.get("vault") is None:
            if stray := next((name for name in _OF_VAULT if told.get(name)), None):
                raise UsageError(f"--{stray.replace('_', '-')} goes with --vault FOLDER.")
            return None
        if not (told["purpose"] or "").strip():
            raise UsageError(
                "--vault asks for --purpose WORDS: its log keeps what it was opened for."
            )
        return cls(
            folder=told["vault"],
            purpose=told["purpose"],
            key=told["vault_key"],
            segments=tuple(Segment(name) for name in told.get("segment", ())),
            work=work,
            run_id=str(uuid.uuid4()) if work in ("run", "score") else "",
            clock_was_wrong=told["clock_was_wrong"],
            despite_network=told.get("despite_network") or "",
        )


_OF_VAULT = ("purpose", "vault_key", "clock_was_wrong", "despite_network")
"""Options of a command line that go with ``--vault``."""
