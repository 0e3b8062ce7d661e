"""Which files a thing passes on its way: those whose functions are under way when one of its steps is reached."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest.mock import patch

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
            step = self._place(code)
            if step in self._steps:
                self.ways[step] = self._way(frame)

    def _way(self, frame: FrameType | None) -> list[Step]:
        way: list[Step] = []
        while frame is not None:
            place = self._place(frame.f_code)
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
        if frame is not None and self._place(frame.f_code) is not None:
            self._pasts[started] = self._way(frame)

    def _place(self, code: CodeType) -> Step | None:
        """Return the file and name of a function of ours; None for a module as it is imported, and for others."""
        if code not in self._places:
            path = Path(code.co_filename)
            ours = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PACKAGES
            inside = ours and code.co_name != "<module>"
            self._places[code] = (
                (path.relative_to(ROOT).as_posix(), code.co_name) if inside else None
            )
        return self._places[code]
