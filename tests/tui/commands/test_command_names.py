"""Wrong names are answered with the nearest, help is everywhere, and every error looks the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from harness.core.failures import UsageError
from harness.store.file.database import open_store
from harness.store.runs import find_open_run, find_run, find_trashed, runs_back
from rosetta_tui.cli import main
from rosetta_tui.commands import rosetta
from tests.harness.evaluation import corpus, run_corpus
from tests.harness.run.breaking_plan import PLAN


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    code = left.value.code
    assert isinstance(code, int)
    return code, capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("rnu", "error: There is no command 'rnu'. Did you mean 'run'?"),
        ("runs lsit", "error: There is no command 'lsit'. Did you mean 'list'?"),
        ("review craete", "error: There is no command 'craete'. Did you mean 'create'?"),
        ("key ste x", "error: There is no command 'ste'. Did you mean 'set'?"),
        ("corpus chekc", "error: There is no command 'chekc'. Did you mean 'check'?"),
        ("language lits", "error: There is no command 'lits'. Did you mean 'list'?"),
        ("run --methd x", "error: There is no option --methd. Did you mean --method?"),
        ("--vresion", "error: There is no option --vresion. Did you mean --version?"),
        ("leaderboard --jsno", "error: There is no option --jsno. Did you mean --json?"),
        ("run x --source en", "error: There is no option --source. Did you mean --source-language, --source-column or --source-name?"),
        ("runs export last --format csv", "error: There is no option --format. Did you mean --form?"),
        ("corpus check x --lang mi", "error: There is no option --lang. Did you mean --source-language or --target-language?"),
        ("compare a b --alpha 1", "error: There is no option --alpha."),
        ("key xyzzy", "error: There is no command 'xyzzy'. There are set, list, delete."),
        ("run", "error: Missing argument 'FILE'."),
        ("runs show nine", "error: There is no run 'nine'. `rosetta runs list` shows which there are."),
        ("corpus check no.tsv", "error: no.tsv: The file cannot be read: No such file or directory."),
        ("score", "error: FILE and OUTPUTS are wanted, or --rescore RUN."),
        ("runs import no.json", "error: no.json cannot be read: No such file or directory."),
        ("language show qqq", "error: There is no language card for 'qqq'."),
        ("review gate nine", "error: There is no review 'nine'."),
    ],
)  # fmt: skip
def test_wrong_usage_is_said_in_one_way_with_the_nearest(
    capsys: pytest.CaptureFixture[str], typed: str, words: str
) -> None:
    code, lines = said(capsys, *typed.split())
    assert code == 2
    assert lines[0].startswith(words)
    assert all(line.startswith("`rosetta") for line in lines[1:]), lines


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        # kept from a first call, which other tests make without the program around it
        found._help_option = None
        yield (*path, name)
        if isinstance(found, click.Group):
            yield from commands(found, (*path, name))


def test_every_command_shows_its_help_in_three_ways(capsys: pytest.CaptureFixture[str]) -> None:
    for path in commands(rosetta):
        pages = [
            CliRunner().invoke(rosetta, [*path, option], prog_name="rosetta").output
            for option in ("-h", "--help")
        ]
        assert pages[0] == pages[1]
        assert pages[0].startswith(f"Usage: rosetta {' '.join(path)} ")
    with pytest.raises(SystemExit):
        main(["help", "runs", "list"])
    assert capsys.readouterr().out.startswith("Usage: rosetta runs list")


@pytest.mark.parametrize(
    ("name", "back"),
    [("last", 0), ("last~0", 0), ("last~2", 2), ("last~12", 12), ("last~", None), ("last~-1", None),
     ("last~x", None), ("Last", None), ("last~1~1", None), ("last~" + "9" * 10, None), ("", None)],
)  # fmt: skip
def test_names_of_runs_before_the_last(name: str, back: int | None) -> None:
    assert runs_back(name) == back


def test_runs_are_counted_from_the_last_one(tmp_path: Path) -> None:
    store_path = tmp_path / "rosetta.sqlite"
    ids = [run_corpus(store_path, corpus(2), PLAN).finished.run_id for _ in range(3)]
    with closing(open_store(store_path)) as store:
        for back, run_id in enumerate(reversed(ids)):
            assert find_run(store, f"last~{back}").run_id == run_id
        with pytest.raises(UsageError, match="There is no run 'last~3'"):
            find_run(store, "last~3")
        with pytest.raises(UsageError, match="waiting to go on that far back"):
            find_open_run(store, 1)
        for number, when in ((1, 10.0), (2, 20.0)):
            store.execute("UPDATE runs SET put_away = ? WHERE id = ?", (when, number))
        assert find_trashed(store, "last~1").run_id == ids[0]
        assert find_run(store, "last").run_id == ids[2]


def test_the_choices_of_a_missing_option_stand_in_its_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, (first, *rest) = said(capsys, "corpus", "convert", "c.json", "-o", "x")
    assert code == 2
    assert first.startswith("error: Missing option '--to'. Choose from: specification, legacy, ")
    assert len(rest) == 1
