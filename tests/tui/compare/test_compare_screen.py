"""The screen of a comparison: the paths a person takes."""

from __future__ import annotations

import asyncio
import json
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import jsonschema
import numpy as np
import pytest
from textual.widgets import OptionList

from harness.compare.pairs import Pair, RunningDifference
from harness.method.method import MethodClass, Setup
from harness.settings import read_settings
from harness.store.deletion import delete_run
from harness.store.run_list import list_runs
from harness.store.sqlite.database import open_store
from rosetta_tui.compare.detail_screens import ComparedEntryScreen, ComparedPartsScreen
from rosetta_tui.compare.lines import comparison_json
from rosetta_tui.compare.sentences import amount, cached_words, cases, number, reproduction_words, sentence, told_apart
from rosetta_tui.compare.table import ComparisonView, ordered_places
from rosetta_tui.show.columns import read_all
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.toolkit.ordered_table import RowOrder
from rosetta_tui.toolkit.result_table import ResultTable
from scoring.statistics.repetitions import verdict
from scoring.statistics.significance import Difference
from tests.tui.compare.compared import (
    OTHER,
    SECRET,
    WIDE,
    A,
    B,
    C,
    compared,
    comparing,
    execute,
    filled,
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

SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "compare.schema.json"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs of one corpus, the second best, and one of another corpus."""
    return filled(tmp_path_factory.mktemp("compared") / "rosetta.sqlite", small_corpus())


@pytest.fixture(scope="module")
def made_open(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without secret entries, whose numbers leave."""
    return filled(tmp_path_factory.mktemp("open") / "rosetta.sqlite", small_corpus(secret=0))


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path))


@pytest.fixture
def open_path(made_open: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made_open, tmp_path))


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


@pytest.mark.costly("a walk over all that the screens of a comparison do")
async def test_walk_by_metrics_entries_runs_and_parts(path: Path) -> None:
    [pair] = compared(path, A, B).pairs
    async with comparing(path, A, B) as (app, pilot, screen):
        table, command = screen.table, "rosetta compare 00000000 00000001"
        assert table.entries is not None
        await press(pilot, "i")
        for metric, keys in (("chrf_plus_plus", ()), ("composite", ("m", "down", "enter"))):
            await press(pilot, *keys)
            assert screen.metric == metric
            assert sentence(pair, metric) in joined(app)
        assert command in text(app)
        screen.compare_by("bleu")
        await settle(pilot)
        assert "values by chrF++: BLEU is of a whole corpus" in text(app)
        screen.compare_by("chrf_plus_plus")
        await press(pilot, "f", *"better:B", "enter")
        assert table.entries.count == pair.by_metric["chrf_plus_plus"].wins
        assert f"{table.entries.count} of 40" in text(app)
        await press(pilot, "escape", "s", "down", "enter")
        assert "where B gains most over A" in text(app)
        await press(pilot, "slash", *"id:7", "enter")
        assert list(table.entries.order) == [6]
        await press(pilot, "escape")  # all entries are there before the cursor moves
        await until(pilot, lambda: table.entries is not None and table.entries.count == 40)
        await press(pilot, *["down"] * 5, "enter")
        assert isinstance(app.screen, ComparedEntryScreen)
        one, other = pair.first.letter, pair.second.letter
        for words in ("6 of 40", f"{one} → reference", f"{other} → reference", f"{one} → {other}"):
            assert words in text(app)
        await press(pilot, "right", "right", "left", "y")
        assert "7 of 40" in text(app)
        assert app.clipboard.startswith("A: ")
        await press(pilot, "q")
        assert (app.screen, table.cursor) == (screen, 6)
        await press(pilot, "x", "a", "enter")  # of two runs none is taken out
        assert screen.choice.runs == (A, B, OTHER)
        assert "Run 00000003 is not compared" in text(app)
        await press(pilot, "x", "enter", "a", "down", "enter")
        assert (screen.choice.runs, screen.panel.pairs.rows.count) == ((A, B, C), 3)
        await press(pilot, "B", "down", "down", "enter", "C")
        assert (screen.choice.baseline, screen.panel.pairs.rows.count) == (B, 2)
        assert app.clipboard == f"{command} 00000002 --baseline 00000001"
        await press(pilot, "x", "up", "enter")
        assert (screen.choice.runs, screen.choice.baseline) == ((A, C), None)
        await press(pilot, "d")
        assert stands(app, ComparedPartsScreen)
        [elicited] = [line for line in lines(app) if "  elicited" in line]
        assert (elicited.split()[1], "●" in elicited) == ("35", True)
        await press(pilot, "down", "enter")
        assert app.screen is screen
        assert "difficulty:1" in text(app)
        assert table.entries.count == 8


