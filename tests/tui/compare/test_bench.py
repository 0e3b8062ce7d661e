"""The bench: entries asked again in another way, and the walk from a poor run to a better one."""

from __future__ import annotations

import itertools
import json
import threading
from pathlib import Path

import pytest

from corpora.samples import DEMO_CORPUS, sample_path
from harness import api
from harness.card.reading import block
from harness.compare.parts import gain_by_chance, worst_places
from harness.privacy import remember
from harness.store.run_list import list_runs
from harness.store.runs import find_run, read_card
from harness.store.sqlite.database import opened
from rosetta_tui.compare.bench_screen import BenchScreen
from rosetta_tui.compare.screen import CompareScreen
from rosetta_tui.entry.pane import EntryPane
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.new_run.screen import NewRunScreen
from rosetta_tui.request.draft import RunDraft
from rosetta_tui.session.engine import Engine
from rosetta_tui.toolkit.form.form_line import FormLine
from tests.harness.scripted import Answer, Asked, completion, error, json_answer, serving
from tests.tui.new_run.form import Starting, path
from tests.tui.scenes import HOSTILE
from tests.tui.screens import press, showing, stands, text, until

__all__ = ["path"]

ENTRIES = api.open_corpus(api.CorpusRequest(sample_path(DEMO_CORPUS))).entries
RIGHT = {entry.source: entry.reference for entry in ENTRIES}
PREAMBLE = "Here is the translation: "


def answer(asked: Asked) -> Answer:
    """Answer right where the prompt says `ONLY`; else two in three with an introduction, the others without the last word."""
    right = RIGHT[asked.source]
    if "ONLY" in asked.body["messages"][0]["content"]:
        return json_answer(completion(right))
    return json_answer(completion(PREAMBLE + right if len(asked.source) % 3 else right.rsplit(" ", 1)[0]))


def draft(url: str, **more: str) -> RunDraft:
    corpus = str(sample_path(DEMO_CORPUS))
    return RunDraft.of({"file": corpus, "method": "chat", "endpoint": url, "model": "tiny", "limit": "60", **more})


@pytest.mark.costly("three runs and five screens")
async def test_walk_from_a_poor_run_to_a_better_one(path: Path, tmp_path: Path) -> None:
    prompt = tmp_path / "only.txt"
    prompt.write_text("Translate from {source_language} to {target_language}. ONLY the translation.", "utf-8")
    with serving(answer) as server:
        app = Starting(path)
        async with showing(app, NewRunScreen(path, draft(server.url)), (120, 36)) as (_, pilot):
            await press(pilot, "ctrl+s")
            await until(pilot, lambda: stands(app, LiveScreen) and "Complete." in text(app))
            await until(pilot, lambda: isinstance(app.screen, LiveScreen) and bool(app.screen.reasons))
            assert "begin alike" in text(app)
            await press(pilot, "w", "enter")
            await until(pilot, lambda: "why:beginning" in text(app))
            await press(pilot, "enter", "B")
            await until(pilot, lambda: "One entry says nothing about the whole" in text(app))
            await press(pilot, "escape", "q", "B")
            await until(pilot, lambda: stands(app, BenchScreen))
            bench = app.screen
            assert isinstance(bench, BenchScreen)
            assert "the 20 worst of run" in text(app)
            assert "by coaching · ↓ lists more" in text(app)
            await press(pilot, "tab", "tab", "tab", "down")  # the temperature has no list
            assert bench.table.has_focus
            await press(pilot, "shift+tab", "up", "up")  # nor has a closed list any ↑
            assert [line.field.name for line in bench.query(FormLine) if line.has_focus_within] == ["coaching"]
            await press(pilot, "up")
            calls = len(server.asked)
            await press(pilot, *str(prompt))
            await until(pilot, lambda: "^s asks again" in text(app))
            assert len(server.asked) == calls, "an estimate asks nobody"
            await press(pilot, "ctrl+s")
            await until(pilot, lambda: bench.live.complete)
            await until(pilot, lambda: "20 better, 0 worse" in text(app))
            assert len(server.asked) == calls + 20
            assert "These 20 were chosen for their low scores" in text(app)
            await press(pilot, "a")
            await until(pilot, lambda: stands(app, NewRunScreen))
            await press(pilot, "ctrl+s")
            await until(pilot, lambda: stands(app, LiveScreen) and "Complete." in text(app))
            assert len(server.asked) == calls + 60, "what the bench was answered comes from the cache"
            await press(pilot, "q", "q", "q", "q")
            assert stands(app, HomeScreen), app.screen_stack
            await press(pilot, "m", "down", "down", "m", "c")
            await until(pilot, lambda: stands(app, CompareScreen) and "is better than" in text(app))
    with opened(path) as store:
        poor, tried, better = (find_run(store, name) for name in ("last~2", "last~1", "last"))
        cards = [read_card(store, run.id) or {} for run in (poor, tried, better)]
    assert [len(run.positions) for run in (poor, tried, better)] == [60, 20, 60]
    assert (tried.setup.condition, better.setup.condition) == ("bench", poor.setup.condition)
    scores = [block(card, "scores")["chrf_plus_plus"] for card in cards]
    poor_score = scores[0]
    assert isinstance(poor_score, float)
    assert poor_score < 90
    assert scores[1:] == [100, 100]


def made(path: Path, url: str, **more: str) -> str:
    """Make a run of six entries; gives its id."""
    wanted = draft(url, **{"limit": "6", **more})
    engine = Engine(api.start(path, wanted.request(wanted.corpus(path))))
    engine.start()
    return engine.result().run_id


