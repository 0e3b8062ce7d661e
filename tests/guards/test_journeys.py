"""The first three journeys of docs/architecture.md are made, and pass the steps that the page names, and no more files than it says."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest

from review.log.laptop import Laptop
from review.office.store.store import Office
from rosetta_tui.app.app import RosettaApp
from rosetta_tui.cli import main
from rosetta_tui.review.rating.lines.face import run_lines
from rosetta_tui.review.rating.lines.pages import Console
from rosetta_tui.review.rating.sitting import TerminalOpening
from tests.guards.tracing import ROOT, Step, Trace
from tests.harness.scripted import Answer, Asked, error, serving, translated
from tests.review.office import made
from tests.review.verdict.certified import fluent_run
from tests.tui.review.gated import filled, invoke, issued, reviewed
from tests.tui.screens import text
from tests.walks.shell import shown_item

PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
RUN, REFUSED, RATING = (
    "`rosetta run --method chat`: from the call to a row on the disk and on the screen",
    "A 429: too many requests",
    "A rating, until it is part of a certificate",
)
PATIENCE = 6_000
"""Looks at the screen, each a hundredth of a second or more after the last."""


def section(title: str) -> str:
    return PAGE.split(f"### {title}\n")[1].partition("\n### ")[0]


def steps(title: str) -> list[Step]:
    """Return the functions of a journey; a name in capitals is a thing, not a step."""
    return re.findall(r"`([a-z_]+/[\w/]+\.py): ([a-z_]\w*)`", section(title))


def stated(title: str) -> int:
    [count] = re.findall(r"^Files on the way[^:]*: at most (\d+)\.$", section(title), re.MULTILINE)
    return int(count)


def assert_as_stated(trace: Trace, title: str, first: str | None = None) -> None:
    assert [step for step in steps(title) if step not in trace.ways] == []
    files = trace.files(steps(title), first)
    assert len(files) <= stated(title), "\n".join(["these are more than the page says:", *files])


class Terminal(io.StringIO):
    """A terminal on which nobody types."""

    def isatty(self) -> bool:
        return True


def refused_once(asked: Asked) -> Answer:
    return translated(asked) if asked.number else error(429, headers={"retry-after": "0"})


@pytest.mark.costly("traces every function of ours during a whole run")
def test_a_run_and_a_429_go_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One run on the live screen, whose first call is refused with 429."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    for name in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{name}", Terminal())

    async def look(pilot: Any) -> None:
        for _ in range(PATIENCE):
            if "HELLO" in text(pilot.app):
                break
            await pilot.pause(0.01)
        pilot.app.exit()

    def shown(app: RosettaApp) -> None:
        super(RosettaApp, app).run(headless=True, size=(120, 40), auto_pilot=look)

    monkeypatch.setattr(RosettaApp, "run", shown)
    corpus = tmp_path / "words.tsv"
    corpus.write_text("source\treference\nHello\tSaluton\n", "utf-8")
    languages = ("--source-language", "en", "--target-language", "eo")
    trace = Trace({*steps(RUN), *steps(REFUSED)})
    with serving(refused_once) as server, trace.watching():
        chat = ("--method", "chat", "--endpoint", server.url, "--model", "m")
        with pytest.raises(SystemExit) as ended:
            main(["run", str(corpus), *languages, *chat])
    assert not ended.value.code
    assert len(server.asked) == 2
    assert_as_stated(trace, RUN, first="rosetta_tui/commands/run.py")
    assert_as_stated(trace, REFUSED, first="harness/run/call_runner.py")


class Speaker(io.StringIO):
    """Reads what the line face printed, and types the answer to it; hangs up when the ratings are handed over."""

    def __init__(self, code: str, stick: Path) -> None:
        super().__init__()
        self.printed = io.StringIO()
        self._read = 0
        self._stick = f"1: {stick}"
        self._answers = {
            "Are they the same?": "1",
            "Type the code from your card": code,
            "What you agree to": "1",
            "better translations that you write be used?": "1",
            "Did you take part in making it?": "3",
            "That was the last one": "x",
            self._stick: "1",
        }

    def readline(self, _: int = -1, /) -> str:  # type: ignore[override]  # as in StringIO itself
        said = self.printed.getvalue()[self._read :]
        self._read += len(said)
        if "Write them down" in said:
            return ""
        told = (answer for asked, answer in self._answers.items() if asked in said)
        return next(told, "4" if shown_item(said) else "") + "\n"


@pytest.mark.thorough
def test_a_rating_goes_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One review as far as the office's file; another one, with enough ratings, to its certificate."""
    home, stick = tmp_path / "home", tmp_path / "stick"
    monkeypatch.setenv("ROSETTA_HOME", str(home))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    card = fluent_run(home / "rosetta.sqlite", tmp_path)
    size = ("--reviewers", 3, "--items", 10, "--anyway")
    invoke("create", "last", "--organisation", "The council", "-o", stick, "--name", "small", *size)
    speaker = Speaker(next(iter(made.codes_of(home).values())), stick)
    trace = Trace(steps(RATING))
    with trace.watching():
        with Laptop.open(tmp_path / "laptop") as laptop:
            [file] = stick.glob("*.rosetta-batch")
            run_lines(TerminalOpening(laptop, places=[file]), Console(speaker, speaker.printed))
        assert "added" in invoke("import", stick, "--enrol", "--yes").stdout
    with Office.open(home) as office:
        filled(office, home, reviewed(card))
    with trace.watching():
        certificate = issued(tmp_path)
        assert "Everything holds" in invoke("verify", certificate).stdout
    assert_as_stated(trace, RATING)
