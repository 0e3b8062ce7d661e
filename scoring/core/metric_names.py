"""How metrics are called: one vocabulary for options, sorting and titles of tables.

A metric is known by its id, its title in the specification, and its short name; in any case, and with or
without spaces, hyphens and underscores. A plus counts, for chrF+ is another metric than chrF++.
"""

from __future__ import annotations

from collections.abc import Iterator

from corpora.text.near_names import near_names, one_of
from scoring.core.specification import specification

COMPOSITE = "composite"
ROSETTA = "rosetta"
"""Name of all metrics of the scoring specification together."""

_ALSO_COMPOSITE = ("comp",)


def title(metric: str) -> str:
    """Return a metric's name as the specification has it; what is no metric of it as it stands."""
    row = specification().metrics.get(metric)
    return metric if row is None else row.info.title


def short_title(metric: str) -> str:
    """Return a metric's name where room is scarce, as at the head of a column."""
    row = specification().metrics.get(metric)
    return title(metric) if row is None else row.short or row.info.title


def typed_name(metric: str) -> str:
    """Return the shortest name that a shell takes without quotes: ``chrf``, ``bleu``, ``code-switching``."""
    row = specification().metrics.get(metric)
    return row.also[0] if row is not None and row.also else short_title(metric).lower()


def metric_named(words: str) -> str | None:
    """Return the id of the metric (or ``composite``) that goes by this name; None where there is none."""
    wanted = _letters(words)
    return next((id_ for id_ in _all() if wanted in {_letters(name) for name in _names(id_)}), None)


def unknown_metric(words: str) -> str:
    """Say that there is no such metric, with the nearest, else with all short names; without a full stop."""
    names = {name: id_ for id_ in _all() for name in _names(id_)}
    near = dict.fromkeys(typed_name(names[name]) for name in near_names(words, names))
    if near:
        return f"there is no metric {words[:40]!r}; did you mean {one_of(near)}?"
    known = ", ".join(typed_name(id_) for id_ in _all())
    return f"there is no metric {words[:40]!r}; there are {known}"


def _all() -> tuple[str, ...]:
    return (*specification().metrics, COMPOSITE)


def _names(metric: str) -> Iterator[str]:
    also = _ALSO_COMPOSITE if metric == COMPOSITE else specification().metrics[metric].also
    yield from (metric, title(metric), short_title(metric), *also)


def _letters(words: str) -> str:
    return "".join(letter for letter in words.casefold() if letter.isalnum() or letter == "+")
