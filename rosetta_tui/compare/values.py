"""A comparison as plain values for programs: numbers at full precision, and the same sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rosetta_tui.compare.sentences import sentence
from rosetta_tui.show.card_fields import claim_json, claimable, review_of, tier_words
from rosetta_tui.show.run_facts import iso

if TYPE_CHECKING:
    from harness.compare.comparison import Comparison, CorpusPart, EntryTexts
    from harness.compare.pairs import ComparedRun, Pair
    from scoring.statistics.reproducibility import Reproduction


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return everything that a comparison tells, entries aside; no text of any entry."""
    return {
        "runs": [_run(run) for run in comparison.runs],
        "refused": dict(comparison.refused),
        "entries": len(comparison.entries),
        "baseline": comparison.baseline,
        "draws": comparison.draws,
        "trials": comparison.trials,
        "seed": comparison.seed,
        "level": comparison.level,
        "pairs": [_pair(pair) for pair in comparison.pairs],
        "breakdowns": {
            dimension: {tag: _part(part) for tag, part in parts.items()}
            for dimension, parts in comparison.breakdowns.items()
        },
    }


def _run(run: ComparedRun) -> dict[str, Any]:
    setup = run.setup
    return {
        "letter": run.letter,
        "run_id": run.run_id,
        "method": setup.method,
        "model_slug": setup.model_slug,
        "condition": setup.condition,
        "dataset_id": run.dataset_id,
        "language_pair": run.language_pair,
        "created": iso(run.created),
        "complete": run.complete,
        "under_way": run.under_way,
        "imported": run.imported,
        "unverified": run.unverified,
        "stated": run.stated,
        "total": run.total,
        "done": run.done,
        "failed": run.failed,
        "cached": run.cached,
        "cost_usd": run.cost_usd,
        "known_cost_usd": run.known_cost_usd,
        "median_latency_seconds": run.median_seconds,
        **_claimed(run),
        "scores": dict(run.values),
        "confidence_intervals": {
            id_: {"ci_lower": interval.lower, "ci_upper": interval.upper}
            for id_, interval in run.intervals.items()
            if id_ in run.values
        },
    }


def _claimed(run: ComparedRun) -> dict[str, Any]:
    """Return what may be claimed of all outputs of a run, and why no more; nulls before it has a card."""
    if run.card is None:
        return {"caveats": [], "tier_in_words": None, "claim": None}
    claim = claim_json(run.card)
    review = review_of(run.card, run.certificates)
    return {
        "caveats": claim["caveats"],
        "tier_in_words": tier_words(run.card, review),
        "claim": {**claim, "claimable_tier": claimable(run.card, review)},
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "first": pair.first.run_id,
        "second": pair.second.run_id,
        "under_way": pair.under_way,
        "metrics": {id_: _difference(pair, id_) for id_ in pair.by_metric},
        "left_out": dict(pair.left_out),
        "so_far": {
            id_: {**asdict(running_difference), "better": _better(pair, id_)}
            for id_, running_difference in pair.running.items()
        },
        "reproduction": None if pair.reproduction is None else _reproduction(pair.reproduction),
    }


def _difference(pair: Pair, metric: str) -> dict[str, Any]:
    difference = pair.by_metric[metric]
    return {
        "first": difference.first,
        "second": difference.second,
        "difference": difference.difference,
        "ci_lower": difference.lower,
        "ci_upper": difference.upper,
        "p_randomisation": difference.p_randomisation,
        "p_holm": pair.p_adjusted[metric],
        "p_bootstrap": difference.p_bootstrap,
        "effect_size": difference.effect_size,
        "wins": difference.wins,
        "losses": difference.losses,
        "ties": difference.ties,
        "direction": difference.direction,
        "significant": pair.significant(metric),
        "better": _better(pair, metric),
        "sentence": sentence(pair, metric),
    }


def _better(pair: Pair, metric: str) -> str | None:
    compared_run = pair.better(metric)
    return None if compared_run is None else compared_run.run_id


def _reproduction(found: Reproduction) -> dict[str, Any]:
    return {
        "reproduced": found.reproduced,
        "missing": list(found.missing),
        "deviations": {id_: asdict(deviation) for id_, deviation in found.deviations.items()},
    }


def _part(part: CorpusPart) -> dict[str, Any]:
    return {
        "n": part.n,
        "scores": {letter: dict(values) for letter, values in part.values.items()},
        "differences": [
            {
                "first": one,
                "second": other,
                "metrics": {id_: asdict(d) for id_, d in difference.items()},
            }
            for (one, other), difference in part.differences.items()
        ],
    }


def entries_json(
    comparison: Comparison, metric: str, places: Sequence[int], texts: Sequence[EntryTexts]
) -> dict[str, Any]:
    """Return the entries on which the runs differ most; of secret ones the numbers only."""
    return {
        "metric": metric,
        "entries": [
            _entry(comparison, place, text) for place, text in zip(places, texts, strict=True)
        ],
    }


def _entry(comparison: Comparison, place: int, text: EntryTexts) -> Mapping[str, Any]:
    entries, letters = comparison.entries, [run.letter for run in comparison.runs]
    values = {
        id_: {
            letter: None if value != value else float(value)  # noqa: PLR0124  NaN
            for letter, value in zip(letters, values[:, place], strict=True)
        }
        for id_, values in entries.values.items()
    }
    failed = [letter for letter, is_ in zip(letters, entries.failed[:, place], strict=True) if is_]
    secret = bool(entries.secret[place])
    shown = {
        "source": text.source,
        "reference": text.reference,
        "outputs": dict(zip(letters, text.outputs, strict=True)),
    }
    if secret:
        return {"entry_id": entries.ids[place], "withheld": True}
    head = {"entry_id": entries.ids[place], "withheld": False, "values": values, "failed": failed}
    return {**head, **shown}
