"""Lists of runs: what is shown of which, tags and a note, of which nothing is lost, and scoring again."""

from __future__ import annotations

import ast
import json
import sqlite3
import time
from asyncio import to_thread
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Input, TextArea

import rosetta_tui
from corpora.samples import DEMO_CORPUS, DEMO_WEAK, sample_path
from harness.core.failures import RunState, UsageError
from harness.core.query import Query, QueryError, QueryTerm
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.store.attachments import MOST_NOTE, CheckedHere, Recount, change_words
from harness.store.corpora.entries import shown_entries
from harness.store.deletion import trash
from harness.store.results import read_results
from harness.store.run_list import RunSummary, list_runs
from harness.store.runs import find_run, set_live
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import Live
from rosetta_tui.commands import rosetta
from rosetta_tui.entry.explaining import Explaining
from rosetta_tui.runs.actions import NotesScreen
from rosetta_tui.runs.resume import ScoreAgainScreen, fields_of, options_of
from rosetta_tui.runs.table import COLUMNS, SORT_WORDS, RunRows, run_words, shown_runs
from rosetta_tui.show.card_fields import score
from rosetta_tui.show.run_columns import RunColumns
from rosetta_tui.show.run_facts import HEADINGS, OTHER_INPUTS_WORDS, run_line
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.ordered_table import RowOrder
from tests.harness.card import factory
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus
from tests.review.thorough import examples
from tests.tui.commands.command_line import connection, harmless, rosetta_runs
from tests.tui.runs.made import run
from tests.tui.scenes import HOSTILE, acting, sealed
from tests.tui.screens import App, at_rest, press, press_in_turn, settle, text

__all__ = ["connection"]

RUNS = [
    run(4, state=RunState.STOPPED, card=None, tags=("baseline", "Étude")),
    run(3, dataset_id="crk-stories", failed=2, note="for the paper: niwâpamâw"),
    run(2, state=RunState.RUNNING, card=None, model_slug="gpt 5"),
    run(1, method="glossary", imported=True),
]


def numbers(where: str = "", sort: str = "when", *, turned: bool = False) -> list[int]:
    return [run.number for run in shown_runs(RUNS, RowOrder(sort, turned, Query.of(where, RunColumns(RUNS).fields)))]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("", [2, 4, 3, 1]), ("state:stopped", [4]), ("state:failed", [3]), ("state:imported", [1]),
        ("tag:BASELINE", [4]), ("tag:e\u0301tude", [4]), ("tag:base", []), ("base", [4]), ("-tag:none", [4]),
        ('model:"gpt 5"', [2]), ('"gpt 5"', [2]), ("gpt chat", [2]), ("corpus:eo-demo-v1 method:glossary", [1]),
        ("niwa\u0302pama\u0302w", [3]), ('"paper:"', [3]), ('"paper:" for', [3]), ("id:00000003", [3]), ("note:paper", [3]),
        ("failed>0", [3]), ("-failed>0 -composite:none", [1]),
    ],
)  # fmt: skip
def test_words_and_filters_narrow_the_list_down(where: str, found: list[int]) -> None:
    assert numbers(where) == found


@pytest.mark.parametrize(
    ("sort", "turned", "found"),
    [
        ("when", True, [1, 2, 3, 4]), ("composite", False, [3, 1, 4, 2]), ("composite", True, [1, 3, 4, 2]),
        ("chrf", False, [1, 3, 4, 2]), ("failed", False, [3, 4, 2, 1]), ("corpus", False, [3, 4, 2, 1]),
        ("notes", False, [4, 3, 2, 1]),
    ],
)  # fmt: skip
def test_runs_without_a_value_come_last(sort: str, turned: bool, found: list[int]) -> None:
    assert numbers(sort=sort, turned=turned) == found


VALUES = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=30))


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=5))
@examples(30, 100)
def test_every_word_that_is_offered_finds_its_runs(texts: list[tuple[str, str, str]]) -> None:
    runs = [
        run(number, dataset_id=corpus, model_slug=model, note=note)
        for number, (corpus, model, note) in enumerate(texts)
    ]
    fields = RunColumns(runs).fields
    for name, field in fields.items():
        for word in field.values:
            where = Query.of(str(QueryTerm(name, ":", word)), fields)
            assert shown_runs(runs, RowOrder("when", where=where)) or word == "none", (name, word)


@given(VALUES, st.sampled_from(sorted(SORT_WORDS)), st.booleans())
@examples(30, 100)
def test_nothing_that_can_be_typed_breaks_the_list(typed: str, sort: str, turned: bool) -> None:
    order = RowOrder(sort, turned)
    with suppress(QueryError):
        order = replace(order, where=Query.of(typed, RunColumns(RUNS).fields))
    shown = shown_runs(RUNS, order)
    rows = RunRows(shown)
    assert {each.number for each in shown} <= {1, 2, 3, 4}
    assert all(len(rows.cells(index)) == len(rows.cells(0)) for index in range(rows.count))


