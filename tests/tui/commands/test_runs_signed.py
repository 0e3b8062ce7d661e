"""Signed cards on the command line: out, in, verified, and one row of them proved."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import Result

from harness.card.build import seal
from harness.card.seal import card_hash
from harness.card.signing.signed_run import sign_run
from harness.core.failures import KeyStoreError, UsageError
from harness.sealed.keys import Identity, Role
from harness.store.deletion import delete_run
from harness.vault.records import CardSealed
from tests.harness.card import factory
from tests.harness.vault.made import MINE, filled
from tests.keyring_in_memory import memory_keyring
from tests.tui.commands.runs_group import connection, number, rosetta_runs

__all__ = ["connection", "number"]

STRANGER = Identity.make(Role.COMPUTER)


@pytest.fixture(autouse=True)
def ring() -> Iterator[None]:
    with memory_keyring():
        yield


@pytest.fixture
def card(connection: sqlite3.Connection, number: int, tmp_path: Path) -> Path:
    """Return the card of a run as it was exported, with its seal beside it."""
    path = tmp_path / "card.json"
    said = rosetta_runs("export", "last", "-o", str(path))
    assert "Signed with the key of this computer. Its six words are: " in said.stderr
    assert path.with_suffix(".seal.json").stat().st_mode & 0o777 == 0o600
    return path


def verified(path: Path, *more: str, code: int = 0) -> str:
    done: Result = rosetta_runs("verify", str(path), *more)
    assert done.exit_code == code, done.output
    return done.stdout


def words_of(said: str) -> str:
    return said.partition("six words are: ")[2].partition(".")[0].strip()


def test_who_made_it_knows_it_and_others_ask_for_words(
    card: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_home = verified(card)
    assert "✓ signature: made " in at_home
    assert "with this computer's key: " in at_home
    assert "✓ rows: the 4 that were sealed" in at_home
    assert at_home.endswith("Everything holds.\n")
    assert "✓ rows: the 4" in rosetta_runs("verify", "last").stdout

    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "elsewhere"))
    abroad = verified(card)
    assert "– signature: made " in abroad
    assert "a key that nobody here knows" in abroad
    assert "Everything holds" not in abroad
    words = words_of(abroad)
    assert verified(card, "--words", words).endswith("Everything holds.\n")
    assert "another key than that of the words" in verified(
        card, "--words", STRANGER.public.phrase, code=1
    )
    mistyped = rosetta_runs("verify", str(card), "--words", "six mistyped wrds")
    assert "none of the words" in str(mistyped.exception)

    # the seal goes in with its card, and out with it again
    assert rosetta_runs("import", str(card), str(card.with_suffix(".seal.json"))).exit_code == 0
    assert "nobody here knows" in rosetta_runs("verify", "last").stdout
    out = tmp_path / "again.json"
    assert rosetta_runs("export", "last", "-o", str(out)).exit_code == 0
    for suffix in (".json", ".seal.json"):
        assert out.with_suffix(suffix).read_bytes() == card.with_suffix(suffix).read_bytes()


def test_a_seal_that_was_taken_away_or_is_another_card_s(
    card: Path, connection: sqlite3.Connection, number: int
) -> None:
    beside = card.with_suffix(".seal.json")
    forged = json.loads(card.read_bytes())
    forged["timestamp"] = "2020-01-01T00:00:00Z"
    forged["run_card_hash"] = card_hash(forged)
    card.write_text(json.dumps(forged), encoding="utf-8")
    assert "✗ signature: the seal is that of another card" in verified(card, code=1)
    delete_run(connection, number)
    told = rosetta_runs("import", str(card))
    assert told.exit_code == 0
    assert "card.seal.json was not taken. It is the seal of another card" in told.stderr
    beside.unlink()
    bare = verified(card)
    assert "– signature: no seal of a key lies beside this card" in bare
    assert "Everything holds" not in bare
    verified(card, "--words", STRANGER.public.phrase, code=1)


def test_one_row_is_shown_without_the_others(card: Path, tmp_path: Path) -> None:
    path = tmp_path / "row.json"
    assert rosetta_runs("proof", "last", "b", "-o", str(path)).exit_code == 0
    text = path.read_text(encoding="utf-8")
    assert "I saw his dog yesterday." in text
    assert "I see the dog." not in text
    shown = verified(path, "--card", str(card))
    assert "✓ seal: RFC 8785" in shown
    assert "✓ row: entry b is row 2 of 4 that were sealed with this card" in shown
    assert shown.endswith("Everything holds.\n")
    assert "– card: not given" in verified(path)
    forged = json.loads(card.read_bytes()) | {"run_id": "0" * 8}
    card.write_text(json.dumps(forged | {"run_card_hash": card_hash(forged)}), encoding="utf-8")
    assert "✗ row: the proof is one for another card" in verified(path, "--card", str(card), code=1)
    path.write_text(text.replace("yesterday", "today"), encoding="utf-8")
    assert "row.json proves nothing" in str(rosetta_runs("verify", str(path)).exception)


def test_a_row_of_a_run_that_was_never_signed(
    connection: sqlite3.Connection, number: int, tmp_path: Path
) -> None:
    path = tmp_path / "row.json"
    assert rosetta_runs("proof", "last", "1", "-o", str(path)).exit_code == 0
    card = tmp_path / "card.json"
    assert rosetta_runs("export", "last", "-o", str(card)).exit_code == 0
    assert verified(path, "--card", str(card)).endswith("Everything holds.\n")
    assert rosetta_runs("proof", "last", "1", "-o", str(path)).exit_code == 1


def test_a_key_that_cannot_be_read_keeps_no_card_back(
    connection: sqlite3.Connection, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object) -> None:
        raise KeyStoreError("the keyring is locked")

    monkeypatch.setattr(Identity, "load", locked)
    path = tmp_path / "card.json"
    said = rosetta_runs("export", "last", "-o", str(path))
    assert said.exit_code == 0
    assert "warning: The card is not signed. the keyring is locked" in said.stderr
    assert path.exists()
    assert not path.with_suffix(".seal.json").exists()
    named = rosetta_runs("export", "last", "-o", str(path), "--overwrite", "--as", "computer")
    assert isinstance(named.exception, KeyStoreError)
    assert (
        rosetta_runs("export", "last", "-o", str(path), "--overwrite", "--unsigned").exit_code == 0
    )


def test_an_old_seal_beside_stands_in_no_way_by_halves(card: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.with_suffix(".seal.json").write_text("mine")
    refused = rosetta_runs("export", "last", "-o", str(other))
    assert isinstance(refused.exception, UsageError)
    assert not other.exists()


def test_seals_of_two_keys_are_both_told(
    card: Path, connection: sqlite3.Connection, number: int
) -> None:
    sign_run(connection, number, card.read_bytes(), STRANGER, datetime.now(UTC))
    told = rosetta_runs("verify", "last").stdout
    assert told.count("signature: made") == 2
    assert told.count("nobody here knows") == 1


def test_a_keeper_signs_a_run_out_of_a_vault_and_its_log_has_the_line(
    connection: sqlite3.Connection, number: int, tmp_path: Path
) -> None:
    vault = filled(tmp_path)
    key = tmp_path / "keeper.txt"
    key.write_text(MINE.text())
    of_vault = ("--vault", str(vault.folder), "--vault-key", str(key), "--purpose", "its card")
    refused = rosetta_runs("sign", "last", *of_vault)
    assert "not over texts of the vault" in str(refused.exception)
    state = vault.read()
    (corpus,) = state.head.corpora
    dataset = factory.DATASET.model_copy(update={"opened_from": f"{state.head.vault}/{corpus}/0"})
    run_id = "5" * 8 + factory.RUN_ID[8:]
    with patch.object(factory, "DATASET", dataset), patch.object(factory, "SHA256", "cd" * 32):
        seal(connection, factory.add_run(connection, run_id=run_id))
    done = rosetta_runs("sign", run_id, *of_vault)
    assert done.exit_code == 0, done.exception
    assert isinstance(vault.read().lines[-1].record.act, CardSealed)
    told = rosetta_runs("verify", run_id, "--vault", str(vault.folder)).stdout
    assert "✓ signature: made " in told
    assert "the key of Office, by its log a keeper of this vault" in told
    assert "✓ rows: the 4 that were sealed" in told
    assert "✓ time: sealed after line 3 " in told
    assert (
        "– time: states that it was sealed after line 3 " in rosetta_runs("verify", run_id).stdout
    )


def test_a_run_that_stays_inside_is_signed_there(
    connection: sqlite3.Connection, number: int
) -> None:
    said = rosetta_runs("sign", "last")
    assert "Signed with the key of this computer. Its six words are: " in said.stderr
    assert "✓ signature" in rosetta_runs("verify", "last").stdout
