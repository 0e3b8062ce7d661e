"""Every way out of this computer: what a command writes or prints as JSON has no number of a run over secret entries.

The table has each command that writes a file or JSON; one that is new fails until it is put there. So do rows of the
app's tables, as they are copied and exported.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from harness.card.load import load_card
from harness.compare.comparing import compare_runs
from harness.leaderboard.ranking import leaderboards
from harness.store.file.database import open_store
from harness.store.results import read_results
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from rosetta_tui.commands import rosetta
from rosetta_tui.compare.difference_panel import PairRows, pair_columns
from rosetta_tui.leaderboard.rows import LeaderboardRows, columns
from rosetta_tui.runs.table import COLUMNS, RunRows
from rosetta_tui.show.columns import Column, Records, ShownRecords
from tests.harness.release.made import CANARY, hidden, outputs
from tests.keyring_in_memory import memory_keyring

ENTRIES = hidden(20)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder with two finished runs over hidden entries, and one that was stopped."""
    folder = tmp_path_factory.mktemp("home")
    rows = [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in ENTRIES]
    pair = {"language_pair": "EN→EO", "source_language": "en", "target_language": "eo"}
    file = {"dataset": {"id": "hid", **pair}, "entries": rows}
    (folder / "hid.json").write_text(json.dumps(file), "utf-8")
    ratings = "".join(f"{each.id},{n % 4}\n" for n, each in enumerate(ENTRIES))
    (folder / "ratings.csv").write_text(f"entry_id,rating\n{ratings}", "utf-8")
    with memory_keyring(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROSETTA_HOME", str(folder))
        for right in (0.3, 0.95, 0.6):
            lines = "".join(f"{each}\n" for each in outputs(ENTRIES, right))
            (folder / f"{right}.txt").write_text(lines, "utf-8")
            scored = called(
                f"score {folder}/hid.json {folder}/{right}.txt --metrics chrf,exact,lbrag"
            )
            assert scored.exit_code == 0, scored.output
        with closing(open_store(folder / "rosetta.sqlite")) as store:
            number = find_run(store, "last").id
            store.execute(
                "UPDATE runs SET run_card = NULL, state = 'stopped' WHERE id = ?", (number,)
            )
        yield folder


@pytest.fixture(autouse=True)
def here(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(home))
    monkeypatch.chdir(tmp_path)


def called(line: str) -> Any:
    return CliRunner().invoke(rosetta, line.split())


@pytest.fixture(scope="module")
def exact(home: Path) -> frozenset[str]:
    """All numbers with six decimals or more that the runs have of secret entries, as far as the fifth."""
    found: set[str] = set()
    with closing(open_store(home / "rosetta.sqlite")) as store:
        for name in ("last~1", "last~2"):
            run = find_run(store, name)
            found |= numbers(json.dumps(load_card(store, run.id).as_json()["scores"]))
        for each in list_runs(store):
            found |= numbers(repr([result.kept for result in read_results(store, each.number)]))
        pairs = compare_runs(store, ["last~1", "last~2"]).pairs
        found |= numbers(repr([pair.by_metric for pair in pairs]))
    assert len(found) > 50
    return frozenset(found)


def numbers(text: str) -> set[str]:
    return {each for each in re.findall(r"\d+\.\d{5}(?=\d)", text) if each.strip("0.")}


WAYS: dict[str, tuple[str, ...]] = {
    "run": ("run {home}/hid.json --method copy-source --json-lines",),
    "demo": (),
    "resume": ("resume last --json-lines",),
    "retry": ("! retry last~1 --json-lines",),
    "watch": ("watch last~1 --json-lines",),
    "estimate": ("estimate {home}/hid.json --method copy-source --json",),
    "sweep begin": (),
    "sweep resume": (),
    "sweep show": (),
    "sweep list": (),
    "sweep compare": (),
    "score": (
        "! score {home}/hid.json {home}/0.3.txt --json",
        "! score --rescore last~1 --json",
    ),
    "runs list": ("runs list --json", "runs list --deleted --json"),
    "runs show": ("runs show last --json", "! runs show last~1 --json"),
    "runs export": (
        "! runs export last~1 -o out.json",
        "! runs export last~1 -o out.json --unsigned",
        "! runs export last~1 -o - --form jsonl",
        "! runs export last~1 -o out.csv --form csv",
        "runs export last~1 -o out.json --submitter Ann",
    ),
    "runs proof": ("! runs proof last~1 id-3 -o proof.json",),
    "runs verify": ("runs verify last~1 --json",),
    "runs lint": ("! runs lint last~1 --json",),
    "runs reproduce": (
        "! runs reproduce last~1 --corpus {home}/hid.json --json",
        "! runs reproduce last~1 --corpus {home}/hid.json --with last~2 --json -o out.json",
    ),
    "submission demo": (),
    "submission pack": ("! submission pack {home} --card last~1 -o out.rosetta-submission",),
    "submission check": (),
    "submission run": (),
    "submission tell": (),
    "submission list": (),
    "submission show": (),
    "submission open": (),
    "runs import": (),
    "compare": (
        "! compare last~1 last~2 --json",
        "! compare last~1 last~2 --entries 5 --json",
        "! compare last~1 last~2 --baseline last~2 --json",
        "! compare last~1 --form lbrag-metrics",
    ),
    "leaderboard": (
        "leaderboard --json",
        "leaderboard --best --json --sort composite",
        "! leaderboard --csv lists.csv",
    ),
    "report run": (
        "! report run last~1 -o out.html",
        "! report run last~1 --against last~2 -o out.html",
    ),
    "report leaderboard": (
        "report leaderboard -o out.html",
        "report leaderboard --best -o out.html",
    ),
    "report sweep": (),
    "publish": (
        "! publish last~1 --to folder --json",
        "! publish last~1 --may-publish me --to folder --dry-run --json",
        "publish --all --may-publish me --to folder --json",
    ),
    "calibrate": (
        "! calibrate last~1 --ratings {home}/ratings.csv --json",
        "! calibrate last~1 --ratings {home}/ratings.csv -o out.toml",
    ),
    "corpus check": ("corpus check {home}/hid.json --json",),
    "corpus show": ("corpus show {home}/hid.json --json",),
    "corpus convert": ("! corpus convert {home}/hid.json --to jsonl -o out.jsonl",),
    "corpus terms": (),
    "corpus open": (),
    "community export": ("community export out --corpus hid",),
    "exchange out": ("! exchange out stick {home}/card.json --as Office",),
    "vault budget": ("vault budget --json",),
    "vault compare": ("! vault compare last~1 last~2 -o out.json",),
    "review create": (
        "review create last~1 --organisation Us --reviewers 1 --passphrases --anyway -o stick --json",
    ),
}
"""Command → how it is called, ``!`` where it refuses. None at all where it reads no run of the store."""

NO_SCORES = frozenset(
    [
        "review import",
        "review enrol",
        "review status",
        "review adjudicate",
        "review second",
        "review gate",
        "review verify",
        "review export",
        "review page",
        "report review",
        "report released",
        "review plan",
        "review variants",
        "review withdraw",
        "corpus translate",
        "corpus agree",
        "corpus progress",
        "language check",
        "language list",
        "language show",
        "vault list",
        "vault log",
        "vault grant show",
        "consent withdraw",
        "consent lift",
        "consent list",
        "ownership show",
        "verify",
        "ownership propose",
        "ownership sign",
        "ownership refuse",
        "ownership revoke",
        "organisation profile",
        "organisation used",
        "organisation ended",
        "organisation uses",
        "exchange list",
        "key list",
        "cost",
        "doctor",
    ]
)
"""Write or print JSON, and have no automatic score: what people said (docs/certificate.md), texts, keys, logs."""


def leaves() -> Iterator[str]:
    """Yield the name of each command that can write a file, or print JSON."""
    groups: list[tuple[click.Command, str]] = [(rosetta, "")]
    while groups:
        command, name = groups.pop()
        if isinstance(command, click.Group):
            context = click.Context(command)
            for each in command.list_commands(context):
                found = command.get_command(context, each)
                assert found is not None
                groups.append((found, f"{name} {each}".strip()))
        elif {each for option in command.params for each in option.opts} & _OUT:
            yield name


_OUT = {"--json", "--json-lines", "-o", "--output", "--overwrite", "--form"}
_TAKES_IN = {"vault add"}
"""Its --form is that of the file which is read."""


def test_the_table_has_every_command_that_writes_or_prints_json() -> None:
    assert set(leaves()) - WAYS.keys() - NO_SCORES - _TAKES_IN == set()


@pytest.mark.parametrize(
    "line", [line for lines in WAYS.values() for line in lines], ids=lambda line: line.replace("{home}/", "")
)  # fmt: skip
def test_no_exact_number_of_a_secret_run_leaves(
    home: Path, exact: frozenset[str], line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if line.strip("! ").split()[0] in {
        "run",
        "resume",
        "retry",
        "score",
    }:  # each begins a run, or ends one
        shutil.copytree(home, "home")
        monkeypatch.setenv("ROSETTA_HOME", str(Path("home").absolute()))
    if "exchange out" in line:
        with closing(open_store(home / "rosetta.sqlite")) as store:
            card = load_card(store, find_run(store, "last~1").id).as_json()
        (home / "card.json").write_text(json.dumps(card), "utf-8")
    refuses, line = line.startswith("!"), line.removeprefix("! ").format(home=home)
    done = called(line)
    files = [path for path in Path().rglob("*") if path.is_file() and "home" not in path.parts]
    told = done.stdout + "".join(path.read_text("utf-8", "replace") for path in files)
    assert numbers(told) & exact == set()
    assert CANARY not in told
    if refuses:
        assert done.exit_code
        said = f"{done.output}{done.exception}"
        assert re.search("secret|released|were not told|nothing to ask", said), said
        assert not files
    else:
        assert done.exit_code == 0, (done.output, done.exception)


@pytest.fixture
def tables(home: Path) -> Iterator[dict[str, tuple[Records, Sequence[Column]]]]:
    """The rows of the app's lists over the store, with their columns."""
    with closing(open_store(home / "rosetta.sqlite")) as store:
        [board] = leaderboards(store)
        found = compare_runs(store, ["last~1", "last~2"])
        yield {
            "runs": (RunRows([run for run in list_runs(store) if run.card]), COLUMNS),
            "leaderboard": (LeaderboardRows(board, board.entrants, frozenset()), columns(board)),
            "pairs": (PairRows(found, "chrf_plus_plus", tested=True), pair_columns(found)),
        }


@pytest.mark.parametrize("name", ["runs", "leaderboard", "pairs"])
def test_no_number_of_a_secret_run_is_copied_or_exported_from_a_table(
    tables: dict[str, tuple[Records, Sequence[Column]]], exact: frozenset[str], name: str
) -> None:
    rows, shown = tables[name]
    page = ShownRecords(rows, shown, range(len(shown)))  # type: ignore[arg-type]
    assert rows.count
    for index in range(rows.count):
        for record in (rows.record(index), page.record(index)):
            told = repr({key: each for key, each in record.items() if key != "withheld"})
            assert "released card" in str(record["withheld"])
            assert numbers(told) & exact == set()
            assert not re.search(r"\b\d+\.\d\b", told), told
