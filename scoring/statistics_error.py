"""Packed statistics that cannot be used; apart from the scorer, for who names the error but scores nothing."""

from __future__ import annotations


class StatisticsError(ValueError):
    """Statistics of entries are damaged, or are those of other metrics than they are read with."""

    def __init__(self) -> None:
        super().__init__(
            "the statistics of an entry are damaged, or were taken with other metrics; "
            "score the outputs again"
        )
