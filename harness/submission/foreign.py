"""Methods of the reference implementation (``method.json``, and the archives that it packs), written as a folder of ours.

Nothing of them is run, and a Dockerfile among them is not read: what runs a method here is the box.
"""

from __future__ import annotations

import gzip
import json
import re
import tarfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

import tomlkit

from harness.core.failures import UsageError
from harness.core.storage import read_bytes, storable
from harness.submission.bundle import RefusedBundle, unpack_into
from harness.submission.members import (
    CODE,
    DATA,
    FOREIGN_SHEET,
    MOST_BYTES,
    MOST_MEMBERS,
    README,
    FoundMember,
    MemberKind,
    in_folder,
    in_tar,
    member_problems,
)

_ARCHIVES: Final = (".tar", ".tar.gz", ".tgz")
_GZIP: Final = b"\x1f\x8b"
_OTHERWISE: Final = (b"BZh", b"\xfd7zXZ\x00")
_MOST_MAGIC: Final = 6
_AROUND: Final = 10 * 2**10
"""Bytes that a tar writes around a member, and at its end."""
_LEFT_OUT: Final = frozenset({"Dockerfile", "manifest.json", FOREIGN_SHEET})
_ADAPTER: Final = "rosetta_adapter"

_INSTEAD: Final = {
    "service": "a server that answers somewhere. Nobody else can run that: hand in what stands behind it, as code or as a model",
    "mt-api": "a translation service of others. Secret texts are sent to none: hand in code or a model",
    "local-model": "an open model by its name. Convert it to CTranslate2 and hand it in as data (method ctranslate2)",
    "nmt-checkpoint": "a trained model. Convert it to CTranslate2 and hand it in as data (method ctranslate2)",
    "human": "people who translate. Score their outputs with rosetta score",
}
"""Kind → what it is and what may be handed in in its place."""

_TEMPLATES = Path(__file__).parent / "templates"
_ADAPTER_CODE: Final = (_TEMPLATES / "adapter.txt").read_text("utf-8")


def write_folder(theirs: Path, ours: Path) -> Path:
    """Write a folder or archive of the reference implementation as a folder for ``pack``, and return that.

    Raises RefusedBundle that names members which may not be there, and UsageError for a kind of method that cannot be
    handed in, with what may.
    """
    if ours.exists():
        raise UsageError(f"{ours} is there already. Name a new folder with -o.")
    members = _members(theirs)
    # Read `method.json`; of before `method/1` too, which name an entry point and no kind.
    if FOREIGN_SHEET not in members:
        raise UsageError(
            f"{theirs}: there is no {FOREIGN_SHEET}. An archive whose entry is a program for a container says nothing that can be run "
            "here: write a function that gets a list of texts, and pack that."
        )
    try:
        read = json.loads(members[FOREIGN_SHEET])
    except (ValueError, RecursionError):
        raise UsageError(f"{theirs}: {FOREIGN_SHEET} is not JSON. Correct it.") from None
    if not isinstance(read, dict):
        raise UsageError(f"{theirs}: {FOREIGN_SHEET} is no object. Correct it.")
    if "kind" not in read and "entry_point" in read:
        read["kind"] = "python"
    described = read
    sheet, made = _translated(described, members)
    name, says = described.get("name", ""), described.get("description", "")
    made.setdefault(README, f"# {name}\n\n{says}\n\n## Limitations\n\n".encode())
    unpack_into({**made, "submission.toml": sheet.encode()}, ours)
    return ours


def _members(place: Path) -> dict[str, bytes]:
    """Return the files below ``method/`` of an archive, or of a folder, by their paths there."""
    if place.is_dir():
        found_members = [*in_folder(place)]
        _refuse(found_members)
        kept = [found_member.path for found_member in found_members if found_member.kind is MemberKind.FILE]
        return {path: read_bytes(place / path, "a part of a method", MOST_BYTES) for path in kept}
    if not place.name.endswith(_ARCHIVES):
        raise UsageError(f"{place}: neither a folder with {FOREIGN_SHEET} nor an archive ({', '.join(_ARCHIVES)}).")
    try:
        _read_through(place)
        with tarfile.open(place) as archive:
            found_members = []
            for member in in_tar(archive):
                found_members.append(member)
                size = sum(e.size for e in found_members)
                if size > MOST_BYTES or len(found_members) > MOST_MEMBERS:
                    break  # enough to refuse it; nothing more is unpacked
            _refuse(found_members)
            files = {e.path: archive.extractfile(e.path) for e in found_members if e.kind is MemberKind.FILE}
            return {path.removeprefix("method/"): file.read() for path, file in files.items() if file}
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise UsageError(f"{place} cannot be read as an archive ({type(error).__name__}). Ask for it once more.") from None  # fmt: skip


def _read_through(place: Path) -> None:
    """Read an archive to its end before a header of it is believed, for a header of any length is read whole into memory.

    Raises OSError or EOFError where its checksum, which is there, is not right, and UsageError where it unpacks to more
    than its members could be, or is compressed in another way.
    """
    left = MOST_BYTES + _AROUND * (MOST_MEMBERS + 1)
    with place.open("rb") as packed:
        begins = packed.peek(_MOST_MAGIC)
        if begins.startswith(_OTHERWISE):
            raise UsageError(f"{place}: it is compressed in another way than by gzip. Unpack it, and name the folder.")
        with gzip.open(packed) if begins.startswith(_GZIP) else packed as whole:
            while part := whole.read(2**20):
                left -= len(part)
                if left < 0:
                    raise UsageError(
                        f"{place}: it unpacks to more than the {MOST_BYTES // 2**20:,} MiB that a submission may have. "
                        "Leave out what the method does not need, or quantise the model."
                    )


