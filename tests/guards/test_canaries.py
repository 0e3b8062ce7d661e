"""Every word of a sealed corpus is a canary, and after all that the program does none can be read in any byte it left."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import signal
import sqlite3
import subprocess
import sys
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.sealed.keys import Identity, Role
from review.files.identities import write_laptop_card
from tests.guards.canaries import brought
from tests.guards.canaries.place import STEM, Computer, forms_in, readable
from tests.harness.scripted import Scripted, serving
from tests.harness.store.sqlite import written_before
from tests.review.thorough import times
from tests.tui.real.pseudo import Pseudo, wait

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks, signals and terminals")

SAID = brought.said("source", 3)
WORD = SAID.split()[0]
SHOWN = f"{STEM.capitalize()}source0"
DIALOG = "enter continues"

WRITTEN: dict[str, Callable[[str], bytes]] = {
    "utf-8": str.encode,
    "utf-16": lambda text: text.encode("utf-16-le"),
    "utf-16, the other way": lambda text: text.encode("utf-16-be"),
    "composed": lambda text: unicodedata.normalize("NFC", text).encode(),
    "decomposed": lambda text: unicodedata.normalize("NFD", text).encode(),
    "JSON": lambda text: json.dumps(text).encode(),
    "HTML": lambda text: text.encode("ascii", "xmlcharrefreplace"),
    "lower": lambda text: text.lower().encode(),
    "upper": lambda text: text.upper().encode(),
    "no accents": lambda text: unicodedata.normalize("NFD", text).encode("ascii", "ignore"),
    "hexadecimal": lambda text: text.encode().hex().encode(),
    "base64": lambda text: base64.b64encode(text.encode()),
    "base64 of JSON of UTF-16": lambda text: base64.b64encode(json.dumps([1, text]).encode("utf-16")),
    "gzip": lambda text: gzip.compress(text.encode()),
    "zip": lambda text: zipped(gzip.compress(text.encode())),
    "coloured": lambda text: f"{text[:3]}\x1b[1;31m{text[3:]}".encode(),
    "clipboard": lambda text: b"\x1b]52;c;" + base64.b64encode(text.encode()) + b"\x07",
}  # fmt: skip


def zipped(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("inside", content)
    return file.getvalue()


@pytest.mark.parametrize("form", WRITTEN)
def test_a_canary_is_found_however_it_is_written(form: str) -> None:
    write = WRITTEN[form]
    assert not forms_in(write("what anybody may read; not a bird in it."))
    for place in range(4):
        assert forms_in(write("x" * place + SAID))
    for word in SAID.split():
        assert forms_in(write(word)), word


@pytest.mark.parametrize("leak", ["log", "name", "page", "removed", "replaced", "core"])
def test_the_guard_finds_one_leaked_word(tmp_path: Path, leak: str) -> None:
    """Else it might search the wrong place, and find nothing for that reason."""
    computer = Computer(tmp_path)
    assert computer.readable() == []
    if leak == "log":
        (tmp_path / "home" / ".cache" / "rosetta").mkdir(parents=True)
        log = tmp_path / "home" / ".cache" / "rosetta" / "today.log"
        log.write_text(f"INFO asked for {WORD}\n", "utf-8")
    elif leak == "name":
        (tmp_path / "temporary" / f"{WORD}.tmp").touch()
    elif leak == "page":
        with sqlite3.connect(tmp_path / "data" / "rosetta.sqlite") as store:
            store.execute("PRAGMA secure_delete = OFF")
            store.execute("CREATE TABLE t AS SELECT ? AS said", (WORD,))
            store.commit()
            store.execute("DELETE FROM t")
        store.close()
    elif leak in {"removed", "replaced"}:
        ends = "os.remove('a.tmp')" if leak == "removed" else "os.replace('b.tmp', 'a.tmp')"
        leaks = f"""
