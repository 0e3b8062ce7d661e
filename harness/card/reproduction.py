"""What came of running a card's set-up once more, and the signature of anyone who ran it (benchmark-specification §9.4).

The record names both cards by their hashes and holds every score of both, so that anyone computes the verdict again.
It tells nothing of the computer that ran it: what reproduces depends on none.
"""

from __future__ import annotations

from typing import Final, Literal

from corpora.files.json_types import JsonObject
from corpora.text.messages import percent
from harness.card.model import RunCard
from harness.card.reading import block, number
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.sealed.archive import SignedRecord, read_record, signed_record
from harness.sealed.keys import Identity
from harness.sealed.strict_records import Count, FileError, FileProblem, Hex64, Short, StrictRecord
from harness.vault.vault_records import Moment
from scoring.core.inventory import row_of
from scoring.core.specification import COMPOSITE
from scoring.statistics.repetitions import TOLERANCE, Reproduction, verdict

SUFFIX: Final = ".reproduction.json"  # What `--sign` writes where no file is named
MOST_BYTES: Final = 256 * 1024
_NAME: Final = "the record of a reproduction"


class ReproducedCard(StrictRecord):
    """One of the two cards."""

    run_id: Short
    card: Hex64
    """Its ``run_card_hash``."""
    harness_version: Short
    """Of the program that made and scored its outputs."""
    failed: Count
    """Entries without an output; each counts as 0."""
    scores: dict[Short, float]
    """Metric id, and ``composite`` → value of the whole run, each on its own scale."""


class ReproductionComparison(StrictRecord):
    """A card and its repetition, side by side."""

    format: Literal["rosetta-reproduction/1"] = "rosetta-reproduction/1"
    claimed: ReproducedCard
    repeated: ReproducedCard
    setup_hash: Hex64
    """Of the set-up that both share, as the card states it."""
    corpus: Hex64
    """SHA-256 of the corpus file."""
    entries: Count
    tolerance: float = TOLERANCE
    """Share of a claimed score by which the repeated one may differ."""
    reproduced: bool | None
    """Whether composite and chrF++, as far as there are, are within it; None where the cards share neither."""
    scored_otherwise: tuple[Short, ...] = ()
    """Facts of the scoring that were not the same in both."""

    @property
    def verdict(self) -> Reproduction:
        """Return the verdict on the scores of both, computed again."""
        return verdict(self.claimed.scores, self.repeated.scores)


class ReproductionRecord(ReproductionComparison):
    """What is signed of it."""

    claimed_by: Hex64
    """Public key that signed the claimed card."""
    when: Moment
    """By the clock of the computer that signed; nothing shows that it was right."""
    by: Hex64
    """Public key of anyone who ran it once more."""


class SignedReproduction(ReproductionRecord, SignedRecord):
    """The record with its signature."""

    def data(self) -> bytes:
        return canonical_bytes(self.model_dump(mode="json")) + b"\n"


def reproduced_card(card: RunCard) -> ReproducedCard:
    """Return what a comparison needs of a card."""
    return ReproducedCard(
        run_id=card.run_id,
        card=card.run_card_hash,
        harness_version=card.harness_version,
        failed=card.scores.errors,
        scores=stated_scores(card.as_json()),
    )


def stated_scores(card: JsonObject) -> dict[str, float]:
    """Return the values that a card states, by metric id and ``composite``; nulls are left out."""
    scores = block(card, "scores").items()
    known = {id_: number(value) for id_, value in scores if id_ == COMPOSITE or row_of(id_)}
    return {id_: value for id_, value in known.items() if value is not None}


def sign_reproduction(
    found: ReproductionComparison, claimed_by: str, identity: Identity, when: str
) -> SignedReproduction:
    """Sign a comparison; ``claimed_by`` signed the claimed card, ``when`` is a UTC time to the second.

    Raises UsageError where both are one key: nobody verifies their own run.
    """
    if claimed_by == identity.public.signing_key:
        raise UsageError(
            "This card is signed with the key that would sign its reproduction: nobody verifies their own run. Let "
            "somebody else run it again, on their computer."
        )
    record = ReproductionRecord(**found.model_dump(), claimed_by=claimed_by, when=when, by=identity.public.signing_key)
    return SignedReproduction.model_validate_json(signed_record(record, identity))


def is_reproduction(data: bytes) -> bool:
    """Return whether a file calls itself a signed record of a reproduction."""
    return b'"format":"rosetta-reproduction/' in data[:MOST_BYTES] and b'"signature":' in data[:MOST_BYTES]


def read_reproduction(data: bytes) -> SignedReproduction:
    """Read a signed record and check all that it says of itself; raises FileError in words.

    Its bytes are the canonical ones, its signature is its signer's, its verdict follows from its scores, and anyone who
    signed did not sign the claimed card too.
    """
    record = read_record(data, SignedReproduction, _NAME, most=MOST_BYTES)
    if record.data() != data or not record.is_signed_by(record.by):
        raise FileError(
            FileProblem.DAMAGED, "The record was changed after it was signed, or it is damaged. Ask for it once more."
        )
    reproduced = record.verdict.reproduced
    if record.tolerance != TOLERANCE or reproduced != record.reproduced:
        raise FileError(
            FileProblem.INVALID,
            "The record says of itself what its scores do not: by them the card "
            + ("is" if reproduced else "is not")
            + f" reproduced within {percent(TOLERANCE)}. Nothing follows from it.",
        )
    if record.by == record.claimed_by or record.claimed.card == record.repeated.card:
        raise FileError(
            FileProblem.INVALID,
            "The key that signed this record signed the card too, or both cards are one: nobody verifies their own run.",
        )
    return record


def fits_card(found: ReproductionRecord, card: JsonObject, signers: frozenset[str]) -> str:
    """Return why a record is not one of this card; empty where it is.

    ``signers``: keys whose seals of the card hold.
    """
    if found.claimed.card != card.get("run_card_hash"):
        return f"it is the record of another card, whose hash is {found.claimed.card[:16]}…"
    if found.claimed.scores != stated_scores(card):
        return "the scores that it calls claimed are not those of the card"
    if found.by in signers:
        return "the key that signed it signed the card too: nobody verifies their own run"
    if found.claimed_by not in signers:
        return (
            "no seal of the key that it says signed the card is next to the card, so nobody can tell that another made "
            "it. Import the card with its seal (NAME.seal.json)"
        )
    return ""
