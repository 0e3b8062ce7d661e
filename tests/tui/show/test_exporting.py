"""What is copied and exported: whole, in order, harmless, and without a text of a secret segment."""

from __future__ import annotations

import csv
import io
import json
import re
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from corpora.model.entry import Segment
from harness.settings import change_settings
from harness.store.attachments import change_words
from rosetta_tui.show.columns import LEFT_OUT, Cell, Column, Record, ShownRecords, Value
from rosetta_tui.show.exporting import TableFormat, encoded, row_text, sheet_cell, table_text
from rosetta_tui.toolkit.dialogs.choose import ConfirmScreen, ExportScreen
from tests.review.thorough import examples
from tests.tui.scenes import ANY_TEXT, HOSTILE, PAIRS, Scene, acting, entries_of, hostile, scene, sealed
from tests.tui.screens import App, at_rest, notices, press, press_in_turn, settle, stands, text

VALUES = st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT
RECORDS = st.lists(st.dictionaries(st.sampled_from(["a", "b|", "c_d"]), VALUES), max_size=4)


def read_csv(made: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(made, newline="")))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("=1+1", "'=1+1"), ("+SUM(A1)", "'+SUM(A1)"), ("-cmd|' /C calc'!A0", "'-cmd|' /C calc'!A0"),
        ("@x", "'@x"), (" =1+1", "' =1+1"), ("\t=1", "'\t=1"), ("-5", "-5"), ("+1.5e-3", "+1.5e-3"), (-5, "-5"),
        (-0.25, "-0.25"), (1e-7, "1e-07"), (0.1 + 0.2, "0.30000000000000004"), (True, "true"), (None, ""),
        (float("nan"), ""), ("a\x1b[2Jb", "a␛[2Jb"), ("niwâpamâw", "niwâpamâw"),
    ],
)  # fmt: skip
def test_a_spreadsheet_runs_nothing_and_numbers_stay_numbers(value: Value, written: str) -> None:
    assert sheet_cell(value) == written


@given(RECORDS)
@examples(30, 100)
def test_csv_reads_back_in_the_same_shape(records: list[Record]) -> None:
    head, *rows = read_csv(table_text(records, TableFormat.CSV)) or [[]]
    assert sorted(head) == sorted({name for record in records for name in record})
    if head:
        assert rows == [[sheet_cell(record.get(name)) for name in head] for record in records]
    assert not any(acting(cell.replace("\t", "").replace("\n", "")) for row in rows for cell in row)


@given(st.lists(st.dictionaries(st.sampled_from("ab"), st.none() | st.integers() | ANY_TEXT)))
@examples(30, 100)
def test_json_holds_texts_letter_by_letter(records: list[Record]) -> None:
    odd: list[Record] = [{"value": float("inf"), "half": "\ud800"}]
    told = json.loads(encoded(table_text([*records, *odd], TableFormat.JSON)))
    assert told == [*records, {"value": None, "half": "\ud800"}]


@given(RECORDS)
@examples(30, 100)
def test_a_markdown_row_is_one_line_with_as_many_cells(records: list[Record]) -> None:
    lines = table_text(records, TableFormat.MARKDOWN).split("\n")
    assert len(lines) == len(records) + 3
    bars = {line.replace("\\\\", "").replace("\\|", "").count("|") for line in lines[:-1]}
    assert len(bars) == 1
    assert not any(map(acting, lines))


def test_markdown_as_a_person_reads_it() -> None:
    records: list[Record] = [
        {"method": "a|b_c", "chrf": 61.38271, "cost": 0.00012345, "exact": True},
        {"method": "<b>x</b>", "chrf": -3.0, "cost": None, "exact": False},
    ]
    assert table_text(records, TableFormat.MARKDOWN) == (
        "| method | chrf | cost | exact |\n"
        "| --- | ---: | ---: | --- |\n"
        "| a\\|b\\_c | 61.38 | 0.0001234 | yes |\n"
        "| \\<b\\>x\\</b\\> | -3 |  | no |\n"
    )


