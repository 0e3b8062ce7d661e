"""What notices that were imported here say of a certificate that is verified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness.consent.verifying import Found, Verified, found
from harness.consent.withdrawals_in_force import CorpusFacts, Withdrawals
from review.verdict.certificate.certificate import Certificate
from review.verdict.certificate.coarse import CoarseCertificate
from review.verdict.certificate.evidence import Evidence


def of_certificate(
    stated: Certificate | CoarseCertificate,
    evidence: Evidence | None,
    now: Withdrawals,
    run: tuple[CorpusFacts, Mapping[str, Any]] | None = None,
    ids: Iterable[object] | None = None,
) -> list[Found]:
    """Return what is believed here of its corpus, entries, method, people, and the key that signed it.

    ``run`` and ``ids``: what the store knows of its run, and the run's entries; a certificate alone names neither a method
    nor entries, and its evidence only those that people were asked about. A run is concerned whole.
    """
    label = stated.run.language_pair
    facts, setup = run or (CorpusFacts("", stated.run.dataset_id, language_pair=label), {})
    asked = () if evidence is None else (item.entry for item in evidence.key.items.values())
    about = Verified(
        facts,
        setup,
        ids=frozenset(map(str, (*asked, *(ids or ())))),
        names_all=ids is not None,
        keys=frozenset({stated.organisation.signing_key}),
        review=stated.review,
        people=None if evidence is None else frozenset(evidence.key.orders),
    )
    return found(about, now)
