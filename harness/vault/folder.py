"""The folder of a vault: what is in it, how it is checked, and how it changes in one step.

The signed head names the files of each corpus by their hashes, and how far the log goes; the log names the shares of
keepers who open together. A change writes new files beside the old ones and lines behind the log's signed end; then it
puts a new head instead of the old one. Anyone who is stopped before that moment has changed nothing, and what is left
over is cleared by the next change. No text is ever in a file openly.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from corpora.files.decode import open_regular
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.storage import (
    StorageProblem,
    append_line,
    exclusive,
    mend_of,
    private_folder,
    storage_problem,
    sync_folder,
    write_file,
)
from harness.sealed.archive import read_record, signed_record
from harness.sealed.keys import Identity
from harness.sealed.sealing import recipients_in
from harness.sealed.strict_records import FileError, FileProblem
from harness.vault.grant_log import Grant
from harness.vault.log import (
    MOST_LINE,
    LogLine,
    VaultError,
    corpora_of,
    former_files,
    grants_of,
    keepers_of,
    read_lines,
    signers,
    splits_of,
    write_line,
)
from harness.vault.vault_records import (
    HEAD_FORMAT,
    TOGETHER_FORMAT,
    Act,
    Founded,
    Head,
    Keeper,
    KeySplit,
    SignedHead,
    StoredCorpus,
)

HEAD: Final = "vault.json"
LOG: Final = "log.jsonl"
README: Final = "README.txt"
LOCK: Final = "vault.lock"

MOST_HEAD: Final = 2**20
"""Bytes."""
_HEAD_BESIDES = 2**12
"""Bytes of a head beside its corpora, at most."""
MOST_FILE: Final = 2**29
"""Bytes of any other file; what is larger would fill the memory."""
BUSY_SECONDS: Final = 20
"""How long one waits for another program that changes the vault."""

_OURS = re.compile(r"[0-9a-f]{64}|\.([0-9a-f]{64}|vault\.json|log\.jsonl|README\.txt)\..*")
"""Names of files that the head may name, and of what a write that was stopped leaves."""

_TEMPLATES = Path(__file__).parent / "templates"
_README = (_TEMPLATES / "README.txt").read_text("utf-8")


@dataclass(frozen=True)
class VaultState:
    """A vault as its folder has it, checked."""

    folder: Path
    head: Head
    lines: tuple[LogLine, ...]
    left_over: tuple[str, ...]
    """Names of files, and the log, where a change was stopped before its end; nothing of them counts."""

    @property
    def keepers(self) -> Mapping[str, Keeper]:
        """Who can open it, by signing key."""
        return keepers_of(self.lines)

    @property
    def split(self) -> KeySplit | None:
        """How the opening key is split; None where each keeper opens alone."""
        return (splits_of(self.lines) or (None,))[-1]

    @property
    def threshold(self) -> int:
        """How many keepers open together; 1 where each opens alone."""
        return self.split.threshold if self.split else 1

    @property
    def grants(self) -> Mapping[str, Grant]:
        return grants_of(self.lines)

    @property
    def founded(self) -> Founded:
        """How it was made: its name and first keepers."""
        act = self.lines[0].record.act
        assert isinstance(act, Founded)  # noqa: S101  read_lines saw to it
        return act

    def file(self, sha256: str) -> bytes:
        return _read(self.folder / sha256)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder where it is not there, and keep other programs from changing the vault in it meanwhile.

    Raises VaultError where another one changes it, and where folder or disk take nothing.
    """
    busy = f"Another program is changing the vault in {folder}. Try again when it is done."
    try:
        private_folder(folder)
        if (folder / LOCK).is_symlink():  # some locks empty the file that they lie in
            raise _damaged(LOCK, "a link is in its place")
        with exclusive(folder / LOCK, VaultError(FileProblem.LOCKED, busy), BUSY_SECONDS):
            yield
    except OSError as error:
        raise VaultError(
            FileProblem.INVALID,
            f"{folder} cannot be used ({error.strerror}). Is the stick in its place, and can you write to it? Name a folder "
            "that you can write to, or try again.",
        ) from None


def read_state(folder: Path) -> VaultState:
    """Read the folder and check every byte that counts; raises VaultError that names the file and what to do."""
    while True:
        content = _head_bytes(folder)
        try:
            return _checked(folder, content)
        except VaultError:
            if _head_bytes(folder) == content:  # else somebody changed the vault meanwhile
                raise


