"""Seals of keys and proofs of rows: what they hold, when they were made, and what every change of a byte does."""

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
from harness.card.checking.signed import UNKNOWN, KnownSigners, check_proof, check_seal, check_unsigned
from harness.card.checking.verdict import CardVerdict
from harness.card.checking.verify_card import seal
from harness.card.exporting import ExportForm, card_bytes, export_run
from harness.card.importing import import_card
from harness.card.model import card_hash
from harness.card.reading import parse_object
from harness.card.rows import load_card, stored_rows
from harness.card.signing import (
    LogPlace,
    RowProof,
    SealFile,
    kept_seals,
    log_end,
    outgoing,
    own_keys,
    own_signer,
    prove_row,
    read_proof,
    read_seal,
    row_salt,
    rows_root,
    seal_card,
    sealed_between,
    sign_run,
    sign_vault_run,
)
from harness.core.canonical import canonical_bytes
from harness.core.failures import KeyStoreError, UsageError
from harness.sealed.chain import leaf_hash, node_hash
from harness.sealed.keys import Identity, Role
from harness.sealed.strict_records import FileError, FileProblem
from harness.vault.log import LogLine, VaultError
from harness.vault.vault import Vault
from harness.vault.vault_records import CardSealed
from tests.harness.card import factory
from tests.harness.card.factory import checks, sealed, written
from tests.harness.sealed.refusals import refuses
from tests.harness.vault import made as keepers
from tests.keyring_in_memory import memory_keyring
from tests.review.thorough import examples

NOW = datetime(2026, 11, 23, 8, 30, tzinfo=UTC)
MINE, THEIRS = Identity.make(Role.COMPUTER), Identity.make(Role.COMPUTER)
OWN = KnownSigners(keys={MINE.public.signing_key: "this computer's key"})


def signed(identity: Identity = MINE) -> SealFile:
    return seal_card(sealed(), sealed()["results"], identity, NOW)


def judged(data: bytes, card: Any = None, known: Any = UNKNOWN, rows: Any = ()) -> CardVerdict:
    verdict = CardVerdict()
    check_seal(verdict, sealed() if card is None else card, data, known, rows)
    return verdict


def test_the_form_by_hand() -> None:
    """Everything computed again without a line of ours: canonical JSON by ``json``, for these rows have no odd number."""
    rows: list[dict[str, Any]] = [
        {"entry_id": 1, "predicted": "ŝi"}, {"entry_id": "b", "predicted": None}, {"entry_id": 3},
    ]  # fmt: skip
    salts = bytes(range(32))
    leaves = []
    for place, row in enumerate(rows):
        salt = hmac.new(salts, b"rosetta-row-salt/1" + place.to_bytes(8, "big"), sha256).digest()
        text = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        leaves.append(sha256(b"\0" + salt + text.encode()).digest())
    pair = sha256(b"\1" + leaves[0] + leaves[1]).digest()
    root = sha256(b"\1" + pair + leaves[2]).digest()
    assert rows_root(rows, salts) == root
    page = (Path(__file__).parents[3] / "docs" / "internals" / "run-card.md").read_text(encoding="utf-8")
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
    first = sign_run(connection, number, MINE, NOW)
    assert export_run(connection, number, ExportForm.CARD) == before
    later = datetime(2027, 1, 1, tzinfo=UTC)
    assert sign_run(connection, number, MINE, later) == first  # one seal of one key
    other = sign_run(connection, number, THEIRS, later)
    assert kept_seals(connection, number, json.loads(before)) == [other, first]
    assert first.seal.root != other.seal.root  # other salts
    connection.execute("UPDATE card_seals SET file = x'7b7d'")
    assert kept_seals(connection, number, json.loads(before)) == [], "damaged"
    again = sign_run(connection, number, MINE, NOW)
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
    other = copy.deepcopy(sealed())
    other["run_id"] = "0" * 8
    other["run_card_hash"] = card_hash(other)
    found = judged(signed().data(), other, OWN)
    assert checks(found) == {"signature": False}
    assert sealed()["run_card_hash"][:16] in found.checks[0].words
    other["results"] = []
    refuses(UsageError, "changed after it was sealed", seal_card, other, [], MINE, NOW)


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