async def test_more_about_the_runs_leaves_room_for_entries(path: Path) -> None:
    async with App(None, path).run_test(size=SMALL) as pilot:
        screen = await shown(pilot, path, A, B)
        await press(pilot, "i", "slash", *"better:B", "enter")
        assert screen.table.size.height > 4, "a title and the entries"
        assert not screen.pane.display


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
    gains, every = found.entries.differences("chrf_plus_plus", 0, 1), np.ones(40, bool)
    for sort in ("apart", "second gains", "first gains", "first", "second", "id", "difficulty"):
        places = ordered_places(found, view, RowOrder(sort), every)
        turned = ordered_places(found, view, RowOrder(sort, turned=True), every)
        assert sorted(places) == sorted(turned) == list(range(40))
        assert places != turned
    first = ordered_places(found, view, RowOrder("apart"), every)
    assert list(abs(gains[first])) == sorted(abs(gains), reverse=True)
    most = ordered_places(found, view, RowOrder("second gains"), every)
    assert gains[most[0]] == max(gains)
    least = ordered_places(found, view, RowOrder("first gains"), every)
    assert gains[least[0]] == min(gains)


# Refusals, runs under way or gone, parts of a corpus, secrets, exports


@pytest.mark.thorough
async def test_runs_that_are_deleted_meanwhile_are_said_to_be_gone(path: Path) -> None:
    async with comparing(path, A, "99999999-9") as (app, pilot, _):
        assert "These runs cannot be compared." in text(app)
        await press(pilot, "q")
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
        assert stands(app, ComparedEntryScreen)
        assert "gone from it since" in text(app)
        await press(pilot, "y", "right", "v", "q")
        assert app.screen is screen


async def test_where_nothing_compares_only_what_works_is_offered(path: Path) -> None:
    async with comparing(path, A, OTHER) as (app, pilot, screen):
        assert "These runs do not compare" in text(app)
        assert "Run 00000003 is not compared: its corpus is another" in joined(app)
        assert "a adds a run" in text(app)
        assert "takes one out" not in text(app)  # two are needed
        offered = {each.binding.action for each in screen.active_bindings.values()}
        assert {"add", "back"} <= offered
        assert not offered & {"metric", "sort", "filter", "search", "parts", "baseline", "choose", "pane"}
        assert not {"Open", "Metric", "Sort", "Filter", "Parts"} & set(lines(app)[-1].split())
        await press(pilot, "m", "s", "f", "d", "left", "B")
        await press(pilot, "a", "enter")
        await until(pilot, lambda: "Metric" in lines(app)[-1])
        assert screen.focused is screen.table
        assert len(screen.choice.runs) == 3


# A run that goes on


async def test_running_run_shows_only_what_may_be_looked_at(open_path: Path) -> None:
    going_on(open_path, B, 10)
    async with comparing(open_path, A, B) as (app, pilot, screen):
        [pair] = compared(open_path, A, B).pairs
        assert pair.running
        assert sentence(pair, "chrf_plus_plus")[1:] in joined(app)
        assert "B is not complete." in joined(app)
        await press(pilot, "i")
        assert "B is not complete. Ordinary tests may be wrong" in joined(app)
        assert "stays right at every look" in joined(app)
        assert "going on 10/40" in text(app)
        [row] = [line for line in lines(app) if "B − A" in line]
        assert row.split("B − A")[1].count("–") >= 6
        assert "open" in row
        record = screen.panel.pairs.records.record(0)
        await press(pilot, "i")
        assert record["entries"] == 10
        assert not {"p_randomisation", "p_holm", "p_bootstrap", "better"} & record.keys()
        await pilot.resize_terminal(*SMALL)
        await settle(pilot)
        look("compare-going-on", app)


