"""Terms of a record of ownership for tests, its two sides, and somebody who is neither."""

from __future__ import annotations

from harness.sealed.keys import Identity, Role
from review.records.ownership import OwnershipTerms, Party, new_terms

US, ANN, MALLORY = (Identity.make(Role.ORGANISATION) for _ in range(3))


def terms(
    developer: Identity = ANN, organisation: Identity = US, **changed: object
) -> OwnershipTerms:
    fields: dict[str, object] = {
        "run_id": "r1",
        "card": "ab" * 32,
        "certificate": "cd" * 32,
        "composite_at_least": "0.70",
        "method": "chat",
        "language_pair": "EN→EO",
        "organisation": Party(name="Us", signing_key=organisation.public.signing_key),
        "developer": Party(name="Ann", signing_key=developer.public.signing_key),
    }
    return new_terms(**fields | changed)
