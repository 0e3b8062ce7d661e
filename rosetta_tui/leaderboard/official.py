"""Official lists in words, as rows of a table and as JSON: the fields of benchmark specification §9.7, as released cards tell them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpora.files.json_types import JsonObject
from corpora.text.messages import counted
from harness.leaderboard.official import VERIFICATION, OfficialList, OfficialRow
from rosetta_tui.leaderboard.rows import disagreeing_words
from rosetta_tui.show import figures, released_words
from rosetta_tui.show.columns import Value
from rosetta_tui.show.figures import CAVEATS
from rosetta_tui.show.text import stacked
from scoring.core.inventory import short_title
from scoring.core.specification import COMPOSITE

TIER = "may be called"  # title of the column with the tier
FACTS = ("fst_acceptance_rate", "exact_match_rate", "semantic_score")  # metrics behind the leads


def list_words(found: OfficialList) -> Iterator[str]:
    """Yield what an official list is, and how to read its order."""
    yield found.words
    by = short_title(found.by)
    apart = (
        f"; runs that share a letter cannot be told apart: they differ by less than {found.smallest:g} {short_title(found.card.headline)}"
        if found.smallest
        else ""
    )
    policies = " or ".join(sorted({row.card.policy for row in found.rows}))
    yield f"ranked by {by}, rounded as the policy {policies} says{apart}"


def table(found: OfficialList) -> list[list[str]]:
    """Return the printed table, headings first; metrics that no card tells have no column."""
    head = found.card.headline
    shown = [id_ for id_ in (COMPOSITE, head, *FACTS) if any(id_ in row.card.scores for row in found.rows)]
    rows = [["rank", "group", "method · model", *map(short_title, shown), TIER, "$/entry", "s/entry", "cost-adj.", "validated by", "date", "answer"]]  # fmt: skip
    for row in found.rows:
        card = row.card
        rows.append(
            [
                figures.count(row.rank),
                row.letters,
                " · ".join(dict.fromkeys((row.name, card.method.model_slug))),
                *(released_words.score(score) if (score := card.scores.get(id_)) else "–" for id_ in shown),
                tier_words(row),
                figures.money(card.cost_per_entry_usd),
                figures.number(card.avg_latency_seconds, 2),
                figures.number(row.cost_adjusted, 2),
                VERIFICATION,
                card.issued[:10],
                f"{card.answer} of {card.of}",
            ]
        )  # fmt: skip
    return rows


def tier_words(row: OfficialRow) -> str:
    """Return the tier that may be claimed before a review; ``!`` where a part of the outputs fails."""
    tier, fails = row.card.claimable_tier, any((row.card.caveats or {}).values())
    return f"{tier}{'!' if fails else ''}{figures.coverage(row.card.coverage)}"


def notes(found: OfficialList) -> Iterator[str]:
    """Yield what the rows have no room for."""
    for row in found.rows:
        held = [CAVEATS[kind] for kind, holds in (row.card.caveats or {}).items() if holds]
        if held:
            yield f"{row.card.run[:8]} {row.name}: {', '.join(held)}"
    if words := disagreeing_words(found):
        yield words
    if found.repeated:
        yield f"left out, because their own scores were not better than those of another run: {counted(found.repeated, 'card')}"


def lists_lines(lists: Sequence[OfficialList], width: int | None) -> Iterator[str]:
    """Yield all lists as text of at most ``width`` cells; None for a pipe, which has no width."""
    for index, list_ in enumerate(lists):
        if index:
            yield ""
        yield from list_words(list_)
        yield from stacked(table(list_), width)
        yield from notes(list_)


def record(row: OfficialRow) -> dict[str, Value]:
    """Return a row as a table that is written to a file has it."""
    card = row.card
    values: dict[str, Value] = {}
    for id_, score in card.scores.items():
        values |= {id_: score.value, f"{id_}_ci_lower": score.lower, f"{id_}_ci_upper": score.upper}
    return {
        "rank": row.rank,
        "group": row.letters or None,
        "run_id": card.run,
        "created": card.issued,
        "method_name": row.name,
        "method": card.method.method,
        "model": card.method.model_slug,
        "condition": card.method.condition,
        "method_class": card.method.method_class,
        "quality_tier": card.quality_tier or None,
        "claimable_tier": card.claimable_tier,
        "composite_coverage": card.coverage,
        "validated_by": VERIFICATION,
        **values,
        "cost_per_entry_usd": card.cost_per_entry_usd,
        "avg_latency_seconds": card.avg_latency_seconds,
        "cost_adjusted": row.cost_adjusted,
        "policy": card.policy,
        "answer": card.answer,
        "of": card.of,
    }


def form(found: OfficialList) -> JsonObject:
    """Return a list as ``leaderboard --json`` prints it; what released cards do not tell is null or empty."""
    corpus = found.card.corpus
    return {
        "released": True,
        "signed_by": found.card.by,
        "dataset_id": corpus.id,
        "version": corpus.version,
        "language_pair": corpus.language_pair,
        "dataset_sha256": "",
        "segments": [],
        "official": True,
        "entries": corpus.entries,
        "corpus_entries": corpus.entries,
        "composite_profile": "",
        "composite_inputs": [],
        "calibration": None,
        "ranked_by": found.by,
        "unclustered": None,
        "smallest_difference": found.smallest,
        "runs": [_run(row) for row in found.rows],
    }


_ROUNDED: JsonObject = {"level": 0.95, "draws": 0, "seed": 0, "method": "rounded outward", "wilson_lower": None, "wilson_upper": None}  # fmt: skip


def _run(row: OfficialRow) -> JsonObject:
    card = row.card
    ends = {
        id_: {**_ROUNDED, "ci_lower": score.lower, "ci_upper": score.upper}
        for id_, score in card.scores.items()
        if score.lower is not None
    }
    return {
        "run_id": card.run,
        "in_place_of": [],
        "rank": row.rank,
        "cluster": None,
        "letters": row.letters,
        "method_name": card.method.method_name,
        "method": card.method.method,
        "method_class": card.method.method_class,
        "model_slug": card.method.model_slug,
        "condition": card.method.condition,
        "unranked": None,
        "failures": {},
        "chrf_plus_plus": row.value("chrf_plus_plus"),
        "chrf_signature": card.signatures.get("chrf_plus_plus"),
        "composite": row.value(COMPOSITE),
        "confidence_intervals": ends,
        **{id_: row.value(id_) for id_ in FACTS},
        "cost_per_entry_usd": card.cost_per_entry_usd,
        "avg_latency_seconds": card.avg_latency_seconds,
        "cost_adjusted": row.cost_adjusted,
        "quality_tier": card.quality_tier,
        "claimable_tier": card.claimable_tier,
        "tier_in_words": tier_words(row),
        "claim": {
            "claimable_tier": card.claimable_tier,
            "limits": [],
            "caveats": [kind for kind, holds in (card.caveats or {}).items() if holds],
            "floors_of_earlier_version": False,
            "coverage": card.coverage,
        },
        "verification_tier": VERIFICATION,
        "stated": True,
        "verification_tier_stated": None,
        "ownership": None,
        "setup_hash": card.method.setup_hash,
        "date": card.issued,
        "run_card_hash": card.run_card_hash,
        "policy": card.policy,
        "answer": card.answer,
        "of": card.of,
    }