@pytest.mark.thorough
async def test_running_run_grows_and_its_end_brings_the_tests(made_open: Path, open_path: Path) -> None:
    whole = Path(shutil.copy(made_open, open_path.parent / "whole.sqlite"))
    going_on(open_path, B, 10)
    async with comparing(open_path, A, B) as (app, pilot, screen):
        assert screen.comparison is not None
        assert len(screen.comparison.entries) == 10
        screen.table.move_to_place(4)
        for done in (20, 40):
            taken_from(whole, open_path, B, done, sealed=done == 40)
            screen._next_look = 0.0  # its turn comes now, whatever the clock says
            await settle(pilot)
            assert len(screen.comparison.entries) == done
            assert screen.table.place == 4
        [pair] = compared(open_path, A, B).pairs
        assert sentence(pair, "chrf_plus_plus") in joined(app)
        assert "stays right at every look" not in joined(app)


async def test_only_pairs_of_finished_runs_are_tested(open_path: Path) -> None:
    going_on(open_path, C, 12, state="stopped")
    async with comparing(open_path, A, B, C) as (app, _, screen):
        records = [screen.panel.pairs.records.record(n) for n in range(3)]
        assert ["p_bootstrap" in record for record in records] == [True, False, False]
        assert "stopped 12/40" in text(app)


# Parts


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


# The sentences of a comparison, case by case

FIRST, SECOND = (
    cast("Any", SimpleNamespace(letter=letter, complete=True, cached=cached, run_id=letter * 8))
    for letter, cached in (("A", 0), ("B", 12))
)

BETTER = Difference(
    first=58.9, second=61.0, difference=2.1, lower=0.4, upper=3.8, p_bootstrap=0.004,
    p_randomisation=0.003, effect_size=0.2, wins=30, losses=12, ties=58, direction="higher",
)  # fmt: skip


def pair(metric: str, found: Difference, **more: Any) -> Pair:
    told = {"p_adjusted": {metric: found.p_randomisation}, **more}
    return Pair(FIRST, SECOND, {metric: found}, {}, **told)


def otherwise(**changes: Any) -> Difference:
    return replace(BETTER, **changes)


CLOSE = otherwise(first=0.5, second=0.54, difference=0.04, lower=0.01, upper=0.07)
HIGHER = otherwise(direction="neither", first=0.9, second=1.1, difference=0.2)
DISAGREE = ", and the two tests disagree: p {:.3f} by shuffling, {:.3f} by bootstrap"
SENTENCES: list[tuple[str, Difference, dict[str, Any], str]] = [
    ("chrf_plus_plus", BETTER, {}, "B is better than A by 2.1 chrF++ points; chance alone would show this in 3 of 1,000 cases"),
    ("ter", otherwise(direction="lower"), {}, "A is better than B by 2.1 TER points (lower is better); chance…"),
    ("composite", CLOSE, {}, "B is better than A by 0.04 in the composite; …"),
    ("bleu", BETTER, {"p_adjusted": {"bleu": 0.009}, "pairs": 3}, "…in 9 of 1,000 cases, with all 3 comparisons counted"),
    ("bleu", BETTER, {"p_adjusted": {"bleu": 0.06}, "pairs": 10}, "A and B cannot be told apart by BLEU: B is ahead by 2.1 BLEU points, but chance…"),
    ("bleu", otherwise(lower=-0.1), {}, "…in 3 of 1,000 cases, and the interval of the difference (−0.1 … +3.8) holds zero"),
    ("bleu", otherwise(p_randomisation=0.003, p_bootstrap=0.06), {}, "…" + DISAGREE.format(0.003, 0.06)),
    ("bleu", otherwise(p_randomisation=0.06, p_bootstrap=0.003), {}, "…" + DISAGREE.format(0.06, 0.003)),
    ("length_ratio", HIGHER, {}, "the Length Ratio of B is higher than that of A by 0.20; chance…"),
    ("length_ratio", replace(HIGHER, p_randomisation=0.3), {}, "…by 0.20, which may be chance; chance…"),
    ("bleu", otherwise(difference=0.0), {}, "A and B have the same BLEU"),
]  # fmt: skip
"""Metric, what was found, what else the pair knows, and the sentence; where it begins or ends with …, a part of it."""


