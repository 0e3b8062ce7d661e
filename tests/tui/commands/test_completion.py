"""What shells complete: from the real store, by the real shells where they are installed, and never what a shell would run."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from harness.store.sqlite.database import home, open_store
from rosetta_tui.completion import SCRIPTS, answer, data_folder
from tests.harness.card import factory
from tests.tui.commands.command_line import ok

RUN = factory.RUN_ID[:8]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder, of a name that a URI would misread, with one run."""
    folder = tmp_path / "data %41?#"
    folder.mkdir()
    monkeypatch.setenv("ROSETTA_HOME", str(folder))
    with closing(open_store(folder / "rosetta.sqlite")) as connection:
        factory.add_run(connection)
    return folder


def test_own_endpoints_are_offered(store: Path) -> None:
    text = 'model = "x"\n[endpoints]\n"our-lab" = "http://a"\nother = "http://b"\n[keys]\nours = "k"\n'
    (store / "settings.toml").write_text(text, "utf-8")
    assert offered("rosetta run x --endpoint o") == ["openrouter", "openai", "ollama", "our-lab", "other"]


def offered(line: str) -> list[str]:
    return [row.split("\t")[0] for row in answer(line).splitlines()]


@pytest.mark.parametrize(("line", "first"), [
    ("rosetta ru", ["run", "runs"]),
    ("rosetta runs sh", ["show"]),
    ("rosetta runs export --fo", ["--form"]),
    ("rosetta runs export --form ", ["card", "jsonl", "csv", "parquet", "sacrebleu", "mtme"]),
    ("rosetta runs export x --form=pa", ["--form=parquet"]),
    ("rosetta runs export 'a b' --form pa", ["parquet"]),
    ("rosetta runs show ", ["last", "last~1", RUN]),
    (f"rosetta runs show {RUN[:3]}", [RUN]),
    (f"rosetta runs show {RUN} ", []),
    (f"rosetta compare last {RUN[:3]}", [RUN]),
    ("rosetta compare --baseline ", ["last", "last~1", RUN]),
    ("rosetta compare --metric bleu,chr", ["bleu,chrf"]),
    ("rosetta gate last --min ch", ["chrf="]),
    ("rosetta run corpus.tsv --method copy", ["copy-source"]),
    ("rosetta run corpus.tsv --model ex", ["example/model"]),
    ("rosetta run corpus.tsv --endpoint ol", ["ollama"]),
    ("rosetta report re", ["review", "released"]),
    ("rosetta key delete ", []),
    ("rosetta corpus check ", []),
    ("rosetta nothing ", []),
    ("rosetta runs show 'las", ["last", "last~1"]),
    ("", ["demo", "run"]),
])  # fmt: skip
def test_what_may_come_next(store: Path, line: str, first: list[str]) -> None:
    assert offered(line)[: len(first) or None] == first


def test_no_store_and_a_broken_one_offer_what_is_always_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    for content in (None, b"no store", b""):
        if content is not None:
            (tmp_path / "rosetta.sqlite").write_bytes(content)
        assert offered("rosetta runs show ") == ["last", "last~1"]
    assert sorted(tmp_path.iterdir()) == [tmp_path / "rosetta.sqlite"]


def test_names_from_outside_are_never_run_nor_act(store: Path) -> None:
    with closing(sqlite3.connect(store / "rosetta.sqlite")) as connection, connection:
        connection.execute("UPDATE runs SET model_slug = ?", ["a$(touch x)\n\x1b[2J"])
    assert offered("rosetta run x --model ") == []
    rows = answer("rosetta runs show ").splitlines()
    assert len(rows) == 3
    assert "\x1b" not in rows[2]


def test_deleted_runs_are_not_offered(store: Path) -> None:
    ok(f"runs delete {RUN}")
    assert offered("rosetta runs show ") == ["last", "last~1"]
    assert offered("rosetta run x --model ") == []


def test_data_folder_is_the_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in (
        ("ROSETTA_HOME", "~/x"),
        ("ROSETTA_HOME", ""),
        ("XDG_DATA_HOME", str(tmp_path)),
        ("XDG_DATA_HOME", ""),
    ):
        monkeypatch.setenv(name, value)
        assert Path(data_folder()) == home()


@pytest.fixture
def shell(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the scripts; ``rosetta`` is on the path."""
    program = tmp_path / "bin" / "rosetta"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -P -c "from rosetta_tui.cli import main; main()" "$@"\n', "utf-8"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    for name in SCRIPTS:
        (tmp_path / name).write_text(ok(f"completion {name}"), "utf-8")
    return tmp_path


ASK = {
    "bash": """source ./bash; COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=($2) COMP_CWORD=$(($(wc -w <<< "$2") - 1))
        _rosetta 2>/dev/null; printf '%s\\n' "${COMPREPLY[@]}"; complete -p rosetta >/dev/null""",
    "zsh": """compdef() { }; compadd() { print -l -- $values }; _files() { }; source ./zsh
        words=(${(z)1}); CURRENT=${#words}; _rosetta""",
    "fish": "source ./fish; complete -C $argv[1] | string split -f1 \\t",
}


@pytest.mark.costly("starts the real shells")
@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_shells_offer_it(shell: Path, name: str) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    # bash divides words at = and : and inserts what comes after
    lines = {
        "rosetta runs sh": ("rosetta runs sh", "show", "show"),
        f"rosetta runs show {RUN[:3]}": (f"rosetta runs show {RUN[:3]}", RUN, RUN),
        "rosetta runs export --form=pa": ("rosetta runs export --form = pa", "parquet", "--form=parquet"),
        "rosetta run x --method api:de": ("rosetta run x --method api : de", "deepl", "api:deepl"),
    }
    for line, (words, in_bash, whole) in lines.items():
        call = [name, "-c", ASK[name], *(["_"] if name != "fish" else []), line, words]
        done = subprocess.run(call, cwd=shell, capture_output=True, text=True, check=False)
        assert done.stdout.split() == [in_bash if name == "bash" else whole], done.stderr


def test_powershell_is_told_to_ask() -> None:
    script = SCRIPTS["powershell"]
    assert "Register-ArgumentCompleter -Native -CommandName rosetta" in script
    assert 'rosetta completion powershell "$line"' in script
    assert script.count("{") == script.count("}")