def bench_of(app: Starting, path: Path, run_id: str, places: list[int], *, worst: bool = True) -> BenchScreen:
    return BenchScreen(path, run_id, places, app.start_run, worst=worst)


def entry_of(screen: BenchScreen) -> str:
    """Return what the pane shows."""
    return "\n".join(row.plain for row in screen.query_one(EntryPane).rows)


@pytest.mark.costly("three runs over a server")
async def test_hostile_answers_failures_and_stops_are_shown_in_words(path: Path) -> None:
    held = threading.Event()
    with serving(answer) as server:
        run_id = made(path, server.url, temperature="0.5")
        hostile = itertools.cycle(HOSTILE)

        def worse(asked: Asked) -> Answer:
            return error(400, "\x1b]0;title\x07") if asked.number % 3 else json_answer(completion(next(hostile)))

        app = Starting(path)
        screen = bench_of(app, path, run_id, [0, 1, 2])
        async with showing(app, screen, (160, 48)) as (_, pilot):
            assert "nothing is changed, so the cache is not used" in text(app)
            server.answer = worse
            await press(pilot, "ctrl+s")
            await until(pilot, lambda: screen.live.over)
            await until(pilot, lambda: "2 failed" in text(app) and "✗ failed" in text(app))
            for _ in range(3):
                assert "Before → ref." in entry_of(screen)
                await press(pilot, "down")
            assert not {"\x1b", "\x07", "\u202e"} & {*text(app), *entry_of(screen)}
            server.answer = lambda _: json_answer(completion("x"), until=held.is_set)
            await press(pilot, "ctrl+s")
            await until(pilot, lambda: "asking … 0 of 3" in text(app))
            assert "Nothing was asked again yet" not in text(app)
            await press(pilot, "ctrl+s", "q")
            assert "Leaving stops that" in text(app)
            await press(pilot, "escape", "x")
            await until(pilot, lambda: screen.live.over)
            assert not screen.asking
            held.set()
    with opened(path) as store:
        assert [run.state for run in list_runs(store)] == ["stopped", "complete", "complete"]
        assert [run.tags for run in list_runs(store)][:2] == [("bench",), ("bench",)]


async def test_secret_entries_go_to_no_other_machine(path: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.json"
    dataset = {"id": "made", "source_language": "en", "target_language": "eo"}
    rows = [{"id": n, "source": f"kanario {n}", "reference": "r", "segment": "gold_standard"} for n in range(6)]
    corpus.write_text(json.dumps({"dataset": dataset, "entries": rows}))
    with serving(lambda _: json_answer(completion("birdo"))) as server:
        remember(f"{server.url}")
        run_id = made(path, server.url, file=str(corpus))
        app, calls = Starting(path), len(server.asked)
        screen = bench_of(app, path, run_id, [0, 1])
        async with showing(app, screen, (120, 36)) as (_, pilot):
            assert screen.facts is not None
            screen.facts.values = {**screen.facts.values, "endpoint": "https://api.example.org/v1"}
            await press(pilot, "ctrl+s")
            assert "would send them to another machine" in " ".join(text(app).split())
            assert screen.session is None
            assert screen.holds_secret
        assert len(server.asked) == calls


async def test_runs_that_cannot_be_asked_otherwise_say_why(path: Path) -> None:
    replayed = RunDraft.of({"file": str(sample_path(DEMO_CORPUS)), "method": "copy-source", "limit": "6"})
    engine = Engine(api.start(path, replayed.request(replayed.corpus(path))))
    engine.start()
    app = Starting(path)
    screen = bench_of(app, path, engine.result().run_id, [0])
    async with showing(app, screen, (80, 24)) as (_, pilot):
        assert "Nothing can be asked again here." in text(app)
        assert "no prompt, coaching, model or temperature" in " ".join(text(app).split())
        assert "output before" not in text(app), "no table without rows"
        await press(pilot, "ctrl+s", "a", "q")
        assert not stands(app, BenchScreen)


@pytest.mark.costly("four runs")
def test_gain_by_chance_is_what_other_runs_gain_there_beyond_elsewhere(path: Path) -> None:
    with serving(answer) as server:
        run_id = made(path, server.url)
        with opened(path) as store:
            run = find_run(store, run_id)
            assert gain_by_chance(store, run, [0, 1]) is None, "there is no other run"
        made(path, server.url, condition="again")  # equal to the letter: it tells nothing of chance
        made(path, server.url, limit="2", temperature="0.3")
        other = made(path, server.url, temperature="0.4")
        values = {run_id: [10, 20, 30, 40, 50, 60], other: [25, 31, 32, 42, 52, 62]}
        with opened(path) as store:
            for name, numbers in values.items():
                for position, value in enumerate(numbers):
                    store.execute(
                        "UPDATE results SET headline = ? WHERE run = ? AND position = ?",
                        (value, find_run(store, name).id, position),
                    )
            assert worst_places(store, run, most=2) == [0, 1]
            assert worst_places(store, run, {5, 3, 4}, most=2) == [3, 4]
            # on the two: (15 + 11) / 2 = 13; over all six: (15 + 11 + 2 + 2 + 2 + 2) / 6 = 5.67; the repetition: 0 and 0 less
            again = find_run(store, "last~2")
            assert again.setup.condition == "again"
            store.execute(
                "UPDATE results SET headline = (SELECT headline FROM results r WHERE r.run = ? AND r.position = results.position) WHERE run = ?",
                (run.id, again.id),
            )
            found = gain_by_chance(store, run, [0, 1])
        assert found is not None
    assert (round(found.gain, 6), found.runs) == (round(13 - 34 / 6, 6), 1)