@pytest.mark.parametrize(("metric", "found", "more", "words"), SENTENCES)
def test_sentence_says_the_finding(metric: str, found: Difference, more: Any, words: str) -> None:
    said = sentence(pair(metric, found, **more), metric)
    if words.startswith("…") and words.endswith("…"):
        assert words.strip("…") in said
    elif words.startswith("…"):
        assert said.endswith(words[1:])
    elif words.endswith("…"):
        assert said.startswith(words[:-1])
    else:
        assert said == words


def test_amounts_and_pairs_that_do_not_compare() -> None:
    assert amount("exact_match_rate", 0.0004) == "0.0004 in Exact Match"
    left = Pair(FIRST, SECOND, {}, {"ter": "scored otherwise"})
    assert sentence(left, "ter") == "A and B do not compare by TER: scored otherwise"
    assert number("bleu", -0.0, sign=True) == "0.0", "no zero has a sign"
    assert number("bleu", -0.04, sign=True) == "−0.04"


def test_while_a_run_is_under_way_only_what_holds_at_any_time_is_said() -> None:
    going = cast("Any", SimpleNamespace(letter="B", complete=False, run_id="B" * 8))

    def told(lower: float, metric: str = "chrf_plus_plus") -> str:
        found = RunningDifference(2.1, lower, 3.8, 300, 0.95, "higher")
        running = {"chrf_plus_plus": found}
        return sentence(Pair(FIRST, going, {metric: BETTER}, {}, running=running), metric)

    assert told(0.4).startswith("so far B is better than A by 2.1 in the mean chrF++ of single entries (+0.4 … +3.8)")
    assert told(-0.4).startswith("so far nothing is decided: B minus A lies between −0.4 and +3.8")
    assert told(0.4, "bleu") == "BLEU says nothing before both runs are complete"


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (0.0001, "fewer than 1 of 1,000 cases"), (0.001, "1 of 1,000 cases"), (0.0034, "3 of 1,000 cases"),
        (0.41, "410 of 1,000 cases"), (1.0, "1,000 of 1,000 cases"),
    ],
)  # fmt: skip
def test_probabilities_are_cases_of_a_thousand(p: float, words: str) -> None:
    assert cases(p) == words


def test_repetitions() -> None:
    good = verdict({"composite": 0.5, "bleu": 20.0}, {"composite": 0.505, "bleu": 21.0})
    assert list(reproduction_words(good)) == [
        "same set-up: reproduced, composite and chrF++ are within ±2 %",
        "  BLEU: 20.0 became 21.0 (+5.0 %)",
    ]
    bad = verdict({"composite": 0.5}, {"composite": 0.6})
    assert next(iter(reproduction_words(bad))).startswith("same set-up: NOT reproduced")
    assert next(iter(reproduction_words(verdict({}, {})))).startswith("same set-up: neither has")
    assert cached_words(FIRST) == ""
    assert cached_words(SECOND) == "12 outputs of B came from the cache: nothing was repeated there"


