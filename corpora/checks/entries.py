"""Checks that look at entries together, or that only warn.

What may concern thousands of entries is one warning with a count and the first place, so that the
list of problems stays readable.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from corpora.files.packed_list import HashSet, PackedList
from corpora.files.problems import Findings, Problem, shown
from corpora.languages.tags import nearest, wrong_tag
from corpora.model.corpus import INHERITED, SIDES, Dataset, RawEntry, with_tags_of
from corpora.model.entry import CONTEXTS, PROVENANCES, REGISTERS, Entry
from corpora.model.task_records import CHECKABLE
from corpora.text.comparison import NO_WIDTH, NormalForm, comparison_form, is_blank, mixtures, normal_form
from corpora.text.messages import fold

BIDI_CONTROLS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_SUSPECT = re.compile(f"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufeff{BIDI_CONTROLS}]")
_BIDI = re.compile(f"[{BIDI_CONTROLS}]")
CLASS = "variant_class"
_TAGS = (("provenance", PROVENANCES), ("register", REGISTERS), ("context", CONTEXTS))


@dataclass(frozen=True, slots=True)
class PlacedEntry:
    """An entry, its place in the corpus, and the line it is on."""

    place: int
    """From 0."""
    entry: Entry
    line: int | None

    def of_corpus(self, dataset: Dataset) -> PlacedEntry:
        """Return it with the tags that its corpus says of every entry."""
        return replace(self, entry=with_tags_of(dataset, self.entry))

    def kept_here(self) -> PlacedEntry:
        """Return it as one whose texts the terms of the corpus keep on this machine."""
        return replace(self, entry=self.entry.model_copy(update={"local_only": True}))


def check_together(placed: Sequence[PlacedEntry], findings: Findings) -> None:
    """Run every check of this file over the entries of one corpus."""
    warn_of(
        findings,
        PackedList(item for item in placed if is_blank(item.entry.source) and item.entry.task.wants_source),
        "have a reference and no source text",
        "They count in every score that looks at the reference; what compares with the source has no value "
        "for them, and a method is not asked, which counts as an empty output.",
        "source",
    )
    silent = (item for item in placed if item.entry.task.empty_reference)
    warn_of(
        findings,
        PackedList(item for item in silent if is_blank(item.entry.reference)),
        "have an empty reference",
        "Every word of an output counts as added there; is nothing spoken in these recordings?",
        "reference",
    )
    _repeated_pairs(placed, findings)
    _unknown_tags(placed, findings)
    _spellings_of_tags(placed, findings)
    _classes(placed, findings)
    _suspect_characters(placed, findings)
    _mixed_normal_forms(placed, findings)
    for side in SIDES:
        for kind, forms in mixtures(PackedList(getattr(item.entry, side) for item in placed)).items():
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
        PackedList(item for item in placed if not CHECKABLE.issuperset(_instruction_ids(item.entry))),
        "have an instruction that nothing can check",
        f"Their answers have no value. Permitted ids: {', '.join(sorted(CHECKABLE))}.",
        "instructions",
    )


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


def _repeated_pairs(placed: Sequence[PlacedEntry], findings: Findings) -> None:
    pairs, sources = HashSet(), HashSet()
    repeated, several = PackedList[PlacedEntry](), PackedList[PlacedEntry]()
    for item in placed:
        if not item.entry.task.wants_source:
            continue
        source = comparison_form(item.entry.source)
        new_pair, new_source = pairs.add((source, comparison_form(item.entry.reference))), sources.add(source)
        if not new_pair:
            repeated.append(item)
        elif not new_source and not is_blank(source):
            several.append(item)
    what = "repeat the source and reference of an earlier entry"
    warn_of(findings, repeated, what, "Take them out, or they count twice.")
    what = "give another reference for the source of an earlier entry"
    warn_of(findings, several, what, "If both are right, put them in one entry with `variants`.")


def _unknown_tags(placed: Sequence[PlacedEntry], findings: Findings) -> None:
    for name, permitted in _TAGS:
        attribute = "register_" if name == "register" else name
        unknown: dict[str, PackedList[PlacedEntry]] = {}
        for item in placed:
            tag = getattr(item.entry, attribute)
            if tag is not None and tag not in permitted:
                unknown.setdefault(tag, PackedList()).append(item)
        by_nearest: dict[str | None, list[str]] = {}
        for tag in unknown:
            by_nearest.setdefault(nearest(tag, permitted), []).append(tag)
        for near, tags in by_nearest.items():
            items = in_order(tags, unknown)
            hint = f"Nearest: {near}. " if near else ""
            mend = f"{hint}Permitted: {', '.join(permitted)}."
            what = f"have a {name} tag that is not in the specification{quoted_tags(tags, unknown, findings)}"
            warn_of(findings, items, what, mend, name)


def _spellings_of_tags(placed: Sequence[PlacedEntry], findings: Findings) -> None:
    """Warn of names of varieties, orthographies and classes that differ only in case, accents, blanks or signs."""
    for name in (*INHERITED, CLASS):
        items_of: dict[str, PackedList[PlacedEntry]] = {}
        for item in placed:
            if (tag := getattr(item.entry, name)) is not None:
                items_of.setdefault(tag, PackedList()).append(item)
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


def _classes(placed: Sequence[PlacedEntry], findings: Findings) -> None:
    """Warn of classes of variants that are no names: what is grouped by them could not be shown."""
    by_fault: dict[tuple[str, str], list[PlacedEntry]] = {}
    for item in placed:
        tag = item.entry.variant_class
        if tag is not None and (wrong := wrong_tag(tag)) is not None:
            by_fault.setdefault(wrong, []).append(item)
    for (wrong_words, mend), items in by_fault.items():
        what = wrong_words.removeprefix("It is ").rstrip(".")
        warn_of(findings, items, f"have a variant class that is {what}", mend, CLASS)


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


def _suspect_characters(placed: Sequence[PlacedEntry], findings: Findings) -> None:
    bidi, control = PackedList[PlacedEntry](), PackedList[PlacedEntry]()
    for item in placed:
        entry = item.entry
        texts = (entry.source, entry.reference, *entry.variants, str(entry.id))
        marks = "".join(_SUSPECT.findall("\n".join(texts)))
        if marks:
            controls = _BIDI.sub("", marks)
            (control if controls else bidi).append(item)
    mend = "Remove them; nobody sees them, but no output can match."
    warn_of(findings, control, "hold control characters", mend)
    mend = "Remove those that are not needed; an output without them does not match."
    warn_of(findings, bidi, "hold bidirectional control characters", mend)


def _mixed_normal_forms(placed: Sequence[PlacedEntry], findings: Findings) -> None:
    counts: Counter[NormalForm] = Counter()
    places = []
    for item in placed:
        forms = [normal_form(text) for text in (item.entry.source, item.entry.reference)]
        counts.update(forms)
        if NormalForm.NFD in forms or NormalForm.NEITHER in forms:
            places.append(item.place)
    counts.pop(NormalForm.EITHER, None)
    if len(counts) > 1 or NormalForm.NEITHER in counts:
        listed = ", ".join(f"{counts[form]} texts {form}" for form in NormalForm if counts[form])
        mend = "Save all texts in NFC; scores are computed in NFC either way."
        findings.warning(f"Unicode normal forms are mixed: {listed}.", mend, places=places)


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
