"""The page of the architecture and the contracts of imports, each against the tree."""

from __future__ import annotations

import ast
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGE = DOCS / "architecture.md"
PACKAGES = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["root_packages"]  # fmt: skip
NAMED = re.findall(r"`([a-z_]+/[\w/]*(?:\.\w+)?)(?:: (\w+))?`", PAGE.read_text("utf-8"))


def rooms() -> list[Path]:
    """Return the folders that hold code."""
    found = (path.parent for name in PACKAGES for path in (ROOT / name).rglob("__init__.py"))
    return sorted(room for room in found if any(room.glob("[!_]*.py")))


def test_the_map_is_what_its_generator_draws() -> None:
    drawn = runpy.run_path(str(DOCS / "make_architecture.py"))["page"]()
    assert drawn == PAGE.read_text("utf-8"), "run: python -P docs/make_architecture.py"


def test_the_map_has_every_room_of_the_packages() -> None:
    drawn = runpy.run_path(str(DOCS / "make_architecture.py"))["drawing"]()
    for package in PACKAGES:
        [block] = [each for each in drawn.split("\n\n") if each.startswith(f"{package}: ")]
        there = {room.name for room in rooms() if room.parent == ROOT / package}
        assert there <= set(re.findall(r"^  . (\w+)", block, re.MULTILINE)), package


def test_every_file_and_name_of_the_page_exists() -> None:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    assert len(set(NAMED)) > 80
    wrong = []
    for path, name in sorted(set(NAMED)):
        # folders of features are named without their package
        file = next(
            (each for each in (ROOT / path, ROOT / "rosetta_tui" / path) if each.exists()), None
        )
        if file is None:
            wrong.append(path)
        elif name:
            nodes = ast.walk(ast.parse(file.read_text("utf-8")))
            if name not in {node.name for node in nodes if isinstance(node, kinds)}:
                wrong.append(f"{path}: {name}")
    assert wrong == [], "docs/architecture.md names what is not there"


def test_every_room_says_in_one_plain_sentence_what_it_is() -> None:
    told: dict[str, str] = {}
    for room in rooms():
        name = str(room.relative_to(ROOT))
        first = (ast.get_docstring(ast.parse((room / "__init__.py").read_text("utf-8"))) or "").partition("\n\n")[0]  # fmt: skip
        assert first.endswith("."), f"{name} does not say in a sentence what it is"
        assert len(re.findall(r"\.(?:\s|$)", first)) == 1, (
            f"{name}: one sentence, then a blank line"
        )
        assert 20 <= len(first) <= 120, f"{name}: {len(first)} characters"
        assert first not in told, f"{name} says the same as {told[first]}"
        told[first] = name


def test_every_import_contract_is_kept() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_the_contracts_cover_every_package_that_is_shipped() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    lint = project["tool"]["importlinter"]
    assert sorted(lint["root_packages"]) == sorted(shipped)
    layers = next(each["layers"] for each in lint["contracts"] if each["type"] == "layers")
    assert sorted(layers) == sorted(shipped)
    assert set(project["tool"]["mypy"]["packages"]) == {*shipped, "tests"}
