"""Fields of a card as people read them; the card may come from elsewhere, so nothing about it is sure.

What is not of the expected form counts as absent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from corpora.files.json_types import Json, JsonObject
from corpora.text.messages import counted
from harness.card.reading import (
    block,
    claim_of,
    interval,
    kept_inside,
    named_metrics,
    number,
    objects,
    of_earlier_version,
    stated_caveats,
)
from harness.store.run_list import LEAD, CardLine, RunSummary
from rosetta_tui.show import figures
from scoring.card.claim import Claim, caveat_words
from scoring.core.inventory import reported_metrics, row_of, short_title, why_as_stated
from scoring.core.specification import TRANSLATIONS, KeptColumns, Tier, stated_columns
from scoring.findings.finding import FindingCount, finding_words, read_counts

if TYPE_CHECKING:
    from harness.store.attachments import Attached, CheckedHere
    from review.verdict.certificate.certificate import ReviewStatus


def score_record(scores: JsonObject) -> dict[str, float | None]:
    """Return a card's scores by metric id, None without any: first the two leads with intervals, then all, then packs'."""
    record: dict[str, float | None] = {}
    for name in LEAD:
        record |= ends_record(scores, name)
    return record | {id_: number(scores.get(id_)) for id_ in stated_metrics([scores])}


def stated_metrics(scores: Iterable[JsonObject]) -> list[str]:
    """Return the specification's metrics, then those of packs that a card has a value of; other counts are none."""
    metrics = (
        id_
        for score in scores
        for id_, stated in score.items()
        if "." in id_ and number(stated) is not None
        if id_ in block(score, "signatures") or row_of(id_) is not None
    )
    return reported_metrics((), metrics)


def ends_record(scores: JsonObject, metric: str) -> dict[str, float | None]:
    """Return one score with the ends of its interval, for an export."""
    low, high = interval(scores, metric) or (None, None)
    return {metric: number(scores.get(metric)), f"{metric}_lower": low, f"{metric}_upper": high}


TALL = 40  # lines of a screen that has room for a bar of every score
_BAR = 26


