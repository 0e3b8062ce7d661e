"""Numbers as people read them in a terminal: short, aligned, and honest about what is not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from corpora.text.messages import dollars, minus, percent

if TYPE_CHECKING:
    from scoring.core.specification import InventoryRow

NONE = "–"  # stands where there is no value
_BLOCKS = "▁▂▃▄▅▆▇█"


def row_of(metric: str) -> InventoryRow | None:
    """Return the row of a metric; the inventory is loaded for it alone, for lists of runs do without."""
    from scoring.core import inventory

    return inventory.row_of(metric)


def meter(tier: str) -> str:
    """Return a tier as five diamonds, so that it can be read without its colour."""
    from scoring.core.specification import Tier

    filled = Tier(tier).rank
    return "◆" * filled + "◇" * (len(Tier) - 1 - filled)


def coverage(share: float | None) -> str:
    """Return behind a tier on how much of its weight the composite rests; empty where that is all of it, or not known."""
    return "" if share in {None, 1.0} else f" on {percent(share or 0.0)} of its weight"


def number(value: float | None, digits: int) -> str:
    """Return a value with fixed digits after the point."""
    return NONE if value is None else minus(f"{value:.{digits}f}")


def signed(value: float, digits: int, *, share: bool = False) -> str:
    """Return a difference with its sign, − as people write it and not the hyphen; nothing has none."""
    rounded = round(value, digits + 2 if share else digits) + 0.0
    written = percent(rounded, digits) if share else minus(f"{rounded:.{digits}f}")
    return f"+{written}" if rounded > 0 else written


def count(value: int | None) -> str:
    """Return a whole number with its thousands separated."""
    return NONE if value is None else f"{value:,}"


UNKNOWN = "unknown"  # an amount that nobody knows, where no column names what it is about


def money(value: float | None) -> str:
    """Return US dollars; nothing to pay is free, an unknown price is no price (M5, M6), little is not 0."""
    if value is None:
        return UNKNOWN
    if value == 0:
        return "free"
    if value < 0.00001:
        return "<$0.00001"
    return dollars(value)


def cost(total: float | None, known: float) -> str:
    """Return what a run cost; where some of it is unknown, the least that it can be."""
    return f"at least {money(known)}" if total is None and known > 0 else money(total)


def in_column(amount: str) -> str:
    """Return an amount of money as it stands under its title: as everywhere in a table, a dash where none is known."""
    return NONE if amount == UNKNOWN else amount


def charged(value: float | None, *, failed: bool) -> str:
    """Return what an entry cost; one that failed without a charge was not free, it came to nothing."""
    return NONE if failed and value == 0 else money(value)


def p_value(p: float) -> str:
    """Return a p-value; one below a thousandth is less than that, and never 0: no test of ours shows 0."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def p_words(p: float) -> str:
    """Return a p-value in a sentence: ``p 0.032``, ``p < 0.001``."""
    return "p < 0.001" if p < 0.001 else f"p {p_value(p)}"


def seconds(value: float | None) -> str:
    """Return a short time in seconds."""
    if value is None:
        return NONE
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def clock(value: float | None) -> str:
    """Return a longer time as minutes and seconds, with hours and days where there are any."""
    if value is None:
        return NONE
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} d {hours % 24} h"
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def sparkline(values: Sequence[float], width: int) -> str:
    """Return the last values as small bars, the highest of them full."""
    shown = values[-width:]
    top = max(shown, default=0.0)
    if top <= 0:
        return "▁" * len(shown)
    return "".join(_BLOCKS[min(7, int(value / top * 7.999))] for value in shown)


def progress_bar(share: float, width: int) -> str:
    """Return a bar that is filled to a share of 0 to 1, to an eighth of a cell."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    bar = "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")
    return bar + "░" * (width - len(bar))


def interval_bar(
    value: float,
    interval: tuple[float, float] | None,
    *,
    top: float,
    width: int,
    low: float = 0.0,
    floor: float | None = None,
) -> str:
    """Draw a value (``●``) from ``low`` to ``top`` with its interval (``├ ┤``), the best floor (``╿``, T2) and zero (``┊``)."""
    line = ["·"] * width

    def place(at: float) -> int:
        if top <= low:
            return width // 2
        return max(0, min(width - 1, round((at - low) / (top - low) * (width - 1))))

    if low < 0 < top:
        line[place(0.0)] = "┊"
    if interval is not None:
        start, stop = map(place, interval)
        line[start : stop + 1] = ["┼" if cell == "┊" else "─" for cell in line[start : stop + 1]]
        line[start], line[stop] = "├", "┤"
    if floor is not None and line[place(floor)] in "·─":
        line[place(floor)] = "╿"
    line[place(value)] = "●"
    return "".join(line)


# ---- How metrics are called and written on a screen ----

_SHARES = {"prompt": ("_strict_prompt", "_loose_prompt"), "instruction": ("_strict_instruction", "_loose_instruction")}
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

FEW_ENTRIES = 200  # below, BLEU's interval covers 82–92 % (benchmarks/bleu_coverage.py)


def remark(metric: str, entries: float | None) -> str | None:
    """Return what a value over some entries is not, where it is easily taken for something else."""
    if metric == "bleu" and entries is not None and entries <= FEW_ENTRIES:
        return f"its interval is too narrow on {FEW_ENTRIES} entries or fewer"
    row = row_of(metric)
    return None if row is None else row.remark


def value(metric: str, measured: float | None) -> str:
    """Return a value with as many digits as the metric's scale is read with."""
    return number(measured, digits(metric))


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
            words = f"{value(metric, strict)} strict, {value(metric, loose)} loose"
            shares_found.append((of, words))
    return shares_found


def digits(metric: str) -> int:
    """Return how many digits after the point a metric is shown with."""
    row = row_of(metric)
    return 2 if row is None else row.digits


def better_arrow(metric: str) -> str:
    """Return an arrow to a metric's better end; empty where it has none."""
    row = row_of(metric)
    return "" if row is None else {"higher": "↑", "lower": "↓"}.get(row.info.better, "")


def scale_ends(metric: str) -> tuple[float, float]:
    """Return the least and the greatest value of a metric."""
    row = row_of(metric)
    return (0.0, 1.0) if row is None else (row.info.low, row.info.high)


def scale(metric: str) -> str:
    """Return the range of a metric, with an arrow to its better end."""
    low, high = (f"{end:g}".replace("inf", "∞") for end in scale_ends(metric))
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
    from scoring.core.inventory import short_title

    reasons: dict[str, list[str]] = {}
    for metric, reason in missing.items():
        reasons.setdefault(reason, []).append(short_title(metric))
    return [(reason, ", ".join(metrics)) for reason, metrics in reasons.items()]
