"""A method of others in a box, as a ``Method``: it gets sources alone, under ids made up for each call, and gives texts.

The box itself is begun, asked and ended from outside, whatever the method within does.
"""

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
from corpora.model.entry import Entry
from harness.box.engine import BoxedCode, BoxEngine, BoxFailure, BoxStage, ExitReason, Inside, Limits, WhoseFault
from harness.box.gateway import Gateway, GatewayServer
from harness.core.calls import Calls
from harness.core.failures import ErrorClass, UsageError
from harness.core.storage import storable
from harness.method.method import Output, Setup

# ---- One box while it runs.

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
        first_message = {**begin, "limits": dict(launch.limits), "places": launch.places}
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


# ---- The method in that box: sources alone, under ids made up for each call.


_NOTHING = Output(None, ErrorClass.EMPTY, "The method gave no translation of this text.")


class BoxedMethod:
    """Runs code of others for one run: begun at the first text, asked one call at a time, ended by ``close_box``.

    A call that fails costs its own entries, and the box is begun again for the next one, ``limits.restarts`` times. A failure
    that is the custodian's to fix raises BoxFailure: the method was not judged, and the run stops.
    """

    def __init__(
        self,
        code: BoxedCode,
        limits: Limits,
        engine: BoxEngine,
        gateway: Gateway | None,
        setup: Setup,
        *,
        open_data: bool,
    ) -> None:
        self.setup = setup
        self.endpoint = None if gateway is None else gateway.url
        self._code = code
        self._limits = limits
        self._engine = engine
        self._gateway = gateway
        self._open_data = open_data
        self._turn = asyncio.Lock()
        self._server: GatewayServer | None = None
        self._box: BoxProcess | None = None
        self._begun = 0
        self._until: float | None = None
        self._over: BoxFailure | None = None
        """What every further text fails by."""
        self.failure: BoxFailure | None = None
        """The last failure of the run; None: there was none."""
        self.asked = 0
        """Questions that went to the models of the gateway, of boxes that are ended."""
        self.words = ""
        """The end of what the method wrote to standard error before it last failed; empty unless the data is open."""

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> Sequence[Output]:
        """Translate the entries' sources in one call of the method; see ``Method``."""
        if self._open_data and any(entry.secret for entry in entries):
            raise UsageError("A rehearsal keeps what a method prints, so it is for open entries only.")
        async with self._turn:
            try:
                return await self._translated(entries, calls)
            except BoxFailure as failure:
                self.failure = failure
                if failure.fault is WhoseFault.CUSTODIAN:
                    raise
                return [Output(None, failure.error_class, str(failure))] * len(entries)

    async def close_box(self) -> None:
        """End the box and the gateway; nothing of them is left. See ``Boxed``."""
        box, self._box = self._box, None
        server, self._server = self._server, None
        if box is not None:
            await box.end()
            self.words = box.words or self.words
        if server is not None:
            await server.close()
            self.asked += server.asked

    async def _translated(self, entries: Sequence[Entry], calls: Calls) -> list[Output]:
        try:
            if self._until is None:
                self._until = asyncio.get_running_loop().time() + self._limits.all_seconds
            async with asyncio.timeout_at(self._until):
                texts = await self._asked(entries, calls)
        except TimeoutError:
            self._over = BoxFailure(BoxStage.TRANSLATE, ExitReason.TOO_LONG)
            await self.close_box()
            raise self._over from None
        except BaseException:
            await self.close_box()
            raise
        return [_NOTHING if text is None else Output(storable(text)) for text in texts]

    async def _asked(self, entries: Sequence[Entry], calls: Calls) -> list[str | None]:
        box = await self._ready()
        sources = [entry.source for entry in entries]
        server = self._server
        if server is None:
            return await box.ask(sources)
        server.open_for(calls, len(entries))
        try:
            texts = await box.ask(sources)
        except BoxFailure as failure:
            raise (BoxFailure(BoxStage.GATEWAY) if server.down else failure) from None
        finally:
            server.shut()
        if server.down:  # what it gave instead is no answer of the method as it is meant
            raise BoxFailure(BoxStage.GATEWAY)
        return texts

    async def _ready(self) -> BoxProcess:
        if self._box is not None:
            return self._box
        if self._over is None and self._begun > self._limits.restarts:
            self._over = BoxFailure(BoxStage.TRANSLATE, ExitReason.GAVE_UP)
        if self._over is not None:
            raise self._over
        self._begun += 1
        if self._gateway is not None:
            self._server = GatewayServer(self._gateway)
            try:
                await self._server.start()
            except OSError:
                raise BoxFailure(BoxStage.ENGINE) from None
        folder = None if self._server is None else self._server.socket_folder
        self._box = BoxProcess(self._engine, Inside(self._code, folder), self._limits, keep_words=self._open_data)
        try:
            await self._box.start()
        except BoxFailure as failure:
            self._over = failure  # what cannot be begun now cannot be begun later
            raise
        return self._box


def boxed_method(
    code: BoxedCode,
    limits: Limits,
    engine: BoxEngine,
    gateway: Gateway | None,
    setup: Setup,
    *,
    open_data: bool = False,
) -> BoxedMethod:
    """Return code of others as a method for one run. UsageError where the code cannot be run at all.

    One call of the method gets up to ``setup.batch_size`` texts. With ``open_data``, for a rehearsal, the end of what the
    method writes to standard error is kept in ``words``; otherwise it is written nowhere.
    """
    code.check()
    return BoxedMethod(code, limits, engine, gateway, setup, open_data=open_data)
