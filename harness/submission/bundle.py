"""A bundle: read whole and checked member by member, or packed and signed; nothing of it is run."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue

from corpora.files.decode import open_regular
from harness.card.model import HASH_FIELD
from harness.core.failures import UsageError
from harness.core.storage import PRIVATE, private_folder
from harness.method.method_names import BUNDLE_SUFFIX
from harness.sealed.archive import (
    BROKEN_ZIP,
    MANIFEST,
    MOST_MANIFEST,
    SIGNATURE,
    SignedManifest,
    pack_signed,
    read_member,
    read_signed_head,
    unpack_signed_all,
)
from harness.sealed.keys import Identity, Signed
from harness.sealed.strict_records import FileError, FileProblem, Hex64, Short, StrictRecord
from harness.submission.members import (
    CARD,
    CODE,
    DATA,
    FOREIGN_SHEET,
    MOST_BYTES,
    README,
    SHAPE,
    SHEET,
    WHEELS,
    FoundMember,
    MemberKind,
    in_zip,
    mebibytes,
    member_problems,
    wheelhouse_problems,
)

# ---- What a file of data is, by its first bytes and its place: what a reader here knows without
# running anything.
#
# Whatever is none of these is refused, above all what runs when it is read: pickled objects (also
# as PyTorch saves them), programs, libraries, bytecode and archives.


class DataKind(StrEnum):
    """The kinds of data that the methods here read."""

    TEXT = "text"
    """UTF-8 or UTF-16: word lists, dictionaries, prompts, coaching."""
    ANALYSER = "analyser"
    """A transducer as HFST writes it for looking up."""
    WEIGHTS = "weights"
    """``model.bin`` of CTranslate2."""


_REFUSED: Final = (
    (b"\x80\x02", "pickled objects, which run code when they are read"),
    (b"\x80\x03", "pickled objects, which run code when they are read"),
    (b"\x80\x04", "pickled objects, which run code when they are read"),
    (b"\x80\x05", "pickled objects, which run code when they are read"),
    (b"PK\x03\x04", "an archive, such as PyTorch's, whose pickled objects run code when they are read"),
    (b"\x1f\x8b", "compressed. Put the file itself there"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\xfe\xed\xfa\xcf", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"#!", "a script"),
    (b"\x00asm", "a program"),
    (b"\x89HDF", "HDF5, of which some readers run code"),
)  # fmt: skip
"""First bytes → what it is, in words."""

_HFST: Final = b"HFST\x00"
_SCRIPTS: Final = frozenset(
    {".py", ".pyc", ".pyd", ".pyw", ".pyz", ".pth", ".so", ".dll", ".dylib", ".exe", ".sh", ".bat",
     ".cmd", ".ps1", ".js", ".pkl", ".pickle", ".pt", ".ckpt", ".joblib", ".npy", ".npz"}
)  # fmt: skip
"""Ends of names that say so, whatever the bytes are."""


class NotData(ValueError):  # noqa: N818  said of a file
    """A file is of no kind that is read here; the words say what it is and what to do."""


def data_kind(path: str, content: bytes) -> DataKind:
    """Return what a file of data is; raises NotData in words, without the path."""
    for begins, what in _REFUSED:
        if content.startswith(begins):
            raise NotData(f"{what}. Only data goes in this lane; code goes in code/.")
    name = PurePosixPath(path)
    if name.suffix.lower() in _SCRIPTS:
        raise NotData(f"by its name ({name.suffix}) code or pickled objects. Only data goes in this lane.")
    length = int.from_bytes(content[:8], "little")
    if content[8:9] == b"{" and 2 <= length <= len(content) - 8:
        raise NotData(
            "safetensors, which says what a model weighs and not how it runs. Convert it to CTranslate2: "
            "ct2-transformers-converter --model FOLDER --output_dir NEW --copy_files tokenizer.json"
        )
    if content.startswith(_HFST) or (name.suffix == ".hfstol" and content):
        return DataKind.ANALYSER
    if name.name == "model.bin" and _is_ctranslate2(content):
        return DataKind.WEIGHTS
    if _is_text(content):
        return DataKind.TEXT
    raise NotData("of no kind that is read here: text in UTF-8, an analyser (.hfstol), or model.bin of CTranslate2")


def _is_ctranslate2(content: bytes) -> bool:
    """Return whether bytes begin as its weights do: a version, and the name of a specification."""
    version, length = int.from_bytes(content[:4], "little"), int.from_bytes(content[4:6], "little")
    name = content[6 : 6 + length]
    return 1 <= version <= 20 and name.endswith(b"Spec\x00") and name[:-1].isalnum()


def _is_text(content: bytes) -> bool:
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return "\x00" not in text


def is_tokenizer(content: bytes) -> bool:
    """Return whether text is a tokenizer as the library tokenizers declares it."""
    try:
        read = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(read, dict) and isinstance(read.get("model"), dict)


# ---- What a bundle says of itself, signed: who hands in which method, with what it is run, and
# what was promised.

FORMAT: Final = "rosetta-submission/1"

Words = Annotated[str, Field(max_length=2000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
"""UTC, to the second."""
Entry = Annotated[str, Field(max_length=200, pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$")]
"""``module:name`` of a function or class in ``code/``."""
Options = dict[Short, JsonValue]


class CodeLane(StrictRecord):
    """A method as code, which runs in the box."""

    lane: Literal["code"] = "code"
    entry: Entry
    options: Options = Field(default_factory=dict)
    """What the entry point is told."""


class DataLane(StrictRecord):
    """A method as data, which the organisation's own program runs."""

    lane: Literal["data"] = "data"
    method: Literal["copy-source", "constant", "glossary", "chat", "pipeline", "ctranslate2"]
    options: Options = Field(default_factory=dict)
    """Options of that method by name; never an endpoint, a key or a path."""
    files: dict[Short, Short] = Field(default_factory=dict)
    """Option that names a file → its member, below ``data/``; the folder, where it names one."""
    made_for: Short = ""
    """Of a method that asks a model: the model that it was made with, for anyone who chooses one here."""


