"""The screen of a comparison: the paths a person takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosetta_tui.compare.entry_screen import ComparedEntryScreen
from rosetta_tui.compare.order import ComparedOrder, ComparisonView, ordered_places
from rosetta_tui.compare.screen import CompareScreen
from rosetta_tui.compare.sentences import sentence
from rosetta_tui.show.figures import interval_bar
from rosetta_tui.toolkit.messages import RunsCompared
from scoring.core.wording import minus
from tests.tui.compare.compared import (
    OTHER,
    WIDE,
    A,
    B,
    C,
    baseline,
    chosen,
    compared,
    comparing,
    finished,
    going_on,
    joined,
    made,
    made_open,
    open_path,
    path,
    shown,
    small_corpus,
    spoilt,
)
from tests.tui.golden import SIZES, compare
from tests.tui.golden_colours import THEMES, compare_colours
from tests.tui.screens import App, at_rest, lines, press, settle, text

__all__ = ["made", "made_open", "open_path", "path"]


# What it looks like


@pytest.mark.parametrize("size", SIZES)
async def test_golden(size: tuple[int, int], path: Path) -> None:
    app = App(None, path)
    async with app.run_test(size=size) as pilot:
        await shown(pilot, path, A, B, C, OTHER)
        compare("compare", size, app)
        await press(pilot, "down", "enter")
        compare("compared-entry", size, app)
        await press(pilot, "q", "d")
        compare("compared-parts", size, app)


@pytest.mark.parametrize("theme", THEMES)
async def test_colours_mean_the_same_in_every_theme(theme: str, path: Path) -> None:
    app = App(None, path)
    async with app.run_test(size=(100, 30)) as pilot:
        app.theme = theme
        await shown(pilot, path, A, B, C, OTHER)
        compare_colours("compare", app)
        await press(pilot, "down", "enter")
        compare_colours("compared-entry", app)


@pytest.mark.parametrize("size", SIZES)
async def test_golden_of_a_run_that_goes_on(size: tuple[int, int], path: Path) -> None:
    going_on(path, B, 30)
    app = App(None, path)
    async with app.run_test(size=size) as pilot:
        await shown(pilot, path, A, B)
        compare("compare-going-on", size, app)


@pytest.mark.parametrize(
    ("size", "theme"),
    [((60, 16), "rosetta-light"), ((120, 30), "rosetta-contrast"), ((200, 60), "ansi-dark")],
)
async def test_every_size_has_the_sentence_the_axis_a_pair_and_entries(
    size: tuple[int, int], theme: str, path: Path
) -> None:
    app = App(None, path)
    async with app.run_test(size=size) as pilot:
        app.theme = theme
        await shown(pilot, path, A, B)
        assert "B is better than A" in joined(app)
        assert any(line.startswith(" A ") and "●" in line for line in lines(app))
        assert any("B − A" in line for line in lines(app))
        assert any("output of A" in line for line in lines(app))


# What is said


async def test_the_sentence_is_that_of_the_command_and_follows_the_metric(path: Path) -> None:
    app = App(None, path)
    [pair] = compared(path, A, B).pairs
    async with app.run_test(size=WIDE) as pilot:
        screen = await shown(pilot, path, A, B)
        assert screen.metric == "chrf_plus_plus"
        assert sentence(pair, "chrf_plus_plus") in joined(app)
        await press(pilot, "m", "down", "enter")
        assert screen.metric == "composite"
        assert sentence(pair, "composite") in joined(app)
        assert "rosetta compare 00000000 00000001" in text(app)


async def test_a_metric_of_a_whole_corpus_shows_entries_by_another(path: Path) -> None:
    async with comparing(path, A, B) as (app, pilot, screen):
        screen.compare_by("bleu")
        await settle(pilot)
        assert "values by chrF++: BLEU is of a whole corpus" in text(app)
        assert screen.table.entries is not None
        assert screen.table.entries.count == 40


async def test_every_number_of_the_pairs_is_that_of_the_comparison(open_path: Path) -> None:
    app = App(None, open_path)
    found = compared(open_path, A, B, C)
    async with app.run_test(size=WIDE) as pilot:
        screen = await shown(pilot, open_path, A, B, C)
        rows = screen.panel.pairs.records
        for number, pair in enumerate(found.pairs):
            record, difference = rows.record(number), pair.by_metric["chrf_plus_plus"]
            assert (record["first"], record["second"]) == (pair.first.run_id, pair.second.run_id)
            assert record["difference"] == difference.difference
            assert (record["lower"], record["upper"]) == (difference.lower, difference.upper)
            assert record["p_holm"] == pair.p_adjusted["chrf_plus_plus"]
            assert record["p_bootstrap"] == difference.p_bootstrap


async def test_before_the_tests_nothing_of_theirs_is_shown(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


# Entries


async def test_outcomes_of_entries_are_counted_as_the_tests_count_them(path: Path) -> None:
    found = compared(path, A, B, C)
    for pair in found.pairs:
        places = {run.run_id: place for place, run in enumerate(found.runs)}
        first, second = places[pair.first.run_id], places[pair.second.run_id]
        for metric in found.entries.values:
            outcomes = ComparisonView(metric, first, second).outcomes(found.entries).tolist()
            difference = pair.by_metric[metric]
            counted = tuple(outcomes.count(each) for each in (1, -1, 0))
            assert counted == (difference.wins, difference.losses, difference.ties), metric


def test_every_order_has_the_same_entries_and_its_turn_is_the_other_end(path: Path) -> None:
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
        await press(pilot, "slash", *"zz")
        assert "nothing found" in text(app)
        await press(pilot, "escape", "slash", *"E 7", "enter")
        assert list(table.entries.order) == [7]
        await press(pilot, "escape", "slash", *"hundo", "enter")
        assert table.entries.count
        await press(pilot, "escape")
        assert table.entries.count == 40
        assert app.screen is screen


async def test_the_line_below_shows_how_two_outputs_differ(path: Path) -> None:
    async with comparing(path, A, B) as (app, pilot, screen):
        screen.table.move_to_place(0)
        screen._moved()  # as after a key; a place that is set by the program moves nothing
        await settle(pilot)
        assert "A→B Mi vidas [+la+] [hundon→hundo]" in text(app) or "A→B Mi vidas" in text(app)
        screen.table.move_to_place(20)
        screen._moved()  # once more, after a key
        await settle(pilot)
        assert "A failed · B" in text(app)


async def test_an_entry_shows_every_output_and_leads_to_the_next(path: Path) -> None:
    async with comparing(path, A, B, C) as (app, pilot, screen):
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


async def test_values_of_an_entry_stand_side_by_side(path: Path) -> None:
    app = App(None, path)
    found = compared(path, A, B)
    place = ordered_places(found, ComparisonView("chrf_plus_plus", 0, 1), ComparedOrder(), {})[0]
    one, other = found.entries.values["chrf_plus_plus"][:, place]
    async with app.run_test(size=WIDE) as pilot:
        await shown(pilot, path, A, B)
        await press(pilot, "enter")
        [line] = [line for line in lines(app) if "chrF++" in line]
        better = "B" if other > one else "A"
        assert line.split()[-4:] == [
            f"{one:.1f}",
            f"{other:.1f}",
            minus(f"{other - one:+.1f}"),
            better,
        ]


# Pairs and runs


async def test_another_pair_is_spoken_of_by_arrow_and_by_row(path: Path) -> None:
    app = App(None, path)
    found = compared(path, A, B, C)
    async with app.run_test(size=WIDE) as pilot:
        screen = await shown(pilot, path, A, B, C)
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
        assert chosen(screen) == (A, B)
        await press(pilot, "a")
        assert "gamma" in text(app)
        await press(pilot, "enter")
        assert chosen(screen) == (A, B, OTHER)
        assert "Run 00000003 is not compared" in text(app)
        await press(pilot, "x", "enter")
        await press(pilot, "a")
        await press(pilot, "down", "enter")
        assert chosen(screen) == (A, B, C)
        assert screen.panel.pairs.rows.count == 3
        await press(pilot, "B", "down", "down", "enter")
        assert baseline(screen) == B
        assert screen.panel.pairs.rows.count == 2
        assert "against B" in text(app)
        assert "rosetta compare 00000000 00000001 00000002 --baseline 00000001" in text(app)
        await press(pilot, "C")
        assert app.clipboard == "rosetta compare 00000000 00000001 00000002 --baseline 00000001"
        await press(pilot, "x", "up", "enter")
        assert chosen(screen) == (A, C)
        assert baseline(screen) is None
        assert screen.panel.pairs.rows.count == 1


async def test_home_opens_it_and_q_goes_back(path: Path) -> None:
    async with at_rest(App(None, path), WIDE) as (app, pilot):
        home = app.screen
        home.post_message(RunsCompared((A, B)))
        await settle(pilot)
        assert isinstance(app.screen, CompareScreen)
        await press(pilot, "question_mark")
        assert "├─●─┤" in text(app)
        await press(pilot, "escape", "q")
        assert app.screen is home


@pytest.fixture
def repeated(path: Path) -> str:
    """A run of the same set-up as the first."""
    corpus = small_corpus()
    return finished(path, corpus, spoilt(corpus, range(10)), "alpha")


async def test_runs_of_one_set_up_are_told_apart_by_their_files(path: Path, repeated: str) -> None:
    app = App(None, path)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot, path, A, repeated)
        named = [line for line in lines(app) if line.startswith((" A ", " B ")) and "●" in line]
        assert [line.split()[1] for line in named] == ["outputs-0.jsonl", "outputs-1.jsonl"]
