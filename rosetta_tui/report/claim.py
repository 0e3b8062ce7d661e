"""What may be claimed of a run, why no more, and what worthless methods reach, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.card.checking.claimed import claim_of, of_earlier_version, stated_floors, without_rise
from harness.card.reading import block
from rosetta_tui.report.named_line import line
from rosetta_tui.show import figures
from rosetta_tui.show.metric_words import floor_words, value
from scoring.card.claim import caveat_sentence
from scoring.card.floors import FloorScores

EARLIER = (
    "floors of an earlier version: no words at random, and a constant of eight candidates; "
    "score the outputs again to compare with those of now"
)

RISE = "an input has no value here, though worthless outputs have one, and counts as nothing"


def caveat_lines(card: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each way in which a part of the outputs fails."""
    for caveat in claim_of(card).caveats:
        yield line("  caveat", caveat_sentence(caveat))


def rise_line(card: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line where inputs without a value raise the composite; what is claimed has no such rise."""
    if (even := without_rise(card)) is not None:
        yield line("  without its rise", value("composite", even), RISE)


def floor_lines(card: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each floor, composite first, then what it is and what it was worked out on."""
    total = block(card, "scores").get("total")
    for name, floor in stated_floors(card).items():
        yield line(f"  ╿ {floor_words(name)}", *floor_parts(floor, total))
    if of_earlier_version(card):
        yield line("  ╿", EARLIER)


def floor_parts(floor: FloorScores, total: object) -> Iterator[str]:
    """Yield what is to be said of one floor of a run over ``total`` entries."""
    yield value("composite", floor.composite)
    if floor.chrf_plus_plus is not None:
        yield f"chrF++ {figures.number(floor.chrf_plus_plus, 1)}"
    if floor.searched is not None:
        yield f"the best by composite of {floor.searched:,} different references"
    if floor.entries is not None and floor.entries != total:
        yield f"on {floor.entries:,} entries"
