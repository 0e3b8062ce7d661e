"""Reads TMX and XLIFF (1.2, 2.0 and later) from anybody, with the parser of Python (expat).

A file of a stranger cannot fill the memory or reach other files: entities may not be declared, nothing is
fetched, elements may be nested only so deep, and what is read is bounded by the size of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from xml.parsers import expat

from corpora.checks.envelope import is_mark, is_term_mark, names_secret
from corpora.files.json_types import Json
from corpora.files.problems import Findings, shown
from corpora.formats.columns import LANGUAGE_OPTIONS, LANGUAGES, Columns, choose_columns, note_choice
from corpora.formats.xml_units import Unit, with_entries
from corpora.languages.tags import (
    as_tag,
    equal_tags,
    is_language_tag,
    language_of,
    same_language,
    tag_of,
    tidy,
    told_script,
)
from corpora.model.corpus import SIDES, Form, RawCorpus
from corpora.model.terms import forbids_plainly, has_licence_word
from corpora.text.messages import folded_words

DEEPEST = 200
"""Elements within each other; files of translation tools have about twenty."""
_SKIPPED = frozenset({"alt-trans", "ignorable", "skeleton", "internal-file", "seg-source", "sub"})
"""Elements whose texts are no part of a unit: proposals, white space, files, texts within codes."""
_OWN_ATTRIBUTES = frozenset({"id", "tuid", "segtype", "canResegment"})
"""Attributes of the standards that look like marks and are none."""


class RefusedFile(Exception):  # noqa: N818  becomes a finding
    """A file holds what no corpus needs, or what may be a mark that is not understood."""

    def __init__(self, message: str, mend: str) -> None:
        self.message, self.mend = message, mend


def read_xml(text: str, form: Form, findings: Findings, columns: Columns) -> RawCorpus | None:
    """Read a TMX or XLIFF file; units without a translation are left out with a warning."""
    reader = _Tmx() if form is Form.TMX else _Xliff()
    try:
        reader.parse(text)
    except RefusedFile as refused:
        findings.error(refused.message, refused.mend, line=reader.line)
        return None
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        what = f"Not valid XML: {reason} at column {error.offset + 1}."
        mend = "Export the file again from the program it came from."
        findings.error(what, mend, line=error.lineno)
        return None
    if reader.root != form.value:
        what = f"The file is no {form.upper()}: its first element is {shown(reader.root, 30)}."
        findings.error(what, f"Give a file that begins with <{form.value}>.", line=1)
        return None
    raw = RawCorpus(form, dict(reader.envelope))
    named = reader.sides(raw, columns.within(raw.envelope), findings)
    return None if named is None else with_entries(raw, reader.units, named, findings)


class _Reader:
    """Walks through the elements; what a form means by them is its own."""

    captured: frozenset[str]
    """Elements whose whole text is one thing."""

    def __init__(self) -> None:
        self.root = ""
        self.envelope: dict[str, Json] = {}
        self.units: list[Unit] = []
        self.unit: Unit | None = None
        self._namespace = ""
        self._depth = 0
        self._skipping = 0
        """Depth of the element that is passed over, 0 outside of one."""
        self._within = 0
        """Depth of the element whose text is taken, 0 outside of one."""
        self._text: list[str] = []
        self._coded = False
        parser = expat.ParserCreate("utf-8", " ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        parser.CommentHandler = check_comment
        parser.EntityDeclHandler = _refuse_entity
        parser.SkippedEntityHandler = _refuse_entity
        self._parser = parser

    @property
    def line(self) -> int:
        """Line that the parser has come to, 1-based."""
        return self._parser.CurrentLineNumber

    def parse(self, text: str) -> None:
        """Read the whole text; raises ExpatError, or RefusedFile for what a corpus does not need."""
        self._parser.Parse(text.encode(), True)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            what = f"Elements are nested more than {DEEPEST} levels deep."
            raise RefusedFile(what, "Export the file again.")
        namespace, _, local = name.rpartition(" ")
        if self._depth == 1:
            self.root, self._namespace = local, namespace
        plain = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        if self._skipping:
            return
        if self._within:
            self._coded = True
            if local == "cp" and len(plain.get("hex", "")) <= 6:  # as XLIFF 2 writes "\x1f": <cp hex="001F"/>
                with suppress(ValueError, OverflowError):
                    self._text.append(chr(int(plain.get("hex", ""), 16)))
        if local in _SKIPPED or (namespace != self._namespace and not self._within):
            self._skipping = self._depth
        elif not self._within and local in self.captured:
            self._within, self._text, self._coded = self._depth, [], False
            self.began(plain)
        elif not self._within:
            self.begin(local, plain)
            self._keep_marks(plain)

    def _end(self, name: str) -> None:
        local = name.rpartition(" ")[2]
        if self._skipping:
            if self._skipping == self._depth:
                self._skipping = 0
        elif self._within == self._depth:
            self._within = 0
            if self._coded and self.unit is not None:
                self.unit.codes = True
            self.take(local, "".join(self._text).strip())
        elif not self._within:
            self.end(local)
        self._depth -= 1

    def _data(self, data: str) -> None:
        if self._within and not self._skipping:
            self._text.append(data)

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        """Record that an element begins."""
        raise NotImplementedError

    def end(self, name: str) -> None:
        """Record that an element ends."""
        raise NotImplementedError

    def take(self, name: str, text: str) -> None:
        """Process the text of an element."""
        raise NotImplementedError

    def sides(self, raw: RawCorpus, columns: Columns, findings: Findings) -> tuple[str, str] | None:
        """Name the texts of a unit that are source and reference; None with a problem noted."""
        raise NotImplementedError

    def property(self, name: str, text: str) -> None:
        """Store a property of a unit, or of the file."""
        if self.unit is not None:
            self.unit.properties.setdefault(name, []).append(text)
        else:
            self.envelope.setdefault(name, text)

    def note(self, text: str) -> None:
        """Store a note of a unit, or of the file."""
        if self.unit is not None:
            self.unit.notes.append(text)
        else:
            self.property("note", text)

    def began(self, attributes: Mapping[str, str]) -> None:
        """Record that an element begins whose text is taken."""

    def _keep_marks(self, attributes: Mapping[str, str]) -> None:
        """Store attributes that may be marks of secrecy or terms, so that they are not passed over (DESIGN V1)."""
        for name, value in attributes.items():
            mark = is_mark(name) or is_term_mark(name) or names_secret(value)
            if mark and name not in _OWN_ATTRIBUTES:
                self.property(name, value)


class _Tmx(_Reader):
    captured = frozenset({"seg", "prop", "note"})

    def __init__(self) -> None:
        super().__init__()
        self._source_language = ""
        self._language = ""
        self._type = ""
        """Of the property whose text comes next."""

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "header":
            self._source_language = attributes.get("srclang", "").strip().casefold()
        elif name == "tu":
            self.unit = Unit(self.line, attributes.get("tuid"))
            self.units.append(self.unit)
        elif name == "tuv":
            self._language = attributes.get("lang", "").strip().casefold()

    def began(self, attributes: Mapping[str, str]) -> None:
        self._type = attributes.get("type") or "property"

    def end(self, name: str) -> None:
        if name == "tu":
            self.unit = None

    def take(self, name: str, text: str) -> None:
        if name == "prop":
            self.property(self._type, text)
        elif name == "note":
            self.note(text)
        elif self.unit is not None:
            self.unit.texts.setdefault(self._language, []).append(text)

    def sides(self, raw: RawCorpus, columns: Columns, findings: Findings) -> tuple[str, str] | None:
        names = list(dict.fromkeys(text for unit in self.units for text in unit.texts))
        if not names:
            mend = "Export the memory again."
            findings.error("There are no units with texts.", mend, field="body")
            return None
        own = self._source_language
        if columns.source_language is None and any(same_language(own, name) for name in names):
            columns = columns.within({"source_language": own})
        groups = _one_language(self.units, columns)
        chosen = choose_columns(list(groups), columns, (), languages=True)
        note_choice(chosen, columns, findings, LANGUAGE_OPTIONS)
        for side in SIDES:
            if side not in chosen.places and side not in chosen.alike:
                listed = ", ".join(shown(tag_of(name) or name, 20) for name in names[:12])
                what = f"Which of its {len(groups)} languages is that of the {side}s is not said."
                mend = f"Give {LANGUAGE_OPTIONS[side]}; there are {listed}."
                findings.error(what, mend, field=f"dataset.{LANGUAGES[side]}")
        if findings.failed:
            return None
        source, target = (list(groups)[chosen.places[side]] for side in SIDES)
        self._join({name: groups[name] for name in (source, target)}, findings)
        raw.guessed |= _tags(source, target)
        return source, target

    def _join(self, sides: Mapping[str, Sequence[str]], findings: Findings) -> None:
        """Merge the texts of tags that mean one language under one of them, in the order of the tags."""
        for side, tags in sides.items():
            order = {tag: at for at, tag in enumerate(tags)}
            for unit in self.units:
                own = sorted(filter(order.__contains__, unit.texts), key=order.__getitem__)
                texts = [text for tag in own for text in unit.texts.pop(tag)]
                if texts:
                    unit.texts[side] = texts
            if len(tags) > 1:
                listed = ", ".join(shown(tidy(tag), 20) for tag in tags[:12])
                findings.warning(
                    f"The tags {listed} were read as one language.",
                    "If they are meant apart, give files with one of them each.",
                )


def _one_language(units: Sequence[Unit], columns: Columns) -> dict[str, list[str]]:
    """Return the tags of a memory in groups that mean one language, each under its first.

    The tag that the corpus has goes first. Tags stay apart, so that a person is asked, where they differ in
    script, and where one unit has two of them and the corpus has neither.
    """
    names = list(dict.fromkeys(text for unit in units for text in unit.texts))
    wanted = [tag for side in SIDES if (tag := columns.language(side)) is not None]
    exact = {name for name in names if any(equal_tags(name, tag) for tag in wanted)}
    by_language: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda name: name not in exact):
        by_language.setdefault(language_of(as_tag(name)), []).append(name)
    language = {name: tag for tag, tags in by_language.items() for name in tags}
    doubled: set[str] = set()
    for unit in units:
        spoken = Counter(map(language.__getitem__, unit.texts))
        doubled.update(tag for tag, number in spoken.items() if number > 1)
    groups: dict[str, list[str]] = {}
    for spoken_tag, tags in by_language.items():
        by_script: dict[str | None, list[str]] = {}
        for tag in tags:
            by_script.setdefault(told_script(as_tag(tag)), []).append(tag)
        if len(tags) > 1 and spoken_tag in doubled and exact.isdisjoint(tags):
            groups |= {tag: [tag] for tag in tags}
        elif len(by_script.keys() - {None}) > 1:
            groups |= {same[0]: same for same in by_script.values()}
        else:
            groups[tags[0]] = tags
    return groups


class _Xliff(_Reader):
    captured = frozenset({"source", "target", "note"})

    def __init__(self) -> None:
        super().__init__()
        self._languages: list[tuple[str, str]] = []
        self._files = 0
        self._of_unit: list[Unit] = []
        self._group: tuple[str | None, list[str]] = (None, [])
        """Id and notes of a unit of version 2."""
        self._in_unit = False
        self._not_to_be = False
        """True in a unit of version 2 that is not to be translated."""

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "xliff" and "srcLang" in attributes:
            self._languages.append((attributes["srcLang"], attributes.get("trgLang", "")))
        elif name == "file":
            self._files += 1
            if "source-language" in attributes:
                target = attributes.get("target-language", "")
                self._languages.append((attributes["source-language"], target))
        elif name == "trans-unit":
            self._add(attributes.get("id"), untranslated=attributes.get("translate") == "no")
        elif name == "unit":
            self._of_unit, self._group, self._in_unit = [], (attributes.get("id"), []), True
            self._not_to_be = attributes.get("translate") == "no"
        elif name == "segment":
            untranslated = self._not_to_be or attributes.get("state") == "initial"
            self._add(attributes.get("id"), untranslated=untranslated)
            self._of_unit.extend(self.units[-1:])

    def _add(self, id_: str | None, *, untranslated: bool) -> None:
        self.unit = Unit(self.line, id_, self._files, untranslated=untranslated)
        self.units.append(self.unit)

    def began(self, attributes: Mapping[str, str]) -> None:
        """Mark a target as untranslated if its state says so (XLIFF 1.2, ``state``)."""
        if self.unit is not None and attributes.get("state") in {"new", "needs-translation"}:
            self.unit.untranslated = True

    def end(self, name: str) -> None:
        if name in {"trans-unit", "segment"}:
            self.unit = None
        elif name == "unit":
            # Assign the id and notes of a unit of version 2 to its segments; several are numbered.
            own, notes = self._group
            for number, segment in enumerate(self._of_unit, 1):
                part = segment.id or str(number)
                whole = own if len(self._of_unit) == 1 else f"{own}:{part}"
                segment.id = None if own is None else whole
                segment.notes[:0] = notes
            self._of_unit, self._group, self._in_unit = [], (None, []), False

    def take(self, name: str, text: str) -> None:
        if name == "note" and self.unit is None and self._in_unit:
            self._group[1].append(text)
        elif name == "note":
            self.note(text)
        elif self.unit is not None:
            self.unit.texts.setdefault(name, []).append(text)

    def sides(self, raw: RawCorpus, _: Columns, findings: Findings) -> tuple[str, str] | None:
        first = self._languages[:1]
        # A file without a language may be of any.
        if any(
            a and b and not same_language(a, b) for pair in self._languages for a, b in zip(pair, *first, strict=True)
        ):
            pairs = dict.fromkeys(f"{source}–{target}" for source, target in self._languages)
            listed = ", ".join(shown(pair, 30) for pair in list(pairs)[:6])
            what = f"Its files are in different pairs of languages: {listed}."
            findings.error(what, "Give a file for each pair.", field="dataset.language_pair")
            return None
        for unit in self.units if self._files > 1 else ():
            unit.id = None if unit.id is None else f"{unit.file}:{unit.id}"  # ids begin again
        for source, target in self._languages:
            raw.guessed = _tags(source, target) | raw.guessed
        return "source", "target"


def _tags(source: str, target: str) -> dict[str, str]:
    """Return the languages of a file as tags of the envelope; what is no tag is left for the caller to say."""
    pairs: Iterator[tuple[str, str]] = zip(LANGUAGES.values(), (source, target), strict=True)
    tags = {name: tag_of(text) or tidy(text) for name, text in pairs if text}
    return {name: tag for name, tag in tags.items() if is_language_tag(tag)}


def check_comment(comment: str) -> None:
    """Refuse a comment that may be a mark or a term: nothing would follow from it."""
    key, _, value = comment.strip().partition(":")
    words = folded_words(comment)
    mark = is_mark(key) or is_term_mark(key) or names_secret(value.strip() or key)
    if mark or has_licence_word(words) or forbids_plainly(comment):
        raise RefusedFile(
            "The comment may say what is secret, or where texts may go, and is not understood.",
            'Take it out, or say it in a file beside this one: {"transmission": "local-only"} or "open".',
        )


def _refuse_entity(*_: object) -> None:
    raise RefusedFile(
        "The file declares or uses its own entities (<!ENTITY …>), which can fill the memory.",
        "Write their text in their place.",
    )
