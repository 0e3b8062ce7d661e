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
from rosetta_tui.commands.leaderboard import SORTS as NAMES
from rosetta_tui.commands.leaderboard import leaderboard
from rosetta_tui.leaderboard import rows as leaderboard_rows
from rosetta_tui.leaderboard.rows import SORTS, ordered
from rosetta_tui.leaderboard.screen import LeaderboardScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.toolkit.messages import RunsCompared
from tests.harness.ranked import play, ranked_corpus
from tests.tui.golden import SMALL, look
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


async def test_leaderboard_looks_as_kept(ranked: Ranked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaderboard_rows, "when", lambda _: "2023-11-14 22:13")
    with closing(open_store(ranked.path)) as store:
        for number, run_id in enumerate(ranked.runs):
            change = "UPDATE runs SET run_id = ? WHERE run_id = ?"
            store.execute(change, (f"0000000{number}-0", run_id))
    async with opened(ranked.path, SMALL) as (app, pilot, _):
        await press(pilot, "right")
        look("leaderboard", app)
        [stated] = {entrant.chrf_signature for entrant in app.screen.rows.items}  # type: ignore[attr-defined]
        assert stated.count("|") > 5
        assert stated in "".join(line.strip() for line in lines(app)), "a signature is never cut"


async def test_frame_stands_before_reading(ranked: Ranked, monkeypatch: pytest.MonkeyPatch) -> None:
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


async def test_lists_are_turned_sorted_marked_and_opened(ranked: Ranked) -> None:
    best, near, worst = ranked.runs
    async with opened(ranked.path, (200, 40)) as (app, pilot, screen):
        assert "list 1 of 3" in text(app)
        assert "OFFICIAL · made · EN→EO · gold standard · 20 entries" in text(app)
        await press(pilot, "c")
        assert app.asked == []
        await press(pilot, "left")
        assert "12 of 30 entries" in text(app)
        assert "a group needs two runs" in text(app)
        await press(pilot, "L")
        assert "12 of 30 entries · 1 run" in text(app)
        await press(pilot, "escape", "right", "right")
        assert "development · 30 entries" in text(app)
        assert "1 run of this corpus is in other lists: other entries (12 of 30)" in text(app)
        first, second, third = [line for line in lines(app) if "◆" in line]
        ranks = [line.split()[:2] for line in (first, second, third)]
        assert ranks == [["1", "1"], ["2", "1"], ["3", "3"]]
        assert second.count("free") == 2
        assert "unknown" not in third, "a dash says it, as in the other columns"
        assert "functional" in first
        assert not any(tier in text(app) for tier in ("deployable", "fluent"))
        assert all(words in text(app) for words in ("review pending", "version:"))
        await press(pilot, "s", *["down"] * 5, "enter")
        assert screen.rows is not None
        assert [e.run.run_id for e in screen.rows.items] == [near, best, worst], "unknown last"
        assert "$/entry ▲" in text(app)
        assert [line.split()[0] for line in lines(app) if "◆" in line] == ["2", "1", "3"]
        await press(pilot, "s", "enter")
        assert [e.run.run_id for e in screen.rows.items] == [best, near, worst]
        await press(pilot, "c", "space", "down", "space", "c")
        assert app.asked == [(best, near), (best, worst)]
        assert sum("●" in line.split()[0] for line in lines(app) if "◆" in line) == 2
        with closing(open_store(ranked.path)) as store:
            store.execute("UPDATE runs SET setup_hash = 'same'")
        await press(pilot, "r", "a")
        assert screen.rows.count == 1
        assert "best of each set-up" in text(app)
        await press(pilot, "a")
        assert screen.rows.count == 3
        await press(pilot, "home", "enter")
        assert isinstance(app.screen, LiveScreen)


def test_every_dimension_sorts_best_first_and_turned(ranked: Ranked) -> None:
    with closing(open_store(ranked.path)) as store:
        board = next(each for each in leaderboards(store) if each.entries == 30)
    assert tuple(SORTS) == NAMES
    for name, dimension in SORTS.items():
        for turned in (False, True):
            values = [dimension.of(each) for each in ordered(board, name, turned=turned)]
            known = [each for each in values if each is not None]
            assert values == [*known, *[None] * (len(values) - len(known))]
            assert known == sorted(known, reverse=dimension.high_first is not turned)


async def test_an_empty_leaderboard_says_what_to_do(tmp_path: Path) -> None:
    async with opened(tmp_path / "s.sqlite", (80, 24)) as (app, pilot, _):
        assert "Nothing to rank yet." in text(app)
        await press(pilot, "c", "space", "s", "escape", "L", "left", "a", "r", "q")
        assert "Nothing to rank" not in text(app)


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


def test_lists_as_csv_are_harmless_in_a_spreadsheet(
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


def test_stated_tier_is_its_word_alone(ranked: Ranked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(ranked.path.parent))
    best, said = ranked.runs[0], "states gds-verified; nothing here shows it"
    with closing(open_store(ranked.path)) as store:
        state = (
            "UPDATE runs SET run_card = json_set(run_card, '$.verification_tier', 'gds-verified')"
        )
        store.execute(f"{state} WHERE run_id = ?", (best,))
    printed = CliRunner().invoke(leaderboard, []).stdout
    assert f"{best[:8]} {said}" in printed
    assert printed.count("gds-verified") == 1
    runs = json.loads(CliRunner().invoke(leaderboard, ["--json"]).stdout)[1]["runs"]
    found = [(each["verification_tier"], each["verification_tier_stated"]) for each in runs]
    assert sorted(found, key=str) == [("self-benchmarked", said), *[("self-benchmarked", None)] * 2]
    refused = CliRunner().invoke(leaderboard, ["--dataset", "none[/]"])
    assert isinstance(refused.exception, UsageError)
    assert "none[/]" in str(refused.exception)