def score_bars(card: JsonObject, width: int) -> str:
    """Return each score of a card with its interval as a bar, in as many columns as there is room for; "" without any."""
    scores = block(card, "scores")
    lines = []
    for id_ in stated_metrics([scores]):
        score, ends, row = number(scores.get(id_)), interval(scores, id_), row_of(id_)
        if score is None or row is None or not isfinite(row.info.high - row.info.low):
            continue
        bar = figures.interval_bar(score, ends, low=row.info.low, top=row.info.high, width=_BAR)
        words = "" if ends is None else "–".join(figures.value(id_, end) for end in ends)
        lines.append(f"{short_title(id_):<16.16} {figures.value(id_, score):>6} {bar} {words:<11}")
    columns = max(1, width // (len(lines[0]) + 2)) if lines else 1
    rows = -(-len(lines) // columns)
    return "\n".join("  ".join(lines[at::rows]) for at in range(rows))


def with_interval(scores: JsonObject, metric: str) -> str:
    """Return a score with its interval where it has one, such as ``62.1 (15.6–89.8)``."""
    score, ends = number(scores.get(metric)), interval(scores, metric)
    shown = figures.value(metric, score)
    if score is None or ends is None:
        return shown
    return f"{shown} ({figures.value(metric, ends[0])}–{figures.value(metric, ends[1])})"


def spread_words(scores: JsonObject, metric: str) -> str:
    """Return ``mean 0.62 ± 0.31 of 8 entries`` (sample standard deviation); empty where the card has none."""
    spread = block(block(scores, "spread"), metric)
    mean, std, n = (number(spread.get(name)) for name in ("mean", "std", "n"))
    if mean is None or std is None or n is None:
        return ""
    short = "" if n == number(scores.get("total")) else f" of {counted(round(n), 'entry', 'entries')}"
    return f"mean {figures.value(metric, mean)} ± {figures.value(metric, std)}{short}"


def references_accepted(scoring: Json) -> float | None:
    """Return the share of the references' words that the analyser accepts, 0–1, from a card's ``scoring``."""
    facts = block(scoring, "analyser") if isinstance(scoring, Mapping) else {}
    words, accepted = number(facts.get("reference_words")), number(facts.get("reference_accepted"))
    return None if not words or accepted is None else accepted / words


def rescore_of(card: JsonObject) -> str:
    """Return the id of the run whose outputs were scored again; empty where they are the run's own."""
    origin = block(card, "rescore_of").get("run_id")
    return origin if isinstance(origin, str) else ""


def claimable(card: JsonObject, review: ReviewStatus | None = None, claim: Claim | None = None) -> Tier:
    """Return the tier that may be claimed (T1): floors and caveats bound it, and only a passed review lifts the cap."""
    # here and below ``claim`` is the card's, where it was decided before
    return (claim or claim_of(card)).tier(review_passed=review is not None and review.passed)


def tier_words(
    card: JsonObject, review: ReviewStatus | None = None, *, beside: bool = False, claim: Claim | None = None
) -> str:
    """Return words such as ``functional (automatic 0.58; review pending)``; ``beside``: interval and caveats stand elsewhere."""
    words = "review pending" if review is None else f"review: {OUTCOMES[review.certificate.outcome]}"
    if review is not None and review.suspended:
        words = "review suspended: ratings were taken back"
    passed = review is not None and review.passed
    return (claim or claim_of(card)).words(review_passed=passed, review=words, brief=beside, caveats=not beside)


def no_composite(card: JsonObject) -> str:
    """Return that the maker of a card states no composite; empty where one is stated, and on cards that say what it lacks."""
    scores = block(card, "scores")
    if number(scores.get("composite")) is not None or "composite_missing" in scores:
        return ""
    reason = block(scores, "reasons").get("composite")
    version = card.get("harness_version")
    maker = f"harness {version} gives none" if version else "its maker gives none"
    return f"no composite stated: {reason or f'{maker}, and none is worked out here'}"


def signed_tier(card: JsonObject, review: ReviewStatus | None = None, claim: Claim | None = None) -> str:
    """Return the tier as diamonds and a word, with ``!`` where a part of the outputs fails: lists cut the words."""
    claim = claim or claim_of(card)
    tier = claim.tier(review_passed=review is not None and review.passed)
    return f"{figures.meter(tier)}{'!' if claim.caveats else ''} {tier}"


def caveats_in_words(card: JsonObject) -> str:
    """Return in few words which part of the outputs fails and how, then what was found in it; empty for neither."""
    caveats = stated_caveats(block(card, "scores").get("claim"))
    words = (*map(caveat_words, caveats), finding_words(stated_findings(card)))
    return ", ".join(filter(None, words))


def stated_findings(card: JsonObject) -> tuple[FindingCount, ...]:
    """Return the findings in outputs that a card states."""
    return read_counts(block(card, "scores").get("findings"))


def claim_json(card: JsonObject, claim: Claim | None = None) -> JsonObject:
    """Return what may be claimed before a review, why no more, and the caveats with their shares."""
    record = (claim or claim_of(card)).record()
    return {
        **{name: record[name] for name in ("claimable_tier", "limits", "caveats", "coverage")},
        "floors_of_earlier_version": of_earlier_version(card),
    }


def tiers_json(
    card: JsonObject, review: ReviewStatus | None, *, reproduced: bool = False, claim: Claim | None = None
) -> JsonObject:
    """Return a run's tiers, what may be claimed and who validated it; nulls without a card or scores."""
    scored = "scores" in card
    if scored:
        claim = claim or claim_of(card)
    # Intervals of the two metrics that are shown first, as the card has them.
    scores = block(card, "scores")
    intervals = block(scores, "confidence_intervals")
    return {
        "confidence_intervals": {id_: intervals[id_] for id_ in LEAD if id_ in intervals},
        "quality_tier": scores.get("quality_tier"),
        "claimable_tier": claimable(card, review, claim) if scored else None,
        "tier_in_words": tier_words(card, review, claim=claim) if scored else None,
        "claim": claim_json(card, claim) if scored else None,
        "verification_tier": validated_by(review, reproduced=reproduced) if card else None,
        "verification_tier_stated": stated_words(card, review, reproduced=reproduced) or None,
    }


def as_stated(card: JsonObject) -> dict[str, dict[str, float]]:
    """Return what a card states of metrics that cannot be computed here, by the reason and by metric id."""
    packs = block(block(card, "scoring"), "packs")
    reasons = why_as_stated(named_metrics(card), {name: str(stated) for name, stated in packs.items()})
    stated_values: dict[str, dict[str, float]] = {}
    for id_ in named_metrics(card):
        why = reasons.get(id_) or (None if row_of(id_) else _NOT_KNOWN)
        value = number(block(card, "scores").get(id_))
        if why is not None and value is not None:
            stated_values.setdefault(why, {})[id_] = value
    return stated_values


_NOT_KNOWN = "as stated: this version does not know these metrics"


def absent_packs(cards: Iterable[JsonObject]) -> list[str]:
    """Return for each pack which cards have values of and which is not here that they are as stated."""
    # only names of a pack's metrics have a point, and hardly a list has any
    of_packs = (card for card in cards if any("." in id_ for id_ in named_metrics(card)))
    return sorted({why for card in of_packs for why in as_stated(card)} - {_NOT_KNOWN})


OUTCOMES = {"go": "go", "no_go": "no-go", "discuss": "discuss", "insufficient": "insufficient"}
"""What a gate says, as people read it in a line."""


def review_of(card: JsonObject, certificates: Sequence[Attached]) -> ReviewStatus | None:
    """Return what people said of a run, None where no certificate next to it holds for this card."""
    if not certificates:
        return None
    from review.verdict.certificate.certificate import standing

    return standing(certificates, str(card.get("run_id")), str(card.get("run_card_hash")))


def validated_by(review: ReviewStatus | None, *, reproduced: bool = False) -> str:
    """Return the verification tier (benchmark-specification §9.4): what a certificate or a record beside the run shows.

    Anybody can seal a card, so no card's own word for a tier above the lowest is taken. ``reproduced``: as
    ``is_reproduced`` says.
    """
    shown = None if review is None else review.verification_tier
    return shown or (GDS_VERIFIED if reproduced else SELF_BENCHMARKED)


def is_reproduced(card: JsonObject, checked: CheckedHere) -> bool:
    """Return whether somebody who is believed here ran this very card again and reached its scores."""
    return card.get("run_card_hash") in checked.reproduced


def validated(run: RunSummary) -> tuple[str, str]:
    """Return the verification tier of a run, and what ``stated_words`` says of it."""
    card = run.card or {}
    review, reproduced = review_of(card, run.certificates), is_reproduced(card, run.checked)
    tier = validated_by(review, reproduced=reproduced)
    return tier, stated_words(card, review, reproduced=reproduced)


def stated_words(card: JsonObject, review: ReviewStatus | None, *, reproduced: bool = False) -> str:
    """Return which verification tier a card states that nothing here shows; empty where there is none."""
    stated, shown = card.get("verification_tier"), validated_by(review, reproduced=reproduced)
    if not isinstance(stated, str) or stated in ("", SELF_BENCHMARKED, shown):
        return ""
    return f"states {stated[:LONGEST_TIER]}; nothing here shows it"


SELF_BENCHMARKED = "self-benchmarked"  # lowest verification tier: scored by its maker
GDS_VERIFIED = "gds-verified"  # somebody else, believed here, reproduced its scores
LONGEST_TIER = 40  # characters of a stated tier that are repeated


def cost(card: JsonObject | None) -> str:
    """Return what a run cost; a run without a card has no total yet."""
    if card is None:
        return figures.NONE
    costs = block(card, "cost")
    return figures.cost(number(costs.get("total_cost_usd")), number(costs.get("known_cost_usd")) or 0.0)


# ---- What was signed about a run beside its card: what shows who validated it, and who owns its
# method.


def shown_by(run: RunSummary) -> str:
    """Return by what a run's verification tier is shown here; empty for the lowest, which needs nothing."""
    tier, _ = validated(run)
    if tier == SELF_BENCHMARKED:
        return ""
    where = f"`rosetta runs show {run.run_id[:8]}` checks it again"
    review = _reviewed(run)
    if tier == GDS_VERIFIED or review is None:
        return f"{tier}: a signed record says that it was run once more; {where}"
    certificate = review.certificate
    return f"{tier}: certificate {certificate.sha256[:12]} of {certificate.organisation.name}; {where}"


class MethodOwnership(NamedTuple):
    """What the record of ownership says of a run's method, as lists show it."""

    record: str
    state: str  # as it is now
    organisation: str
    developer: str
    organisation_share: int  # of a hundred


def owner_state(run: RunSummary) -> str:
    """Return what both sides said of who owns a run's method; empty where no record counts here."""
    owner = method_ownership(run)
    return "" if owner is None else owner.state


def owner_words(run: RunSummary) -> str:
    """Return who owns a run's method, and in which shares; empty where no record counts here."""
    if (owner := method_ownership(run)) is None:
        return ""
    share = owner.organisation_share
    return f"ownership {owner.state}: {owner.organisation} {share} %, {owner.developer} {100 - share} %"


def owner_json(run: RunSummary) -> JsonObject:
    """Return the ownership of a run's method as JSON values; null where no record counts here."""
    owner = method_ownership(run)
    return {"ownership": None if owner is None else owner._asdict()}


def method_ownership(run: RunSummary) -> MethodOwnership | None:
    """Return the ownership of a run's method; None where no record counts here.

    One counts beside a certificate of the same organisation, which a person here trusts. Of several the newest that nobody
    refused or revoked is shown.
    """
    card, review = (run.card or {}).get("run_card_hash"), _reviewed(run)
    if review is None:
        return None
    key = review.certificate.organisation.signing_key
    records = [record for record in run.checked.records if record.card == card and record.keys[:1] == (key,)]
    if not records:
        return None
    newest = max(records, key=lambda record: (record.told["state"] not in _ENDED, record.told["proposed"]))
    state = str(newest.told["state"])
    if newest.revoked:
        state = "a key that signed it was revoked"
    elif not review.passed and state not in _ENDED:
        state = f"{state}, and its gate gives nothing now"
    owner, developer = (str(newest.told[name]) for name in ("organisation", "developer"))
    return MethodOwnership(newest.id, state, owner, developer, int(number(newest.told["organisation_share"]) or 0))


_ENDED = ("refused", "revoked")


def _reviewed(run: RunSummary) -> ReviewStatus | None:
    return review_of(run.card or {}, run.certificates)


# ---- What lists show of a run, out of its card; the store keeps it of finished runs, so that lists read no card ----


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
    return [f"{short_title(id_)} {with_interval(scores, id_)}" for id_ in kept_of(run).ids]


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
    claim = claim_of(card) if "scores" in card else None
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
        cost=cost(run.card),
        total_cost_usd=number(block(card, "cost").get("total_cost_usd")),
        corpus=str(block(card, "dataset").get("sha256")),
        weighed=" ".join([str(scores.get("composite_profile")), *inputs]),
        inside=shown is not run,
        json_summary=json.dumps(_json_summary(shown, claim)),
    )
    if run.card is None or not line.translates:
        return line
    review = review_of(card, run.certificates)
    return line._replace(
        tier=tier_words(card, review, beside=True, claim=claim),
        whole_tier=tier_words(card, review, claim=claim),
        result=signed_tier(card, review, claim),
        caveats=caveats_in_words(card),
    )


def _json_summary(run: RunSummary, claim: Claim | None) -> JsonObject:
    """Return what ``runs list --json`` has from a card and its reviews."""
    card = run.card or {}
    scores, review = block(card, "scores"), review_of(card, run.certificates)
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
        **tiers_json(card, review, reproduced=is_reproduced(card, run.checked), claim=claim),
        "review": None if review is None else review.certificate.outcome,
        "review_suspended": review is not None and review.suspended,
        "certificate_sha256": None if review is None else review.certificate.sha256,
        "total_cost_usd": block(card, "cost").get("total_cost_usd"),
    }
    return {"unverified": card.get("unverified"), **quality, "run_card_hash": card.get("run_card_hash")}


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
    return with_interval(scores, "chrf_plus_plus"), figures.number(score(run, "composite"), 2)
