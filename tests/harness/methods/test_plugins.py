"""Plug-ins by path and entry point; the page of methods: its files are written, its commands run."""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.core.failures import ErrorClass, UsageError
from harness.endpoint.endpoints import presets
from harness.endpoint.keys import key_for
from harness.inputs.coaching import read_coaching
from harness.method.method import Method
from harness.method.options import MethodOptions
from harness.method.shipped import TAKES, method_names
from harness.methods.briefing import briefing
from harness.methods.checks import make_checks
from harness.methods.registry import build
from harness.store.file.database import opened
from harness.store.results import read_results
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from rosetta_tui.commands import rosetta
from tests.harness.methods.conftest import HttpCalls, Server, completion, entry
from tests.harness.methods.page_examples import example

ESPERANTO = MethodOptions(source_language="en", target_language="eo")


@pytest.fixture
def phrasebook(tmp_path: Path) -> Path:
    file = tmp_path / "phrasebook.py"
    file.write_text(example("phrasebook.py"), "utf-8")
    return file


async def test_examples_of_the_page_run(
    phrasebook: Path, calls: HttpCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ESPERANTO.model_copy(update={"settings": {"polite": True}, "replicate": 2})
    method = build(f"{phrasebook}:Phrasebook", asked)
    assert isinstance(method, Method)
    known, unknown = await method.translate([entry("Thank you!"), entry("Dog")], calls)
    assert known.text == "dankon, mi petas"
    assert (unknown.text, unknown.error_class) == (None, ErrorClass.METHOD)
    setup = method.setup
    assert setup.method_sha256 == hashlib.sha256(phrasebook.read_bytes()).hexdigest()
    assert (setup.options, setup.replicate) == ({"settings": {"polite": True}}, 2)
    assert str(phrasebook.parent) not in setup.model_dump_json()
    with pytest.raises(UsageError, match="Esperanto"):
        build(f"{phrasebook}:Phrasebook", MethodOptions(source_language="en", target_language="de"))
    declared = re.search(r"\[project.entry-points.*?\]\n(.*)\n", example("pyproject.toml of"))
    assert declared
    installed = phrasebook.parent / "phrasebook-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: phrasebook\nVersion: 1.0\n")
    line = declared[1].replace('"', "")
    (installed / "entry_points.txt").write_text(f"[rosetta.methods]\n{line}\n")
    monkeypatch.syspath_prepend(str(phrasebook.parent))
    assert "phrasebook" in method_names()
    method = build("phrasebook", ESPERANTO)
    [output] = await method.translate([entry("good morning")], calls)
    assert output.text == "bonan matenon"
    assert method.setup.method_sha256 == hashlib.sha256(phrasebook.read_bytes()).hexdigest()
    del sys.modules["phrasebook"]


async def test_example_calls_an_endpoint(tmp_path: Path, server: Server, calls: HttpCalls) -> None:
    (file := tmp_path / "shouting_server.py").write_text(example("shouting_server.py"), "utf-8")
    server.answer = lambda body: {"translation": body["text"].upper()}
    asked = ESPERANTO.model_copy(update={"endpoint": server.url})
    [output] = await build(f"{file}:Server", asked).translate([entry("dog")], calls)
    assert output.text == "DOG"


GOOD = """
from harness.method.method import MethodClass, Output, Setup
class M:
    endpoint = None
    def __init__(self, options):
        self.setup = Setup(method="m", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1",
                           model_slug="m", condition="c")
    async def translate(self, entries, calls):
        return [Output("x") for _ in entries]
"""


def test_broken_plugins_are_told_in_words(tmp_path: Path) -> None:
    for code, words in [
        ("def f(:\n", "SyntaxError.*line 1"),
        ("import no_such_module_at_all", "no_such_module_at_all"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("class Other: pass", "no class 'M'. Its classes: Other"),
        ("M = 5", "no class 'M'. Its classes: none"),
        ("class M:\n    pass", "cannot be made: TypeError"),
        ("class M:\n    def __init__(self, options): self.setup = 1", "no 'endpoint'"),
        ("class M:\n    def __init__(self, options): 1 / 0", "ZeroDivisionError"),
        (GOOD.replace("self.setup =", "self.other ="), "no 'setup'"),
        (GOOD.replace("async ", ""), "not 'async def'"),
        (GOOD.replace("Setup(m", "dict(m"), "no harness.method.method.Setup"),
        (GOOD.replace('model_slug="m", ', ""), "model_slug"),
        ("\0", "cannot be loaded"),
    ]:
        file = tmp_path / "m.py"
        file.write_text(code, "utf-8")
        before = set(sys.modules)
        with pytest.raises(UsageError, match=words):
            build(f"{file}:M", ESPERANTO)
        if "loaded" in words or "Error.*line" in words:
            assert set(sys.modules) == before


def test_a_changed_file_is_another_setup_at_once(tmp_path: Path) -> None:
    """Also where the file's size and time stay the same, which compiled copies go by."""
    file = tmp_path / "m.py"
    hashes = []
    for version in "12":
        file.write_text(GOOD.replace('version="1"', f'version="{version}"'), "utf-8")
        setup = build(f"{file}:M", ESPERANTO).setup
        assert setup.method_version == version
        hashes.append(setup.method_sha256)
    assert hashes[0] != hashes[1]
    assert list(tmp_path.iterdir()) == [file]


def test_unknown_method_name_is_refused_with_the_nearest() -> None:
    for name, words in (
        ("copysource", "Did you mean 'copy-source'"),
        ("nowhere.py:M", "cannot be read"),
        ("nowhere.py", r"path/to/file\.py:ClassName"),
    ):
        with pytest.raises(UsageError, match=words):
            build(name, ESPERANTO)


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
    return completion(said)


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


@pytest.mark.costly("runs the 17 commands of the page")
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


def test_page_lists_the_program_s_endpoints_methods_and_checks() -> None:
    rows = re.findall(
        r"^\| `([\w.]+)` \| `(\S+)` \| (?:`(\w+)`|needs none) \|$", PAGE, re.MULTILINE
    )
    known = presets("chat") | presets("service")
    assert {name: (url, variable or None) for name, url, variable in rows} == {
        name: (each.url, each.environment if each.needs_key else None)
        for name, each in known.items()
    }
    [table] = re.findall(r"\| method \| what it does.*?\n\n", PAGE, re.DOTALL)
    for name, (needs, _) in TAKES.items():
        [row] = [line for line in table.splitlines() if f"`{name}`" in line]
        assert all(f"--{need.replace('_', '-')}" in row for need in needs), row
    checks = PAGE.split("| `--check` |")[1].split("\n\n")[0]
    made = make_checks((), frozenset({"bonan"}), "eo-Latn", None)
    listed = re.findall(r"^\| `([\w-]+)` \| [^|]+ \|$", checks, re.MULTILINE)
    assert {check.name for check in made} | {"fst"} == set(listed)


def test_both_coaching_files_say_the_same_and_fill_the_prompt(folder: Path) -> None:
    one, other = (read_coaching(folder / f"grammar.{kind}") for kind in ("json", "toml"))
    assert (one.notes, one.examples) == (other.notes, other.examples)
    assert one.dictionary.pairs() == other.dictionary.pairs()
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
