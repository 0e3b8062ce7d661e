"""What the custodian's screens show, read in a thread: vaults, and what this computer told of secret entries.

No text is opened. To read, no key of a vault is needed: only the release ledger is known by the keys of this
computer's keeper, which are asked for where there is one. An answer to a request is signed with a keeper's keys.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.consent.withdrawals_in_force import standing as withdrawals
from harness.core.failures import HarnessError, UsageError
from harness.core.storage import PUBLISHED, file_stamp
from harness.leaderboard.official import withdrawn_of
from harness.release import FOLDER, ledger
from harness.release.budget import History
from harness.sealed import stick
from harness.sealed.keys import Identity, Role, key_phrase
from harness.sealed.strict_records import FileError, FileProblem
from harness.store.sqlite.database import opened
from harness.vault.folder import LOCK, VaultState
from harness.vault.grant_log import request_id
from harness.vault.grants.files import (
    ANSWER_SUFFIX,
    MOST_BYTES,
    asked_words,
    refuse_over,
    request_facts,
    request_lines,
    standing,
)
from harness.vault.grants.grants import grant_in, grant_of, read_asked
from harness.vault.keepers import own_identity
from harness.vault.log import moment
from harness.vault.opening import folders_seen, grants_of, vault_at
from harness.vault.shares import shares_tried
from harness.vault.vault_records import GrantRequest
from rosetta_tui.vault.messages import LoggedAct, logged_acts

_CONSENT = "consent.jsonl"


@dataclass(frozen=True)
class VaultFacts:
    """A vault that is whole and unchanged."""

    state: VaultState
    log: Sequence[LoggedAct]
    """The oldest line first."""
    taken_out: Mapping[str, str]
    """Signing key of a keeper → the notice by which they are none any more, which this copy does not know."""
    phrases: Mapping[str, str] = field(default_factory=dict)
    """Signing key of a keeper → the six words by which others know it; slow to make, so only where they are shown."""
    requests: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Id of a request → what it asks for, line by line; as slow."""
    tried: Mapping[str, str] = field(default_factory=dict)
    """Signing key of a keeper → when they last tried the share that they have now."""

    @property
    def name(self) -> str:
        """Name of the vault."""
        return self.state.founded.name

    @property
    def older_copy(self) -> Sequence[str]:
        """Return for each keeper who was taken out since that this copy does not know it; none where it is up to date."""
        return [
            f"OLDER COPY: {self.state.keepers[key].name} is no keeper any more, by a notice: {notice_words}. Bring this copy up to date."
            for key, notice_words in self.taken_out.items()
        ]


@dataclass(frozen=True)
class ToldScores:
    """The ledger of this computer: what it told of secret entries, of whatever vault."""

    history: History | None
    """None where it cannot be read; ``trouble`` says why."""
    trouble: str = ""
    withdrawn: frozenset[str] = frozenset()
    """Runs whose scores were told, and consent to which was withdrawn."""


@dataclass(frozen=True)
class VaultReading:
    """What reading a vault's folder gave."""

    folder: Path
    mark: Hashable
    """Changes where a file of the vault does, or one of this computer that belongs to it."""
    facts: VaultFacts | None = None
    """None where the vault cannot be shown; ``problem`` and ``trouble`` say why."""
    problem: FileProblem | None = None
    trouble: str = ""
    told: ToldScores = field(default_factory=lambda: ToldScores(History()))

    @property
    def name(self) -> str:
        """Name of the vault; of one that cannot be shown, that of its folder."""
        return self.facts.name if self.facts else self.folder.name


def read_vault(folder: Path, home: Path, before: VaultReading | None = None, *, anyway: bool = True) -> VaultReading:
    """Read and check every byte of a vault, and the ledger of the data folder ``home``.

    Gives ``before`` back where nothing has changed since, unless it is to be read ``anyway``.
    """
    mark = _mark(folder, home)
    if before is not None and not anyway and before.mark == mark:
        return before
    scores = told_scores(home)
    try:
        facts = vault_facts(folder, home)
    except (HarnessError, OSError) as error:
        problem = error.problem if isinstance(error, FileError) else None
        return VaultReading(folder, mark, problem=problem, trouble=str(error), told=scores)
    # reading notes how far this computer saw the vault, so the mark of before may be another one already
    return VaultReading(folder, _mark(folder, home), facts, told=scores)


def vault_facts(folder: Path, home: Path) -> VaultFacts:
    """Read and check every byte of a vault; HarnessError where it cannot be shown."""
    vault = vault_at(folder, home)
    state, withdrawn = vault.read(), withdrawals(home)
    gone = {
        key: notice.said for key in state.keepers if (notice := withdrawn.of_keeper(state.head.vault, key)) is not None
    }
    tried = shares_tried(state, vault.memory)
    return VaultFacts(state, logged_acts(state), gone, tried=tried)


def read_in_full(folder: Path, home: Path, before: VaultReading | None, *, anyway: bool) -> VaultReading:
    """Read a vault as ``read_vault`` does, with the six words of its keepers and what each request asks for."""
    vault = read_vault(folder, home, before, anyway=anyway)
    facts = vault.facts
    if vault is before or facts is None:
        return vault
    phrases = {key: key_phrase(key) for key in facts.state.keepers}
    requests = {
        grant.id: tuple(request_lines(grant.request, facts.state, compared=not grant.used))
        for grant in facts.state.grants.values()
    }
    return replace(vault, facts=replace(facts, phrases=phrases, requests=requests))


def read_vaults(home: Path, before: Sequence[VaultReading] | None, *, anyway: bool) -> Sequence[VaultReading]:
    """Read every vault that this computer saw, those that changed since ``before`` or, with ``anyway``, all; by name.

    Gives ``before`` back where none of them changed.
    """
    known = {vault_reading.folder: vault_reading for vault_reading in before or ()}
    folders = [Path(name) for name in dict.fromkeys(folders_seen(home))]
    vault_readings = [read_vault(folder, home, known.get(folder), anyway=anyway) for folder in folders]
    vault_readings.sort(key=lambda reading: (reading.name.casefold(), str(reading.folder)))
    if before is not None and list(map(id, before)) == list(map(id, vault_readings)):
        return before
    return vault_readings


def told_scores(home: Path) -> ToldScores:
    """Read the ledger of this computer; keys are made for nobody who has none."""
    try:
        if not (history := ledger.told_so_far(home)).acts:
            return ToldScores(history)
        with opened() as store:
            return ToldScores(history, withdrawn=withdrawn_of(history, store))
    except (HarnessError, OSError) as error:
        return ToldScores(None, str(error))


def _mark(folder: Path, home: Path) -> Hashable:
    """Return what changes where a file does: of the vault's folder all but its lock, of the data folder those that count."""
    hashables: list[Hashable] = []
    try:
        with os.scandir(folder) as files:
            hashables += sorted((file.name, file_stamp(file)) for file in files if file.name != LOCK)
    except OSError as error:
        hashables.append(error.errno)
    ours = (home / FOLDER / ledger.LEDGER, home / _CONSENT)
    return (*hashables, *map(file_stamp, ours))


# ---- Answering a request: what it asks for in plain words, and the answer as the commands write it.


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
