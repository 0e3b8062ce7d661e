"""Plug-ins by path and by entry point; the examples of the documentation are run as they stand."""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

import pytest

from harness.core.failures import ErrorClass, UsageError
from harness.method.method import Method
from harness.method.options import MethodOptions
from harness.methods.names import method_names
from harness.methods.registry import build
from tests.harness.methods.conftest import HttpCalls, Server, entry
from tests.harness.methods.page_examples import example

ESPERANTO = MethodOptions(source_language="en", target_language="eo")


@pytest.fixture
def phrasebook(tmp_path: Path) -> Path:
    file = tmp_path / "phrasebook.py"
    file.write_text(example("phrasebook.py"), "utf-8")
    return file


async def test_the_example_by_path(phrasebook: Path, calls: HttpCalls) -> None:
    asked = ESPERANTO.model_copy(update={"settings": {"polite": True}, "replicate": 2})
    method = build(f"{phrasebook}:Phrasebook", asked)
    assert isinstance(method, Method)
    known, unknown = await method.translate([entry("Thank you!"), entry("Dog")], calls)
    assert known.text == "dankon, mi petas"
    assert (unknown.text, unknown.error_class) == (None, ErrorClass.METHOD)
    setup = method.setup
    assert setup.method_sha256 == hashlib.sha256(phrasebook.read_bytes()).hexdigest()
    assert setup.options == {"settings": {"polite": True}}
    assert setup.replicate == 2
    assert str(phrasebook.parent) not in setup.model_dump_json()
    with pytest.raises(UsageError, match="Esperanto"):
        build(f"{phrasebook}:Phrasebook", MethodOptions(source_language="en", target_language="de"))


async def test_the_example_that_calls_an_endpoint(
    tmp_path: Path, server: Server, calls: HttpCalls
) -> None:
    file = tmp_path / "shouting_server.py"
    file.write_text(example("shouting_server.py"), "utf-8")
    server.answer = lambda body: {"translation": body["text"].upper()}
    asked = ESPERANTO.model_copy(update={"endpoint": server.url})
    [output] = await build(f"{file}:Server", asked).translate([entry("dog")], calls)
    assert output.text == "DOG"


async def test_the_example_by_entry_point(
    phrasebook: Path, calls: HttpCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = re.search(r"\[project.entry-points.*?\]\n(.*)\n", example("pyproject.toml"))
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


@pytest.mark.parametrize(
    ("code", "words"),
    [
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
    ],
)
def test_broken_plugins_are_told_in_words(tmp_path: Path, code: str, words: str) -> None:
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


def test_unknown_names() -> None:
    with pytest.raises(UsageError, match="Did you mean 'copy-source'"):
        build("copysource", ESPERANTO)
    with pytest.raises(UsageError, match="cannot be read"):
        build("nowhere.py:M", ESPERANTO)
    with pytest.raises(UsageError, match=r"path/to/file\.py:ClassName"):
        build("nowhere.py", ESPERANTO)
