"""Floors of a run: worked out while it waits for replies, and exact however it ends."""

import time
from contextlib import closing
from pathlib import Path

import pytest

from harness.core.failures import RunState
from harness.run import recorder
from harness.run.events import Control, EntryScored, Event
from harness.run.following import Follower
from harness.setup.scoring_tools import floor_work, stored_floors
from harness.store.file.database import open_store
from harness.store.file.openings import Floor, Live, set_opening
from harness.store.runs import find_run, set_live
from rosetta_tui.live.scores import score_lines
from rosetta_tui.session.picture import LiveRun
from scoring.card.floors import floors
from scoring.core.specification import Tier
from scoring.metrics.inventory import make_metrics, surface_setup
from scoring.words.source_words import Resources
from tests.harness.evaluation import (  # fmt: skip
    FEW,
    Heard,
    chat_plan,
    corpus,
    kept,
    resume,
    run_corpus,
    sealed_card,
)
from tests.harness.scripted import Answer, Asked, Scripted, translated

SIZE = 150


@pytest.fixture(autouse=True)
def worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each run work its floors out; those of other tests know them beforehand."""
    monkeypatch.setattr(recorder, "floor_work", floor_work)


def expected() -> tuple[Floor, ...]:
    given = corpus(SIZE)
    setup = surface_setup("en", "eo", given.entries).model_copy(update={"metrics": FEW})
    metrics = make_metrics(Resources(setup, entries=given.entries))
    return stored_floors(floors(given.entries, metrics))


@pytest.mark.parametrize("how", ["", "drain", "stop"])
def test_floors_are_exact_however_a_run_ends(
    endpoint: Scripted, store_path: Path, how: str
) -> None:
    begun_with: list[object] = []
    ended: list[Event] = []

    def answer(asked: Asked) -> Answer:
        if not begun_with:
            begun_with.append(kept(store_path).run.opening.floors)
        held = how and int(asked.source.split()[-1]) > 30
        return translated(asked, until=(lambda: bool(ended)) if held else None)

    def end(event: Event, control: Control) -> None:
        if how and isinstance(event, EntryScored) and event.result.position >= 20:
            getattr(control, how)()
            ended.append(event)

    endpoint.answer = answer
    heard = run_corpus(store_path, corpus(SIZE), chat_plan(endpoint.url), Heard(react=end))
    assert begun_with == [None], "the first call goes out before the floors are known"
    unfinished = [None] if how == "stop" else []  # nobody waits for them then
    assert kept(store_path).run.opening.floors in [expected(), *unfinished]
    if how:
        assert heard.finished.state is RunState.STOPPED
        heard = resume(store_path)
    assert kept(store_path).run.opening.floors == expected()
    assert [floor["chrf_plus_plus"] for floor in sealed_card(store_path)["floors"]] == [
        floor.chrf for floor in expected()
    ]
    again = run_corpus(store_path, corpus(SIZE), chat_plan(endpoint.url))
    assert again.started.floors == expected(), "the next run on the same entries has them at once"


def test_floors_so_far_are_shown_with_their_entries(endpoint: Scripted, store_path: Path) -> None:
    def end(event: Event, control: Control) -> None:
        if isinstance(event, EntryScored):
            control.stop()

    plan = chat_plan(endpoint.url)
    run_corpus(store_path, corpus(SIZE), plan, Heard(react=end))
    for part in ((), PART):
        with closing(open_store(store_path)) as connection:
            run = find_run(connection, "last")
            set_opening(connection, run.id, run.opening.changed(floors=None))
            set_live(connection, run.id, RunState.RUNNING, Live(floors=part, at=time.time()))
        with closing(Follower(store_path, "last")) as follower:
            live = LiveRun()
            live.fold(follower.drain())
        assert live.progress is not None
        assert live.floors == part
        assert live.claim is not None
        assert (live.claim.claimable_tier is Tier.UNSCORED) is not bool(part)
        shown = "\n".join(line.plain for line in score_lines(live))
        assert ("on 64 entries" in shown) is bool(part)


PART = (Floor("source", 0.5, 40.0, FEW, 64),)
