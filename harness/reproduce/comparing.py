"""A card and the run that was made of it, held together; and the record of that, signed by anyone who ran it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from harness.card.checking.recompute import card_setup
from harness.card.checking.verify import check_hash
from harness.card.fingerprint import fingerprint
from harness.card.foreign.layouts import adopt, unwrapped
from harness.card.load import load_card, read_raw
from harness.card.model import RunCard
from harness.card.reading import parse_object, read_card_bytes
from harness.card.signing.card_seal import SUFFIX, SealFile, read_seal
from harness.card.signing.reproduction import (
    ReproductionComparison,
    SignedReproduction,
    reproduced_card,
    sign_reproduction,
)
from harness.card.signing.signed_run import kept_seals, own_signer
from harness.core.failures import UsageError
from harness.reproduce.rebuild import refuse_secrets, same_setup
from harness.setup.scoring_tools import changes, stated_setup
from harness.store.runs import find_by_id, find_run
from scoring.statistics.reproducibility import verdict


class ClaimedCard:
    """A card that is to be reproduced, with the seals that are next to it."""

    def __init__(self, card: RunCard, seals: Sequence[SealFile]) -> None:
        self.card = card
        self.seals = tuple(seal for seal in seals if seal.seal.card == card.run_card_hash)


def claimed_card(connection: sqlite3.Connection, name: str) -> ClaimedCard:
    """Read a card from a file, or a run of the store by its id; raises UsageError where its hash is not its own, or it is over secret entries."""
    path = Path(name)
    if path.is_file():
        raw = unwrapped(parse_object(read_card_bytes(path), path.name))
        beside = path.with_suffix(SUFFIX)
        seals = [read_seal(read_card_bytes(beside))] if beside.is_file() else []
    else:
        run = find_run(connection, name)
        raw = read_raw(connection, run.id)
        seals = kept_seals(connection, run.id, raw)
    checked = check_hash(raw)
    if not checked.ok:
        raise UsageError(f"{name}: {checked.words}. Nothing can be claimed of such a card.")
    card = adopt(raw, name)
    refuse_secrets(card)
    return ClaimedCard(card, seals)


def compared(
    connection: sqlite3.Connection, claimed: RunCard, repeated: str
) -> ReproductionComparison:
    """Compare a finished run of the store, by its id, with a card.

    Raises UsageError where it is not the card's set-up on the card's entries, is the card's own run, was not made
    here, or took answers of before.
    """
    run = find_run(connection, repeated)
    card = load_card(connection, run.id)
    named = f"Run {run.run_id[:8]}"
    if run.imported or card.run_id == claimed.run_id or card.run_card_hash == claimed.run_card_hash:
        raise UsageError(
            f"{named} was not made here, or is the card's own run: it reproduces nothing."
        )
    if (claimed.dataset.sha256, _ids(claimed)) != (card.dataset.sha256, _ids(card)):
        raise UsageError(f"{named} is on other entries, or another corpus, than the card.")
    if other := same_setup(card_setup(claimed), run.setup):
        raise UsageError(f"{named} is another set-up. {other[0]}")
    if any(row.cached for row in card.results):
        raise UsageError(
            f"{named} took answers of earlier runs. Run it without them: rosetta runs reproduce."
        )
    otherwise = _scored_otherwise(claimed, card)
    if "calibration" in otherwise:
        raise UsageError(
            f"{named} has a composite of other weights than the card, so the two do not compare. Run the card again with the "
            "weights that it names: rosetta runs reproduce, with --scoring FILE where they were signed, and without where not."
        )
    first, second = reproduced_card(claimed), reproduced_card(card)
    print_ = fingerprint(card_setup(claimed), claimed.dataset.sha256, claimed.harness_version)
    return ReproductionComparison(
        claimed=first,
        repeated=second,
        setup_hash=print_.setup_hash or print_.hash,
        corpus=claimed.dataset.sha256,
        entries=len(card.results),
        reproduced=verdict(first.scores, second.scores).reproduced,
        scored_otherwise=otherwise,
    )


def signed(
    connection: sqlite3.Connection, claimed: ClaimedCard, found: ReproductionComparison, home: Path
) -> SignedReproduction:
    """Sign a comparison with this computer's keys, as a card is signed here.

    Raises UsageError for a card that this computer made or signed, one whose maker's seal is not next to it, and for
    outputs that no method made.
    """
    refuse_to_sign(connection, claimed, home)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return sign_reproduction(found, claimed.seals[0].seal.by, own_signer(home), now)


def refuse_to_sign(connection: sqlite3.Connection, claimed: ClaimedCard, home: Path) -> None:
    """Raise UsageError where no record of this card may be signed here, before anything is run."""
    card = claimed.card
    own = find_by_id(connection, card.run_id)
    key = own_signer(home).public.signing_key
    if (own is not None and not own.imported) or any(seal.seal.by == key for seal in claimed.seals):
        raise UsageError(
            "This run was made or signed here: nobody verifies their own run. Let somebody else run it again, on their "
            "computer."
        )
    if not claimed.seals:
        raise UsageError(
            "Nobody signed this card, so a record could not tell that another made it. Ask for its seal "
            f"(NAME{SUFFIX}), which `rosetta runs export` writes beside the card."
        )
    if card.method.outputs_sha256 is not None:
        raise UsageError(
            "The outputs of this card came from a file: scoring them again reproduces no method, so it is not signed."
        )


def _ids(card: RunCard) -> list[str]:
    return sorted(str(row.entry_id) for row in card.results)


def _scored_otherwise(first: RunCard, second: RunCard) -> tuple[str, ...]:
    then, now = stated_setup(first.scoring), stated_setup(second.scoring)
    facts = () if then is None or now is None else tuple(changes(then, now))
    other = first.harness_version != second.harness_version
    return (*(("harness_version",) if other else ()), *facts)
