"""The screen of a comparison: refusals, runs under way, parts of a corpus, hostile texts,
exports."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from unicodedata import category

import pytest

from corpora.model.entry import Entry, Segment
from rosetta_tui.compare.entry_screen import ComparedEntryScreen
from rosetta_tui.compare.parts_screen import ComparedPartsScreen
from rosetta_tui.compare.screen import CompareScreen
from rosetta_tui.compare.sentences import sentence
from rosetta_tui.show.columns import read_all
from tests.harness.evaluation import corpus_of
from tests.tui.app.standing import stands
from tests.tui.compare.compared import (
    OTHER,
    SECRET,
    A,
    B,
    C,
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
    taken_from,
)
from tests.tui.scenes import HOSTILE
from tests.tui.screens import App, lines, press, settle, text, until

__all__ = ["made", "made_open", "open_path", "path"]


# Refusals


async def test_where_nothing_compares_only_what_works_is_offered(path: Path) -> None:
    async with comparing(path, A, OTHER) as (app, pilot, screen):
        assert "These runs do not compare" in text(app)
        assert "takes one out" not in text(app)  # two are needed
        offered = {each.binding.action for each in screen.active_bindings.values()}
        assert {"add", "back"} <= offered
        assert not offered & {"metric", "sort", "filter", "search", "parts", "baseline", "choose"}
        assert not {"Open", "Metric", "Sort", "Filter", "Parts"} & set(lines(app)[-1].split())
        await press(pilot, "a", "enter")
        await until(pilot, lambda: "Metric" in lines(app)[-1])
        assert screen.focused is screen.table


async def test_a_run_of_another_corpus_is_named_and_the_others_are_compared(path: Path) -> None:
    async with comparing(path, A, OTHER, B) as (app, _, _):
        assert "Run 00000003 is not compared: its corpus is another" in joined(app)
        assert "B is better than A" in joined(app)


async def test_where_nothing_compares_the_reason_and_what_to_do_are_said(path: Path) -> None:
    app = App(None, path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await shown(pilot, path, A, OTHER)
        assert "These runs do not compare." in text(app)
        assert "Run 00000003 is not compared: its corpus is another" in joined(app)
        assert "a adds a run" in text(app)
        await press(pilot, "m", "s", "f", "d", "left", "B")
        await press(pilot, "a")
        await press(pilot, "end", "enter")
        assert len(screen.choice.runs) == 3
        assert "B is better than A" in joined(app) or "told apart" in joined(app)


async def test_a_run_that_is_gone_is_said(path: Path) -> None:
    app = App(None, path)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot, path, A, "99999999-9")
        assert "These runs cannot be compared." in text(app)
        assert "99999999" in text(app)
        await press(pilot, "q")
        assert not isinstance(app.screen, CompareScreen)


@pytest.fixture
def otherwise(open_path: Path) -> str:
    """A run of the same corpus that was scored by other metrics."""
    corpus = small_corpus(secret=0)
    return finished(
        open_path, corpus, spoilt(corpus, range(20)), "delta", metrics=("exact_match_rate",)
    )


async def test_metrics_by_which_a_pair_does_not_compare_are_said(
    open_path: Path, otherwise: str
) -> None:
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


async def test_a_run_that_goes_on_shows_only_what_may_be_looked_at(open_path: Path) -> None:
    going_on(open_path, B, 10)
    async with comparing(open_path, A, B) as (app, _, screen):
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


async def test_what_is_new_of_a_run_that_goes_on_is_taken_in_and_the_end_brings_the_tests(
    made: Path, path: Path
) -> None:
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


async def test_of_three_runs_only_the_pairs_that_are_over_are_tested(open_path: Path) -> None:
    going_on(open_path, C, 12, state="stopped")
    async with comparing(open_path, A, B, C) as (app, _, screen):
        records = [screen.panel.pairs.records.record(n) for n in range(3)]
        assert ["p_bootstrap" in record for record in records] == [True, False, False]
        assert "stopped 12/40" in text(app)


# Parts


async def test_parts_show_intervals_where_there_are_enough_and_lead_to_their_entries(
    path: Path,
) -> None:
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


# Hostile and secret texts


@pytest.fixture
def hostile(tmp_path: Path) -> tuple[Path, list[str]]:
    """Two runs whose every text is hostile."""
    path = tmp_path / "rosetta.sqlite"
    texts = [each[:500] for each in HOSTILE]
    entries = [
        Entry(id=f"{n}[/b]", source=each, reference=f"{each}r", provenance=each[:40], variants=(each,),
              register=each[:40], context=each[:40], segment=Segment.DEVELOPMENT)
        for n, each in enumerate(texts)
    ]  # fmt: skip
    corpus = corpus_of(entries)
    names = (HOSTILE[0] + HOSTILE[4], HOSTILE[2] + HOSTILE[14])
    return path, [
        finished(path, corpus, [f"{each}{number}" for each in texts], name, condition=HOSTILE[6])
        for number, name in enumerate(names)
    ]


@pytest.mark.thorough
async def test_hostile_texts_do_nothing(hostile: tuple[Path, list[str]]) -> None:
    path, runs = hostile
    async with comparing(path, *runs) as (app, pilot, screen):
        assert "press" in text(app)
        for key in ("down", "down", "end", "enter", *["right"] * len(HOSTILE), "q"):
            await press(pilot, key)
            assert_harmless(app)
        for key in ("d", "m", "escape", "q", "f", "escape", "s", "escape", "x", "a", "B", "escape"):
            await press(pilot, key)
            assert_harmless(app)
        await press(pilot, "slash", "left_square_bracket", "slash", "enter")
        assert_harmless(app)
        assert app.screen is screen
        screen.table.action_copy()
        await settle(pilot)
        assert "\x1b" not in app.clipboard
        assert app.is_running


BIDI = "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def assert_harmless(app: App) -> None:
    for line in lines(app):
        acting = [each for each in line if category(each) == "Cc" or each in BIDI]
        assert not acting, line


async def test_secret_texts_are_shown_and_neither_copied_nor_exported(path: Path) -> None:
    async with comparing(path, A, B) as (app, pilot, screen):
        assert screen.holds_secret
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


async def test_open_entries_are_exported_with_every_output(path: Path) -> None:
    async with comparing(path, A, B, C) as (_, _, screen):
        records = [each async for part in read_all(screen.table.records) for each in part]
        assert len(records) == 40
        told = [each for each in records if "source" in each]
        assert len(told) == 36
        by_id = {each["id"]: each for each in told}
        assert by_id[6]["output_B"] == by_id[6]["reference"]
        assert by_id[21]["output_A"] is None
        assert {"A", "B", "C", "output_C"} <= by_id[6].keys()


@pytest.mark.parametrize("form", ["json", "md"])
async def test_the_only_pair_is_exported(
    form: str, open_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = App(None, open_path)
    async with app.run_test(size=(160, 48)) as pilot:
        screen = await shown(pilot, open_path, A, B)
        screen.panel.pairs.focus()
        await settle(pilot)
        await press(pilot, "e", *["down"] * (["json", "md"].index(form) + 1), "enter", "enter")
        await settle(pilot)
        written = (tmp_path / f"pairs.{form}").read_text("utf-8")
    if form == "json":
        [row] = json.loads(written)
        assert (row["first"], row["second"]) == (A, B)
        assert row["lower"] < row["difference"] < row["upper"]
    else:
        head, _, row = written.splitlines()
        assert "95 % interval" in head
        assert "around zero" not in head
        assert "B − A" in row
