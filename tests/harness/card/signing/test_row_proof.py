"""One row shown to be on a card: what its file holds, and what no change of it gets through."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.card.checking.signed import UNKNOWN, KnownSigners, check_proof
from harness.card.checking.verify import CardVerdict
from harness.card.signing.card_seal import row_salt, seal_card
from harness.card.signing.row_proof import RowProof, prove_row, read_proof
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.sealed.merkle import leaf_hash, node_hash
from tests.harness.card.sealed_cards import checks, sealed
from tests.harness.card.signing.signers import MINE, NOW, OWN, THEIRS
from tests.review.thorough import examples

SEAL = seal_card(sealed(), sealed()["results"], MINE, NOW)
ROWS = sealed()["results"]


def proof(entry: str = "b") -> RowProof:
    return prove_row(SEAL, ROWS, entry)


def judged(made: RowProof, card: Any = None, known: KnownSigners = UNKNOWN) -> CardVerdict:
    verdict = CardVerdict()
    check_proof(verdict, made, card, known)
    return verdict


def test_every_row_of_a_card_is_proved_alone() -> None:
    for place, row in enumerate(ROWS):
        data = proof(str(row["entry_id"])).data()
        made = read_proof(data, "proof.json")
        assert (made.row, made.place) == (row, place)
        assert checks(judged(made, sealed(), OWN)) == {"signature": True, "row": True}
        others = [each for each in ROWS if each is not row]
        assert not any(each["source"].encode() in data for each in others)
        assert SEAL.salts is not None
        assert SEAL.salts.encode() not in data
        hidden = [row_salt(bytes.fromhex(SEAL.salts), n).hex() for n in range(4) if n != place]
        assert not any(each.encode() in data for each in hidden)
    assert checks(judged(proof()))["card"] is None


def test_a_stranger_s_key_is_named_here_too() -> None:
    found = judged(proof(), sealed())
    assert checks(found) == {"signature": None, "row": True}
    assert MINE.public.phrase in found.checks[0].words
    assert not judged(proof(), sealed(), KnownSigners(words=THEIRS.public.phrase)).ok


def test_proof_for_another_card() -> None:
    found = judged(proof(), {**sealed(), "run_card_hash": "0" * 64}, OWN)
    assert checks(found)["row"] is False
    assert "another card" in found.checks[1].words


def test_a_proof_whose_row_is_not_the_card_s() -> None:
    """A signer who sealed other rows than those of the card is found out by the card."""
    rows = [dict(row) for row in ROWS]
    rows[1]["predicted"] = "Alia."
    lying = prove_row(seal_card(sealed(), rows, MINE, NOW), rows, "b")
    assert lying.holds
    assert checks(judged(lying, sealed(), OWN))["row"] is False
    longer = [*ROWS, {"entry_id": "more"}]
    added = prove_row(seal_card(sealed(), longer, MINE, NOW), longer, "more")
    assert checks(judged(added, sealed(), OWN))["row"] is False


@examples(25, 300)
@given(st.data())
def test_any_changed_byte_of_a_proof_is_detected(data: st.DataObject) -> None:
    original = proof().data()
    place = data.draw(st.integers(0, len(original) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != original[place]))
    for forged in (original[:place] + bytes([byte]) + original[place + 1 :], original[:place]):
        with pytest.raises(UsageError):
            read_proof(forged, "proof.json")


def test_a_row_of_another_card_under_this_seal() -> None:
    forged = proof().model_copy(update={"row": {**ROWS[1], "predicted": "Alia."}})
    assert not forged.holds
    with pytest.raises(UsageError, match="proves nothing"):
        read_proof(forged.data(), "proof.json")
    moved = proof().model_copy(update={"place": 0})
    assert not moved.holds


def test_a_node_shown_as_a_row() -> None:
    """The first node of four rows, given out as a row of a tree of two: neither prefix nor signed count lets it pass."""
    assert SEAL.salts is not None
    salts = bytes.fromhex(SEAL.salts)
    leaves = [leaf_hash(row_salt(salts, n) + canonical_bytes(row)) for n, row in enumerate(ROWS)]
    node, beside = node_hash(*leaves[:2]), node_hash(*leaves[2:])
    assert node_hash(node, beside).hex() == SEAL.seal.root
    small = SEAL.seal.model_copy(update={"rows": 2})
    for seal in (SEAL.seal, small):
        shown = proof().model_copy(
            update={"seal": seal, "place": 0, "salt": leaves[0].hex(), "path": (beside.hex(),)}
        )
        assert not shown.holds


def test_rows_with_one_id_and_salts_that_stayed_elsewhere() -> None:
    for entry in ("zz", ""):
        with pytest.raises(UsageError, match=f"No row has the id '{entry}'"):
            proof(entry)
    twice = [*ROWS, ROWS[0]]
    with pytest.raises(UsageError, match="Several rows have the id '1'"):
        prove_row(seal_card(sealed(), twice, MINE, NOW), twice, "1")
    with pytest.raises(UsageError, match="stayed with whoever sealed"):
        prove_row(SEAL.without_salts(), ROWS, "1")


def test_what_is_no_proof_is_refused() -> None:
    for data in (
        b"{}",
        b"[]",
        b'{"format":"rosetta-row-proof/2"}',
        b'{"format":"rosetta-row-proof/1"}',
    ):
        with pytest.raises(UsageError, match=r"proof\.json"):
            read_proof(data, "proof.json")


def test_proof_is_small() -> None:
    many = [{**ROWS[0], "entry_id": n} for n in range(2000)]
    made = prove_row(seal_card(sealed(), many, MINE, NOW), many, "1234")
    assert (made.holds, len(made.path)) == (True, 11)
    assert len(made.data()) < 3000
