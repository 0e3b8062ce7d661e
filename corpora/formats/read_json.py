"""Reads JSON in its three shapes (specification §2.1, its older field names, reference implementation), and JSONL.

Sources and references stand under the specification's names, others, or by language: data sets for translation often
hold ``{"translation": {"en": "…", "mi": "…"}}``, and the languages of the corpus tell which of them is which. In JSONL
the first line may hold the envelope under ``dataset``.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from corpora.files.json_types import Json, JsonObject
from corpora.files.packed_list import PackedList
from corpora.files.problems import Findings
from corpora.formats.columns import (
    LANGUAGE_OPTIONS,
    OPTIONS,
    Columns,
    add_references,
    choose_columns,
    note_choice,
    note_missing,
    take_listed,
)
from corpora.model.corpus import LEGACY_NAMES, RECORD, SIDES, Form, RawCorpus, RawEntry, canonical_names, renamed
from corpora.model.vocabularies import SEGMENT_NAMES

# ---- Reads JSON strictly, and remembers on which line every entry begins ----
#
# The standard decoder lets repeated names, NaN and infinities pass and forgets positions. Here
# the outer object is walked by hand and every entry is given to the decoder on its own.

_SPACE = re.compile(r"[ \t\r\n]*")
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]]', re.DOTALL)
DEEPEST = 32
"""Levels of nesting inside an entry or envelope."""


@dataclass(slots=True)
class Document:
    """A decoded JSON text."""

    value: Any
    lines: Sequence[int] = ()
    """1-based line on which each element of ``entries`` (or of the outer list) begins."""


class Walker:
    """Decodes the values of one text one after the other and counts lines on the way."""

    def __init__(self, text: str, findings: Findings) -> None:
        self.text = text
        self.findings = findings
        self.lines = array("l")
        self._slips: list[tuple[str, str]] = []
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_constant=lambda name: self._slips.append(
                (f"{name} is not JSON.", "Write a number, or leave the field out.")
            ),
            parse_float=self._float,
        )
        self._line = 1
        self._counted = 0

    def document(self) -> Document:
        """Decode the whole text."""
        start = self._skip(0)
        value: Any
        if self.text.startswith("{", start):
            value, end = self._members(start)
        elif self.text.startswith("[", start):
            value, end = self._elements(start)
        else:
            value, end = self.decode(start)
        if self._skip(end) != len(self.text):
            raise json.JSONDecodeError("Extra data", self.text, self._skip(end))
        return Document(value, self.lines)

    def decode(self, position: int, line: int | None = None, place: int | None = None) -> Any:
        """Decode the value that begins at a position; gives (value, end)."""
        value, end = self._decoder.raw_decode(self.text, position)
        for message, mend in self._slips:
            where = self.line_at(position) if line is None else line
            self.findings.error(message, mend, line=where, entry=place)
        self._slips.clear()
        return value, end

    def only_value(self, line: int, place: int) -> Any:
        """Decode the text as one value of a known line and entry."""
        value, end = self.decode(self._skip(0), line, place)
        if self._skip(end) != len(self.text):
            raise json.JSONDecodeError("Extra data", self.text, end)
        return value

    def line_at(self, position: int) -> int:
        """Return the line of a position that is not before the last one asked for."""
        self._line += self.text.count("\n", self._counted, position)
        self._counted = position
        return self._line

    def _members(self, position: int) -> tuple[dict[str, Any], int]:
        members: dict[str, Any] = {}
        position = self._skip(position + 1)
        if self.text.startswith("}", position):
            return members, position + 1
        while True:
            if not self.text.startswith('"', position):
                raise json.JSONDecodeError("Expecting a name in double quotes", self.text, position)
            name, position = self.decode(position)
            position = self._expect(":", self._skip(position))
            if name in members:
                self._slips.append(_REPEATED)
            if name == "entries" and self.text.startswith("[", position):
                members[name], position = self._elements(position)
            else:
                members[name], position = self.decode(position)
            position = self._skip(position)
            if self.text.startswith("}", position):
                return members, position + 1
            position = self._expect(",", position)

    def _elements(self, position: int) -> tuple[PackedList[Any], int]:
        elements = PackedList[Any]()
        self.lines = array("l")
        position = self._skip(position + 1)
        if self.text.startswith("]", position):
            return elements, position + 1
        while True:
            line = self.line_at(position)
            value, position = self.decode(position, line, len(elements) + 1)
            elements.append(value)
            self.lines.append(line)
            position = self._skip(position)
            if self.text.startswith("]", position):
                return elements, position + 1
            position = self._expect(",", position)

    def _skip(self, position: int) -> int:
        match = _SPACE.match(self.text, position)
        return match.end() if match else position

    def _expect(self, sign: str, position: int) -> int:
        if not self.text.startswith(sign, position):
            raise json.JSONDecodeError(f"Expecting '{sign}'", self.text, position)
        return self._skip(position + 1)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Json]:
        members = dict(pairs)
        if len(members) != len(pairs):
            self._slips.append(_REPEATED)
        return members

    def _float(self, digits: str) -> float:
        number = float(digits)
        if math.isinf(number):
            self._slips.append(("A number is too large.", "Write it as text in quotes."))
        return number


_REPEATED = ("A field name occurs twice in one object.", "Keep one of the two.")


def parse(text: str, findings: Findings) -> Document | None:
    """Decode a JSON text, or note where it is broken and what was still open there."""
    walker = Walker(text, findings)
    try:
        return walker.document()
    except json.JSONDecodeError as error:
        broken_off = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        what = "The JSON breaks off" if broken_off else "Not valid JSON"
        place = f"line {error.lineno}, column {error.colno}{_still_open(text, error.pos)}"
        mend = "The file may be cut short; get it again." if broken_off else "Correct this place."
        findings.error(f"{what}: {_reason(error)} at {place}.", mend, line=error.lineno)
    except RecursionError:
        findings.error("The JSON is nested too deep.", "Keep entries flat.", line=walker.line_at(0))
    except ValueError:
        findings.error("A number has too many digits.", "Write it as text in quotes.")
    return None


def parse_line(text: str, line: int, place: int, findings: Findings) -> Any:
    """Decode one line of a JSONL file; None, with a problem noted, where it is not JSON."""
    try:
        return Walker(text, findings).only_value(line, place)
    except json.JSONDecodeError as error:
        what = f"Not valid JSON: {_reason(error)} at column {error.colno}."
        findings.error(what, "Write one JSON object a line.", line=line)
    except RecursionError:
        findings.error("The JSON is nested too deep.", "Keep entries flat.", line=line)
    except ValueError:
        findings.error("A number has too many digits.", "Write it as text in quotes.", line=line)
    return None


def strings_in(value: Any) -> Iterator[str]:
    """Yield every text inside a JSON value, names included; ValueError where it is nested too deep."""
    level = [value]
    for _ in range(DEEPEST):
        deeper: list[Any] = []
        for current in level:
            if isinstance(current, str):
                yield current
            elif isinstance(current, dict):
                yield from current
                deeper.extend(current.values())
            elif isinstance(current, (list, tuple)):
                deeper.extend(current)
        if not deeper:
            return
        level = deeper
    raise ValueError("nested too deep")


def _reason(error: json.JSONDecodeError) -> str:
    return error.msg.rstrip(": ").removesuffix(" at").removesuffix(" starting").lower()


def _still_open(text: str, end: int) -> str:
    """Name the brackets that are open at a position, with the lines they were opened on."""
    opened: list[tuple[str, int]] = []
    for match in _BRACKETS.finditer(text, 0, end):
        sign = match.group()
        if sign in "{[":
            opened.append((sign, match.start()))
        elif sign in "}]" and opened:
            opened.pop()
    if not opened:
        return ""
    named = [f"{sign} of line {text.count(chr(10), 0, at) + 1}" for sign, at in opened[-4:]]
    return "; still open: " + ", ".join(named)


BY_LANGUAGE = "translation"
"""Field that may hold the texts by language."""


def name_sides(raw: RawCorpus, columns: Columns, findings: Findings) -> None:
    """Rename the fields of all entries to those of the specification; the first entry decides how."""
    if not raw.entries:
        return
    first = raw.entries[0]
    take_listed(first.fields)
    columns = columns.within(raw.envelope)
    by_language = first.fields.get(BY_LANGUAGE)
    nested = isinstance(by_language, dict)
    keys: tuple[str, ...] = tuple(by_language if isinstance(by_language, dict) else first.fields)
    specified = {*keys, *canonical_names(keys).values()}
    known = [side for side in SIDES if side in specified and not nested]
    chosen = choose_columns(keys, columns, known, languages=nested)
    note_choice(chosen, columns, findings, OPTIONS, line=first.line)
    raw.guessed |= chosen.languages
    for side in SIDES:
        if side in (*chosen.places, *chosen.alike) or not (nested or columns.named(side)):
            continue
        if columns.named(side):
            note_missing(side, columns, len(keys), findings, line=first.line)
        else:
            what = f"Which of its {len(keys)} languages is that of the {side}s is not said."
            mend = f"Give {LANGUAGE_OPTIONS[side]}, or {OPTIONS[side]} with one of its names."
            findings.error(what, mend, line=first.line, field=BY_LANGUAGE)
    names = {keys[place]: side for side, place in chosen.places.items()}
    further = [keys[place] for place in chosen.further]

    def named(entry: RawEntry) -> RawEntry:
        take_listed(entry.fields)
        entry.fields = renamed(_sided(entry.fields, names, further, nested=nested))
        take_listed(entry.fields)
        return entry

    raw.entries = PackedList(map(named, raw.entries.drain()))


def _sided(fields: dict[str, Json], names: dict[str, str], further: list[str], *, nested: bool) -> dict[str, Json]:
    """Move both sides to their names; values that were there before are stored next to them."""
    texts = fields.get(BY_LANGUAGE) if nested else fields
    if not names or not isinstance(texts, dict):
        return fields
    sides = {side: texts[name] for name, side in names.items() if name in texts}
    rest = {n: value for n, value in texts.items() if n not in names and n not in further}
    if nested:
        others = {name: value for name, value in fields.items() if name != BY_LANGUAGE}
        rest = others | ({"translations": rest} if rest else {})
    kept = {f"other_{name}" if name in sides else name: value for name, value in rest.items()}
    made = kept | sides
    if further:
        add_references(made, [texts.get(name) for name in further])
    return made


def read_jsonl(lines: Iterable[str], findings: Findings, columns: Columns) -> RawCorpus:
    """Read every line on its own, so that one broken line hides no other problem."""
    raw = RawCorpus(Form.JSONL, {})
    begun = False
    for line, row in enumerate(lines, start=1):
        if not row.strip():
            continue
        place = len(raw.entries) + 1
        before = len(findings.problems)
        value = parse_line(row.strip(), line, place, findings)
        if len(findings.problems) > before:
            begun = True
            continue
        if not isinstance(value, dict):
            findings.error("A line must be an object.", "Write {…}.", line=line)
        elif not begun and set(value) == {"dataset"} and isinstance(value["dataset"], dict):
            raw.envelope = value["dataset"]
        else:
            raw.entries.append(RawEntry(value, place, line))
        begun = True
    name_sides(raw, columns, findings)
    return raw


_OTHER_FILES = (("run_card_hash", "a run card"), ("results", "a run log or report"), ("items", "a review batch"))

PAIR_NAMES = "language_names"
"""Extra envelope field for what a language_pair object holds beside the two tags."""
PAIR_LABEL = "language_pair_label"
"""Field of a reference-implementation file that keeps the specification's language_pair."""


