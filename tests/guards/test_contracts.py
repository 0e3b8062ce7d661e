"""The rules of who may import whom, as pyproject.toml states them."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


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
