"""A vault is opened for a run only on a computer without a way to others, or for a reason that log and card keep."""

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
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.made import RECOVERY

TERMS = terms_again("script")
WHY = "made-up sentences, to try it out"


def withheld(done: RunHandle) -> dict[str, Any]:
    """Return what the card of a run says of its secret entries; it stays inside."""
    with opened(done.store) as connection:
        card = load_card(connection, find_run(connection, done.run_id).id).as_json()
    return dict(card["withheld"])


@pytest.fixture
def wanted(made: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[VaultRequest]:
    """What asks for the vault with the recovery key, on a computer that has a way out."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(ways_out, "ways_out", lambda: ("wlan0",))
    key = tmp_path / "recovery-key.txt"
    key.write_text(RECOVERY.text(), "utf-8")
    yield VaultRequest(made.folder, "a try", key=key, work="script")
    forget_keys()


def acts(wanted: VaultRequest, tmp_path: Path) -> list[Used]:
    """Return the openings for work that the log has."""
    vault = Vault(wanted.folder, tmp_path / "elsewhere", lambda: pytest.fail("no clock is needed"))
    return [line.record.act for line in vault.read().lines if isinstance(line.record.act, Used)]


@pytest.mark.parametrize("work", VaultWork)
def test_work_that_runs_code_of_others_opens_nothing(
    wanted: VaultRequest, tmp_path: Path, work: VaultWork
) -> None:
    vault = replace(wanted, work=work)
    asked = api.CorpusRequest("greetings", vault=vault, terms=terms_again(work))
    without_method = {VaultWork.ESTIMATE, VaultWork.CHECK, VaultWork.SEAL, VaultWork.COMPARE}
    by_people = {VaultWork.CALIBRATE, VaultWork.REVIEW, VaultWork.ADJUDICATE}
    if work in without_method | by_people:
        assert api.open_corpus(asked).entries
        return
    refuses(UsageError, r"\(wlan0\).*Nothing was opened.*--despite-network", api.open_corpus, asked)
    assert acts(wanted, tmp_path) == []


@pytest.mark.parametrize("routes", [("wlan0",), ()])
def test_reason_stands_in_log_and_card_where_there_is_a_way_out(
    wanted: VaultRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, routes: tuple[str, ...]
) -> None:
    monkeypatch.setattr(ways_out, "ways_out", lambda: routes)
    vault = replace(wanted, despite_network=f" {WHY}\n")
    asked = api.CorpusRequest("greetings", vault=vault, terms=TERMS)
    done = run(api.open_corpus(asked), method="copy-source")
    [act] = acts(wanted, tmp_path)
    noted = {"despite_network": WHY} if routes else {}
    assert {
        n: v for n, v in act.model_dump(mode="json").items() if n == "despite_network" and v
    } == noted
    assert {n: v for n, v in withheld(done).items() if n == "despite_network"} == noted
    if routes:
        with opened() as connection:
            assert find_run(connection, "last").opening.despite_network == WHY
    else:
        assert "despite_network" not in json.loads(act.model_dump_json())


def test_reason_too_long_or_without_what_is_run_opens_nothing(
    wanted: VaultRequest, tmp_path: Path
) -> None:
    for reason, terms, words in (
        ("x" * 201, TERMS, "The reason has 201 characters"),
        (WHY, None, "A vault opens for script by a grant only"),
    ):
        vault = replace(wanted, despite_network=reason)
        asked = api.CorpusRequest("greetings", vault=vault, terms=terms)
        refuses(UsageError, words, api.open_corpus, asked)
    assert acts(wanted, tmp_path) == []
