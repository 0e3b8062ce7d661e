"""A submission that asks a model over texts of a vault: its log says so before the first question, and how many there were."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.core.failures import HarnessError
from harness.submission.desk import DeskAct, SubmissionDesk
from harness.submission.lanes import ModelHere
from harness.vault.opening import VaultOpening
from rosetta_tui.app import showing
from tests.harness.box.making import needs_engine
from tests.harness.scripted import Scripted, completion, json_answer, serving
from tests.harness.submission.made import MAKER, resigned
from tests.tui.commands.submission_desk import CANARY, IN_VAULT, Desk, desk_here, vault

__all__ = ["desk_here"]

CHAT = {"lane": "data", "method": "chat", "options": {"temperature": 0.0}, "files": {}, "made_for": "tiny"}  # fmt: skip
CODE = {"lane": "code", "entry": "asking:translate", "options": {}}
ASKING = b"""
from rosetta_box import ask

def translate(texts):
    return [ask("tiny", [{"role": "user", "content": each}]) for each in texts for _ in "12"][::2]
"""


@pytest.fixture
def model() -> Iterator[Scripted]:
    with serving(lambda _: json_answer(completion("saluton"))) as made:
        yield made


def ready(desk: Desk, model: Scripted, lane: dict[str, Any], changed: dict[str, bytes | None]) -> str:  # fmt: skip
    """Make a submission that asks the model, rehearsed, and a vault; returns the options that name the model."""
    desk("submission demo tiny --lane data")
    path = desk.folder / "tiny.rosetta-submission"
    path.write_bytes(resigned(path.read_bytes(), changed, method=lane, by=MAKER.public.signing_key))
    here = ModelHere(model.url, "tiny")
    kept = SubmissionDesk(desk.home).receive(path)
    SubmissionDesk(desk.home).note(kept.submission, DeskAct.REHEARSED, words=str(here))
    vault(desk)
    return f"submission run {path.name} --endpoint {here.endpoint} --model {here.model} --trust-local-server"


def said(desk: Desk) -> list[str]:
    """The lines of the vault's log about the model, oldest first."""
    return [each for each in desk("vault log elders").splitlines() if " tiny at http" in each]


def test_the_log_has_the_model_before_its_first_question_and_their_number_after(desk: Desk, model: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    ask = ready(desk, model, CHAT, {})
    before: list[list[str]] = []

    def looked(*given: Any) -> Any:
        before.append(said(desk))
        assert not model.asked
        return showing.to_the_end(*given)

    monkeypatch.setattr("rosetta_tui.commands.submission.secret_run.to_the_end", looked)
    desk(ask, *IN_VAULT)
    [[begun]] = before
    assert "let the method of the run" in begun
    assert f"tiny at {model.url}" in begun
    [first, last] = said(desk)
    assert first == begun
    assert "counted 30 questions of the method" in last
    assert len(model.asked) == 30
    assert CANARY not in (desk.folder / "elders" / "log.jsonl").read_text("utf-8")


@needs_engine
def test_questions_of_code_in_a_box_are_counted_at_the_gateway(desk: Desk, model: Scripted) -> None:  # fmt: skip
    changed: dict[str, bytes | None] = {"code/asking.py": ASKING, "data/words.tsv": None}
    desk(ready(desk, model, CODE, changed), *IN_VAULT)
    [_, last] = said(desk)
    assert "counted 60 questions" in last
    assert len(model.asked) == 60


def test_a_method_that_asks_no_model_has_no_line(desk: Desk) -> None:
    desk("submission demo tiny --lane data")
    vault(desk)
    desk("submission run tiny.rosetta-submission", *IN_VAULT)
    assert "ask " not in desk("vault log elders")


@pytest.mark.parametrize(("at", "code", "questions"), [(1, 2, 0), (2, 0, 30)])
def test_a_log_that_cannot_be_written_keeps_the_first_question_back_and_no_run(desk: Desk, model: Scripted, monkeypatch: pytest.MonkeyPatch, at: int, code: int, questions: int) -> None:  # fmt: skip
    """The stick with the vault is pulled: before the first line nothing is asked; at the end the run stays, and its count is said."""
    ask = ready(desk, model, CHAT, {})
    monkeypatch.setattr(VaultOpening, "note_model", _pulled_at(VaultOpening.note_model, at))
    words = desk(ask, *IN_VAULT, code=code)
    assert len(model.asked) == questions
    assert ("could not be told how often the model was asked (30 times)" in words) is (at == 2)
    assert desk.stands()[0] == ("rehearsed" if at == 1 else "told")


def _pulled_at(note: Callable[..., None], at: int) -> Callable[..., None]:
    times: list[int] = []

    def noted(*given: Any, **more: Any) -> None:
        times.append(1)
        if len(times) == at:
            raise HarnessError("The stick is gone.")
        note(*given, **more)

    return noted
