"""A method of others in a box, as a ``Method``: it gets sources alone, under ids made up for each call, and gives texts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from corpora.model.entry import Entry
from harness.box.engine import BoxedCode, BoxEngine, BoxFailure, BoxStage, ExitReason, Inside, Limits, WhoseFault
from harness.box.gateway import Gateway, GatewayServer
from harness.box.process import BoxProcess
from harness.core.calls import Calls
from harness.core.failures import ErrorClass, UsageError
from harness.core.storage import storable
from harness.method.method import Output, Setup

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