KEPT = "first\tcell\x1b[31m\n\u202eturned\u202c"


@pytest.fixture
def app(tmp_path: Path) -> App:
    made = sealed(tmp_path / "s.sqlite", 4)
    change_words(made.store, made.number, note=KEPT)
    made.close()
    return App(made)


def listed(app: App) -> RunSummary:
    with closing(open_store(app.store_path)) as store:
        return list_runs(store)[0]


def dialog(app: App) -> NotesScreen:
    assert isinstance(app.screen, NotesScreen)
    return app.screen


async def test_what_is_refused_is_said_and_stays_in_the_dialog(app: App) -> None:
    async with at_rest(app, (120, 36)) as (_, pilot):
        await pilot.press("t", *"x" * 41)
        dialog(app).query_one(TextArea).text = "an hour of thoughts"
        await press(pilot, "ctrl+s")
        assert "A tag is one word" in text(app)
        assert dialog(app).query_one(TextArea).text == "an hour of thoughts"
        dialog(app).query_one(Input).value = "fine"
        dialog(app).query_one(TextArea).text = "x" * (MOST_NOTE + 1)
        await press(pilot, "ctrl+s")
        assert "The note has 10,001 characters" in text(app)
        dialog(app).query_one(TextArea).text = "an hour of thoughts"
        await press(pilot, "ctrl+s")
        assert not isinstance(app.screen, NotesScreen)
        assert (listed(app).tags, listed(app).note) == (("fine",), "an hour of thoughts")


async def test_tags_of_others_stay_and_a_note_that_was_not_touched_too(app: App) -> None:
    async with at_rest(app, (120, 36)) as (_, pilot):
        await pilot.press("t", *"mine")
        with closing(open_store(app.store_path)) as store:
            change_words(store, listed(app).number, add=["cli"])
        await press(pilot, "ctrl+s")
        assert (listed(app).tags, listed(app).note) == (("cli", "mine"), KEPT)


async def test_signs_that_act_are_shown_as_others_and_kept_so(app: App) -> None:
    async with at_rest(app, (80, 24)) as (_, pilot):
        await press(pilot, "t")
        assert acting(text(app).replace("\n", "")) == []
        assert "If you change the note, it is" in text(app)
        assert "Save (^s)" in text(app)
        area = dialog(app).query_one(TextArea)
        area.text = f"{area.text} end\nmore"
        await press(pilot, "ctrl+s")
        shown = "\n".join(map(plain, KEPT.split("\n")))
        assert listed(app).note == f"{shown} end\nmore"
        with closing(open_store(app.store_path)) as store:
            change_words(store, listed(app).number, note="fine\nâ 👩‍👩‍👧")
        await press_in_turn(pilot, "r", "t")
        assert "signs that act" not in text(app)
        await press(pilot, *"mine")
        with closing(open_store(app.store_path)) as store:
            trash(store, listed(app).number)
        await press(pilot, "ctrl+s")
        assert "was deleted meanwhile" in text(app), "what cannot be written stays"
        assert dialog(app).query_one(Input).value == "mine"


RESULT = [column.key for column in COLUMNS].index("result")


def test_stated_scores_say_so_in_the_list() -> None:
    stated = run(1, imported=True)
    counted = run(2, imported=True, checked=CheckedHere(recount=Recount(pinned=True)))
    other = run(3, imported=True, checked=CheckedHere(recount=Recount(True, ("chrF++ states 9",))))
    rows = RunRows([stated, counted, other, run(4)])
    words = [rows.cells(place)[RESULT].text for place in range(4)]
    assert [each.endswith(" (stated)") for each in words] == [True, False, True, False]
    assert rows.columns[RESULT].width >= max(map(len, words))
    assert RunRows([counted, run(4)]).columns == list(COLUMNS)
    assert "(stated)" in run_words(stated)[1]
    tiers = HEADINGS.index("tier")
    assert run_line(stated)[tiers].endswith(" (stated)")
    assert "stated" not in run_line(counted)[tiers]


# ``rosetta runs``: a run without a card, lists that mix inputs, and words that a run is begun with


def page() -> dict[str, str]:
    shown = rosetta_runs("show", "last").stdout
    assert harmless(shown)
    lines = (line.strip().partition("  ") for line in shown.splitlines())
    return {name: rest.strip() for name, _, rest in lines}