def test_runs_of_one_method_are_told_apart() -> None:
    def run(run_id: str, file: str, condition: str = "demo", temperature: float = 0.0) -> Any:
        setup = Setup(
            method="replay", method_class=MethodClass.HUMAN, method_version="1", model_slug="replay",
            condition=condition, temperature=temperature,
        )  # fmt: skip
        return SimpleNamespace(run_id=run_id, file=file, setup=setup)

    one, two = run("11111111-a", "verda.jsonl"), run("22222222-b", "griza.jsonl")
    assert told_apart([one, two]) == ["verda.jsonl · replay · demo", "griza.jsonl · replay · demo"]
    assert told_apart([one, run("3", "x", "other")]) == ["replay · demo", "replay · other"]
    same = [run("11111111-a", "verda.jsonl"), run("22222222-b", "verda.jsonl")]
    assert told_apart(same) == ["11111111 · replay · demo", "22222222 · replay · demo"]
    assert told_apart(same, by_id=False) == ["replay · demo"] * 2
    warmer = [run("11111111-a", ""), run("22222222-b", "", temperature=0.7)]
    assert told_apart(warmer) == ["temperature 0 · replay · demo", "temperature 0.7 · replay · demo"]


@pytest.mark.costly("three runs and four screens")
def test_repeats_leave_room_for_entries_and_are_taken_apart_as_json(tmp_path: Path) -> None:
    corpus, path = small_corpus(secret=0), tmp_path / "s.sqlite"
    for number_, right in enumerate((range(10), range(5, 33), range(12))):
        finished(path, corpus, spoilt(corpus, right), "alpha", number=number_)
    execute(path, "UPDATE runs SET setup = json_remove(setup, '$.outputs_sha256')")  # as of runs that asked
    told = json.loads(form_text("compare", comparison_json(compared(path, A, B, C))))
    jsonschema.validate(told, json.loads(SCHEMA.read_text("utf-8")))
    [group] = told["repeats"]
    assert (group["runs"], group["equal"]) == (["A", "B", "C"], False)
    parts = group["metrics"]["chrf_plus_plus"]
    assert parts["mean"] == pytest.approx(np.mean([run["scores"]["chrf_plus_plus"] for run in told["runs"]]), abs=1e-9)
    assert parts["lower"] < parts["mean"] < parts["upper"]
    assert parts["variance_between_repeats"] > 0 < parts["variance_within_repeats"]

    async def look_at() -> None:
        for size, rows in (((80, 24), 6), (WIDE, 15)):
            async with App(None, path).run_test(size=size) as pilot:
                screen = await shown(pilot, path, A, B, C)
                await until(pilot, lambda: screen.tested)  # noqa: B023  awaited here
                await settle(pilot)
                assert screen.table.size.height > rows, "a title and the entries"
                assert "A, B and C repeat one set-up: chrF++ 61.9, 21.9–100.0 for" in " ".join(text(pilot.app).split())
                assert "Standard deviation" not in " ".join(text(pilot.app).split())
                await press(pilot, "i")
                assert "Standard deviation" in " ".join(text(pilot.app).split())
                await press(pilot, "i")
                assert screen.table.size.height > rows

    asyncio.run(look_at())


@pytest.mark.costly("four screens")
async def test_columns_are_chosen_and_remembered_for_each_kind_of_table(path: Path) -> None:
    async with App(None, path).run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        for screen, key in ((pilot.app.screen, "cost"), (None, "source")):
            shown_here = screen or await shown(pilot, path, A, B)
            table = shown_here.query_one("#runs" if screen else "#entries", ResultTable)
            assert table.shown_columns[key]
            await press(pilot, "s")
            options = pilot.app.screen.query_one(OptionList)
            options.highlighted = next(n for n, one in enumerate(options.options) if one.id == key)
            await press(pilot, "space", "escape")
            assert key in table.hidden
        chosen = read_settings(path.parent).columns.split()
        assert {"-runs.cost", "-compared.source", "+compared.difference"} <= {*chosen}
        assert "-compared.id" not in chosen
    async with App(None, path).run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        assert "cost" in pilot.app.screen.query_one("#runs", ResultTable).hidden
        assert "source" in (await shown(pilot, path, A, B)).table.hidden
