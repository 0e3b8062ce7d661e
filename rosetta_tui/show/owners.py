"""What was signed about a run beside its card: what shows who validated it, and who owns its method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rosetta_tui.show.card_fields import GDS_VERIFIED, SELF_BENCHMARKED, review_of, validated

if TYPE_CHECKING:
    from harness.store.run_list import RunSummary
    from review.verdict.certificate.certificate import ReviewStatus


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
    return (
        f"{tier}: certificate {certificate.sha256[:12]} of {certificate.organisation.name}; {where}"
    )


def owner_state(run: RunSummary) -> str:
    """Return what both sides said of who owns a run's method; empty where no record counts here."""
    owner = owned(run, _reviewed(run))
    return "" if owner is None else str(owner["state"])


def owner_words(run: RunSummary) -> str:
    """Return who owns a run's method, and in which shares; empty where no record counts here."""
    owner = owned(run, _reviewed(run))
    if owner is None:
        return ""
    share = owner["organisation_share"]
    sides = f"{owner['organisation']} {share} %, {owner['developer']} {100 - share} %"
    return f"ownership {owner['state']}: {sides}"


def owner_json(run: RunSummary) -> dict[str, Any]:
    """Return the ownership of a run's method as JSON values; null where no record counts here."""
    owner = owned(run, _reviewed(run))
    names = ("record", "state", "organisation", "developer", "organisation_share")
    return {"ownership": None if owner is None else {name: owner[name] for name in names}}


def owned(run: RunSummary, review: ReviewStatus | None) -> Mapping[str, Any] | None:
    """Return what the record of ownership says of a run's method, its ``state`` as it is now; None where none counts here.

    One counts beside a certificate of the same organisation, which a person here trusts. Of several the newest that nobody
    refused or revoked is shown.
    """
    card = (run.card or {}).get("run_card_hash")
    if review is None:
        return None
    key = review.certificate.organisation.signing_key
    kept_records = [
        record
        for record in run.checked.records
        if record.card == card and record.told["keys"][0] == key
    ]
    if not kept_records:
        return None
    kept_record = max(
        kept_records,
        key=lambda record: (record.told["state"] not in _ENDED, record.told["proposed"]),
    )
    state = str(kept_record.told["state"])
    if kept_record.revoked:
        state = "a key that signed it was revoked"
    elif not review.passed and state not in _ENDED:
        state = f"{state}, and its gate gives nothing now"
    return {**kept_record.told, "state": state, "record": kept_record.id}


_ENDED = ("refused", "revoked")


def _reviewed(run: RunSummary) -> ReviewStatus | None:
    return review_of(run.card or {}, run.certificates)
