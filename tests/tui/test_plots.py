"""Plots: the numbers of the cards, at their places, told by word for every point, at any size."""

from __future__ import annotations

import csv
import json
import math
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from harness.store.run_list import RunSummary, list_runs
from harness.store.sqlite.database import open_store
from harness.store.sqlite.trouble import pack_positions
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.plots import points as plot_points
from rosetta_tui.plots.points import (
    Axis,
    Effort,
    PlotKind,
    PlotPicture,
    Point,
    by_corpus,
    cost,
    difficulty,
    efforts_of,
    latency,
    metric_shown,
    metrics_of,
    scores,
)
from rosetta_tui.plots.screen import PlotsScreen
from rosetta_tui.plots.view import Lines, plane
from rosetta_tui.show.card_fields import score
from tests.review.thorough import examples
from tests.tui.golden import SMALL, look
from tests.tui.runs.made import run
from tests.tui.scenes import HOSTILE, acting, card_of, scene, sealed
from tests.tui.screens import App, at_rest, lines, press, press_in_turn, text, until

NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)


def card(composite: float | None, price: float | None = 0.001) -> dict[str, Any]:
    made: dict[str, Any] = {
        "dataset": {"sha256": "a"}, "scores": {"composite": composite, "confidence_intervals": {}},
        "cost": {"cost_per_entry_usd": price},
    }  # fmt: skip
    if composite is not None:
        ends = {"ci_lower": composite - 0.05, "ci_upper": composite + 0.05}
        made["scores"]["confidence_intervals"]["composite"] = ends
    return made


def runs_of(*cards: dict[str, Any] | None) -> list[RunSummary]:
    return [
        run(number, run_id=f"{number:08}-run", model_slug=f"m{number}", card=each) for number, each in enumerate(cards)
    ]


def drawn(line: list[tuple[str, str]]) -> str:
    return "".join(piece for piece, _ in line)


# Axes


@given(st.lists(NUMBERS, max_size=8), st.integers(1, 20), st.booleans())
@examples(30, 100)
def test_numbers_have_cells_and_ticks(numbers: list[float], most: int, logarithmic: bool) -> None:
    axis = Axis.of(numbers, logarithmic=logarithmic)
    assert axis.low < axis.high
    places = [axis.place(number, 40) for number in sorted(numbers)]
    assert places == sorted(places)
    assert all(0 <= place < 40 for place in places)
    ticks = axis.ticks(most)
    assert len(ticks) <= most + 2
    assert ticks == sorted(ticks)
    slack = 1e-9 * max(abs(axis.low), abs(axis.high))
    assert all(axis.low - slack <= tick <= axis.high + slack for tick in ticks)


def test_ticks_as_a_person_would_choose_them() -> None:
    assert Axis(0.0, 1.05).ticks(6) == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert Axis(38.0, 71.0).ticks(4) == [40.0, 50.0, 60.0, 70.0]
    powers = Axis(0.0002, 0.02, logarithmic=True).ticks(4)
    assert powers == pytest.approx([0.0003, 0.001, 0.003, 0.01])


def test_no_two_labels_of_an_axis_read_alike() -> None:
    assert Axis(0.616, 0.631).labels(8, "{:.2f}".format) == [(0.62, "0.62"), (0.63, "0.63")]
    assert [words for _, words in Axis(0.6161, 0.6165).labels(8, "{:.2f}".format)] == ["0.62"]


# Points


def test_scores_stand_at_their_places_with_their_intervals() -> None:
    picture = scores(runs_of(card(0.2), card(0.8), card(None)), "composite")
    assert [point.across for point in picture.points] == [0.2, 0.8]
    assert picture.points[1].ends == pytest.approx((0.75, 0.85))
    assert picture.beside == "not drawn (no composite): m2"
    layout = Lines.of(picture, 80)
    line = drawn(layout.line(picture.points[1], focus=True))
    bar = line[layout.name + 3 :][: layout.bar]
    assert bar.index("●") == layout.axis.place(0.8, layout.bar)
    assert bar.index("├") == layout.axis.place(0.75, layout.bar)
    assert bar.index("┤") == layout.axis.place(0.85, layout.bar)
    assert line.startswith("▸ m1")
    assert line.endswith(" 0.80")


