"""The folder of an export: put in place as a whole, checked by tools that every system has, brought up to date.

It is made beside its place and takes that in one step, so anyone who is stopped leaves the export of before, or none.
``SHA256SUMS`` names every file, in the form of ``sha256sum``, and is signed with Ed25519.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import filelock
from pydantic import BaseModel, ValidationError

from corpora.files.decode import open_regular
from corpora.text.messages import counted
from harness.card.checking.verdict import CardCheck
from harness.card.reading import block, parse_object
from harness.card.signing import own_keys
from harness.consent.checks import Found, Verified, found, of_card
from harness.consent.withdrawals_in_force import CorpusFacts, Withdrawals, standing
from harness.core.failures import UsageError
from harness.core.storage import private_folder, write_file
from harness.sealed.keys import Identity, key_phrase, public_pem, says_key, verify
from harness.sealed.phrase import read_words
from harness.sealed.strict_records import FileError, FileProblem

FORMAT: Final = "rosetta-community-export/1"
ABOUT: Final = "about.json"
SUMS: Final = "SHA256SUMS"
SIGNATURE: Final = "SHA256SUMS.sig"
KEY: Final = "SIGNING-KEY.pem"

_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
_PLAIN = re.compile(r"[^\x00-\x1f\x7f\\]+")


@dataclass(frozen=True)
class OutFile:
    path: str  # In the export, with `/` between folders
    data: bytes


class ExportedCorpus(BaseModel):
    id: str
    sha256: str  # Of its file


class ExportFacts(BaseModel):
    """What ``about.json`` says of an export; parts that a later version adds are not read."""

    format: Literal["rosetta-community-export/1"] = FORMAT
    made: str  # UTC
    program: str
    corpora: list[ExportedCorpus]
    signing_key: str
    six_words: str
    secret_texts: bool
    left_out: list[str]


@dataclass(frozen=True)
class Checked:
    """An export as its folder has it, every byte of it checked."""

    about: ExportFacts
    sums: Mapping[str, str]  # Path → SHA-256 of every file but the list itself and its signature

    @property
    def signer(self) -> str:
        """Public key under which it is signed."""
        return self.about.signing_key


@contextmanager
def new_export(target: Path, locks: Path) -> Iterator[Path]:
    """Yield an empty folder beside ``target`` to write into; it is gone after the block unless it was put in place.

    ``locks``: a folder of this computer. Raises UsageError where another program exports there, or folder and disk
    take nothing.
    """
    target = target.absolute()
    name = hashlib.sha256(str(target).encode()).hexdigest()[:16]
    made, before = _beside(target, "part"), _beside(target, "old")
    try:
        private_folder(target.parent)
        lock = filelock.FileLock(private_folder(locks) / f"export-{name}.lock", timeout=1, mode=0o600)
        with lock:
            # Clear what a stopped export left; the older one is put back where it was taken away
            # already.
            if target.is_symlink() or (target.exists() and not target.is_dir()):
                raise UsageError(f"{target} is no folder. Name another one.")
            if before.exists() and not target.exists():
                before.rename(target)
            _remove(before)
            _remove(made)
            private_folder(made)
            try:
                yield made
            finally:
                _remove(made)
    except filelock.Timeout:
        raise UsageError(f"Another program is writing {target}. Try again when it is done.") from None
    except OSError as error:
        raise UsageError(
            f"{target} could not be written ({error.strerror}). It is as it was before. Make room, or name another folder."
        ) from None


def write_part(made: Path, files: Iterable[OutFile]) -> dict[str, str]:
    """Write files below a folder; gives path → SHA-256. Raises UsageError for a path that leads out of it."""
    sums = {}
    for file in files:
        parts = file.path.split("/")
        if not all(_PLAIN.fullmatch(part) and part not in {".", ".."} for part in parts):
            raise UsageError(f"{file.path!r} is no name that every system takes. Rename it.")
        path = made.joinpath(*parts)
        for place in reversed(path.parents[: len(parts) - 1]):  # of several folders the system gives one alone the mode
            place.mkdir(mode=0o700, exist_ok=True)
        write_file(path, file.data, overwrite=False)
        sums[file.path] = hashlib.sha256(file.data).hexdigest()
    return sums


def plain_name(name: str) -> str:
    """Return a name for a file or folder that every system takes; two names may become one."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in name)
    return kept.strip(".-")[:60] or "unnamed"


def sign_part(made: Path, sums: Mapping[str, str], identity: Identity) -> None:
    """Write the list of all files, its signature, and the key to check it with."""
    pem = public_pem(identity.public.signing_key).encode()
    everything = {**sums, **write_part(made, [OutFile(KEY, pem)])}
    listed = "".join(f"{everything[path]}  {path}\n" for path in sorted(everything)).encode()
    write_part(made, [OutFile(SUMS, listed), OutFile(SIGNATURE, identity.sign(listed))])


def put_in_place(made: Path, target: Path) -> None:
    """Move a finished folder to its place; what was there is removed after that.

    Stopped between the two steps, both are next to the place, and the next export or ``read_export`` puts one there.
    """
    target = target.absolute()
    before = _beside(target, "old")
    if target.exists():
        target.rename(before)
    made.rename(target)
    _remove(before)


