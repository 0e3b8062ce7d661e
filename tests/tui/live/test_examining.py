"""What is worked out beside a run: its parts as a table that filters, its difference to an earlier run, failed entries."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from math import inf
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from corpora.model.entry import Entry, Segment
from harness.compare import parts as compare_parts
from harness.compare.pairs import LiveDifference, RunningDifference
from harness.compare.parts import SubsetScorer, part_tags, run_parts, run_tags
from harness.compare.rows import scorer_of
from harness.core.query import Cancelled
from harness.run.events import EntryScored, Started
from harness.store.live_runs import begin_stretch
from harness.store.results import add_results, read_results
from harness.store.runs import find_run, forget_failed
from harness.store.sqlite.database import open_store
from rosetta_tui.live.examining import against_words
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.report.run import progress_line
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.toolkit.result_table import ResultTable
from scoring.statistics.intervals import bootstrap
from tests.tui.compare.compared import finished as ended
from tests.tui.compare.compared import small_corpus, spoilt
from tests.tui.scenes import SCORER, finished, result, scene, values_of
from tests.tui.screens import App, at_rest, notices, press, text, until

SOURCES = {
    0: "dog",
    1: "Where is the 2nd station?",
    2: "The dog, my friend, sleeps in the house today.",
    3: "Stop! The dog is in the house.",
    4: "Stop it now!",
    5: "The dog sleeps well in the old house and never wakes before noon",
}


def test_parts_come_from_the_sources_where_a_corpus_says_nothing() -> None:
    entries = {place: Entry(id=place, source=source, reference="x") for place, source in SOURCES.items()}
    made = part_tags([{place: entries[place] for place in block} for block in ((3, 0, 4), (1, 2, 5))])
    tags = {name: {p: (*tag.names, None)[tag.of(np.array(p))] for p in entries} for name, tag in made.items()}
    assert tags["length"] == dict.fromkeys((0, 4), "1–4 words") | {1: "5–7 words", 3: "5–7 words"} | dict.fromkeys(
        (2, 5), "8 words or more"
    )
    kinds = ["none inside", "question", "comma, dash, bracket", "several sentences", "exclamation", "none inside"]
    assert list(tags["punctuation"].values()) == kinds
    assert [place for place, name in tags["numbers"].items() if name == "a number"] == [1]
    assert list(tags["words seen once"].values()) == ["0", "3 or more", "3 or more", "0", "1–2", "3 or more"]
    secret = {place: entry.model_copy(update={"segment": Segment.HELD_OUT}) for place, entry in entries.items()}
    assert part_tags([secret]) == {}, "nothing is told of what secret texts look like"
    assert part_tags([]) == {}


def test_part_has_the_scores_of_its_entries_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_parts, "READ_AT_ONCE", 9)  # a part is the sum of several blocks
    with closing(scene(tmp_path / "s.sqlite")) as made:
        run = find_run(made.store, made.run_id)
        tags = run_tags(made.store, run, run.positions)
        parts = run_parts(made.store, run, tags)
        for part in parts:
            places = {*tags[part.dimension].places(part.name)}
            results = [result for result in made.results if result.position in places]
            own = values_of(made.entries, results)
            assert part.scores.n == len(results)
            assert part.scores.values.get("chrf_plus_plus") == pytest.approx(own["chrf_plus_plus"])
            assert bool(part.scores.intervals) is (len(results) >= 10)
            exact = bootstrap(SCORER.unpack_table([result.statistics for result in results]))
            for id_ in ("chrf_plus_plus", "composite") if len(results) >= 10 else ():
                interval = part.scores.intervals[id_]
                ends, width = (exact[id_].lower, exact[id_].upper), exact[id_].upper - exact[id_].lower
                assert (interval.lower, interval.upper) == pytest.approx(ends, abs=width / 4)
        assert {part.dimension for part in parts} >= {"difficulty", "length", "punctuation"}


def test_subset_scores_read_new_rows_alone_and_equal_all(tmp_path: Path) -> None:
    with closing(scene(tmp_path / "s.sqlite", stored=60)) as made:
        run, read = find_run(made.store, made.run_id), list[str]()
        made.store.set_trace_callback(lambda sql: read.append(sql) if "statistics" in sql else None)
        subset = SubsetScorer(run.id, scorer_of(made.store, run))

        def equal(places: Sequence[int], new: Sequence[int]) -> None:
            del read[:]
            scores = subset.scores(made.store, places)
            assert [json.loads(re.findall(r"'(\[.*\])'", sql)[0]) for sql in read] == ([[*new]] if new else [])
            again = SubsetScorer(run.id, scorer_of(made.store, run)).scores(made.store, places)
            stored = [result for result in read_results(made.store, run.id) if result.position in {*places}]
            own = values_of(made.entries, stored)
            assert {*scores} == {*again} == {"chrf_plus_plus", "composite"}
            for id_, (value, ends) in scores.items():
                assert value == again[id_][0] == own[id_]
                assert (ends is None) is (len(stored) < 10)
                if ends is not None:  # of other draws
                    assert ends == pytest.approx(again[id_][1], abs=(ends[1] - ends[0]) / 4)

        odd = range(1, 120, 2)
        equal(odd[3::-1], [1, 3, 5, 7])  # in any order
        equal(odd[:20], odd[4:20])
        equal(odd, odd[20:])
        equal(odd, odd[30:])  # what is not stored is looked for again
        add_results(made.store, run.id, [result(place, made.entries[place], "nova eligo") for place in range(60, 120)])
        equal(odd, odd[30:])
        equal(odd, [])
        equal(odd[1:], odd[1:])  # one fits no longer
        assert forget_failed(made.store, run.id) == 1
        begin_stretch(made.store, run.id)
        equal(odd[1:], odd[1:])
        with pytest.raises(Cancelled):
            subset.scores(made.store, range(120), lambda: True)
        made.store.execute("UPDATE results SET statistics = x'00' WHERE position = 2")
        assert subset.scores(made.store, range(120)) == {}


async def test_walk_from_the_parts_to_their_entries(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite")
    made.middle(84)
    async with at_rest(App(made, watch=True), (120, 40)) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, LiveScreen)
        await press(pilot, "b")
        table = screen.query_one("#parts", ResultTable)
        await until(pilot, lambda: table.rows.count > 0)
        assert table.has_focus
        assert "part by" in text(app)
        await press(pilot, "enter")
        part = screen._parts[0]  # the first line, on which the cursor is
        assert [*screen.table.entries.order] == [*screen.tags[part.dimension].places(part.name)]
        assert f"filter {part.dimension}:" in text(app)
        assert screen.following is False
        await press(pilot, "b", "enter")
        assert screen.table.entries.count == len(made.entries), "the same part again shows all"
        made.play([*made.scored(84), made.progress(84), finished(made)])
        await press(pilot, "b")
        assert not table.display


def difference(decided: int | None = None, *, better: bool | None = None) -> LiveDifference:
    so_far = RunningDifference(2.14, -0.42, 4.61, 80, 0.95, "higher")
    return LiveDifference("1a2b3c4d-0", "plain-v1", "chrf_plus_plus", so_far, decided, better)


async def test_difference_to_an_earlier_run_is_told_in_a_line(tmp_path: Path) -> None:
    with closing(scene(tmp_path / "s.sqlite")) as made:
        live = LiveRun()
        live.fold([made.started(), made.progress(84, against=difference())])
        assert against_words(live, difference()).plain == (
            "Against plain-v1 (1a2b3c4d)  so far +2.1 chrF++ (−0.4 … +4.6) · not decided on 80 entries"
        )
        decided = against_words(live, difference(60, better=False)).plain
        assert decided.endswith("worse since entry 60 · 36 more, $0.0096, 00:22: d ends it")
        line = progress_line(made.progress(84, against=difference(), answered={"chrf_plus_plus": 68.0}))
        assert " (68.0 without failed), against 1a2b3c4d +2.1 (−0.4 … +4.6)" in line
        nothing = replace(difference(), so_far=None)
        assert against_words(live, nothing).plain.endswith("no entry of both runs is scored yet")
    again = scene(tmp_path / "t.sqlite")
    answered = {"chrf_plus_plus": 68.04, "composite": 0.475}
    again.play([again.started(), *again.scored(84), again.progress(84, against=difference(), answered=answered)])
    async with at_rest(App(again, watch=True), (120, 36)) as (app, pilot):
        assert "so far +2.1 chrF++ (−0.4 … +4.6)" in text(app)
        assert "without 1 failed: chrF++ 68.0 · composite 0.47" in text(app)
        await press(pilot, "a")
        await until(pilot, lambda: "No complete run of this corpus" in " ".join(notices(app)))


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """A store with three runs over one corpus."""
    path = tmp_path / "s.sqlite"
    for model, right in (("weak", range(2)), ("strong", range(18)), ("now", range(9))):
        ended(path, small_corpus(20, secret=0), spoilt(small_corpus(20, secret=0), right), model)
    return path


async def test_best_earlier_run_is_offered_and_compared_with(three: Path) -> None:
    path, few = three, small_corpus(20, secret=0)
    app = App(None, path, watch=True)
    with closing(open_store(path)) as store:
        run = find_run(store, "last")
        results = list(read_results(store, run.id))
        app.queue(Started.of(run, few.dataset, 0))
        for result in results[:10]:
            app.queue(EntryScored(run.run_id, result))
    async with at_rest(app, (120, 36)) as (app, pilot):
        await press(pilot, "a")
        await until(pilot, lambda: "Compare with, while it runs" in text(app))
        screen_text = text(app)
        assert screen_text.index("strong") < screen_text.index("weak")
        await press(pilot, "enter")
        await until(pilot, lambda: "Against made" in text(app))
        assert "not decided on 20 entries" in text(app), "what the store has already counts at once"


@pytest.mark.parametrize(("still", "put_off", "begins"), [(inf, inf, False), (0.0, inf, True), (inf, 0.0, True)])
async def test_nothing_is_examined_while_somebody_walks_through_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, still: float, put_off: float, begins: bool
) -> None:
    made, begun = scene(tmp_path / "s.sqlite"), list[int]()
    made.middle(84)
    monkeypatch.setattr("rosetta_tui.live.screen.EXAMINED_SECONDS", 0.0)
    monkeypatch.setattr("rosetta_tui.live.examining.STILL_SECONDS", still)
    monkeypatch.setattr("rosetta_tui.live.examining.PUT_OFF_SECONDS", put_off)
    monkeypatch.setattr("rosetta_tui.live.examining.run_findings", lambda *_: begun.append(1))
    monkeypatch.setattr(LiveScreen, "moved", 0.0)
    async with at_rest(App(made, watch=True), (120, 40)) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, LiveScreen)
        screen.table.move_to_place(60)
        await pilot.pause()
        assert screen.moved == 0, "as a run that is followed does"
        await press(pilot, "down")
        assert screen.moved > 0
        screen.look()
        await app.workers.wait_for_complete()
        assert bool(begun) is begins


async def test_screen_looks_less_often_while_somebody_walks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, looks, now = scene(tmp_path / "s.sqlite"), list[float](), 1e9
    async with at_rest(App(made, watch=True), (120, 40)) as (app, _):
        screen = app.screen
        assert isinstance(screen, LiveScreen)
        monkeypatch.setattr(LiveScreen, "look", lambda _: looks.append(now))
        monkeypatch.setattr("rosetta_tui.live.screen.time", SimpleNamespace(monotonic=lambda: now, time=lambda: now))
        for later, moved in ((1e9, 1e9), (1e9 + 0.5, 1e9 + 0.4), (1e9 + 0.7, 1e9 + 0.4), (1e9 + 0.8, 0.0)):
            now, screen.moved = later, moved
            screen.look_in_turn()
        monkeypatch.undo()
    assert looks == [1e9, 1e9 + 0.7, 1e9 + 0.8]
