"""A text file of sentences, one on each line."""

from __future__ import annotations

from pathlib import Path

from harness.core.failures import UsageError
from harness.core.user_file import read_text

MOST_BYTES = 32 * 2**20
_ACTS = frozenset(map(chr, range(0x20))) - {"\t"} | {"\x7f"}


def read_lines(path: Path, longest: int) -> dict[int, str]:
    """Return number of a line, from 1 → its sentence, in UTF-8; empty lines are passed over.

    UsageError names file, line and fix for a sentence of more than ``longest`` characters, a control character, and
    where there is no sentence.
    """
    text, _ = read_text(path, "the sentences", MOST_BYTES)
    lines = {n: line.strip() for n, line in enumerate(text.split("\n"), 1) if line.strip()}
    if not lines:
        raise UsageError(f"{path}: no sentence is in it. Write one on each line.")
    for number, line in lines.items():
        check_length(line, f"{path}: line {number}", longest)
        if not _ACTS.isdisjoint(line):
            raise UsageError(
                f"{path}: line {number}: a control character is in it. Save the file as plain text."
            )
    return lines


def check_length(text: str, where: str, longest: int) -> None:
    """Refuse a sentence of more characters."""
    if len(text) > longest:
        raise UsageError(
            f"{where}: {len(text):,} characters are too many for one sentence; at most {longest:,}. Part it."
        )
