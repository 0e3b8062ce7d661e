"""What was signed about a run beside its card: what shows who validated it, who owns its method, where that is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rosetta_tui.show.card_fields import GDS_VERIFIED, SELF_BENCHMARKED, review_of, validated

if TYPE_CHECKING:
    from harness.store.run_list import RunSummary
    from harness.store.signed_records import KeptRecord
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
    """Return who owns a run's method and where it is used; empty where nothing of it counts here."""
    review = _reviewed(run)
    used = [
        f"used: {use['where']}, by {use['by_whom']}, since {use['since']}"
        for use in in_use(run, review)
    ]
    return " · ".join(filter(None, (_shares(owned(run, review)), *used)))


def owner_json(run: RunSummary) -> dict[str, Any]:
    """Return ownership and uses of a run's method as JSON values; null and an empty list where there are none."""
    review = _reviewed(run)
    owner = owned(run, review)
    names = ("record", "state", "organisation", "developer", "organisation_share")
    return {
        "ownership": None if owner is None else {name: owner[name] for name in names},
        "uses": [
            {name: use[name] for name in ("where", "by_whom", "since")}
            for use in in_use(run, review)
        ],
    }


def owned(run: RunSummary, review: ReviewStatus | None) -> Mapping[str, Any] | None:
    """Return what the record of ownership says of a run's method, its ``state`` as it is now; None where none counts here.

    One counts beside a certificate of the same organisation, which a person here trusts. Of several the newest that nobody
    refused or revoked is shown.
    """
    kept_records = [record for record in _records(run, "ownership") if _certified(record, review)]
    if not kept_records or review is None:
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


def _shares(told: Mapping[str, Any] | None) -> str:
    if told is None:
        return ""
    share = told["organisation_share"]
    sides = f"{told['organisation']} {share} %, {told['developer']} {100 - share} %"
    return f"ownership {told['state']}: {sides}"


def in_use(run: RunSummary, review: ReviewStatus | None) -> list[Mapping[str, Any]]:
    """Return the uses of a run's method that did not end, by records of the organisation that certified it."""
    kept_records = [
        record
        for record in _records(run, "use")
        if _certified(record, review) and not record.revoked
    ]
    ended = {kept_record.told["begun"] for kept_record in kept_records}
    return [
        kept_record.told
        for kept_record in kept_records
        if not kept_record.told["begun"] and kept_record.id not in ended
    ]


def _records(run: RunSummary, kind: str) -> Iterator[KeptRecord]:
    card = (run.card or {}).get("run_card_hash")
    return (record for record in run.checked.records if record.kind == kind and record.card == card)


def _certified(record: KeptRecord, review: ReviewStatus | None) -> bool:
    """Return whether the organisation of a record is the one whose certificate is next to the run."""
    return (
        review is not None and review.certificate.organisation.signing_key == record.told["keys"][0]
    )


def _reviewed(run: RunSummary) -> ReviewStatus | None:
    return review_of(run.card or {}, run.certificates)
