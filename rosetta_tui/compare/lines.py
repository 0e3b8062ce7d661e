"""A comparison as lines for terminals and pipes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from corpora.files.json_types import JsonObject
from corpora.text.messages import counted
from harness.store.run_list import LEAD
from rosetta_tui.compare import sentences
from rosetta_tui.show import figures
from rosetta_tui.show.card_fields import claim_json, claimable, review_of, tier_words
from rosetta_tui.show.run_facts import iso
from rosetta_tui.show.text import plain, stacked
from scoring.core.inventory import short_title
from scoring.core.specification import TASKS
from scoring.statistics.repetitions import Holding

if TYPE_CHECKING:
    from harness.compare.comparison import Comparison, CorpusPart, EntryTexts
    from harness.compare.pairs import ComparedRun, Pair


def leading(metrics: Collection[str]) -> list[str]:
    """Return those of some metrics that are shown first: of other tasks than translation their headline."""
    headlines = [row.headline for row in TASKS.values()]
    leads = [metric for metric in LEAD if metric in metrics]
    return leads or [headline for headline in headlines if headline in metrics]


_MOST_PARTS = 12


def comparison_lines(comparison: Comparison, width: int | None = None) -> Iterator[str]:
    """Yield everything that a comparison shows, entries aside; no table is wider than ``width`` cells."""
    yield from _runs(comparison, width)
    leads = leading(comparison.metrics)
    yield from dict.fromkeys(
        sentences.repeated_words(r, metric) for metric in leads for r in comparison.repeated(metric)
    )
    for pair in comparison.pairs:
        yield ""
        yield from _pair(pair, width)
    yield from _breakdowns(comparison, width)
    yield ""
    yield from sorted({why for s in comparison.sides for why in s.rows.scorer.as_stated.values()})
    # how the numbers were got; while every pair continues there are no p-values, only intervals
    if all(pair.under_way for pair in comparison.pairs):
        yield f"intervals: bootstrap, {comparison.draws:,} draws; seed {comparison.seed}."
        return
    holm = ", Holm over all pairs" if len(comparison.pairs) > 1 else ""
    yield (
        f"p: approximate randomisation, {comparison.trials:,} shuffles{holm}; intervals: paired bootstrap, "
        f"{comparison.draws:,} draws; seed {comparison.seed}. Better: p of both tests below 0.05 and an "
        "interval without zero."
    )


def refusals(comparison: Comparison) -> Iterator[str]:
    """Name the runs that do not compare, each with the reason."""
    for run_id, why in comparison.refused.items():
        yield plain(f"not compared: run {run_id[:8]}: {why}")


def _runs(comparison: Comparison, width: int | None) -> Iterator[str]:
    first, count = comparison.runs[0], len(comparison.entries)
    yield plain(
        f"{len(comparison.runs)} runs on {counted(count, 'entry', 'entries')} of "
        f"{first.dataset_id} {first.language_pair}"
    )
    words = sentences.told_apart(comparison.runs, by_id=False)
    leading_ids = _led(comparison)
    heads = ("", "run", "what", *map(short_title, leading_ids))
    rows = [(*heads, "failed", "cost", "seconds an entry")]
    for run, word in zip(comparison.runs, words, strict=True):
        cost = figures.in_column(figures.cost(run.cost_usd, run.known_cost_usd))
        values = (_value(run, metric) for metric in leading_ids)
        rows.append(
            (run.letter, run.run_id[:8], word, *values, str(run.failed), cost, figures.seconds(run.median_seconds))
        )
    yield from stacked(rows, width)
    for run in comparison.runs:
        if run.done > count:
            more = counted(run.done - count, "more entry", "more entries")
            yield f"{run.letter} has {more} that not all have, left out here"
        if not run.complete:
            yield f"{run.letter} is not complete: {run.done:,} of {run.total:,} entries are there"
        if claim := sentences.claim_words(run):
            yield f"{claim}, by all its outputs"
            yield from (f"  {line}" for line in sentences.floor_lines(run))
        if run.unverified:
            yield f"{run.letter} is UNVERIFIED: it came without a seal that holds"
        if run.stated:
            yield f"{run.letter} is as its card states (stated): its outputs were not scored again here with its corpus"


def _led(comparison: Comparison) -> list[str]:
    """Return the metrics that stand for all: those told first, or the first of those that were asked for."""
    return leading(comparison.metrics) or list(comparison.metrics[:1])


def _value(run: ComparedRun, metric: str) -> str:
    value, interval = run.values.get(metric), run.intervals.get(metric)
    if value is None:
        return figures.NONE
    if interval is None:
        return sentences.number(metric, value)
    return f"{sentences.number(metric, value)} ({sentences.number(metric, interval.lower)}–{sentences.number(metric, interval.upper)})"


def ordered(metrics: Sequence[str]) -> list[str]:
    """Move the metrics that are shown first to the beginning."""
    first = leading(metrics)
    return [*first, *(id_ for id_ in metrics if id_ not in first)]


def _pair(pair: Pair, width: int | None) -> Iterator[str]:
    yield f"{pair.second.letter} against {pair.first.letter}"
    metric_ids = ordered(list(pair.by_metric))
    lead = leading(metric_ids) or metric_ids[:1]
    for metric in lead:
        yield plain(f"  {sentences.sentence(pair, metric)}.")
    if pair.reproduction is not None:
        for line in sentences.reproduction_words(pair.reproduction):
            yield f"  {line}"
        yield from (f"  {cached}" for run in (pair.first, pair.second) if (cached := sentences.cached_words(run)))
    rows = _running_rows(pair, metric_ids) if pair.under_way else _rows(pair, metric_ids)
    if metric_ids:
        yield from _indented(list(rows), width)
    for metric, why in pair.left_out.items():
        yield plain(f"  not compared by {sentences.name(metric)}: {why}")


def _indented(rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    inner = None if width is None else width - 2
    yield from (f"  {line}" for line in stacked(rows, inner))


def _rows(pair: Pair, metrics: Sequence[str]) -> Iterator[tuple[str, ...]]:
    one, other = pair.first.letter, pair.second.letter
    holm = ("p (Holm)",) if pair.pairs > 1 else ()
    yield (
        "metric", one, other, "difference", "95 % interval", "p", *holm, "p bootstrap", "effect",
        f"{other} wins", f"{one} wins", "ties", "better",
    )  # fmt: skip
    for metric in metrics:
        difference = pair.by_metric[metric]
        better = pair.better(metric)
        counts = (difference.wins, difference.losses, difference.ties)
        adjusted = (figures.p_value(pair.p_adjusted[metric]),) if holm else ()
        yield (
            short_title(metric),
            sentences.number(metric, difference.first),
            sentences.number(metric, difference.second),
            sentences.number(metric, difference.difference, sign=True),
            sentences.ends(metric, difference),
            figures.p_value(difference.p_randomisation),
            *adjusted,
            figures.p_value(difference.p_bootstrap),
            figures.NONE if difference.effect_size is None else figures.signed(difference.effect_size, 2),
            *(map(str, counts) if any(counts) else [figures.NONE] * 3),
            figures.NONE if better is None else better.letter,
        )


def _running_rows(pair: Pair, metrics: Sequence[str]) -> Iterator[tuple[str, ...]]:
    one, other = pair.first.letter, pair.second.letter
    yield ("metric", one, other, "mean difference of entries", "valid at any time", "better so far")
    for metric in metrics:
        difference, so_far = pair.by_metric[metric], pair.running.get(metric)
        better = pair.better(metric)
        yield (
            short_title(metric),
            sentences.number(metric, difference.first),
            sentences.number(metric, difference.second),
            figures.NONE if so_far is None else sentences.number(metric, so_far.mean, sign=True),
            figures.NONE if so_far is None else sentences.ends(metric, so_far),
            figures.NONE if better is None else better.letter,
        )


def _breakdowns(comparison: Comparison, width: int | None) -> Iterator[str]:
    """Return where the difference comes from, by the metrics that are shown first."""
    metrics = _led(comparison)
    parted = {name_: parts for name_, parts in comparison.breakdowns.items() if len(parts) > 1}
    if not (parted and metrics):
        return
    yield ""
    yield "where the difference lies (parts are not tested: of twenty one differs by chance)"
    letters = [run.letter for run in comparison.runs]
    single = comparison.pairs[0] if len(comparison.pairs) == 1 else None
    columns = letters if single is None else [*letters, "difference"]
    for dimension, parts in parted.items():
        heads = (
            column if column == "difference" else f"{short_title(metric)} {column}"
            for metric in metrics
            for column in columns
        )
        rows = [(dimension, "entries", *heads)]
        for tag, part in list(parts.items())[:_MOST_PARTS]:
            cells = (cell for metric in metrics for cell in _part(part, metric, letters, single))
            rows.append((tag, f"{part.n:,}", *cells))
        yield from _indented(rows, width)
        if len(parts) > _MOST_PARTS:
            yield f"  … and {len(parts) - _MOST_PARTS:,} more; --json has all"


def _part(part: CorpusPart, metric: str, letters: Sequence[str], single: Pair | None) -> Iterator[str]:
    for letter in letters:
        value = part.values[letter].get(metric)
        yield figures.NONE if value is None else sentences.number(metric, value)
    if single is None:
        return
    part_difference = part.differences[single.first.letter, single.second.letter].get(metric)
    if part_difference is None:
        yield figures.NONE
        return
    interval = ""
    if part_difference.interval is not None:
        low, high = (sentences.number(metric, end, sign=True) for end in part_difference.interval)
        interval = f" ({low} … {high})"
    yield f"{sentences.number(metric, part_difference.difference, sign=True)}{interval}"


def entry_lines(
    comparison: Comparison, metric: str, places: Sequence[int], texts: Sequence[EntryTexts]
) -> Iterator[str]:
    """Show the entries on which the runs differ most; of secret ones the numbers only."""
    yield ""
    yield f"biggest differences by {sentences.name(metric)}"
    values = comparison.entries.values[metric]
    for place, text in zip(places, texts, strict=True):
        own = (
            f"{run.letter} {figures.NONE if value != value else sentences.number(metric, float(value))}"  # noqa: PLR0124  NaN
            for run, value in zip(comparison.runs, values[:, place], strict=True)
        )
        yield plain(f"entry {comparison.entries.ids[place]}: {', '.join(own)}")
        if text.source is None:
            yield "  its texts are not shown: the entry is secret"
            continue
        yield plain(f"  source     {text.source}")
        yield plain(f"  reference  {text.reference}")
        for run, output in zip(comparison.runs, text.outputs, strict=True):
            yield plain(f"  {run.letter:<9}  {'(failed)' if output is None else output}")


# ---- A comparison as plain values for programs: numbers at full precision, and the same
# sentences.


def comparison_json(comparison: Comparison) -> JsonObject:
    """Return everything that a comparison tells, entries aside; no text of any entry."""
    return {
        "runs": [_values_run(run) for run in comparison.runs],
        "refused": dict(comparison.refused),
        "entries": len(comparison.entries),
        "baseline": comparison.baseline,
        "draws": comparison.draws,
        "trials": comparison.trials,
        "seed": comparison.seed,
        "level": comparison.level,
        "pairs": [_values_pair(pair) for pair in comparison.pairs],
        "repeats": _values_repeats(comparison),
        "breakdowns": {
            dimension: {
                tag: {
                    "n": part.n,
                    "scores": {letter: dict(values) for letter, values in part.values.items()},
                    "differences": [
                        {"first": one, "second": other, "metrics": {id_: asdict(d) for id_, d in difference.items()}}
                        for (one, other), difference in part.differences.items()
                    ],
                }
                for tag, part in parts.items()
            }
            for dimension, parts in comparison.breakdowns.items()
        },
    }


def _values_repeats(comparison: Comparison) -> list[JsonObject]:
    """Return the runs that repeat one set-up, with what varies of each metric; variances, on the metric's scale."""
    equal: dict[tuple[str, ...], bool] = {}
    varying: dict[tuple[str, ...], dict[str, JsonObject]] = {}
    for metric in ordered(comparison.metrics):
        for setup in comparison.repeated(metric):
            equal[setup.letters] = setup.equal
            metrics = varying.setdefault(setup.letters, {})
            if setup.parts is not None:
                interval = setup.parts.interval(Holding.REPETITIONS)
                metrics[metric] = {
                    "mean": setup.parts.mean,
                    "lower": interval.lower,
                    "upper": interval.upper,
                    "variance_between_repeats": setup.parts.between_repetitions,
                    "variance_between_entries": setup.parts.between_entries,
                    "variance_within_repeats": setup.parts.remainder,
                }
    return [
        {"runs": list(letters), "equal": equal[letters], "metrics": metrics} for letters, metrics in varying.items()
    ]


