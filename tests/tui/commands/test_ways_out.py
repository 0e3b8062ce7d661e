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

import click
import pytest
from jsonschema import Draft202012Validator

from corpora.text.visible import plain
from harness.card.rows import load_card
from harness.compare.comparing import compare_runs
from harness.leaderboard.ranking import leaderboards
from harness.store.results import read_results
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from rosetta_tui.commands import rosetta
from rosetta_tui.compare.difference_panel import PairRows, pair_columns
from rosetta_tui.leaderboard.rows import LeaderboardRows, columns
from rosetta_tui.runs.table import COLUMNS, RunRows
from rosetta_tui.show.columns import Column, Records, ShownRecords
from tests.harness.release.made import CANARY, hidden, outputs
from tests.tui.commands.command_line import CopyOf, made_once, ok, said, typed


def with_secret_runs(
    folder: Path, patch: pytest.MonkeyPatch, shares: Sequence[float] = (0.3, 0.95, 0.6), size: int = 20
) -> None:
    """Make a data folder with finished runs over hidden entries, right in such shares; a third one was stopped."""
    entries = hidden(size)
    rows = [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in entries]
    pair = {"language_pair": "EN→EO", "source_language": "en", "target_language": "eo"}
    file = {"dataset": {"id": "hid", **pair}, "entries": rows}
    (folder / "hid.json").write_text(json.dumps(file), "utf-8")
    ratings = "".join(f"{each.id},{n % 4}\n" for n, each in enumerate(entries))
    (folder / "ratings.csv").write_text(f"entry_id,rating\n{ratings}", "utf-8")
    patch.setenv("ROSETTA_HOME", str(folder))
    for right in shares:
        lines = "".join(f"{each}\n" for each in outputs(entries, right))
        (folder / f"{right}.txt").write_text(lines, "utf-8")
        ok(f"score {folder}/hid.json {folder}/{right}.txt --metrics chrf,exact,lbrag")
    with closing(open_store(folder / "rosetta.sqlite")) as store:
        store.execute("UPDATE runs SET run_card = NULL, state = 'stopped' WHERE id = 3")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, _ = made_once(tmp_path_factory, "secret-runs", with_secret_runs)
    return Path(shutil.copytree(folder, tmp_path_factory.mktemp("ways") / "home"))


@pytest.fixture(autouse=True)
def here(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_keyring: None) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(home))
    monkeypatch.chdir(tmp_path)


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


WAYS = """
run: run {home}/hid.json --method copy-source --json-lines
resume: resume last --json-lines
retry: ! retry last~1 --json-lines
watch: watch last~1 --json-lines
run: run --estimate {home}/hid.json --method copy-source --json
score: ! score {home}/hid.json {home}/0.3.txt --json
score: ! score --rescore last~1 --json
runs list: runs list --json
runs list: runs list --deleted --json
runs show: runs show last --json
runs show: ! runs show last~1 --json
runs export: ! runs export last~1 -o out.json
runs export: ! runs export last~1 -o out.json --unsigned
runs export: ! runs export last~1 -o - --form jsonl
runs export: ! runs export last~1 -o out.csv --form csv
runs export: ! runs export last~1 -o - --submitter Ann --form jsonl
runs export: ! runs export last~1 -o out.json --submitter Ann --unsigned
runs export: runs export last~1 -o out.json --submitter Ann
runs export: ! runs export last~1 --row id-3 -o proof.json
runs verify: runs verify last~1 --json
runs lint: ! runs lint last~1 --json
runs reproduce: ! runs reproduce last~1 --corpus {home}/hid.json --json
runs reproduce: ! runs reproduce last~1 --corpus {home}/hid.json --with last~2 --json -o out.json
submission pack: ! submission pack {home} --card last~1 -o out.rosetta-submission
compare: ! compare last~1 last~2 --json
gate: ! gate last~1 --min chrf=1 --junit out.xml --markdown -
gate: ! gate last --max-failed 1% --not-worse-than last~1
compare: ! compare last~1 last~2 --entries 5 --json
compare: ! compare last~1 last~2 --baseline last~2 --json
compare: ! compare last~1 --form lbrag-metrics
leaderboard: leaderboard --json
leaderboard: leaderboard --best --json --sort composite
leaderboard: ! leaderboard --csv lists.csv
council: council --json
report: ! report run last~1 -o out.html
report: ! report run last~1 --against last~2 -o out.html
report: report leaderboard -o out.html
report: report leaderboard --best -o out.html
publish: ! publish last~1 --to folder --json
publish: ! publish last~1 --may-publish me --to folder --dry-run --json
publish: publish --all --may-publish me --to folder --json
calibrate: ! calibrate last~1 --ratings {home}/ratings.csv --json
calibrate: ! calibrate last~1 --ratings {home}/ratings.csv -o out.toml
corpus check: corpus check {home}/hid.json --json
corpus show: corpus show {home}/hid.json --json
corpus convert: ! corpus convert {home}/hid.json --to jsonl -o out.jsonl
community export: community export out --corpus hid
community out: ! community out stick card.json --as Office
vault budget: vault budget --json
vault compare: ! vault compare last~1 last~2 -o out.json
review create: review create last~1 --organisation Us --reviewers 1 --passphrases --anyway -o stick --json
"""
"""Command, and how it is called; ``!`` where it refuses."""

