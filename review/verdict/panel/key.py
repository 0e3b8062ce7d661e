"""The organiser's answer key: which item came from which run, and which are controls. It never travels.

Who counts: the one rule by which the verdict, every table, every page and every offer choose whom they hear.
"""

from __future__ import annotations

from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Final, Literal

from pydantic import Field, StrictInt, StrictStr

from harness.card.canonical import canonical_bytes
from review.forms import Since, VersionedForm
from review.log.payloads import Count, Hex64, Id, Reviewer, Short
from review.log.state import ReviewerState, State

KEY_FORMAT: Final = "rosetta-review-key/2"


class ControlKind(StrEnum):
    """Items whose answer the organiser knows."""

    BAD = "bad"
    """A translation made wrong on purpose; its partner is the untouched one where that was asked too."""
    REPEAT = "repeat"
    """The same translation a second time; its partner is the first."""
    ANCHOR = "anchor"
    """A reference translation of a person."""


class KeyItem(VersionedForm):
    """What an item really is."""

    run_id: Short | None
    """The run whose output it is; None for controls that are no system's output."""
    entry: Annotated[StrictInt | StrictStr, Field(union_mode="left_to_right")]
    stratum: Annotated[int, Field(ge=0, le=5)]
    """Difficulty, 0 where the corpus does not say."""
    control: ControlKind | None = None
    partner: Id | None = None
    made_by: Short | None = None
    """How a bad item was made (``other reference``, ``phrase swap``, ``truncated``, ``fst: 1Sg→2Sg``)."""


class KeyRun(VersionedForm):
    """One run under review."""

    run_id: Short
    run_card_hash: Hex64
    dataset_id: Short
    language_pair: Short
    strata: dict[int, int]
    """Stratum → number of the run's entries in it; their shares are the weights W_h."""
    segments: dict[str, int]
    """Segment (``none`` where the corpus does not say) → number of reviewed entries in it."""
    looks: Annotated[Count, Since(2)] = 0
    """How often its numbers were looked at in earlier reviews: another review is another chance of luck."""


class AnswerKey(VersionedForm):
    """Everything needed to read ratings as a verdict on runs."""

    format: Literal["rosetta-review-key/1", "rosetta-review-key/2"] = KEY_FORMAT
    review: Short
    batches: tuple[Id, ...]
    batch_sha256: dict[Id, Hex64]
    """Batch → SHA-256 of its manifest's bytes."""
    runs: tuple[KeyRun, ...]
    """None where speakers are asked for translations, of which there is no verdict."""
    items: dict[Id, KeyItem]
    core: tuple[Id, ...]
    """Items that every reviewer is asked."""
    orders: dict[Reviewer, tuple[Id, ...]]
    """Reviewer → items in this person's order."""
    seed: int
    """Of every draw that was made for this review."""
    panel: str
    """How the reviewers were chosen, in the organiser's words."""
    salt: Annotated[Hex64 | Literal[""], Since(2)] = ""
    """Random; with it the key cannot be guessed from its commitment."""

    @property
    def looks(self) -> int:
        """How often a run was looked at before the review was made; of the one with most."""
        return max((run.looks for run in self.runs), default=0)

    @property
    def commitment(self) -> str:
        """SHA-256 over the salt's bytes and the key as canonical JSON, without salt and hashes of batches.

        Every batch of the review names it, so those hashes cannot be part of it.
        """
        said = self.model_dump(mode="json", exclude={"salt", "batch_sha256"})
        return sha256(bytes.fromhex(self.salt) + canonical_bytes(said)).hexdigest()

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
        (who, batch, said)
        for who in sorted(key.orders)
        for batch in key.batches
        if (said := state.reviewers.get((batch, who))) is not None and said.consented
    ]