def test_rows_that_stay_at_home_are_sealed_and_not_guessed(connection: sqlite3.Connection) -> None:
    """Who knows every row but its salts finds the root in no way that is cheaper than finding 32 bytes."""
    secrets = tuple(
        Entry(id=n, source=f"kaŝa {n}", reference=f"sekreta {n}", segment=Segment.GOLD_STANDARD) for n in range(6)
    )
    number = factory.add_run(connection, secrets, [f"sekreta {n}" for n in range(6)])
    seal(connection, number)
    card = card_bytes(load_card(connection, number))
    kept, raw = sign_run(connection, number, MINE, NOW), json.loads(card)
    assert (raw["results"], kept.seal.rows) == ([], 6)
    leaving = outgoing(kept, raw)
    assert leaving.salts is None  # without them no guess at a row is confirmed
    assert checks(judged(leaving.data(), raw, OWN)) == {"signature": True, "rows": None}
    assert b"sekreta" not in kept.data()
    rows = stored_rows(connection, number)
    assert "sekreta" not in json.dumps(rows)
    assert checks(judged(kept.data(), raw, OWN, rows))["rows"] is True
    public = [bytes(32), bytes.fromhex(kept.seal.card), bytes.fromhex(kept.seal.by), b""]
    assert all(rows_root(rows, each).hex() != kept.seal.root for each in public)
    assert kept.salts is not None
    own = bytes.fromhex(kept.salts)
    assert len({row_salt(own, place) for place in range(1000)}) == 1000
    rows[2]["exact_match"] = False
    assert checks(judged(kept.data(), raw, OWN, rows))["rows"] is False


def test_organisation_signs_before_the_computer(tmp_path: Path) -> None:
    with memory_keyring():
        reviewer = Identity.load(tmp_path, Role.LAPTOP)
        computer = own_signer(tmp_path)
        assert computer.role is Role.COMPUTER
        assert computer.public.signing_key != reviewer.public.signing_key
        refuses(KeyStoreError, "no keys of the keeper", own_signer, tmp_path, Role.KEEPER)
        office = Identity.load(tmp_path, Role.ORGANISATION)
        assert own_signer(tmp_path) == office
        assert own_signer(tmp_path, Role.COMPUTER) == computer
        assert own_keys(tmp_path) == {
            office.public.signing_key: "this organisation's key",
            computer.public.signing_key: "this computer's key",
        }


def test_nobody_signs_what_another_made(connection: sqlite3.Connection) -> None:
    data = written(sealed())
    import_card(connection, data, "card.json")
    refuses(UsageError, "only who made it", sign_run, connection, 1, MINE, NOW)


def test_what_is_no_seal_is_refused() -> None:
    for data in (b"", b"{}", b"null", b"\xff", b'{"format":"rosetta-seal/2"}', b"[" * 9000):
        refuses(FileError, "Ask for the file", read_seal, data)
    place = LogPlace(vault="ab" * 32, seq=3, line="cd" * 32, when="2026-11-23T08:00:00Z")
    file = json.loads(seal_card(sealed(), [], MINE, NOW, place).data())
    file["seal"]["after"]["seq"] = 2
    assert not judged(SealFile.model_validate_json(json.dumps(file)).data(), known=OWN).ok


SEAL = seal_card(sealed(), sealed()["results"], MINE, NOW)
ROWS = sealed()["results"]


def proof(entry: str = "b") -> RowProof:
    return prove_row(SEAL, ROWS, entry)


def judged_proof(made: RowProof, card: Any = None, known: KnownSigners = UNKNOWN) -> CardVerdict:
    verdict = CardVerdict()
    check_proof(verdict, made, card, known)
    return verdict


def test_every_row_of_a_card_is_proved_alone() -> None:
    for place, row in enumerate(ROWS):
        data = proof(str(row["entry_id"])).data()
        made = read_proof(data, "proof.json")
        assert (made.row, made.place) == (row, place)
        assert checks(judged_proof(made, sealed(), OWN)) == {"signature": True, "row": True}
        others = [each for each in ROWS if each is not row]
        assert not any(each["source"].encode() in data for each in others)
        assert SEAL.salts is not None
        assert SEAL.salts.encode() not in data
        hidden = [row_salt(bytes.fromhex(SEAL.salts), n).hex() for n in range(4) if n != place]
        assert not any(each.encode() in data for each in hidden)
    assert checks(judged_proof(proof()))["card"] is None
    many = [{**ROWS[0], "entry_id": n} for n in range(2000)]
    small = prove_row(seal_card(sealed(), many, MINE, NOW), many, "1234")
    assert (small.holds, len(small.path)) == (True, 11)
    assert len(small.data()) < 3000


def test_a_stranger_s_key_is_named_here_too() -> None:
    found = judged_proof(proof(), sealed())
    assert checks(found) == {"signature": None, "row": True}
    assert MINE.public.phrase in found.checks[0].words
    assert not judged_proof(proof(), sealed(), KnownSigners(words=THEIRS.public.phrase)).ok
    found = judged_proof(proof(), {**sealed(), "run_card_hash": "0" * 64}, OWN)
    assert checks(found)["row"] is False
    assert "another card" in found.checks[1].words


def test_a_proof_whose_row_is_not_the_card_s() -> None:
    """A signer who sealed other rows than those of the card is found out by the card."""
    rows = [dict(row) for row in ROWS]
    rows[1]["predicted"] = "Alia."
    lying = prove_row(seal_card(sealed(), rows, MINE, NOW), rows, "b")
    assert lying.holds
    assert checks(judged_proof(lying, sealed(), OWN))["row"] is False
    longer = [*ROWS, {"entry_id": "more"}]
    added = prove_row(seal_card(sealed(), longer, MINE, NOW), longer, "more")
    assert checks(judged_proof(added, sealed(), OWN))["row"] is False