PAIR = st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.5]), st.sampled_from([0.1, 0.3, 0.6]))


@given(st.lists(PAIR, max_size=12))
@examples(30, 100)
def test_the_front_holds_what_no_run_beats(pairs: list[tuple[float, float]]) -> None:
    """Against the definition: a run is beaten where another is no dearer and no worse, and one of them less."""
    picture = cost(runs_of(*(card(score, price) for price, score in pairs)), "composite")
    for point in picture.points:
        beaten = any(
            (price < point.across and score >= (point.up or 0)) or (price <= point.across and score > (point.up or 0))
            for price, score in pairs
        )
        assert point.front is not beaten
        assert point.record["pareto_front"] is not beaten


def test_a_run_of_unknown_cost_is_said_beside_and_a_free_one_is_drawn() -> None:
    picture = cost(runs_of(card(0.5, None), card(0.4, 0.0), card(0.9, 0.01), card(0.9, 0.0001)), "composite")
    assert picture.beside == "not drawn (unknown cost or no composite): m0"
    assert picture.logarithmic
    lines = [drawn(line) for line in plane(picture, 80, 20, 0)]
    assert "free" in lines[-2]
    assert sum(line.count("◆") + line.count("○") for line in lines) >= 3


def free(composite: float, tokens: float | None, seconds: float | None) -> dict[str, Any]:
    return card(composite, 0.0) | {"tokens": {"tokens_per_entry": tokens}, "speed": {"avg_latency_seconds": seconds}}


def test_free_models_are_told_apart_by_tokens_or_seconds() -> None:
    runs = runs_of(free(0.5, 200.0, 2.0), free(0.6, 100.0, 4.0), free(0.4, 300.0, None))
    assert efforts_of(runs) == [Effort.TOKENS, Effort.SECONDS]
    by_tokens = cost(runs, "composite", Effort.TOKENS)
    assert [(p.across, p.front) for p in by_tokens.points] == [
        (100.0, True), (200.0, False), (300.0, False)
    ]  # fmt: skip
    assert by_tokens.across.startswith("tokens an entry took")
    assert by_tokens.points[0].record["tokens_per_entry"] == 100.0
    by_seconds = cost(runs, "composite", Effort.SECONDS)
    assert [(p.across, p.front) for p in by_seconds.points] == [(2.0, True), (4.0, True)]
    assert by_seconds.beside == "not drawn (unknown seconds or no composite): m2"


def test_money_goes_across_where_any_was_paid_or_nothing_else_is_known() -> None:
    paid = [card(0.5, 0.001) | {"tokens": {"tokens_per_entry": 9.0}}, free(0.6, 8.0, None)]
    assert efforts_of(runs_of(*paid)) == [Effort.COST, Effort.TOKENS]
    assert efforts_of(runs_of(card(0.5, 0.0), card(0.6, 0.0))) == [Effort.COST]


def test_less_is_better_for_an_error_rate() -> None:
    cards = [card(0.5, price) for price in (0.1, 0.1)]
    for each, rate in zip(cards, (40.0, 60.0), strict=True):
        each["scores"]["ter"] = rate
    assert [point.front for point in cost(runs_of(*cards), "ter").points] == [True, False]


def test_runs_without_a_composite_are_drawn_by_what_ranks_their_task() -> None:
    answers = card(None)
    answers["scoring"] = {"task": "qa", "metrics": ["lbrag.em", "lbrag.f1", "lbrag.rlc"]}
    answers["scores"] |= {"lbrag.em": 0.5, "lbrag.f1": 0.6, "lbrag.rlc": 1.0}
    asked = runs_of(answers)
    assert metrics_of(asked) == ["lbrag.f1", "lbrag.em", "lbrag.rlc"]
    assert metric_shown(asked, "composite") == "lbrag.f1"
    assert metric_shown(asked, "lbrag.rlc") == "lbrag.rlc"
    assert metric_shown(runs_of(card(0.5), answers), "composite") == "composite"
    assert metric_shown(runs_of(card(None)), "composite") == "composite"
    assert [point.across for point in scores(asked, "lbrag.f1").points] == [0.6]


