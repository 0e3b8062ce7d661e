"""How metrics are called and written on a screen."""

from __future__ import annotations

from collections.abc import Mapping

from rosetta_tui.show import figures
from scoring.core.metric_rows import row_of, short_title

_SHARES = {
    "prompt": ("_strict_prompt", "_loose_prompt"),
    "instruction": ("_strict_instruction", "_loose_instruction"),
}
"""Of what a metric that takes the mean of shares states them → the ends of their names, kept strictly and loosely."""

_FLOORS = {
    "empty": "empty outputs",
    "source": "the source copied",
    "copied": "the source copied",
    "constant": "one constant output",
    "shuffled": "shuffled references",
    "words": "words at random",
    "truncated": "a fifth of references",
}

CAVEATS = {
    "repeated": "one text stands for several sources",
    "short": "less than half as long as the reference",
    "long": "more than twice as long as the reference",
    "untranslated": "the source, or most of its words",
    "disordered": "the words of the reference in destroyed order",
}
"""Kind of ``scoring.card.caveats`` → what it says of outputs."""

FEW_ENTRIES = 200
"""Below as many, BLEU's interval held the value in 82–92 % of simulated corpora (benchmarks/bleu_coverage.py)."""


def remark(metric: str, entries: float | None) -> str | None:
    """Return what a value over some entries is not, where it is easily taken for something else."""
    if metric == "bleu" and entries is not None and entries <= FEW_ENTRIES:
        return f"its interval is too narrow on {FEW_ENTRIES} entries or fewer"
    row = row_of(metric)
    return None if row is None else row.remark


def value(metric: str, number: float | None) -> str:
    """Return a value with as many digits as the metric's scale is read with."""
    return figures.number(number, digits(metric))


def beside_value(metric: str, references: float | None) -> str:
    """Return what a value has to be compared with; empty where it can stand alone."""
    if metric != "fst_acceptance_rate":
        return ""
    return f"references {'unknown' if references is None else value(metric, references)}"


def shares(metric: str, values: Mapping[str, float | None]) -> list[tuple[str, str]]:
    """Return the shares that a metric takes the mean of, by what they are of; empty for one of another kind."""
    shares_found = []
    for of, ends in _SHARES.items():
        strict, loose = (values.get(metric + end) for end in ends)
        if strict is not None and loose is not None:
            shares_found.append(
                (of, f"{value(metric, strict)} strict, {value(metric, loose)} loose")
            )
    return shares_found


def digits(metric: str) -> int:
    """Return how many digits after the point a metric is shown with."""
    row = row_of(metric)
    return 2 if row is None else row.digits


def better_arrow(metric: str) -> str:
    """Return an arrow to a metric's better end; empty where it has none."""
    row = row_of(metric)
    return "" if row is None else {"higher": "↑", "lower": "↓"}.get(row.info.better, "")


def scale(metric: str) -> str:
    """Return the range of a metric, with an arrow to its better end."""
    row = row_of(metric)
    ends = (0.0, 1.0) if row is None else (row.info.low, row.info.high)
    low, high = (f"{end:g}".replace("inf", "∞") for end in ends)
    return f"{low}–{high}{better_arrow(metric)}"


def of_entries(metric: str) -> bool:
    """Return whether a metric means something for one entry alone."""
    row = row_of(metric)
    return row is None or row.level == "both"


def floor_words(name: str) -> str:
    """Return what a worthless method does (T2)."""
    return _FLOORS.get(name, name)


def by_reason(missing: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return each reason for a missing value once, with the metrics it holds for."""
    reasons: dict[str, list[str]] = {}
    for metric, reason in missing.items():
        reasons.setdefault(reason, []).append(short_title(metric))
    return [(reason, ", ".join(metrics)) for reason, metrics in reasons.items()]
