"""The screen of a comparison: the paths a person takes."""

from __future__ import annotations

import json
import shutil
import threading
from asyncio import to_thread
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.store.deletion import delete_run
from harness.store.file.database import open_store
from harness.store.run_list import list_runs
from rosetta_tui.compare import acts
from rosetta_tui.compare.entry_screen import ComparedEntryScreen
from rosetta_tui.compare.order import ComparedOrder, ComparisonView, ordered_places
from rosetta_tui.compare.parts_screen import ComparedPartsScreen
from rosetta_tui.compare.screen import CompareScreen
from rosetta_tui.compare.sentences import sentence
from rosetta_tui.show import run_facts
from rosetta_tui.show.columns import read_all
from rosetta_tui.show.figures import interval_bar
from rosetta_tui.toolkit.messages import RunsCompared
from scoring.core.wording import minus
from tests.tui.compare.compared import (
    OTHER,
    SECRET,
    WIDE,
    A,
    B,
    C,
    compared,
    comparing,
    finished,
    going_on,
    joined,
    shown,
    small_corpus,
    spoilt,
    taken_from,
)
from tests.tui.golden import EVERY_SIZE, SMALL, look, look_in_every_theme
from tests.tui.screens import App, at_rest, lines, press, settle, stands, text, until


@pytest.mark.parametrize("size", EVERY_SIZE)
async def test_compare_screens_in_every_size_and_theme(size: tuple[int, int], path: Path) -> None:
    async with at_rest(App(None, path), size) as (app, pilot):
        await shown(pilot, path, A, B, C, OTHER)
        await look_in_every_theme("compare", pilot)
        assert "Run 00000003 is not compared: its corpus is another" in joined(app)
        if size == SMALL:
            await press(pilot, "down", "enter")
            look("compared-entry", app)
            await press(pilot, "q", "d")
            look("compared-parts", app)


async def test_sentence_is_that_of_the_command_and_follows_the_metric(path: Path) -> None:
    [pair] = compared(path, A, B).pairs
    async with at_rest(App(None, path), WIDE) as (app, pilot):
        home = app.screen
        home.post_message(RunsCompared((A, B)))
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        assert screen.metric == "chrf_plus_plus"
        assert sentence(pair, "chrf_plus_plus") in joined(app)
        await pilot.resize_terminal(60, 16)
        await settle(pilot)
        assert "B is better than A" in joined(app)
        assert any(line.startswith(" A ") and "●" in line for line in lines(app))
        assert any("B − A" in line for line in lines(app))
        assert any("output of A" in line for line in lines(app))
        await pilot.resize_terminal(*WIDE)
        await press(pilot, "m", "down", "enter")
        assert screen.metric == "composite"
        assert sentence(pair, "composite") in joined(app)
        assert "rosetta compare 00000000 00000001" in text(app)
        screen.compare_by("bleu")
        await settle(pilot)
        assert "values by chrF++: BLEU is of a whole corpus" in text(app)
        assert screen.table.entries is not None
        assert screen.table.entries.count == 40
        await press(pilot, "question_mark")
        assert "├─●─┤" in text(app)
        await press(pilot, "escape", "q")
        assert app.screen is home


