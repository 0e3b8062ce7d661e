"""Takes off an output what stands around the answer: introductions, wrappers, quotation marks.

A run does this before anything is scored, so only the source is read: what the source has too is no fault.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

from corpora.model.entry import Entry
from scoring.findings import content
from scoring.findings.finding import FindingCode
from scoring.findings.writing import OutputRow, RowFault

_DETECTORS: Mapping[str, tuple[Callable[[OutputRow], RowFault | None], ...]] = MappingProxyType(
    {"prose": (content.thoughts, content.prose), "wrapper": (content.wrapper,), "quotes": (content.quotes,)}
)
STRIPPED_BY: Mapping[FindingCode, str] = MappingProxyType(
    {
        FindingCode.BEGINNING: "prose",
        FindingCode.PROSE: "prose",
        FindingCode.WRAPPER: "wrapper",
        FindingCode.QUOTES: "quotes",
    }
)
"""Finding → the step that takes it off."""


def stripped(source: str, output: str, steps: Collection[str]) -> str:
    """Return an output without what ``steps`` take off, in a fixed order; itself where nothing would be left.

    Steps: ``prose`` (reasoning, an introduction, a note), ``wrapper`` (a fence, JSON, a tag), ``quotes``.
    """
    row = OutputRow(0, Entry(id=0, source=source, reference=""), output)
    changed = False
    for step, detectors in _DETECTORS.items():
        for detect in detectors if step in steps and not row.blank else ():
            hit = detect(row)
            changed = changed or (hit is not None and hit.corrected is not None)
    return row.body if changed and row.body.strip() else output
