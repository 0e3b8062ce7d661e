"""A vault is opened for a run only on a computer without a way to others, or for a reason that log and card keep."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import api
from harness.card.load import load_card
from harness.core.failures import UsageError
from harness.endpoint import ways_out
from harness.run.run_terms import terms_again
from harness.store.file.database import opened
from harness.store.file.sealing import forget_keys
from harness.store.runs import find_run
from harness.vault.records import Used
from harness.vault.request import VaultRequest
from harness.vault.vault import Vault
from harness.vault.work import VaultWork
from rosetta import RunHandle, run
from tests.harness.vault.made import RECOVERY, filled

TERMS = terms_again("script")
WHY = "made-up sentences, to try it out"


def withheld(done: RunHandle) -> dict[str, Any]:
    """Return what the card of a run says of its secret entries; it stays inside."""
    with opened(done.store) as connection:
        card = load_card(connection, find_run(connection, done.run_id).id).as_json()
    return dict(card["withheld"])


@pytest.fixture
def wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[VaultRequest]:
    """What asks for the vault with the recovery key, on a computer that has a way out."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(ways_out, "ways_out", lambda: ("wlan0",))
    made = filled(tmp_path)
    key = tmp_path / "recovery-key.txt"
    key.write_text(RECOVERY.text(), "utf-8")
    yield VaultRequest(made.folder, "a try", key=key, work="script")
    forget_keys()


def acts(wanted: VaultRequest, tmp_path: Path) -> list[Used]:
    """Return the openings for work that the log has."""
    vault = Vault(wanted.folder, tmp_path / "elsewhere", lambda: pytest.fail("no clock is needed"))
    return [line.record.act for line in vault.read().lines if isinstance(line.record.act, Used)]


@pytest.mark.parametrize("work", VaultWork)
def test_what_runs_code_of_others_is_refused_and_nothing_is_opened(
    wanted: VaultRequest, tmp_path: Path, work: VaultWork
) -> None:
    asked = api.CorpusRequest(
        "greetings", vault=replace(wanted, work=work), terms=terms_again(work)
    )
    without_method = {VaultWork.ESTIMATE, VaultWork.CHECK, VaultWork.SEAL, VaultWork.COMPARE}
    by_people = {VaultWork.CALIBRATE, VaultWork.REVIEW, VaultWork.ADJUDICATE}
    if work in without_method | by_people:
        assert api.open_corpus(asked).entries
        return
    with pytest.raises(UsageError, match=r"\(wlan0\).*Nothing was opened.*--despite-network"):
        api.open_corpus(asked)
    assert acts(wanted, tmp_path) == []


def test_a_reason_stands_in_the_log_and_on_the_card(wanted: VaultRequest, tmp_path: Path) -> None:
    asked = api.CorpusRequest(
        "greetings", vault=replace(wanted, despite_network=f" {WHY}\n"), terms=TERMS
    )
    done = run(api.open_corpus(asked), method="copy-source")
    [act] = acts(wanted, tmp_path)
    assert act.despite_network == WHY
    assert withheld(done)["despite_network"] == WHY
    with opened() as connection:
        assert find_run(connection, "last").opening.despite_network == WHY


def test_where_there_is_no_way_nothing_is_noted(
    wanted: VaultRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ways_out, "ways_out", lambda: ())
    asked = api.CorpusRequest("greetings", vault=replace(wanted, despite_network=WHY), terms=TERMS)
    done = run(api.open_corpus(asked), method="copy-source")
    [act] = acts(wanted, tmp_path)
    assert "despite_network" not in json.loads(act.model_dump_json())
    assert "despite_network" not in withheld(done)


def test_a_reason_is_words_for_the_log(wanted: VaultRequest, tmp_path: Path) -> None:
    asked = api.CorpusRequest(
        "greetings", vault=replace(wanted, despite_network="x" * 201), terms=TERMS
    )
    with pytest.raises(UsageError, match="The reason has 201 characters"):
        api.open_corpus(asked)
    assert acts(wanted, tmp_path) == []


def test_without_saying_what_is_to_be_run_no_run_opens_a_vault(
    wanted: VaultRequest, tmp_path: Path
) -> None:
    asked = api.CorpusRequest("greetings", vault=replace(wanted, despite_network=WHY))
    with pytest.raises(UsageError, match="A vault opens for script by a grant only"):
        api.open_corpus(asked)
    assert acts(wanted, tmp_path) == []
