"""A card and its repetition as lines of text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rosetta_tui.show import figures
from scoring.core.metric_rows import short_title

if TYPE_CHECKING:
    from harness.card.signing.reproduction import ReproductionComparison
    from scoring.statistics.reproducibility import Reproduction

_SAID = {
    True: "Reproduced: composite and chrF++ are within 2 % of what the card claims.",
    False: "NOT reproduced: composite or chrF++ is more than 2 % away from what the card claims.",
    None: "Nothing can be said: the card and its repetition share neither composite nor chrF++.",
}


def reproduction_lines(found: ReproductionComparison) -> Iterator[str]:
    """Yield every score of both cards, how far they are apart, and what follows."""
    first, second = found.claimed, found.repeated
    yield f"Card {first.card[:16]}… of run {first.run_id[:8]}, {found.entries:,} entries, run again as {second.run_id[:8]}"
    yield from deviation_lines(found.verdict, first.scores)
    if first.failed or second.failed:
        yield f"entries without an output: {first.failed:,} on the card, {second.failed:,} in the repetition"
    if found.scored_otherwise:
        yield f"scored otherwise: {', '.join(found.scored_otherwise)}"
    yield _SAID[found.reproduced]


def deviation_lines(found: Reproduction, claimed: Mapping[str, float | None]) -> Iterator[str]:
    """Yield every score of two runs and how far they are apart; ``claimed``: the scores of the first one."""
    yield f"{'':24} {'claimed':>10} {'again':>10} {'apart':>9}  within 2 %"
    for metric, deviation in found.deviations.items():
        apart = "" if deviation.share is None else figures.signed(deviation.share, 1, share=True)
        first, second = (
            figures.number(value, 4) for value in (deviation.claimed, deviation.repeated)
        )
        yield f"{short_title(metric):24.24} {first:>10} {second:>10} {apart:>9}  {'yes' if deviation.within else 'no'}"
    for metric in found.missing:
        where = "the card" if claimed.get(metric) is not None else "the repetition"
        yield f"{short_title(metric):24.24} only {where} has a value"


def reproduction_json(found: ReproductionComparison) -> dict[str, Any]:
    """Return the comparison as its file has it, with the deviation of each score next to it."""
    document = {
        metric: {"share": deviation.share, "within": deviation.within}
        for metric, deviation in found.verdict.deviations.items()
    }
    return found.model_dump(mode="json") | {
        "deviations": document,
        "missing": list(found.verdict.missing),
    }