Lane = Annotated[CodeLane | DataLane, Field(discriminator="lane")]


class CostReport(StrictRecord):
    """What the method takes (benchmark-specification §9.1, 4)."""

    usd_per_entry: Annotated[float, Field(ge=0)]
    """Outside money for an entry: 0 where nobody is paid."""
    seconds_per_entry: Annotated[float, Field(ge=0)] | None = None
    hardware: Annotated[str, Field(min_length=3, max_length=500)]
    """On what it was measured."""
    notes: Words = ""


class DevelopmentUse(StrictRecord):
    """What was done with the open texts of a corpus (benchmark-specification §9.2, 2)."""

    corpus: Name
    use: Literal["none", "prompting", "tuning", "training"]
    """``prompting``: as examples or coaching; ``tuning``: to choose settings by; ``training``: learned from."""
    notes: Words = ""


class AcceptedTerms(StrictRecord):
    """The terms of participation that the submitter agreed to, known by their bytes."""

    sha256: Hex64
    by: Name
    when: Moment


class SubmissionManifest(SignedManifest):
    """The signed head of a bundle."""

    format: Literal["rosetta-submission/1"] = FORMAT
    name: Name
    release: Short
    """Which version of the method it is, as its maker counts."""
    submitter: Name
    licence: Name
    """Of code and data, as SPDX names it."""
    source_language: Name
    target_language: Name
    """BCP 47 tags."""
    method: Lane
    costs: CostReport
    development: Annotated[tuple[DevelopmentUse, ...], Field(min_length=1, max_length=50)]
    terms: AcceptedTerms | None = None
    """None: not accepted yet; no keeper is asked for such a bundle."""
    rosetta: Short
    """Version of the program that packed it."""
    packed: Moment
    by: Hex64
    """Key under which it is signed."""

    @property
    def signer(self) -> str:
        return self.by


_MOST_FILE: Final = MOST_BYTES + 2**22
"""Bytes of a bundle's file: its members, and what a zip writes around them."""


_MOST_TOLD: Final = 50
"""Problems that are told; an archive may have as many as it has members."""


