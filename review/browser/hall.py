"""A review in a hall: the page and a place for answers, for phones on the organiser's own network.

Each person has a link with a token, which the first phone that opens it takes. Answers arrive sealed for the
organisation, as the files of ratings that they are, and are acknowledged once the disk has them. Nothing is ever
replaced by less: the newest files of each person are kept one beside the other.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import re
import secrets
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import Any, Final
from urllib.parse import urlencode

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from harness.core.failures import UsageError
from harness.core.storage import append_line, private_folder, sync_folder, write_file
from harness.sealed.sealing import Lock, lock_of

MOST_BYTES: Final = 4_000_000  # Of one file of answers
KEPT: Final = 5  # Files of each person that are kept; each holds all that those before it hold
JOURNAL: Final = "hall.jsonl"
SUFFIX: Final = ".rosetta-ratings"
_SECRET: Final = re.compile("[0-9a-f]{64}")
_PER_SECOND: Final = 5  # Requests from one address
_BURST: Final = 30

HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass
class Seat:
    """What one person has in the hall."""

    number: int
    code: str
    token: str
    phone: str = ""  # SHA-256 of the secret of the phone that took it; empty: free
    files: int = 0  # How many files have arrived
    answers: int = 0  # As the phone counts them: nobody here can open the files

    def link(self, address: str) -> str:
        """Return what the person opens; a browser sends nothing that stands behind the #."""
        return f"{address}/#{urlencode({'t': self.token, 'c': self.code})}"


@dataclass
class Hall:
    """Who has which seat, and what arrived; all of it is in a folder, so that a killed program can continue."""

    folder: Path
    seats: list[Seat]
    changed: Callable[[Seat], None] = lambda _: None
    """Called with a seat after a phone took it or sent something."""
    _end: int = 0  # Bytes of the journal
    _rates: dict[str, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path, batch: str, codes: Sequence[str]) -> Hall:
        """Open the hall of a batch, with a seat for each code; made where it is not there.

        UsageError where the folder is of another batch, or its journal was changed.
        """
        private_folder(folder)
        journal = folder / JOURNAL
        hall = cls(folder, [])
        if not journal.exists():
            seats = [{"code": code, "token": secrets.token_urlsafe(16)} for code in codes]
            hall._note({"batch": batch, "seats": seats})
        lines = journal.read_bytes().splitlines(keepends=True)
        try:
            begun = json.loads(lines[0])
            if begun["batch"] != batch:
                raise UsageError(f"{folder} holds answers to another batch. Name another folder with --into.")
            hall.seats = [Seat(n, seat["code"], seat["token"]) for n, seat in enumerate(begun["seats"], 1)]
            hall._end = len(lines[0])
            for line in lines[1:]:
                if not line.endswith(b"\n"):
                    break  # it was never acknowledged
                hall._apply(json.loads(line))
                hall._end += len(line)
        except (ValueError, LookupError, TypeError) as error:
            raise UsageError(f"{journal} was changed: {error}. Move it away; the answers next to it stay.") from error
        for seat in hall.seats:
            names = [int(path.stem) for path in hall._folder(seat).glob(f"[0-9]*{SUFFIX}")]
            seat.files = max(names, default=0)
        return hall

    def join(self, token: str, secret: str) -> Seat | None:
        """Return the seat of a token, which the phone with this secret has from now on; None where it may not."""
        if seat := self.seat_of(secret):
            return seat
        seat = next((seat for seat in self.seats if hmac.compare_digest(seat.token.encode(), token.encode())), None)
        if seat is None or seat.phone:  # another phone's
            return None
        phone = _digest(secret)
        self._note({"seat": seat.number, "phone": phone})
        seat.phone = phone
        self.changed(seat)
        return seat

    def free(self, number: int) -> str:
        """Free a seat for the next phone, with a new token, and return that token."""
        seat = self.seats[number - 1]
        token = secrets.token_urlsafe(16)
        self._note({"seat": number, "token": token})
        seat.token, seat.phone = token, ""
        return token

    def seat_of(self, secret: str) -> Seat | None:
        """Return the seat that the phone with this secret has."""
        phone = _digest(secret)
        return next((seat for seat in self.seats if seat.phone and hmac.compare_digest(seat.phone, phone)), None)

    def take(self, seat: Seat, data: bytes, answers: int) -> str:
        """Store a file of answers and return its SHA-256; the disk has it then. ValueError for what is no such file."""
        if lock_of(data) is not Lock.KEYS:
            raise ValueError("This is no sealed file of answers.")
        folder, digest = private_folder(self._folder(seat)), sha256(data).hexdigest()
        last = folder / f"{seat.files:06}{SUFFIX}"
        if not (seat.files and last.exists() and last.read_bytes() == data):
            write_file(folder / f"{seat.files + 1:06}{SUFFIX}", data, overwrite=False)
            sync_folder(folder)
            seat.files += 1
            for path in folder.iterdir():  # older ones, and what a killed program left half written
                if not (path.name.endswith(SUFFIX) and path.stem.isdigit() and int(path.stem) > seat.files - KEPT):
                    path.unlink()
        seat.answers = max(seat.answers, answers)
        self.changed(seat)
        return digest

    def newest(self) -> list[Path]:
        """Return the newest file of each person who sent one."""
        return [self._folder(seat) / f"{seat.files:06}{SUFFIX}" for seat in self.seats if seat.files]

    def may_ask(self, who: str) -> bool:
        """Return whether somebody has not asked too often: a burst, then a few requests a second."""
        now = time.monotonic()
        left, since = self._rates.get(who, (float(_BURST), now))
        left = min(float(_BURST), left + (now - since) * _PER_SECOND)
        if len(self._rates) > 1_000:
            self._rates.clear()
        self._rates[who] = (max(0.0, left - 1), now)
        return left >= 1

    def _folder(self, seat: Seat) -> Path:
        return self.folder / f"person-{seat.number:02}"

    def _note(self, entry: Mapping[str, object]) -> None:
        line = json.dumps(entry).encode() + b"\n"
        append_line(self.folder / JOURNAL, self._end, line)
        self._end += len(line)

    def _apply(self, entry: Mapping[str, str | int]) -> None:
        seat = self.seats[int(entry["seat"]) - 1]
        if "token" in entry:
            seat.token, seat.phone = str(entry["token"]), ""
        else:
            seat.phone = str(entry["phone"])


