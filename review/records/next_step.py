"""What is next for those who keep a vault: of each vault, submission and review the first step that is not done.

It is read from where the steps were done, with no key but the keeper's own name, and no text is opened.
"""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from harness.core.failures import HarnessError
from harness.sealed.keys import Identity, Role
from harness.sealed.stick import files_named, read_file
from harness.store.runs import find_by_id
from harness.store.sqlite.database import opened
from harness.submission.desk import KeptSubmission, SubmissionStore
from harness.vault.folder import VaultState
from harness.vault.grant_log import Grant
from harness.vault.grants.files import ANSWER_SUFFIX, MOST_BYTES, asked_words, read_answer, refuse_over, standing
from harness.vault.grants.grants import grant_in, read_asked
from harness.vault.log import moment
from harness.vault.opening import folders_seen, vault_at
from harness.vault.request import REQUEST_SUFFIX
from harness.vault.vault_records import CopyMade
from review.office.results.whole_way import by_people, whole_way
from review.office.store.database import FILE
from review.office.store.store import Office
from review.records.agreeing import end_of_way

_MOST_FILES: Final = 50
Read = TypeVar("Read")
OPEN: Final = frozenset({
    "CORPUS", "FILE", "FOLDER", "KEEPER-FILE", "LAPTOP-FILE", "NAME", "NAME.certificate.json", "NAME.rosetta-ownership", "NUMBER", "STICK",
    "WORDS",
})  # fmt: skip
"""Words of a command that a person fills in."""


@dataclass(frozen=True, slots=True)
class CouncilStep:
    about: str
    """Whose step it is: a vault, a submission or a review, by its name."""
    name: str
    words: str
    """How it stands."""
    command: str
    """What does it; empty where nobody can do it here. The words of ``OPEN`` are a person's to fill in."""


def next_steps(store: Path, submission: str = "") -> list[CouncilStep]:
    """Return the next step of each vault, submission and review of a data folder, vaults first; ``store``: its path.

    ``submission``: the number of the only one that is asked about. Raises HarnessError where store or submission cannot be read.
    """
    home = store.parent
    vaults = dict(_vaults(home))
    desk = SubmissionStore(home)
    kept = [desk.find(submission)] if submission else desk.all()
    steps = [] if submission else [*_of_keeper(home, vaults), *_of_vaults(vaults)]
    with ExitStack() as stack:
        connection = stack.enter_context(opened(store))
        office = stack.enter_context(Office.open(home)) if (home / FILE).exists() else None
        for submitted in kept:
            steps += _of_submission(connection, office, submitted, vaults)
        judged = {last.run for last in (submitted.last_judged for submitted in kept) if last is not None}
        if office is not None and not submission:
            steps += _of_reviews(connection, office, judged)
    if not (steps or vaults or kept or Identity.known(home, Role.KEEPER)):
        command = "rosetta vault init FOLDER --name NAME --as NAME --recovery FILE --threshold 2 --keeper KEEPER-FILE"
        words = "two keepers together open it; each of the others first writes a file on their computer: rosetta vault card NAME.rosetta-keeper"
        steps.append(CouncilStep("", "make a vault", words, command))
    return steps


def _vaults(home: Path) -> Iterator[tuple[str, VaultState]]:
    """Yield the vaults that this computer saw and can read, by folder."""
    for folder in folders_seen(home):
        try:
            yield folder, vault_at(Path(folder), home).read()
        except HarnessError:  # on a stick that is elsewhere, or a copy from before; its own commands say so
            continue


def _of_vaults(vaults: Mapping[str, VaultState]) -> Iterator[CouncilStep]:
    for folder, state in vaults.items():
        about = f"vault {state.founded.name}"
        copied = any(isinstance(line.record.act, CopyMade) for line in state.lines)
        if not state.head.corpora:
            yield CouncilStep(
                about, "seal a corpus", "it holds none yet", f"rosetta vault add {shlex.quote(folder)} FILE"
            )
        elif state.split is not None and not copied:
            command = f"rosetta vault export {shlex.quote(folder)} FOLDER --purpose WORDS"
            yield CouncilStep(about, "make a copy for the keepers", "they need one to answer requests", command)