def test_latencies_are_counted_where_they_belong() -> None:
    seconds = [0.1] * 50 + [1.0] * 45 + [10.0] * 5
    picture = latency(runs_of(card(0.5)), {"00000000-run": seconds})
    (point,) = picture.points
    assert sum(point.counts) == 100
    assert (point.counts[0], point.counts[-1]) == (50, 5)
    assert point.ends == pytest.approx(tuple(np.percentile(seconds, [50, 95])))
    assert point.record["p95_seconds"] == pytest.approx(np.percentile(seconds, 95))


def test_difficulty_stands_level_by_level() -> None:
    one, two = card(0.5), card(0.6)
    one["scores"]["by_difficulty"] = {
        "1": {"n": 4, "composite": 0.9}, "3": {"n": 2, "composite": 0.2},
    }  # fmt: skip
    two["scores"]["by_difficulty"] = {"1": {"n": 4, "composite": 0.8}}
    picture = difficulty(runs_of(one, two), "composite")
    assert [(p.heading, p.name, p.across) for p in picture.points] == [
        ("difficulty 1", "m0", 0.9),
        ("difficulty 1", "m1", 0.8),
        ("difficulty 3", "m0", 0.2),
    ]


def test_runs_of_other_corpora_and_without_a_card_are_apart() -> None:
    other = card(0.5)
    other["dataset"] = {"sha256": "b"}
    found = by_corpus(runs_of(card(0.5), None, other, card(0.4)))
    assert [len(runs) for runs in found.values()] == [2, 1]


@given(
    st.lists(st.tuples(NUMBERS, NUMBERS, st.sampled_from(HOSTILE)), min_size=1, max_size=9),
    st.integers(20, 200), st.integers(4, 60), st.sampled_from(list(PlotKind)),
)  # fmt: skip
@examples(20, 100)
def test_any_picture_fits_any_room_and_is_harmless(
    numbers: list[tuple[float, float, str]], width: int, height: int, kind: PlotKind
) -> None:
    points = tuple(
        Point("r", name, across, "", ends=(across, across + 1), up=up, up_ends=(up - 1, up + 1))
        for across, up, name in numbers
    )
    picture = PlotPicture(kind, "across", "up", points, "{:.3g}".format, "{:.3g}".format)
    layout = Lines.of(picture, width)
    lines = [layout.line(point, focus=False) for point in points] + layout.foot()
    lines += plane(picture, width, height, 0)
    for line in lines:
        assert acting(drawn(line)) == []
        assert cell_len(drawn(line)) <= max(width, 40)


