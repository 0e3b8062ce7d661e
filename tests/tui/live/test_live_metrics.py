"""Metrics on the live screen, and a disk that is full when a run is to begin."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.api import Ready
from harness.store.file.database import open_store
from harness.store.file.openings import ScoringSoFar
from harness.store.results import replace_scores
from harness.store.runs import CARD_COLUMNS, find_run, read_card, seal_run
from rosetta_tui.live.answers import answer_lines, judged_in_vain
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.session.engine import Engine
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.session.recorded import recorded, seal
from rosetta_tui.session.watched import WatchedRun
from scoring.card.claim import Claim, ClaimReason, Limit
from scoring.core.columns import TRANSLATIONS
from scoring.core.metric_rows import known_row
from scoring.core.specification import Tier, specification
from tests.desktop.trouble.causes import full, mounted, pulled
from tests.harness.evaluation import begun, chat_plan, corpus
from tests.harness.scripted import Scripted, serving, translated
from tests.tui.answered import STATE, answered
from tests.tui.new_run.form import Starting
from tests.tui.scenes import card_of, finished, scene
from tests.tui.screens import App, at_rest, lines, press, settle, text


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A data folder on a disk of 4 MiB."""
    home = tmp_path / "disk"
    home.mkdir()
    mounted(home, 4096)
    try:
        yield home
    finally:
        pulled(home)


@pytest.fixture
def endpoint() -> Iterator[Scripted]:
    with serving(translated) as scripted:
        yield scripted


async def test_a_run_that_had_no_room_to_begin_goes_on_once_there_is(
    disk: Path, endpoint: Scripted
) -> None:
    path = disk / "rosetta.sqlite"
    number, method = begun(path, corpus(5), chat_plan(endpoint.url))
    with closing(open_store(path)) as store:
        run_id = find_run(store, "last").run_id
    app, engine = Starting(path), Engine(Ready(path, number, run_id, method))
    app.initial = WatchedRun(engine.events, engine.control, run_id)
    with closing(open_store(path)):  # somebody has it open: it can be read on a full disk too
        async with app.run_test(size=(80, 24)) as pilot:
            with full(disk):
                engine.start()
                while "the disk is full" not in text(app):
                    await settle(pilot)
                shown = " ".join(text(app).split())
                assert "The run could not begin" in shown
                assert f"rosetta resume {run_id[:8]}" in shown
                assert "what was stored before is safe." in shown
            first = app.screen
            assert isinstance(first, LiveScreen)
            while "Go on" not in lines(app)[-1]:
                first.look_afterwards()
                await settle(pilot)
            await pilot.press("R")
            while not (isinstance(here := app.screen, LiveScreen) and here.live.complete):
                await settle(pilot)
            assert here is not first
            while "Complete." not in text(app):  # painted at the next look
                await settle(pilot)


ANALYSER = {
    "name": "eo.hfstol",
    "sha256": "ab" * 32,
    "engine": "builtin",
    "engine_version": "1",
    "acceptor": False,
    "reference_words": 10,
    "reference_accepted": 6,
}
SCORING: dict[str, object] = {
    "metrics": ["chrf_plus_plus"],
    "source_language": "en",
    "target_language": "eo",
    "analyser": ANALYSER,
}


