"""Why a run is worse: counted reasons on the screens of runs and comparisons, and the way to their entries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from corpora.model.entry import Entry
from harness.compare.parts import RunFindings
from rosetta_tui.compare.screen import CompareScreen
from rosetta_tui.entry.pane import EntryPane
from rosetta_tui.entry.reasons import ReasonsTable, reasons_of
from rosetta_tui.live import examining
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.new_run.screen import NewRunScreen
from scoring.findings.finding import FindingCode, OutputFinding
from scoring.findings.writing import without_accents
from tests.harness.evaluation import corpus_of
from tests.tui.compare.compared import A, B, finished, small_corpus
from tests.tui.scenes import PREAMBLE, Scene, outputs_of, scene
from tests.tui.scenes import finished as ended
from tests.tui.screens import App, at_rest, press, settle, showing, stands, text, until


def running(folder: Path, *, stored: int = 30) -> Scene:
    made = scene(folder / "s.sqlite", total=30, stored=stored, outputs=outputs_of(stored, 3))
    made.play([made.started(), *made.scored(stored), made.progress(stored, in_flight=(), waiting=())])
    return made


async def test_walk_from_a_finished_run_to_the_entries_of_a_reason(tmp_path: Path) -> None:
    made = running(tmp_path)
    made.play([ended(made)])
    async with at_rest(App(made, watch=True), (120, 36)) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, LiveScreen)
        await until(pilot, lambda: "Why  10 begin alike “Here is the translation:” −" in text(app))
        await press(pilot, "w")
        assert app.screen.query_one(ReasonsTable).has_focus
        assert "begin alike" in text(app)
        await press(pilot, "enter")
        assert list(screen.table.entries.order) == list(range(0, 30, 3))
        assert "why:beginning" in text(app)
        assert "Findings   begin alike" in "\n".join(row.plain for row in screen.query_one(EntryPane).rows)
        await press(pilot, "w", "enter")
        assert screen.table.entries.count == 30, "the same reason again shows all"
        await press(pilot, "escape")
        assert screen.table.has_focus
        assert not app.screen.query_one(ReasonsTable).display
        await press(pilot, "slash", *"why", "colon", *"beg", "enter", "enter")
        assert "why:beginning" in text(app), "the first enter takes the one word that may follow"
        assert screen.table.entries.count == 10
        await pilot.resize_terminal(160, 48)
        await settle(pilot)
        assert "│   10 begin alike “Here" in text(app), "the panel uses the width that it has now"


async def test_reasons_grow_with_the_run_and_the_selection_follows(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=30, stored=30, outputs=outputs_of(30, 3))
    made.play([made.started(), *made.scored(15), made.progress(15)])
    async with at_rest(App(made, watch=True), (120, 36)) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, LiveScreen)
        assert "Why" not in text(app), "nothing is examined in the first seconds"
        assert screen.check_action("reasons", ()) is False
        screen._find_from = 0.0  # what its clock does
        await until(pilot, lambda: bool(screen.reasons))
        await press(pilot, "w", "enter")
        made.play(made.scored(30)[15:])
        await settle(pilot)
        assert screen._findings is not None  # what was found meanwhile
        assert screen._find_from > 0.0, "not due at once"  # time of the next examination


async def test_of_many_outputs_a_part_is_examined_until_the_run_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examining, "MOST_EXAMINED", 12)
    made = running(tmp_path)
    async with at_rest(App(made, watch=True), (120, 36)) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, LiveScreen)
        screen._find_from = 0.0  # what its clock does
        await until(pilot, lambda: "Why  in 12 of 30 outputs  4 begin alike" in text(app))
        made.play([ended(made)])
        await until(pilot, lambda: "Why  10 begin alike" in text(app))


async def test_run_without_findings_says_nothing_of_reasons(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=3, stored=3)
    made.play([made.started(), *made.scored(3), made.progress(3, in_flight=(), waiting=()), ended(made)])
    async with at_rest(App(made, watch=True), (120, 36)) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, LiveScreen)
        await until(pilot, lambda: screen._findings is not None)  # nothing on the screen tells
        assert not screen.reasons
        assert "Why  " not in text(app)
        await press(pilot, "w")
        assert not screen.query_one(ReasonsTable).display


async def test_comparison_counts_reasons_of_both_runs(tmp_path: Path) -> None:
    path, corpus = tmp_path / "compared.sqlite", small_corpus(24, 0)
    right = [entry.reference for entry in corpus.entries]
    spoilt = [PREAMBLE + output if place % 2 else output for place, output in enumerate(right)]

    def fill() -> None:
        finished(path, corpus, spoilt, "alpha", number=0)
        finished(path, corpus, right, "beta", number=1)

    making = Thread(target=fill)
    making.start()
    making.join()
    async with showing(App(None, path), CompareScreen(path, (A, B)), (120, 36)) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        await until(pilot, lambda: "Why  12 → 0 begin alike" in text(app))
        await press(pilot, "w", "enter")  # from "it is worse" to the twelve entries, for this reason
        assert sorted(screen.table.entries.order) == list(range(1, 24, 2))
        assert "why:beginning" in text(app)
        assert "A Findings" in "\n".join(row.plain for row in screen.query_one(EntryPane).rows)
        await press(pilot, "q")
        assert screen.table.entries.count == 24
        await press(pilot, "w")
        assert "a: strip, +" in text(app)
        await press(pilot, "a")
        await until(pilot, lambda: stands(app, NewRunScreen))
        form = app.screen
        assert isinstance(form, NewRunScreen)
        assert form.draft.values["strip"] == ("prose",), "the run of A, with what takes its preambles off"


def findings(**counts: int) -> RunFindings:
    made = tuple(
        OutputFinding(code=FindingCode(code), count=count, of=50, cost=None, entries=tuple(range(count)))
        for code, count in counts.items()
    )
    return RunFindings(made, {one.code: tuple(range(one.count)) for one in made}, {}, 50)


def test_reasons_of_two_runs_begin_with_what_differs_most() -> None:
    worse, better = findings(beginning=20, copied=30, quotes=5), findings(copied=28, quotes=9)
    reasons = reasons_of([(worse, None), (better, None)])
    assert [(reason.code.value, reason.counts) for reason in reasons] == [
        ("beginning", (20, 0)),
        ("quotes", (5, 9)),
        ("copied", (30, 28)),
    ]
    assert [reason.code.value for reason in reasons_of([(worse, None)])] == ["copied", "beginning", "quotes"]
    [first, *_] = reasons_of([(worse, frozenset(range(4)))])
    assert (first.counts, first.totals) == ((4,), (4,)), "only entries that are compared count"


NOUNS = ["hundo", "kato", "birdo", "libro", "tablo", "domo", "arbo", "floro", "pomo", "akvo", "pano", "lakto"]
LATIN = str.maketrans("abdeghijklmnoprstuv", "абдегхийклмнопрстув")
FAULTS: dict[str, tuple[str, Callable[[str, str], str], bool]] = {
    "preambles": ("beginning", lambda _, right: f"Here is the translation: {right}", False),
    "copies": ("copied", lambda source, _: source, False),
    "missing diacritics": ("letters", lambda _, right: without_accents(right), True),
    "quotes": ("quotes", lambda _, right: f"“{right}”", False),
    "truncation": ("cut", lambda _, right: right[:9], False),
    "wrong script": ("letters", lambda _, right: right.translate(LATIN), True),
}
"""What is wrong with a run → the finding, how an output is spoilt, and whether all are."""


@pytest.mark.parametrize("fault", FAULTS)
async def test_at_most_four_keys_lead_from_a_worse_run_to_its_entries_for_a_reason(tmp_path: Path, fault: str) -> None:
    finding, spoil, every = FAULTS[fault]
    path = tmp_path / "rosetta.sqlite"
    both = [*zip(NOUNS, NOUNS[3:] + NOUNS[:3], strict=True)]
    pairs = [
        *((f"{one} and {other} sleep on the table.", f"{one.title()} dormas sur granda tablo kun {other}.") for one, other in both),
        *((f"Did {one} see {other} there?", f"Ĉu {one} ankaŭ ŝajne vidis ĉi tie {other}?") for one, other in both),
    ]  # fmt: skip
    corpus = corpus_of([Entry(id=n, source=s, reference=r, segment="development") for n, (s, r) in enumerate(pairs, 1)])
    worse = [spoil(source, right) if every or place > 11 else right for place, (source, right) in enumerate(pairs)]

    def fill() -> None:
        finished(path, corpus, [right for _, right in pairs], "alpha", number=0)
        finished(path, corpus, worse, "beta", number=1)

    making = Thread(target=fill)
    making.start()
    making.join()
    keys = ["c", "w", "enter"]
    async with at_rest(App(None, path), (120, 36)) as (app, pilot):
        await press(pilot, keys[0])
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        await until(pilot, lambda: "Why  " in text(app))
        await press(pilot, *keys[1:])
        assert screen.table.entries is not None
        expected = range(24) if fault == "wrong script" else range(12, 24)
        assert sorted(screen.table.entries.order) == [*expected]
        assert f"why:{finding}" in text(app)
        assert f"{len(expected)} of 24" in text(app)
    assert len(keys) <= 4


async def test_twenty_entries_are_seen_at_120_by_36_live_and_finished(tmp_path: Path) -> None:
    made = running(tmp_path)
    async with at_rest(App(made, watch=True), (120, 36)) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, LiveScreen)
        screen._find_from = 0.0  # what its clock does
        await until(pilot, lambda: "begin alike" in text(app))
        assert screen.table.size.height > 20, "a title and the entries"
        screen.live.looks = ("10 begin alike (−3.3 chrF++)", "difficulty 1: chrF++ 52.0 of 4")
        made.play([ended(made)])
        await until(pilot, lambda: "Look first" in text(app))
        await settle(pilot)
        assert screen.table.size.height > 20


async def test_chosen_reason_leaves_room_for_its_entries_on_a_small_screen(tmp_path: Path) -> None:
    made = running(tmp_path)
    made.play([ended(made)])
    async with at_rest(App(made, watch=True), (80, 24)) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, LiveScreen)
        await until(pilot, lambda: "begin alike" in text(app))
        await press(pilot, "w", "enter")
        await until(pilot, lambda: screen.table.entries.count == 10)
        await settle(pilot)
        assert screen.table.has_focus
        assert screen.table.size.height > 6
        await press(pilot, "w", "enter")
        await until(pilot, lambda: screen.table.entries.count == 30)