def _refuse(found: list[FoundMember]) -> None:
    if problems := member_problems(found):
        raise RefusedBundle(problems)


def _translated(described: Mapping[str, Any], members: Mapping[str, bytes]) -> tuple[str, dict[str, bytes]]:
    kind = str(described.get("kind"))
    if kind in _INSTEAD:
        raise UsageError(f"{FOREIGN_SHEET}: kind {kind!r} is {_INSTEAD[kind]}.")
    makers = {"python": _python, "lexicon": _lexicon, "llm": _model, "llm-coached": _model}
    if kind not in makers:
        raise UsageError(f"{FOREIGN_SHEET}: kind {kind!r} is not known. There are {', '.join([*makers, *_INSTEAD])}.")
    lane, made = makers[kind](described, members)
    if README in members:
        made[README] = members[README]
    return _sheet(described, lane), made


def _python(described: Mapping[str, Any], members: Mapping[str, bytes]) -> tuple[str, dict[str, bytes]]:
    module, _, name = str(described.get("entry_point", "")).partition(":")
    if re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", f"{module}:{name}", re.ASCII) is None:
        raise UsageError(f"{FOREIGN_SHEET}: field 'entry_point' must be module:Class.")
    made = {f"{CODE}/{p}": c for p, c in members.items() if p not in _LEFT_OUT and p != README}
    made[f"{CODE}/{_ADAPTER}.py"] = _ADAPTER_CODE.format(module=module, name=name).encode()
    options = described.get("decode") if isinstance(described.get("decode"), dict) else {}
    lane = f'lane = "code"\nentry = "{_ADAPTER}:Adapter"\noptions = {_inline(options or {})}\n'
    return lane, made


def _lexicon(described: Mapping[str, Any], members: Mapping[str, bytes]) -> tuple[str, dict[str, bytes]]:
    content = _named(described.get("dictionary"), "dictionary", members)
    path = PurePosixPath(str(described["dictionary"]))
    rows = content if path.suffix in {".tsv", ".txt"} else _as_table(content, path.suffix)
    made = {f"{DATA}/dictionary.tsv": rows}
    lane = 'lane = "data"\nmethod = "glossary"\nfiles = { glossary = "data/dictionary.tsv" }\n'
    return lane, made


def _as_table(content: bytes, suffix: str) -> bytes:
    """Write their glossary JSON, or rows of JSON lines, as the table that our dictionaries are."""
    try:
        if suffix == ".jsonl":
            rows = [json.loads(line) for line in content.decode().splitlines() if line.strip()]
            pairs = [(row["source"], row["target"]) for row in rows]
        else:
            read = json.loads(content)
            inner = read.get("dictionary", read)
            pairs = [(key, one) for key, value in inner.items() for one in (value if isinstance(value, list) else [value])]  # fmt: skip
        lines = [f"{a.strip()}\t{b.strip()}\n" for a, b in pairs]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UsageError("The dictionary is no object of words and translations. Correct it, or save it as a table (TSV).") from None  # fmt: skip
    return "".join(lines).encode()


def _model(described: Mapping[str, Any], members: Mapping[str, bytes]) -> tuple[str, dict[str, bytes]]:
    made: dict[str, bytes] = {}
    lane = f'lane = "data"\nmethod = "chat"\nmade_for = {_toml(str(described.get("model", "")))}\n'
    decode = described.get("decode") if isinstance(described.get("decode"), dict) else {}
    known = {n: v for n, v in (decode or {}).items() if n in {"temperature", "batch_size", "max_tokens"}}
    coaching = described.get("coaching") if isinstance(described.get("coaching"), dict) else {}
    text = (coaching or {}).get("prompt")
    if text is None and (coaching or {}).get("file"):
        text = _named(coaching["file"], "coaching.file", members).decode("utf-8", "replace")  # type: ignore[index]
    if text is not None:
        made[f"{DATA}/prompt.txt"] = re.sub(r"\{([a-z_]+)\}", r"{{\1}}", str(text)).encode()
        lane += f'files = {{ prompt = "{DATA}/prompt.txt" }}\n'
    return f"{lane}options = {_inline(known)}\n", made


def _named(path: object, field: str, members: Mapping[str, bytes]) -> bytes:
    if not isinstance(path, str) or path not in members:
        raise UsageError(f"{FOREIGN_SHEET}: field {field!r} names no file next to it. Put the file there.")
    return members[path]


def _inline(options: Mapping[str, Any]) -> str:
    """Write simple values as an inline table of TOML."""
    simple = {n: v for n, v in options.items() if isinstance(v, int | float | str) and re.fullmatch(r"\w+", n)}
    return "{ " + ", ".join(f"{n} = {_toml(v)}" for n, v in simple.items()) + " }"


def _toml(value: float | str) -> str:
    return tomlkit.item(storable(value) if isinstance(value, str) else value).as_string()


def _sheet(described: Mapping[str, Any], lane: str) -> str:
    card = described.get("card") if isinstance(described.get("card"), dict) else {}
    sheet = {
        "name": described.get("name") or described.get("id") or "",
        "release": described.get("version") or "1",
        "submitter": described.get("author") or "",
        "licence": (card or {}).get("license") or "",
    }
    head = "".join(f"{name} = {_toml(str(value))}\n" for name, value in sheet.items())
    return f"""{head}
[method]
{lane}
[costs]
usd_per_entry = 0.0
hardware = ""

[[development]]
corpus = ""
use = "none"
"""