def read_json(text: str, form: Form | None, findings: Findings, columns: Columns) -> RawCorpus | None:
    """Read a JSON corpus of any shape; the form says how to take the envelope, None: find out."""
    document = parse(text, findings)
    if document is None:
        return None
    listed = document.value if isinstance(document.value, PackedList) else _entries(document, findings)
    if listed is None:
        return None
    top = document.value if isinstance(document.value, dict) else {}
    raw = _envelope(top, listed, form, findings)
    taken = listed.drain() if isinstance(listed, PackedList) else listed
    for place, (fields, line) in enumerate(zip(taken, document.lines, strict=True), start=1):
        if isinstance(fields, dict):
            raw.entries.append(RawEntry(fields, place, line))
        else:
            mend = 'Write {"id": …, "source": …, "reference": …}.'
            findings.error("An entry must be an object.", mend, line=line, entry=place)
    name_sides(raw, columns, findings)
    _inherit_segment(top, raw)
    return raw


def _entries(document: Document, findings: Findings) -> PackedList[Any] | None:
    top = document.value
    if not isinstance(top, dict):
        findings.error("The JSON is not a corpus.", "Give an object with dataset and entries.")
        return None
    listed = top.get("entries")
    if isinstance(listed, PackedList):
        return listed
    kind = next((name for key, name in _OTHER_FILES if key in top), None)
    if "entries" in top:
        findings.error("It must be a list.", "Write the entries in [ … ].", field="entries")
    elif kind is not None:
        findings.error(f"The file is {kind}, not a corpus.", "Give the corpus file.")
    else:
        findings.error("There is no list of entries.", 'Add "entries": [ … ].', field="entries")
    return None