def _values_run(run: ComparedRun) -> JsonObject:
    setup, card = run.setup, run.card
    # what may be claimed of all its outputs, and why no more; nulls before it has a card
    claim = None if card is None else claim_json(card)
    review = None if card is None else review_of(card, run.certificates)
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
        "caveats": [] if claim is None else claim["caveats"],
        "tier_in_words": None if card is None else tier_words(card, review),
        "claim": None if card is None or claim is None else {**claim, "claimable_tier": claimable(card, review)},
        "scores": dict(run.values),
        "confidence_intervals": {
            id_: {"ci_lower": interval.lower, "ci_upper": interval.upper}
            for id_, interval in run.intervals.items()
            if id_ in run.values
        },
    }


def _values_pair(pair: Pair) -> JsonObject:
    return {
        "first": pair.first.run_id,
        "second": pair.second.run_id,
        "under_way": pair.under_way,
        "metrics": {id_: _difference(pair, id_) for id_ in pair.by_metric},
        "left_out": dict(pair.left_out),
        "so_far": {
            id_: {**asdict(difference), "better": _better(pair, id_)} for id_, difference in pair.running.items()
        },
        "reproduction": None if pair.reproduction is None else asdict(pair.reproduction),
    }


def _difference(pair: Pair, metric: str) -> JsonObject:
    fields = asdict(pair.by_metric[metric])
    ends = {"ci_lower": fields.pop("lower"), "ci_upper": fields.pop("upper")}
    del fields["level"]
    return {
        **fields,
        **ends,
        "p_holm": pair.p_adjusted[metric],
        "significant": pair.significant(metric),
        "better": _better(pair, metric),
        "sentence": sentences.sentence(pair, metric),
    }


def _better(pair: Pair, metric: str) -> str | None:
    compared_run = pair.better(metric)
    return None if compared_run is None else compared_run.run_id


def entries_json(comparison: Comparison, metric: str, places: Sequence[int], texts: Sequence[EntryTexts]) -> JsonObject:
    """Return the entries on which the runs differ most; of secret ones that they are withheld."""
    entries, letters = comparison.entries, [run.letter for run in comparison.runs]
    listed: list[JsonObject] = []
    for place, text in zip(places, texts, strict=True):
        if entries.secret[place]:
            listed.append({"entry_id": entries.ids[place], "withheld": True})
            continue
        values = {
            id_: {
                letter: None if value != value else float(value)  # noqa: PLR0124  NaN
                for letter, value in zip(letters, values[:, place], strict=True)
            }
            for id_, values in entries.values.items()
        }
        failed = zip(letters, entries.failed[:, place], strict=True)
        listed.append(
            {
                "entry_id": entries.ids[place],
                "withheld": False,
                "values": values,
                "failed": [letter for letter, is_failed in failed if is_failed],
                "source": text.source,
                "reference": text.reference,
                "outputs": dict(zip(letters, text.outputs, strict=True)),
            }
        )
    return {"metric": metric, "entries": listed}