class RefusedBundle(FileError):  # noqa: N818  said of a bundle
    """A bundle holds what may not be in one; each problem begins with the member's name."""

    def __init__(self, problems: list[str], what: str = "This submission is refused") -> None:
        self.problems = tuple(problems)
        listed = problems[:_MOST_TOLD]
        if more := len(problems) - len(listed):
            listed = [*listed, f"And {more:,} more."]
        super().__init__(FileProblem.INVALID, "\n".join([f"{what}:", *listed]))


@dataclass(frozen=True)
class Submission:
    """A bundle that was read: its signature, its hashes and every member's kind hold."""

    manifest: SubmissionManifest
    members: Mapping[str, bytes]
    sha256: str
    """Of the whole file; by this the method is known on cards and in grants."""

    def below(self, folder: str) -> dict[str, bytes]:
        """Return the members of a folder, by their path in it."""
        start = f"{folder}/"
        below = (path for path in self.members if path.startswith(start))
        return {path.removeprefix(start): self.members[path] for path in below}


def read_submission(path: Path) -> Submission:
    """Read the file of a bundle; raises FileError that names file and each member that is refused, and UsageError where there is none."""
    data = bundle_bytes(path)
    with naming(path, data):
        return parse_submission(data)


@contextmanager
def naming(path: Path, data: bytes) -> Iterator[None]:
    """Add to a FileError which file it is, and where that is no submission, what it is and what is wanted."""
    try:
        yield
    except RefusedBundle as refused:
        what = f"{path.name}: this submission is refused"
        raise RefusedBundle([*refused.problems], what) from None
    except FileError as wrong:
        words = _what_else(data) if wrong.problem is FileProblem.NOT_OURS else str(wrong)
        raise FileError(wrong.problem, f"{path.name}: {words}") from None


def _what_else(data: bytes) -> str:
    stated: object = None
    with suppress(ValueError, RecursionError):
        stated = json.loads(data)
    if not isinstance(stated, dict):
        what = "another file"
    elif HASH_FIELD in stated:
        what = "a run card"
    else:
        form = stated.get("format")
        what = f"a file of the form {form[:64]!r}" if isinstance(form, str) else "a file of JSON"
    return f"{what}, where a submission is needed. Pack one of the method's folder: rosetta submission pack FOLDER --card CARD"


def read_head(path: Path) -> SubmissionManifest:
    """Return the manifest of a bundle's file, whose signature holds; nothing else of it is read. Raises FileError, and UsageError where there is none."""
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            manifest, signature = map(archive.getinfo, (MANIFEST, SIGNATURE))
            head = Signed(read_member(archive, manifest, MOST_MANIFEST), read_member(archive, signature, 2**10))
    except OSError as error:
        raise _unreadable(path, error) from None
    except (*BROKEN_ZIP, KeyError):
        words = f"{path.name}: damaged. Ask for a new copy."
        raise FileError(FileProblem.DAMAGED, words) from None
    with naming(path, b""):
        return read_signed_head(head, SubmissionManifest)


def bundle_bytes(path: Path) -> bytes:
    """Return the bytes of a bundle's file, not yet examined; raises FileError for too many, and UsageError where there is none."""
    if path.is_dir():
        raise UsageError(f"{path}: a folder, and a submission is one file. {_way_to_a_file(path)}")
    try:
        with open_regular(path) as file:
            if (size := os.fstat(file.fileno()).st_size) > _MOST_FILE:
                raise FileError(
                    FileProblem.TOO_LARGE,
                    f"{path.name}: {mebibytes(size)} MiB, and a submission has {MOST_BYTES // 2**20} at most. Nothing of it was read.",
                )
            return file.read(_MOST_FILE + 1)
    except OSError as error:
        raise _unreadable(path, error) from None


def packed_beside(folder: Path) -> Path:
    return folder.resolve().with_suffix(BUNDLE_SUFFIX)


