"""Runs from a vault, as processes of their own: no text of it, nor an output for one, is ever readable in a file."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from corpora.model.entry import Segment
from harness.core.failures import HarnessError
from harness.sealed.keys import Identity, Role
from harness.store.corpora.entries import read_entries
from harness.store.file.database import default_path, opened
from harness.store.file.sealing import StoreSealed, forget_keys
from harness.store.results import read_results
from harness.store.runs import find_run
from harness.vault.folder import HEAD, LOG
from harness.vault.records import Used
from harness.vault.vault import Vault
from harness.vault.work import GRANTED
from rosetta import runs
from rosetta_tui.commands import rosetta
from rosetta_tui.request.draft_of_run import draft_of
from tests.harness.vault.made import CANARY, KEEPERS, MINE, RECOVERY, readable
from tests.tui.commands.processes import Rosetta
from tests.tui.commands.vault_office import METHOD, RUN_SEGMENTS, numbered


@dataclass
class Office:
    """A computer with the key of a vault on a stick, and a folder for everything that there is."""

    folder: Path
    vault: Vault

    @property
    def opening(self) -> tuple[str, ...]:
        key = str(self.folder / "stick" / "recovery-key.txt")
        words = ("--vault", str(self.vault.folder), "--vault-key", key, "--purpose", "the spring")
        return (
            *words,
            "--despite-network",
            "made-up sentences",
        )  # the machine of the tests may have one

    def run(self, *words: object, code: int = 0, opening: bool = True) -> str:
        """Run a command in a process of its own; nothing secret is printed, and none lies in a file after it."""
        given = self.opening if opening else ()
        ended, out, err = Rosetta(self.folder / "home")(*words, *given)
        assert ended == code, (words, err)
        assert CANARY not in out + err
        assert readable(self.folder) == []
        return out + err

    def look(self, *words: str) -> str:
        """Run a command that opens nothing, in this process."""
        return str(CliRunner().invoke(rosetta, words, catch_exceptions=False).output)

    def works(self) -> list[tuple[str, str]]:
        """Return what the log has of openings: the work and the run."""
        acts = [line.record.act for line in self.vault.read().lines]
        used = [act for act in acts if isinstance(act, Used)]
        for act in used:
            assert (act.grant is not None) is (act.work in GRANTED), act
        return [(act.work.value, act.run) for act in used]


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    forget_keys()  # of other tests: they are the same
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    made = Vault(tmp_path / "vault", tmp_path / "memory", lambda: datetime.now(UTC))
    made.found("Words of the elders", KEEPERS, MINE)
    made.add(numbered(), "words", MINE)
    (tmp_path / "stick").mkdir()
    (tmp_path / "stick" / "recovery-key.txt").write_text(RECOVERY.text(), "utf-8")
    (tmp_path / "back.py").write_text(METHOD, "utf-8")
    return Office(tmp_path, made)


def test_a_run_that_is_killed_goes_on_and_leaves_nothing_readable(office: Office) -> None:
    method = f"{office.folder / 'back.py'}:Backwards"
    chosen = ("--metrics", "chrf", "--concurrency", "1")
    office.run("run", "words", "-m", method, *chosen, code=-signal.SIGKILL)
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

    listed = json.loads(office.look("runs", "list", "--json"))
    assert len(listed) == 3
    assert listed[-1]["run_id"] == first
    shown = office.look("runs", "show", "last")
    assert "words" in shown
    compared = office.look("compare", "last", first)
    assert "chrF" in compared
    card = str(office.folder / "card.json")
    assert "--vault FOLDER" in failed("runs", "export", first[:8], "-o", card, "--submitter", "us")
    for said in (shown, compared, office.look("runs", "verify", "last")):
        assert said
        assert CANARY not in said
    assert readable(office.folder) == []
    with closing(sqlite3.connect(office.folder / "home" / "rosetta.sqlite")) as connection:
        assert connection.execute("SELECT sha256 FROM corpora").fetchall() == [("ab" * 32,)]
        stored = connection.execute("SELECT position, rest FROM entries ORDER BY 1").fetchall()
    assert [place for place, rest in stored if "not_stored" in (rest or "")] == [5]
    held = [place for place, segment in enumerate(RUN_SEGMENTS) if segment is Segment.HELD_OUT]
    assert held == [5]


def test_a_resumed_run_needs_its_own_vault_and_leaves_held_out_alone(office: Office) -> None:
    method = f"{office.folder / 'back.py'}:Backwards"
    office.run("run", "words", "-m", method, "--metrics", "chrf", code=-signal.SIGKILL)
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
    assert "not those of a present keeper" in resumed(
        *named, *purposed, "--vault-key", str(stranger)
    )
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


def _pulled(office: Office) -> None:
    office.vault.folder.rename(office.folder / "pulled")


def _damaged(office: Office) -> None:
    log = office.vault.folder / LOG
    log.write_bytes(log.read_bytes().replace(b"founded", b"fuonded", 1))


def _headless(office: Office) -> None:
    (office.vault.folder / HEAD).write_text("{}", "utf-8")


WRONG: list[tuple[str, Callable[[Office], None] | None, dict[str, Any], str]] = [
    ("a name that there is not", None, {"name": "songs"}, "There are: words"),
    ("nobody's key", None, {"--vault-key": None}, "no keeper's keys"),
    ("no purpose", None, {"--purpose": " "}, "--purpose WORDS"),
    ("a purpose that is a book", None, {"--purpose": "x" * 201}, "201 characters"),
    ("held_out", None, {"--segment": "held_out"}, "Entries of held_out are not opened"),
    ("an option of files", None, {"--form": "jsonl"}, "says itself"),
    ("a pulled stick", _pulled, {}, "no vault"),
    ("a changed log", _damaged, {}, "log.jsonl: line 1"),
    ("a head of nothing", _headless, {}, "vault.json"),
]


@pytest.mark.parametrize(("before", "more", "words"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])  # fmt: skip
@pytest.mark.parametrize("command", [("run", "-m", "copy-source"), ("corpus", "check")])
def test_what_is_wrong_is_said_and_nothing_is_opened(
    office: Office,
    command: tuple[str, ...],
    before: Callable[[Office], None] | None,
    more: dict[str, Any],
    words: str,
) -> None:
    if command[0] == "corpus" and "--segment" in more:
        pytest.skip("corpus check chooses no segments")
    log = office.vault.folder / LOG
    if before is not None:
        before(office)
    kept = log.read_bytes() if log.exists() else b""
    given = dict(zip(office.opening[::2], office.opening[1::2], strict=True)) | more
    name = given.pop("name", "words")
    told = [part for option, value in given.items() if value for part in (option, value)]
    at = 2 if command[0] == "corpus" else 1
    assert words in failed(*command[:at], name, *command[at:], *told)
    assert (log.read_bytes() if log.exists() else b"") == kept
    assert readable(office.folder) == []
    assert not (office.folder / "home" / "rosetta.sqlite").exists()


SCRIPT = """
import sys, rosetta
vault, key = sys.argv[1:]
corpus = rosetta.load("words", vault=vault, vault_key=key, purpose="a notebook", segment=["gold_standard"],
                      despite_network="made-up sentences")