import os
from pathlib import Path
from tests.guards.canaries.place import keep_removed
keep_removed(Path({str(tmp_path / "removed")!r}))
os.chdir({str(tmp_path / "temporary")!r})
Path('a.tmp').write_text({WORD!r})
Path('b.tmp').touch()
{ends}
"""
        subprocess.run([sys.executable, "-c", leaks], check=True)
    else:
        aborts = f"import os, resource as r\nr.setrlimit(r.RLIMIT_CORE, (r.getrlimit(r.RLIMIT_CORE)[1],) * 2)\nsaid = {WORD!r} * 2\nos.abort()"
        subprocess.run([sys.executable, "-c", aborts], cwd=tmp_path / "work", check=False)
        if not list((tmp_path / "work").iterdir()):
            pytest.skip("this system writes no core into the folder")
    assert len(computer.readable()) == 1


@pytest.fixture(scope="module")
def server() -> Iterator[Scripted]:
    with serving(brought.answering) as answering:
        yield answering


class Keeper:
    """Somebody with a computer, what they brought on another disk, and a vault."""

    def __init__(self, folder: Path, server: Scripted) -> None:
        self.brought = folder / "brought"
        self.brought.mkdir()
        self.computer = Computer(folder / "computer")
        self.corpus = brought.corpus(self.brought / "words.json")
        (self.brought / "methods.py").write_text(brought.METHODS, "utf-8")
        self.vault = self.computer.folder / "vault"
        self.opening = ("--vault", self.vault, "--purpose", "the spring", "--despite-network", "made up")
        asked = ("-m", "chat", "--endpoint", server.url, "--model", "m", "--trust-local-server")
        judged = ("--judge", server.url, "--judge-model", "judge-j")
        self.chat = (*asked, *judged, "--metrics", "chrf,lbrag.semantic_score", "--concurrency", 2)

    def method(self, name: str) -> tuple[object, ...]:
        return ("-m", f"{self.brought / 'methods.py'}:{name}", "--metrics", "chrf", "--keep-failed", "--plain")

    def seals(self) -> None:
        """Make the vault and put the corpus into it."""
        stick = self.computer.folder / "stick"
        stick.mkdir()
        self.computer("vault", "init", self.vault, "--name", "Words", "--as", "Office",
                      "--recovery", stick / "recovery-key.txt")  # fmt: skip
        self.computer("vault", "add", self.vault, self.corpus)

    def runs(self, *what: object, again: tuple[object, ...] = (), all_kinds: bool = True) -> None:
        """Run all kinds of methods over ``what``: one that echoes, a service, and those that fail, die and crash.

        ``again``: what going on with a run needs.
        """
        run = ("run", *what)
        self.computer(*run, *self.chat, "--json-lines", "--keep-failed")
        self.computer(*run, *self.method("Loud"))
        if not all_kinds:
            return
        self.computer(*run, "-m", f"{self.brought / 'methods.py'}:Echo", "--plain")
        broken = self.computer(*run, *self.method("Ours"), code=None)
        assert "KeyError" in broken
        self.computer(*run, *self.method("Aborts"), code=-signal.SIGABRT)
        self.computer(*run, *self.method("Dies"), code=-signal.SIGKILL)
        assert self.computer.readable() == []  # in the journal that nobody closed, too
        self.computer("resume", "last", *again, "--keep-failed", "--plain")

    def asks_speakers(self) -> None:
        """Hand the newest run to a speaker's laptop, take what is said, and do what needs no vault."""
        card = self.brought / "blue.rosetta-laptop"
        card.write_bytes(write_laptop_card(Identity.make(Role.LAPTOP), "blue"))
        asked = ("--reviewers", 3, "--items", 6, "--bad", 1, "--repeats", 1, "--anchors", 1, "--anyway",
                 "--organisation", "Council", "-o", self.computer.folder / "batches")  # fmt: skip
        self.computer("review", "create", "last", *self.opening[:4], "--for", card, *asked)
        assert brought.speak(self.computer.folder / "data") == brought.WRITTEN
        for name in ("status", "gate", "adjudicate", "page"):
            self.computer("review", name, "last", code=None)
        for more in (("--json",), self.opening[:4]):
            self.computer("review", "adjudicate", "last", *more, code=None)
        self.computer("review", "create", "--second", "last", *self.opening[:4], "--for", card, code=None)

    def looks(self, lines: int = 12) -> None:
        """Look at everything that came out, and try to take it out."""
        out = self.computer.folder / "out"
        for line in (
            "runs show last", "runs show last --json", "compare last last~1 --entries 5 --json", "runs verify last",
            "compare last last~3", "runs list", "runs list --json", "leaderboard", "leaderboard --json",
            "doctor --json", "vault budget", "community notices",
        )[:lines]:  # fmt: skip
            self.computer(*line.split(), code=None)
        for form in ("card", "jsonl", "csv"):
            self.computer("runs", "export", "last", "-o", out / form, "--form", form, code=None)
        self.computer("community", "export", out / "community", "--corpus", "words", code=None)


@pytest.fixture
def keeper(tmp_path: Path, server: Scripted) -> Keeper:
    return Keeper(tmp_path, server)


