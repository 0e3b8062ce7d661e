"""The leaderboard on the screen and on the command line: one list at a time, and why others are others."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from textual import on
from textual.pilot import Pilot

import harness.leaderboard.ranking
from corpora.model.entry import Segment
from harness.core.failures import UsageError
from harness.leaderboard.ranking import Board, leaderboards
from harness.store.file.database import open_store
from harness.store.runs import find_run
from rosetta_tui.commands.leaderboard import SORTS as NAMES
from rosetta_tui.commands.leaderboard import leaderboard
from rosetta_tui.leaderboard import rows as leaderboard_rows
from rosetta_tui.leaderboard.rows import SORTS, ordered
from rosetta_tui.leaderboard.screen import LeaderboardScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.toolkit.messages import RunsCompared
from tests.harness.ranked import play, ranked_corpus
from tests.tui.golden import SIZES, compare
from tests.tui.scenes import HOSTILE
from tests.tui.screens import App, lines, showing, text
from tests.tui.screens import press_in_turn as press


class Compared(App):
    """Notes which runs are to be compared, in the place of their screen."""

    def __init__(self, path: Path) -> None:
        super().__init__(None, path)
        self.asked: list[tuple[str, ...]] = []

    @on(RunsCompared)
    def _note(self, message: RunsCompared) -> None:
        message.prevent_default()
        self.asked.append(message.run_ids)


@asynccontextmanager
async def opened(
    path: Path, size: tuple[int, int]
) -> AsyncIterator[tuple[Compared, Pilot[Any], LeaderboardScreen]]:
    """Run the app on a terminal of ``size`` columns and lines with the leaderboard open."""
    screen = LeaderboardScreen(path)
    async with showing(Compared(path), screen, size) as (app, pilot):
        yield app, pilot, screen


@dataclass(frozen=True)
class Ranked:
    """A store with three runs of one list, best first, and two that belong elsewhere."""

    path: Path
    runs: tuple[str, str, str]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Ranked:
    path = tmp_path_factory.mktemp("ranked") / "rosetta.sqlite"
    corpus = ranked_corpus(30)
    best = play(path, corpus, 30, "alpha", cost=0.004)
    near = play(path, corpus, 29, "beta", cost=0.0)
    worst = play(path, corpus, 2, "gamma")
    play(path, corpus, 30, "alpha", positions=range(12))
    play(path, ranked_corpus(20, Segment.GOLD_STANDARD), 10, "alpha")
    return Ranked(path, (best, near, worst))


@pytest.fixture
def ranked(played: Ranked, tmp_path: Path) -> Ranked:
    return replace(played, path=Path(shutil.copy(played.path, tmp_path)))


@pytest.mark.parametrize("size", SIZES)
async def test_golden(
    size: tuple[int, int], ranked: Ranked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaderboard_rows, "when", lambda _: "2023-11-14 22:13")
    path, runs = ranked.path, ranked.runs
    store = open_store(path)
    for number, run_id in enumerate(runs):
        store.execute("UPDATE runs SET run_id = ? WHERE run_id = ?", (f"0000000{number}-0", run_id))
    store.close()
    async with opened(path, size) as (app, pilot, _):
        await press(pilot, "right")
        compare("leaderboard", size, app)
        [stated] = {entrant.chrf_signature for entrant in app.screen.rows.items}  # type: ignore[attr-defined]
        assert stated.count("|") > 5
        assert stated in "".join(line.strip() for line in lines(app)), "a signature is never cut"


async def test_a_frame_stands_before_anything_is_read_and_breakdowns_never_are(
    ranked: Ranked, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = App(None, ranked.path)
    seen: list[str] = []
    read = harness.leaderboard.ranking.leaderboards

    def look_first(store: sqlite3.Connection) -> list[Board]:
        seen.append(app.call_from_thread(lambda: text(app)))
        return read(store)

    monkeypatch.setattr("rosetta_tui.leaderboard.screen.leaderboards", look_first)
    async with showing(app, (screen := LeaderboardScreen(ranked.path)), (160, 40)):
        assert "Reading …" in seen[0]
        assert screen.rows is not None
        assert all("by_difficulty" not in each.scores for each in screen.rows.items)


async def test_official_comes_first_and_lists_are_turned(ranked: Ranked) -> None:
    path = ranked.path
    async with opened(path, (160, 40)) as (app, pilot, _):
        assert "list 1 of 3" in text(app)
        assert "OFFICIAL · made · EN→EO · gold standard · 20 entries" in text(app)
        await press(pilot, "right")
        assert "development · 30 entries" in text(app)
        assert "1 run of this corpus is in other lists: other entries (12 of 30)" in text(app)
        await press(pilot, "left", "left")
        assert "12 of 30 entries" in text(app)
        assert "a group needs two runs" in text(app)
        await press(pilot, "L")
        assert "12 of 30 entries · 1 run" in text(app)
        await press(pilot, "escape", "q")
        assert "Leaderboard" not in text(app).splitlines()[0]


async def test_ranks_groups_and_free_runs_are_said(ranked: Ranked) -> None:
    path = ranked.path
    async with opened(path, (200, 40)) as (app, pilot, _):
        await press(pilot, "right")
        first, second, third = [line for line in lines(app) if "◆" in line]
        assert first.split()[:2] == ["1", "1"]
        assert second.split()[:2] == ["2", "1"]
        assert third.split()[:2] == ["3", "3"]
        assert second.count("free") == 2
        assert "unknown" not in third, "a dash says it, as in the other columns"
        assert "functional" in first
        assert "deployable" not in text(app)
        assert "fluent" not in text(app)
        assert "review pending" in text(app)
        assert "version:" in text(app)


async def test_sorting_keeps_the_ranks_and_puts_the_unknown_last(ranked: Ranked) -> None:
    path = ranked.path
    best, near, worst = ranked.runs
    async with opened(path, (160, 40)) as (app, pilot, screen):
        await press(pilot, "right", "s", *["down"] * 5, "enter")
        assert screen.rows is not None
        assert [e.run.run_id for e in screen.rows.items] == [near, best, worst]
        assert "$/entry ▲" in text(app)
        assert [line.split()[0] for line in lines(app) if "◆" in line] == ["2", "1", "3"]
        await press(pilot, "s", "enter")
        assert [e.run.run_id for e in screen.rows.items] == [best, near, worst]


def test_every_dimension_sorts_best_first_and_turned(ranked: Ranked) -> None:
    path = ranked.path
    store = open_store(path)
    board = next(each for each in leaderboards(store) if each.entries == 30)
    store.close()
    assert tuple(SORTS) == NAMES
    for name, dimension in SORTS.items():
        for turned in (False, True):
            values = [dimension.of(each) for each in ordered(board, name, turned=turned)]
            known = [each for each in values if each is not None]
            assert values == [*known, *[None] * (len(values) - len(known))]
            assert known == sorted(known, reverse=dimension.high_first is not turned)


async def test_marked_runs_are_compared_and_the_chosen_one_is_opened(ranked: Ranked) -> None:
    path = ranked.path
    best, near, worst = ranked.runs
    async with opened(path, (120, 30)) as (app, pilot, _):
        await press(pilot, "c")
        assert app.asked == []
        await press(pilot, "right", "c", "space", "down", "space", "c")
        assert app.asked == [(best, near), (best, worst)]
        assert sum("●" in line.split()[0] for line in lines(app) if "◆" in line) == 2
        await press(pilot, "home", "enter")
        assert isinstance(app.screen, LiveScreen)


async def test_the_best_of_each_set_up_is_behind_a_key(ranked: Ranked) -> None:
    path = ranked.path
    store = open_store(path)
    store.execute("UPDATE runs SET setup_hash = 'same'")
    store.close()
    async with opened(path, (120, 30)) as (app, pilot, screen):
        await press(pilot, "right", "a")
        assert screen.rows is not None
        assert screen.rows.count == 1
        assert "best of each set-up" in text(app)
        await press(pilot, "a")
        assert screen.rows.count == 3


async def test_an_empty_leaderboard_says_what_to_do(tmp_path: Path) -> None:
    async with opened(tmp_path / "s.sqlite", (80, 24)) as (app, pilot, _):
        assert "Nothing to rank yet." in text(app)
        await press(pilot, "c", "space", "s", "escape", "L", "left", "a", "r", "q")
        assert "Nothing to rank" not in text(app)


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_hostile_names_do_nothing(size: tuple[int, int], ranked: Ranked) -> None:
    path, runs = ranked.path, ranked.runs
    store = open_store(path)
    for run_id, words in zip(runs, (HOSTILE[0], HOSTILE[1], HOSTILE[3] + HOSTILE[6]), strict=True):
        number = find_run(store, run_id).id
        store.execute(
            "UPDATE runs SET model_slug = ?, condition = ?, dataset_id = ?, language_pair = ?,"
            " run_card = json_set(run_card, '$.dataset.version', ?,"
            " '$.scores.signatures.chrf_plus_plus', ?, '$.verification_tier', ?) WHERE id = ?",
            (words, words, HOSTILE[1], HOSTILE[4], words, words * 18, words, number),
        )
    store.close()
    async with opened(path, size) as (app, pilot, _):
        for key in ("right", "L", "escape", "s", "escape", "space", "down", "right"):
            await press(pilot, key)
            assert not any(
                ord(each) < 32 or 0x7F <= ord(each) < 0xA0 for each in "".join(lines(app))
            )
        assert app.is_running


def test_the_command_says_the_same(ranked: Ranked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(ranked.path.parent / "empty"))
    empty = CliRunner().invoke(leaderboard, [])
    assert (empty.exit_code, "nothing to rank yet" in empty.stdout) == (0, True)
    monkeypatch.setenv("ROSETTA_HOME", str(ranked.path.parent))
    best, near, worst = ranked.runs
    printed = CliRunner().invoke(leaderboard, []).stdout
    assert printed.startswith("OFFICIAL · made · EN→EO · gold standard · 20 entries")
    assert "1 run of this corpus is in other lists: other entries (12 of 30)" in printed
    assert "functional" in printed
    assert "deployable" not in printed
    found = json.loads(CliRunner().invoke(leaderboard, ["--json", "--sort", "cost"]).stdout)
    assert [each["official"] for each in found] == [True, False, False]
    runs = found[1]["runs"]
    assert [each["run_id"] for each in runs] == [near, best, worst]
    assert [each["rank"] for each in runs] == [2, 1, 3]
    assert [each["cluster"] for each in runs] == [1, 1, 3]
    assert [each["cost_adjusted"] is None for each in runs] == [True, False, True]
    assert {each["verification_tier"] for each in runs} == {"self-benchmarked"}
    best_only = json.loads(CliRunner().invoke(leaderboard, ["--json", "--best"]).stdout)
    assert len(best_only[1]["runs"]) <= 3


def test_lists_as_one_table_are_harmless_in_a_spreadsheet(
    ranked: Ranked, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(ranked.path.parent))
    formula = '=HYPERLINK("http://x")\x1b[2J'
    with closing(open_store(ranked.path)) as store:
        store.execute(
            "UPDATE runs SET setup = json_set(setup, '$.method_name', ?) WHERE run_id = ?",
            (formula, ranked.runs[1]),
        )
    file = tmp_path / "lists.csv"
    done = CliRunner().invoke(leaderboard, ["--csv", str(file)])
    assert (done.exit_code, done.stdout) == (0, "")
    assert "4 rows" in done.stderr
    assert "List 1 is left out" in done.stderr  # gold standard: its entries are secret
    content = file.read_bytes().decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(content, newline="")))
    assert [row["list"] for row in rows] == ["2", "2", "2", "3"]
    assert [row["run_id"] for row in rows[:3]] == list(ranked.runs)
    assert rows[1]["method_name"].startswith("'=HYPERLINK")
    assert "\x1b" not in content
    printed = CliRunner().invoke(leaderboard, []).stdout
    assert "=HYPERLINK" in printed
    assert "\x1b" not in printed
    told = json.loads(CliRunner().invoke(leaderboard, ["--json"]).stdout)
    assert [row["smallest_difference"] for row in rows[:3]] == [
        str(told[1]["smallest_difference"])
    ] * 3
    assert told[1]["smallest_difference"] > 1
    assert rows[3]["smallest_difference"] == ""
    assert told[1]["runs"][1]["method_name"] == formula
    assert f"30 entries show differences of {told[1]['smallest_difference']:.1f} chrF++" in printed
    with pytest.raises(UsageError, match="is there already"):
        leaderboard.main(["--csv", str(file)], standalone_mode=False)
    assert CliRunner().invoke(leaderboard, ["--csv", str(file), "--overwrite"]).exit_code == 0
    with pytest.raises(UsageError, match="Leave one of them out"):
        leaderboard.main(["--csv", str(file), "--json"], standalone_mode=False)


async def test_a_tier_that_a_card_states_is_shown_as_its_word_alone(
    ranked: Ranked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(ranked.path.parent))
    best = ranked.runs[0]
    with closing(open_store(ranked.path)) as store:
        store.execute(
            "UPDATE runs SET run_card = json_set(run_card, '$.verification_tier', 'gds-verified')"
            " WHERE run_id = ?",
            (best,),
        )
    said = "states gds-verified; nothing here shows it"
    printed = CliRunner().invoke(leaderboard, []).stdout
    assert f"{best[:8]} {said}" in printed
    assert printed.count("gds-verified") == 1
    runs = json.loads(CliRunner().invoke(leaderboard, ["--json"]).stdout)[1]["runs"]
    found = [(each["verification_tier"], each["verification_tier_stated"]) for each in runs]
    assert sorted(found, key=str) == [("self-benchmarked", said), *[("self-benchmarked", None)] * 2]
    async with opened(ranked.path, (200, 40)) as (app, pilot, _):
        await press(pilot, "right")
        words = " ".join(text(app).split())
        assert said in words
        assert words.count("gds-verified") == 1


def test_a_corpus_without_a_list_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    result = CliRunner().invoke(leaderboard, ["--dataset", "none[/]"])
    assert isinstance(result.exception, UsageError)
    assert "none[/]" in str(result.exception)
