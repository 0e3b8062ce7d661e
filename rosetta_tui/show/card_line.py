"""What lists show of a run, worked out of its card; the store keeps it of finished runs, so that lists read no card."""

from __future__ import annotations

import json

from corpora.files.json_types import Json, JsonObject
from harness.card.reading import block, kept_inside, number, objects
from harness.store.run_list import CardLine, RunSummary
from rosetta_tui.show import card_fields, figures
from scoring.core.inventory import short_title
from scoring.core.specification import TRANSLATIONS, KeptColumns, stated_columns


def score(run: RunSummary, metric: str) -> float | None:
    """Return a score of a run by metric id, or ``composite``; None where its card has none."""
    return number(block(run.card or {}, "scores").get(metric))


def kept_of(run: RunSummary) -> KeptColumns:
    """Return what a run is shown by: as its card states it, else as it was begun."""
    return stated_columns(run.scoring if run.card is None else run.card.get("scoring"))


def translates(run: RunSummary) -> bool:
    """Return whether a run is of translations, which alone have a composite and a tier."""
    return kept_of(run) == TRANSLATIONS


def kept_words(run: RunSummary) -> list[str]:
    """Return each metric by which a run of another task is shown, named, with its interval."""
    scores = block(run.card or {}, "scores")
    return [f"{short_title(id_)} {card_fields.with_interval(scores, id_)}" for id_ in kept_of(run).ids]


def leaving(run: RunSummary) -> RunSummary:
    """Return a run as it may leave this computer: one of this store with secret entries has no number here."""
    if run.imported or not kept_inside(run.card):
        return run
    card = {name: value for name, value in (run.card or {}).items() if name in _LEAVING}
    return run._replace(card=card, failures={}, failed=0)


_LEAVING = "run_id", "run_card_hash", "dataset", "scoring", "fingerprint", "method", "model_slug", "withheld"
"""Parts of a card with secret entries that say nothing of their outcome; its seal is what certificates name."""


def card_line(run: RunSummary) -> CardLine:
    """Return what lists show of a run, by its card and its certificates; without a card by its entries so far."""
    card, kept, shown = run.card or {}, kept_of(run), leaving(run)
    lead, composite = _lead(run, kept)
    scores = block(card, "scores")  # a composite is made of its profile and of the metrics that have a value
    inputs = sorted(str(part.get("metric")) for part in objects(scores, "composite_inputs"))
    line = CardLine(
        method=run.method,
        method_name=run.method_name,
        facts=(),
        total=run.total,
        done=run.done,
        failures=run.failures,
        retry_of=run.retry_of,
        rescore_of=run.rescore_of,
        submission=run.submission,
        unverified="unverified" in card,
        translates=translates(run),
        ids=kept.ids,
        values={id_: score(run, id_) for id_ in (*kept.ids, "composite")},
        lead=lead,
        composite=composite,
        tier="",
        whole_tier="",
        result="",
        caveats="",
        cost=card_fields.cost(run.card),
        total_cost_usd=number(block(card, "cost").get("total_cost_usd")),
        corpus=str(block(card, "dataset").get("sha256")),
        weighed=" ".join([str(scores.get("composite_profile")), *inputs]),
        json_summary=json.dumps(_json_summary(shown, inside=shown is not run)),
    )
    if run.card is None or not line.translates:
        return line
    review = card_fields.review_of(card, run.certificates)
    return line._replace(
        tier=card_fields.tier_words(card, review, beside=True),
        whole_tier=card_fields.tier_words(card, review),
        result=card_fields.signed_tier(card, review),
        caveats=card_fields.caveats_in_words(card),
    )


def _json_summary(run: RunSummary, *, inside: bool) -> JsonObject:
    """Return what ``runs list --json`` has from a card and its reviews; ``inside``: its numbers are left out."""
    card = run.card or {}
    scores, review = block(card, "scores"), card_fields.review_of(card, run.certificates)
    quality: dict[str, Json] = {}
    if not translates(run):  # its task, and what it is shown by, the headline first
        spreads, ids = block(scores, "spread"), kept_of(run).ids
        quality = {
            "task": block(card, "scoring").get("task") or (run.scoring or {}).get("task"),
            "values": {id_: score(run, id_) for id_ in ids},
            "spread": {id_: spreads[id_] for id_ in ids if id_ in spreads},
        }
    quality |= {
        "chrf_plus_plus": scores.get("chrf_plus_plus"),
        "composite": scores.get("composite"),
        "composite_profile": scores.get("composite_profile"),
        "composite_inputs": [part.get("metric") for part in objects(scores, "composite_inputs")],
        **card_fields.tiers_json(card, review, reproduced=card_fields.is_reproduced(card, run.checked)),
        "review": None if review is None else review.certificate.outcome,
        "review_suspended": review is not None and review.suspended,
        "certificate_sha256": None if review is None else review.certificate.sha256,
        "total_cost_usd": block(card, "cost").get("total_cost_usd"),
    }
    own = {name: card.get(name) for name in ("unverified", "run_card_hash")}
    return {"inside": inside, "quality": quality, **own}


def _lead(run: RunSummary, kept: KeptColumns) -> tuple[str, str]:
    """Return the headline and the composite in words, ``so far`` of a run without a card."""
    now = run.so_far if run.card is None else {}
    if now and "composite" not in now:
        [(id_, reached)] = now.items()
        return f"{short_title(id_)} {figures.value(id_, reached)} so far", figures.NONE
    if kept != TRANSLATIONS:
        if run.card is None:
            return figures.NONE, figures.NONE
        return f"{short_title(kept.headline)} {figures.value(kept.headline, score(run, kept.headline))}", figures.NONE
    if now:
        return f"{figures.number(now['chrf_plus_plus'], 1)} so far", figures.number(now["composite"], 2)
    scores = block(run.card or {}, "scores")
    return card_fields.with_interval(scores, "chrf_plus_plus"), figures.number(score(run, "composite"), 2)
