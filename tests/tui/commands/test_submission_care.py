"""``rosetta submission run`` and ``tell``: what can be refused is refused before a vault is opened, and nothing is overwritten."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from harness.core.failures import HarnessError
from harness.submission.desk import DeskAct, SubmissionDesk
from harness.submission.lanes import ModelHere
from tests.harness.submission.made import MAKER, resigned, sample_bundle
from tests.tui.commands.submission_desk import IN_VAULT, Desk, desk_here, gold, vault

__all__ = ["desk_here"]

LANE = {"lane": "data", "method": "chat", "options": {"temperature": 0.0}, "files": {}, "made_for": "tiny-7b"}  # fmt: skip


@pytest.mark.parametrize(
    ("endpoint", "model", "words"),
    [
        ("http://192.0.2.1/v1", "tiny", "is on another machine"),
        ("http://127.0.0.1:9/v1", "tiny:cloud", "or of a cloud"),
        ("http://127.0.0.1:9/v1", "tiny", "--trust-local-server"),
    ],
)
def test_a_model_that_may_not_be_asked_opens_no_vault(desk: Desk, endpoint: str, model: str, words: str) -> None:  # fmt: skip
    desk("submission demo tiny --lane data")
    path = desk.folder / "tiny.rosetta-submission"
    path.write_bytes(resigned(path.read_bytes(), {}, method=LANE, by=MAKER.public.signing_key))
    kept = SubmissionDesk(desk.home).receive(path)
    here = str(ModelHere(endpoint, model))
    SubmissionDesk(desk.home).note(kept.submission, DeskAct.REHEARSED, words=here)
    vault(desk)
    before = desk("vault log elders")
    asked = f"submission run tiny.rosetta-submission --endpoint {endpoint} --model {model}"
    assert words in desk(asked, *IN_VAULT, code=2)
    assert desk("vault log elders") == before
    assert desk.notes() == [DeskAct.RECEIVED, DeskAct.REHEARSED]


def test_code_without_a_box_opens_no_vault(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk("submission demo tiny")
    kept = SubmissionDesk(desk.home).receive(desk.folder / "tiny.rosetta-submission")
    SubmissionDesk(desk.home).note(kept.submission, DeskAct.REHEARSED)
    vault(desk)
    before = desk("vault log elders")

    def none(**_: object) -> None:
        raise HarnessError("No box can be made on this computer.")

    monkeypatch.setattr("harness.box.engines.find_engine", none)
    assert "No box" in desk("submission run tiny.rosetta-submission", *IN_VAULT, code=2)
    assert desk("vault log elders") == before
    assert desk.notes() == [DeskAct.RECEIVED, DeskAct.REHEARSED]


def test_an_answer_that_the_pause_keeps_back_opens_no_vault(desk: Desk) -> None:
    desk("submission demo tiny --lane data")
    vault(desk)
    for _ in range(2):
        desk("submission run tiny.rosetta-submission", *IN_VAULT)
    assert desk.notes()[-1] is DeskAct.SCORED
    before = desk("vault log elders")
    again = IN_VAULT[3:-1]
    said = desk("submission tell tiny.rosetta-submission", *again)
    assert "Nothing is told of it now" in said
    assert desk("vault log elders") == before
    desk("vault budget --pause 0")
    desk("submission tell tiny.rosetta-submission", *again)
    assert desk("vault log elders") != before
    assert desk.answers() == 2


def test_a_file_that_is_there_is_not_overwritten(desk: Desk) -> None:
    desk("submission demo tiny --lane data")
    desk("submission show tiny.rosetta-submission")
    path = gold(desk.folder)
    whole = path.read_bytes()
    ask = f"submission run tiny.rosetta-submission {path} --plain"
    assert "gold.json is there already" in desk(f"{ask} --terms tiny-terms.txt -o {path}", code=2)
    assert "is there already" in desk(f"submission tell tiny.rosetta-submission -o {path}", code=2)
    assert "needs --terms FILE" in desk(ask, code=2)
    assert path.read_bytes() == whole
    assert desk.notes() == [DeskAct.RECEIVED]


def test_whoever_stops_at_the_keepers_question_began_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    desk("submission demo tiny --lane data")
    vault(desk)

    def stopped(*_: object, **__: object) -> None:
        raise click.Abort

    monkeypatch.setattr("rosetta_tui.commands.submission.secret_run.read_corpus", stopped)
    desk("submission run tiny.rosetta-submission", *IN_VAULT, code=1)
    assert desk.notes()[-1] is DeskAct.NOT_RUN


def test_a_method_is_rehearsed_again_with_another_model(tmp_path: Path) -> None:
    path = tmp_path / "tiny.rosetta-submission"
    path.write_bytes(sample_bundle(tmp_path / "sample"))
    here = SubmissionDesk(tmp_path / "home")
    kept = here.receive(path)
    here.note(kept.submission, DeskAct.REHEARSED, words=str(ModelHere("http://localhost/v1", "a")))
    kept = here.find(kept.number)
    assert kept.rehearsed
    assert kept.rehearsed_with("a at http://localhost/v1")
    assert not kept.rehearsed_with("b at http://localhost/v1")
    assert not kept.rehearsed_with("")