# The screen


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A store with three sealed runs of one corpus."""
    made = sealed(tmp_path / "s.sqlite")
    base: dict[str, Any] = {**card_of(made), "dataset": {"sha256": "a"}}
    base["scores"] = {
        **base["scores"],
        "by_difficulty": {str(n): {"n": 5, "composite": 0.9 - n / 10} for n in range(1, 6)},
    }
    names = [row[1] for row in made.store.execute("PRAGMA table_info(runs)")][1:]
    columns = ", ".join(names)
    for number, (shift, price) in enumerate([(0.0, 0.0003), (-0.2, 0.0001), (0.05, None)]):
        each = deepcopy(base)
        each["scores"]["composite"] += shift
        each["cost"] = {"cost_per_entry_usd": price}
        changed = {
            "run_id": f"'{number}f3b8c1e-0000'", "created": f"created + {number * 3600}",
            "model_slug": f"'model-{number}'",
        }  # fmt: skip
        values = ", ".join(changed.get(name, name) for name in names)
        made.store.execute(f"INSERT INTO runs ({columns}) SELECT {values} FROM runs WHERE id = {made.number}")
        added = made.store.execute("SELECT max(id) FROM runs").fetchone()[0]
        made.store.execute("UPDATE runs SET run_card = ? WHERE id = ?", (json.dumps(each), added))
        fields = [row[1] for row in made.store.execute("PRAGMA table_info(results)")][1:]
        made.store.execute(
            f"INSERT INTO results (run, {', '.join(fields)}) SELECT {added}, {', '.join(fields)}"
            f" FROM results WHERE run = {made.number}"
        )
    made.store.execute("DELETE FROM results WHERE run = ?", (made.number,))
    made.store.execute("DELETE FROM runs WHERE id = ?", (made.number,))
    made.close()
    return made.path


async def test_plots_tell_every_point(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot_points, "when", lambda _: "2023-11-14 22:13")
    async with at_rest(App(None, stored), SMALL) as (app, pilot):
        await press(pilot, "p")
        for kind in PlotKind:
            await press(pilot, "down")
            look(f"plots-{kind.name.lower()}", app)
            await press(pilot, "tab")
        await press(pilot, "2")
        await press(pilot, "home")
        assert "model-1" in text(app)
        assert "$0.0001 an entry" in text(app)
        assert "not drawn (unknown cost or no composite): model-2" in text(app)
        await press(pilot, "right")
        assert "$0.0003 an entry" in text(app)
        await press(pilot, "enter")
        assert isinstance(app.screen, LiveScreen)
        assert app.screen.live.started is not None
        assert app.screen.live.started.run_id == "0f3b8c1e-0000"


async def test_empty_plot_says_why_and_leaves_room_for_others(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), (160, 48)) as (app, pilot):
        await press_in_turn(pilot, "p", "4")
        assert "Nothing to draw: no composite by difficulty." in lines(app)[3]
        assert "Scores" in text(app).partition("Nothing to draw")[2], "the other plots stand below"


async def test_marked_runs_are_exported(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(stored.parent)
    with closing(open_store(stored)) as store:
        change = "UPDATE runs SET positions = ? WHERE run_id LIKE '1%'"
        store.execute(change, (pack_positions(range(7)),))
        composites = {each.run_id: score(each, "composite") or 0.0 for each in list_runs(store)}
    async with at_rest(App(None, stored), (80, 24)) as (app, pilot):
        await press(pilot, "space", "space", "p")
        assert "over fewer than 24 entries: model-1 (7)" in text(app)
        await press(pilot, "e", "enter", "enter")
        with Path("plot-scores.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert [row["model"] for row in rows] == ["model-1", "model-2"]
        for row in rows:
            assert math.isclose(float(row["composite"]), composites[row["run_id"]])
        await press(pilot, "y")
        assert app.clipboard.startswith("1f3b8c1e-0000\t")


async def test_without_a_finished_run_it_says_what_to_do(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite")
    async with at_rest(App(made), (80, 24)) as (app, pilot):
        await press(pilot, "p", "down", "tab", "m", "b", "e", "y", "enter")
        assert isinstance(app.screen, PlotsScreen)
        assert "Nothing to draw yet." in text(app)


async def test_tall_screens_show_more_of_what_is_chosen(stored: Path) -> None:
    async with at_rest(App(None, stored), (160, 48)) as (app, pilot):
        bars = [line for line in lines(app) if "BLEU" in line and "●" in line]
        assert len(bars) == 1, "Home has every score of the run as a bar"
        await press(pilot, "p")
        await until(pilot, lambda: "Latency" in "\n".join(lines(app)[6:]))
        assert "Cost and quality" in "\n".join(lines(app)[6:])
        await press(pilot, "2")
        assert "Latency" not in "\n".join(lines(app)[6:]), "a plane takes all the room"
    async with at_rest(App(None, stored), (160, 36)) as (app, pilot):
        assert not [line for line in lines(app) if "BLEU" in line]
