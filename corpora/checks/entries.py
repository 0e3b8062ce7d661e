"""Checks that look at entries together, or that only warn.

What may concern thousands of entries is one warning with a count and the first place, so that the
list of problems stays readable.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from corpora.files.packed_list import HashSet, ListPart, PackedList
from corpora.files.problems import Findings, Problem, shown
from corpora.languages.tags import nearest, wrong_tag
from corpora.model.corpus import INHERITED, SIDES, RawEntry
from corpora.model.entry import CONTEXTS, PROVENANCES, REGISTERS, Entry
from corpora.model.task_records import CHECKABLE
from corpora.text.comparison import NO_WIDTH, NormalForm, comparison_form, is_blank, mixtures, normal_form
from corpora.text.messages import fold

BIDI_CONTROLS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_SUSPECT = re.compile(f"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufeff{BIDI_CONTROLS}]")
_BIDI = re.compile(f"[{BIDI_CONTROLS}]")
CLASS = "variant_class"
_TAGS = {"provenance": PROVENANCES, "register": REGISTERS, "context": CONTEXTS}
_ATTRIBUTES = {"register": "register_"}


@dataclass(frozen=True, slots=True)
class PlacedEntry:
    """An entry, its place in the corpus, and the line it is on."""

    place: int
    """From 0."""
    entry: Entry
    line: int | None

    def kept_here(self) -> PlacedEntry:
        """Return it as one whose texts the terms of the corpus keep on this machine."""
        return replace(self, entry=self.entry.model_copy(update={"local_only": True}))


def check_together(placed: Sequence[PlacedEntry], findings: Findings) -> None:
    """Run every check of this file over the entries of one corpus."""
    noted = _Noted(placed)
    warn_of(
        findings,
        noted.with_fault("blank source"),
        "have a reference and no source text",
        "They count in every score that looks at the reference; what compares with the source has no value "
        "for them, and a method is not asked, which counts as an empty output.",
        "source",
    )
    warn_of(
        findings,
        noted.with_fault("empty reference"),
        "have an empty reference",
        "Every word of an output counts as added there; is nothing spoken in these recordings?",
        "reference",
    )
    warn_of(
        findings,
        noted.with_fault("repeated"),
        "repeat the source and reference of an earlier entry",
        "Take them out, or they count twice.",
    )
    warn_of(
        findings,
        noted.with_fault("source again"),
        "give another reference for the source of an earlier entry",
        "If both are right, put them in one entry with `variants`.",
    )
    _unknown_tags(noted, findings)
    _spellings_of_tags(noted, findings)
    _classes(noted, findings)
    warn_of(
        findings,
        noted.with_fault("control"),
        "hold control characters",
        "Remove them; nobody sees them, but no output can match.",
    )
    warn_of(
        findings,
        noted.with_fault("bidi"),
        "hold bidirectional control characters",
        "Remove those that are not needed; an output without them does not match.",
    )
    _mixed_normal_forms(noted, findings)
    for side, texts in noted.texts.items():
        for kind, forms in mixtures(texts).items():
            ranked = sorted(forms, key=lambda form: (-len(forms[form]), form))
            listed = ", ".join(f"{form} ({len(forms[form]):,})" for form in ranked[:6])
            what = "There are" if kind == NO_WIDTH else "Several forms of one look:"
            findings.warning(
                f"{what} {kind} in the {side}s: {listed}.",
                "Write one form, or none of what nobody sees; scores read them as one.",
                field=side,
                places=sorted({at for form in ranked[kind != NO_WIDTH :] for at in forms[form]}),
            )
    warn_of(
        findings,
        noted.with_fault("instruction"),
        "have an instruction that nothing can check",
        f"Their answers have no value. Permitted ids: {', '.join(sorted(CHECKABLE))}.",
        "instructions",
    )


class _Noted:
    """What the checks need to know of the entries, which are read once: a long list of them is packed."""

    def __init__(self, placed: Sequence[PlacedEntry]) -> None:
        self._placed = placed
        self._faults: defaultdict[str, array[int]] = defaultdict(_no_places)
        self._tags: defaultdict[str, defaultdict[str, array[int]]] = defaultdict(lambda: defaultdict(_no_places))
        self._pairs, self._sources = HashSet(), HashSet()
        self.texts = {side: PackedList[str]() for side in SIDES}
        self.normal_forms: Counter[NormalForm] = Counter()
        self.not_composed: list[int] = []
        """Places of entries with a text that is not in NFC."""
        for index, item in enumerate(placed):
            for fault in (*_faults(item.entry), *self._again(item.entry)):
                self._faults[fault].append(index)
            for name in (*_TAGS, *INHERITED, CLASS):
                if (tag := getattr(item.entry, _ATTRIBUTES.get(name, name))) is not None:
                    self._tags[name][tag].append(index)
            self._note_texts(item)

    def with_fault(self, fault: str) -> Sequence[PlacedEntry]:
        """Return the entries with a fault of ``_faults`` or ``_again``."""
        return ListPart(self._placed, self._faults[fault])

    def tags(self, name: str) -> dict[str, Sequence[PlacedEntry]]:
        """Return the entries with each tag of a field."""
        return {tag: ListPart(self._placed, places) for tag, places in self._tags[name].items()}

    def _again(self, entry: Entry) -> Iterator[str]:
        if not entry.task.wants_source:
            return
        source = comparison_form(entry.source)
        new_pair, new_source = (
            self._pairs.add((source, comparison_form(entry.reference))),
            self._sources.add(source),
        )
        if not new_pair:
            yield "repeated"
        elif not new_source and not is_blank(source):
            yield "source again"

    def _note_texts(self, item: PlacedEntry) -> None:
        forms = set()
        for side, texts in self.texts.items():
            texts.append(text := getattr(item.entry, side))
            forms.add(form := normal_form(text))
            self.normal_forms[form] += 1
        if not forms.isdisjoint((NormalForm.NFD, NormalForm.NEITHER)):
            self.not_composed.append(item.place)


def _no_places() -> array[int]:
    return array("L")


def _faults(entry: Entry) -> Iterator[str]:
    """Yield the faults that are seen in one entry alone."""
    if is_blank(entry.source) and entry.task.wants_source:
        yield "blank source"
    if entry.task.empty_reference and is_blank(entry.reference):
        yield "empty reference"
    marks = "".join(_SUSPECT.findall("\n".join((entry.source, entry.reference, *entry.variants, str(entry.id)))))
    if marks:
        yield "control" if _BIDI.sub("", marks) else "bidi"
    if not CHECKABLE.issuperset(_instruction_ids(entry)):
        yield "instruction"


def check_entries(entries: Sequence[Entry], name: str) -> tuple[Problem, ...]:
    """Check entries whose file is not available; what only reading the file can tell is not among it."""
    findings = Findings(name)
    placed = (PlacedEntry(place, entry, None) for place, entry in enumerate(entries))
    check_together(PackedList(item for item in placed if not item.entry.not_stored), findings)
    return tuple(findings.problems)


def check_ids(entries: Sequence[RawEntry], findings: Findings) -> None:
    """Report every id that an earlier entry has; 1 and "1" are one id, because people type both alike."""
    seen, again = HashSet(), set[str]()
    for entry in entries:
        given = entry.fields.get("id")
        if isinstance(given, (int, str)) and not isinstance(given, bool) and not seen.add(str(given)):
            again.add(str(given))
    first: dict[str, RawEntry] = {}
    for entry in entries if again else ():
        given = entry.fields.get("id")
        if isinstance(given, bool) or not isinstance(given, (int, str)) or str(given) not in again:
            continue
        other = first.setdefault(str(given), entry)
        if other is not entry:
            where = f"entry {other.place} of the file"
            where += f", line {other.line}" if other.line else ""
            what = f"The id is also that of {where}."
            mend = "Give every entry its own id; 1 and '1' count as the same."
            findings.error(what, mend, line=entry.line, entry=given, field="id")


def _unknown_tags(noted: _Noted, findings: Findings) -> None:
    for name, permitted in _TAGS.items():
        unknown = {tag: items for tag, items in noted.tags(name).items() if tag not in permitted}
        by_nearest: dict[str | None, list[str]] = {}
        for tag in unknown:
            by_nearest.setdefault(nearest(tag, permitted), []).append(tag)
        for near, tags in by_nearest.items():
            hint = f"Nearest: {near}. " if near else ""
            mend = f"{hint}Permitted: {', '.join(permitted)}."
            what = f"have a {name} tag that is not in the specification{quoted_tags(tags, unknown, findings)}"
            warn_of(findings, in_order(tags, unknown), what, mend, name)


def _spellings_of_tags(noted: _Noted, findings: Findings) -> None:
    """Warn of names of varieties, orthographies and classes that differ only in case, accents, blanks or signs."""
    for name in (*INHERITED, CLASS):
        items_of = noted.tags(name)
        alike: dict[str, list[str]] = {}
        for tag in items_of:
            alike.setdefault(fold(tag), []).append(tag)
        for tags in alike.values():
            if len(tags) > 1:
                ways = f"{len(tags)} ways{quoted_tags(tags, items_of, findings)}"
                what = f"name one {name.replace('_', ' ')} in {ways}"
                mend = "Write it in one way, or scores are separated by it."
                warn_of(findings, in_order(tags, items_of), what, mend, name)


def in_order(tags: Iterable[str], items: Mapping[str, Sequence[PlacedEntry]]) -> list[PlacedEntry]:
    """Return the entries of several tags in the order of the corpus."""
    return sorted((item for tag in tags for item in items[tag]), key=lambda item: item.place)


def _classes(noted: _Noted, findings: Findings) -> None:
    """Warn of classes of variants that are no names: what is grouped by them could not be shown."""
    by_fault: dict[tuple[str, str], list[str]] = {}
    items_of = noted.tags(CLASS)
    for tag in items_of:
        if (wrong := wrong_tag(tag)) is not None:
            by_fault.setdefault(wrong, []).append(tag)
    for (wrong_words, mend), tags in by_fault.items():
        what = wrong_words.removeprefix("It is ").rstrip(".")
        warn_of(findings, in_order(tags, items_of), f"have a variant class that is {what}", mend, CLASS)


def quoted_tags(tags: Sequence[str], items: Mapping[str, Sequence[PlacedEntry]], findings: Findings) -> str:
    """Quote tags, the most frequent first; none of a secret entry, where anything may be in the field.

    Nor any of a file with errors: one of them may be a mark of secrecy that was not understood.
    """
    if findings.failed:
        return ""
    counts = {tag: sum(not item.entry.secret for item in items[tag]) for tag in tags}
    quoted = sorted((tag for tag in tags if counts[tag]), key=lambda tag: (-counts[tag], tag))
    named = ", ".join(f"“{shown(tag, longest=30)}”" for tag in quoted[:_MOST_QUOTED])
    more = f" and {len(quoted) - _MOST_QUOTED} more" if len(quoted) > _MOST_QUOTED else ""
    return f" ({named}{more})" if quoted else ""


_MOST_QUOTED = 6


def _mixed_normal_forms(noted: _Noted, findings: Findings) -> None:
    counts = noted.normal_forms
    counts.pop(NormalForm.EITHER, None)
    if len(counts) > 1 or NormalForm.NEITHER in counts:
        listed = ", ".join(f"{counts[form]} texts {form}" for form in NormalForm if counts[form])
        mend = "Save all texts in NFC; scores are computed in NFC either way."
        findings.warning(f"Unicode normal forms are mixed: {listed}.", mend, places=noted.not_composed)


def _instruction_ids(entry: Entry) -> Iterable[str]:
    """Return the ids of an entry's instructions, as far as these have the form that they must have."""
    checked = (entry.model_extra or {}).get("instructions") if entry.task.name == "ifeval" else None
    ids = [one.get("id") for one in checked or () if isinstance(one, Mapping)]
    return [id_ for id_ in ids if isinstance(id_, str)]


def warn_of(findings: Findings, items: Sequence[PlacedEntry], what: str, mend: str, field: str | None = None) -> None:
    """Add one warning about all of these entries, with their number, the first ids and places; none for no entries."""
    if not items:
        return
    ids = ", ".join(shown(item.entry.id, longest=30) for item in items[:5])
    more = f" and {len(items) - 5} more" if len(items) > 5 else ""
    count = f"{len(items)} entries" if len(items) > 1 else "One entry"
    if len(items) == 1:
        verb, rest = what.split(" ", 1)
        what = f"{'has' if verb == 'have' else verb + 's'} {rest}"
    findings.warning(
        f"{count} {what}: {ids}{more}.",
        mend,
        line=items[0].line,
        entry=items[0].entry.id,
        field=field,
        places=[item.place for item in items],
    )