def _envelope(top: JsonObject, listed: Sequence[Json], form: Form | None, findings: Findings) -> RawCorpus:
    others = {name: value for name, value in top.items() if name != "entries"}
    dataset = others.pop("dataset", {})
    if not isinstance(dataset, dict):
        findings.error("It must be an object.", 'Write {"id": …, …}.', field="dataset")
        dataset = {}
    if form is None:
        first = next((fields for fields in listed if isinstance(fields, dict)), {})
        old_names = any(name not in first and old in first for name, old in LEGACY_NAMES.items())
        form = Form.LEGACY if old_names else Form.SPECIFICATION
        if any("corpus_id" in place or isinstance(place.get("language_pair"), dict) for place in (others, dataset)):
            form = Form.REFERENCE_IMPLEMENTATION
    if form is Form.REFERENCE_IMPLEMENTATION:
        envelope = _reference_envelope({**others, **dataset}, len(listed), findings)
        return RawCorpus(form, envelope, has_envelope=bool(top))
    for name in sorted(set(others) & set(dataset)):
        if others[name] != dataset[name]:
            what = "It is next to and inside dataset with different values; the inner one is used."
            findings.warning(what, "Keep one.", field=name)
    return RawCorpus(form, {**others, **dataset}, has_envelope=bool(top))