LINES = [line.partition(": ")[2] for line in WAYS.strip().splitlines()]
NO_RUN = """
demo, sweep begin, sweep resume, sweep show, sweep list, sweep compare, submission demo, submission check,
submission run, submission tell, submission show, runs import,
corpus terms, review bundle
"""
"""They read no run of the store."""
NO_SCORES = """
review import, review enrol, review status, review adjudicate, review gate, review verify,
review export, review page, review plan, review variants, review withdraw,
corpus ask, corpus progress, language check, language show, vault list, vault log, vault check-up,
vault grant show, community withdraw, community lift, community notices, community owners, verify, community propose,
community answer, community profile, community stick, key list, cost, doctor
"""
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


def test_ways_out_have_every_command_that_writes_json() -> None:
    known = re.split(r",\s+", NO_RUN.strip()) + re.split(r",\s+", NO_SCORES.strip())
    ways = {line.partition(": ")[0] for line in WAYS.strip().splitlines()}
    assert set(leaves()) - ways - {*known} - _TAKES_IN == set()


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.replace("{home}/", ""))
def test_way_out_has_no_exact_number_of_a_secret_run(
    home: Path, exact: frozenset[str], line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begins = ("run", "resume", "retry", "score")
    if line.strip("! ").split()[0] in begins or "--csv lists" in line:  # or ends one, or was told of none
        shutil.copytree(home, "home", ignore=shutil.ignore_patterns("releases"))
        monkeypatch.setenv("ROSETTA_HOME", str(Path("home").absolute()))
    if "community out" in line:
        with closing(open_store(home / "rosetta.sqlite")) as store:
            card = load_card(store, find_run(store, "last~1").id).as_json()
        Path("card.json").write_text(json.dumps(card), "utf-8")
    refuses, line = line.startswith("!"), line.removeprefix("! ").format(home=home)
    done = said(line)
    other = {"home", "card.json"}
    files = [path for path in Path().rglob("*") if path.is_file() and not other & {*path.parts}]
    told = done.stdout + "".join(path.read_text("utf-8", "replace") for path in files)
    assert numbers(told) & exact == set()
    assert CANARY not in told
    if refuses:
        assert done.exit_code
        why = f"{done.output}{done.exception}"
        assert re.search("secret|released|were not told|nothing to ask", why), why
        assert not files
    else:
        assert done.exit_code == 0, (done.output, done.exception)


def test_table_copies_no_number_of_a_secret_run(home: Path, exact: frozenset[str]) -> None:
    """The rows of the app's lists over the store, with their columns."""
    with closing(open_store(home / "rosetta.sqlite")) as store:
        [board] = leaderboards(store)
        found = compare_runs(store, ["last~1", "last~2"])
        tables: list[tuple[Records, Sequence[Column]]] = [
            (RunRows([run for run in list_runs(store) if run.card]), COLUMNS),
            (LeaderboardRows(board, board.entrants, frozenset()), columns(board)),
            (PairRows(found, "chrf_plus_plus", tested=True), pair_columns(found)),
        ]
        for rows, shown in tables:
            page = ShownRecords(rows, shown, range(len(shown)))  # type: ignore[arg-type]
            assert rows.count
            for index in range(rows.count):
                for record in (rows.record(index), page.record(index)):
                    told = repr({key: each for key, each in record.items() if key != "withheld"})
                    assert "released card" in str(record["withheld"])
                    assert numbers(told) & exact == set()
                    assert not re.search(r"\b\d+\.\d\b", told), told


SIZE = 200
SCHEMAS = Path(__file__).parents[3] / "docs" / "schemas"


def two_secret_runs(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Two runs over hidden entries, the better one last."""
    (folder / "home").mkdir()
    with_secret_runs(folder / "home", patch, (0.3, 0.95), SIZE)


@pytest.fixture
def office(copy_of: CopyOf) -> Path:
    return copy_of("two-secret-runs", two_secret_runs) / "home"


def run(line: str, *more: str) -> str:
    """Run a command; gives what it printed, or the words of its failure."""
    told = typed(*line.split(), *more)
    assert CANARY not in told
    return told


def test_run_events_have_no_number_of_a_secret_entry(office: Path) -> None:
    call = f"run {office}/hid.json --method copy-source --metrics chrf,exact --limit 20"
    schema = json.loads((SCHEMAS / "event.schema.json").read_text("utf-8"))
    events = [json.loads(line) for line in run(f"{call} --json-lines").splitlines()]
    for event in events:
        Draft202012Validator(schema).validate(event)
        if event["event"] == "EntryScored":
            assert (event["chrf"], event["exact"], event["latency_seconds"]) == (None, None, None)
            assert event["finished_at"] is None
        if event["event"] == "Progress":
            assert not event["values"]
            assert not event["intervals"]
            assert (event["p50_seconds"], event["p95_seconds"]) == (None, None)
    lines = [line for line in run(f"{call} --plain").splitlines() if line.startswith("done")]
    assert len(lines) == 20
    assert all(line.endswith("  secret") for line in lines)


@pytest.mark.costly("runs over two hundred secret entries, so that one is told after another")
def test_released_card_is_verified_counted_and_compared(office: Path) -> None:
    runs = [each["run_id"] for each in json.loads(run("runs list --json"))]
    better, poorer = [each for each in runs if each][-2], runs[-1]
    assert "Written" in run(f"runs export {poorer} -o one.json --submitter Ann")
    assert "next one is given from" in run(f"runs export {better} -o two.json --submitter Ann")
    assert not Path("two.json").exists()
    said = run("vault budget --pause 0 --count 2")
    assert "2 answers about each corpus, 0 hours between two" in said
    assert "Ann about hid: 1 of 2 answers" in said
    run(f"runs export {better} -o two.json --submitter Ann")
    assert "is there already" in run(f"runs export {better} -o two.json --submitter Ann")
    assert ": better" in run(f"vault compare {poorer} {better} -o difference.json")
    run(f"vault compare {better} {poorer} -o back.json")
    for name in ("one.json", "difference.json"):
        assert "✓ signature: Ed25519" in run(f"runs verify {name}")
        changed = Path(name).read_bytes().replace(b'"issued":"2', b'"issued":"3')
        Path("changed.json").write_bytes(changed)
        assert "it was changed after it was signed" in run("runs verify changed.json")
    assert "the released card of run" in run("runs import one.json")
    [official] = [each for each in json.loads(run("leaderboard --json")) if each.get("released")]
    assert [(each["run_id"], each["rank"], each["answer"]) for each in official["runs"]] == [
        (better, 1, 2), (poorer, 2, 1),
    ]  # fmt: skip
    schema = json.loads((SCHEMAS / "leaderboard.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate([official])
    told = json.loads(run("vault budget --json --submitter ann"))
    schema = json.loads((SCHEMAS / "vault-budget.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(told)
    assert [(each["answers"], each["of"]) for each in told["submitters"]] == [(2, 2)]
    assert "about 'hid'" in run("vault budget --corpus hid --policy strict")
    assert "--opens" in run("vault budget --policy blind")
    run("vault budget --together Ann", "Ann B.")
    run(f"runs export {better} -o b.json --submitter", "ann b")  # who is one is told the same once
    assert Path("b.json").read_bytes() == Path("two.json").read_bytes()
    assert json.loads(run("vault budget --json --submitter Ben"))["submitters"] == []


def test_released_card_says_what_was_withdrawn(office: Path) -> None:
    run("runs export last -o zoe.json --submitter Zoe")
    words = ("--reason", "as asked", "--by", "Council")
    run(f"community withdraw --corpus {office}/hid.json", *words)
    assert "✗ consent: withdrawn for" in run("runs verify zoe.json")
    assert "zoe.json is not believed: withdrawn for" in run("report released zoe.json")
    assert "consent to the released scores is withdrawn" in run("vault budget --submitter Zoe")
    [use] = json.loads(run("vault budget --submitter Zoe --json"))["submitters"]
    assert (use["answers"], use["best"]) == (1, None)


def test_released_card_needs_a_key_that_stands(office: Path) -> None:
    run("runs export last -o una.json --submitter Una")
    key, why = json.loads(Path("una.json").read_bytes())["by"], ("--reason", "stolen", "--by", "Us")
    assert f"--signing-key {key}" in run("community withdraw --signing-key own", *why)
    said = run(f"community withdraw --signing-key {key}", *why)
    before = (office / "releases" / "ledger.jsonl").read_bytes()
    assert "nobody believes its scores" in run("runs export last~1 -o b.json --submitter Uma")
    assert not Path("b.json").exists()
    assert (office / "releases" / "ledger.jsonl").read_bytes() == before
    assert "consent to the released scores is withdrawn" in run("vault budget --submitter Una")
    [notice] = re.findall(r"notice ([0-9a-f]{12})", said)
    run(f"community lift {notice}", *why)
    assert "Written" in run("runs export last~1 -o b.json --submitter Uma")


PLUGIN = """
from harness.method.method import MethodClass, Output, Setup
class Mine:
    endpoint = None
    def __init__(self, options):
        self.setup = Setup(method="mine", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1",
                           method_name="CALLS ITSELF", model_slug="mine", condition="x")
    async def translate(self, entries, calls):
        return [Output(each.source) for each in entries]
"""


@pytest.mark.costly("runs over two hundred secret entries, so that one is told after another")
def test_released_card_has_the_name_a_person_chose(office: Path) -> None:
    named = ("--method-name", " Our\u202e  first\x07 try ")
    Path("mine.py").write_text(PLUGIN, "utf-8")
    for name, method, more in (("Nia", "copy-source", named), ("Eva", "mine.py:Mine", ())):
        run(f"run {office}/hid.json --method {method} --metrics chrf,exact --plain", *more)
        assert "Written" in run(f"runs export last -o {name}.json --submitter {name}")
    told, own = (json.loads(Path(f"{name}.json").read_bytes()) for name in ("Nia", "Eva"))
    assert told["method"]["method_name"] == plain("Our\u202e first\x07 try")
    assert "\u202e" not in told["method"]["method_name"]
    assert "✓ signature: Ed25519" in run("runs verify Nia.json")
    run("report released Nia.json -o nia.html")
    assert plain("Our\u202e first\x07 try") in Path("nia.html").read_text("utf-8")
    assert own["method"]["method_name"] is None
    assert "CALLS ITSELF" not in json.dumps(own)
