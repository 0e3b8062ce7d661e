"""Reads files of messages of programs: gettext's PO, and ARB, which has a file for each language.

A PO file holds sources and translations, so it is a corpus on its own. Its ids are the numbers of its messages,
translated or not, so that all files of one template agree. Ids of an ARB file are its keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from corpora.files.decode import extra
from corpora.files.problems import Findings
from corpora.formats.json_text import parse
from corpora.formats.read_xml import RefusedFile, check_comment
from corpora.languages.tags import as_tag, is_language_tag
from corpora.model.corpus import Form, RawCorpus, RawEntry


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
        fields: dict[str, Any] = {"id": message.id, "source": message.source}
        fields["reference"], *others = message.texts
        if variants := [
            variant for variant in dict.fromkeys(others) if variant != fields["reference"]
        ]:
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

    def __init__(
        self, number: int, entry: Any, source: str, texts: list[str], *, plural: bool
    ) -> None:
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
        findings.error(
            "An ARB file has one language.",
            "Give that of the sources, then that of the references.",
        )
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
        fields: dict[str, Any] = {"id": key, "source": text, "reference": reference[key]}
        if variants := [other[key] for other, _ in others if key in other]:
            fields["variants"] = variants
        details = about.get(f"@{key}")
        if isinstance(details, dict) and isinstance(details.get("description"), str):
            fields["notes"] = details["description"]
        if isinstance(details, dict) and (
            rest := {n: v for n, v in details.items() if n != "description"}
        ):
            fields["arb"] = rest
        raw.entries.append(RawEntry(fields, len(raw.entries) + 1))
    alone = len(source.keys() ^ reference.keys())
    if alone and raw.entries:
        findings.warning(
            f"{alone:,} keys are in one of both files only and were left out.",
            "Check whether they are named alike.",
        )
    return raw


_OWN = frozenset({"locale", "last_modified"})


def arb_messages(text: str, findings: Findings) -> tuple[dict[str, str], Mapping[str, Any]] | None:
    """Return key → text of an ARB file, and what stands under names that begin with @; None if it is none."""
    document = parse(text, findings)
    if document is None:
        return None
    if not isinstance(document.value, dict):
        findings.error("An ARB file is a JSON object.", 'Write {"key": "text", …}.', line=1)
        return None
    value: dict[str, Any] = document.value
    texts = {
        name: text for name, text in value.items() if name[:1] != "@" and isinstance(text, str)
    }
    return texts, {name: detail for name, detail in value.items() if name[:1] == "@"}


def _language(field: str, stated: str) -> dict[str, str]:
    """Return the language that a file names for itself, as a tag of the envelope."""
    tag = as_tag(stated) if stated else ""
    return {field: tag} if is_language_tag(tag) else {}


def rows_of_po(messages: PoFile) -> Iterator[tuple[int | None, PoMessage]]:
    """Yield line and message of each that has a text and is not obsolete, fuzzy ones too: machines mark theirs so."""
    yield from (
        (message.line, message)
        for message in messages.messages
        if message.texts and not message.obsolete
    )