@examples(25, 300)
@given(st.data())
def test_any_changed_byte_of_a_proof_is_detected(data: st.DataObject) -> None:
    original = proof().data()
    place = data.draw(st.integers(0, len(original) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != original[place]))
    for forged in (original[:place] + bytes([byte]) + original[place + 1 :], original[:place]):
        refuses(UsageError, "", read_proof, forged, "proof.json")


def test_a_row_of_another_card_under_this_seal() -> None:
    forged = proof().model_copy(update={"row": {**ROWS[1], "predicted": "Alia."}})
    assert not forged.holds
    refuses(UsageError, "proves nothing", read_proof, forged.data(), "proof.json")
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
    for each in (SEAL.seal, small):
        shown = {"seal": each, "place": 0, "salt": leaves[0].hex(), "path": (beside.hex(),)}
        assert not proof().model_copy(update=shown).holds


def test_rows_with_one_id_and_salts_that_stayed_elsewhere() -> None:
    for entry in ("zz", ""):
        refuses(UsageError, f"No row has the id '{entry}'", proof, entry)
    twice = [*ROWS, ROWS[0]]
    refuses(UsageError, "Several rows have the id '1'", prove_row, seal_card(sealed(), twice, MINE, NOW), twice, "1")
    refuses(UsageError, "stayed with anyone who sealed", prove_row, SEAL.without_salts(), ROWS, "1")
    for data in (b"{}", b"[]", b'{"format":"rosetta-row-proof/2"}', b'{"format":"rosetta-row-proof/1"}'):
        refuses(UsageError, r"proof\.json", read_proof, data, "proof.json")


def lines(vault: Vault) -> tuple[LogLine, ...]:
    return vault.read().lines


def judged_time(made: SealFile, log: tuple[LogLine, ...]) -> CardVerdict:
    verdict = CardVerdict()
    card = {**sealed(), "run_card_hash": made.seal.card}
    check_seal(verdict, card, made.data(), KnownSigners(log=log))
    return verdict


def run_of(connection: sqlite3.Connection) -> tuple[int, bytes]:
    number = factory.add_run(connection)
    seal(connection, number)
    return number, export_run(connection, number, ExportForm.CARD)


def test_it_was_sealed_between_two_lines(connection: sqlite3.Connection, tmp_path: Path) -> None:
    vault = keepers.filled(tmp_path)
    before = lines(vault)
    number, card = run_of(connection)
    made = sign_vault_run(vault, connection, number, keepers.MINE)
    again = sign_vault_run(vault, connection, number, keepers.MINE)
    assert (again, len(lines(vault))) == (made, len(before) + 1)  # told once
    vault.open("greetings", "later", keepers.MINE)
    log = lines(vault)
    behind, named = sealed_between(made.seal, log)
    assert (behind, named) == (before[-1], log[len(before)])
    assert isinstance(log[len(before)].record.act, CardSealed)
    assert made.seal.card == parse_object(card, "card")["run_card_hash"]
    verdict = judged_time(made, log)
    assert checks(verdict)["time"] is True
    assert "after line 2 " in verdict.checks[-1].words
    assert "before line 3 " in verdict.checks[-1].words
    # another keeper's signature stands behind the line of the first
    second = sign_vault_run(vault, connection, number, keepers.THEIRS)
    assert second.seal.after is not None
    assert second.seal.after.seq == 3


def test_stopped_before_its_line_it_may_be_much_later(
    connection: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = keepers.filled(tmp_path)
    number, _ = run_of(connection)

    def full(*_: object) -> None:
        raise VaultError(FileProblem.INVALID, "no room")

    with monkeypatch.context() as patched:
        patched.setattr(Vault, "write", full)
        refuses(VaultError, "", sign_vault_run, vault, connection, number, keepers.MINE)
    assert len(lines(vault)) == 2
    made = sign_vault_run(vault, connection, number, keepers.MINE)  # goes on with the seal that was kept
    assert checks(judged_time(made, lines(vault)))["time"] is True
    bare = seal_card(sealed(), [], keepers.MINE, NOW, log_end(vault.read()))
    found = judged_time(bare, lines(vault)).checks[-1]
    assert (found.ok, "no line of the log names the seal" in found.words) == (None, True)


def test_a_log_that_never_saw_it(tmp_path: Path) -> None:
    here, there = keepers.filled(tmp_path / "here"), keepers.filled(tmp_path / "there")
    made = seal_card(sealed(), [], keepers.MINE, NOW, log_end(here.read()))
    for log in (lines(there), lines(here)[:1]):
        found = judged_time(made, log).checks[-1]
        assert (found.name, found.ok) == ("time", False)
        assert "not in this log" in found.words
    unasked = judged_time(made, ()).checks[-1]
    assert (unasked.ok, "--vault FOLDER" in unasked.words) == (None, True)
    plain = seal_card(sealed(), [], keepers.MINE, NOW)
    assert "names no vault" in judged_time(plain, lines(here)).checks[-1].words
