"""Reads text files that are aligned line by line: a source and one or more references."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from corpora.files.decode import extra
from corpora.files.json_types import Json, JsonObject
from corpora.files.problems import Findings, shown
from corpora.formats.columns import add_references
from corpora.formats.read_json import parse
from corpora.formats.read_xml import RefusedFile, check_comment
from corpora.languages.tags import as_tag, is_language_tag, language_of_file
from corpora.model.corpus import Form, RawCorpus, RawEntry
from corpora.text.messages import counted


def read_parallel(texts: Sequence[str], names: Sequence[str], findings: Findings) -> RawCorpus | None:
    """Pair the lines of a source file and one or more files of references; an entry's id is its line number.

    What further files have on a line is a variant, as are further columns of a file of references. Files of different length are refused: one line too many
    shifts every pair after it.
    """
    sides = _sides(texts, names, findings)
    for name, lines in zip(names[1:], sides[1:], strict=True):
        if len(lines) != len(sides[0]):
            findings.error(
                f"The files are not aligned: {counted(len(sides[0]), 'line')} in the source file, "
                f"{counted(len(lines), 'line')} in the reference file{f' {shown(name)}' if len(names) > 2 else ''}.",
                "Give files with one sentence a line, in the same order.",
            )
    pairs = list(zip(names[1:], sides[1:], strict=True))
    columns = (_columns(lines, sides[0], name, findings) for name, lines in pairs)
    sides[1:] = chain.from_iterable(columns)
    if findings.failed:
        return None
    tags = zip(("source_language", "target_language"), map(language_of_file, names), strict=False)
    raw = RawCorpus(Form.PARALLEL, {}, guessed={side: tag for side, tag in tags if tag is not None})
    blank = 0
    for line, (source, *references) in enumerate(zip(*sides, strict=True), start=1):
        if not any(text.strip() for text in (source, *references)):
            blank += 1
            continue
        fields: dict[str, Json] = {"id": line, "source": source, "reference": references[0]}
        add_references(fields, references[1:])
        raw.entries.append(RawEntry(fields, len(raw.entries) + 1, line))
    if blank:
        raw.envelope["file_lines"] = len(sides[0])
        lines_are = "One line is" if blank == 1 else f"{blank:,} lines are"
        findings.warning(
            f"{lines_are} blank in {'both' if len(sides) == 2 else 'all'} files and left out.",
            "Nothing to do if they separate paragraphs. A file of outputs may have a line for each line of "
            "the files, or for each entry.",
        )
    return raw


def _columns(lines: list[str], sources: Sequence[str], name: str, findings: Findings) -> list[list[str]]:
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
        positions = [match.start() for match in _AT_END.finditer(text)]
        if positions:
            lines = "One line" if len(positions) == 1 else f"{len(positions):,} lines"
            findings.warning(
                f"{lines} of {shown(name)} {'ends' if len(positions) == 1 else 'end'} in more than one carriage return (\\r), "
                "as where parts with Windows line ends were put together; they were left out.",
                "Nothing to do. `tr -d '\\r'` takes them out of the parts before they are put together.",
                line=text.count("\n", 0, positions[0]) + 1,
            )
        positions = [match.start() for match in _WITHIN.finditer(text)]
        if positions:
            one = len(positions) == 1
            what = "carriage return (\\r) stands" if one else "carriage returns (\\r) stand"
            read = "read as a line end" if ends else "kept as part of the text"
            findings.warning(
                f"{'One' if one else f'{len(positions):,}'} {what} within lines of {shown(name)}, {read}.",
                "Nothing to do if that is meant. `tr '\\r' '\\n'` makes line ends of them, `tr -d '\\r'` takes them out.",
                line=text.count("\n", 0, positions[0]) + 1,
            )
    return sides


def _differ_in_length(sides: Sequence[Sequence[str]]) -> bool:
    return len({len(lines) for lines in sides}) > 1


def _lines(text: str) -> list[str]:
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if lines and not lines[-1]:
        lines.pop()
    return lines


# ---- Reads files of messages of programs: gettext's PO, and ARB, which has a file for each
# language.
#
# A PO file holds sources and translations, so it is a corpus on its own. Its ids are the numbers
# of its messages, translated or not, so that all files of one template agree. Ids of an ARB file
# are its keys.


def read_messages(texts: list[str], form: Form, findings: Findings) -> RawCorpus | None:
    """Read one PO file, or the ARB files of a source and of its references."""
    return read_po(texts[0], findings) if form is Form.PO else read_arb(texts, findings)


def read_po(text: str, findings: Findings) -> RawCorpus | None:
    """Read the translated messages of a PO file; fuzzy, obsolete and untranslated ones are left out with a warning."""
    listed = po_messages(text, findings)
    if listed is None:
        return None
    raw = RawCorpus(Form.PO, {}, guessed=_language("target_language", listed.language))
    left_out = {"are not translated yet": 0, "are marked as fuzzy": 0, "are obsolete": 0}
    for message in listed.messages:
        why = message.why_none
        if why is not None:
            left_out[why] += 1
            continue
        fields: dict[str, Json] = {"id": message.id, "source": message.source}
        fields["reference"], *others = message.texts
        if variants := [text for text in dict.fromkeys(others) if text != fields["reference"]]:
            fields["variants"] = variants
        fields |= {"notes": message.notes} if message.notes else {}
        fields |= {"msgctxt": message.context} if message.context else {}
        raw.entries.append(RawEntry(fields, len(raw.entries) + 1, message.line))
    for why, number in left_out.items():
        if number and raw.entries:
            findings.warning(
                f"{number:,} messages {why} and were left out.",
                "Check them in the file where they are meant to take part.",
            )
    return raw


class PoMessage:
    """One message of a PO file; each number of a plural is one."""

    def __init__(self, number: int, entry: Any, source: str, texts: list[str], *, plural: bool) -> None:
        self.id: int | str = f"{number} plural" if plural else number
        self.source = source
        self.texts = [text for text in texts if text.strip()]
        self.context: str = entry.msgctxt or ""
        self.notes = "\n".join(note for note in (entry.comment, entry.tcomment) if note)
        self.line: int | None = entry.linenum
        self.fuzzy: bool = entry.fuzzy
        self.obsolete = bool(entry.obsolete)

    @property
    def why_none(self) -> str | None:
        """Why the message is no entry of a corpus, None where it is one."""
        if self.obsolete:
            return "are obsolete"
        if not self.texts:
            return "are not translated yet"
        return "are marked as fuzzy" if self.fuzzy else None


class PoFile:
    """The messages of a PO file and the language that its header names."""

    def __init__(self, messages: list[PoMessage], language: str) -> None:
        self.messages, self.language = messages, language


def po_messages(text: str, findings: Findings) -> PoFile | None:
    """Return all messages of a PO file in order; None where the findings say why there are none."""
    polib = extra("polib", "A PO file", findings)
    if polib is None:
        return None
    try:
        file = polib.pofile(f"{text}\n")  # a path has no line break, so this is never taken for one
    except (OSError, ValueError, UnicodeError, IndexError) as error:
        numbers = [word for word in str(error).replace(":", " ").split() if word.isdigit()]
        line = int(numbers[0]) if numbers else None
        findings.error("It is no valid PO file.", "Check it with msgfmt --check.", line=line)
        return None
    made: list[PoMessage] = []
    for number, entry in enumerate(file, 1):
        try:
            for comment in (entry.comment, entry.tcomment):
                check_comment(comment)
        except RefusedFile as refused:
            findings.error(refused.message, refused.mend, line=entry.linenum)
            return None
        plural = [entry.msgstr_plural[place] for place in sorted(entry.msgstr_plural)]
        first = plural[:1] or [entry.msgstr]
        made.append(PoMessage(number, entry, entry.msgid, first, plural=False))
        if plural[1:]:
            made.append(PoMessage(number, entry, entry.msgid_plural, plural[1:], plural=True))
    return PoFile(made, file.metadata.get("Language", ""))


def read_arb(texts: list[str], findings: Findings) -> RawCorpus | None:
    """Read the ARB files of a source and of its references, joined by their keys."""
    files = [arb_messages(text, findings) for text in texts]
    if len(texts) < 2:
        mend = "Give that of the sources, then that of the references."
        findings.error("An ARB file has one language.", mend)
    sides = [file for file in files if file is not None]
    if findings.failed or len(sides) < 2:
        return None
    (source, about), (reference, of_references), *others = sides
    raw = RawCorpus(Form.ARB, {})
    for name, tags in (("source_language", about), ("target_language", of_references)):
        raw.guessed |= _language(name, str(tags.get("@@locale", "")))
    marks = {name[2:]: value for name, value in about.items() if name.startswith("@@")}
    raw.envelope |= {name: value for name, value in marks.items() if name not in _OWN}
    for key, text in source.items():
        if key not in reference:
            continue
        fields: dict[str, Json] = {"id": key, "source": text, "reference": reference[key]}
        if variants := [other[key] for other, _ in others if key in other]:
            fields["variants"] = variants
        stated = about.get(f"@{key}")
        details = stated if isinstance(stated, dict) else {}
        if isinstance(details.get("description"), str):
            fields["notes"] = details["description"]
        if rest := {name: value for name, value in details.items() if name != "description"}:
            fields["arb"] = rest
        raw.entries.append(RawEntry(fields, len(raw.entries) + 1))
    alone = len(source.keys() ^ reference.keys())
    if alone and raw.entries:
        what = f"{alone:,} keys are in one of both files only and were left out."
        findings.warning(what, "Check whether they are named alike.")
    return raw


_OWN = frozenset({"locale", "last_modified"})


def arb_messages(text: str, findings: Findings) -> tuple[dict[str, str], JsonObject] | None:
    """Return key → text of an ARB file, and what stands under names that begin with @; None if it is none."""
    document = parse(text, findings)
    if document is None:
        return None
    if not isinstance(document.value, dict):
        findings.error("An ARB file is a JSON object.", 'Write {"key": "text", …}.', line=1)
        return None
    value: dict[str, Json] = document.value
    own = {name: text for name, text in value.items() if name[:1] != "@"}
    texts = {name: text for name, text in own.items() if isinstance(text, str)}
    return texts, {name: detail for name, detail in value.items() if name[:1] == "@"}


def _language(field: str, stated: str) -> dict[str, str]:
    """Return the language that a file names for itself, as a tag of the envelope."""
    tag = as_tag(stated) if stated else ""
    return {field: tag} if is_language_tag(tag) else {}


def rows_of_po(messages: PoFile) -> Iterator[tuple[int | None, PoMessage]]:
    """Yield line and message of each that has a text and is not obsolete, fuzzy ones too: machines mark theirs so."""
    for message in messages.messages:
        if message.texts and not message.obsolete:
            yield message.line, message