async def test_acceptance_never_stands_without_that_of_the_references(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", scoring=SCORING)
    made.play([made.started(), made.progress(84, values={"fst_acceptance_rate": 0.58})])
    async with at_rest(App(made, watch=True), (160, 60)) as (app, pilot):
        assert "FST 0.58 (references 0.60) ×1.00" in text(app)
        await press(pilot, "m")
        assert "references 0.60: compare with that" in text(app)
        assert "0–1↑   weight 1.00 (0.25)" in text(app)


async def test_a_rate_without_an_analyser_on_record_says_unknown(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite")
    made.play([made.started(), made.progress(84, values={"fst_acceptance_rate": 0.58})])
    async with at_rest(App(made, watch=True), (160, 48)) as (app, _):
        assert "FST 0.58 (references unknown)" in text(app)


def test_what_failed_in_the_scoring_is_counted_once(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite")
    asked = ScoringSoFar(calls=9, failed=2)
    found = made.progress(84, values={"lbrag.f1_raised": 3.0}, scoring=asked)
    assert [line.plain for line in judged_in_vain(found)] == [
        "! F1: the code of its pack failed at 3 entries",
        "! 2 judgements failed",
    ]
    told = {"lbrag.semantic_score_judge_failed": 2.0, "au.llm_judge_binary_judge_failed": 1.0}
    found = made.progress(84, values=told, scoring=asked)
    (line,) = judged_in_vain(found)
    assert line.plain == "! 3 judgements failed: agreement 2, judged right 1"
    assert not list(judged_in_vain(made.progress(84, values={"au.llm_judge_binary": 1.0})))


async def test_what_is_done_after_the_last_entry_stands_in_the_header(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite")
    made.play([made.started(), made.progress(84, doing="asking embeddings\x1b[2J")])
    async with at_rest(App(made, watch=True), (120, 30)) as (app, pilot):
        assert lines(app)[0].endswith("running 00:41 · asking embeddings␛[2J")
        made.play([finished(made)])
        await settle(pilot)
        assert "asking" not in lines(app)[0]


async def test_reasons_that_have_no_room_are_counted(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite")
    made.missing = {
        "bleu": "short",
        "semantic_score": "a reason that takes some room " * 3,
        "comet_score": "another one of some length " * 9,
    }
    made.middle(84)
    async with at_rest(App(made, watch=True), (120, 36)) as (app, pilot):
        shown = " ".join(text(app).split())
        assert "no value: semantic (a reason that takes some room" in shown
        assert "no value: BLEU (short) · 1 metric off: m" in shown
        assert "another one" not in shown
        await press(pilot, "m")
        await press(pilot, "end")
        assert "another one of some length" in text(app)


async def test_a_small_terminal_says_how_many_metrics_are_off(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite")
    made.middle(84)
    async with at_rest(App(made, watch=True), (80, 24)) as (app, _):
        assert "emerging (automatic 0.46)   11 metrics off: m" in text(app)


async def test_the_end_of_a_run_reads_the_scores_of_its_entries_again(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=8, stored=8)
    made.play([made.started(), *made.scored(8), made.progress(8)])
    async with at_rest(App(made, watch=True), (160, 30)) as (app, pilot):
        assert "◆◆◆◆◇ deployable" not in text(app)
        better = TRANSLATIONS.kept({"chrf_plus_plus": 50.0, "exact_match_rate": 0.0}, 0.8)
        rows = [(n, made.results[n].statistics, better) for n in range(8)]
        replace_scores(made.store, made.number, rows)
        seal_run(made.store, made.number, json.dumps(card_of(made)), dict.fromkeys(CARD_COLUMNS))
        made.play([finished(made)])
        await settle(pilot)
        assert text(app).count("◆◆◆◆◇ deployable") == 8


@pytest.mark.parametrize("width", [100, 110, 120, 140, 160, 200])
async def test_inputs_floor_and_the_key_to_the_rest_are_never_cut(
    tmp_path: Path, width: int
) -> None:
    made = scene(tmp_path / "s.sqlite", scoring=SCORING)
    values = {id_: 0.5 for id_ in specification().metrics if id_ != "comet_score"}
    made.missing = {"comet_score": "no COMET scores: name a local checkpoint with --comet"}
    made.play([made.started(), made.progress(84, values=values)])
    async with at_rest(App(made, watch=True), (width, 40)) as (app, _):
        shown = " ".join(text(app).split())
        assert "FST 0.50 (references 0.60)" in shown
        assert "best floor 0.21 (one constant output)" in shown
        assert "COMET (no COMET scores" in shown or "1 metric off: m" in shown


@pytest.mark.parametrize("width", [100, 140, 160])
async def test_that_a_run_is_at_its_floor_is_read_in_full(tmp_path: Path, width: int) -> None:
    made = scene(tmp_path / "s.sqlite")
    values = {"composite": 0.2, "chrf_plus_plus": 12.0}
    ends = {"composite": (0.1, 0.3), "chrf_plus_plus": (10.0, 14.0)}
    made.play([made.started(), made.progress(84, values=values, intervals=ends)])
    async with at_rest(App(made, watch=True), (width, 48)) as (app, _):
        assert "baseline (automatic 0.20; not above either floor)" in text(app)


@pytest.mark.parametrize("width", [100, 140, 160])
@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (ClaimReason.IDENTICAL, "mostly one and the same output)"),
        (ClaimReason.CHRF_FLOOR, "chrF++ not above the floor)"),
    ],
)
async def test_why_no_more_may_be_claimed_is_read_to_its_end(
    tmp_path: Path, reason: ClaimReason, words: str, width: int
) -> None:
    made = scene(tmp_path / "s.sqlite")
    limits = (Limit(reason, Tier.BASELINE, floor=21.0, clear=False),)
    claim = Claim(0.55, Tier.FUNCTIONAL, Tier.BASELINE, limits)
    made.play([made.started(), made.progress(84, claim=claim)])
    async with at_rest(App(made, watch=True), (width, 48)) as (app, _):
        shown = text(app)
        assert words in shown
        assert shown.index("baseline (") < shown.index(words)


def test_the_page_of_metrics_says_what_each_of_them_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "data"))
    path, run = answered(tmp_path, "dialogue_state", [STATE])
    live = LiveRun()
    with closing(open_store(path)) as store:
        live.fold(recorded(store, run.run_id))
        card = read_card(store, run.id)
    assert card is not None
    seal(live, card)
    told = [line.plain for line in answer_lines(live)]
    place = next(number for number, line in enumerate(told) if line.startswith("slot F1 "))
    assert told[place + 1] == f"  {known_row('au.slot_f1').what}"
    assert [line for line in told if not line] == [""]  # nothing is missing: no room is kept for it
