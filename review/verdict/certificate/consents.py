"""What notices that were taken in here say of a certificate that is verified."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.consent.standing import CorpusFacts, Withdrawals
from harness.consent.verifying import Found, Verified, found
from review.verdict.certificate.certificate import Certificate
from review.verdict.certificate.evidence import Evidence


def of_certificate(
    stated: Certificate,
    evidence: Evidence,
    now: Withdrawals,
    run: tuple[CorpusFacts, Mapping[str, Any]] | None = None,
) -> list[Found]:
    """Return what is believed here of its corpus, entries, method, people, and the key that signed it.

    ``run``: what the store knows of its run, where it has it; a certificate alone names no method.
    """
    label = stated.run.language_pair
    facts, setup = run or (CorpusFacts("", stated.run.dataset_id, language_pair=label), {})
    asked = [each for each in evidence.key.items.values() if each.run_id == stated.run.run_id]
    about = Verified(
        facts,
        setup,
        ids=frozenset(str(each.entry) for each in asked),
        keys=frozenset({stated.organisation.signing_key}),
        review=stated.review,
        people=frozenset(evidence.key.orders),
    )
    return found(about, now)
