"""The organiser's answer key, which never travels; the one rule of who counts; and what a signed batch commits to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Final, Literal

from pydantic import Field, StrictInt, StrictStr

from harness.core.canonical import canonical_bytes
from harness.sealed.keys import Signed, verify
from harness.sealed.strict_records import Count, Hex64, Id, Short, Since, VersionedRecord
from review.files.manifests import BatchManifest
from review.log.fold import ReviewerState, State
from review.log.payloads import Reviewer

KEY_FORMAT: Final = "rosetta-review-key/3"


class ControlKind(StrEnum):
    # A translation made wrong on purpose; its partner is the untouched one where that was asked too
    BAD = "bad"
    REPEAT = "repeat"  # The same translation a second time; its partner is the first
    ANCHOR = "anchor"  # A reference translation of a person


class KeyItem(VersionedRecord):
    # The run whose output it is; None for controls that are no system's output
    run_id: Short | None
    entry: Annotated[StrictInt | StrictStr, Field(union_mode="left_to_right")]
    stratum: Annotated[int, Field(ge=0, le=5)]  # Difficulty, 0 where the corpus does not say
    control: ControlKind | None = None
    partner: Id | None = None
    # How a bad item was made (`other reference`, `phrase swap`, `truncated`, `fst: 1Sg→2Sg`)
    made_by: Short | None = None


class KeyRun(VersionedRecord):
    run_id: Short
    run_card_hash: Hex64
    dataset_id: Short
    language_pair: Short
    # Stratum → number of the run's entries in it; their shares are the weights W_h
    strata: dict[int, int]
    # Segment (`none` where the corpus does not say) → number of reviewed entries in it
    segments: dict[str, int]
    # How often its numbers were examined in earlier reviews: another review is another chance of
    # luck
    looks: Annotated[Count, Since(2)] = 0


class KeyCorpus(VersionedRecord):
    """By what the corpus is known from which speakers get sentences, so that consent for it can be taken back."""

    id: Short
    source_language: Short
    target_language: Short
    language_pair: Short


class AnswerKey(VersionedRecord):
    """Everything needed to read ratings as a verdict on runs."""

    format: Literal["rosetta-review-key/1", "rosetta-review-key/2", "rosetta-review-key/3"] = KEY_FORMAT
    review: Short
    batches: tuple[Id, ...]
    batch_sha256: dict[Id, Hex64]  # Batch → SHA-256 of its manifest's bytes
    # None where speakers are asked for translations, of which there is no verdict
    runs: tuple[KeyRun, ...]
    # Whose sentences speakers translate or look over; None where there are runs, which name theirs
    corpus: Annotated[KeyCorpus | None, Since(3)] = None
    items: dict[Id, KeyItem]
    core: tuple[Id, ...]  # Items that every reviewer is asked
    orders: dict[Reviewer, tuple[Id, ...]]  # Reviewer → items in this person's order
    seed: int  # Of every draw that was made for this review
    panel: str  # How the reviewers were chosen, in the organiser's words
    # Random; with it the key cannot be guessed from its commitment
    salt: Annotated[Hex64 | Literal[""], Since(2)] = ""

    @property
    def looks(self) -> int:
        return max((run.looks for run in self.runs), default=0)

    @property
    def commitment(self) -> str:
        """SHA-256 over the salt's bytes and the key as canonical JSON, without salt and hashes of batches.

        Every batch of the review names it, so those hashes cannot be part of it.
        """
        committed = self.model_dump(mode="json", exclude={"salt", "batch_sha256"})
        return sha256(bytes.fromhex(self.salt) + canonical_bytes(committed)).hexdigest()

    def first_showing(self, item: str) -> str:
        """Return the item whose text this one shows again; any other item is its own."""
        about = self.items.get(item)
        if about is None or about.control is not ControlKind.REPEAT:
            return item
        return about.partner or item


def counted(state: State, key: AnswerKey) -> list[tuple[str, str, ReviewerState]]:
    """Return (reviewer, batch, what was said there), reviewers by code, a reviewer's batches as the key lists them.

    Heard are the people whom the answer key names, in its batches, who agreed to the terms there; what somebody
    took back is in no state any more.
    """
    return [
        (who, batch, reviewer_state)
        for who in sorted(key.orders)
        for batch in key.batches
        if (reviewer_state := state.reviewers.get((batch, who))) is not None and reviewer_state.consented
    ]


def differences(
    key: AnswerKey,
    policy_sha256: str,
    batches: Mapping[str, Signed],
    found: Mapping[str, BatchManifest],
    organisation: str,
) -> Iterator[str]:
    """Yield each thing that is not as the signed batches of a review have it; nothing where all is.

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
    key: AnswerKey, policy_sha256: str, signed: Signed, manifest: BatchManifest, batch: str, organisation: str
) -> Iterator[str]:
    """Yield each thing that is not as one signed batch has it; ``batch`` is the id by which the key names it."""
    if manifest.batch != batch or signed.sha256 != key.batch_sha256.get(batch):
        yield f"batch {batch} is not the one that the answer key names"
    not_kept = manifest.version == 1 and not signed.signature
    if manifest.signer != organisation or not (not_kept or verify(organisation, signed.content, signed.signature)):
        yield f"batch {batch} is not signed by the organisation"
    if manifest.policy_sha256 != policy_sha256:
        yield f"the policy is not the one of batch {batch}"
    if manifest.version != 1 and manifest.looks != key.looks:
        yield f"the number of looks before is not the one of batch {batch}"
    if manifest.version != 1 and manifest.key_commitment != key.commitment:
        yield f"the answer key is not the one of batch {batch}"