def _checked(folder: Path, content: bytes) -> VaultState:
    try:
        head = read_record(content, SignedHead, "the head of a vault", most=MOST_HEAD)
    except FileError:
        raise _damaged(HEAD, "it is not of this form, or of a newer version of Rosetta") from None
    if canonical_bytes(head.model_dump(mode="json")) != content:
        raise _damaged(HEAD, "it is not written in the one canonical form")
    log = _read(folder / LOG)
    lines = read_lines(log[: head.log_bytes])
    keepers = keepers_of(lines)
    if len(log) < head.log_bytes or (head.lines, head.log_head) != (len(lines), lines[-1].id):
        raise _damaged(LOG, "its last lines are missing, or others")
    # its writer wrote the last line too, and where that dealt the shares anew together, with the key of before
    may_write = head.by in signers(keepers, splits_of(lines)) | {lines[-1].record.by}
    if head.vault != lines[0].id or not may_write or not head.is_signed_by(head.by):
        raise _damaged(HEAD, "it is not signed by a keeper of this vault")
    if head.corpora != corpora_of(lines):
        raise _damaged(HEAD, "it holds other things than the log says")
    if hashlib.sha256(_read(folder / README)).hexdigest() != head.readme:
        raise _damaged(README, "somebody wrote into it")
    plain = Head.model_validate(head.model_dump(exclude={"signature"}))
    left = (LOG,) if len(log) > head.log_bytes else ()
    state = VaultState(folder, plain, lines, left)
    if head.format != _form(lines):
        raise _damaged(HEAD, "it is of another form than the log says")
    for sha256 in _named(state):
        if hashlib.sha256(_read(folder / sha256)).hexdigest() != sha256:
            raise _damaged(sha256, "its bytes are not those that were written")
    _check_sealed(state)
    return replace(state, left_over=(*left, *_left_over(state)))


def _check_sealed(state: VaultState) -> None:
    """Check for how many each key and share is sealed; for whom, the form of age does not tell."""
    keepers = 1 if state.split else len(state.keepers)
    others = "more than the opening key" if state.split else f"others than the {keepers} keepers"
    shares = state.split.shares.values() if state.split else ()
    for file, count, wrong in (
        *((corpus.key, keepers, f"it is sealed for {others}") for corpus in state.head.corpora.values()),
        *((share.file, 1, "this share is sealed for more than its keeper") for share in shares),
        *((former, 1, "it is sealed for more than the opening key") for former in former_files(state.lines)),
    ):  # fmt: skip
        if recipients_in(state.file(file)) != count:
            raise _damaged(file, wrong)


def _form(lines: tuple[LogLine, ...]) -> Literal["rosetta-vault/1", "rosetta-vault/2"]:
    return TOGETHER_FORMAT if splits_of(lines) else HEAD_FORMAT


def make_folder(
    folder: Path, act: Founded, identity: Identity, now: datetime, files: Mapping[str, bytes]
) -> VaultState:
    """Make a vault in a folder that is not there yet, is empty, or holds what a stopped ``init`` left.

    ``files``: the sealed shares, by SHA-256, where its keepers open together.
    """
    if folder.is_dir():
        _refuse_foreign(folder)  # before a lock is made in it
    with locked(folder):
        _refuse_foreign(folder)
        line = write_line((), act, identity, now)
        readme = _README.format(name=_one_line(act.name)).encode()
        write_file(folder / README, readme, overwrite=True)
        for sha256, content in files.items():
            write_file(folder / sha256, content, overwrite=True)
        write_file(folder / LOG, line.content + b"\n", overwrite=True)
        sha256 = hashlib.sha256(readme).hexdigest()
        return _set_head(folder, (line,), {}, sha256, identity)


def change(
    state: VaultState,
    act: Act,
    identity: Identity,
    now: datetime,
    *,
    corpora: Mapping[str, StoredCorpus] | None = None,
    files: Mapping[str, bytes] | None = None,
    clock_was_wrong: bool = False,
) -> VaultState:
    """Write a line into the log and, where given, other corpora with their files; all of it or nothing.

    Call it under ``locked``, with the keys of a keeper. ``files`` are new ones, by SHA-256. Raises VaultError where the disk takes no more.
    """
    folder, head = state.folder, state.head
    written = dict(files or {})
    after = head.corpora if corpora is None else corpora
    stored = {n: corpus for n, corpus in after.items() if head.corpora.get(n) != corpus}
    line = write_line(state.lines, act, identity, now, stored=stored, clock_was_wrong=clock_was_wrong)
    _check_sizes(head.log_bytes, line, written.values(), after)
    _clear(state)  # what a stopped change left may be all the room that there is
    try:
        for sha256, content in written.items():
            write_file(folder / sha256, content, overwrite=True)
        append_line(folder / LOG, head.log_bytes, line.content + b"\n")
        changed = _set_head(folder, (*state.lines, line), after, head.readme, identity)
    except (UsageError, OSError) as error:
        if isinstance(error, FileError):
            raise
        cause = error.__cause__ or error
        problem, mend = str(error), "Make room, and try again."
        if isinstance(cause, OSError):
            problem = f"{cause.strerror}."
            if storage_problem(cause) is not StorageProblem.DISK_FULL:
                mend = mend_of(cause)
        raise VaultError(
            FileProblem.INVALID, f"The vault in {folder} could not be changed: {problem} It is as it was before. {mend}"
        ) from None
    _clear(changed)
    return changed