def test_run_under_way_tells_its_score_so_far(connection: sqlite3.Connection) -> None:
    number = factory.add_run(connection, stored=2)
    live = Live(at=time.time(), in_flight=(2,), waiting=((3, 2, 6, 1.5, "429"),))
    set_live(connection, number, RunState.RUNNING, live)
    told = page()
    assert told["run"] == factory.RUN_ID
    assert told["state"].startswith("running · 2 of 4 entries (50 %)")
    assert told["continues"].endswith("1 under way · 1 waiting to be tried again")
    fields = json.loads(rosetta_runs("show", "--json").stdout)
    assert (fields["complete"], fields["state"], fields["goes_on_with"]) == (False, "running", None)
    assert (fields["done"], fields["total"], fields["under_way"], fields["waiting"]) == (2, 4, 1, 1)
    chrf = fields["scores_so_far"]["chrf_plus_plus"]
    assert told["chrF++"].startswith(f"{chrf:.1f} (")


def test_a_stopped_run_tells_why_and_what_goes_on_with_it(connection: sqlite3.Connection) -> None:
    number = factory.add_run(connection, stored=2)
    reason = Live(reason="The budget\x1b[2J is spent", budget_reached=True)
    set_live(connection, number, RunState.STOPPED, reason)
    rosetta_runs("note", "last", "--tag", "cheap")
    told = page()
    assert told["state"].startswith("stopped · 2 of 4 entries (50 %)")
    assert told["why"].endswith("is spent.")
    assert told["continues with"] == f"rosetta resume {factory.RUN_ID[:8]} --budget USD"
    assert told["tags"] == "#cheap"
    fields = json.loads(rosetta_runs("show", "--json").stdout)
    assert fields["goes_on_with"] == told["continues with"]
    assert fields["beside"]["tags"] == ["cheap"]


def test_lists_show_the_score_so_far_of_a_run_under_way(connection: sqlite3.Connection) -> None:
    number = factory.add_run(connection, stored=2)
    names = [column.key for column in COLUMNS]
    seen = []
    for chrf in (41.26, 42.5):
        so_far: dict[str, float | None] = {"chrf_plus_plus": chrf, "composite": 0.333}
        live = Live(at=time.time(), so_far=so_far)
        set_live(connection, number, RunState.RUNNING, live)
        rows = RunRows(list_runs(connection))
        cells = dict(zip(names, rows.cells(0), strict=True))
        assert cells["chrf"].text == f"{chrf:.1f} so far"
        assert cells["composite"].text == "0.33"
        assert cells["id"].text == factory.RUN_ID[:8]
        assert f"{chrf:.1f} so far" in rosetta_runs("list").stdout
        seen.append(rows.key(0))
    assert seen[0] != seen[1], "the row is drawn again as the score moves"
    set_live(connection, number, RunState.STOPPED, Live(so_far=live.so_far))
    assert RunRows(list_runs(connection)).cells(0)[names.index("chrf")].text == "42.5 so far"
    assert "42.5 so far" in rosetta_runs("list").stdout
    set_live(connection, number, RunState.RUNNING, Live(at=time.time(), so_far={}))
    assert "so far" not in rosetta_runs("list").stdout


# Composites of other inputs


def scored(path: Path, *metrics: str, size: int = 12, text: str = "ENTRY NUMBER 3") -> str:
    plan = Plan(method="constant", options=MethodOptions(**LANGUAGES, text=text))
    if metrics:
        plan = plan.model_copy(update={"scoring": ScoringOptions(metrics=metrics)})
    return run_corpus(path, corpus(size), plan).finished.run_id


async def test_other_inputs_are_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    path, few = tmp_path / "rosetta.sqlite", ("chrf_plus_plus", "exact_match_rate")
    most = await to_thread(scored, path)
    await to_thread(scored, path, *few, size=13)
    assert "≠" not in rosetta_runs("list").stdout, "runs of other corpora are no others"
    await to_thread(scored, path)
    other = await to_thread(scored, path, *few)
    said = rosetta_runs("list").stdout
    assert said.count(OTHER_INPUTS_WORDS) == 1
    [marked] = [line for line in said.splitlines() if "≠" in line and line != OTHER_INPUTS_WORDS]
    assert other[:8] in marked
    runs = json.loads(rosetta_runs("list", "--json").stdout)
    inputs = {run["run_id"]: run["composite_inputs"] for run in runs}
    assert set(inputs[other]) == set(few)
    assert set(inputs[most]) > set(few)
    async with at_rest(App(None, path), (200, 40)) as (app, pilot):
        words = "composite of other inputs than most runs of this corpus"
        assert words in " ".join(text(app).split())
        await press(pilot, "down")
        assert "composite of other inputs" not in text(app)


@pytest.mark.thorough
def test_score_takes_variants_where_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    corpus, outputs = str(sample_path(DEMO_CORPUS)), str(sample_path(DEMO_WEAK))
    for words, counted in (
        ([corpus, outputs, "--multi-ref"], "nrefs:var"),
        (["--rescore", "last", "--one-ref"], "nrefs:1"),
    ):
        few = ("--metrics", "exact_match_rate,chrf_plus_plus", "--json")
        done = CliRunner().invoke(rosetta, ["score", *words, *few])
        assert done.exit_code == 0, done.output
        signatures = json.loads(done.stdout)["scores"]["signatures"]
        assert signatures["chrf_plus_plus"].split("|")[0] == counted


