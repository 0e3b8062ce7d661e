"""The first three journeys of docs/internals/architecture.md are made, and pass the steps that the page names, and no more files than it says.

A request is begun in few stays in files.
"""

from __future__ import annotations

import asyncio
import io
import re
import sys
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby, pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest.mock import patch

import pytest

from corpora.model.corpus import Selection
from corpora.model.task import TRANSLATION
from corpora.samples import demo_files, sample_path
from harness import api
from review.log.laptop import Laptop
from review.office.store.store import Office
from rosetta_tui.app.app import RosettaApp
from rosetta_tui.cli import main
from rosetta_tui.review.rating.lines.face import run_lines
from rosetta_tui.review.rating.lines.pages import Console
from rosetta_tui.review.rating.sitting import TerminalOpening
from tests.harness.scripted import error, serving, translated
from tests.review.office import made
from tests.review.verdict.certified import fluent_run
from tests.tui.review.gated import filled, invoke, issued, reviewed
from tests.tui.screens import text
from tests.walks.shell import shown_item

ROOT = Path(__file__).parents[2]
PACKAGES = ("corpora", "scoring", "harness", "review", "rosetta_tui")

Step = tuple[str, str]
"""A file below the root, and the name of a function in it."""


class Trace:
    """Where each step was reached last: the functions of ours that led there, the first one first.

    A thread or task that one of our functions starts goes on where that function stands. What Textual or asyncio
    start by themselves has no such past.
    """

    def __init__(self, steps: Collection[Step]) -> None:
        self.ways: dict[Step, list[Step]] = {}
        self._steps = frozenset(steps)
        self._names = {name for _, name in steps}
        self._places: dict[CodeType, Step | None] = {}
        self._pasts: dict[object, list[Step]] = {}

    def files(self, steps: Iterable[Step], first: str | None = None) -> list[str]:
        """Return the files on the ways to some steps as they are met, each way from the file ``first`` on."""
        found: dict[str, None] = {}
        for step in steps:
            files = [file for file, _ in self.ways[step]]
            found |= dict.fromkeys(files[files.index(first) :] if first in files else files)
        return list(found)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch all threads until the block ends; what an earlier block has reached stays as it was."""
        self._steps -= self.ways.keys()
        start, create = threading.Thread.start, asyncio.BaseEventLoop.create_task

        def starting(thread: threading.Thread) -> None:
            self._remember(thread)
            start(thread)

        def creating(loop: Any, coroutine: Any, **more: Any) -> asyncio.Task[Any]:
            task = create(loop, coroutine, **more)
            self._remember(task)
            return task

        with (
            patch.object(threading.Thread, "start", starting),
            patch.object(asyncio.BaseEventLoop, "create_task", creating),
        ):
            before = sys.getprofile()
            threading.setprofile(self._called)
            sys.setprofile(self._called)
            try:
                yield
            finally:
                sys.setprofile(before)
                threading.setprofile(None)

    def _called(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name in self._names:
            step = self.step_of(code)
            if step in self._steps:
                self.ways[step] = self._way(frame)

    def _way(self, frame: FrameType | None) -> list[Step]:
        way: list[Step] = []
        while frame is not None:
            place = self.step_of(frame.f_code)
            if place is not None:
                way.append(place)
            frame = frame.f_back
        return [*self._past(), *reversed(way)]

    def _past(self) -> list[Step]:
        try:
            task = asyncio.current_task()
        except RuntimeError:
            task = None
        thread = threading.current_thread()
        return self._pasts.get(task) or self._pasts.get(thread) or []

    def _remember(self, started: object) -> None:
        """Keep where a thread or task begins, if a function of ours starts it."""
        frame: FrameType | None = sys._getframe(2)  # whoever called start or create_task
        while frame is not None and frame.f_globals.get("__name__", "").startswith("asyncio"):
            frame = frame.f_back
        if frame is not None and self.step_of(frame.f_code) is not None:
            self._pasts[started] = self._way(frame)

    def step_of(self, code: CodeType) -> Step | None:
        """Return the file and name of a function of ours; None for a module as it is imported, and for others."""
        if code not in self._places:
            path = Path(code.co_filename)
            ours = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PACKAGES
            inside = ours and code.co_name != "<module>"
            self._places[code] = (path.relative_to(ROOT).as_posix(), code.co_name) if inside else None
        return self._places[code]


# the journeys

PAGE = (ROOT / "docs" / "internals" / "architecture.md").read_text("utf-8")
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


@pytest.mark.thorough
def test_run_and_429_go_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    again = error(429, headers={"retry-after": "0"})
    with serving(lambda asked: translated(asked) if asked.number else again) as server, trace.watching():
        chat = ("--method", "chat", "--endpoint", server.url, "--model", "m")
        with pytest.raises(SystemExit) as ended:
            main(["run", str(corpus), *languages, *chat])
    assert not ended.value.code
    assert len(server.asked) == 2
    assert_as_stated(trace, RUN, first="rosetta_tui/commands/run.py")
    assert_as_stated(trace, REFUSED, first="harness/run/call_runner.py")


class Speaker(io.StringIO):
    """Reads what the line face printed, and types the answer to it; hangs up when the ratings are handed in."""

    def __init__(self, code: str, stick: Path) -> None:
        super().__init__()
        self.printed = io.StringIO()
        self._read = 0
        self._stick = f"1: {stick}"
        self._answers = {
            "Are they the same?": "1", "Type the code from your card": code,
            "What you agree to": "1", "Did you take part in making the translation program?": "3", "That was the last one": "x", self._stick: "1",
        }  # fmt: skip

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


def test_request_is_begun_in_few_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first 400 calls do not go to and fro between files: calls in one file after another are one stay there.

    A request is checked once, its method is built once, and it begins; what was loaded and cached before is not counted. A
    climb is a stay in a package above that of the stay before.
    """
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    corpus = api.open_corpus(api.CorpusRequest(sample_path(demo_files(TRANSLATION)[0])))
    told = {"endpoint": "http://127.0.0.1:9/v1", "model": "m", "metrics": "chrf_plus_plus,exact_match_rate"}
    request = api.ask(corpus, "chat", told, Selection(limit=40))
    api.start(tmp_path / "rosetta.sqlite", request)
    trace = Trace(())
    files: list[str] = []

    def called(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and not frame.f_code.co_name.startswith("<") and (step := trace.step_of(frame.f_code)):
            files.append(step[0])

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        api.start(tmp_path / "rosetta.sqlite", request)
    finally:
        sys.setprofile(before)
    stays = [file for file, _ in groupby(files[:400])]
    rooms = {file.rpartition("/")[0] for file in stays}
    levels = [PACKAGES.index(file.partition("/")[0]) for file in stays]
    assert len(stays) <= 36, "\n".join(stays)
    assert len(rooms) <= 12
    assert sum(level > before for before, level in pairwise(levels)) <= 3, "\n".join(stays)
    assert len([*groupby(files)]) <= 146, "the whole walk"
