"""What certificates beside a run are worth: the newest one that holds speaks, and only ``go`` lifts a tier.

Signature, key, run and outcome are looked at each time a run is shown, because a store can be edited;
evidence and verdict are recomputed when a certificate is attached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.core.failures import UsageError
from harness.store.notes import Attached
from review.sealed.signature import verify as signed_by
from review.verdict.certificate.certificate import (
    COMMUNITY_VALIDATED,
    Certificate,
    read_certificate,
)
from review.verdict.gate.verdict import GateOutcome

_GOLD = "gold_standard"
"""The segment that the community keeps (benchmark-specification §9.4)."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What people said of a run, by the newest certificate that holds."""

    certificate: Certificate
    suspended: bool = False
    """True where somebody took ratings back that it rests on: it gives nothing until issued anew."""

    @property
    def passed(self) -> bool:
        """True where the gate said go and all ratings still stand: the claimable tier's cap is lifted."""
        return self.certificate.outcome is GateOutcome.GO and not self.suspended

    @property
    def verification_tier(self) -> str | None:
        """The tier of benchmark-specification §9.4 that the review gives, None where it gives none."""
        return COMMUNITY_VALIDATED if not self.why_not_community else None

    @property
    def why_not_community(self) -> str:
        """Why the run is not community-validated; empty where it is."""
        if self.suspended:
            return "somebody took ratings back since, so the certificate must be issued anew"
        return why_not_community(self.certificate)


def standing(attached: Sequence[Attached], run_id: str, run_card_hash: str) -> Standing | None:
    """Return what people said of a run; None where no certificate beside it holds for this very card."""
    held = {
        each.sha256: Standing(certificate, each.suspended)
        for each in attached
        if (certificate := _holds(each, run_id, run_card_hash)) is not None
    }
    replaced = {each.certificate.supersedes for each in held.values()}
    newest = [each for name, each in held.items() if name not in replaced]
    return max(newest, key=lambda each: _place(each.certificate)) if newest else None


def _place(certificate: Certificate) -> tuple[str, bool, str]:
    """Order by time of issue; of two of one second the one that lifts nothing counts as the later."""
    return certificate.issued, certificate.outcome is not GateOutcome.GO, certificate.sha256


def _holds(attached: Attached, run_id: str, run_card_hash: str) -> Certificate | None:
    if not signed_by(attached.signer, attached.certificate, attached.signature):
        return None
    try:
        certificate = read_certificate(attached.certificate, "the certificate")
    except UsageError:
        return None
    same_run = (certificate.run.run_id, certificate.run.run_card_hash) == (run_id, run_card_hash)
    same_key = certificate.organisation.signing_key == attached.signer
    return certificate if same_run and same_key else None


def why_not_community(certificate: Certificate) -> str:
    """Say why a certificate does not make its run community-validated; empty where it does."""
    if certificate.outcome is not GateOutcome.GO:
        return "the gate did not say go"
    others = sorted(
        name for name, count in certificate.run.segments.items() if count and name != _GOLD
    )
    if others or not certificate.run.segments.get(_GOLD):
        return f"reviewed entries are of the segment {', '.join(others) or 'none'}, not {_GOLD}"
    needed = certificate.policy.community_reviewers
    if certificate.panel.reviewers < needed:
        return f"it was a panel of {certificate.panel.reviewers}, the policy asks for {needed}"
    return ""
