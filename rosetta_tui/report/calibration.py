"""A calibration as lines for people and as plain values for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from corpora.files.json_types import JsonObject
from corpora.text.messages import counted, percent
from review.calibration.proposal import evidence_facts, threshold_facts, weight_facts
from rosetta_tui.show import figures
from rosetta_tui.show.text import plain, table
from scoring.calibration.calibration import LEAST_ENTRIES, Calibration, FamilyAgreement, FamilyMeasure
from scoring.calibration.judgements import Estimate
from scoring.calibration.measures import Measure
from scoring.calibration.threshold import ThresholdProposal
from scoring.calibration.weights import WeightProposal
from scoring.core.inventory import short_title, title

if TYPE_CHECKING:
    from review.calibration.evidence import CalibrationEvidence


def calibration_lines(found: Calibration, evidence: CalibrationEvidence) -> Iterator[str]:
    """Yield everything that the ratings show, and what of it may be proposed."""
    people = "an unknown number of people" if evidence.raters is None else counted(evidence.raters, "person", "people")
    least, most = evidence.least_ratings, evidence.most_ratings
    ratings_words = str(least) if least == most else f"{least}–{most}"
    yield (
        f"{counted(found.outputs, 'rated output')} of {counted(found.items, 'entry', 'entries')}; "
        f"{counted(evidence.ratings, 'rating')} by {people}, {ratings_words} for an output"
    )
    for why, count in evidence.left_out.items():
        yield f"left out: {counted(count, 'row' if why == 'without a rating' else 'rating')} {why}"
    if evidence.raters == 1:
        yield "! all ratings are one person's: what is fitted to them is how this person judges"
    yield f"in brackets: 95 % intervals, {found.draws:,} draws of entries, seed {found.seed}"
    yield ""
    yield "How well each score predicts people's ratings; more is better"
    several = any(measure.soft_pairwise_accuracy is not None for measure in found.measures)
    width = len(_COLUMNS) if several else len(_COLUMNS) - 1
    rows = [
        (
            _name(row),
            figures.count(row.outputs),
            *map(_with_interval, (row.tau_b, row.pearson, row.spearman, row.pairwise_accuracy, row.auc)),
            figures.number(row.soft_pairwise_accuracy, 2),
        )[:width]
        for row in found.measures
    ]
    yield from table([_COLUMNS[:width], *rows])
    beaten = [_name(measure) for measure in found.measures if measure.beats_length is False]
    if beaten:
        yield f"! not shown to tell more than the length of the output alone: {plain(', '.join(beaten))}"
    yield ""
    yield from _families(found)
    yield ""
    yield from _runs(found, evidence)
    yield ""
    yield from _decisions(found)
    yield ""
    yield from _proposals(found.weights, found.threshold)


_COLUMNS = ("score", "outputs", "tau-b", "Pearson", "Spearman", "pairs right", "AUC", "runs (SPA)")


def _families(found: Calibration) -> Iterator[str]:
    if len(found.families) == 1 and len(found.families[0].pairs) == 1 and found.families[0].measures:
        [only] = found.families
        yield f"Language family: {_family_words(only)}. Its agreement is the tau-b above."
        return
    yield "What predicts people in each language family (tau-b within each pair of languages), the best first"
    for family in found.families:
        yield _family_words(family)
        if not family.measures:
            yield f"  not enough: {LEAST_ENTRIES} rated entries are wanted"
            continue
        rows = [(f"  {_name(row)}", figures.count(row.outputs), _with_interval(row.tau_b)) for row in family.measures]
        yield from table([("  score", "outputs", "tau-b"), *rows])


def _family_words(found: FamilyAgreement) -> str:
    """Return a family with its languages and how many outputs of how many entries were rated."""
    many = f"{counted(found.outputs, 'output')} of {counted(found.entries, 'entry', 'entries')}"
    return f"{found.family or 'unknown'} ({plain(', '.join(found.languages))}), {many}"


def _name(row: Measure | FamilyMeasure) -> str:
    return "length only" if row.metric == "length_only" else short_title(row.metric)


def _with_interval(found: Estimate, digits: int = 2) -> str:
    """Return a number with its interval, such as ``0.41 (0.33…0.48)``; a dash would look like a minus."""
    shown = figures.number(_rounded(found.value, digits), digits)
    if found.interval is None or found.value is None:
        return shown
    ends = (_rounded(end, digits) for end in (found.interval.lower, found.interval.upper))
    return f"{shown} ({'…'.join(figures.number(end, digits) for end in ends)})"


def _rounded(value: float | None, digits: int) -> float | None:
    """Round, and let no zero have a minus."""
    return None if value is None else round(value, digits) + 0.0


def _runs(found: Calibration, evidence: CalibrationEvidence) -> Iterator[str]:
    yield "What people said of the runs, and what the automatic score says"
    known = {run.run_id: run for run in evidence.runs}
    rows = [("run", "system", "outputs", "acceptable or better", "composite of these", "of the whole run")]
    for share in found.systems:
        run = known[share.system]
        rows.append(
            (
                share.system[:8],
                run.system,
                figures.count(share.outputs),
                _with_interval(share.acceptable),
                figures.number(share.composite, 2),
                f"{figures.number(run.composite, 2)}, automatically {run.quality_tier}",
            )
        )
    yield from table(rows)


def _decisions(found: Calibration) -> Iterator[str]:
    decisions = found.decisions
    yield (
        "What the line of the tier “deployable” would have decided of each output, and what most of its raters decided"
    )
    yield from table(
        [
            ("", "acceptable", "not acceptable"),
            (f"composite {decisions.line:.2f} or more", str(decisions.both), str(decisions.score_only)),
            ("below", str(decisions.people_only), str(decisions.neither)),
        ]
    )
    if decisions.agreement is not None:
        yield f"They agree on {percent(decisions.agreement)} of the outputs."


def _proposals(weights: WeightProposal, threshold: ThresholdProposal) -> Iterator[str]:
    """Yield what is proposed of the weights and of the threshold, or why nothing is."""
    if weights.proposed and weights.weights is not None:
        yield f"Weights: a PROPOSAL for profile {weights.profile}, because {weights.reason}."
        rows = [("metric", "specification", "proposal")]
        for metric, weight in weights.specification.items():
            rows.append((title(metric), f"{weight:.3f}", f"{weights.weights[metric]:.3f}"))
        yield from table(rows)
    else:
        yield f"Weights: keep the specification's, because {weights.reason}."
    yield ""
    level = f"{percent(threshold.level)} of the ratings are acceptable or better"
    if not threshold.proposed:
        yield f"Threshold where {level}: none is proposed, because {threshold.reason}."
        return
    yield (
        f"Threshold where {level}: a PROPOSAL, composite {_with_interval(threshold.threshold, 3)}; the "
        f"specification calls {threshold.specification:.2f} deployable."
    )
    shape = "never reaches it" if threshold.shape is None else f"reaches it at {threshold.shape:.3f}"
    if threshold.shape_agrees:
        yield f"A curve of no fixed shape {shape}: that agrees."
    else:
        yield f"! A curve of no fixed shape {shape}, outside of the interval: look at the ratings before you use it."


def calibration_json(found: Calibration, evidence: CalibrationEvidence) -> JsonObject:
    """Return everything as plain values; numbers only, of secret entries too."""
    return {
        "evidence": {**evidence_facts(evidence), "draws": found.draws, "seed": found.seed},
        "measures": [
            {**{key: _value(value) for key, value in asdict(row).items()}, "beats_length": row.beats_length}
            for row in found.measures
        ],
        "families": [
            {
                **{key: fact for key, fact in asdict(family).items() if key != "measures"},
                "enough": bool(family.measures),
                "least_entries": LEAST_ENTRIES,
                "measures": [{key: _value(fact) for key, fact in asdict(row).items()} for row in family.measures],
            }
            for family in found.families
        ],
        "runs": [{key: _value(n) for key, n in asdict(row).items()} for row in found.systems],
        "decisions": {**asdict(found.decisions), "agreement": found.decisions.agreement},
        "weights": weight_facts(found),
        "threshold": threshold_facts(found.threshold),
        "threshold_of_weights": None
        if found.threshold_of_weights is None
        else threshold_facts(found.threshold_of_weights),
    }


def _value(given: Any) -> Any:
    """Omit an estimate without a value, so that null always means: there is none."""
    return None if isinstance(given, dict) and given.get("value", 0) is None else given
