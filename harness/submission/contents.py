"""What a file of data is, by its first bytes and its place: what a reader here knows without running anything.

Whatever is none of these is refused, above all what runs when it is read: pickled objects (also as PyTorch saves them),
programs, libraries, bytecode and archives.
"""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final


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
        raise NotData(f"by its name ({name.suffix}) code or pickled objects. Only data goes in this lane.")  # fmt: skip
    if _is_safetensors(content):
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
    raise NotData(
        "of no kind that is read here: text in UTF-8, an analyser (.hfstol), or model.bin of CTranslate2"
    )


def _is_safetensors(content: bytes) -> bool:
    length = int.from_bytes(content[:8], "little")
    return content[8:9] == b"{" and 2 <= length <= len(content) - 8


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