def walked(keeper: Keeper, monkeypatch: pytest.MonkeyPatch, *steps: tuple[str, str]) -> bytes:
    """Press keys in the app on a terminal, wait each time for a word, and leave; gives all that was drawn.

    A dialog that shows the word at its edge is waited for until it is closed.
    """
    for name, value in keeper.computer.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(keeper.computer.folder / "work")
    with Pseudo(keeper.computer.folder / "data") as app:
        for keys, word in steps:
            app.press(keys)
            if keys == "\x1b":
                wait(app.screen, lambda seen: DIALOG not in seen)
            app.wait_for(word)
        app.press("\x11")
        app.ended()
        return bytes(app.drawn)


def told_to_terminal(drawn: bytes) -> list[bytes]:
    """Return titles, what is put into the clipboard, and all else that a terminal is told and does not show."""
    return re.findall(rb"\x1b[\]P_^X][^\x07\x1b]*", drawn)


@pytest.mark.costly("walks through every command that could leave a secret behind")
def test_of_a_vault_nothing_is_readable(keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper.seals()
    keeper.runs("words", *keeper.opening, again=keeper.opening)
    keeper.asks_speakers()
    keeper.looks()
    export = ("runs", "export", "last", "--submitter", "us", "-o", keeper.computer.folder / "ours.json")
    keeper.computer(*export, *keeper.opening)
    vault = ("check-up", "words", "--do", "rotate", "--from", "gold_standard", "--to", "held_out", "--count", 1)
    keeper.computer("vault", vault[0], keeper.vault, *vault[1:], "--purpose", "kept")
    keeper.computer("vault", "log", keeper.vault)
    keeper.computer("vault", "open", keeper.vault, "words", "--purpose", "a look")
    drawn = walked(
        keeper, monkeypatch,
        ("", "EN→EO"), ("\r", "(sealed)"), ("y", "copied"), ("e", DIALOG), ("\x1b", "(sealed)"),
        ("q", "Home"), ("l", "Leaderboard"), ("q", "Home"),
        ("p", "Plots"), ("q", "Home"), ("b", "sha-256"), ("\r", "› Corpus"), ("q", "sha-256"), ("q", "Home"),
    )  # fmt: skip
    assert any(each.startswith(b"\x1b]52") for each in told_to_terminal(drawn))
    assert not forms_in(drawn)
    assert keeper.computer.readable() == []
    assert keeper.computer.dumping == []


@pytest.mark.costly("walks through every command that could leave a secret behind")
def test_of_secret_segments_nothing_leaks(keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever brought the file sees its texts on their own screen, and nowhere else."""
    brought.corpus(keeper.corpus, all_kept=False)
    secret = ("--segment", "gold_standard")
    keeper.computer("corpus", "check", keeper.corpus)
    keeper.computer("run", "--estimate", keeper.corpus, *secret, *keeper.chat[:6])
    keeper.runs(keeper.corpus, *secret, all_kinds=bool(times(0, 1)))
    keeper.computer("score", "--rescore", "last", "--metrics", "bleu")
    keeper.looks(times(4, 12))
    asked = ("--reviewers", 3, "--items", 6, "--bad", 0, "--repeats", 0, "--anchors", 0)
    keeper.computer("review", "create", "last", *asked, "--anyway", "--passphrases", "--organisation", "Council",
                    "-o", keeper.computer.folder / "batches")  # fmt: skip
    assert brought.speak(keeper.computer.folder / "data") == brought.WRITTEN
    for line in ("status last", "gate last", "adjudicate last", "enrol"):
        keeper.computer("review", *line.split(), code=None)
    drawn = walked(
        keeper, monkeypatch,
        ("", "EN→EO"), ("\r", SHOWN), ("y", "copied"), ("e", DIALOG), ("\x1b", SHOWN),
        ("\r", "Reference"), ("q", SHOWN), ("q", "Home"),
    )  # fmt: skip
    assert forms_in(drawn)
    assert not any(map(forms_in, told_to_terminal(drawn)))
    assert keeper.computer.readable() == []
    assert keeper.computer.dumping == []


def test_a_store_from_before_is_taken_over_and_nothing_is_readable(keeper: Keeper) -> None:
    data = keeper.computer.folder / "data"
    written_before.written_before(data / written_before.NAME)
    assert readable(data)
    assert "are sealed now" in keeper.computer("runs", "list", code=None)
    assert "are sealed now" not in keeper.computer("runs", "show", "last", code=None)
    assert keeper.computer.readable() == []
