"""Seals of keys: what they hold, what changes nothing, and what every change of a byte does."""

from __future__ import annotations

import copy
import hmac
import json
import sqlite3
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry, Segment
from harness.card.build import seal
from harness.card.checking.signed import UNKNOWN, KnownSigners, check_seal, check_unsigned
from harness.card.checking.verify import CardVerdict
from harness.card.exporting import ExportForm, card_bytes, export_run
from harness.card.importing import import_card
from harness.card.load import load_card, stored_rows
from harness.card.seal import card_hash
from harness.card.signing.card_seal import (
    LogPlace,
    SealFile,
    read_seal,
    row_salt,
    rows_root,
    seal_card,
)
from harness.card.signing.signed_run import kept_seals, outgoing, own_keys, own_signer, sign_run
from harness.core.failures import KeyStoreError, UsageError
from harness.sealed.forms import FileError
from harness.sealed.keys import Identity, Role
from tests.harness.card import factory
from tests.harness.card.sealed_cards import checks, sealed, written
from tests.harness.card.signing.signers import MINE, NOW, OWN, THEIRS
from tests.keyring_in_memory import memory_keyring
from tests.review.thorough import examples


def signed(identity: Identity = MINE) -> SealFile:
    return seal_card(sealed(), sealed()["results"], identity, NOW)


def judged(
    data: bytes, card: Any = None, known: KnownSigners = UNKNOWN, rows: Any = ()
) -> CardVerdict:
    verdict = CardVerdict()
    check_seal(verdict, sealed() if card is None else card, data, known, rows)
    return verdict


def test_the_form_by_hand() -> None:
    """Everything computed again without a line of ours: canonical JSON by ``json``, for these rows have no odd number."""
    rows: list[dict[str, Any]] = [
        {"entry_id": 1, "predicted": "ŝi"},
        {"entry_id": "b", "predicted": None},
        {"entry_id": 3},
    ]
    salts = bytes(range(32))
    leaves = []
    for place, row in enumerate(rows):
        salt = hmac.new(salts, b"rosetta-row-salt/1" + place.to_bytes(8, "big"), sha256).digest()
        text = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        leaves.append(sha256(b"\0" + salt + text.encode()).digest())
    pair = sha256(b"\1" + leaves[0] + leaves[1]).digest()
    root = sha256(b"\1" + pair + leaves[2]).digest()
    assert rows_root(rows, salts) == root
    page = (Path(__file__).parents[4] / "docs" / "run-card.md").read_text(encoding="utf-8")
    assert f"```root\n{root.hex()}\n```" in page

    made = json.loads(signed().data())
    record = made["seal"]
    signature = bytes.fromhex(record.pop("signature"))
    content = json.dumps(record, sort_keys=True, separators=(",", ":")).encode()
    Ed25519PublicKey.from_public_bytes(bytes.fromhex(record["by"])).verify(signature, content)
    assert (record["card"], record["rows"]) == (sealed()["run_card_hash"], 4)
    assert record["root"] == rows_root(sealed()["results"], bytes.fromhex(made["salts"])).hex()


def test_signing_changes_no_card(connection: sqlite3.Connection) -> None:
    number = factory.add_run(connection)
    seal(connection, number)
    before = export_run(connection, number, ExportForm.CARD)
    first = sign_run(connection, number, before, MINE, NOW)
    assert export_run(connection, number, ExportForm.CARD) == before
    later = datetime(2027, 1, 1, tzinfo=UTC)
    assert sign_run(connection, number, before, MINE, later) == first  # one seal of one key
    other = sign_run(connection, number, before, THEIRS, later)
    assert kept_seals(connection, number, json.loads(before)) == [other, first]
    assert first.seal.root != other.seal.root  # other salts
    connection.execute("UPDATE card_seals SET file = x'7b7d'")
    assert kept_seals(connection, number, json.loads(before)) == [], "damaged"
    again = sign_run(connection, number, before, MINE, NOW)
    assert read_seal(again.data()) == again
    connection.execute("DELETE FROM runs")
    assert connection.execute("SELECT count(*) FROM card_seals").fetchone() == (0,)


def test_verdict_names_whose_key_it_is() -> None:
    data = signed().data()
    stranger = judged(data)
    assert checks(stranger) == {"signature": None, "rows": True}
    assert MINE.public.phrase in stranger.checks[0].words
    assert "nobody here knows" in stranger.checks[0].words
    assert checks(judged(data, known=OWN))["signature"] is True
    words = KnownSigners(words=MINE.public.phrase.upper().replace(" ", "-"))
    assert checks(judged(data, known=words))["signature"] is True


def test_card_sealed_again_by_another() -> None:
    """Changed, with its hash and a seal made anew with their own key: whose it is tells it apart."""
    forged = copy.deepcopy(sealed())
    forged["results"][0]["predicted"] = "Alia."
    forged["run_card_hash"] = card_hash(forged)
    data = seal_card(forged, forged["results"], THEIRS, NOW).data()
    found = judged(data, forged, OWN)
    assert checks(found) == {"signature": None, "rows": True}
    assert THEIRS.public.phrase in found.checks[0].words
    asked = judged(data, forged, KnownSigners(keys=OWN.keys, words=MINE.public.phrase))
    assert checks(asked)["signature"] is False
    bare = CardVerdict()
    check_unsigned(bare, KnownSigners(words=MINE.public.phrase))
    assert not bare.ok


def test_key_in_the_place_of_another() -> None:
    """The public key swapped on the stick, the signature left as it was, or made anew by the thief."""
    file = json.loads(signed().data())
    file["seal"]["by"] = THEIRS.public.signing_key
    swapped = SealFile.model_validate_json(json.dumps(file)).data()
    assert checks(judged(swapped, known=OWN)) == {"signature": False}
    anew = signed(THEIRS).data()
    assert checks(judged(anew, known=KnownSigners(words=MINE.public.phrase)))["signature"] is False