def application(hall: Hall, page: bytes) -> web.Application:
    """Return what answers the phones: the page, a seat for a token, a receipt for a file; nothing else is there."""

    async def show(_: web.Request) -> web.Response:
        return _reply(body=page, content_type="text/html", charset="utf-8")

    async def join(request: web.Request) -> web.Response:
        given = await _given(request)
        token, secret = given.get("token"), given.get("secret")
        if not (isinstance(token, str) and isinstance(secret, str) and _SECRET.fullmatch(secret)):
            return _reply(status=400)
        seat = hall.join(token, secret)
        return _reply(status=403) if seat is None else _reply(text=str(seat.number))

    async def answers(request: web.Request) -> web.Response:
        secret = request.headers.get("Authorization", "").removeprefix("Bearer ")
        seat = hall.seat_of(secret) if _SECRET.fullmatch(secret) else None
        if seat is None:
            return _reply(status=403)
        counted = request.headers.get("Rosetta-Answers", "")
        try:
            digest = hall.take(seat, await request.read(), int(counted) if re.fullmatch("[0-9]{1,6}", counted) else 0)
        except ValueError:
            return _reply(status=400)
        except UsageError:  # the disk is full or gone: the phone keeps the answers and tries again
            return _reply(status=507)
        return _reply(text=digest)

    app = web.Application(client_max_size=MOST_BYTES, middlewares=[_limited(hall)])
    app.router.add_get("/", show)
    app.router.add_post("/join", join)
    app.router.add_post("/answers", answers)
    return app


def _limited(hall: Hall) -> Middleware:
    """Return what refuses those who ask too often, and says of what fails no more than its number."""

    @web.middleware
    async def limited(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not hall.may_ask(request.remote or ""):
            return _reply(status=429)
        try:
            return await handler(request)
        except web.HTTPException as refused:
            return _reply(status=refused.status)

    return limited


@asynccontextmanager
async def serving(hall: Hall, page: bytes, listening: socket.socket) -> AsyncIterator[None]:
    """Answer phones at a listening socket inside the block."""
    runner = web.AppRunner(application(hall, page), access_log=None)
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        yield
    finally:
        await runner.cleanup()


def run(hall: Hall, page: bytes, listening: socket.socket, typed: Callable[[str], None]) -> None:
    """Answer phones until a signal ends it; ``typed`` is called with each line of the terminal, where there is one."""
    asyncio.run(_run(hall, page, listening, typed))


async def _run(hall: Hall, page: bytes, listening: socket.socket, typed: Callable[[str], None]) -> None:
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[str | None]()
    with suppress(NotImplementedError):  # on Windows, where Ctrl-C is a KeyboardInterrupt
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, lines.put_nowait, None)
    async with serving(hall, page, listening):
        if sys.stdin.isatty():
            Thread(target=_read_lines, args=(loop, lines), daemon=True).start()
        while (line := await lines.get()) is not None:
            typed(line)


def _read_lines(loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[str | None]) -> None:
    """Pass on what is typed until the program ends, which waits for nobody to type."""
    with suppress(RuntimeError, OSError):  # the loop has ended, or the terminal is gone
        while typed := os.read(sys.stdin.fileno(), 1000):
            loop.call_soon_threadsafe(lines.put_nowait, typed.decode(errors="replace"))


async def _given(request: web.Request) -> Mapping[str, object]:
    try:
        given = json.loads((await request.content.read(2_000)).decode())
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def _reply(**given: Any) -> web.Response:
    return web.Response(headers=HEADERS, **given)


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