async def test_nothing_is_shown_before_tests(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rosetta_tui.compare import screen as comparing_stages

    every = comparing_stages.stages
    monkeypatch.setattr(comparing_stages, "stages", lambda *a, **k: [next(every(*a, **k))])
    async with comparing(path, A, B) as (app, pilot, screen):
        assert "Testing B against A …" in text(app)
        assert "testing …" in text(app)
        assert not screen.tested
        assert "├" not in text(app)
        assert screen.table.entries is not None
        assert screen.table.entries.count == 40
        record = screen.panel.pairs.records.record(0)
        assert not {"p_randomisation", "p_holm", "p_bootstrap", "lower", "better"} & record.keys()
        await press(pilot, "d")
        assert app.screen is screen


@given(st.floats(-5, 5), st.floats(0, 3), st.floats(0, 3), st.integers(5, 60), st.floats(-9, -5.5))
def test_a_line_holds_its_interval_and_its_value_in_their_order(
    value: float, below: float, above: float, width: int, low: float
) -> None:
    line = interval_bar(value, (value - below, value + above), low=low, top=9.0, width=width)
    assert len(line) == width
    assert line.count("●") == 1
    at = line.index("●")
    assert set(line[:at]) <= set("·┊├─┼")
    assert set(line[at + 1 :]) <= set("·┊─┼┤")
    assert at == round((value - low) / (9.0 - low) * (width - 1))


def test_a_line_without_a_scale_stands_in_the_middle() -> None:
    assert interval_bar(1.0, None, low=1.0, top=1.0, width=5) == "··●··"


def test_outcomes_of_entries_are_counted_as_by_the_tests(path: Path) -> None:
    found = compared(path, A, B, C)
    for pair in found.pairs:
        places = {run.run_id: place for place, run in enumerate(found.runs)}
        first, second = places[pair.first.run_id], places[pair.second.run_id]
        for metric in found.entries.values:
            outcomes = ComparisonView(metric, first, second).outcomes(found.entries).tolist()
            difference = pair.by_metric[metric]
            counted = tuple(outcomes.count(each) for each in (1, -1, 0))
            assert counted == (difference.wins, difference.losses, difference.ties), metric


def test_every_order_has_the_same_entries_and_can_be_turned(path: Path) -> None:
    found = compared(path, A, B)
    view = ComparisonView("chrf_plus_plus", 0, 1)
    gains = found.entries.differences("chrf_plus_plus", 0, 1)
    for sort in ("apart", "second gains", "first gains", "first", "second", "id", "difficulty"):
        places = ordered_places(found, view, ComparedOrder(sort), {})
        turned = ordered_places(found, view, ComparedOrder(sort, turned=True), {})
        assert sorted(places) == sorted(turned) == list(range(40))
        assert places != turned
    first = ordered_places(found, view, ComparedOrder(), {})
    assert list(abs(gains[first])) == sorted(abs(gains), reverse=True)
    most = ordered_places(found, view, ComparedOrder("second gains"), {})
    assert gains[most[0]] == max(gains)
    least = ordered_places(found, view, ComparedOrder("first gains"), {})
    assert gains[least[0]] == min(gains)


async def test_sorting_filtering_and_searching(path: Path) -> None:
    async with comparing(path, A, B) as (app, pilot, screen):
        table = screen.table
        for place, words in ((0, "A→B Mi vidas"), (20, "A failed · B")):
            table.move_to_place(place)
            screen._moved()  # as after a key; a place that is set by the program moves nothing
            await settle(pilot)
            assert words in text(app)
        await press(pilot, "f", "down", "enter")
        [pair] = compared(path, A, B).pairs
        assert table.entries is not None
        assert table.entries.count == pair.by_metric["chrf_plus_plus"].wins
        assert "only: B wins" in text(app)
        await press(pilot, "escape", "f", "down", "down", "down", "down", "enter")
        assert "only: failed in one of A and B" in text(app)
        assert [table.entries.order[row] for row in range(table.entries.count)] == [20]
        assert "✗ failed" in text(app)
        await press(pilot, "escape", "s", "down", "enter")
        assert "where B gains most over A" in text(app)
        await press(pilot, "slash", *"E 7", "enter")
        assert list(table.entries.order) == [7]
        await press(pilot, "escape")
        assert table.entries.count == 40
        assert app.screen is screen


async def test_an_entry_shows_every_output_and_leads_to_the_next(path: Path) -> None:
    found = compared(path, A, B, C)
    place = ordered_places(found, ComparisonView("chrf_plus_plus", 0, 1), ComparedOrder(), {})[0]
    one, other, _ = found.entries.values["chrf_plus_plus"][:, place]
    async with comparing(path, A, B, C) as (app, pilot, screen):
        await press(pilot, "enter")
        [line] = [line for line in lines(app) if "chrF++" in line]
        numbers = [f"{one:.1f}", f"{other:.1f}", minus(f"{other - one:+.1f}")]
        assert all(number in line.split() for number in numbers)
        assert ("B" if other > one else "A") in line.split()
        await press(pilot, "q")
        await press(pilot, "s", *["down"] * 5, "enter")
        await press(pilot, *["down"] * 5, "enter")
        page = app.screen
        assert isinstance(page, ComparedEntryScreen)
        assert "6 of 40" in text(app)
        for label in ("A → reference", "B → reference", "C → reference", "A → B", "A → C"):
            assert label in text(app)
        assert text(app).count("= reference") == 3
        assert "replay · gamma · made" in text(app)
        await press(pilot, "right", "right", "left")
        assert "7 of 40" in text(app)
        await press(pilot, "y")
        assert app.clipboard.splitlines()[0].startswith("A: ")
        await press(pilot, "q")
        assert app.screen is screen
        assert screen.table.place == 6


@pytest.mark.thorough
async def test_pairs_have_the_numbers_of_the_comparison_and_are_chosen(open_path: Path) -> None:
    found = compared(open_path, A, B, C)
    async with comparing(open_path, A, B, C) as (app, pilot, screen):
        for number, pair in enumerate(found.pairs):
            record, difference = (
                screen.panel.pairs.records.record(number),
                pair.by_metric["chrf_plus_plus"],
            )
            assert (record["first"], record["second"]) == (pair.first.run_id, pair.second.run_id)
            assert record["difference"] == difference.difference
            assert (record["lower"], record["upper"]) == (difference.lower, difference.upper)
            assert record["p_holm"] == pair.p_adjusted["chrf_plus_plus"]
            assert record["p_bootstrap"] == difference.p_bootstrap
        assert sentence(found.pairs[0], "chrf_plus_plus") in joined(app)
        await press(pilot, "right")
        assert sentence(found.pairs[1], "chrf_plus_plus")[1:] in joined(app)
        assert "output of C" in text(app)
        await press(pilot, "right", "right")
        assert "output of B" in text(app)
        screen.panel.pairs.focus()
        await press(pilot, "end")
        assert sentence(found.pairs[2], "chrf_plus_plus") in joined(app)
        await press(pilot, "enter")
        assert screen.focused is screen.table
        await press(pilot, "r")
        assert sentence(found.pairs[2], "chrf_plus_plus") in joined(app)


@pytest.mark.thorough
async def test_runs_are_added_taken_out_and_held_against_one(path: Path) -> None:
    async with comparing(path, A, B) as (app, pilot, screen):
        await press(pilot, "x")
        assert screen.choice.runs == (A, B)
        await press(pilot, "a")
        assert "gamma" in text(app)
        await press(pilot, "enter")
        assert screen.choice.runs == (A, B, OTHER)
        assert "Run 00000003 is not compared" in text(app)
        await press(pilot, "x", "enter")
        await press(pilot, "a")
        await press(pilot, "down", "enter")
        assert screen.choice.runs == (A, B, C)
        assert screen.panel.pairs.rows.count == 3
        await press(pilot, "B", "down", "down", "enter")
        assert screen.choice.baseline == B
        assert screen.panel.pairs.rows.count == 2
        assert "against B" in text(app)
        assert "rosetta compare 00000000 00000001 00000002 --baseline 00000001" in text(app)
        await press(pilot, "C")
        assert app.clipboard == "rosetta compare 00000000 00000001 00000002 --baseline 00000001"
        await press(pilot, "x", "up", "enter")
        assert screen.choice.runs == (A, C)
        assert screen.choice.baseline is None
        assert screen.panel.pairs.rows.count == 1


# Refusals, runs under way or gone, parts of a corpus, secrets, exports


async def test_where_nothing_compares_only_what_works_is_offered(path: Path) -> None:
    async with comparing(path, A, OTHER) as (app, pilot, screen):
        assert "These runs do not compare" in text(app)
        assert "Run 00000003 is not compared: its corpus is another" in joined(app)
        assert "a adds a run" in text(app)
        assert "takes one out" not in text(app)  # two are needed
        offered = {each.binding.action for each in screen.active_bindings.values()}
        assert {"add", "back"} <= offered
        assert not offered & {"metric", "sort", "filter", "search", "parts", "baseline", "choose"}
        assert not {"Open", "Metric", "Sort", "Filter", "Parts"} & set(lines(app)[-1].split())
        await press(pilot, "m", "s", "f", "d", "left", "B")
        await press(pilot, "a", "enter")
        await until(pilot, lambda: "Metric" in lines(app)[-1])
        assert screen.focused is screen.table
        assert len(screen.choice.runs) == 3


@pytest.mark.thorough
async def test_run_that_is_gone_or_goes_is_said(path: Path) -> None:
    async with comparing(path, A, "99999999-9") as (app, pilot, _):
        assert "These runs cannot be compared." in text(app)
        assert "99999999" in text(app)
        await press(pilot, "q")
        assert not isinstance(app.screen, CompareScreen)
        screen = await shown(pilot, path, A, B)
        with closing(open_store(path)) as store:
            for run in list_runs(store):
                delete_run(store, run.number)
        assert screen.table.texts is not None
        screen.table.texts._entries.forget()  # as if they had never been on the screen
        await press(pilot, "end", "home")
        assert "gone from it since" in text(app)
        assert screen.table.entries is not None
        records = [one async for some in read_all(screen.table.entries) for one in some]
        assert len(records) == screen.table.entries.count
        await press(pilot, "enter")
        assert isinstance(app.screen, ComparedEntryScreen)
        assert "gone from it since" in text(app)
        await press(pilot, "y", "right", "v", "q")
        assert app.screen_stack[-1] is screen


async def test_late_runs_to_add_are_dropped(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, real = threading.Event(), run_facts.runs_now

    def slow(runs: Any) -> Any:
        go_on.wait(600)
        return real(runs)

    async with comparing(path, A, B) as (app, pilot, screen):
        monkeypatch.setattr(acts, "runs_now", slow)
        screen.action_add()
        await app.pop_screen()
        go_on.set()
        await settle(pilot)
        assert app.screen_stack[-1] is app.screen
        assert type(app.screen).__name__ == "HomeScreen"


@pytest.mark.thorough
async def test_metrics_by_which_a_pair_does_not_compare_are_said(open_path: Path) -> None:
    corpus, few = small_corpus(secret=0), ("exact_match_rate",)
    outputs = spoilt(corpus, range(20))
    otherwise = await to_thread(finished, open_path, corpus, outputs, "delta", metrics=few)
    async with comparing(open_path, A, B, otherwise) as (app, pilot, screen):
        await press(pilot, "right")
        found = compared(open_path, A, B, otherwise)
        assert "chrf_plus_plus" in found.pairs[1].left_out
        assert sentence(found.pairs[1], "chrf_plus_plus") in joined(app)
        assert "not compared" in text(app)
        assert "not_compared" in screen.panel.pairs.records.record(1)
        await press(pilot, "enter")
        assert "A → C" in text(app)


# A run that goes on


async def test_running_run_shows_only_what_may_be_looked_at(open_path: Path) -> None:
    going_on(open_path, B, 10)
    async with comparing(open_path, A, B) as (app, pilot, screen):
        [pair] = compared(open_path, A, B).pairs
        assert pair.running
        assert sentence(pair, "chrf_plus_plus")[1:] in joined(app)
        assert "B is not complete. Ordinary tests may be wrong" in joined(app)
        assert "stays right at every look" in joined(app)
        assert "going on 10/40" in text(app)
        [row] = [line for line in lines(app) if "B − A" in line]
        assert row.split("B − A")[1].count("–") >= 6
        assert "open" in row
        record = screen.panel.pairs.records.record(0)
        assert record["entries"] == 10
        assert not {"p_randomisation", "p_holm", "p_bootstrap", "better"} & record.keys()
        await pilot.resize_terminal(*SMALL)
        await settle(pilot)
        look("compare-going-on", app)


async def test_running_run_grows_and_its_end_brings_the_tests(made: Path, path: Path) -> None:
    whole = Path(shutil.copy(made, path.parent / "whole.sqlite"))
    going_on(path, B, 10)
    async with comparing(path, A, B) as (app, pilot, screen):
        assert screen.comparison is not None
        assert len(screen.comparison.entries) == 10
        screen.table.move_to_place(4)
        taken_from(whole, path, B, range(10, 20))
        screen._next_look = 0.0  # its turn comes now, whatever the clock says
        await settle(pilot)
        assert len(screen.comparison.entries) == 20
        assert screen.table.place == 4
        taken_from(whole, path, B, range(20, 40), sealed=True)
        screen._next_look = 0.0  # its turn comes now, whatever the clock says
        await settle(pilot)
        [pair] = compared(path, A, B).pairs
        assert sentence(pair, "chrf_plus_plus") in joined(app)
        assert "stays right at every look" not in joined(app)


async def test_only_pairs_of_finished_runs_are_tested(open_path: Path) -> None:
    going_on(open_path, C, 12, state="stopped")
    async with comparing(open_path, A, B, C) as (app, _, screen):
        records = [screen.panel.pairs.records.record(n) for n in range(3)]
        assert ["p_bootstrap" in record for record in records] == [True, False, False]
        assert "stopped 12/40" in text(app)


# Parts


async def test_parts_show_intervals_and_lead_to_their_entries(path: Path) -> None:
    async with comparing(path, A, B) as (app, pilot, screen):
        await press(pilot, "d")
        assert stands(app, ComparedPartsScreen)
        assert "by difficulty" in text(app)
        assert "n<10, too few" in text(app)
        [elicited] = [line for line in lines(app) if "  elicited" in line]
        assert elicited.split()[1] == "35"
        assert "●" in elicited
        await press(pilot, "m", "down", "enter")
        assert "B − A by composite" in text(app)
        await press(pilot, "down", "enter")
        assert app.screen is screen
        assert "only: difficulty 1" in text(app)
        assert screen.table.entries is not None
        assert screen.table.entries.count == 8


async def test_secret_texts_are_shown_and_neither_copied_nor_exported(path: Path) -> None:
    async with comparing(path, A, B, C) as (app, pilot, screen):
        assert screen.holds_secret
        records = [each async for part in read_all(screen.table.records) for each in part]
        told = {each["id"]: each for each in records if "source" in each}
        assert (len(records), len(told)) == (40, 36)
        assert told[6]["output_B"] == told[6]["reference"]
        assert told[21]["output_A"] is None
        assert {"A", "B", "C", "output_C"} <= told[6].keys()
        await press(pilot, "slash", *SECRET, "enter")
        assert screen.table.entries is not None
        assert screen.table.entries.count == 4
        assert SECRET in text(app)
        await press(pilot, "y")
        await press(pilot, "Y")
        assert SECRET not in app.clipboard
        assert "the entry is secret" in app.clipboard
        records = [each async for part in read_all(screen.table.records) for each in part]
        assert len(records) == 4
        assert not any("source" in each or "output_A" in each for each in records)
        await press(pilot, "enter")
        page = app.screen
        assert isinstance(page, ComparedEntryScreen)
        assert page.holds_secret
        assert SECRET in text(app)
        before = app.clipboard
        await press(pilot, "y")
        assert app.clipboard == before


async def test_only_pair_is_exported_as_numbers_and_as_a_page(
    open_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with comparing(open_path, A, B) as (_, pilot, screen):
        screen.panel.pairs.focus()
        await settle(pilot)
        for downs in (1, 2):
            await press(pilot, "e", *["down"] * downs, "enter", "enter")
            await settle(pilot)
    [row] = json.loads((tmp_path / "pairs.json").read_text("utf-8"))
    assert (row["first"], row["second"]) == (A, B)
    assert row["lower"] < row["difference"] < row["upper"]
    head, _, page = (tmp_path / "pairs.md").read_text("utf-8").splitlines()
    assert "95 % interval" in head
    assert "around zero" not in head
    assert "B − A" in page
