"""Sweeps over a vault: one grant for a whole plan, scores inside, one answer."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry, Segment
from harness.store.corpora.entries import read_entries
from harness.store.runs import find_run
from harness.store.sqlite.database import opened
from harness.store.sqlite.sealing import StoreSealed, forget_keys
from harness.store.sweeps import keep_sweep
from tests.harness.vault.made import CANARY, readable
from tests.tui.commands.command_line import Rosetta
from tests.tui.commands.vault_office import DESPITE, METHOD, Homes, allowed, grants

WORDS = ["unu", "du", "tri", "kvar", "kvin", "ses", "sep", "ok", "nau", "dek"]


def sentences() -> Corpus:
    """Twelve entries of gold_standard, two that are held out, and one of development."""
    entries = [
        Entry(
            id=n,
            source=f"{CANARY} {WORDS[n % 10]} {WORDS[(3 * n + 1) % 10]} granda hundo {n}",
            reference=f"{CANARY} {WORDS[n % 10]} {WORDS[(3 * n + 1) % 10]} granda kato {n}",
            segment=Segment.GOLD_STANDARD if n < 12 else Segment.HELD_OUT if n < 14 else Segment.DEVELOPMENT,
        )
        for n in range(15)
    ]
    dataset = Dataset(id="words", language_pair="EN→EO", source_language="en", target_language="eo")
    return Corpus(dataset, tuple(entries), "ab" * 32, Form.JSONL)


PLAN = """version = 1
corpus = "greetings"
[axes]
model = [
    { label = "yes", method = "constant", text = "Jes" },
    { label = "copied", method = "copy-source" },
    { label = "no", method = "constant", text = "Ne" },
]
[fixed]
metrics = "chrf"
"""


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keyring: None) -> Iterator[Homes]:
    made = Homes(tmp_path, monkeypatch, sentences())
    (made.stick / "plan.toml").write_text(PLAN, "utf-8")
    forget_keys()
    yield made
    forget_keys()


def sweep(homes: Homes, line: str = "sweep plan.toml", *more: str, despite: tuple[str, ...] = DESPITE) -> str:
    """Type a command about a sweep over the vault at the office, in the folder of the stick."""
    given = f"--vault {homes.folder / 'office' / 'elders'} --purpose spring"
    return homes.types("office", f"{line} {given}", *more, *despite, there=homes.stick)


def begun(homes: Homes, *more: str) -> str:
    """Have the school allow the sweep, and type its command again."""
    assert "Waiting for the keepers" in sweep(homes)
    allowed(homes, homes.stick / "sweep.rosetta-request")
    return sweep(homes, "sweep plan.toml", *more)


def test_sweep_over_a_vault_is_one_grant_and_one_answer(homes: Homes) -> None:
    asks = sweep(homes)
    assert "exactly these 3 set-ups" in asks
    for name in ("yes", "copied", "no"):
        assert f"  set-up      {name} (" in asks
    assert "3 looks at the texts" in asks
    said = begun(homes, "--submitter", "Ann", "-o", "ann.json")
    assert "copied: complete\n" in said, said
    assert "'copied' is clearly the best of the 3 set-ups" in said
    card = json.loads((homes.stick / "ann.json").read_text())
    assert (card["sweep"]["verdict"], card["answer"], card["of"]) == ("best", 1, 3)
    [grant] = grants(homes)
    assert grant.used
    assert not list((homes.folder / "office" / "vaults").rglob("*.sweep")), "its key is gone with the last run"
    for line in ("sweep show last", "sweep show last --json", "sweep list --json"):
        shown = homes.types("office", line)
        assert not any(number in shown for number in ("79.", "0.79", "0.78")), line
    record = json.loads(homes.types("office", "sweep show last --json"))
    assert {each["state"] for each in record["cells"]} == {"complete"}
    for cell in record["cells"]:
        assert {cell[name] for name in ("composite", "chrf_plus_plus", "claimable_tier", "cost_usd")} == {None}
        assert (cell["failed"], cell["failures"]) == (0, {})
    homes.types("office", "report sweep last -o sweep.html", there=homes.stick)
    page = (homes.stick / "sweep.html").read_text("utf-8")
    assert "its scores stay inside" in page
    assert "0.79" not in page
    told = homes.types("office", "sweep compare last")
    assert "Told to Ann" in told
    assert "chrF++ 79 (79–80)" in told
    [answer] = json.loads(homes.types("office", "sweep compare last --json"))["answers"]
    assert answer | {"signature": card["signature"]} == card
    assert "1 of 3 answers" in homes("office", "budget")
    assert "Written: sweep-2.rosetta-request" in sweep(homes), "what is complete asks again"
    assert readable(homes.folder) == []


def test_answer_of_a_sweep_may_come_later_by_a_grant_of_its_own(homes: Homes) -> None:
    said = begun(homes)
    assert "copied: complete" in said
    assert "Nothing was released of this sweep yet" in homes.types("office", "sweep compare last")
    [one, *_] = [each["run_id"] for each in json.loads(homes.types("office", "sweep show last --json"))["cells"]]
    given = f"--vault {homes.folder / 'office' / 'elders'} --purpose answer"
    alone = homes.types("office", f"runs export {one} --submitter Ann -o one.json {given}", there=homes.stick)
    assert "released as a whole, in one answer" in alone
    line = f"sweep compare last --submitter Ann -o ann.json {given}"
    assert "--vault FOLDER" in homes.types("office", "sweep compare last --submitter Ann -o ann.json")
    forget_keys()
    assert "signing or releasing the card" in homes.types("office", line, there=homes.stick)
    allowed(homes, homes.stick / "seal.rosetta-request")
    assert "clearly the best" in homes.types("office", line, there=homes.stick)
    assert "is there already" in homes.types("office", line, there=homes.stick)
    same = homes.types("office", line.replace("ann.json", "again.json"), there=homes.stick)
    assert "Waiting for the keepers" not in same, same
    assert (homes.stick / "again.json").read_bytes() == (homes.stick / "ann.json").read_bytes()
    assert readable(homes.folder) == []


CHANGED = [
    ("another label", ('label = "yes"', 'label = "ja"')),
    ("another text", ('text = "Ne"', 'text = "Neniel"')),
    ("a set-up more", ("[fixed]", '[[exclude]]\nmodel = "no"\n[fixed]')),
    ("repetitions", ("[axes]", "replicates = 2\n[axes]")),
    ("money", ("[axes]", "budget_usd = 1.0\n[axes]")),
    ("other metrics", ('metrics = "chrf"', 'metrics = "bleu"')),
    ("fewer entries", ("[axes]", "[select]\nlimit = 8\n[axes]")),
    ("a segment", ("[axes]", '[select]\nsegment = ["gold_standard"]\n[axes]')),
]


@pytest.mark.costly("asks the keepers for nine plans")
def test_changed_plan_is_no_plan_that_was_allowed(homes: Homes) -> None:
    sweep(homes)
    allowed(homes, homes.stick / "sweep.rosetta-request")
    for name, (old, new) in CHANGED:
        (homes.stick / "plan.toml").write_text(PLAN.replace(old, new), "utf-8")
        assert "Waiting for the keepers" in (said := sweep(homes)), name
        assert ("once: 12 gold_standard\n" in said) is (name == "a segment"), said
    assert not any(each.used for each in grants(homes))
    (homes.stick / "plan.toml").write_text(PLAN, "utf-8")
    assert "copied: complete" in sweep(homes)


CONSTANTS = ", ".join(f'{{ label = "{n}", method = "constant", text = "{n}" }}' for n in range(21))
MANY = f'version = 1\ncorpus = "greetings"\n[fixed]\n[axes]\nmodel = [{CONSTANTS}]\n'
WRONG = [
    ("one set-up", PLAN.partition("    { label = \"copied\"")[0] + "]\n[fixed]\nmetrics = \"chrf\"\n", "", "2 to 20 set-ups, and this plan has 1"),
    ("many set-ups", MANY, "", "2 to 20 set-ups, and this plan has 21"),
    ("the same twice", PLAN.replace('text = "Ne"', 'text = "Jes"'), "", "'yes' and 'no' are the same"),
    ("a race", PLAN, "--race", "leave out --workers, --race and --scheduler"),
    ("a race in the plan", f"race = true\n{PLAN}", "", "a race shows who is behind"),
    ("workers", PLAN, "--workers 2", "leave out --workers"),
    ("a cluster", PLAN, "--scheduler tcp://127.0.0.1:1", "leave out --workers"),
    ("nobody named", PLAN, "-o ann.json", "go together"),
    ("no file", PLAN, "--submitter Ann", "go together"),
    ("a file that is there", PLAN, "--submitter Ann -o plan.toml", "is there already"),
    ("a vault in the plan", f"vault = true\n{PLAN}", "", "name the vault on the command line"),
    ("another corpus", PLAN.replace("greetings", "songs"), "", "no corpus 'songs'"),
    ("how a file is read", PLAN.replace("[axes]", '[reading]\nsource_language = "en"\n[axes]'), "", "says itself what it is"),
    ("held out", PLAN.replace("[axes]", '[select]\nsegment = ["held_out"]\n[axes]'), "", "held_out"),
    ("a stray option", PLAN.replace("metrics", 'glossary = "x.tsv"\nmetrics'), "", "no run takes this option"),
]  # fmt: skip


def test_wrong_usage_opens_nothing_and_asks_nobody(homes: Homes) -> None:
    for name, plan, more, words in WRONG:
        (homes.stick / "plan.toml").write_text(plan, "utf-8")
        said = sweep(homes, f"sweep plan.toml {more}")
        assert "error: " in said, name
        assert words in said, name
    (homes.stick / "plan.toml").write_text(PLAN, "utf-8")
    vault = homes.folder / "office" / "elders"
    assert "--purpose WORDS" in homes.types("office", f"sweep plan.toml --vault {vault}", there=homes.stick)
    assert "goes with --vault" in homes.types("office", "sweep plan.toml --purpose x", there=homes.stick)
    assert grants(homes) == []
    (homes.stick / "words.json").write_text(json.dumps({"dataset": {"id": "w", "language_pair": "EN→EO", "source_language": "en", "target_language": "eo"}, "entries": [{"id": n, "source": "a", "reference": "b", "segment": "gold_standard"} for n in range(6)]}), "utf-8")  # fmt: skip
    (homes.stick / "plan.toml").write_text(PLAN.replace("greetings", "words.json"), "utf-8")
    plain = '{"version": 1, "name": "plain", "corpus": "c", "fixed": {"method": "copy-source"}}'
    with opened(homes.folder / "office" / "rosetta.sqlite") as store:
        keep_sweep(store, key="ab" * 32, name="plain", plan=plain, file="p", budget_usd=None, workers=1, cells=[])
    assert "is not over a vault: leave --vault and --purpose out" in sweep(homes, "sweep resume plain")
    told = sweep(homes, "sweep compare plain --submitter Ann -o ann.json", despite=())
    assert "open entries: its numbers are no secret" in told
    assert "takes secret entries out of a vault only" in homes.types("office", "sweep plan.toml", there=homes.stick)


def test_file_that_changes_while_the_keepers_are_asked_runs_nothing(
    homes: Homes, monkeypatch: pytest.MonkeyPatch
) -> None:
    (homes.stick / "words.tsv").write_text("unu\tone\n", "utf-8")
    plan = PLAN.replace('method = "constant", text = "Ne"', 'method = "glossary", glossary = "words.tsv"')
    (homes.stick / "plan.toml").write_text(plan, "utf-8")

    def answered(_seconds: float) -> None:
        (homes.stick / "words.tsv").write_text("unu\ttwo\n", "utf-8")
        allowed(homes, homes.stick / "sweep.rosetta-request")
        monkeypatch.setenv("ROSETTA_HOME", str(homes.folder / "office"))
        monkeypatch.chdir(homes.stick)

    monkeypatch.setattr("rosetta_tui.request.vault.on_terminal", lambda: True)
    monkeypatch.setattr("rosetta_tui.request.vault.time.sleep", answered)
    assert "changed while the keepers were asked" in sweep(homes)
    assert homes.types("office", "runs list --json").strip() == "[]"


def test_sweep_that_is_not_at_its_end_keeps_its_key_and_tells_nothing(
    homes: Homes, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = ("--submitter", "Ann", "-o", "ann.json")
    with monkeypatch.context() as stopped:
        stopped.setattr("rosetta_tui.app.sweeping.carry_out", lambda *_given, **_more: 1)
        begun(homes, *answer)
    [kept] = (homes.folder / "office" / "vaults").rglob("*.sweep")
    assert not (homes.stick / "ann.json").exists()
    assert "continues by the grant" in sweep(homes, "sweep plan.toml", *answer)
    assert not kept.exists()
    assert (homes.stick / "ann.json").exists()


@pytest.mark.costly("kills a process whose sweep continues")
def test_killed_sweep_goes_on_by_its_grant(homes: Homes) -> None:
    office, plugin = homes.folder / "office", homes.stick / "back.py"
    plugin.write_text(METHOD, "utf-8")
    plan = PLAN.replace(
        'label = "no", method = "constant", text = "Ne"', 'label = "back", method = "back.py:Backwards"'
    )
    (homes.stick / "plan.toml").write_text(plan.replace("[fixed]", "[fixed]\nconcurrency = 1"), "utf-8")
    sweep(homes)
    allowed(homes, homes.stick / "sweep.rosetta-request")
    words = ("sweep", "plan.toml", "--vault", str(office / "elders"), "--purpose", "spring", *DESPITE)
    code, out, problems = Rosetta(office)(*words, cwd=homes.stick)
    assert code == -signal.SIGKILL, out + problems
    assert CANARY not in out + problems
    [kept] = (office / "vaults").rglob("*.sweep")
    assert readable(homes.folder) == []
    with opened(office / "rosetta.sqlite") as store:
        run = find_run(store, "last")
        with pytest.raises(StoreSealed):
            read_entries(store, run.corpus, run.positions)
    assert "complete: a sweep is released as a whole" in homes.types(
        "office",
        f"sweep compare last --submitter Ann -o x.json --vault {office / 'elders'} --purpose x",
        there=homes.stick,
    )
    assert "--vault FOLDER" in homes.types("office", "sweep resume last", there=homes.stick)
    (homes.stick / "plan.toml").write_text(plan, "utf-8")
    assert "Waiting for the keepers" in sweep(homes, "sweep plan.toml", "--purpose", "other words")
    said = sweep(homes, "sweep resume last")
    assert "continues by the grant that was used at" in said, said
    assert "back: complete" in said
    with opened(office / "rosetta.sqlite") as store:
        assert store.execute("SELECT count(*) FROM results WHERE error_class IS NOT NULL").fetchone()[0] > 0
    record = json.loads(homes.types("office", "sweep show last --json"))
    assert {each["failed"] for each in record["cells"]} == {0}, (
        "how often a method failed is no score, and stays inside"
    )
    assert {len(each["failures"]) for each in record["cells"]} == {0}
    assert not kept.exists()
    assert [bool(each.used) for each in grants(homes)] == [True, False]
    assert "continued by the grant" in homes("office", "log elders")
    forget_keys()
    with opened(office / "rosetta.sqlite") as store, pytest.raises(StoreSealed):
        read_entries(store, run.corpus, run.positions)
    assert readable(homes.folder) == []


def test_keepers_who_open_alone_allow_a_sweep_by_starting_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keyring: None) -> None:  # fmt: skip
    homes = Homes(tmp_path, monkeypatch, sentences(), threshold=1)
    (homes.stick / "plan.toml").write_text(PLAN, "utf-8")
    said = sweep(homes)
    assert "You allow, as a keeper, to open 'greetings' once" in said
    assert "exactly these 3 set-ups" in said
    assert "copied: complete" in said
    assert "opened 'greetings' for a sweep (3 set-ups, allowed once" in homes("office", "log elders")
    assert "composite < 0.30): fewer than five secret entries" in homes.types("office", "sweep show last")
    (homes.stick / "plan.toml").write_text(PLAN.replace("[fixed]", '[[exclude]]\nmodel = "copied"\n[fixed]'), "utf-8")
    assert "yes: complete (the store had it)" in sweep(homes)
    shown = json.loads(homes.types("office", "sweep show last --json"))["missed"]
    assert (shown["secret"], shown["entries"], shown["missed"], shown["listed"], shown["by_difficulty"]) == (13, 0, 0, [], [])  # fmt: skip
    for entries, words in ((5, "5 secret entries"), (4, "fewer than five secret entries")):
        plan = PLAN.replace("[fixed]", f'[[exclude]]\nmodel = "copied"\n[select]\nlimit = {entries}\n[fixed]')
        (homes.stick / "plan.toml").write_text(plan, "utf-8")
        sweep(homes)
        assert f"composite < 0.30): {words}\n" in homes.types("office", "sweep show last")
    forget_keys()
    assert readable(homes.folder) == []
