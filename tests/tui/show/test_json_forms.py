"""Every form of JSON has a version and a schema, and what commands print is what the schema
says."""

from __future__ import annotations

import ast
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from corpora.files.problems import StoredValueError
from docs import make_schemas
from rosetta_tui.commands import rosetta
from rosetta_tui.front import EXIT_CODES
from rosetta_tui.show.json_forms import FORMS, form_text, rows_text
from tests.corpora.making import envelope
from tests.corpora.tasks.records import RECORDS, SECRET

ROOT = Path(__file__).parents[3]
SCHEMAS = ROOT / "docs" / "schemas"
SEALED = {
    "rosetta_tui/app/display.py", "rosetta_tui/commands/runs/changes.py",
    "rosetta_tui/commands/compare.py", "rosetta_tui/entry/record.py",
}  # fmt: skip
"""Files that print a run card as it is sealed or a file in the form of another program, or show a record's field."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a run of the demo's kind, a corpus and outputs for it."""
    folder = tmp_path_factory.mktemp("home")
    rows = "id\tsource\treference\n1\tHello\tSaluton\n2\tDog\tHundo\n3\tCat\tKato\n"
    (folder / "c.tsv").write_text(rows, "utf-8")
    (folder / "o.txt").write_text("Saluton\nHunda\nKatoj\n", "utf-8")
    (folder / "p.txt").write_text("Salut\nHundo\nKato\n", "utf-8")
    return folder


LANGUAGES = ("--source-language", "en", "--target-language", "eo")


def printed(home: Path, *arguments: str) -> str:
    """Return what a command prints on standard output; it ends well, or with what it found."""
    done = CliRunner().invoke(rosetta, list(arguments), env={"ROSETTA_HOME": str(home / "data")})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


@pytest.fixture(scope="module")
def events(home: Path) -> list[Any]:
    for outputs in ("o.txt", "p.txt"):
        text = printed(
            home, "run", str(home / "c.tsv"), *LANGUAGES, "--method", "replay",
            "--outputs", str(home / outputs), "--json-lines",
        )  # fmt: skip
    return [json.loads(line) for line in text.splitlines()]


