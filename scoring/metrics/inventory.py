"""From the inventory of the specification to metrics that can be asked (scoring-specification §2)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from importlib import import_module
from typing import cast

from corpora.model.entry import Entry
from scoring.core.metric import CorpusMetric, Metric
from scoring.core.scorer import PackedColumn, Scorer
from scoring.core.setup import ScoringSetup
from scoring.core.specification import specification
from scoring.metrics.maker import Maker
from scoring.words.resources import Resources
from scoring.words.tokenizers import bleu_tokenizer, references_script


def maker(id_: str) -> Maker | None:
    """Return how a metric of the inventory is made; None where nothing computes it.

    Its file is imported now: a run reads the code of its own metrics alone.
    """
    row = specification().metrics.get(id_)
    if row is None or row.module is None:
        return None
    return cast("Maker", import_module(row.module).METRICS[id_])


def surface() -> tuple[str, ...]:
    """Return the surface metrics (§2.1), whose statistics follow from output, reference and variants alone.

    Only those of equivalent match do not where the language has rules of its own for it.
    """
    rows = specification().metrics.items()
    return tuple(id_ for id_, row in rows if row.category == "surface" and row.module)


def from_texts(setup: ScoringSetup) -> frozenset[str]:
    """Tell which metrics of a setup can be computed from texts, without anything else."""
    ruled = {"equivalent_match_rate"} if setup.variant_rules else set()
    return frozenset(surface()) - ruled


def choose(resources: Resources, wanted: Collection[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Tell which of the wanted metrics these resources allow, in inventory order, and why others are off.

    What the setup already calls off stays off, with the reason that is given there.
    """
    on, off = [], dict(resources.setup.off)
    for id_ in specification().metrics:
        made = maker(id_)
        if id_ in off or made is None:
            continue
        if id_ not in wanted:
            off[id_] = "not among the metrics of this run"
        elif reason := made.why_off(resources):
            off[id_] = reason
        else:
            on.append(id_)
    return tuple(on), off


def make_metrics(resources: Resources) -> tuple[Metric, ...]:
    """Make the additive metrics of a setup, in inventory order."""
    return tuple(metric for metric in _made(resources) if isinstance(metric, Metric))


def make_corpus_metrics(resources: Resources) -> tuple[CorpusMetric, ...]:
    """Make the metrics of a setup that only a whole corpus has."""
    return tuple(metric for metric in _made(resources) if isinstance(metric, CorpusMetric))


def _made(resources: Resources) -> Iterator[Metric | CorpusMetric]:
    """Make the metrics of a setup; one that another version knows and this one does not is left out."""
    for id_ in resources.setup.metrics:
        if (made := maker(id_)) is not None:
            yield made.make(resources)


def make_scorer(resources: Resources, packed: Sequence[PackedColumn] | None = None) -> Scorer:
    """Make the scorer of a setup.

    ``packed`` says what the stored rows of a run hold, where the run tells: a metric that is not among them,
    or took other numbers then, is of another version and counts as foreign.
    """
    widths = None if packed is None else dict(packed)
    whole = make_corpus_metrics(resources)
    metrics = [
        metric
        for metric in make_metrics(resources)
        if widths is None or widths.get(metric.info.id) == metric.width
    ]
    known = {metric.info.id: metric.width for metric in metrics}
    others = {metric.info.id for metric in whole}
    ids = [id_ for id_ in resources.setup.metrics if id_ not in others]
    foreign = [id_ for id_ in ids if id_ not in known]
    again = dict.fromkeys(set(foreign) & specification().metrics.keys(), OTHER_VERSION)
    return Scorer(
        metrics,
        whole,
        off={**again, **resources.setup.off},
        from_texts=from_texts(resources.setup),
        packed=[(id_, known.get(id_)) for id_ in ids] if packed is None else packed,
        foreign=foreign,
        columns=resources.setup.columns,
        may_lack=packed is None,
    )


OTHER_VERSION = "taken by another version of this metric; its value is repeated as stated"
"""Why a metric of the inventory has no value that is computed here."""


def surface_setup(
    source_language: str, target_language: str, entries: Sequence[Entry]
) -> ScoringSetup:
    """Return the setup of a run of which nothing but texts is known: the metrics of §2.1."""
    script = references_script(entry.reference for entry in entries)
    return ScoringSetup(
        metrics=surface(),
        source_language=source_language,
        target_language=target_language,
        bleu_tokenizer=bleu_tokenizer(target_language, script),
        has_variants=any(entry.variants for entry in entries),
    )


def surface_metrics(*, tokenizer: str = "13a", has_variants: bool = False) -> tuple[Metric, ...]:
    """Return the metrics of §2.1, in the order of the inventory."""
    setup = ScoringSetup(
        metrics=surface(),
        source_language="und",
        target_language="und",
        bleu_tokenizer=tokenizer,
        has_variants=has_variants,
    )
    return make_metrics(Resources(setup))
