"""Reads text files that are aligned line by line: a source and one or more references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from corpora.corpus import Form
from corpora.findings import Findings, shown
from corpora.raw import RawCorpus, RawEntry
from corpora.tags import language_of_file


def read_parallel(
    texts: Sequence[str], names: Sequence[str], findings: Findings
) -> RawCorpus | None:
    """Pair the lines of a source file and one or more files of references; an entry's id is its line number.

    What further files have on a line is a variant. Files of different length are refused: one line too many
    shifts every pair after it.
    """
    sides = [_lines(text) for text in texts]
    for name, lines in zip(names[1:], sides[1:], strict=True):
        if len(lines) != len(sides[0]):
            findings.error(
                f"The files are not aligned: {len(sides[0])} lines in the source file, "
                f"{len(lines)} in the reference file{f' {shown(name)}' if len(names) > 2 else ''}.",
                "Give files with one sentence a line, in the same order.",
            )
    if findings.failed:
        return None
    raw = RawCorpus(Form.PARALLEL, {}, guessed=_guessed_languages(names))
    blank = 0
    for line, (source, *references) in enumerate(zip(*sides, strict=True), start=1):
        given = [text for text in references if text.strip()]
        if not source.strip() and not given:
            blank += 1
            continue
        fields: dict[str, Any] = {"id": line, "source": source, "reference": (given or [""])[0]}
        if variants := list(dict.fromkeys(text for text in given[1:] if text != given[0])):
            fields["variants"] = variants
        raw.entries.append(RawEntry(fields, len(raw.entries) + 1, line))
    if blank:
        raw.envelope["file_lines"] = len(sides[0])
        findings.warning(
            f"{_lines_are(blank)} blank in {'both' if len(sides) == 2 else 'all'} files and left out.",
            "Nothing to do if they separate paragraphs. A file of outputs may have a line for each line of "
            "the files, or for each entry.",
        )
    return raw


def _lines_are(number: int) -> str:
    return "One line is" if number == 1 else f"{number:,} lines are"


def _lines(text: str) -> list[str]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines and not lines[-1]:
        lines.pop()
    return lines


def _guessed_languages(names: Sequence[str]) -> dict[str, str]:
    sides = ("source_language", "target_language")
    tags = ((side, language_of_file(name)) for side, name in zip(sides, names, strict=False))
    return {side: tag for side, tag in tags if tag is not None}