def _check_sizes(log: int, line: LogLine, files: Iterable[bytes], corpora: Mapping[str, StoredCorpus]) -> None:
    """Refuse a change after which the vault could not be read any more."""
    head = canonical_bytes({n: corpus.model_dump(mode="json") for n, corpus in corpora.items()})
    if (
        len(line.content) > MOST_LINE
        or len(head) > MOST_HEAD - _HEAD_BESIDES
        or max([log + len(line.content), *map(len, files)]) >= MOST_FILE
    ):
        raise VaultError(
            FileProblem.TOO_LARGE,
            "This is too much at once for a vault, which is as it was before. Move fewer entries, or make a corpus of "
            "fewer, or a second vault.",
        )


def copy_to(state: VaultState, target: Path) -> None:
    """Copy a vault, sealed as it is, into a new folder or over an older copy of the same vault."""
    if target.is_dir() and not (target / HEAD).exists():
        _refuse_foreign(target)  # before a lock is made in it
    with locked(target):
        if (target / HEAD).exists():
            copy = read_state(target)
            ids = [line.id for line in state.lines]
            if [line.id for line in copy.lines] != ids[: len(copy.lines)]:
                raise VaultError(
                    FileProblem.INVALID,
                    f"{copy.folder} holds another vault, or one that was used since it was copied. Name another folder.",
                )
        else:
            _refuse_foreign(target)
        for name in (README, *_named(state)):
            write_file(target / name, _read(state.folder / name), overwrite=True)
        log = _read(state.folder / LOG)[: state.head.log_bytes]
        write_file(target / LOG, log, overwrite=True)
        write_file(target / HEAD, _read(state.folder / HEAD), overwrite=True)
        _sync(target)
        _clear(read_state(target))


def _refuse_foreign(folder: Path) -> None:
    """Refuse a folder that holds anything but what a stopped write of a vault leaves, which begins with its README."""
    readme = _read(folder / README) if (folder / README).exists() else b""
    ours = readme.startswith(_README.partition("{")[0].encode())
    for path in folder.iterdir():
        known = path.name in {LOG, README} or _OURS.fullmatch(path.name)
        if path.name != LOCK and not path.name.startswith(f".{README}.") and not (ours and known):
            raise VaultError(
                FileProblem.INVALID,
                f"{folder} holds other things already ({_one_line(path.name)}). Name a new folder for the vault.",
            )


def _set_head(
    folder: Path, lines: tuple[LogLine, ...], corpora: Mapping[str, StoredCorpus], readme: str, identity: Identity
) -> VaultState:
    head = Head(
        format=_form(lines),
        vault=lines[0].id,
        lines=len(lines),
        log_bytes=sum(len(line.content) + 1 for line in lines),
        log_head=lines[-1].id,
        corpora=dict(corpora),
        readme=readme,
        by=identity.public.signing_key,
    )
    _sync(folder)
    write_file(folder / HEAD, signed_record(head, identity), overwrite=True)
    _sync(folder)
    return VaultState(folder, head, lines, ())


def _clear(state: VaultState) -> None:
    """Delete the files that no head names; they are sealed, so one that stays tells nothing."""
    for name in _left_over(state):
        with suppress(OSError):
            (state.folder / name).unlink()


def _left_over(state: VaultState) -> tuple[str, ...]:
    named = _named(state)
    files_of_ours = (path.name for path in state.folder.iterdir() if _OURS.fullmatch(path.name))
    return tuple(sorted(name for name in files_of_ours if name not in named))


def _named(state: VaultState) -> list[str]:
    """Name the files that count: those of the corpora, as the head has them, and the shares of the last splitting."""
    corpora = state.head.corpora.values()
    of_corpora = {name for corpus in corpora for name in (corpus.key, corpus.texts)}
    shares = state.split.shares.values() if state.split else ()
    return sorted(of_corpora | {share.file for share in shares} | set(former_files(state.lines)))


def _head_bytes(folder: Path) -> bytes:
    if not (folder / HEAD).is_file():
        raise VaultError(
            FileProblem.NOT_OURS,
            f"{folder} is no vault: there is no {HEAD} in it. Name the folder of a vault, or make one with "
            "'rosetta vault init'.",
        )
    return _read(folder / HEAD, MOST_HEAD)


def _read(path: Path, most: int = MOST_FILE) -> bytes:
    """Read a file of the vault, never one to which a link in its place leads, and no pipe or device."""
    try:
        if path.is_symlink():
            raise _damaged(path.name, "a link is in its place")
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_size > most:
                raise _damaged(path.name, f"it is larger than {most:,} bytes")
            return file.read(most)
    except FileNotFoundError:
        raise _damaged(path.name, "it is missing") from None
    except OSError as error:
        raise VaultError(
            FileProblem.DAMAGED,
            f"{path} cannot be read ({error.strerror}). Make it readable, or put back a copy of the whole folder.",
        ) from None


def _sync(folder: Path) -> None:
    """Flush the names in a folder to the disk; the change holds already, so what goes wrong now undoes nothing."""
    with suppress(OSError):
        sync_folder(folder)


def _damaged(name: str, reason: str) -> VaultError:
    return VaultError(
        FileProblem.DAMAGED,
        f"{name}: {reason}. This vault was changed, or not copied to its end: put back a copy of the whole folder.",
    )


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
