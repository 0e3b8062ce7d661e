"""Which texts an output is measured against: one reference, or also its variants (METRICS §1)."""

from __future__ import annotations

from corpora.model.entry import Entry
from corpora.text.comparison import is_blank


def references(entry: Entry, *, multi_ref: bool) -> tuple[str, ...]:
    """Return the reference and, where the user asks for several, the entry's variants in their order.

    A variant without any text is no translation and is left out: an empty output would be right by it.
    """
    if not multi_ref:
        return (entry.reference,)
    return (entry.reference, *[text for text in entry.variants if not is_blank(text)])


def signed_number(*, multi_ref: bool) -> str:
    """Return ``nrefs`` of a signature; ``var`` as sacreBLEU writes it where entries differ in their number."""
    return "nrefs:var" if multi_ref else "nrefs:1"
