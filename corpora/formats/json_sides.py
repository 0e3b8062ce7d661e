"""Sources and references of JSON entries: under the specification's names, others, or by language.

Data sets for translation often hold ``{"translation": {"en": "…", "mi": "…"}}``; the languages of the corpus
tell which of them is which.
"""

from __future__ import annotations

from typing import Any

from corpora.files.findings import Findings
from corpora.formats.columns import LANGUAGES, OPTIONS, Columns, choose, note_missing, note_order
from corpora.model.raw import SIDES, RawCorpus, canonical_names, renamed

BY_LANGUAGE = "translation"
"""Field that may hold the texts by language."""


def name_sides(raw: RawCorpus, columns: Columns, findings: Findings) -> None:
    """Give the fields of all entries their names of the specification; the first entry tells how."""
    if not raw.entries:
        return
    first = raw.entries[0]
    columns = columns.within(raw.envelope)
    nested = isinstance(first.fields.get(BY_LANGUAGE), dict)
    keys = tuple(first.fields[BY_LANGUAGE]) if nested else tuple(first.fields)
    chosen = choose(keys, columns, () if nested else _known(keys), languages=nested)
    note_order(chosen, findings, line=first.line)
    raw.guessed |= chosen.languages
    for side in SIDES:
        if side in chosen.places or not (nested or columns.named(side)):
            continue
        if columns.named(side):
            note_missing(side, columns, len(keys), findings, line=first.line)
        else:
            findings.error(
                f"Which of its {len(keys)} languages is that of the {side}s is not said.",
                f"Give --{LANGUAGES[side].replace('_', '-')}, or {OPTIONS[side]} with one of its names.",
                line=first.line,
                field=BY_LANGUAGE,
            )
    names = {keys[place]: side for side, place in chosen.places.items()}
    for entry in raw.entries:
        entry.fields = renamed(_sided(entry.fields, names, nested=nested))


def _known(keys: tuple[str, ...]) -> list[str]:
    names = {*keys, *canonical_names(keys).values()}
    return [side for side in SIDES if side in names]


def _sided(fields: dict[str, Any], names: dict[str, str], *, nested: bool) -> dict[str, Any]:
    """Put both sides under their names; what stood there before is kept beside them."""
    texts = fields.get(BY_LANGUAGE) if nested else fields
    if not names or not isinstance(texts, dict):
        return fields
    sides = {side: texts[name] for name, side in names.items() if name in texts}
    rest = {name: value for name, value in texts.items() if name not in names}
    if nested:
        others = {name: value for name, value in fields.items() if name != BY_LANGUAGE}
        rest = others | ({"translations": rest} if rest else {})
    kept = {f"other_{name}" if name in sides else name: value for name, value in rest.items()}
    return kept | sides