def _of_keeper(home: Path, vaults: Mapping[str, VaultState]) -> Iterator[CouncilStep]:
    """Yield the requests next to a vault, as on a stick with its copy, for which this computer's keeper is needed still."""
    if not Identity.known(home, Role.KEEPER):
        return
    me = Identity.load(home, Role.KEEPER).public.signing_key
    for folder, state in vaults.items():
        vault = vault_at(Path(folder), home)
        answers = [*_files_in(vault.folder.parent, ANSWER_SUFFIX, read_answer)]
        for path, request in _files_in(vault.folder.parent, REQUEST_SUFFIX, partial(read_asked, vault)):
            grant = grant_in(state, request[0])
            signed = [*grant.answers.values(), *(answer for _, (answer, _) in answers if answer.request == grant.id)]
            allowed = {grant.request.by, *(answer.keeper for answer in signed if answer.allowed)}
            known = {grant.request.by, *(answer.keeper for answer in signed)}
            if me in state.keepers and me not in known and len(allowed & state.keepers.keys()) < state.threshold:
                with suppress(HarnessError):  # nobody can use it any more
                    refuse_over(state, grant, moment(vault.clock()))
                    command = shlex.join(["rosetta", "vault", "grant", "answer", folder, str(path)])
                    asked = asked_words(grant.request, state)
                    yield CouncilStep(f"vault {state.founded.name}", "answer a request", asked, command)


def _files_in(folder: Path, suffix: str, read: Callable[[bytes], Read]) -> Iterator[tuple[Path, Read]]:
    """Yield the files that can be read, the first ones only; it may be a stranger's stick."""
    for path in files_named(folder, suffix)[:_MOST_FILES]:
        with suppress(HarnessError):  # of another vault, or of nobody who is known
            yield path, read(read_file(path, MOST_BYTES))


def _of_submission(
    connection: sqlite3.Connection, office: Office | None, kept: KeptSubmission, vaults: Mapping[str, VaultState]
) -> Iterator[CouncilStep]:
    steps = whole_way(connection, office, kept)
    end, about = end_of_way(connection, kept, steps), f"submission {kept.manifest.name} of {kept.manifest.submitter}"
    if end.step is None:
        if end.command:
            yield CouncilStep(about, "propose who owns it", end.words, end.command)
        return
    words, command = end.step.words, shlex.split(end.step.command)
    run = "" if kept.last_judged is None else kept.last_judged.run
    waiting = [
        (folder, state, grant)
        for folder, state in vaults.items()
        for grant in state.grants.values()
        if _waits(state, grant) and grant.request.run is not None
        if grant.request.run.run == run and (run or grant.request.run.method == kept.path.name)
    ]
    places = [(folder, corpus.name) for folder, state in vaults.items() for corpus in state.head.corpora.values()]
    purpose = "WORDS"
    if waiting:
        folder, state, grant = waiting[-1]
        words = f"the keepers are asked. {standing(state, grant)} The same command continues"
        places, purpose = [(folder, grant.request.name)], grant.request.purpose
    if "CORPUS" in command and len(places) == 1:
        [(folder, name)] = places
        if command[:3] == ["rosetta", "submission", "run"]:
            command += ["--vault", folder, "--purpose", "WORDS"]
        if name.startswith("-"):  # not to be taken for an option
            command = [*(word for word in command if word != "CORPUS"), "--", name]
        command = [name if word == "CORPUS" else word for word in command]
    command = [purpose if word == "WORDS" else word for word in command]
    yield CouncilStep(about, end.step.name, words, shlex.join(command))


def _waits(state: VaultState, grant: Grant) -> bool:
    """Return whether too few keepers answered a request that is open still."""
    return not grant.used and not grant.expired("") and len(grant.allowed_by(state.keepers)) < state.threshold


def _of_reviews(connection: sqlite3.Connection, office: Office, judged: set[str]) -> Iterator[CouncilStep]:
    """Yield the next step of the newest review of each run that is of no submission."""
    seen = set(judged)
    for review in reversed(office.reviews()):
        for run_id in [run.run_id for run in review.key.runs if run.run_id not in seen]:
            seen.add(run_id)
            if (run := find_by_id(connection, run_id)) is not None:
                step = next((step for step in by_people(connection, office, run) if not step.done), None)
                if step is not None:
                    yield CouncilStep(f"review {review.name}", step.name, step.words, step.command)
