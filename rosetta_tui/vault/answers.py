"""Answering a request without Textual: what it asks for in plain words, and the answer as the commands write it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.core.failures import UsageError
from harness.core.storage import PUBLISHED
from harness.sealed import stick
from harness.sealed.keys import Identity, Role
from harness.vault.folder import VaultState
from harness.vault.grant_log import request_id
from harness.vault.grants.files import ANSWER_SUFFIX, MOST_BYTES, asked_words, refuse_over, request_facts, standing
from harness.vault.grants.grants import grant_in, grant_of, read_asked
from harness.vault.keepers import own_identity
from harness.vault.log import moment
from harness.vault.opening import grants_of, vault_at
from harness.vault.vault_records import GrantRequest


@dataclass(frozen=True)
class AskedRequest:
    """A request that can be answered, in the vault of a folder or a copy of it."""

    folder: Path
    home: Path
    """The data folder."""
    request: GrantRequest
    data: bytes | None
    """Of its file; None for one of the log."""
    asks: str
    """Who asks for which texts."""
    facts: Sequence[tuple[str, str]]
    """What else it says, and who answered so far: what is said, and the words."""
    here: bool
    """True where this computer asked, so that the answer is imported at once."""
    proposal: Path
    """A free name for the file of the answer, beside that of the request."""


def asked_in_file(folder: Path, home: Path, path: Path) -> AskedRequest:
    """Read and check a request in a file; HarnessError in words where it cannot be answered any more, or never could."""
    data = stick.read_file(path, MOST_BYTES)
    request, state = read_asked(vault_at(folder, home), data)
    return _asked(folder, home, state, request, data, path.with_suffix(ANSWER_SUFFIX))


def asked_in_log(folder: Path, home: Path, number: str) -> AskedRequest:
    """Read a request of a vault's log by its SHA-256; raises as ``asked_in_file``."""
    state = vault_at(folder, home).read()
    request = grant_of(state, number).request
    return _asked(folder, home, state, request, None, Path.cwd() / f"{number[:8]}{ANSWER_SUFFIX}")


def _asked(
    folder: Path, home: Path, state: VaultState, request: GrantRequest, data: bytes | None, proposal: Path
) -> AskedRequest:
    grant = grant_in(state, request)
    now = moment(vault_at(folder, home).clock())
    refuse_over(state, grant, max(now, state.lines[-1].record.when))
    facts = (*request_facts(request), ("so far", standing(state, grant)))
    here = request_id(request) in state.grants and Identity.known(home, Role.COMPUTER)  # without own keys none asks
    here = here and Identity.load(home, Role.COMPUTER).public.signing_key == request.machine
    number, free = 2, proposal
    while free.exists():
        free = proposal.with_stem(f"{proposal.stem}-{number}")
        number += 1
    return AskedRequest(folder, home, request, data, asked_words(request, state), facts, here, free)


def give_answer(asked: AskedRequest, *, allowed: bool, reason: str, keys: Path | None, target: Path) -> str:
    """Allow or refuse a request, and take the answer in, or write it to ``target`` where another computer asked; say which.

    ``keys``: a file of a keeper's keys; None: those of this computer's keeper. HarnessError in words where it cannot be.
    """
    if not asked.here and target.exists():
        raise UsageError(f"{target.name} is there already. Choose another name.")
    grants = grants_of(vault_at(asked.folder, asked.home), asked.home)
    identity = own_identity(asked.home, keys)
    if asked.data is None:
        request, state = asked.request, grants.vault.read()
    else:
        request, state = read_asked(grants.vault, asked.data)
    data = grants.answer_asked(request, state, identity, allowed=allowed, reason=reason)
    did = "Allowed" if allowed else "Refused"
    if asked.here:
        grant, _ = grants.take(data, identity)
        return f"{did}; the log has it. {standing(grants.vault.read(), grant)}"
    stick.write_file(target, data, PUBLISHED)
    return f"{did}, and written: {target}. It goes back to anyone who asked."
