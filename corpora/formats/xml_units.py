"""The units of a translation file, and the entries that they become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from corpora.files.json_types import Json
from corpora.files.problems import Findings, shown
from corpora.formats.columns import read_cell
from corpora.model.corpus import RawCorpus, RawEntry


@dataclass(slots=True)
class Unit:
    """What one unit of the file holds."""

    line: int
    id: str | None = None
    file: int = 1
    """Which file of an XLIFF it is of, from 1."""
    texts: dict[str, list[str]] = field(default_factory=dict)
    """Language (TMX) or side (XLIFF) → texts, in their order."""
    notes: list[str] = field(default_factory=list)
    properties: dict[str, list[str]] = field(default_factory=dict)
    codes: bool = False
    """True where a text has inline codes."""
    untranslated: bool = False
    """True where the file says that what stands as the translation is none: a copy, or not to be translated."""

    def fields(self, source: str, target: str) -> dict[str, Json]:
        """Return the fields of an entry; ``source`` and ``target`` name its texts."""
        first, *others = self.texts[target]
        fields: dict[str, Json] = {
            name: read_cell(name, values[0]) if len(values) == 1 else values for name, values in self.properties.items()
        }
        fields |= {} if self.id is None else {"id": self.id}
        fields |= {"source": (self.texts.get(source) or [""])[0], "reference": first}
        if variants := [text for text in dict.fromkeys(others) if text.strip() and text != first]:
            fields["variants"] = variants
        if self.notes:
            fields["notes"] = "\n".join(self.notes)
        return fields


def with_entries(raw: RawCorpus, units: list[Unit], named: tuple[str, str], findings: Findings) -> RawCorpus:
    """Make entries of the units that have a translation; ``named`` are their texts for source and reference."""
    translated = [unit for unit in units if _has_text(unit, named[1])]
    lacking = [unit for unit in units if not _has_text(unit, named[1])]
    marked = [unit for unit in translated if unit.untranslated]
    kept = [unit for unit in translated if not unit.untranslated]
    _complete_ids(kept, findings)
    for unit in kept:
        raw.entries.append(RawEntry(unit.fields(*named), len(raw.entries) + 1, unit.line))
    if marked and kept:
        what = f"{_units(len(marked))} a translation that the file marks as none and {_were(len(marked))} left out."
        mend = "If they are translated, change their state, or translate=no, in the program they came from."
        findings.warning(what, mend, line=marked[0].line)
    if lacking and kept:
        others = dict.fromkeys(tag for unit in lacking for tag in unit.texts if tag != named[0])
        listed = ", ".join(shown(tag, 20) for tag in list(others)[:12])
        findings.warning(
            f"{_units(len(lacking))} no translation and {_were(len(lacking))} left out"
            f"{f'; there are texts in {listed}' if listed else ''}.",
            "If one of these is meant, give its tag: --target-language."
            if listed
            else "Translate them, or leave them out on purpose.",
            line=lacking[0].line,
        )
    if coded := [unit for unit in kept if unit.codes]:
        what = f"{_units(len(coded))} inline codes: what they enclose was kept as text, empty ones are gone."
        mend = "Look whether outputs have the same codes; else take them out of the file."
        findings.warning(what, mend, line=coded[0].line)
    return raw


def _complete_ids(units: Sequence[Unit], findings: Findings) -> None:
    """Assign ids to units without one among others that have one, and distinct ids to those that share one.

    Memories put together from several have both; a unit's number in the file tells it.
    """
    named = [unit for unit in units if unit.id is not None]
    if not named:
        return
    used: set[str] = set()
    changed: list[Unit] = []
    for number, unit in enumerate(units, 1):
        wanted = f"unit {number}" if unit.id is None else unit.id
        new = wanted if wanted not in used else f"{wanted} (unit {number})"
        if new != unit.id:
            changed.append(unit)
            unit.id = new
        used.add(new)
    if changed:
        findings.warning(
            f"{_units(len(changed))} no id, or that of another; each was named by its number, as “unit "
            f"{units.index(changed[0]) + 1}”.",
            "Give every unit its own id, so that runs can be compared after the file changed.",
            line=changed[0].line,
            field="id",
        )


def _has_text(unit: Unit, name: str) -> bool:
    return any(text.strip() for text in unit.texts.get(name, ())[:1])


def _units(number: int) -> str:
    return "One unit has" if number == 1 else f"{number:,} units have"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
