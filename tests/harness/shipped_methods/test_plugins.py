"""Plug-ins by path and entry point; the page of methods: its files are written, its commands run."""

import hashlib
import json
import re
import shlex
import sys
from itertools import product
from pathlib import Path
from typing import Any

import keyring
import pytest
from click.testing import CliRunner
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from keyring.backends.null import Keyring as NullKeyring
from keyring.errors import KeyringLocked

from corpora.files.json_types import JsonObject
from harness.core.failures import ErrorClass, KeyStoreError, UsageError
from harness.endpoint.endpoints import (
    SERVICE,
    chat_endpoint,
    delete_key,
    find_key,
    get_key,
    key_for,
    presets,
    set_key,
    stored_names,
)
from harness.inputs.dictionary import read_coaching
from harness.method.method import Method
from harness.method.method_names import method_names
from harness.method.option_table import METHODS
from harness.method.options import MethodOptions, keys_in, refuse_told_keys, refuse_written_keys
from harness.setup.plan import Plan
from harness.shipped_methods.chat import briefing
from harness.shipped_methods.checks import make_checks
from harness.shipped_methods.registry import build
from harness.store.results import read_results
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from harness.store.sqlite.database import opened
from rosetta_tui.commands import rosetta
from rosetta_tui.commands.doctor import key
from rosetta_tui.request.draft import NAME, RunDraft, keep_draft
from tests.harness.evaluation import LANGUAGES, begun, corpus, query
from tests.harness.sealed.refusals import refuses
from tests.harness.shipped_methods.conftest import PLUGIN, HttpCalls, Server, completion, entry
from tests.keyring_in_memory import MemoryKeyring

ESPERANTO = MethodOptions(source_language="en", target_language="eo")


@pytest.fixture
def phrasebook(tmp_path: Path) -> Path:
    file = tmp_path / "phrasebook.py"
    file.write_text(example("phrasebook.py"), "utf-8")
    return file