def test_run_is_begun_with_tags_and_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    path = tmp_path / "c.tsv"
    path.write_text("id\tsource\treference\n1\tA dog.\tHundo.\n")
    languages = ("--source-language", "en", "--target-language", "eo")
    base = ["run", str(path), *languages, "-m", "copy-source", "--plain"]
    refused = CliRunner().invoke(rosetta, [*base, "--tag", "two words"])
    assert isinstance(refused.exception, UsageError)
    begun = CliRunner().invoke(rosetta, [*base, "--tag", "b", "--tag", "a", "--note", "My words."])
    assert begun.exit_code == 0, begun.output
    with closing(open_store(tmp_path / "home" / "rosetta.sqlite")) as store:
        [run] = list_runs(store)
    assert (run.tags, run.note) == (("a", "b"), "My words.")


# `S` on Home: what a run is scored with again, how far it is, and what came of it


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with one finished run that was scored with two metrics."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    store = tmp_path / "rosetta.sqlite"
    options = MethodOptions(**LANGUAGES, text="ENTRY NUMBER 3", condition=HOSTILE[0])
    few = ScoringOptions(metrics=("exact_match_rate", "chrf_plus_plus"))
    run_corpus(store, corpus(8), Plan(method="constant", options=options, scoring=few))
    return store


def runs(path: Path) -> list[RunSummary]:
    with closing(open_store(path)) as store:
        return list_runs(store)


async def opened(pilot: Any) -> ScoreAgainScreen:
    await settle(pilot)
    await press(pilot, "S")
    screen = pilot.app.screen
    assert isinstance(screen, ScoreAgainScreen)
    return screen


async def test_scoring_again_makes_a_new_run_that_names_the_old(path: Path) -> None:
    [before] = runs(path)
    async with at_rest(App(None, path), (80, 24)) as (app, pilot):
        await opened(pilot)
        await pilot.press("enter")
        while isinstance(app.screen, ScoreAgainScreen):
            await pilot.pause()
        await settle(pilot)
    new = next(run for run in runs(path) if run.run_id != before.run_id)
    assert new.rescore_of == before.run_id
    assert score(new, "ter") > 0
    assert score(before, "ter") is None


def test_only_what_is_other_than_before_is_told() -> None:
    assert fields_of(ScoringOptions(multi_ref=True, terms=Path("/t.json"))) == {"multi_ref": "yes", "terms": "/t.json"}
    assert options_of({}).model_fields_set == set()
    told = options_of({"terms": "", "multi_ref": "", "metrics": "ter, bleu"})
    assert told.model_fields_set == {"terms", "multi_ref", "metrics"}
    assert (told.terms, told.multi_ref, told.metrics) == (None, False, ("ter", "bleu"))


def spoil_the_card(path: Path) -> None:
    """Break the person's own card of the target language."""
    folder = path.parent / "languages"
    folder.mkdir()
    (folder / f"{LANGUAGES['target_language']}.toml").write_text("x = ", "utf-8")


def test_a_broken_language_card_is_why_nothing_is_explained(path: Path) -> None:
    [run] = runs(path)
    spoil_the_card(path)
    explaining = Explaining(path, run.run_id)
    with closing(open_store(path)) as store:
        stored = find_run(store, run.run_id)
        entry = shown_entries(store, stored.corpus, [0])[0]
        [result] = read_results(store, stored.id, [0])
    assert explaining.explain(entry, result) is None
    assert explaining.why_not is not None
    assert ".toml" in explaining.why_not


READ_CARDS = {"prospect", "rescore", "measured", "explain", "look", "start_run", "open_corpus"}
"""What reads language cards or corpora of a person, and may say CorpusError of them."""


def test_whoever_says_failures_of_the_harness_says_those_of_cards_and_corpora_too() -> None:
    found = 0
    for file in Path(rosetta_tui.__file__).parent.rglob("*.py"):
        code = file.read_text("utf-8")
        for each in ast.walk(ast.parse(code)) if "HarnessError" in code else ():
            if not isinstance(each, ast.Try):
                continue
            called = {ast.unparse(n.func).split(".")[-1] for line in each.body
                      for n in ast.walk(line) if isinstance(n, ast.Call)}  # fmt: skip
            said = " ".join(ast.unparse(h.type) for h in each.handlers if h.type is not None)
            if called & READ_CARDS and "HarnessError" in said:
                found += 1
                assert "CorpusError" in said, f"{file.name}:{each.lineno}"
    assert found >= 3
