"""From the inventory of the specification to metrics that can be asked (scoring-specification §2)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import cast

from corpora.model.entry import Entry
from corpora.text.comparison import scripts
from scoring.core.inventory import pack_of, reported_metrics, row_of, why_as_stated
from scoring.core.metric import CorpusMetric, Metric
from scoring.core.packs import describe, pack_named
from scoring.core.scorer import NOT_WANTED, PackedColumn, Scorer
from scoring.core.setup import ScoringSetup
from scoring.core.specification import specification
from scoring.metrics.maker import Maker, guarded
from scoring.words.source_words import Resources
from scoring.words.tokenizers import bleu_tokenizer, references_script


def maker(id_: str) -> Maker | None:
    """Return how a metric of the inventory is made; None where nothing computes it.

    Its file is imported now: a run reads only the code of its metrics. What an installed pack fails with is
    told by ``why_no_pack``.
    """
    row = specification().metrics.get(id_)
    if row is None and (pack := pack_of(id_)) is not None:
        if pack.package:
            return packaged_makers(pack.name)[0].get(id_)
        row = pack.rows.get(id_)
    if row is None or row.module is None:
        return None
    return cast("Maker", import_module(row.module).METRICS[id_])


def why_no_pack(name: str) -> str | None:
    """Return why an installed pack does not work, and what to do; None where it does. Its modules are imported."""
    return packaged_makers(name)[1]


@cache
def packaged_makers(name: str) -> tuple[Mapping[str, Maker], str | None]:
    """Import the metrics of an installed pack; nothing, and why, where they are not what its table says."""
    pack = pack_named(name)
    if pack is None:
        return {}, "it is not installed"
    modules = {row.module: None for row in pack.rows.values() if row.module}
    makers: dict[str, Maker] = {}
    for module in modules:
        try:
            makers |= dict(import_module(module).METRICS)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            why = f"{module} cannot be imported: {describe(error)}"
            return {}, f"{why}. Install another version, or tell its makers."
    computed = {id_ for id_, row in pack.rows.items() if row.module}
    wrong = [id_ for id_ in sorted(computed) if not isinstance(makers.get(id_), Maker)]
    if wrong:
        why = f"METRICS has no Maker for {', '.join(wrong)}"
        return {}, f"{why}. Install another version, or tell its makers."
    return {id_: guarded(pack.name, makers[id_]) for id_ in computed}, None


def surface() -> tuple[str, ...]:
    """Return the surface metrics (§2.1), whose statistics follow from output, reference and variants alone.

    Only those of equivalent match do not where the language has rules for it.
    """
    rows = specification().metrics.items()
    return tuple(id_ for id_, row in rows if row.category == "surface" and row.module)


def from_texts(setup: ScoringSetup) -> frozenset[str]:
    """Return which metrics of a setup can be computed from texts, without anything else."""
    ruled = {"equivalent_match_rate"} if setup.variant_rules else set()
    return frozenset(surface()) - ruled


def choose_metrics(resources: Resources, wanted: Collection[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return which of the wanted metrics these resources allow, in inventory order, and why others are off.

    What the setup already calls off stays off, with the reason that is given there.
    """
    on, off = [], dict(resources.setup.off)
    for id_ in reported_metrics(wanted):
        if id_ in off:
            continue
        if id_ not in wanted:  # one of the specification
            if specification().metrics[id_].module is not None:
                off[id_] = NOT_WANTED
        elif reason := _why_off(id_, resources):
            off[id_] = reason
        elif maker(id_) is not None:
            on.append(id_)
    return tuple(on), off


def _why_off(id_: str, resources: Resources) -> str | None:
    """Return why a metric can have no value with these resources; None where it can, or nothing computes it."""
    if (made := maker(id_)) is not None:
        return made.why_off(resources)
    pack = pack_of(id_)
    why = why_no_pack(pack.name) if pack is not None and pack.package else None
    return None if why is None else f"the pack {id_.partition('.')[0]} does not work: {why.rstrip('.')}"


def make_metrics(resources: Resources) -> tuple[Metric, ...]:
    """Make the additive metrics of a setup, in inventory order."""
    return tuple(metric for metric in _made(resources, _as_stated(resources.setup)) if isinstance(metric, Metric))


def _as_stated(setup: ScoringSetup) -> dict[str, str]:
    """Return why values of packs' metrics can only be repeated, by id; the specification's can be computed."""
    packed = [id_ for id_ in setup.metrics if "." in id_]
    return why_as_stated(packed, setup.packs) if packed else {}


def _made(resources: Resources, stated: Mapping[str, str]) -> Iterator[Metric | CorpusMetric]:
    """Make the metrics of a setup; one that another version knows and this one does not is left out."""
    for id_ in resources.setup.metrics:
        if id_ not in stated and (made := maker(id_)) is not None:
            yield made.make(resources)


def make_scorer(resources: Resources, packed: Sequence[PackedColumn] | None = None) -> Scorer:
    """Make the scorer of a setup.

    ``packed`` says what the stored rows of a run hold, where the run tells: a metric that is not among them,
    or took other numbers then, is of another version and counts as foreign.
    """
    widths = None if packed is None else dict(packed)
    stated = _as_stated(resources.setup)
    made = list(_made(resources, stated))
    whole = [metric for metric in made if isinstance(metric, CorpusMetric)]
    additive = [metric for metric in made if isinstance(metric, Metric)]
    metrics = [m for m in additive if widths is None or widths.get(m.info.id) == m.width]
    known = {metric.info.id: metric.width for metric in metrics}
    others = {metric.info.id for metric in whole}
    ids = [id_ for id_ in resources.setup.metrics if id_ not in others]
    foreign = [id_ for id_ in ids if id_ not in known]
    # why metrics that have a table here, or would with their pack, are not computed here
    why_foreign = {id_: stated.get(id_, OTHER_VERSION) for id_ in foreign if id_ in stated or row_of(id_)}
    return Scorer(
        metrics,
        whole,
        off={**why_foreign, **resources.setup.off},
        from_texts=from_texts(resources.setup),
        packed=[(id_, known.get(id_)) for id_ in ids] if packed is None else packed,
        foreign=foreign,
        columns=resources.setup.columns,
        may_lack=packed is None,
        weighing=resources.setup.weighing,
        free_word_order=resources.setup.free_word_order,
        languages=resources.languages,
    )


OTHER_VERSION = "taken by another version of this metric; its value is repeated as stated"
"""Why a metric of the inventory has no value that is computed here."""


def surface_setup(
    source_language: str, target_language: str, entries: Sequence[Entry], shares: Mapping[str, float] | None = None
) -> ScoringSetup:
    """Return the setup of a run of which nothing but texts is known: the metrics of §2.1.

    ``shares``: of scripts in the references, where they were counted already.
    """
    if shares is None:
        shares = scripts(entry.reference for entry in entries)
    return ScoringSetup(
        metrics=surface(),
        source_language=source_language,
        target_language=target_language,
        bleu_tokenizer=bleu_tokenizer(target_language, references_script(shares)),
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