async def test_page_s_examples(
    phrasebook: Path, calls: HttpCalls, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: Server
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
    (file := tmp_path / "shouting_server.py").write_text(example("shouting_server.py"), "utf-8")
    server.answer = lambda body: {"translation": body["text"].upper()}
    asked = ESPERANTO.model_copy(update={"endpoint": server.url})
    [output] = await build(f"{file}:Server", asked).translate([entry("dog")], calls)
    assert output.text == "DOG"


def test_broken_plugins_are_told_in_words(tmp_path: Path) -> None:
    for code, words in [
        ("def f(:\n", "SyntaxError.*line 1"),
        ("import no_such_module_at_all", "no_such_module_at_all"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("class Other: pass", "no class or function 'M'. It has: Other"),
        ("M = 5", "no class or function 'M'. It has: none"),
        ("class M:\n    pass", "cannot be made: TypeError"),
        ("class M:\n    def __init__(self, options): self.setup = 1", "no 'endpoint'"),
        ("class M:\n    def __init__(self, options): 1 / 0", "ZeroDivisionError"),
        (PLUGIN.replace("self.setup =", "self.other ="), "no 'setup'"),
        (PLUGIN.replace("async ", ""), "not 'async def'"),
        (PLUGIN.replace("Setup(m", "dict(m"), "no harness.method.method.Setup"),
        (PLUGIN.replace('model_slug="m", ', ""), "model_slug"),
        ("\0", "cannot be loaded"),
    ]:
        file = tmp_path / "m.py"
        file.write_text(code, "utf-8")
        before = set(sys.modules)
        refuses(UsageError, words, build, f"{file}:M", ESPERANTO)
        if "loaded" in words or "Error.*line" in words:
            assert set(sys.modules) == before
    for name, words in (
        ("copysource", "Did you mean 'copy-source'"),
        ("nowhere.py:M", "cannot be read"),
        ("nowhere", r"path/to/file\.py"),
    ):
        refuses(UsageError, words, build, name, ESPERANTO)


def test_a_changed_file_is_another_setup_at_once(tmp_path: Path) -> None:
    """Also where the file's size and time stay the same, which compiled copies go by."""
    file = tmp_path / "m.py"
    hashes = []
    for version in "12":
        file.write_text(PLUGIN.replace('version="1"', f'version="{version}"'), "utf-8")
        setup = build(f"{file}:M", ESPERANTO).setup
        assert setup.method_version == version
        hashes.append(setup.method_sha256)
    assert hashes[0] != hashes[1]
    assert list(tmp_path.iterdir()) == [file]


PAGE = (Path(__file__).parents[3] / "docs" / "methods.md").read_text("utf-8")
FILES = dict(re.findall(r"^\*\*(\S+)\*\*\n\n```\w+\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE))
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
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
    sources = [text for text in RIGHT if any(text in str(each["content"]) for each in body["messages"])]
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


@pytest.mark.thorough
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
    rows = re.findall(r"^\| `([\w.]+)` \| `(\S+)` \| (?:`(\w+)`|needs none) \|$", PAGE, re.MULTILINE)
    known = presets("chat") | presets("service")
    assert {name: (url, variable or None) for name, url, variable in rows} == {
        name: (each.url, each.environment if each.needs_key else None) for name, each in known.items()
    }
    [table] = re.findall(r"\| method \| what it does.*?\n\n", PAGE, re.DOTALL)
    for name, (needs, _) in METHODS.items():
        [row] = [line for line in table.splitlines() if f"`{name}`" in line]
        assert all(f"--{need.replace('_', '-')}" in row for need in needs), row
    checks = PAGE.split("| `--check` |")[1].split("\n\n")[0]
    made = make_checks((), frozenset({"bonan"}), "eo-Latn", None)
    listed = re.findall(r"^\| `([\w-]+)` \| [^|]+ \|$", checks, re.MULTILINE)
    assert {check.name for check in made} | {"fst"} == set(listed)


OPENROUTER = chat_endpoint("openrouter")


class Locked(KeyringBackend):
    """A keyring that its owner has not opened."""

    priority = 1

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("/path/of/the/keyring")

    set_password = delete_password = get_password  # type: ignore[assignment]


class Broken(Locked):
    def get_password(self, service: str, username: str) -> str | None:
        raise OSError("dbus: sk-secret")


def test_keys_and_variables_are_found(ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch) -> None:
    set_key("openrouter", " sk-1\n")
    set_key("llm.example.org", "sk-2")
    assert (ring.kept[SERVICE, "openrouter"], find_key(OPENROUTER)) == ("sk-1", "sk-1")
    assert find_key(chat_endpoint("https://llm.example.org/v1")) == "sk-2"
    assert find_key(chat_endpoint("https://other.example.org/v1")) is None
    assert stored_names() == ["llm.example.org", "openrouter"]
    assert delete_key("llm.example.org")
    assert not delete_key("llm.example.org")
    assert stored_names() == ["openrouter"]
    del ring.kept[SERVICE, "openrouter"]
    assert stored_names() == [], "deleted with another program"
    set_key("openrouter", "sk-stored")
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-variable")
    assert find_key(OPENROUTER) == "sk-variable"
    monkeypatch.setenv("OPENROUTER_API_KEY", " ")
    assert find_key(OPENROUTER) == "sk-stored"
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-1\r\nX-Evil: 1")
    caught = refuses(UsageError, "", find_key, OPENROUTER)
    assert "sk-1" not in str(caught)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.setenv("LLM_EXAMPLE_ORG_API_KEY", "sk-host")
    assert find_key(chat_endpoint("https://api.openai.com.evil.example/v1")) is None
    assert find_key(chat_endpoint("https://api.openai.com/v1")) == "sk-openai"
    assert find_key(chat_endpoint("https://llm.example.org/v1")) == "sk-host"


def test_unknown_names_bad_keys_and_no_keyring_are_refused() -> None:
    for name in ("openruter", "", "names of stored keys", "ollama", "localhost"):
        refuses(UsageError, "", set_key, name, "sk-1")
    for wrong in ("", " ", "a b", "a\nb", "ключ", "a\0b"):
        refuses(UsageError, "", set_key, "deepl", wrong)
    keyring.set_keyring(NullKeyring())
    refuses(KeyStoreError, "did not keep", set_key, "deepl", "sk-1")
    for backend in (NoKeyring, Locked, Broken):
        keyring.set_keyring(backend())
        refuses(KeyStoreError, "environment variable DEEPL_API_KEY", set_key, "deepl", "sk-1")
        caught = refuses(UsageError, "OPENROUTER_API_KEY", find_key, OPENROUTER)
        assert not [word for word in ("sk-secret", "/path") if word in str(caught)]
        assert find_key(chat_endpoint("https://llm.example.org/v1")) is None
        assert find_key(chat_endpoint("ollama")) is None


def test_command_never_shows_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = CliRunner()
    typed = runner.invoke(key, ["set", "openrouter"], input="sk-typed\n")
    piped = runner.invoke(key, ["set", "deepl", "--stdin"], input="sk-piped\nmore\n")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-variable")
    listed = runner.invoke(key, ["list"])
    as_json = runner.invoke(key, ["list", "--json"])
    for result in (typed, piped, listed, as_json):
        assert result.exit_code == 0
        assert "sk-" not in result.output
    assert (get_key("openrouter"), get_key("deepl")) == ("sk-typed", "sk-piped")
    rows = {row["name"]: row for row in json.loads(as_json.stdout)}
    assert rows.keys() == {"openrouter", "deepl", "openai"}
    told = {"version": 1, "name": "openai", "in_keyring": False, "in_environment": True}
    assert rows["openai"] == {**told, "variable": "OPENAI_API_KEY"}
    assert "openai           OPENAI_API_KEY" in listed.stdout
    assert runner.invoke(key, ["delete", "openrouter"]).exit_code == 0
    assert isinstance(runner.invoke(key, ["delete", "openrouter"]).exception, UsageError)
    keyring.set_keyring(NoKeyring())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-variable")
    listed = CliRunner().invoke(key, ["list"])
    assert listed.exit_code == 0
    assert "openai" in listed.stdout
    assert "keyring cannot be used" in listed.stderr
    monkeypatch.setenv("LLM_EXAMPLE_ORG_API_KEY", KEY)
    found: dict[str, Any] = {}
    exec(compile(example("keyed_server.py"), "keyed_server.py", "exec"), found)
    assert found["headers"] == {"Authorization": f"Bearer {KEY}"}
    monkeypatch.setenv("127_0_0_1_API_KEY", " ")
    assert key_for("http://127.0.0.1:9/v1") is None


KEY = "hunter2hunter2hunter2"
NAMES = ["key", "api_key", "apiKey", "API-KEY", "openai_key", "token", "hf_token", "access_token",
         "client_secret", "password", "db.passwd", "passphrase", "Authorization", "auth", "secretKey",
         "credentials", "key2", "mykey", "pass", "access_key", "apikey", "secret", "credential", "myPassword",
         "authkey"]  # fmt: skip


def options(**more: Any) -> MethodOptions:
    return MethodOptions.model_validate({**LANGUAGES, **more})


def test_names_numbers_and_beginnings_like_keys_are_refused() -> None:
    for place, name in product(("settings", "body"), NAMES):
        for told in ({name: KEY}, {"extra": {name: KEY}}, {"extra": [{"a": {name: KEY}}]}):
            caught = refuses(UsageError, "rosetta key set", refuse_written_keys, options(**{place: told}))
            assert KEY not in str(caught)
    for name in ("key", "access_key", "apikey", "secret", "credential", "pass", "api.token"):
        for number in (1, 12345678901234567890, 0.5):
            caught = refuses(UsageError, "looks like a key", refuse_told_keys, {"settings": {name: number}})
            assert str(number) not in str(caught)
    for value in ["sk-abcdefghijklmnop1234", "hf_abcdefghijklmnop", "Bearer abcdefgh1234", "AKIAABCDEFGHIJKLMNOP",
     "ghp_abcdefghijklmnop1234", "eyJhbGciOiJIUzI1NiIsInR5cCI6.e30.abc"]:  # fmt: skip
        refuses(UsageError, "", refuse_written_keys, options(settings={"colour": value}))
        with pytest.raises(UsageError, match=r"rosetta key set api\.example\.org"):
            refuse_written_keys(options(endpoint=f"https://api.example.org/{value}/v1"))
    harmless: JsonObject = {"polite": True, "max_tokens": 5, "token_limit": 7, "eos_token": "</s>", "keyboard": "x",
            "monkey": "x", "author": "N. N.", "style": "sk", "auth": False, "max_token": 5,
            "passes": 2, "turkey": "x", "bypass": 1, "secretary": "x"}  # fmt: skip
    assert list(keys_in(harmless)) == []
    for rest in (f"me:{KEY}@x.org/v1", f"x.org/v1?key={KEY}", f"x.org/v1#{KEY}"):
        caught = refuses(UsageError, "must not carry", refuse_written_keys, options(endpoint=f"https://{rest}"))
        assert KEY not in str(caught)


def test_key_reaches_neither_store_nor_setup_nor_draft(tmp_path: Path, store_path: Path) -> None:
    file = tmp_path / "phrasebook.py"
    file.write_text(example("phrasebook.py"), "utf-8")
    plan = Plan(method=f"{file}:Phrasebook", options=options(settings={"api_key": KEY}))
    refuses(UsageError, "looks like a key", begun, store_path, corpus(2), plan)
    assert query(store_path, "SELECT count(*) FROM runs") == [(0,)]
    told = f'options={{"api_key": "{KEY}"}}, model_slug='
    (file := tmp_path / "phrasebook.py").write_text(example("phrasebook.py").replace("model_slug=", told), "utf-8")
    caught = refuses(UsageError, "its setup holds 'api_key'", build, f"{file}:Phrasebook", options())
    assert KEY not in str(caught)
    settings = (f"api_key={KEY}", "polite=true")
    keep_draft(tmp_path, RunDraft({"method": "x.py:X", "settings": settings}))
    kept = (tmp_path / NAME).read_text()
    assert (KEY in kept, "polite=true" in kept) == (False, True)


def example(name: str) -> str:
    """The code block of the page that begins with the file's name."""
    page = (Path(__file__).parents[3] / "docs" / "plugins.md").read_text("utf-8")
    [code] = re.findall(rf"```\w+\n(# {re.escape(name)}.*?)```", page, re.DOTALL)
    return str(code)


FUNCTIONS = {
    "def translate(text): return text.upper()": ["ONE", "TWO"],
    "async def translate(text): return text[::-1]": ["eno", "owt"],
    "def translate(texts): return [each + '!' for each in texts]": ["one!", "two!"],
    "async def translate(rows: list[str]) -> list[str]: return [each + '!' for each in rows]": ["one!", "two!"],
    "translate = lambda text: text.upper()": ["ONE", "TWO"],
    "from functools import partial\ntranslate = partial('{}{}'.format, '>')": [">one", ">two"],
    "class Upper:\n    def __call__(self, text): return text.upper()\ntranslate = Upper()": ["ONE", "TWO"],
    "class Upper:\n    async def __call__(self, sentences): return [each.upper() for each in sentences]\ntranslate = Upper()": [
        "ONE",
        "TWO",
    ],
    "def translate(text): return None if text == 'one' else 7": [
        "The function returned nothing, not a text.",
        "The function returned a value of type int, not a text.",
    ],
}


@pytest.mark.parametrize(("code", "wanted"), FUNCTIONS.items())
async def test_function_in_a_file_is_a_method(code: str, wanted: list[str], calls: HttpCalls, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(code, "utf-8")
    method = build(str(file), ESPERANTO.model_copy(update={"batch_size": 2}))
    assert method.setup.batch_size == (2 if re.search(r"texts|list\[|sentences", code) else 1)
    assert method.setup.method_sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    outputs = await method.translate([entry("one"), entry("two")], calls)
    assert [each.text or each.error for each in outputs] == wanted
    file.write_text("def translate(texts): return []\ndef other(text): raise OSError", "utf-8")
    with pytest.raises(ValueError, match="a list of 1 texts"):
        await build(str(file), ESPERANTO).translate([entry("one")], calls)
    refuses(UsageError, r"no class or function 'third'. It has: translate, other", build, f"{file}:third", ESPERANTO)