def test_seal_of_another_card() -> None:
    other = copy.deepcopy(sealed())
    other["run_id"] = "0" * 8
    other["run_card_hash"] = card_hash(other)
    found = judged(signed().data(), other, OWN)
    assert checks(found) == {"signature": False}
    assert sealed()["run_card_hash"][:16] in found.checks[0].words
    other["results"] = []
    with pytest.raises(UsageError, match="changed after it was sealed"):
        seal_card(other, [], MINE, NOW)


ONCE = signed().data()


@examples(25, 300)
@given(st.data())
def test_any_changed_byte_of_a_seal_is_detected(data: st.DataObject) -> None:
    original = ONCE
    place = data.draw(st.integers(0, len(original) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != original[place]))
    forged = original[:place] + bytes([byte]) + original[place + 1 :]
    assert not judged(forged, known=OWN).ok
    assert not judged(original[:place], known=OWN).ok


@examples(15, 100)
@given(st.data())
def test_any_changed_row_is_another_root(data: st.DataObject) -> None:
    card = json.loads(written(sealed()))
    rows = card["results"]
    match data.draw(st.sampled_from(["text", "number", "order", "gone", "twice"])):
        case "text":
            rows[data.draw(st.integers(0, 3))]["source"] = data.draw(st.text(max_size=3)) + "\0"
        case "number":
            rows[data.draw(st.integers(0, 3))]["latency_seconds"] = data.draw(st.floats(5, 9))
        case "order":
            rows.insert(0, rows.pop())
        case "gone":
            del rows[data.draw(st.integers(0, 3))]
        case _:
            rows.append(rows[-1])
    assert checks(judged(ONCE, card, OWN))["rows"] is False


class TestSecretRuns:
    SECRETS = tuple(
        Entry(id=n, source=f"kaŝa {n}", reference=f"sekreta {n}", segment=Segment.GOLD_STANDARD)
        for n in range(6)
    )

    def add(self, connection: sqlite3.Connection) -> tuple[int, bytes]:
        number = factory.add_run(connection, self.SECRETS, [f"sekreta {n}" for n in range(6)])
        seal(connection, number)
        return number, card_bytes(load_card(connection, number))

    def test_rows_that_stay_at_home_are_sealed(self, connection: sqlite3.Connection) -> None:
        number, card = self.add(connection)
        kept = sign_run(connection, number, card, MINE, NOW)
        raw = json.loads(card)
        assert (raw["results"], kept.seal.rows) == ([], 6)
        leaving = outgoing(kept, raw)
        assert leaving.salts is None  # without them no guess at a row is confirmed
        assert checks(judged(leaving.data(), raw, OWN)) == {"signature": True, "rows": None}
        assert b"sekreta" not in kept.data()
        at_home = stored_rows(connection, number)
        assert "sekreta" not in json.dumps(at_home)
        assert checks(judged(kept.data(), raw, OWN, at_home))["rows"] is True
        at_home[2]["exact_match"] = False
        assert checks(judged(kept.data(), raw, OWN, at_home))["rows"] is False

    def test_guessing_a_hidden_row_confirms_nothing(self, connection: sqlite3.Connection) -> None:
        """Who knows every row but its salts finds the root in no way that is cheaper than finding 32 bytes."""
        number, card = self.add(connection)
        kept = sign_run(connection, number, card, MINE, NOW)
        rows = stored_rows(connection, number)
        public = [bytes(32), bytes.fromhex(kept.seal.card), bytes.fromhex(kept.seal.by), b""]
        assert all(rows_root(rows, each).hex() != kept.seal.root for each in public)
        assert kept.salts is not None
        own = bytes.fromhex(kept.salts)
        assert len({row_salt(own, place) for place in range(1000)}) == 1000


class TestWhoSigns:
    def test_organisation_signs_before_the_computer(self, tmp_path: Path) -> None:
        with memory_keyring():
            reviewer = Identity.load(tmp_path, Role.LAPTOP)
            computer = own_signer(tmp_path)
            assert computer.role is Role.COMPUTER
            assert computer.public.signing_key != reviewer.public.signing_key
            with pytest.raises(KeyStoreError, match="no keys of the keeper"):
                own_signer(tmp_path, Role.KEEPER)
            office = Identity.load(tmp_path, Role.ORGANISATION)
            assert own_signer(tmp_path) == office
            assert own_signer(tmp_path, Role.COMPUTER) == computer
            assert own_keys(tmp_path) == {
                office.public.signing_key: "this organisation's key",
                computer.public.signing_key: "this computer's key",
            }

    def test_nobody_signs_what_another_made(self, connection: sqlite3.Connection) -> None:
        data = written(sealed())
        import_card(connection, data, "card.json")
        with pytest.raises(UsageError, match="only who made it"):
            sign_run(connection, 1, data, MINE, NOW)


def test_what_is_no_seal_is_refused() -> None:
    for data in (b"", b"{}", b"null", b"\xff", b'{"format":"rosetta-seal/2"}', b"[" * 9000):
        with pytest.raises(FileError, match="Ask for the file"):
            read_seal(data)


def test_a_place_in_a_log_is_signed_too() -> None:
    place = LogPlace(vault="ab" * 32, seq=3, line="cd" * 32, when="2026-11-23T08:00:00Z")
    file = json.loads(seal_card(sealed(), [], MINE, NOW, place).data())
    file["seal"]["after"]["seq"] = 2
    assert not judged(SealFile.model_validate_json(json.dumps(file)).data(), known=OWN).ok