def test_latex_as_a_person_reads_it() -> None:
    records: list[Record] = [{"run_id": "50 % & \\in{x} -- #1 $a_b^c", "chrf": -61.38271}]
    assert table_text(records, TableFormat.LATEX).split("\n")[1:] == [
        r"\begin{tabular}{lr}",
        r"\hline",
        r"run\_id & chrf \\",
        r"\hline",
        r"50 \% \& \textbackslash{}in\{x\} -{}- \#1 \$a\_b\textasciicircum{}c & $-61.38$ \\",
        r"\hline",
        r"\end{tabular}",
        "",
    ]


@pytest.mark.parametrize(
    ("cell", "written"), [("[a]", "{[}a]"), ("*", "{*}"), ("a[*", "a[*"), ("−1.5", "$-1.5$"), ("3 − 2", "3 $-$ 2")]
)
def test_no_cell_of_latex_belongs_to_the_row_before_it(cell: str, written: str) -> None:
    assert f"\n{written} & " in table_text([{"a": cell, "b": "x"}], TableFormat.LATEX)


@given(st.dictionaries(st.text("abc", min_size=1), VALUES, min_size=1))
@examples(30, 100)
def test_a_row_is_one_line_with_a_tab_between_its_values(record: Record) -> None:
    line = row_text(record)
    assert line.count("\t") == len(record) - 1
    assert acting(line.replace("\t", "")) == []


# On the screen


def written(folder: Path, form: TableFormat) -> str:
    return next(folder.glob(f"*.{form}")).read_text("utf-8")


async def export(pilot: Pilot[Any], form: TableFormat) -> None:
    await press(pilot, "e", *["down"] * list(TableFormat).index(form), "enter", "enter")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """Make a complete run, and stand in the folder of its store."""
    monkeypatch.chdir(tmp_path)
    with closing(sealed(tmp_path / "s.sqlite")) as made:
        change_words(made.store, made.number, note="for us alone")
        yield made


async def test_entries_are_copied_and_exported_whole_in_their_order(made: Scene) -> None:
    async with at_rest(App(made), (120, 24), notifications=True) as (app, pilot):
        await press(pilot, "enter")
        await press(pilot, "down", "y")
        values = app.clipboard.split("\t")
        assert values[:7] == ["2", "done", "development", "2", *PAIRS[1]]
        assert float(values[7]) == made.results[1].headline
        assert "Row copied: " in text(app)
        await press(pilot, "Y")
        head, *rows = app.clipboard.split("\n")
        assert head.startswith("id\tstate\tsegment\tdifficulty\tsource\t")
        assert [row.split("\t")[0] for row in rows] == [str(n) for n in range(1, 25)]
        await press(pilot, "slash", *"cats", "enter")
        app.screen.sort_by("position")  # type: ignore[attr-defined]
        await settle(pilot)
        for form in (TableFormat.CSV, TableFormat.MARKDOWN):
            await export(pilot, form)
            found = written(made.path.parent, form)
            assert found.count("He has three cats.") == 3
            assert re.findall(r"\b(?:23|15|7)\b", found)[0] == "23"
            path = made.path.parent / f"entries-0f3b8c1e.{form}"
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert notices(app)[-1] == f"3 rows written: {path}"


