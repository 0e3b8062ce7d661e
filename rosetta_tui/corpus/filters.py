"""What the entries of a corpus can be narrowed to, in words to choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rosetta_tui.corpus.rows import CorpusOrder, shown_value
from rosetta_tui.show import figures
from rosetta_tui.show.text import plain

FLAGGED = "what the checks found"
"""What entries have in common that a check is about."""

Counts = Mapping[str, Sequence[tuple[str | int | None, int]]]
"""Tag → its values with their counts (``corpus_listing.facet_counts``)."""


def filter_choices(
    order: CorpusOrder, counts: Counts, flagged: frozenset[int]
) -> list[tuple[CorpusOrder, str]]:
    """Return wishes with their words: everything, what checks are about, each value of each tag.

    What is wanted of other tags stays; a tag with one value only divides nothing.
    """
    choices = [(order.everything, "all entries")]
    if flagged:
        wish = replace(order, places=flagged, about=FLAGGED)
        choices.append((wish, f"! {FLAGGED}: {figures.count(len(flagged))}"))
    for tag, values in counts.items():
        choices += [
            (order.narrowed(tag, value), f"{tag} {plain(shown_value(value))}: {figures.count(n)}")
            for value, n in values
            if len(values) > 1
        ]
    return choices
