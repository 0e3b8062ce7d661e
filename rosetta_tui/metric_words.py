"""How metrics are called and written on a screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rosetta_tui import figures
from scoring.specification import specification

if TYPE_CHECKING:
    from textual.content import Content

_SHORT = {
    "exact_match_rate": "exact",
    "equivalent_match_rate": "equivalent",
    "ter": "TER",
    "length_ratio": "length",
    "fst_acceptance_rate": "FST",
    "morphological_accuracy": "morphology",
    "orthographic_accuracy": "orthography",
    "semantic_score": "semantic",
    "comet_score": "COMET",
    "code_switching_rate": "code-switching",
    "hallucination_rate": "hallucination",
    "terminology_adherence": "terminology",
    "consistency_score": "consistency",
    "compliance_index": "compliance",
    "repair_effectiveness": "repair",
}


_FLOORS = {
    "empty": "empty outputs",
    "source": "the source copied",
    "copied": "the source copied",
    "constant": "one constant output",
    "shuffled": "shuffled references",
    "words": "words at random",
    "truncated": "a fifth of references",
}


REMARKS = {
    "fst_acceptance_rate": "compare with that; no analyser knows all good words",
    "comet_score": "trained on large languages; for others the number is not calibrated",
    "consistency_score": "over the whole corpus; its parts do not add up, so it has no interval",
}
"""What a value is not, where it is easily taken for something else."""


FEW_ENTRIES = 200
"""Below as many, BLEU's interval held the value in 82–92 % of simulated corpora (benchmarks/bleu_coverage.py)."""


def remark(metric: str, entries: float | None) -> str | None:
    """Say what a value over some entries is not, where it is easily taken for something else."""
    if metric == "bleu" and entries is not None and entries <= FEW_ENTRIES:
        return f"its interval is too narrow on {FEW_ENTRIES} entries or fewer"
    return REMARKS.get(metric)


def short_title(metric: str) -> str:
    """Give a metric's name where room is scarce."""
    return _SHORT.get(metric) or title(metric)


def heading(metric: str) -> str:
    """Give a metric's name at the head of a narrow column."""
    return "comp." if metric == "composite" else short_title(metric)


def metric_named(words: str) -> str:
    """Give the id of a metric by any name that is shown of it, in any case and with or without signs.

    A plus counts: chrF, chrF+ and chrF++ are three metrics. What is no name of a metric is given back as it is.
    """
    wanted = _letters(words)
    for id_ in (*specification().metrics, "composite"):
        if wanted in {_letters(name) for name in (id_, title(id_), short_title(id_), heading(id_))}:
            return id_
    return words


def _letters(words: str) -> str:
    return "".join(letter for letter in words.casefold() if letter.isalnum() or letter == "+")


def title(metric: str) -> str:
    """Give a metric's name as the specification has it."""
    row = specification().metrics.get(metric)
    return metric if row is None else row.info.title


def value(metric: str, number: float | None) -> str:
    """Give a value with as many digits as the metric's scale is read with."""
    return figures.number(number, digits(metric))


def shown_value(metric: str, number: float | None, references: float | None) -> Content:
    """Give a value as it stands on a screen.

    FST acceptance never stands alone: ``references`` is the share of the references' own words that the
    analyser accepts, since it knows only a part of good human writing.
    """
    from textual.content import Content

    beside = beside_value(metric, references)
    return Content.assemble(value(metric, number), (f" ({beside})" if beside else "", "$quiet"))


def beside_value(metric: str, references: float | None) -> str:
    """Say what a value has to be compared with; empty where it can stand alone."""
    if metric != "fst_acceptance_rate":
        return ""
    return f"references {'unknown' if references is None else value(metric, references)}"


def digits(metric: str) -> int:
    """Give how many digits after the point a metric is shown with."""
    row = specification().metrics.get(metric)
    return 1 if metric == "ter" or (row is not None and row.info.high == 100) else 2


def of_entries(metric: str) -> bool:
    """Tell whether a metric means something for one entry alone."""
    row = specification().metrics.get(metric)
    return row is None or row.level == "both"


def by_category(metrics: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Group metrics by the categories of the specification, both in its order."""
    wanted = set(metrics)
    groups: dict[str, list[str]] = {}
    for metric, row in specification().metrics.items():
        if metric in wanted:
            groups.setdefault(row.category, []).append(metric)
    return list(groups.items())


def floor_words(name: str) -> str:
    """Say what a worthless method does (T2)."""
    return _FLOORS.get(name, name)


def by_reason(missing: Mapping[str, str]) -> list[tuple[str, str]]:
    """Give each reason for a missing value once, with the metrics it holds for."""
    reasons: dict[str, list[str]] = {}
    for metric, reason in missing.items():
        reasons.setdefault(reason, []).append(short_title(metric))
    return [(reason, ", ".join(metrics)) for reason, metrics in reasons.items()]
