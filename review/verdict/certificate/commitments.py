"""What a signed batch commits its organisation to, held against what the organisation has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from review.files.batch_form import BatchManifest
from review.sealed.signature import Signed, verify
from review.verdict.panel.key import AnswerKey


def differences(
    key: AnswerKey,
    policy_sha256: str,
    batches: Mapping[str, Signed],
    found: Mapping[str, BatchManifest],
    organisation: str,
) -> Iterator[str]:
    """Say each thing that is not as the signed batches of a review have it; nothing where all is.

    ``found`` are the manifests of ``batches``, read; ``organisation`` is the public key that must have signed them.
    Version 1 commits to policy and people alone, and its signature was not always kept.
    """
    for batch in key.batches:
        if batch not in found:
            yield f"batch {batch} is missing"
            continue
        yield from of_batch(key, policy_sha256, batches[batch], found[batch], batch, organisation)
    asked: dict[str, tuple[str, ...]] = {}
    named: dict[str, tuple[str, ...]] = {}
    for manifest in found.values():
        asked |= manifest.orders
        named |= {manifest.place(who): order for who, order in key.orders.items()}
    if asked != named:
        yield "the people who were asked, or their items, are not those of the batches"


def of_batch(
    key: AnswerKey,
    policy_sha256: str,
    signed: Signed,
    manifest: BatchManifest,
    batch: str,
    organisation: str,
) -> Iterator[str]:
    """Say each thing that is not as one signed batch has it; ``batch`` is the id by which the key names it."""
    if manifest.batch != batch or signed.sha256 != key.batch_sha256.get(batch):
        yield f"batch {batch} is not the one that the answer key names"
    not_kept = manifest.version == 1 and not signed.signature
    if manifest.signer != organisation or not (
        not_kept or verify(organisation, signed.content, signed.signature)
    ):
        yield f"batch {batch} is not signed by the organisation"
    if manifest.policy_sha256 != policy_sha256:
        yield f"the policy is not the one of batch {batch}"
    if manifest.version != 1 and manifest.looks != key.looks:
        yield f"the number of looks before is not the one of batch {batch}"
    if manifest.version != 1 and manifest.key_commitment != key.commitment:
        yield f"the answer key is not the one of batch {batch}"
