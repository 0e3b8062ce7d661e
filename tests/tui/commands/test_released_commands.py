"""What a keeper types to tell scores over secret entries, and every other way out, which refuses or leaves them out."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from corpora.text.visible import plain
from harness.core.failures import HarnessError
from harness.release.ledger import ReleaseLedger
from rosetta_tui.commands import rosetta
from tests import keyring_in_memory
from tests.harness.release.made import CANARY, hidden, outputs

SCHEMAS = Path(__file__).parents[3] / "docs" / "schemas"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder with two runs over hidden entries, the better one last."""
    folder = tmp_path_factory.mktemp("home")
    entries = hidden(200)
    rows = [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in entries]
    dataset = {
        "id": "hid",
        "language_pair": "EN→EO",
        "source_language": "en",
        "target_language": "eo",
    }
    (folder / "hid.json").write_text(json.dumps({"dataset": dataset, "entries": rows}), "utf-8")
    with keyring_in_memory.memory_keyring(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROSETTA_HOME", str(folder))
        for right in (0.3, 0.95):
            lines = "".join(f"{each}\n" for each in outputs(entries, right))
            (folder / f"{right}.txt").write_text(lines, "utf-8")
            made = run(f"score {folder}/hid.json {folder}/{right}.txt --metrics chrf,exact")
            assert "complete" in made or "chrF++" in made, made
        yield folder


@pytest.fixture(autouse=True)
def at_home(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ReleaseLedger, "draw", lambda *_: 0.5)  # the border lies in the middle


def run(line: str, *more: str) -> str:
    """Run a command; gives what it printed, or the words of its failure."""
    result = CliRunner().invoke(rosetta, [*line.split(), *more])
    if isinstance(result.exception, HarnessError | click.ClickException):
        return f"error: {result.exception}"
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert CANARY not in result.output
    return result.output


@pytest.mark.parametrize(
    "line",
    [
        "runs export last -o card.json",
        "runs export last -o rows.csv --form csv",
        "runs show last --json",
        "score {home}/hid.json {home}/0.3.txt --json",
        "score --rescore last --json",
        "compare last~1 last --json",
        "runs export last -o - --submitter Ann --form jsonl",
        "runs export last -o card.json --submitter Ann --unsigned",
    ],
)
def test_every_other_way_out_refuses_in_words(home: Path, line: str) -> None:
    said = run(line.format(home=home))
    assert said.startswith("error: ")
    assert re.search("secret|released", said)
    assert not list(Path().iterdir())


def test_lists_leave_the_numbers_of_such_runs_out() -> None:
    listed = json.loads(run("runs list --json"))
    schema = json.loads((SCHEMAS / "runs-list.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(listed)
    assert [each["chrf_plus_plus"] for each in listed] == [None] * len(listed)
    assert all("released card" in each["withheld"] for each in listed)
    boards = json.loads(run("leaderboard --json"))
    schema = json.loads((SCHEMAS / "leaderboard.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(boards)
    assert [each["runs"] for each in boards] == [[]]


def test_what_is_printed_line_by_line_has_no_number_of_a_secret_entry(home: Path) -> None:
    call = f"run {home}/hid.json --method copy-source --metrics chrf,exact"
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
    assert len(lines) == 200
    assert all(line.endswith("  secret") for line in lines)


def test_a_card_is_told_verified_counted_and_compared(home: Path) -> None:
    runs = [each["run_id"] for each in json.loads(run("runs list --json"))]
    better, poorer = [each for each in runs if each][-2], runs[-1]
    assert "Written" in run(f"runs export {poorer} -o one.json --submitter Ann")
    assert "next one is given from" in run(f"runs export {better} -o two.json --submitter Ann")
    assert not Path("two.json").exists()
    said = run("vault budget --pause 0 --count 3")
    assert "3 answers about each corpus, 0 hours between two" in said
    assert "Ann about hid: 1 of 3 answers" in said
    run(f"runs export {better} -o two.json --submitter Ann")
    assert "is there already" in run(f"runs export {better} -o two.json --submitter Ann")
    run(f"vault compare {poorer} {better} -o difference.json")
    assert "had all 3 answers" in run(f"vault compare {better} {poorer} -o again.json")
    for name in ("one.json", "two.json", "difference.json"):
        assert "✓ signature: Ed25519" in run(f"runs verify {name}")
        changed = Path(name).read_bytes().replace(b'"issued":"2', b'"issued":"3')
        Path("changed.json").write_bytes(changed)
        assert "it was changed after it was signed" in run("runs verify changed.json")
        Path("changed.json").write_bytes(Path(name).read_bytes()[:-40])
        assert run("runs verify changed.json").startswith("error: ")
    imported = CliRunner().invoke(rosetta, ["runs", "import", "one.json"])
    assert (imported.exit_code, "released card" in imported.output) == (2, True)
    told = json.loads(run("vault budget --json --submitter ann"))
    schema = json.loads((SCHEMAS / "vault-budget.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(told)
    assert [(each["answers"], each["of"]) for each in told["submitters"]] == [(3, 3)]
    said = run("vault budget --corpus hidden --count 9")
    assert "no run here is over a corpus 'hidden'. There are runs over hid." in said
    assert "3 answers about 'hid'" in run("vault budget --corpus hid --step 2")
    run("vault budget --together Ann", "Ann B.")
    run(f"runs export {better} -o b.json --submitter", "ann b")  # who is one is told the same once
    assert Path("b.json").read_bytes() == Path("two.json").read_bytes()
    assert json.loads(run("vault budget --json --submitter Ben"))["submitters"] == []


def test_a_released_card_says_what_was_withdrawn_since(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has the run knows its entries; to others it tells its corpus, and not its entries."""
    run("runs export last -o zoe.json --submitter Zoe")
    shutil.copytree(home, tmp_path / "here")
    words = ("--reason", "as asked", "--by", "Council")
    for about, elsewhere in (("--entries id-1", "–"), ("", "✗")):
        monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "here"))
        notice = f"{len(about)}.rosetta-notice"
        told = run(f"consent withdraw --corpus {home}/hid.json {about} -o {notice}", *words)
        assert "✗ consent: withdrawn for" in run("runs verify zoe.json")
        assert "zoe.json is not shown: withdrawn for" in run("report released zoe.json")
        assert "consent to what was told is withdrawn" in run("vault budget --submitter Zoe")
        [use] = json.loads(run("vault budget --submitter Zoe --json"))["submitters"]
        assert (use["answers"], use["best"]) == (1, None)
        monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / f"there-{len(about)}"))
        assert "consent" not in run("runs verify zoe.json")
        run(
            f"consent take {notice} --words",
            told.partition("read to them by telephone: ")[2].splitlines()[0],
        )
        assert f"{elsewhere} consent: withdrawn for" in run("runs verify zoe.json")


def test_nothing_is_told_under_a_key_that_was_withdrawn(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(home, tmp_path / "here")
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "here"))
    run("runs export last -o una.json --submitter Una")
    key, why = json.loads(Path("una.json").read_bytes())["by"], ("--reason", "stolen", "--by", "Us")
    assert f"--signing-key {key}" in run("consent withdraw --signing-key own", *why)
    said = run(f"consent withdraw --signing-key {key}", *why)
    before = (tmp_path / "here" / "releases" / "ledger.jsonl").read_bytes()
    assert "nobody believes what is told" in run("runs export last~1 -o b.json --submitter Uma")
    assert not Path("b.json").exists()
    assert (tmp_path / "here" / "releases" / "ledger.jsonl").read_bytes() == before
    assert "consent to what was told is withdrawn" in run("vault budget --submitter Una")
    [notice] = re.findall(r"notice ([0-9a-f]{12})", said)
    run(f"consent lift {notice}", *why)
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


def test_the_name_that_a_person_chose_leaves_and_none_that_code_gives_itself(home: Path) -> None:
    named = ("--method-name", " Our\u202e  first\x07 try ")
    for name, more in (("Nia", named), ("Ida", ())):
        run(f"run {home}/hid.json --method copy-source --metrics chrf,exact --plain", *more)
        assert "Written" in run(f"runs export last -o {name}.json --submitter {name}")
    told, unnamed = (json.loads(Path(f"{name}.json").read_bytes()) for name in ("Nia", "Ida"))
    assert told["method"]["method_name"] == plain("Our\u202e first\x07 try")
    assert "\u202e" not in told["method"]["method_name"]
    assert "method_name" not in unnamed["method"]
    assert "✓ signature: Ed25519" in run("runs verify Nia.json")
    run("report released Nia.json -o nia.html")
    assert plain("Our\u202e first\x07 try") in Path("nia.html").read_text("utf-8")

    Path("mine.py").write_text(PLUGIN, "utf-8")
    run(f"run {home}/hid.json --method mine.py:Mine --metrics chrf,exact --plain")
    assert "Written" in run("runs export last -o own.json --submitter Eva")
    assert b"CALLS ITSELF" not in Path("own.json").read_bytes()
