"""Signed cards on the command line: out, in, verified, and one row of them proved."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import CliRunner, Result

from harness.card.build import seal
from harness.card.seal import card_hash
from harness.card.signing.signed_run import sign_run
from harness.core.failures import KeyStoreError, UsageError
from harness.sealed.keys import Identity, Role
from harness.store.deletion import delete_run
from harness.vault.records import CardSealed
from rosetta_tui.commands.community import community
from tests.harness.card import factory
from tests.harness.vault.made import MINE, filled
from tests.tui.commands.runs_group import harmless, rosetta_runs

STRANGER = Identity.make(Role.COMPUTER)


pytestmark = pytest.mark.usefixtures("no_keyring")


@pytest.fixture
def card(connection: sqlite3.Connection, number: int, tmp_path: Path) -> Path:
    """Return the card of a run as it was exported, with its seal beside it."""
    path = tmp_path / "card.json"
    said = rosetta_runs("export", "last", "-o", str(path))
    assert "Signed with the key of this computer. Its six words are: " in said.stderr
    assert path.with_suffix(".seal.json").stat().st_mode & 0o777 == 0o600
    return path


def verified(path: Path, *more: str, code: int = 0) -> str:
    done = rosetta_runs("verify", str(path), *more)
    assert done.exit_code == code, done.output
    return done.stdout


def test_runs_verify_signed_card_by_who_knows_the_key(card: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # fmt: skip
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
    words = abroad.partition("six words are: ")[2].partition(".")[0].strip()
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


def test_runs_import_takes_no_seal_of_another_card(card: Path, connection: sqlite3.Connection, number: int) -> None:  # fmt: skip
    sign_run(connection, number, card.read_bytes(), STRANGER, datetime.now(UTC))
    assert rosetta_runs("verify", "last").stdout.count("signature: made") == 2
    forged = json.loads(card.read_bytes()) | {"timestamp": "2020-01-01T00:00:00Z"}
    card.write_text(json.dumps(forged | {"run_card_hash": card_hash(forged)}), encoding="utf-8")
    assert "✗ signature: the seal is that of another card" in verified(card, code=1)
    delete_run(connection, number)
    imported = rosetta_runs("import", str(card))
    assert imported.exit_code == 0
    assert "card.seal.json was not taken. It is the seal of another card" in imported.stderr
    card.with_suffix(".seal.json").unlink()
    assert "Everything holds" not in verified(card)
    verified(card, "--words", STRANGER.public.phrase, code=1)


def test_runs_proof_shows_one_row_alone(card: Path, tmp_path: Path) -> None:
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


@pytest.mark.usefixtures("number")
def test_runs_export_without_a_readable_key_is_unsigned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
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


@pytest.mark.usefixtures("card")
def test_runs_export_overwrites_no_seal(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.with_suffix(".seal.json").write_text("mine")
    refused = rosetta_runs("export", "last", "-o", str(other))
    assert isinstance(refused.exception, UsageError)
    assert not other.exists()


@pytest.mark.usefixtures("number")
def test_runs_sign_of_a_vault_run_stands_in_its_log(connection: sqlite3.Connection, tmp_path: Path) -> None:  # fmt: skip
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


def rosetta_community(*arguments: str) -> Result:
    return CliRunner().invoke(community, arguments)


@pytest.mark.usefixtures("number", "no_keyring")
def test_community_export_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out"
    done = rosetta_community("export", str(target), "--corpus", factory.DATASET.id)
    assert done.exit_code == 0, done.output
    assert "begin with README.txt" in done.stderr
    card = target / "runs" / factory.RUN_ID / "card.json"
    assert json.loads(card.read_bytes())["run_id"] == factory.RUN_ID
    assert rosetta_runs("verify", str(card)).stdout.endswith("Everything holds.\n")
    again = rosetta_community("export", str(target), "--corpus", factory.DATASET.id)
    assert "had all of this already" in again.stderr
    assert "✓ signed with this computer's key" in rosetta_community("verify", str(target)).stdout
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "elsewhere"))
    abroad = rosetta_community("verify", str(target)).stdout
    assert "– signed with a key that nobody here knows" in abroad
    words = abroad.partition("six words are: ")[2].partition(".")[0]
    trusted = rosetta_community("verify", str(target), "--words", words).stdout
    assert "✓ signed with the key whose" in trusted
    card.write_bytes(card.read_bytes() + b" ")
    broken = rosetta_community("verify", str(target))
    assert (broken.exit_code, "card.json: its bytes are not those" in broken.stdout) == (1, True)


@pytest.mark.usefixtures("connection", "no_keyring")
def test_community_export_keeps_hostile_names_inside(tmp_path: Path) -> None:
    file = tmp_path / "corpus.json"
    name = "../../<script>\x1b[2J"
    entries = [{"id": 1, "source": "<b>a</b>", "reference": "b", "segment": "development"}]
    pair = {"language_pair": "EN→EO", "source_language": "en", "target_language": "eo"}
    dataset = {"id": name, "version": "1", **pair}
    file.write_text(json.dumps({"dataset": dataset, "entries": entries}), encoding="utf-8")
    target = tmp_path / "out"
    done = rosetta_community("export", str(target), "--corpus", str(file))
    assert done.exit_code == 0, done.output
    assert harmless(done.output)
    assert {each.name for each in tmp_path.iterdir()} <= {"out", "home", "corpus.json"}
    page = (target / "index.html").read_text("utf-8")
    assert "<script>" not in page
    assert harmless((target / "README.txt").read_text("utf-8"))
    assert len(list((target / "corpora").rglob("corpus.json"))) == 1
