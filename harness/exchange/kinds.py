"""What may be in an exchange folder: the program's own kinds of file, each with who reads it, and names that every disk takes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.card.checking.signed import UNKNOWN
from harness.card.leaving import refuse_inside
from harness.card.reading import parse_object
from harness.card.seal import HASH_FIELD, seal_form
from harness.card.signing import card_seal
from harness.card.signing.row_proof import is_proof, read_proof
from harness.consent import notice
from harness.leaderboard.released_files import verify_released
from harness.sealed.archive import RESERVED
from harness.sealed.stick import MOST_BYTES
from harness.sealed.strict_records import FileError, FileProblem
from harness.vault.grants import files
from harness.vault.keepers import CARD_SUFFIX, read_card

MOST_NAME: Final = 100
"""Characters of a file's name; with its folder it stays below what Windows takes."""

_KEPT: Final = frozenset(" -_.()+,'")


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file that one computer hands to another, known by the end of its name."""

    suffix: str
    """In small letters, from the point on."""
    what: str
    """What it is, for people: ``the card of a keeper``."""
    check: Callable[[bytes], object]
    """Its own reader, as far as it goes without keys; raises UsageError in words."""
    then: str
    """What takes it in on the other computer, with FILE for its path."""
    most: int = MOST_BYTES
    """Bytes of the largest one."""
    beside: str = ""
    """End of the name of the file that vouches for it, which goes along where it is next to it."""


def kind_of(name: str, kinds: Iterable[FileKind]) -> FileKind | None:
    """Return the kind of a file by its name, the longest end that fits; None where it is none of ours."""
    folded = name.casefold()
    fits = [kind for kind in kinds if folded.endswith(kind.suffix) and folded != kind.suffix]
    return max(fits, key=lambda kind: len(kind.suffix), default=None)


def with_vouching(paths: Iterable[Path], kinds: Sequence[FileKind]) -> list[Path]:
    """Return paths, each followed by the file that vouches for it where one is next to it; each path once."""
    paths_with_vouching: dict[Path, None] = {}
    for path in paths:
        paths_with_vouching[path] = None
        kind = kind_of(path.name, kinds)
        if kind is not None and kind.beside:
            other = path.with_name(f"{path.name[: -len(kind.suffix)]}{kind.beside}")
            if other.is_file():
                paths_with_vouching[other] = None
    return list(paths_with_vouching)


def tidy_name(name: str) -> str:
    """Return a name that FAT, exFAT, NTFS and every other disk takes, and that no terminal acts on.

    Letters of all writings, digits and a few signs stay, others become hyphens; it is composed (NFC), is no device of
    Windows, and neither begins nor ends with a point or space.
    """
    composed = unicodedata.normalize("NFC", name)
    kept = "".join(
        character if character in _KEPT or unicodedata.category(character)[0] in "LNM" else "-"
        for character in composed
    )
    stem, point, end = re.sub(r"\.\.+", ".", kept).strip(" .").partition(".")
    tidy = f"{stem.strip() or '-'}{point}{end}"[-MOST_NAME:].strip(" .")
    return f"-{tidy}"[:MOST_NAME] if RESERVED.fullmatch(tidy) or not tidy else tidy


def check_json(data: bytes) -> None:
    """Raise UsageError where JSON is no sealed card of a run, no proof of a row of one, and nothing that was released.

    The card of a run over secret entries is refused: what leaves of it is a released card.
    """
    if is_proof(data):
        read_proof(data, "this proof")
        return
    if (released := verify_released(data, UNKNOWN)) is not None:
        if not released.ok:
            raise FileError(FileProblem.DAMAGED, _NOT_AS_RELEASED)
        return
    card = parse_object(data, "this card")
    if not card.get(HASH_FIELD):
        raise FileError(
            FileProblem.NOT_OURS,
            "This is JSON, but neither a card of a run, nor the proof of a row of one, nor a released card. Name the file that rosetta runs export "
            "or rosetta runs proof wrote.",
        )
    if seal_form(card) is None:
        raise FileError(
            FileProblem.DAMAGED,
            "The seal of this card is broken: it was changed after it was sealed. Export the run again, or ask for it once more.",
        )

    refuse_inside(card, str(card.get("run_id", "")))


_NOT_AS_RELEASED: Final = "This released card is not as it was signed: it was changed, or it is damaged. Release it again, or ask for it once more."

KINDS: Final = (
    FileKind(
        CARD_SUFFIX, "the card of a keeper", read_card, "rosetta vault enrol VAULT FILE", 4096
    ),
    FileKind(
        notice.SUFFIX,
        "a notice of consent",
        notice.read_notice,
        "rosetta consent take FILE",
        notice.MOST_BYTES,
    ),
    FileKind(
        card_seal.SUFFIX,
        "the seal of a card",
        card_seal.read_seal,
        "is next to its card",
        card_seal.MOST_BYTES,
    ),
    FileKind(
        ".json",
        "a card of a run, whole or released, or the proof of a row",
        check_json,
        "rosetta runs verify FILE",
        beside=card_seal.SUFFIX,
    ),
    FileKind(
        files.REQUEST_SUFFIX,
        "a request to open a vault",
        files.read_request,
        "rosetta vault grant show VAULT FILE",
        files.MOST_BYTES,
    ),
    FileKind(
        files.ANSWER_SUFFIX,
        "an answer to a request",
        files.read_answer,
        "rosetta vault grant take VAULT FILE",
        files.MOST_BYTES,
    ),
)
"""Those of the harness; reviews have more."""
