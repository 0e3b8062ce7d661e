"""From the inventory of the specification to metrics that can be asked (scoring-specification §2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from corpora.model.entry import Entry
from scoring.core.metric import CorpusMetric, Metric
from scoring.core.scorer import PackedColumn, Scorer
from scoring.core.setup import ScoringSetup
from scoring.core.specification import specification
from scoring.metrics.bleu import Bleu
from scoring.metrics.chrf import ChrfPlusPlus
from scoring.metrics.code_switching import CodeSwitching, why_no_code_switching
from scoring.metrics.comet import Comet, why_no_comet
from scoring.metrics.compliance import ComplianceIndex
from scoring.metrics.consistency import Consistency, why_no_consistency
from scoring.metrics.fst_acceptance import FstAcceptance, why_no_fst_acceptance
from scoring.metrics.hallucination import Hallucination, why_no_hallucination
from scoring.metrics.length import LengthRatio
from scoring.metrics.match import ExactMatch, equivalent_match, why_no_equivalents
from scoring.metrics.morphology import MorphologicalAccuracy, why_no_morphology
from scoring.metrics.orthography import OrthographicAccuracy, why_no_orthography
from scoring.metrics.repair import RepairEffectiveness
from scoring.metrics.semantic import SemanticScore, why_no_semantic_score
from scoring.metrics.ter import Ter
from scoring.metrics.terminology_adherence import TerminologyAdherence, why_no_terminology
from scoring.words.resources import Resources
from scoring.words.tokenizers import bleu_tokenizer, references_script

SURFACE = (
    "exact_match_rate",
    "equivalent_match_rate",
    "chrf_plus_plus",
    "bleu",
    "ter",
    "length_ratio",
)
"""The metrics of §2.1, whose statistics follow from output, reference and variants alone; only those of
equivalent match do not where the language has rules of its own for it."""


@dataclass(frozen=True, slots=True)
class Maker:
    """How one metric is made, and when it is off."""

    make: Callable[[Resources], Metric | CorpusMetric]
    why_off: Callable[[Resources], str | None] = lambda _: None
    """Gives the reason why the metric can have no value with these resources, None where it can."""


MAKERS: dict[str, Maker] = {
    "exact_match_rate": Maker(lambda _: ExactMatch()),
    "equivalent_match_rate": Maker(equivalent_match, why_no_equivalents),
    "chrf_plus_plus": Maker(lambda found: ChrfPlusPlus(multi_ref=found.setup.multi_ref)),
    "bleu": Maker(lambda found: Bleu(found.setup.bleu_tokenizer, multi_ref=found.setup.multi_ref)),
    "ter": Maker(lambda found: Ter(multi_ref=found.setup.multi_ref)),
    "length_ratio": Maker(lambda _: LengthRatio()),
    "fst_acceptance_rate": Maker(lambda found: FstAcceptance(found.setup), why_no_fst_acceptance),
    "morphological_accuracy": Maker(MorphologicalAccuracy, why_no_morphology),
    "orthographic_accuracy": Maker(OrthographicAccuracy, why_no_orthography),
    "semantic_score": Maker(SemanticScore, why_no_semantic_score),
    "comet_score": Maker(Comet, why_no_comet),
    "code_switching_rate": Maker(CodeSwitching, why_no_code_switching),
    "hallucination_rate": Maker(Hallucination, why_no_hallucination),
    "terminology_adherence": Maker(TerminologyAdherence, why_no_terminology),
    "consistency_score": Maker(Consistency, why_no_consistency),
    "compliance_index": Maker(ComplianceIndex),
    "repair_effectiveness": Maker(RepairEffectiveness),
}
"""By metric id."""


def from_texts(setup: ScoringSetup) -> frozenset[str]:
    """Tell which metrics of a setup can be computed from texts, without anything else."""
    ruled = {"equivalent_match_rate"} if setup.variant_rules else set()
    return frozenset(SURFACE) - ruled


def choose(resources: Resources, wanted: Collection[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Tell which of the wanted metrics these resources allow, in inventory order, and why others are off.

    What the setup already calls off stays off, with the reason that is given there.
    """
    on, off = [], dict(resources.setup.off)
    for id_ in specification().metrics:
        if id_ in off or id_ not in MAKERS:
            continue
        if id_ not in wanted:
            off[id_] = "not among the metrics of this run"
        elif reason := MAKERS[id_].why_off(resources):
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
        if id_ in MAKERS:
            yield MAKERS[id_].make(resources)


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
        metrics=SURFACE,
        source_language=source_language,
        target_language=target_language,
        bleu_tokenizer=bleu_tokenizer(target_language, script),
        has_variants=any(entry.variants for entry in entries),
    )


def surface_metrics(*, tokenizer: str = "13a", has_variants: bool = False) -> tuple[Metric, ...]:
    """Return the metrics of §2.1, in the order of the inventory."""
    setup = ScoringSetup(
        metrics=SURFACE,
        source_language="und",
        target_language="und",
        bleu_tokenizer=tokenizer,
        has_variants=has_variants,
    )
    return make_metrics(Resources(setup))
