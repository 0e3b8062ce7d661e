"""Reads text files that are aligned line by line: a source and one or more references."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from corpora.files.problems import Findings, shown
from corpora.formats.columns import add_references
from corpora.languages.tags import language_of_file
from corpora.model.corpus import Form, RawCorpus, RawEntry


def read_parallel(
    texts: Sequence[str], names: Sequence[str], findings: Findings
) -> RawCorpus | None:
    """Pair the lines of a source file and one or more files of references; an entry's id is its line number.

    What further files have on a line is a variant, as are further columns of a file of references. Files of different length are refused: one line too many
    shifts every pair after it.
    """
    sides = _sides(texts, names, findings)
    for name, lines in zip(names[1:], sides[1:], strict=True):
        if len(lines) != len(sides[0]):
            findings.error(
                f"The files are not aligned: {_counted(sides[0])} in the source file, "
                f"{_counted(lines)} in the reference file{f' {shown(name)}' if len(names) > 2 else ''}.",
                "Give files with one sentence a line, in the same order.",
            )
    sides[1:] = [
        column
        for name, lines in zip(names[1:], sides[1:], strict=True)
        for column in _columns(lines, sides[0], name, findings)
    ]
    if findings.failed:
        return None
    raw = RawCorpus(Form.PARALLEL, {}, guessed=_guessed_languages(names))
    blank = 0
    for line, (source, *references) in enumerate(zip(*sides, strict=True), start=1):
        if not any(text.strip() for text in (source, *references)):
            blank += 1
            continue
        fields: dict[str, Any] = {"id": line, "source": source, "reference": references[0]}
        add_references(fields, references[1:])
        raw.entries.append(RawEntry(fields, len(raw.entries) + 1, line))
    if blank:
        raw.envelope["file_lines"] = len(sides[0])
        findings.warning(
            f"{_lines_are(blank)} blank in {'both' if len(sides) == 2 else 'all'} files and left out.",
            "Nothing to do if they separate paragraphs. A file of outputs may have a line for each line of "
            "the files, or for each entry.",
        )
    return raw


def _columns(
    lines: list[str], sources: Sequence[str], name: str, findings: Findings
) -> list[list[str]]:
    """Return the references of a file, one list a column: sacreBLEU keeps several on a line, separated by tabs.

    Tabs in few lines only, or in the sources too, belong to the texts.
    """
    tabs = [line.count("\t") for line in lines]
    most = max(tabs, default=0)
    if 2 * sum(map(bool, tabs)) <= len(tabs) or any("\t" in source for source in sources):
        return [lines]
    odd = [at for at, line in enumerate(lines) if line.strip() and tabs[at] != most]
    if odd:
        findings.error(
            f"{shown(name)} has {most + 1} columns on other lines, and {tabs[odd[0]] + 1} here, so that nobody "
            "can tell which references are which.",
            "Give every line as many columns; one without a text is still set off by its tab. Tabs within texts "
            "need JSON or JSONL.",
            line=odd[0] + 1,
            field="reference",
        )
        return [lines]
    findings.warning(
        f"The {most + 1} columns of {shown(name)} were read as as many references: the first as the reference, the "
        "others as variants.",
        "Nothing to do if the file holds nothing but references.",
        field="reference",
    )
    cells = [line.split("\t") if line.strip() else [""] * (most + 1) for line in lines]
    return [list(column) for column in zip(*cells, strict=True)]


def _lines_are(number: int) -> str:
    return "One line is" if number == 1 else f"{number:,} lines are"


def _counted(lines: Sequence[str]) -> str:
    return "1 line" if len(lines) == 1 else f"{len(lines):,} lines"


_AT_END = re.compile(r"\r{2,}(?=\n|\Z)")
_WITHIN = re.compile(r"\r+(?![\r\n]|\Z)")
_ANY_END = re.compile(r"\r*\n|\r")


def _sides(texts: Sequence[str], names: Sequence[str], findings: Findings) -> list[list[str]]:
    """Cut files into lines; carriage returns beyond Windows line ends are said of each file once.

    One within a line ends it where the file has no other line ends, or where the files only fit together so.
    """
    plain = [_lines(text) for text in texts]
    cut = [_lines(_ANY_END.sub("\n", text)) for text in texts]
    only_so = _differ_in_length(plain) and not _differ_in_length(cut)
    sides: list[list[str]] = []
    for text, name, by_feed, by_any in zip(texts, names, plain, cut, strict=True):
        ends = only_so or "\n" not in text
        sides.append(by_any if ends else by_feed)
        _note_returns_at_ends(text, shown(name), findings)
        _note_returns_within(text, shown(name), findings, ends=ends)
    return sides


def _differ_in_length(sides: Sequence[Sequence[str]]) -> bool:
    return len({len(lines) for lines in sides}) > 1


def _note_returns_at_ends(text: str, name: str, findings: Findings) -> None:
    positions = [match.start() for match in _AT_END.finditer(text)]
    if positions:
        lines = "One line" if len(positions) == 1 else f"{len(positions):,} lines"
        findings.warning(
            f"{lines} of {name} {'ends' if len(positions) == 1 else 'end'} in more than one carriage return (\\r), "
            "as where parts with Windows line ends were put together; they were left out.",
            "Nothing to do. `tr -d '\\r'` takes them out of the parts before they are put together.",
            line=text.count("\n", 0, positions[0]) + 1,
        )


def _note_returns_within(text: str, name: str, findings: Findings, *, ends: bool) -> None:
    positions = [match.start() for match in _WITHIN.finditer(text)]
    if positions:
        what = (
            "carriage return (\\r) stands"
            if len(positions) == 1
            else "carriage returns (\\r) stand"
        )
        read = "read as a line end" if ends else "kept as part of the text"
        findings.warning(
            f"{'One' if len(positions) == 1 else f'{len(positions):,}'} {what} within lines of {name}, {read}.",
            "Nothing to do if that is meant. `tr '\\r' '\\n'` makes line ends of them, `tr -d '\\r'` takes "
            "them out.",
            line=text.count("\n", 0, positions[0]) + 1,
        )


def _lines(text: str) -> list[str]:
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if lines and not lines[-1]:
        lines.pop()
    return lines


def _guessed_languages(names: Sequence[str]) -> dict[str, str]:
    sides = ("source_language", "target_language")
    tags = ((side, language_of_file(name)) for side, name in zip(sides, names, strict=False))
    return {side: tag for side, tag in tags if tag is not None}
