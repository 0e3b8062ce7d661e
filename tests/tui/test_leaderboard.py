"""The leaderboard on the screen and on the command line: one list at a time, and why others are others."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.cells import cell_len
from textual import on
from textual.pilot import Pilot

from harness.core.failures import UsageError
from harness.leaderboard.official import take
from harness.leaderboard.ranking import leaderboards
from harness.release import FOLDER
from harness.store.attachments import Attached, attach_certificate
from harness.store.sqlite.database import open_store
from rosetta_tui.app import launch
from rosetta_tui.commands import rosetta
from rosetta_tui.commands.leaderboard import SORTS as NAMES
from rosetta_tui.commands.leaderboard import leaderboard
from rosetta_tui.leaderboard import rows as leaderboard_rows
from rosetta_tui.leaderboard.rows import SORTS, caveats_of, entrant_cells, ordered, signed_tier_of
from rosetta_tui.leaderboard.screen import LeaderboardScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.show.run_facts import LINES, listed_runs
from rosetta_tui.sweep.screen import SweepScreen
from rosetta_tui.toolkit.messages import RunsCompared
from tests.harness.release.made import Office, hidden
from tests.harness.sweep.made import AXES, MadeCell, cells, made_misses, made_sweep
from tests.tui.conftest import Played
from tests.tui.golden import SMALL, look
from tests.tui.screens import App, lines, settle, showing, text
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
async def opened(path: Path, size: tuple[int, int]) -> AsyncIterator[tuple[Compared, Pilot[Any], LeaderboardScreen]]:
    screen = LeaderboardScreen(path)
    async with showing(Compared(path), screen, size) as (app, pilot):
        yield app, pilot, screen


@pytest.fixture
def ranked(played: Played, tmp_path: Path) -> Played:
    shutil.copy(played.path, tmp_path)
    return replace(played, home=tmp_path)


async def test_leaderboard_looks_as_kept(ranked: Played, monkeypatch: pytest.MonkeyPatch) -> None:
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


async def test_lists_are_turned_sorted_marked_and_opened(ranked: Played) -> None:
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
        await press(pilot, "s", *["down"] * 4, "enter")
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


def test_every_dimension_sorts_best_first_and_turned(ranked: Played) -> None:
    with closing(open_store(ranked.path)) as store:
        board = next(each for each in leaderboards(store) if each.entries == 30)
    assert tuple(SORTS) == NAMES
    for name, dimension in SORTS.items():
        for turned in (False, True):
            values = [dimension.of(each) for each in ordered(board, name, turned=turned)]
            known = [each for each in values if each is not None]
            assert values == [*known, *[None] * (len(values) - len(known))]
            assert known == sorted(known, reverse=dimension.high_first is not turned)


def test_rows_of_kept_lines_equal_rows_of_cards(ranked: Played) -> None:
    """What is kept is of the card alone, so that a run with a certificate comes without it."""
    with closing(open_store(ranked.path)) as store:
        assert all(run.line for run in listed_runs(store))
        of_cards, of_lines = leaderboards(store), leaderboards(store, made_by=LINES)
        for board, lined in zip(of_cards, of_lines, strict=True):
            for one, two in zip(board.entrants, lined.entrants, strict=True):
                assert (one.run.line, one.scores) == (None, two.scores)
                assert entrant_cells(board, one) == entrant_cells(lined, two)
                without_card = two.run._replace(card={})
                assert caveats_of(without_card) == caveats_of(one.run)
                assert signed_tier_of(without_card) == signed_tier_of(one.run)
        run = of_lines[0].entrants[0].run
        attach_certificate(store, run.number, Attached(b"{}", b"s" * 64, "aa" * 32))
        again = [entrant.run for board in leaderboards(store, made_by=LINES) for entrant in board.entrants]
        assert [each.run_id for each in again if each.line is None] == [run.run_id]


async def test_an_empty_leaderboard_says_what_to_do(tmp_path: Path) -> None:
    async with opened(tmp_path / "s.sqlite", (80, 24)) as (app, pilot, _):
        assert "Nothing to rank yet." in text(app)
        await press(pilot, "c", "space", "s", "escape", "L", "left", "a", "r", "q")
        assert "Nothing to rank" not in text(app)


def test_the_command_says_the_same(ranked: Played, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_csv_runs_nothing(ranked: Played, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(ranked.path.parent))
    formula = '=HYPERLINK("http://x")\x1b[2J'
    with closing(open_store(ranked.path)) as store:
        change = "UPDATE runs SET setup = json_set(setup, '$.method_name', ?) WHERE run_id = ?"
        store.execute(change, (formula, ranked.runs[1]))
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
    least = told[1]["smallest_difference"]
    assert [row["smallest_difference"] for row in rows] == [*[str(least)] * 3, ""]
    assert 0 < least < 0.3
    assert told[1]["runs"][1]["method_name"] == formula
    assert f"30 entries show differences of {least:.2f} composite" in printed
    with pytest.raises(UsageError, match="is there already"):
        leaderboard.main(["--csv", str(file)], standalone_mode=False)
    assert CliRunner().invoke(leaderboard, ["--csv", str(file), "--overwrite"]).exit_code == 0
    with pytest.raises(UsageError, match="Leave one of them out"):
        leaderboard.main(["--csv", str(file), "--json"], standalone_mode=False)


def test_stated_tier_is_its_word_alone(ranked: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(ranked.path.parent))
    best, said = ranked.runs[0], "states gds-verified; nothing here shows it"
    with closing(open_store(ranked.path)) as store:
        state = "json_set(run_card, '$.verification_tier', 'gds-verified')"
        store.execute(f"UPDATE runs SET run_card = {state} WHERE run_id = ?", (best,))
    printed = CliRunner().invoke(leaderboard, []).stdout
    assert f"{best[:8]} {said}" in printed
    assert printed.count("gds-verified") == 1
    runs = json.loads(CliRunner().invoke(leaderboard, ["--json"]).stdout)[1]["runs"]
    found = [(each["verification_tier"], each["verification_tier_stated"]) for each in runs]
    assert sorted(found, key=str) == [("self-benchmarked", said), *[("self-benchmarked", None)] * 2]
    refused = CliRunner().invoke(leaderboard, ["--dataset", "none[/]"])
    assert isinstance(refused.exception, UsageError)
    assert "none[/]" in str(refused.exception)


# The map of a sweep: what stands in its cells, how axes and values change, and that it follows the store


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("sweep") / "rosetta.sqlite"
    made_sweep(found, AXES, cells())
    return found


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path))


async def test_empty_sweep_screen_takes_every_key(tmp_path: Path) -> None:
    screen = SweepScreen(tmp_path / "s.sqlite")
    async with showing(App(None, tmp_path / "s.sqlite"), screen, SMALL) as (app, pilot):
        look("sweep-empty", app)
        await press(pilot, "enter", "m", "escape", "x", "L", "q")
        assert "Sweeps" not in lines(app)[0]


async def test_cell_is_the_best_setup_by_mean_of_repetitions(path: Path) -> None:
    async with showing(App(None, path), SweepScreen(path), SMALL) as (app, pilot):
        look("sweep", app)
        await pilot.resize_terminal(120, 30)
        await settle(pilot)
        first = next(line for line in lines(app) if line.lstrip().startswith("qwen"))
        assert "0.64" in first, "(0.633 + 0.645) / 2, not the 0.42 without notes"
        assert "0.39" in first, "0.71 weighs other inputs, so it is not next to the others"
        assert "the mean of the complete repetitions; of several set-ups (coaching) the highest" in text(app)
        assert "★ best baseline 0.52 gemma2:9b · 0 · none" in text(app)
        assert "qwen2.5:7b · 0 · notes · the best of 2 set-ups here" in text(app)
        assert "composite 0.64 (runs 0.63–0.65)" in text(app)
        await press(pilot, "m", "down", "enter")
        assert "chrF++, the mean" in text(app)
        assert "63.9" in text(app), "by chrF++ all compare"
        await press(pilot, "m", "down", "enter")
        assert "US dollars for 1,000 entries" in text(app)
        assert "the lowest" in text(app)
        assert all(cell_len(line) <= 120 for line in lines(app))
        await press(pilot, "x", "up", "enter")
        assert "temperature ↓   model →" in text(app)
        await press(pilot, "d", "down", "enter")
        assert "coaching ↓   model →" in text(app), "no two axes are the same"
        assert "(temperature) the lowest" in text(app)


async def test_what_is_not_complete_says_so(path: Path) -> None:
    async with showing(App(None, path), SweepScreen(path), (120, 30)) as (app, pilot):
        await press(pilot, "right")
        assert "≠ its composite does not compare: not exact_match_rate" in text(app)
        assert "1 running · 1 waiting · 2 complete" in text(app)
        await press(pilot, "down")
        assert "2 waiting · 2 stopped" in text(app)
        assert "401: the key was refused" in text(app)
        row = next(line for line in lines(app) if line.lstrip().startswith("gemma"))
        assert "stopped" in row
        await press(pilot, "down")
        assert "The plan has no run here." in text(app)


async def test_cells_open_runs_and_the_newest_sweep_is_followed(path: Path) -> None:
    async with showing(App(None, path), (screen := SweepScreen(path)), (120, 30)) as (app, pilot):
        words = " ".join(text(app).split())
        assert "17 runs (3 waiting, 1 running, 2 stopped, 11 complete)" in words
        await press(pilot, "enter")
        assert "Runs of this cell" in text(app)
        await press(pilot, "enter")
        assert isinstance(app.screen, LiveScreen)
        await press(pilot, "q", "end", "left", "enter")
        assert app.screen is screen
        assert "The plan has no run here." in text(app)
        with closing(open_store(path)) as store:
            store.execute("UPDATE runs SET run_card = json_set(run_card, '$.scores.composite', 0.9) WHERE run_id = '10000002-made'")  # fmt: skip
        screen.look_again()
        await settle(pilot)
        assert "0.77" in text(app), "(0.9 + 0.645) / 2"
        made_sweep(path, {"model": ("a", "b")}, [MadeCell({"model": "a"}, 0.5), MadeCell({"model": "b"}, state="waiting")], name="later")  # fmt: skip
        app.push_screen(SweepScreen(path))
        await settle(pilot)
        assert "later" in lines(app)[0]
        await press(pilot, "x", "down", "enter")
        assert isinstance(app.screen, SweepScreen), "there is no run to open"
        await press(pilot, "up", "enter")
        assert isinstance(app.screen, LiveScreen), "the only run opens at once"
        await press(pilot, "q", "L", "down", "enter")
        assert "matrix" in lines(app)[0]


def test_command_opens_the_sweep_screen(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(path.parent))
    seen: list[object] = []
    monkeypatch.setattr(launch, "open_app", lambda screens: seen.extend(screens(path)))
    assert CliRunner().invoke(rosetta, ["sweep", "show", "matrix", "--screen"]).exit_code == 0
    assert [type(each) for each in seen] == [SweepScreen]


@pytest.fixture
def official(ranked: Played, tmp_path: Path) -> Played:
    """A store that took in two released cards."""
    (tmp_path / "council").mkdir()
    council = Office(tmp_path / "council")
    with closing(open_store(ranked.path)) as store:
        for name, right in (("Ann", 0.9), ("Ben", 0.4)):
            data = council.release(council.run(right, hidden(60)), name)
            take(ranked.path.parent, data, "card.json", store)
    return ranked


async def test_official_lists_are_shown_where_cards_were_taken_in(official: Played, tmp_path: Path) -> None:
    async with opened(official.path, SMALL) as (app, pilot, _):
        await press(pilot, "O")
        assert "0.78 (0.72–0.85)  88 (83–92)" in text(app)
        assert "\n rank  group" in text(app), "as far from the edge as on other screens"
        await press(pilot, "q")
        assert isinstance(app.screen, LeaderboardScreen)
    (official.path.parent / FOLDER).rename(tmp_path / "gone")
    async with opened(official.path, SMALL) as (app, pilot, _):
        await press(pilot, "O")
        assert isinstance(app.screen, LeaderboardScreen)


async def test_missed_entries_are_listed_and_open_their_best_run(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    made_misses(path)
    async with showing(App(None, path), SweepScreen(path), (120, 30)) as (app, pilot):
        words = " ".join(text(app).split())
        assert "< 0.30): 3 of 5 entries, and fewer than five secret entries" in words
        await press(pilot, "e")
        assert "Entries that all runs miss" in text(app)
        assert "5 · difficulty 5 · best 0.28 · " in text(app)
        await press(pilot, "down", "enter")
        assert isinstance(app.screen, LiveScreen)


async def test_no_entry_is_listed_where_one_run_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    made_sweep(path, {"model": ("a",)}, [MadeCell({"model": "a"}, 0.5)])
    async with showing(App(None, path), SweepScreen(path), SMALL) as (app, pilot):
        assert "Missed by all" not in text(app)
        await press(pilot, "e")
        assert isinstance(app.screen, SweepScreen)
        assert len(lines(app)) == SMALL[1]
