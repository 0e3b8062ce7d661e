"""Reading a text file that a user named: with a bound on its size, and words for what is wrong with it.

Dictionaries, word lists and the like come from anywhere; all are read here, so that each says the same. So are
the words for what a model refuses in them, or in options.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from corpora.files.decode import MARKS, folder_words, open_regular, what_is, wide_encoding
from corpora.files.toml_text import first_problem
from harness.core.failures import UsageError

MOST_BYTES = 256 * 2**20
"""No dictionary that people made is larger; a wrong path may name a disk image."""


def read_text(path: Path, what: str, most_bytes: int = MOST_BYTES) -> tuple[str, str]:
    """Read a file in UTF-8, or in UTF-16 with its byte order mark; return its text and the SHA-256 of its bytes.

    ``what`` names its contents (``"the word list"``). UsageError names file, line of a wrong byte and fix.
    """
    content = read_bytes(path, what, most_bytes)
    return text_of(path, what, content), hashlib.sha256(content).hexdigest()


def text_of(path: Path, what: str, content: bytes) -> str:
    """Return the text of a file that was read; see ``read_text``."""
    if (binary := what_is(content)) is not None:
        raise UsageError(f"{path}: {binary[0]}, not {what}. {binary[1]}")
    wide = wide_encoding(content)
    if wide is not None and (wide != "UTF-16" or content[:2] not in MARKS):
        raise UsageError(
            f"{path}: line 1: in {wide}, and not in UTF-8 or in UTF-16 with its byte order mark. "
            "Save the file as UTF-8."
        )
    encoding = "utf-16" if wide else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].decode(encoding, "ignore").count("\n") + 1
        name = wide or "UTF-8"
        raise UsageError(f"{path}: line {line}: not {name}. Save the file as UTF-8.") from None


def read_bytes(path: Path, what: str, most_bytes: int = MOST_BYTES) -> bytes:
    """Read a file whose bytes are kept or hashed as they are; UsageError names file and fix."""
    try:
        with open_regular(path) as file:
            small = os.fstat(file.fileno()).st_size <= most_bytes
            content = file.read(most_bytes + 1) if small else b""
    except IsADirectoryError:
        message, mend = folder_words(path)
        raise UsageError(f"{path}: {message} {mend}") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        mend = "Check the name" if error.errno == errno.ENOENT else "Name a text file in UTF-8"
        raise UsageError(f"{path}: {what} cannot be read ({reason}). {mend}.") from error
    except ValueError:
        raise UsageError(f"{path!r}: no file can have this name. Correct it.") from None
    if not small or len(content) > most_bytes:
        limit = f"{most_bytes // 2**20:,} MiB" if most_bytes >= 2**20 else f"{most_bytes:,} bytes"
        raise UsageError(f"{path}: larger than {limit}, so it is not {what}. Name the right file.")
    return content


def folder_sha256(folder: Path) -> str:
    """Hash the names and contents of a model's files; hidden ones and the README say nothing of it."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if not path.is_file() or name.name == "README.md" or any(p[0] == "." for p in name.parts):
            continue
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        total.update(f"{name.as_posix()}\0{content}\n".encode())
    return total.hexdigest()


@contextmanager
def usage_errors(what: str, text: str = "", *, fix: str = "") -> Iterator[None]:
    """Raise UsageError, beginning with ``what``, for what a model refuses in the block.

    ``text``: the TOML that is read there; with it, lines are named.
    """
    try:
        yield
    except ValueError as error:
        from pydantic import ValidationError  # loaded by who has a model

        if not isinstance(error, ValidationError):
            if not text:
                raise
            raise UsageError(f"{what}: not valid TOML: {error}. Correct it.") from None
        raise UsageError(f"{what}: {first_problem(error, text)} {fix}".rstrip()) from None
