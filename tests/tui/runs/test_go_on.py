"""Going on with a run that stopped: failed entries, the budget, and from where it is offered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Checkbox, Input, Static

from corpora.files.problems import CorpusError
from harness.core.run_state import RunState
from harness.events.kinds import Failed, Finished
from harness.store.deletion import erase
from harness.store.file.database import opened
from harness.store.file.openings import Live
from harness.store.runs import read_run, set_live
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.live.panels import banner_words
from rosetta_tui.runs.go_on import GoOnScreen, amount
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.session.starting import resume
from tests.harness.evaluation import chat_plan, corpus, run_corpus
from tests.harness.scripted import Scripted, completion, error, json_answer
from tests.tui.runs.made import noting, stopped
from tests.tui.scenes import RUN_ID
from tests.tui.screens import App, at_rest, lines, notices, press, settle, stands, text

REASON = "The next call could cost up to $2.66, more than the whole budget of $0.5"


async def go_on(pilot: Pilot[Any]) -> None:
    """Press the key; what it asks or begins is worked out in a thread first."""
    await press(pilot, "R")
    await settle(pilot)


async def test_going_on_asks_for_the_failed_ones_and_by_one_click(tmp_path: Path) -> None:
    made = stopped(tmp_path / "s.sqlite", stored=15)
    app = App(made)
    begun = noting(app)
    async with at_rest(app, (120, 36)) as (_, pilot):
        assert "15 of 20 done, 1 of them failed" in text(app)
        assert f"rosetta resume {RUN_ID[:8]} --retry-failed" in text(app)
        for too in (False, True):
            await press(pilot, "R")
            assert stands(app, GoOnScreen)
            assert "5 entries wait. No answer that is stored" in text(app)
            assert "ask again for the failed entry too" in text(app)
            app.screen.query_one(Checkbox).value = too
            await press(pilot, "enter")
            await settle(pilot)
            assert begun.pop() == {"run_id": made.run_id, "options": {}, "retry_failed": too}
            while not stands(app, HomeScreen):
                await press(pilot, "q")
    made = stopped(tmp_path / "t.sqlite", stored=5)
    app = App(made)
    begun = noting(app)
    async with at_rest(app, (120, 36)) as (_, pilot):
        [line] = [line for line in lines(app) if "go on" in line]
        for word, count in (("Stopped", 0), ("go on", 1)):
            await pilot.click(offset=(line.index(word), lines(app).index(line)))
            await settle(pilot)
            await settle(pilot)
            assert len(begun) == count, "there is nothing to choose"
    assert begun == [{"run_id": made.run_id, "options": {}, "retry_failed": False}]


async def test_the_runs_own_screen_offers_to_raise_the_budget(tmp_path: Path) -> None:
    made = stopped(tmp_path / "s.sqlite", stored=5, plan='{"run": {"budget_usd": 0.5}}')
    app = App(made)
    begun = noting(app)
    async with at_rest(app, (160, 36)) as (_, pilot):
        await press(pilot, "enter")
        made.queue(made.started())
        made.queue(made.progress(5, state=RunState.STOPPED))
        await settle(pilot)
        made.queue(Finished(made.run_id, RunState.STOPPED, 5, 0, 20, 3.0, reason=REASON))
        await settle(pilot)
        assert "R Go on" in lines(app)[-1]
        await go_on(pilot)
        assert stands(app, GoOnScreen)
        assert REASON in str(app.screen.query(Static).first().content)
        assert "Nothing of the budget of $0.5000 is spent" in text(app)
        field = app.screen.query_one("#budget", Input)
        assert app.screen.focused is field
        for wrong in ("-3", "0,45", "abc"):
            field.value = ""
            await press(pilot, *wrong, "enter")
            assert field.value == wrong
            assert "A budget is a number above 0, such as 0.45." in text(app)
        field.value = "20"
        await settle(pilot)
        assert "A budget is" not in text(app)
        await press(pilot, "enter")
        await settle(pilot)
    assert begun == [
        {"run_id": made.run_id, "options": {"budget_usd": 20.0}, "retry_failed": False}
    ]


async def test_going_on_without_a_limit_takes_a_second_enter(tmp_path: Path) -> None:
    made = stopped(tmp_path / "s.sqlite", stored=5, plan='{"run": {"budget_usd": 0.5}}')
    set_live(made.store, made.number, RunState.STOPPED, Live(reason=REASON))
    app = App(made)
    begun = noting(app)
    async with at_rest(app, (80, 24)) as (_, pilot):
        await go_on(pilot)
        assert REASON in str(app.screen.query(Static).first().content)
        await press(pilot, "backspace", "backspace", "backspace", "enter")
        assert begun == []
        assert "Empty is no limit" in text(app)
        await press(pilot, "enter")
        await settle(pilot)
    assert [each["options"] for each in begun] == [{"budget_usd": None}]


@pytest.mark.parametrize(
    ("typed", "sum_"),
    [
        *((each, None) for each in ("1_0", "٥", "１０", "1e3", "inf", "nan", "0", "-1", "")),
        *(("0.45", 0.45), (".5", 0.5), ("20", 20.0)),
    ],
)
def test_budget_is_a_plain_number_above_zero(typed: str, sum_: float | None) -> None:
    assert amount(typed) == sum_


def test_failed_entries_are_asked_again(endpoint: Scripted, tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    endpoint.answer = lambda _: error(400)
    heard = run_corpus(path, corpus(30), chat_plan(endpoint.url))
    assert heard.finished.state is RunState.STOPPED
    assert heard.finished.failed > 5
    endpoint.answer = lambda asked: json_answer(completion(asked.source.upper()))
    engine = resume(path, heard.finished.run_id, {}, retry_failed=True)
    engine.start()
    finished = engine.result()
    assert (finished.state, finished.done, finished.failed) == (RunState.COMPLETE, 30, 0)


def test_a_broken_language_card_is_why_a_run_cannot_go_on(
    endpoint: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    path = tmp_path / "rosetta.sqlite"
    endpoint.answer = lambda _: error(401)
    heard = run_corpus(path, corpus(30), chat_plan(endpoint.url))
    (tmp_path / "languages").mkdir(exist_ok=True)
    for language in ("eo", "en"):
        (tmp_path / "languages" / f"{language}.toml").write_text("x = ", "utf-8")
    engine = resume(path, heard.finished.run_id, {}, retry_failed=True)
    engine.start()
    with pytest.raises(CorpusError):
        engine.result()
    [failed] = [each for each in engine.events.drain() if isinstance(each, Failed)]
    assert ".toml: It is no TOML" in failed.message
    assert "fault of the program" not in failed.message
    live = LiveRun()
    live.fold([failed])
    assert f"rosetta resume {heard.finished.run_id[:8]}" in str(banner_words(live))


async def test_run_deleted_by_another_process_is_said_to_be_gone(tmp_path: Path) -> None:
    made = stopped(tmp_path / "s.sqlite", stored=15)
    async with at_rest(App(made), (120, 36)) as (app, pilot):
        with opened(made.path) as store:
            erase(store, read_run(store, made.number))
        home = app.screen
        assert isinstance(home, HomeScreen)
        for act in (home.acts.resume, home.acts.retry):
            act(made.run_id)
            await settle(pilot)
            assert "This run is gone: it was deleted meanwhile." in notices(app)[-1]
            assert app.screen is home