def test_events(events: list[Any]) -> None:
    assert {each["event"] for each in events} == {"Preparing", "Started", "EntryScored", "Progress", "Finished"}
    for each in events:
        assert faults("event", each) == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("runs-list", ("runs", "list")), ("runs-verify", ("runs", "verify", "last")),
        ("runs-lint", ("runs", "lint", "last")), ("run-card", ("runs", "show", "last")),
        ("run-card", ("score", "C", "O", *LANGUAGES)), ("leaderboard", ("leaderboard",)),
        ("publish", ("publish", "last", "--may-publish", "us", "--to", "FOLDER", "--dry-run")),
        ("compare", ("compare", "last", "last~1", "--entries", "2")),
        ("gate", ("gate", "last", "--max-failed", "1")), ("corpus-check", ("corpus", "check", "C", *LANGUAGES)),
        ("corpus-show", ("corpus", "show", "C", *LANGUAGES)),
        ("corpus-progress", ("corpus", "progress", "P")), ("unusable", ("corpus", "check", "O")),
        ("estimate", ("run", "--estimate", "C", *LANGUAGES, "--method", "copy-source")), ("cost", ("cost",)), ("council", ("council",)),
        ("language-list", ("language", "show")), ("language-show", ("language", "show", "crk")),
        ("language-check", ("language", "check", "eo")), ("doctor", ("doctor",)),
        ("review-plan", ("review", "plan", "--reviewers", "3", "--items", "20")),
        ("review-status", ("review", "status")),
        ("review-enrol-card", ("review", "enrol", "--card", "L")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_is_printed_is_what_the_schema_says(
    home: Path, events: list[Any], name: str, arguments: tuple[str, ...]
) -> None:
    files = {"C": "c.tsv", "O": "o.txt", "L": "a.rosetta-laptop", "P": "project"}
    if "P" in arguments:
        making = ("--title", "T", "--organisation", "O", "--license", "CC0-1.0")
        printed(home, "corpus", "new", str(home / "project"), *LANGUAGES, *making)
    words = [str(home / files[each]) if each in files else each for each in arguments]
    shown = json.loads(printed(home, *words, "--json"))
    assert shown
    assert faults(name, shown) == []
    if name in FORMS:
        form = FORMS[name]
        rows = shown if isinstance(shown, list) else [shown]
        assert {row[form.field] for row in rows} == {form.version}


TASKS = ("qa", "asr", "function_call", "ifeval", "text2sql", "judged", "chat", "dialogue_state")


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a run of several tasks each, all scored as their records bring it along."""
    folder = tmp_path_factory.mktemp("answers")
    with closing(sqlite3.connect(folder / "shop.db")) as shop:
        shop.execute("CREATE TABLE item (id)")
    for task in TASKS:
        rows = [{"id": number, **RECORDS[task]} for number in (1, 2)]
        corpus = {"dataset": envelope(id=task, task=task), "entries": rows}
        (folder / f"{task}.json").write_text(json.dumps(corpus), "utf-8")
        (folder / f"{task}.txt").write_text(f"{SECRET}\nc\n", "utf-8")
        printed(folder, "score", str(folder / f"{task}.json"), str(folder / f"{task}.txt"))
    return folder


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("runs-list", "runs list --json"),
        ("leaderboard", "leaderboard --json"),
        *[("run-card", f"runs show last~{place} --json") for place in range(len(TASKS))],
        ("runs-verify", "runs verify last~7 --json"),
        *[("corpus-check", f"corpus check {task}.json --json") for task in ("text2sql", "chat")],
        *[("corpus-show", f"corpus show {task}.json --json") for task in ("chat", "ifeval")],
        ("estimate", "run --estimate qa.json --method replay --outputs qa.txt --json"),
        ("event", "run qa.json --method replay --outputs qa.txt --json-lines"),
    ],
)  # fmt: skip
def test_runs_of_other_tasks_print_the_same_forms(answers: Path, name: str, line: str) -> None:
    words = [str(answers / each) if (answers / each).is_file() else each for each in line.split()]
    told = printed(answers, *words)
    shown = [json.loads(each) for each in (told.splitlines() if name == "event" else [told])]
    assert shown
    assert [faults(name, each) for each in shown] == [[]] * len(shown)


def test_run_scored_again_compares_in_the_same_form(answers: Path) -> None:
    """Of ifeval no record has a reference."""
    [origin] = [row["run_id"] for row in listed(answers) if row["dataset_id"] == "ifeval"][-1:]
    printed(answers, "score", "--rescore", origin, "--metrics", "lbrag,nest")
    told = json.loads(printed(answers, "compare", origin, "last", "--entries", "2", "--json"))
    assert faults("compare", told) == []


def listed(home: Path) -> list[Any]:
    return list(json.loads(printed(home, "runs", "list", "--json")))


def test_a_list_of_several_tasks_names_every_score(answers: Path) -> None:
    told = printed(answers, "runs", "list")
    head, *lines = told.splitlines()
    assert "score" in head
    assert not any(word in head for word in ("chrF++", "composite", "tier"))
    assert sum("WER " in each for each in lines) == 1
    rows = listed(answers)
    assert {row["task"] for row in rows} == set(TASKS)
    [asr] = [row for row in rows if row["task"] == "asr"]
    assert asr["values"] == {"au.wer": 0.5}
    assert asr["spread"]["au.wer"] == {"mean": 0.5, "std": pytest.approx(0.5**0.5), "n": 2}


def test_unknown_and_missing_keys_are_faults(home: Path, events: list[Any]) -> None:
    [row, *_] = json.loads(printed(home, "runs", "list", "--json"))
    assert faults("runs-list", [{**row, "further": 1}])
    assert faults("runs-list", [{name: each for name, each in row.items() if name != "state"}])
    assert faults("runs-list", [{**row, "version": 2}])
    assert faults("event", {**events[-1], "further": 1})


def test_every_form_has_a_schema_of_its_version_and_a_line_in_the_docs() -> None:
    names = {path.name.removesuffix(".schema.json") for path in SCHEMAS.iterdir()}
    assert names == {*FORMS, "run-card"}
    page = (ROOT / "docs" / "json.md").read_text("utf-8")
    for name, form in FORMS.items():
        schema = schema_of(name)
        for part in schema.get("oneOf", [schema.get("items", schema)]):
            assert part["properties"]["version" if name == "event" else form.field] == {"const": form.version}
        assert schema["title"] == f"rosetta {form.commands}"
        [line] = [each for each in page.splitlines() if f"(schemas/{name}.schema.json)" in each]
        assert line.startswith(f"| {form.commands} | ")
        assert f"| `{form.field}` {form.version} |" in line


def test_the_docs_have_the_exit_codes() -> None:
    page = (ROOT / "docs" / "json.md").read_text("utf-8")
    table = page.partition("| code |")[2].splitlines()[2:]
    assert table == [f"| {code} | {words} |" for code, words in EXIT_CODES.items()]


def test_what_is_made_from_records_is_current() -> None:
    for name, text in make_schemas.pages().items():
        assert (SCHEMAS / name).read_text("utf-8") == text, "python -P docs/make_schemas.py"


def test_no_command_prints_json_without_a_form() -> None:
    using = set()
    for path in (ROOT / "rosetta_tui").rglob("*.py"):
        code = path.read_text("utf-8")
        tree = ast.parse(code if "json_text" in code else "")
        calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
        if any(isinstance(each, ast.Name) and each.id == "json_text" for each in calls):
            using.add(path.relative_to(ROOT).as_posix())
    assert using == SEALED | {"rosetta_tui/show/json_forms.py"}


def test_row_that_uses_the_word_otherwise_is_refused() -> None:
    assert json.loads(form_text("key-list", [])) == []
    with pytest.raises(ValueError, match="another meaning"):
        form_text("key-list", [{"version": "of something else"}])


def schema_of(name: str) -> dict[str, Any]:
    found = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def closed(schema: Any) -> Any:
    """Return the schema with every object closed whose keys are listed: a key that nobody wrote down is an error."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(each) for name, each in schema.items() if name != "$defs"}
    if "$defs" in schema:  # records are closed where they are referred to
        inner["$defs"] = schema["$defs"]
    if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema:
        inner["unevaluatedProperties"] = False
    return inner


def faults(name: str, shown: Any) -> list[str]:
    """Return what a printed value of a form has otherwise than its schema says."""
    validator = jsonschema.Draft202012Validator(closed(schema_of(name)))
    return [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(shown)]


def test_kept_json_is_printed_only_as_a_harmless_line() -> None:
    kept = json.dumps({"note": "ĉ\x7f\x1b[31m\n"})
    assert json.loads(rows_text("runs-list", [({"run_id": "a"}, kept)]))[0]["note"] == "ĉ\x7f\x1b[31m\n"
    assert "\x7f" not in rows_text("runs-list", [({"run_id": "a"}, kept)])
    assert rows_text("runs-list", []) == "[]"
    for wrong in ("", "[]", '{"a": "\x1b[31m"}', '{"a": "ĉ"}', '{"a": 1}\n{"b": 2}', '{"a": 1'):
        with pytest.raises(StoredValueError):
            rows_text("runs-list", [({"run_id": "a"}, wrong)])
