"""Numbers as people read them in a terminal: short, aligned, and honest about what is not known."""

from __future__ import annotations

from collections.abc import Sequence

from scoring.core.messages import minus, percent

NONE = "–"
"""Stands where there is no value."""

_BLOCKS = "▁▂▃▄▅▆▇█"


def meter(tier: str) -> str:
    """Return a tier as five diamonds, so that it can be read without its colour."""
    from scoring.core.specification import Tier

    filled = Tier(tier).rank
    return "◆" * filled + "◇" * (len(Tier) - 1 - filled)


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


UNKNOWN = "unknown"
"""An amount that nobody knows, where no column names what it is about."""


def money(value: float | None) -> str:
    """Return US dollars; nothing to pay is free, an unknown price is no price (M5, M6), little is not 0."""
    if value is None:
        return UNKNOWN
    if value == 0:
        return "free"
    if value < 0.00001:
        return "<$0.00001"
    return f"${value:,.{2 if value >= 1 else 4 if value >= 0.0001 else 6}f}"


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
    """Return a value at its place on a line from ``low`` to ``top``, with its interval and the best floor.

    ``●`` is the value, ``├ ┤`` the ends of its interval, ``╿`` what a worthless method reaches (T2), ``┊`` zero.
    """
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
