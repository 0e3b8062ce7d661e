"""The pack of the page of plug-ins, installed as pip would, without pip."""

from __future__ import annotations

import re
import shutil
import sys
from contextlib import closing
from pathlib import Path

import pytest

from corpora.samples import DEMO_CORPUS, sample_path
from harness.store.run_list import list_runs
from harness.store.sqlite.database import open_store
from rosetta_tui.cli import main
from scoring.core.packs import installed_packs
from scoring.metrics.inventory import packaged_makers

CORPUS = sample_path(DEMO_CORPUS)
PAGE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text("utf-8")


def example(beginning: str) -> str:
    """The code block of the page that begins with this comment."""
    [code] = re.findall(rf"```\w+\n(# {re.escape(beginning)}\n.*?)```", PAGE, re.DOTALL)
    return str(code)


TABLE = example("demo_vowels/pack.toml")
CODE = example("demo_vowels/__init__.py")
PROJECT = example("pyproject.toml beside demo_vowels")


class Place:
    """A folder of installed packages, which the program looks at anew after each change."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._patch = patch
        folder.mkdir()
        self._again()

    def install(self, *, table: str = TABLE, code: str = CODE) -> None:
        """Install a package that offers the pack ``demo``."""
        package = self.folder / "demo_vowels"
        package.mkdir(exist_ok=True)
        (package / "__init__.py").write_text(code, "utf-8")
        (package / "pack.toml").write_text(table, "utf-8")
        self.offer("demo", "demo_vowels")

    def offer(self, name: str, module: str, package: str = "") -> None:
        """Install nothing but the word that a package offers a pack."""
        package = package or f"{name}-package"
        told = self.folder / f"{package.replace('-', '_')}-0.1.dist-info"
        told.mkdir(exist_ok=True)
        (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1\n")
        (told / "entry_points.txt").write_text(f"[rosetta.metrics]\n{name} = {module}\n")
        self._again()

    def uninstall(self) -> None:
        """Take everything away."""
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        self._again()

    def _again(self) -> None:
        for name in [each for each in sys.modules if each.partition(".")[0].startswith("demo_")]:
            del sys.modules[name]
        installed_packs.cache_clear()
        packaged_makers.cache_clear()
        self._patch.syspath_prepend(self.folder)


Shown = pytest.CaptureFixture[str]


def said(capsys: Shown, *arguments: str, code: int | None = 0) -> str:
    """Make a call; gives all that it printed. ``code`` None: it may end in any way."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, problems = capsys.readouterr()
    assert code is None or (ended.value.code or 0) == code, problems
    return out + problems


def played(capsys: Shown, metrics: str, text: str = "La kato.") -> str:
    """Run a method that answers one text; gives the run's id."""
    line = ["run", str(CORPUS), "-m", "constant", "--text", text, "--limit", "12"]
    said(capsys, *line, "--metrics", metrics)
    with closing(open_store()) as store:
        return list_runs(store)[0].run_id
