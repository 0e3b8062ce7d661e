"""One box while it runs: begun, asked, and ended from outside, whatever the method within does."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from corpora.files.json_types import JsonObject
from harness.box.engine import BoxEngine, BoxFailure, BoxStage, ExitReason, Inside, Limits

_LAST_SECONDS = 10.0
"""Until the last process of a box that was killed is gone."""
_ENDING_SECONDS = 60.0
"""For the command that ends a box, where killing what was started does not."""
_MOST_WORDS = 8192
"""Bytes of what a method over open data prints that are kept for the custodian."""


class BoxProcess:
    """A method in its box, from its start to its end. Belongs to one event loop; one question at a time.

    Each failure ends the box: what it might still say would be taken for an answer to the next question.
    """

    def __init__(self, engine: BoxEngine, inside: Inside, limits: Limits, *, keep_words: bool) -> None:
        self._inside = inside
        self._limits = limits
        self._keep_words = keep_words
        self._engine = engine
        self._open = ExitStack()
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._words = bytearray()
        self._ending: Sequence[str] = ()

    @property
    def words(self) -> str:
        """Return the end of what the method wrote to its standard error; empty unless the data is open."""
        return self._words.decode("utf-8", "replace")

    async def start(self) -> None:
        """Start the box and have it install and load the method; raises BoxFailure."""
        code = self._inside.code
        begin: JsonObject = {"entry": code.entry, "options": dict(code.options), "wheels": code.wheels is not None}
        try:
            await self._begin(begin)
            await self._reach("installed", BoxStage.INSTALL, self._limits.install_seconds)
            await self._reach("ready", BoxStage.LOAD, self._limits.load_seconds)
        except BaseException:
            await self.end()
            raise

    async def _begin(self, begin: JsonObject) -> None:
        pipe, nowhere = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        try:
            launch = self._open.enter_context(self._engine.launch(self._inside, self._limits))
            self._process = await asyncio.create_subprocess_exec(
                *launch.argv,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe if self._keep_words else nowhere,
                pass_fds=launch.descriptors,
                env=launch.environment,
                cwd="/",
                start_new_session=True,
                limit=self._limits.line_bytes,
            )
        except OSError:  # the disk is full, a program is gone: whatever it is, it is not the method's
            raise BoxFailure(BoxStage.ENGINE) from None
        self._ending = launch.end
        if self._process.stderr is not None:
            self._listening = asyncio.create_task(self._listen(self._process.stderr))
        first_message = {**begin, "limits": launch.limits, "places": launch.places}
        # Show what is begun; an engine that hears nothing would else hold a long line up for ever.
        try:
            async with asyncio.timeout(self._limits.load_seconds):
                await self._say([first_message], BoxStage.ENGINE)
        except TimeoutError:
            raise BoxFailure(BoxStage.ENGINE, ExitReason.TOO_LONG) from None
        await self._reach("inside", BoxStage.ENGINE, self._limits.load_seconds)

    async def ask(self, sources: Sequence[str]) -> list[str | None]:
        """Return a translation of each text, or None where the method gives none; raises BoxFailure and ends the box."""
        ids = [secrets.token_hex(8) for _ in sources]
        lines = [{"id": id_, "source": text} for id_, text in zip(ids, sources, strict=True)]
        try:
            async with asyncio.timeout(self._limits.entry_seconds * len(sources)):
                await self._say([*lines, None], BoxStage.TRANSLATE)
                answers = [await self._answer(id_) for id_ in ids]
        except TimeoutError:
            await self.end()
            raise BoxFailure(BoxStage.TRANSLATE, ExitReason.TOO_LONG) from None
        except BaseException:
            await self.end()
            raise
        return answers

    async def _answer(self, expected: str) -> str | None:
        line = await self._hear(BoxStage.TRANSLATE)
        text = line.get("text")
        fits = isinstance(text, str) and len(text) <= self._limits.answer_characters
        if line.keys() != {"id", "text"} or line["id"] != expected or not (text is None or fits):
            raise BoxFailure(BoxStage.TRANSLATE, ExitReason.MALFORMED)
        return text if isinstance(text, str) else None

    async def _reach(self, state: str, stage: BoxStage, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                line = await self._hear(stage)
        except TimeoutError:
            raise BoxFailure(stage, ExitReason.TOO_LONG) from None
        if line != {"state": state}:
            raise BoxFailure(stage, ExitReason.MALFORMED)

    async def _say(self, lines: Sequence[JsonObject | None], stage: BoxStage) -> None:
        """Write lines; None is an empty one, which ends a request."""
        pipe = self._running.stdin
        assert pipe is not None  # noqa: S101  it was started with one
        try:
            pipe.writelines([b"\n" if line is None else json.dumps(line).encode() + b"\n" for line in lines])
            await pipe.drain()
        except (BrokenPipeError, ConnectionResetError):
            raise BoxFailure(stage) from None

    async def _hear(self, stage: BoxStage) -> JsonObject:
        pipe = self._running.stdout
        assert pipe is not None  # noqa: S101  as above
        try:
            line = await pipe.readuntil(b"\n")
            message = json.loads(line)
        except asyncio.IncompleteReadError:
            raise BoxFailure(stage) from None
        except (asyncio.LimitOverrunError, ValueError, RecursionError):
            raise BoxFailure(stage, ExitReason.MALFORMED) from None
        if not isinstance(message, dict):
            raise BoxFailure(stage, ExitReason.MALFORMED)
        return message

    async def _listen(self, pipe: asyncio.StreamReader) -> None:
        while chunk := await pipe.read(_MOST_WORDS):
            self._words += chunk
            del self._words[:-_MOST_WORDS]

    @property
    def _running(self) -> asyncio.subprocess.Process:
        assert self._process is not None  # noqa: S101  start() comes first
        return self._process

    async def end(self) -> None:
        """Kill the box and all that it began; harmless where it is over.

        Where the engine has no namespace for processes, one that started its own session lives on.
        """
        process, self._process = self._process, None
        try:
            if process is not None:
                # the whole group that it was started in, also where its first process is gone; macOS says of zombies alone that
                # they are not permitted
                with suppress(ProcessLookupError, PermissionError):
                    if sys.platform == "win32":
                        process.kill()
                    else:
                        os.killpg(process.pid, signal.SIGKILL)
                if process.stdin is not None:
                    process.stdin.close()
                await _carried_out(self._ending)
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LAST_SECONDS):
                        while process.stdout is not None and await process.stdout.read(1 << 16):
                            pass  # what is left in the pipe, until the last process that held it is gone
                        if self._listening is not None:
                            await self._listening
                        await process.wait()
        finally:
            with suppress(OSError):  # what still writes into a folder keeps it from being removed
                self._open.close()


async def _carried_out(command: Sequence[str]) -> None:
    if not command:
        return
    nowhere = asyncio.subprocess.DEVNULL
    with suppress(OSError, TimeoutError):
        ending = await asyncio.create_subprocess_exec(*command, stdin=nowhere, stdout=nowhere, stderr=nowhere)
        async with asyncio.timeout(_ENDING_SECONDS):
            await ending.wait()
