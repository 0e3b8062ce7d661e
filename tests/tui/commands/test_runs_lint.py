"""``rosetta runs lint`` on runs, cards and several of them, and the canary of a corpus from file to finding."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from corpora.formats.load import load
from corpora.formats.write import write
from corpora.model.corpus import Form
from harness.core.failures import UsageError
from tests.corpora.making import file, only_problem
from tests.harness.lint.made import CANARY, sentence
from tests.tui.commands.command_line import said

PAIR = {"language_pair": "EN→EO", "source_language": "en", "target_language": "eo"}


def corpus(canary: Any = CANARY, segment: str = "development") -> dict[str, Any]:
    rows = [
        {"id": n, "source": f"source {n}", "reference": sentence(n), "segment": "diagnostic"}
        | ({"variant_class": "order"} if n < 8 else {})
        | ({"segment": segment} if n >= 20 else {})
        for n in range(30)
    ]
    return {"dataset": {"id": "linted", **PAIR, "canary": canary}, "entries": rows}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a run that has something of every kind, and its card beside it."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "corpus.json").write_text(json.dumps(corpus()), "utf-8")
    lines = [sentence(n) if n < 8 else sentence(500 + n) for n in range(30)]
    lines[10] = sentence(21)
    lines[11] = f"ho {CANARY}"
    (folder / "out.txt").write_text("\n".join(lines) + "\n", "utf-8")
    assert called(folder, "score", folder / "corpus.json", folder / "out.txt").exit_code == 0
    assert called(folder, "runs", "export", "last", "-o", folder / "card.json").exit_code == 0
    return folder


def called(home: Path, *words: object) -> Result:
    return said(" ".join(map(str, words)), home)


def checks(done: Result, place: int = 0) -> dict[str, list[Any]]:
    assert done.exit_code == 0, (done.output, done.exception)
    found = json.loads(done.stdout)[place]["findings"]
    return {each["check"]: each["entries"] for each in found}


ALL = {"variants": [*range(8)], "copies": [10], "canary": [11]}


def test_runs_lint_of_a_run_and_its_card(home: Path) -> None:
    both = called(home, "runs", "lint", "last", home / "card.json", "--json")
    assert checks(both) == checks(both, 1) == ALL
    assert json.loads(both.stdout)[1]["run"] == "card.json"


def test_runs_lint_without_the_corpus_says_what_it_left(home: Path, tmp_path: Path) -> None:
    done = called(tmp_path, "runs", "lint", home / "card.json")
    assert done.exit_code == 0
    assert "! copies: 1 of" in done.output  # its development rows are on the card itself
    assert "– canary: not looked at, because the corpus is not known here" in done.output
    assert "– variants: not looked at, because 0 of" in done.output


def test_runs_lint_uses_a_corpus_that_comes_later(home: Path, tmp_path: Path) -> None:
    assert called(tmp_path, "runs", "import", home / "card.json").exit_code == 0
    assert checks(called(tmp_path, "runs", "lint", "last", "--json")) == {"copies": [10]}
    assert called(tmp_path, "score", home / "corpus.json", home / "out.txt").exit_code == 0
    assert checks(called(tmp_path, "runs", "lint", "last~1", "--json")) == ALL


def test_runs_lint_names_entries_and_no_text(home: Path, tmp_path: Path) -> None:
    shown = called(home, "runs", "lint", "last").stdout
    assert "By chance: p < 0.001" in shown
    assert "entries   0, 1, 2, 3, 4, 5, 6, 7" in shown
    assert not any(text in shown for text in (CANARY, sentence(21), sentence(0)))
    wrong = file(tmp_path, b"{}", "wrong.json")
    assert isinstance(called(home, "runs", "lint", wrong).exception, UsageError)
    assert called(home, "runs", "lint").exit_code == 2


def test_runs_lint_of_a_secret_run_prints_no_text(tmp_path: Path) -> None:
    path = file(tmp_path, json.dumps(corpus(segment="gold_standard")).encode())
    (tmp_path / "out.txt").write_text("".join(f"{sentence(n)}\n" for n in range(30)), "utf-8")
    assert called(tmp_path, "score", path, tmp_path / "out.txt").exit_code == 0
    refused = called(tmp_path, "runs", "lint", "last", "--json")
    assert isinstance(refused.exception, UsageError)
    assert refused.stdout == ""
    shown = called(tmp_path, "runs", "lint", "last")
    assert shown.exit_code == 0
    assert not any(sentence(n) in shown.output for n in range(30))


def test_runs_lint_checks_no_card_with_a_corpus_that_stays(home: Path, tmp_path: Path) -> None:
    raw = corpus()
    raw["dataset"]["transmission"] = "local-only"
    path = file(tmp_path, json.dumps(raw).encode())
    assert called(tmp_path, "score", path, home / "out.txt").exit_code == 0
    shown = called(tmp_path, "runs", "lint", "last").output
    assert all(f"! {each}: " in shown for each in ALL)
    card = json.loads((home / "card.json").read_text("utf-8"))
    card["dataset"]["sha256"] = sha256(path.read_bytes()).hexdigest()
    (tmp_path / "forged.json").write_text(json.dumps(card), "utf-8")
    forged = called(tmp_path, "runs", "lint", tmp_path / "forged.json").output
    assert "! variants" not in forged


@pytest.mark.parametrize(
    ("canary", "kept"),
    [(CANARY, (CANARY,)), ([CANARY, "a" * 20], (CANARY, "a" * 20)), ([], ())],
)
def test_corpus_canary_is_read_and_written(
    tmp_path: Path, canary: Any, kept: tuple[str, ...]
) -> None:
    found = load(file(tmp_path, json.dumps(corpus(canary)).encode()))
    assert (found.dataset.canary, found.warnings) == (kept, ())
    write(found, tmp_path / "again.json", form=Form.SPECIFICATION)
    again = json.loads((tmp_path / "again.json").read_text("utf-8"))["dataset"]
    assert again.get("canary", []) == list(kept)
    for wrong in (7, {"a": 1}, ["x" * 20, 7]):
        path = file(tmp_path, json.dumps(corpus(wrong)).encode())
        assert only_problem(path).field == "dataset.canary"
    [warning] = load(file(tmp_path, json.dumps(corpus("abc")).encode())).warnings
    assert (warning.field, "so short" in warning.message) == ("dataset.canary", True)
