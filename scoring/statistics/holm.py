"""Holm's correction: of several p-values each is made as large as it has to be to be read beside the others.

Who compares many runs finds some difference by chance; after the correction the chance of even one false
finding stays below the level, whatever the tests have in common (Holm 1979, uniformly stronger than Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the adjusted p-values in the same order, 0–1; one below the level is a finding at that level.

    ValueError where one is no probability.
    """
    if not all(0 <= p <= 1 for p in p_values):
        raise ValueError("a p-value lies between 0 and 1")
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, (len(p_values) - rank) * p_values[place])
        adjusted[place] = min(1.0, largest)
    return adjusted