def _reference_envelope(others: dict[str, Json], found: int, findings: Findings) -> dict[str, Json]:
    envelope = dict(others)
    envelope.pop("segment", None)
    if "corpus_id" in envelope:
        envelope["id"] = envelope.pop("corpus_id")
    pair = envelope.get("language_pair")
    if isinstance(pair, dict):
        names = dict(pair)
        envelope.pop("language_pair")
        for side in ("source", "target"):
            if side in names:
                envelope[f"{side}_language"] = names.pop(side)
        if names:
            envelope[PAIR_NAMES] = names
    if PAIR_LABEL in envelope:
        envelope["language_pair"] = envelope.pop(PAIR_LABEL)
    if isinstance(envelope.get("provenance"), dict):
        envelope[RECORD] = envelope.pop("provenance")
        if "provenance_tags" in envelope:
            envelope["provenance"] = envelope.pop("provenance_tags")
    stated = envelope.pop("entry_count", None)
    if stated is not None and stated != found:
        what = f"It does not agree with the {found} entries of the file."
        findings.warning(what, "Look whether entries are missing.", field="entry_count")
    return envelope


def _inherit_segment(top: dict[str, Json], raw: RawCorpus) -> None:
    """Copy the file's one segment to every entry that names none, and rename segments as specified."""
    if raw.form is not Form.REFERENCE_IMPLEMENTATION:
        return
    dataset = top.get("dataset")
    segment = dataset.get("segment") if isinstance(dataset, dict) else None
    segment = top.get("segment") if segment is None else segment

    def with_segment(entry: RawEntry) -> RawEntry:
        own = entry.fields.get("segment")
        name = segment if own is None else own
        if name is not None:
            known = SEGMENT_NAMES.get(name, name) if isinstance(name, str) else name
            entry.fields["segment"] = known
        return entry

    raw.entries = PackedList(map(with_segment, raw.entries.drain()))