first = rosetta.run(corpus, "copy-source", metrics="chrf")
again = rosetta.run(corpus, "constant", text="Jes", metrics="chrf")
assert first.run_id != again.run_id
print({row["withheld"] for row in first.entries()})
for numbers in (lambda: first.card, lambda: rosetta.compare(first, again)):
    try:
        numbers()
    except rosetta.HarnessError as refused:
        print("secret entries" in str(refused))
"""


def test_a_script_opens_once_and_its_runs_are_sealed_for_who_comes_after(office: Office) -> None:
    key = office.folder / "stick" / "recovery-key.txt"
    done = subprocess.run(
        [sys.executable, "-P", "-c", SCRIPT, str(office.vault.folder), str(key)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "{True}\nTrue\nTrue\n"), done.stderr
    assert office.works() == [("script", "")]
    assert readable(office.folder) == []
    assert CANARY not in done.stderr
    (office.folder / "home" / "keeper.key").write_text(MINE.text(), "utf-8")  # would open them
    with opened(default_path()) as connection:
        run = find_run(connection, "last~1")
        with pytest.raises(StoreSealed, match="--vault"):
            read_entries(connection, run.corpus, run.positions)
        with pytest.raises(StoreSealed):
            list(read_results(connection, run.id))
        for entry in read_entries(connection, run.corpus, run.positions, to_show=True).values():
            assert (entry.secret, entry.not_stored, entry.source, entry.reference) == (True, True, "", "")  # fmt: skip
        shown = list(read_results(connection, run.id, to_show=True))
        assert {result.output for result in shown} == {None}
        assert len(shown) == 5
        draft = draft_of(run, connection)
    assert draft.values["file"] == next(iter(office.vault.read().head.corpora))
    assert draft.get("vault") == str(office.vault.folder)
    assert "purpose" not in draft.values
    assert "--vault FOLDER" in failed("corpus", "show", f"store:{'ab' * 6}")
    assert len(runs()) == 2
