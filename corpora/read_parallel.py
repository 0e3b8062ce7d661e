"""Reads two text files that are aligned line by line."""

from __future__ import annotations

from corpora.corpus import Form
from corpora.findings import Findings
from corpora.raw import RawCorpus, RawEntry
from corpora.tags import language_of_file


def read_parallel(
    texts: tuple[str, str], names: tuple[str, str], findings: Findings
) -> RawCorpus | None:
    """Pair the lines of both files; an entry's id is its line number.

    Files of different length are refused: one line too many shifts every pair after it.
    """
    sources, references = (_lines(text) for text in texts)
    if len(sources) != len(references):
        findings.error(
            f"The files are not aligned: {len(sources)} lines in the source file, "
            f"{len(references)} in the reference file.",
            "Give two files with one sentence a line, in the same order.",
        )
        return None
    raw = RawCorpus(Form.PARALLEL, {}, guessed=_guessed_languages(names))
    blank = 0
    for line, (source, reference) in enumerate(zip(sources, references, strict=True), start=1):
        if not source.strip() and not reference.strip():
            blank += 1
            continue
        fields = {"id": line, "source": source, "reference": reference}
        raw.entries.append(RawEntry(fields, len(raw.entries) + 1, line))
    if blank:
        raw.envelope["file_lines"] = len(sources)
        findings.warning(
            f"{blank} lines are blank in both files and were left out.",
            "Nothing to do if they separate paragraphs. A file of outputs may have a line for each line of "
            "the files, or for each entry.",
        )
    return raw


def _lines(text: str) -> list[str]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines and not lines[-1]:
        lines.pop()
    return lines


def _guessed_languages(names: tuple[str, str]) -> dict[str, str]:
    sides = ("source_language", "target_language")
    tags = ((side, language_of_file(name)) for side, name in zip(sides, names, strict=True))
    return {side: tag for side, tag in tags if tag is not None}
