"""No folder of the user's machine is on a card or in what a run prints: cards are passed on."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest

from corpora.samples import DEMO_COACHING, DEMO_CORPUS, DEMO_WEAK, sample_path
from tests.tui.commands.processes import Rosetta

TELLTALE = "Zaubertrank-7f3a"
FORMS = ("card", "jsonl", "csv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with everything that a run of the demo can be told to use."""
    folder = tmp_path / TELLTALE / "home"
    folder.mkdir(parents=True)
    for sample in (DEMO_CORPUS, DEMO_WEAK, DEMO_COACHING):
        shutil.copy(sample_path(sample), folder / sample)
    shipped = Path(str(files("corpora"))) / "languages" / "shipped"
    shutil.copy(shipped / "epo" / "epo.hfstol", folder / "own.hfstol")
    shutil.copy(shipped / "eo.toml", folder / "own.toml")
    entries = json.loads((folder / DEMO_CORPUS).read_text("utf-8"))["entries"]
    scores = "".join(f"{entry['id']}\t0.5\n" for entry in entries)
    (folder / "scores.tsv").write_text(scores, "utf-8")
    (folder / "few.tsv").write_text("1\t0.5\n", "utf-8")
    (folder / "glosses.tsv").write_text("hundo\tdog\n", "utf-8")
    return folder


@pytest.fixture
def rosetta(folder: Path) -> Rosetta:
    return Rosetta(folder / "data")


def replay(folder: Path, *more: object) -> list[object]:
    return [
        "run", folder / DEMO_CORPUS, "-m", "replay", "--outputs", folder / DEMO_WEAK,
        "--terms", folder / DEMO_COACHING, "--analyser", folder / "own.hfstol",
        "--language-card", folder / "own.toml", "--gloss-dictionary", folder / "glosses.tsv", *more,
    ]  # fmt: skip


def printed(rosetta: Rosetta, arguments: Sequence[object]) -> str:
    """Return all that a run prints, in lines and in JSON lines, and all that is exported of it."""
    said = []
    for style in ("--plain", "--json-lines"):
        code, out, problems = rosetta(*arguments, style)
        assert code == 0, problems
        assert out
        said += [out, problems]
    for form in FORMS:
        code, out, problems = rosetta("runs", "export", "last", "--form", form, "-o", "-")
        assert code == 0, problems
        said += [out, problems]
    for words in (["show", "last"], ["show", "last", "--json"], ["list"], ["verify", "last"]):
        said += rosetta("runs", *words)[1:]
    return "\n".join(said)


@pytest.mark.thorough
def test_a_run_with_files_of_ones_own(rosetta: Rosetta, folder: Path) -> None:
    said = printed(rosetta, replay(folder, "--comet", folder / "scores.tsv"))
    for used in ("own.hfstol", "scores.tsv"):
        assert used in said
    assert TELLTALE not in said


@pytest.mark.thorough
def test_a_model_that_fails_is_named_without_its_folder(rosetta: Rosetta, folder: Path) -> None:
    said = printed(rosetta, replay(folder, "--comet", folder / "few.tsv"))
    assert re.search(r"few\.tsv: \d+ of the run's 96 entries have no score", said)
    assert TELLTALE not in said


@pytest.mark.thorough
def test_an_analyser_that_is_damaged_is_named_without_its_folder(
    rosetta: Rosetta, folder: Path
) -> None:
    languages = rosetta.home / "languages" / "eo"
    languages.mkdir(parents=True)
    (languages / "epo.hfstol").write_bytes(b"damaged")
    chosen = ["run", folder / DEMO_CORPUS, "-m", "copy-source"]
    said = printed(rosetta, chosen)
    assert "epo.hfstol" in said
    assert TELLTALE not in said


@pytest.mark.thorough
def test_a_run_that_was_scored_again(rosetta: Rosetta, folder: Path) -> None:
    code, _, problems = rosetta(*replay(folder), "--plain")
    assert code == 0, problems
    for scores in ("scores.tsv", "few.tsv"):
        again = ["score", "--rescore", "last", "--comet", folder / scores, "--json"]
        code, out, problems = rosetta(*again)
        assert code == 0, problems
        assert scores in out
        assert TELLTALE not in out + problems


def test_the_telltale_is_found_where_there_is_one(rosetta: Rosetta, folder: Path) -> None:
    code, _, problems = rosetta("run", folder / "missing.json", "-m", "copy-source", "--plain")
    assert code == 2
    assert TELLTALE in problems