async def test_export_path_is_proposed_and_checked(made: Scene, tmp_path: Path) -> None:
    for name in ("runs.csv", "runs.md", "runs-2.md"):
        (tmp_path / name).write_text("mine")
    async with at_rest(App(made), (80, 24)) as (app, pilot):
        await press(pilot, "e")
        assert stands(app, ExportScreen)
        seen = []
        for _ in TableFormat:
            seen.append(Path(app.screen.query_one("#path", Input).value).name)
            await press(pilot, "down")
        assert seen == ["runs-2.csv", "runs.json", "runs-3.md", "runs.tex"]
        await press_in_turn(pilot, "escape", "e", "enter")
        field = app.screen.query_one("#path", Input)
        assert field.value == str(tmp_path / "runs-2.csv")
        for path in ("nowhere/at/all.csv", "", "x\x00y.csv"):
            field.value = path
            await press(pilot, "enter")
            assert stands(app, ExportScreen)
            assert any(word in text(app) for word in ("cannot be", "Give the name"))
        field.value = str(tmp_path / "runs.csv")
        await press(pilot, "enter")
        assert stands(app, ConfirmScreen)
        await press(pilot, "n")
        assert (tmp_path / "runs.csv").read_text() == "mine"
        await press(pilot, "enter")
        await press(pilot, "y")
        assert read_csv((tmp_path / "runs.csv").read_text("utf-8"))[1][0] == made.run_id
        await press_in_turn(pilot, "e", "enter")
        app.screen.query_one("#path", Input).value = str(tmp_path / "own.json")
        await press(pilot, "enter")
        assert (tmp_path / "own.json").read_text("utf-8").startswith("[")
        (tmp_path / "out").mkdir()
        change_settings(tmp_path, {"exports": tmp_path / "out"})
    async with at_rest(App(made), (80, 24)) as (app, pilot):
        await press(pilot, "e")
        assert app.screen.query_one("#path", Input).value == str(tmp_path / "out" / "runs.csv")
        assert app.screen.query_one(OptionList).has_focus


async def test_secret_text_is_never_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    segments = (Segment.DEVELOPMENT, Segment.GOLD_STANDARD, Segment.HELD_OUT)
    entries = [
        entry.model_copy(update={"segment": segment})
        for entry, segment in zip(entries_of(PAIRS, 3), segments, strict=True)
    ]
    made = scene(tmp_path / "s.sqlite", entries=entries, stored=3)
    made.play([made.started(), *made.scored(3), made.progress(3)])
    async with at_rest(App(made, watch=True), (120, 30)) as (app, pilot):
        await press(pilot, "Y")
        copied = app.clipboard
        await press(pilot, "down", "y")
        copied += app.clipboard
        for form in TableFormat:
            await export(pilot, form)
            copied += written(tmp_path, form)
    assert "the dog" in copied
    for secret in (*PAIRS[1], *PAIRS[2]):
        assert secret not in copied
    assert copied.count("the entry is secret") == 2 + 1 + 2 * 4


async def test_hostile_texts_are_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = hostile(tmp_path / "s.sqlite")
    made.play([made.started(), *made.scored(len(HOSTILE)), made.progress(len(HOSTILE))])
    async with at_rest(App(made, watch=True), (80, 24)) as (_, pilot):
        for form in TableFormat:
            await export(pilot, form)
            found = written(tmp_path, form)
            if form is TableFormat.JSON:
                assert [row["source"] for row in json.loads(found)] == HOSTILE
            else:
                assert acting(re.sub(r"[\n\r\t]", "", found)) == []


def test_a_page_has_only_what_is_told_of_a_secret_row() -> None:
    class Rows:
        count = 2

        def key(self, index: int) -> int:
            return index

        def prepare(self, first: int, last: int) -> None:
            pass

        def cells(self, index: int) -> list[Cell]:
            return [Cell(str(index)), Cell("a secret"), Cell("61.4")]

        def record(self, index: int) -> Record:
            left_out = {LEFT_OUT: "source"} if index else {}
            return {"id": index, "source": None, **left_out}

    named = (Column("id", "id ▼", 3), Column("source", "source", 9))
    page = ShownRecords(Rows(), (*named, Column("chrf", "chrF++", 5, right=True)), [0, 1, 2])
    assert page.record(0) == {"id": "0", "source": "a secret", "chrF++": "61.4"}
    assert page.record(1) == {"id": "1", "source": "", "chrF++": "", LEFT_OUT: "source"}
    assert page.right == {"chrF++"}