def _way_to_a_file(folder: Path) -> str:
    """Return how a folder becomes the file that is wanted, in a line that can be typed as it stands."""
    line = f"rosetta submission pack {quote(str(folder))}"
    if not (folder / SHEET).is_file():
        if (folder / FOREIGN_SHEET).is_file():
            return f"Write one to pack of this method: {line} --from"
        return (
            f"It has no {SHEET}, so it cannot be packed either: rosetta submission demo writes a folder that shows how"
        )
    named = (folder / CARD).is_file()
    card = "" if named else " --card CARD, where CARD is a run card over open entries"
    packed = packed_beside(folder)
    if packed.exists():
        return f"Name {packed.name} next to it, or pack it again: {line} --overwrite{card}"
    return f"Pack it: {line}{card}"


def _unreadable(path: Path, error: OSError) -> UsageError:
    mend = (
        "Copy it to a place where you may read it, or have its owner allow you to"
        if isinstance(error, PermissionError)
        else f"Name the file of a submission, NAME{BUNDLE_SUFFIX}"
    )
    return UsageError(f"{path}: it cannot be read ({error.strerror}). {mend}.")


def parse_submission(data: bytes) -> Submission:
    if problems := member_problems(in_zip(data)):
        raise RefusedBundle(problems)
    signed_archive = unpack_signed_all(data, SubmissionManifest, SHAPE)
    if problems := [*content_problems(signed_archive.manifest, signed_archive.members)]:
        raise RefusedBundle(problems)
    sha256 = hashlib.sha256(data).hexdigest()
    return Submission(signed_archive.manifest, signed_archive.members, sha256)


def pack_submission(manifest: SubmissionManifest, members: Mapping[str, bytes], identity: Identity) -> bytes:
    """Return the bytes of a bundle, signed; raises RefusedBundle for what could not be read again."""
    found_members = [FoundMember(path, MemberKind.FILE, len(members[path])) for path in members]
    problems = member_problems(found_members) or [*content_problems(manifest, members)]
    if problems:
        raise RefusedBundle(problems, "This cannot be packed")
    return pack_signed(manifest, members, identity, SHAPE)


def content_problems(manifest: SubmissionManifest, members: Mapping[str, bytes]) -> Iterator[str]:
    """Yield what a bundle lacks or must not have, each with its place; the two members of its signature aside."""
    for name in (CARD, README):
        if name not in members:
            yield f"{name}: missing."
    for path in members:
        top, _, rest = path.partition("/")
        if not rest and path not in {CARD, README, MANIFEST, SIGNATURE}:
            yield f"{path}: nothing that a submission has. Put it below code/ or data/, or take it out."
        elif rest and top not in {CODE, DATA, WHEELS}:
            yield f"{path}: no folder that a submission has ({CODE}/, {DATA}/, {WHEELS}/)."
    wheels = {p.removeprefix(f"{WHEELS}/"): c for p, c in members.items() if p.startswith(f"{WHEELS}/")}
    yield from (f"{WHEELS}/{words}" for words in wheelhouse_problems(wheels))
    match manifest.method:
        case DataLane() as lane:
            yield from _data_problems(lane, members)
        case code:
            place = f"{CODE}/{code.entry.partition(':')[0].replace('.', '/')}"
            if not {f"{place}.py", f"{place}/__init__.py"} & members.keys():
                yield f"{place}.py: missing, and the entry point is {code.entry}."


def _data_problems(lane: DataLane, members: Mapping[str, bytes]) -> Iterator[str]:
    """Yield what is no data, and files that the method names and that are not there."""
    for path, content in members.items():
        if path.startswith((f"{CODE}/", f"{WHEELS}/")):
            yield f"{path}: code, and this submission is of data alone. Take it out, or hand in code."
        elif path.startswith(f"{DATA}/"):
            try:
                data_kind(path, content)
            except NotData as wrong:
                yield f"{path}: {wrong}."
    for option, path in lane.files.items():
        whole = path.rstrip("/")
        there = whole in members or any(member.startswith(f"{whole}/") for member in members)
        if not whole.startswith(f"{DATA}/") or not there:
            yield f"{path}: the option {option} names it, and there is no such member below {DATA}/."


def unpack_into(members: Mapping[str, bytes], folder: Path) -> None:
    """Write members, whose paths were checked, as plain files of their owner alone below a new folder."""
    private_folder(folder)
    for path, content in members.items():
        place = folder.joinpath(*path.split("/"))
        private_folder(place.parent)
        with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as file:
            file.write(content)