def read_export(folder: Path) -> Checked:
    """Check every byte of an export; raises FileError that names the file and what to do."""
    before = _beside(folder.absolute(), "old")
    if not folder.exists() and before.is_dir():
        before.rename(folder)
    listed = _read(folder, SUMS)
    sums = {}
    for line in listed.decode("utf-8", "replace").splitlines():
        if (match := _LINE.fullmatch(line)) is None:
            raise _damaged(SUMS, "a line of it is none")
        sums[match[2]] = match[1]
    there = set[str]()
    for where, folders, names in os.walk(folder):
        links = [name for name in folders if (Path(where) / name).is_symlink()]
        there |= {(Path(where) / name).relative_to(folder).as_posix() for name in (*names, *links)}
    if more := sorted(there - sums.keys() - {SUMS, SIGNATURE}):
        raise _damaged(more[0], "no export wrote it")
    for path, sha256 in sums.items():
        if hashlib.sha256(_read(folder, path)).hexdigest() != sha256:
            raise _damaged(path, "its bytes are not those that were written")
    try:
        about = ExportFacts.model_validate_json(_read(folder, ABOUT))
    except ValidationError:
        raise FileError(
            FileProblem.NOT_OURS, f"{folder} is no export of a community, or one of a newer version of Rosetta."
        ) from None
    key = about.signing_key
    right = _read(folder, KEY) == public_pem(key).encode() if re.fullmatch("[0-9a-f]{64}", key) else False
    if not right or not verify(key, listed, _read(folder, SIGNATURE)):
        raise _damaged(SIGNATURE, "it is not that of this list and key")
    return Checked(about, sums)


def _read(folder: Path, path: str) -> bytes:
    place = folder.joinpath(*path.split("/"))
    try:
        if place.is_symlink() or ".." in path.split("/"):
            raise _damaged(path, "a link is in its place")
        with open_regular(place) as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        raise _damaged(path, "it is missing") from None
    except OSError as error:
        raise _damaged(path, f"it cannot be read ({error.strerror})") from None


def _beside(target: Path, what: str) -> Path:
    return target.with_name(f".{target.name}.rosetta-{what}")


def _remove(folder: Path) -> None:
    """Remove a folder of ours with all in it, never what a link leads to."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def _damaged(path: str, reason: str) -> FileError:
    return FileError(
        FileProblem.DAMAGED,
        f"{path}: {reason}. This export was changed, or not copied to its end: make it again, or put back a copy. Files "
        "of your own belong in another folder.",
    )


# ---- Checking an export: every byte as it was written, whose key signed it, and what in it was
# taken back since.


def export_checks(folder: Path, home: Path, words: str) -> list[CardCheck]:
    """Check an export. ``words``: the six words of anyone who should have made it; empty where nobody read them out."""
    try:
        export = read_export(folder)
    except FileError as error:
        return [CardCheck("files", False, str(error))]
    count = counted(len(export.sums), "file")
    signer, six_words = own_keys(home).get(export.signer), key_phrase(export.signer)
    if words and not says_key(read_words(words), export.signer):
        key = CardCheck("key", False, f"signed with another key than that of the words given; its six words are: {six_words}")  # fmt: skip
    elif words or signer:
        key = CardCheck("key", True, f"signed with {signer or 'the key whose six words were given'}: {six_words}")
    else:
        key = CardCheck("key", None, f"signed with a key that nobody here knows. Its six words are: {six_words}. Compare them with those of anyone who made it (--words).")  # fmt: skip
    return [
        CardCheck("files", True, f"{count}, as they were written {export.about.made}"),
        *(CardCheck("consent", check.ok, check.words) for check in withdrawn_in(folder, export, standing(home))),
        key,
    ]


def withdrawn_in(folder: Path, export: Checked, now: Withdrawals) -> list[Found]:
    """Return what notices say of an export that was checked, each once; empty where nothing was ever taken back here."""
    if not now:
        return []
    withdrawals: dict[Found, None] = dict.fromkeys(found(Verified(keys=frozenset({export.signer})), now))
    for path in export.sums:
        for subject in _subjects(path, folder, export):
            withdrawals |= dict.fromkeys([subject] if isinstance(subject, Found) else found(subject, now))
    return list(withdrawals)


def _subjects(path: str, folder: Path, export: Checked) -> Iterator[Verified | Found]:
    """Yield by what a file is held against notices, where it is a card or a corpus; or that nobody can tell."""
    where, name = path.split("/", maxsplit=1)[0], path.rsplit("/", maxsplit=1)[-1]
    card = where == "runs" and name == "card.json"
    if not card and not (where == "corpora" and path.count("/") == 1 and name.endswith(".json")):
        return
    try:
        content = parse_object(folder.joinpath(*path.split("/")).read_bytes(), path)
    except UsageError as error:
        yield Found(None, f"whether it was withdrawn cannot be told: {error}")
        return
    if card:
        rows = content.get("results")
        yield of_card(content, _ids(rows, "entry_id") if rows else None)
    else:
        # A corpus' file is named by the beginning of its hash
        fields = block(content, "dataset")
        known = (corpus.sha256 for corpus in export.about.corpora)
        sha256 = next((digest for digest in known if name.endswith(f"-{digest[:12]}.json")), "")
        tags = (fields.get(name) for name in ("source_language", "target_language"))
        source, target = (tag if isinstance(tag, str) else None for tag in tags)
        corpus_facts = CorpusFacts(sha256, str(fields.get("id", "")), source, target)
        yield Verified(corpus_facts, ids=frozenset(_ids(content.get("entries"), "id")))


def _ids(rows: Any, field: str) -> list[str]:
    listed = rows if isinstance(rows, list) else []
    return [str(row.get(field)) for row in listed if isinstance(row, Mapping)]
