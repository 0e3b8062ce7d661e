"""Tags and a note, of which nothing is lost, and which runs of the list are shown."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Input, TextArea

from harness.core.run_state import RunState
from harness.store.deletion import trash
from harness.store.file.database import open_store
from harness.store.notes import MOST_NOTE, change_tags, set_note
from harness.store.others_cards import CheckedHere, Recount
from harness.store.run_list import RunSummary, list_runs
from rosetta_tui.runs.notes import NotesScreen
from rosetta_tui.runs.query import SORT_WORDS, RunQuery, filters
from rosetta_tui.runs.table import COLUMNS, UNDER_WAY, RunRows, run_words
from rosetta_tui.show.run_facts import HEADINGS, run_line
from rosetta_tui.show.text import plain
from tests.review.thorough import examples
from tests.tui.hostile import acting
from tests.tui.runs.made import run
from tests.tui.scenes import HOSTILE, sealed
from tests.tui.screens import App, at_rest, press, press_in_turn, text

RUNS = [
    run(4, state=RunState.STOPPED, card=None, tags=("baseline", "Étude")),
    run(3, dataset_id="crk-stories", failed=2, note="for the paper: niwâpamâw"),
    run(2, state=RunState.RUNNING, card=None, model_slug="gpt 5"),
    run(1, method="glossary", imported=True),
]


def numbers(query: RunQuery) -> list[int]:
    return [each.number for each in query.apply(RUNS, UNDER_WAY)]


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("", [2, 4, 3, 1]), ("state:stopped", [4]), ("state:failed", [3]), ("state:imported", [1]),
        ("tag:BASELINE", [4]), ("tag:e\u0301tude", [4]), ("tag:base", []), ("base", [4]),
        ('model:"gpt 5"', [2]), ('"gpt 5"', [2]), ("gpt chat", [2]), ("corpus:eo-demo-v1 method:glossary", [1]),
        ("niwa\u0302pama\u0302w", [3]), ("paper:", [3]), ("paper: for", [3]), ("00000003", [3]),
        ('"unclosed', []),
    ],
)  # fmt: skip
def test_words_and_filters_narrow_the_list_down(search: str, found: list[int]) -> None:
    assert numbers(RunQuery(search=search)) == found


@pytest.mark.parametrize(
    ("sort", "turned", "found"),
    [
        ("when", True, [1, 2, 3, 4]), ("composite", False, [3, 1, 4, 2]), ("composite", True, [1, 3, 4, 2]),
        ("chrf", False, [1, 3, 4, 2]), ("failed", False, [3, 4, 2, 1]), ("corpus", False, [3, 4, 2, 1]),
        ("notes", False, [4, 3, 2, 1]),
    ],
)  # fmt: skip
def test_runs_without_a_value_come_last(sort: str, turned: bool, found: list[int]) -> None:
    assert numbers(RunQuery(sort=sort, turned=turned)) == found


def test_a_filter_replaces_another_of_its_field_and_goes_when_chosen_again() -> None:
    query = RunQuery(search="paper").narrowed("state:stopped").narrowed('model:"gpt 5"')
    assert query.search == 'paper state:stopped model:"gpt 5"'
    assert query.narrowed("state:running").search == 'paper model:"gpt 5" state:running'
    assert query.narrowed("state:stopped").search == 'paper model:"gpt 5"'


def test_only_filters_that_leave_something_out_are_offered() -> None:
    offered = filters(RUNS)
    assert offered["state:stopped"] == "state  stopped  (1)"
    assert offered['model:"gpt 5"'] == "model  gpt 5  (1)"
    assert not any(each.startswith("pair:") for each in offered)


VALUES = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=30))


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=5))
@examples(30, 100)
def test_every_filter_that_is_offered_finds_its_runs(texts: list[tuple[str, str, str]]) -> None:
    runs = [
        run(number, dataset_id=corpus, model_slug=model, note=note)
        for number, (corpus, model, note) in enumerate(texts)
    ]
    for term, words in filters(runs).items():
        assert RunQuery().narrowed(term).apply(runs, UNDER_WAY), (term, words)


@given(VALUES, st.sampled_from(sorted(SORT_WORDS)), st.booleans())
@examples(30, 100)
def test_nothing_that_can_be_typed_breaks_the_list(search: str, sort: str, turned: bool) -> None:
    query = RunQuery(sort, turned, search)
    shown = query.apply(RUNS, UNDER_WAY)
    rows = RunRows(shown)
    assert {each.number for each in shown} <= {1, 2, 3, 4}
    assert all(len(rows.cells(index)) == len(rows.cells(0)) for index in range(rows.count))
    assert plain(query.words) == query.words


KEPT = "first\tcell\x1b[31m\n\u202eturned\u202c"


@pytest.fixture
def app(tmp_path: Path) -> App:
    made = sealed(tmp_path / "s.sqlite", 4)
    set_note(made.store, made.number, KEPT)
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
            change_tags(store, listed(app).number, ["cli"])
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
            set_note(store, listed(app).number, "fine\nâ 👩‍👩‍👧")
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
