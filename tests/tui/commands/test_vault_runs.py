"""Runs from a vault by one keeper, by a grant over a stick, or with two at one table: no text is ever readable in a file."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import rosetta as rosetta_api
from corpora.model.entry import Segment
from harness.core.failures import HarnessError
from harness.sealed.keys import Identity, Role
from harness.store.corpora.entries import read_entries, shown_entries
from harness.store.results import read_results, shown_results
from harness.store.runs import find_run
from harness.store.sqlite.database import default_path, opened
from harness.store.sqlite.sealing import StoreSealed, forget_keys
from harness.vault.folder import HEAD, LOG
from harness.vault.request import GRANTED
from harness.vault.vault import Vault
from harness.vault.vault_records import Used
from review.files.identities import write_laptop_card
from rosetta_tui.commands import rosetta
from rosetta_tui.request.draft_of_run import draft_of
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.made import CANARY, KEEPERS, MINE, RECOVERY, readable
from tests.tui.commands.command_line import Program, Rosetta, ok
from tests.tui.commands.vault_office import (  # fmt: skip
    DESPITE,
    METHOD,
    RUN,
    RUN_SEGMENTS,
    Homes,
    allowed,
    asked,
    grants,
    numbered,
)
from tests.tui.real.pseudo import Pseudo


@dataclass
class Office:
    """A computer with the key of a vault on a stick, and a folder for everything that there is."""

    folder: Path
    vault: Vault
    program: Program

    @property
    def opening(self) -> tuple[str, ...]:
        key = str(self.folder / "stick" / "recovery-key.txt")
        words = ("--vault", str(self.vault.folder), "--with", key, "--purpose", "the spring")
        return (*words, "--despite-network", "made-up")  # the machine of the tests may have one

    def run(self, *words: object, code: int = 0, real: bool = False, opening: bool = True) -> str:
        """Run a command; nothing secret is printed, and none lies in a file after it."""
        given = [str(each) for each in (*words, *(self.opening if opening else ()))]
        forget_keys()
        if real:
            ended, out, problems = Rosetta(self.folder / "home")(*given)
        else:
            ended, out, problems = self.program(*given)
        assert ended == code, (words, problems)
        assert CANARY not in out + problems
        assert readable(self.folder) == []
        return out + problems

    def works(self) -> list[tuple[str, str]]:
        """Return what the log has of openings: the work and the run."""
        acts = [line.record.act for line in self.vault.read().lines]
        used = [act for act in acts if isinstance(act, Used)]
        for act in used:
            assert (act.grant is not None) is (act.work in GRANTED), act
        return [(act.work.value, act.run) for act in used]


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: Program) -> Iterator[Office]:
    forget_keys()  # of other tests: they are the same
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    made = Vault(tmp_path / "vault", tmp_path / "memory", lambda: datetime.now(UTC))
    made.found("Words of the elders", KEEPERS, MINE)
    made.add(numbered(), "words", MINE)
    (tmp_path / "stick").mkdir()
    (tmp_path / "stick" / "recovery-key.txt").write_text(RECOVERY.text(), "utf-8")
    (tmp_path / "back.py").write_text(METHOD, "utf-8")
    yield Office(tmp_path, made, program)
    forget_keys()


@pytest.mark.costly("kills a process, whose run is resumed, retried and scored again")
def test_vault_run_that_is_killed_goes_on(office: Office) -> None:
    method = f"{office.folder / 'back.py'}:Backwards"
    chosen = ("--metrics", "chrf", "--concurrency", "1")
    office.run("run", "words", "-m", method, *chosen, code=-signal.SIGKILL, real=True)
    refused = office.run("resume", "last", "--keep-failed", opening=False, code=2)
    assert "--vault FOLDER" in refused
    shown = office.run("resume", "last", "--keep-failed")
    assert "You allow, as a keeper, to open 'words' once: 2 development, 5 gold_standard" in shown
    assert "going on with the run" in shown
    [(work, first), (again, same)] = office.works()
    assert (work, again, same) == ("run", "resume", first)
    (office.folder / "retried").touch()
    office.run("retry", "last")
    office.run("score", "--rescore", "last", "--metrics", "bleu")
    assert [each for each, _ in office.works()] == ["run", "resume", "retry", "rescore"]
    for command in ("lint", "sign"):
        assert "--vault FOLDER" in office.run("runs", command, first, opening=False, code=2)
    office.run("runs", "lint", first)
    assert office.works()[4:] == [("look", first)]

    listed = json.loads(ok("runs list --json"))
    assert (len(listed), listed[-1]["run_id"]) == (3, first)
    card = str(office.folder / "card.json")
    assert "--vault FOLDER" in failed("runs", "export", first[:8], "-o", card, "--submitter", "us")
    for line in ("runs show last", f"compare last {first}", "runs verify last"):
        assert CANARY not in ok(line)
    assert readable(office.folder) == []
    with closing(sqlite3.connect(office.folder / "home" / "rosetta.sqlite")) as connection:
        assert connection.execute("SELECT sha256 FROM corpora").fetchall() == [("ab" * 32,)]
        stored = connection.execute("SELECT position, rest FROM entries ORDER BY 1").fetchall()
    assert [place for place, rest in stored if "not_stored" in (rest or "")] == [5]
    held = [place for place, segment in enumerate(RUN_SEGMENTS) if segment is Segment.HELD_OUT]
    assert held == [5]


def test_vault_run_is_resumed_with_its_own_vault_alone(office: Office) -> None:
    office.run("run", "words", "-m", "copy-source", "--metrics", "chrf")
    with opened(default_path()) as store:  # as one that was cut
        store.execute("UPDATE runs SET run_card = NULL, state = 'stopped'")
        store.execute("DELETE FROM results WHERE position > 2")
    lines = office.vault.read().lines
    other = Vault(office.folder / "other", office.folder / "memory", office.vault.clock)
    other.found("Another", KEEPERS, MINE)
    stranger = office.folder / "stick" / "stranger.txt"
    stranger.write_text(Identity.make(Role.KEEPER).text(), "utf-8")

    def resumed(*words: str) -> str:
        return failed("resume", "last", "--keep-failed", *words)

    named = ("--vault", str(office.vault.folder))
    purposed, key = ("--purpose", "going on"), office.opening[2:4]
    assert "another vault" in resumed("--vault", str(other.folder), *purposed, *key)
    assert "of a present keeper" in resumed(*named, *purposed, "--with", str(stranger))
    assert "no keeper's keys" in resumed(*named, *purposed)
    assert "--purpose WORDS" in resumed(*named, *key)
    assert "goes with --vault" in resumed(*purposed)
    assert office.vault.read().lines == lines
    office.vault.rotate("words", Segment.GOLD_STANDARD, Segment.HELD_OUT, 1, "kept", MINE)
    assert "went to held_out" in resumed(*named, *purposed, *key)
    assert [work for work, _ in office.works()] == ["run"]


def failed(*words: str) -> str:
    """Run a command in this process that opens nothing; gives the words that it ends with, by exit code 2."""
    result = CliRunner().invoke(rosetta, words)
    assert isinstance(result.exception, HarnessError | click.ClickException | SystemExit), result
    if isinstance(result.exception, SystemExit):
        assert result.exception.code == 2
        return str(result.output)
    return str(result.exception)


def _changed(file: str, old: bytes, new: bytes) -> Callable[[Office], None]:
    def change(office: Office) -> None:
        path = office.vault.folder / file
        path.write_bytes(path.read_bytes().replace(old, new, 1) if old else new)

    return change


_whole = _changed(LOG, b"founded", b"founded")
WRONG: list[tuple[str, Callable[[Office], None], dict[str, Any], str]] = [
    ("a name that there is not", _whole, {"name": "songs"}, "There are: words"),
    ("nobody's key", _whole, {"--with": None}, "no keeper's keys"),
    ("no purpose", _whole, {"--purpose": " "}, "--purpose WORDS"),
    ("a purpose that is a book", _whole, {"--purpose": "x" * 201}, "201 characters"),
    ("held_out", _whole, {"--segment": "held_out"}, "Entries of held_out are not opened"),
    ("an option of files", _whole, {"--form": "jsonl"}, "says itself"),
    ("a changed log", _changed(LOG, b"founded", b"fuonded"), {}, "log.jsonl: line 1"),
    ("a head of nothing", _changed(HEAD, b"", b"{}"), {}, "vault.json"),
]


def test_vault_run_refuses_wrong_usage_unopened(office: Office) -> None:
    log = office.vault.folder / LOG
    kept = {e.name: e.read_bytes() for e in office.vault.folder.iterdir() if e.is_file()}
    for name, before, more, words in WRONG:
        for file, content in kept.items():
            (office.vault.folder / file).write_bytes(content)
        before(office)
        unchanged = log.read_bytes()
        given = dict(zip(office.opening[::2], office.opening[1::2], strict=True)) | more
        corpus = given.pop("name", "words")
        told = [part for option, value in given.items() if value for part in (option, value)]
        assert words in failed("run", corpus, "-m", "copy-source", *told), name
        if "--segment" not in more:  # corpus check chooses none
            assert words in failed("corpus", "check", corpus, *told), name
        assert log.read_bytes() == unchanged
    assert readable(office.folder) == []
    assert not (office.folder / "home" / "rosetta.sqlite").exists()
    office.vault.folder.rename(office.folder / "pulled")
    assert "no vault" in failed("run", "words", "-m", "copy-source", *office.opening)


def test_vault_script_opens_once_and_seals_its_runs(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = rosetta_api.load(
        "words", vault=office.vault.folder, vault_with=[office.folder / "stick" / "recovery-key.txt"],
        purpose="a notebook", segment=["gold_standard"], despite_network="made-up sentences",
    )  # fmt: skip
    first = rosetta_api.run(corpus, "copy-source", metrics="chrf")
    again = rosetta_api.run(corpus, "constant", text="Jes", metrics="chrf")
    assert first.run_id != again.run_id
    assert {row["withheld"] for row in first.entries()} == {True}
    for numbers in (lambda: first.card, lambda: rosetta_api.compare(first, again)):
        refuses(HarnessError, "secret entries", numbers)
    assert CANARY not in "".join(capsys.readouterr())
    forget_keys()
    assert office.works() == [("script", "")]
    assert readable(office.folder) == []
    (office.folder / "home" / "keeper.key").write_text(MINE.text(), "utf-8")  # would open them
    with opened(default_path()) as connection:
        run = find_run(connection, "last~1")
        refuses(StoreSealed, "--vault", read_entries, connection, run.corpus, run.positions)
        refuses(StoreSealed, "", list, read_results(connection, run.id))
        for entry in shown_entries(connection, run.corpus, run.positions).values():
            assert (entry.secret, entry.not_stored, entry.source, entry.reference) == (True, True, "", "")
        shown = list(shown_results(connection, run.id))
        assert {result.output for result in shown} == {None}
        assert len(shown) == 5
        draft = draft_of(run, connection)
    assert draft.values["file"] == next(iter(office.vault.read().head.corpora))
    assert draft.get("vault") == str(office.vault.folder)
    assert "purpose" not in draft.values
    assert "--vault FOLDER" in failed("corpus", "show", f"store:{'ab' * 6}")
    assert len(rosetta_api.runs()) == 2


PAGE = Path(__file__).parents[3] / "docs" / "grants.md"
SMALL = ["--organisation", "Council", "--reviewers", "2", "--items", "4", "--bad", "0", "--repeats", "0", "--anchors", "0", "--anyway"]  # fmt: skip


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Homes]:
    made = Homes(tmp_path, monkeypatch, numbered())
    (tmp_path / "office" / "back.py").write_text(METHOD, "utf-8")
    (tmp_path / "office" / "retried").touch()
    yield made
    forget_keys()


def run_granted(homes: Homes, *changed: str, line: str = "run greetings --method copy-source", there: str = "") -> str:
    """Type the command of a run whose grant lies on the stick, or one that differs from it."""
    given = f"--vault {there or homes.folder / 'office' / 'elders'} --purpose spring"
    return homes.types("office", f"{line} {given}", *(changed or RUN), *DESPITE, there=homes.stick)


def test_granted_run_is_made_once(homes: Homes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.endpoint.offline.network_routes", lambda: ("a cable",))
    assert "other machines" in homes.types("office", "run greetings --vault elders --purpose spring -m copy-source")
    assert grants(homes) == [], "nobody is asked on a computer with a network"
    asked(homes, "run greetings --method copy-source", *RUN, *DESPITE)
    said = run_granted(homes)
    assert "chrF++" in said, said
    [grant] = grants(homes)
    assert grant.used
    log = homes("office", "log elders").splitlines()[-1]
    assert "used up the grant" in log
    assert "for the run" in log
    assert "despite a network, because: made-up sentences" in log
    assert "Waiting for the keepers" in run_granted(homes)
    assert len(json.loads(homes.types("office", "runs list --json"))) == 1
    assert readable(homes.folder) == []


OTHERS = [
    ("another method", "run greetings --method constant --text Jes", RUN),
    ("other entries", "run greetings --method copy-source", (*RUN[:3], "bleu", "--limit", "2")),
    ("another purpose", "run greetings --method copy-source", (*RUN, "--purpose", "x")),
]  # fmt: skip


def test_granted_run_that_is_another_uses_nothing_up(homes: Homes, monkeypatch: pytest.MonkeyPatch) -> None:
    asked(homes, "run greetings --method copy-source", *RUN, *DESPITE)
    for name, line, words in OTHERS:
        assert "Waiting for the keepers" in run_granted(homes, *words, line=line), name
    assert "no corpus 'songs'" in run_granted(homes, line="run songs --method copy-source")
    with monkeypatch.context() as newer:
        newer.setattr("harness.run.vault_opening.VERSION", "9.9.9")
        assert "scored by Rosetta 9.9.9" in run_granted(homes)
    shutil.copytree(homes.folder / "office" / "elders", homes.folder / "school" / "elders")
    line = f"run greetings --method copy-source --vault {homes.folder / 'school' / 'elders'} --purpose spring"
    assert "School asks to open" in homes.types("school", line, *RUN, *DESPITE, there=homes.stick)
    assert not [grant for grant in grants(homes) if grant.used]
    assert homes.types("office", "runs list --json").strip() == "[]"
    assert "chrF++" in run_granted(homes)


def test_granted_run_that_was_cut_goes_on_by_a_new_grant(homes: Homes) -> None:
    """One keeper alone opens nothing of it."""
    office = homes.folder / "office"
    asked(homes, "run greetings --method copy-source", *RUN, *DESPITE)
    run_granted(homes)
    with opened(office / "rosetta.sqlite") as store:
        store.execute("UPDATE runs SET run_card = NULL, state = 'stopped'")
        store.execute("DELETE FROM results WHERE position > 2")
    forget_keys()
    on = asked(homes, "resume last", *DESPITE)
    homes.types("office", f"resume last {on} --keep-failed", *DESPITE, there=homes.stick)
    [run] = json.loads(homes.types("office", "runs list --json"))
    assert run["state"] == "complete"
    forget_keys()
    assert "opens for 2 of its 3 keepers" in homes.types("office", f"score --rescore last {on}", *DESPITE)
    seal = asked(homes, "runs sign last", *DESPITE)
    assert "Its six words are" in homes.types("office", f"runs sign last {seal}", *DESPITE, there=homes.stick)
    log = homes("office", "log elders")
    assert f"for going on with the run {run['run_id'][:8]}" in log
    assert "for signing the card of the run" in log
    assert readable(homes.folder) == []


@pytest.mark.thorough
def test_vault_run_texts_are_read_on_the_screen_opened(homes: Homes) -> None:
    office = homes.folder / "office"
    shutil.copy(homes.folder / "school" / "keeper.key", homes.stick / "school.key")
    here = (
        "--vault", str(office / "elders"), "--with", str(homes.stick / "school.key"),
        "--purpose", "reading them together", *DESPITE,
    )  # fmt: skip
    assert "chrF++" in homes.types("office", "run greetings -m copy-source", *here, *RUN)
    with Pseudo(office, "watch", "last") as closed:
        closed.wait_for("(sealed)", "chrF")
        assert CANARY.encode() not in closed.drawn
    with Pseudo(office, "watch", "last", *here) as opened:
        opened.wait_for(f"{CANARY} so", "chrF")
        opened.press("\x11")
        assert opened.ended() == 0
    assert "reading on the screen the run" in homes("office", "log elders")
    assert "for reading on the screen" in homes.types("office", "watch last", *here)
    assert readable(homes.folder) == []


@pytest.mark.thorough
def test_grants_page_can_be_walked(homes: Homes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command, and each that asks once more with the school's answer; the run is killed, so that it can go on."""
    monkeypatch.setattr("harness.endpoint.offline.network_routes", lambda: ())
    office, stick = homes.folder / "office", homes.stick
    for name in ("blue", "red"):
        (stick / f"{name}.rosetta-laptop").write_bytes(write_laptop_card(Identity.make(Role.LAPTOP), name))
    homes("office", "export elders {stick}/elders --purpose", "for the keepers")
    page = PAGE.read_text("utf-8").partition("\n## When it does not open")[0]
    calls = re.findall(r"^rosetta (.*?) +# (\w+)$", page, re.MULTILINE)
    assert len(calls) == 9
    run_id = ""
    for call, whose in calls:
        typed = call.replace("1a2b3c4d", run_id).replace("../elders", str(office / "elders"))
        words = shlex.split(typed.replace("copy-source", f"{office / 'back.py'}:Backwards"))
        if words[0] == "run" and (stick / "run-School.rosetta-answer").exists():
            assert Rosetta(office)(*words, *DESPITE, cwd=stick)[0] == -signal.SIGKILL
            run_id = json.loads(homes.types("office", "runs list --json"))[0]["run_id"][:8]
            continue
        more = {"resume": ["--keep-failed"], "review": SMALL}.get(words[0], [])
        before = {*stick.rglob("*.rosetta-request")}
        said = homes.types(whose, words[0], *words[1:], *more, there=stick)
        if "Waiting for the keepers" in said and words[0] != "run":
            [request] = {*stick.rglob("*.rosetta-request")} - before
            allowed(homes, request)
            said = homes.types(whose, words[0], *words[1:], *more, there=stick)
        assert ("rror: " not in said) is (words[0] != "run"), (call, said)
    assert [bool(each.used) for each in grants(homes)] == [True] * 4
    assert json.loads((stick / "ann.json").read_text())
    assert readable(homes.folder) == []
