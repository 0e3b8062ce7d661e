"""The page of methods: its files are written, its commands run, and what it says of them is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.endpoint.endpoints import presets
from harness.endpoint.keys import key_for
from harness.inputs.coaching import read_coaching
from harness.method.options import MethodOptions
from harness.method.takes import TAKES
from harness.methods.briefing import briefing
from harness.methods.checks import make_checks
from harness.store.file.database import opened
from harness.store.results import read_results
from harness.store.runs import find_run, list_runs
from rosetta_tui.commands import rosetta
from tests.harness.methods.conftest import Server

PAGE = (Path(__file__).parents[3] / "docs" / "methods.md").read_text("utf-8")
FILES = dict(re.findall(r"^\*\*(\S+)\*\*\n\n```\w+\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE))
COMMANDS = [
    line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()
]
RIGHT = {"Good morning, {name}!": "Bonan matenon, {name}!", "Thank you, dog.": "Dankon, hundo."}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of the page, and a data folder of its own."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "key.txt").write_text("sk-of-the-page\n", "utf-8")
    return tmp_path


def answer(body: Any) -> Any:
    """Answer as a model does, wrong at first where a source is asked for the first time; or as LibreTranslate."""
    if "q" in body:
        return {"translatedText": [RIGHT[text] for text in body["q"]]}
    sources = [
        text for text in RIGHT if any(text in str(each["content"]) for each in body["messages"])
    ]
    asked_again = any(each["role"] == "assistant" for each in body["messages"])
    said = RIGHT[sources[0]] if asked_again else RIGHT[sources[0]].replace("{name}", "Ana")
    return {"choices": [{"message": {"content": said}, "finish_reason": "stop"}]}


def call(command: str, server: Server) -> str:
    """Run one line of the page against the server of the test; give what it printed."""
    line, _, given = command.partition(" < ")
    words = shlex.split(line)[1:]
    for place, word in enumerate(words[:-1]):
        if word == "--endpoint":
            words[place + 1] = f"{server.url}/v1"
    if "api:libretranslate" in words:
        words += ["--endpoint", f"{server.url}/translate"]
    text = Path(given).read_text("utf-8") if given else None
    done = CliRunner().invoke(rosetta, words, input=text, prog_name="rosetta")
    assert done.exit_code == 0, f"{command}\n{done.output}\n{done.exception!r}"
    return done.output


def test_every_command_of_the_page_does_what_it_says(folder: Path, server: Server) -> None:
    server.answer = answer
    assert len(COMMANDS) == 17
    for command in COMMANDS:
        said = call(command, server)
        assert "sk-of-the-page" not in said
    assert key_for("https://llm.example.org/v1") == "sk-of-the-page"
    with opened() as store:
        runs = [find_run(store, each.run_id) for each in reversed(list_runs(store))]
        outputs = {run.run_id: [row.output for row in read_results(store, run.id)] for run in runs}
    made = [(run.setup.method, outputs[run.run_id]) for run in runs]
    assert made[0] == ("glossary", list(RIGHT.values()))
    right = {method for method, texts in made if texts == list(RIGHT.values())}
    assert right >= {"glossary", "pipeline", "replay", "human", "api:libretranslate"}
    assert ("constant", ["Mi ne scias."] * 2) in made
    assert ("copy-source", list(RIGHT)) in made
    assert {method for method, _ in made} >= {"chat"}


def test_the_table_of_endpoints_is_the_program_s() -> None:
    listed = re.findall(
        r"^\| `([\w.]+)` \| `(\S+)` \| (?:`(\w+)`|needs none) \|$", PAGE, re.MULTILINE
    )
    known = presets("chat") | presets("service")
    assert {name: (url, variable or None) for name, url, variable in listed} == {
        name: (each.url, each.environment if each.needs_key else None)
        for name, each in known.items()
    }


def test_every_method_and_what_it_needs_is_in_the_table() -> None:
    [table] = re.findall(r"\| method \| what it does.*?\n\n", PAGE, re.DOTALL)
    for name, (needs, _) in TAKES.items():
        [row] = [line for line in table.splitlines() if f"`{name}`" in line]
        assert all(f"--{need}" in row for need in needs), row


def test_both_coaching_files_say_the_same_and_fill_the_prompt(folder: Path) -> None:
    one, other = (read_coaching(folder / f"grammar.{kind}") for kind in ("json", "toml"))
    assert (one.notes, one.examples, one.dictionary.pairs()) == (
        other.notes,
        other.examples,
        other.dictionary.pairs(),
    )
    options = MethodOptions(
        source_language="en", target_language="eo", coaching=folder / "grammar.toml",
        prompt=str(folder / "polite-v1.txt"),
    )  # fmt: skip
    brief = briefing(options)
    assert brief.version == "polite-v1"
    assert brief.system.startswith("You translate from English to Esperanto (eo), politely.")
    assert brief.system.endswith("Keep placeholders such as {name} as they are.")
    slots = set(re.findall(r"`\{(\w+)\}`", PAGE)) - {"name"}
    assert slots == {*options.languages, *one.slots()}


def test_the_table_of_checks_has_those_that_there_are() -> None:
    listed = re.findall(
        r"^\| `([\w-]+)` \| [^|]+ \|$",
        PAGE.split("| `--check` |")[1].split("\n\n")[0],
        re.MULTILINE,
    )
    made = make_checks((), frozenset({"bonan"}), "eo-Latn", None)
    assert {check.name for check in made} | {"fst"} == set(listed)
