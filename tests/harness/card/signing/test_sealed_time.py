"""When a card was sealed, by the log of a vault: after one line, before another, and by whose keys."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from harness.card.build import seal
from harness.card.checking.signed import KnownSigners, check_seal
from harness.card.checking.verify import CardVerdict
from harness.card.exporting import ExportForm, export_run
from harness.card.reading import parse_object
from harness.card.signing.card_seal import SealFile, seal_card
from harness.card.signing.sealed_time import log_end, sealed_between, sign_vault_run
from harness.sealed.forms import FileProblem
from harness.vault.log import LogLine, VaultError
from harness.vault.records import CardSealed
from harness.vault.vault import Vault
from tests.harness.card import factory
from tests.harness.card.sealed_cards import checks, sealed
from tests.harness.card.signing.signers import NOW
from tests.harness.vault.made import MINE, THEIRS, filled


def lines(vault: Vault) -> tuple[LogLine, ...]:
    return vault.read().lines


def judged(made: SealFile, log: tuple[LogLine, ...]) -> CardVerdict:
    verdict = CardVerdict()
    check_seal(
        verdict, {**sealed(), "run_card_hash": made.seal.card}, made.data(), KnownSigners(log=log)
    )
    return verdict


def run_of(connection: sqlite3.Connection) -> tuple[int, bytes]:
    number = factory.add_run(connection)
    seal(connection, number)
    return number, export_run(connection, number, ExportForm.CARD)


def test_it_was_sealed_between_two_lines(connection: sqlite3.Connection, tmp_path: Path) -> None:
    vault = filled(tmp_path)
    before = lines(vault)
    number, card = run_of(connection)
    made = sign_vault_run(vault, connection, number, card, MINE)
    again = sign_vault_run(vault, connection, number, card, MINE)
    assert (again, len(lines(vault))) == (made, len(before) + 1)  # told once
    vault.open("greetings", "later", MINE)
    log = lines(vault)
    behind, named = sealed_between(made.seal, log)
    assert (behind, named) == (before[-1], log[len(before)])
    assert isinstance(log[len(before)].record.act, CardSealed)
    assert made.seal.card == parse_object(card, "card")["run_card_hash"]
    verdict = judged(made, log)
    assert checks(verdict)["time"] is True
    assert "after line 2 " in verdict.checks[-1].words
    assert "before line 3 " in verdict.checks[-1].words
    # another keeper's signature stands behind the line of the first
    second = sign_vault_run(vault, connection, number, card, THEIRS)
    assert second.seal.after is not None
    assert second.seal.after.seq == 3


def test_stopped_before_its_line_it_may_be_much_later(
    connection: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = filled(tmp_path)
    number, card = run_of(connection)

    def full(*_: object) -> None:
        raise VaultError(FileProblem.INVALID, "no room")

    with monkeypatch.context() as patched:
        patched.setattr(Vault, "write", full)
        with pytest.raises(VaultError):
            sign_vault_run(vault, connection, number, card, MINE)
    assert len(lines(vault)) == 2
    made = sign_vault_run(
        vault, connection, number, card, MINE
    )  # goes on with the seal that was kept
    assert checks(judged(made, lines(vault)))["time"] is True
    bare = seal_card(sealed(), [], MINE, NOW, log_end(vault.read()))
    found = judged(bare, lines(vault)).checks[-1]
    assert (found.ok, "no line of the log names the seal" in found.words) == (None, True)


def test_a_log_that_never_saw_it(tmp_path: Path) -> None:
    here, there = filled(tmp_path / "here"), filled(tmp_path / "there")
    made = seal_card(sealed(), [], MINE, NOW, log_end(here.read()))
    for log in (lines(there), lines(here)[:1]):
        found = judged(made, log).checks[-1]
        assert (found.name, found.ok) == ("time", False)
        assert "not in this log" in found.words
    unasked = judged(made, ()).checks[-1]
    assert (unasked.ok, "--vault FOLDER" in unasked.words) == (None, True)
    plain = seal_card(sealed(), [], MINE, NOW)
    assert "names no vault" in judged(plain, lines(here)).checks[-1].words
