"""A real HTTP server on this machine that answers as a test tells it to, well or badly."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: Any
    at: float
    """Monotonic seconds."""
    number: int
    """0-based place in the order of arrival."""

    @property
    def source(self) -> str:
        """The last message, which holds the entry's source."""
        text: str = self.body["messages"][-1]["content"]
        return text


@dataclass(frozen=True)
class Answer:
    """What goes back."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    """Time until the answer begins."""
    until: Callable[[], bool] | None = None
    """What holds the answer back until it is so."""
    cut_after: int | None = None
    """Bytes of the body after which the connection is broken; 0: before the head."""
    drip: float = 0.0
    """Seconds between the single bytes of the body."""
    raw: bytes | None = None
    """Sent instead of everything else."""


def json_answer(value: Any, status: int = 200, **more: Any) -> Answer:
    return Answer(status, json.dumps(value).encode(), **more)


def completion(text: str | None, **more: Any) -> dict[str, Any]:
    """A chat-completions reply with 20 + 10 tokens."""
    choice = {
        "index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop",
    }  # fmt: skip
    usage = {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}
    return {"model": "mock-1", "choices": [choice], "usage": usage} | more


def error(status: int, message: str = "no", headers: dict[str, str] | None = None) -> Answer:
    return json_answer({"error": {"message": message}}, status, headers=headers or {})


def translated(asked: Asked, **more: Any) -> Answer:
    """Answer with the last message in capitals."""
    return json_answer(completion(asked.source.upper()), **more)


def price_table(folder: Path, prices: Mapping[str, tuple[float, float]]) -> Path:
    """Write a price table of this server: model → US dollars of a million tokens in and out."""
    rows = (
        f'[[price]]\nprovider = "127.0.0.1"\nmodel = "{model}"\nas_of = 2026-01-01\n'
        f"input_per_million = {asked}\noutput_per_million = {answered}\n"
        for model, (asked, answered) in prices.items()
    )
    path = folder / "prices.toml"
    path.write_text('source = "made for this test"\n' + "".join(rows), "utf-8")
    return path


class Scripted:
    """Serves until it is closed; ``answer`` may be exchanged at any time."""

    def __init__(self, answer: Callable[[Asked], Answer] = translated) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        self.under_way = 0
        self.most_under_way = 0
        self.url = ""
        self.port = 0

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        content = await reader.readexactly(int(headers.get("content-length", "0")))
        path, now = first.split(" ")[1], time.monotonic()
        body = json.loads(content.decode("utf-8", "surrogatepass")) if content else None
        asked = Asked(path, headers, body, now, len(self.asked))
        self.asked.append(asked)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            return await self._send(self.answer(asked), writer)
        finally:
            self.under_way -= 1

    async def _send(self, answer: Answer, writer: asyncio.StreamWriter) -> bool:
        if answer.seconds:
            await asyncio.sleep(answer.seconds)
        while answer.until is not None and not answer.until():
            await asyncio.sleep(0.01)
        if answer.raw is not None:
            writer.write(answer.raw)
            return False
        if answer.cut_after == 0:
            return False
        headers = {"content-type": "application/json", **answer.headers}
        headers.setdefault("content-length", str(len(answer.body)))
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {answer.status} Scripted\r\n{head}\r\n".encode())
        if answer.drip:
            for byte in answer.body:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(answer.drip)
        writer.write(answer.body[: answer.cut_after] if not answer.drip else b"")
        await writer.drain()
        return answer.cut_after is None


@contextmanager
def serving(answer: Callable[[Asked], Answer] = translated, host: str = "127.0.0.1", port: int = 0) -> Iterator[Scripted]:  # fmt: skip
    """Serve on a port, a free one where none is given, until the block ends."""
    state, ready, over = Scripted(answer), threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        talks: set[asyncio.Task[None]] = set()
        open_ends: set[asyncio.StreamWriter] = set()

        def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(state.talk(reader, writer))
            talks.add(task)
            open_ends.add(writer)
            task.add_done_callback(talks.discard)

        server = await asyncio.start_server(talk, host, port, limit=2**26)
        state.port = server.sockets[0].getsockname()[1]
        name = f"[{host}]" if ":" in host else host
        state.url = f"http://{name}:{state.port}/v1"
        loops.append(asyncio.get_running_loop())
        ready.set()
        await over.wait()
        for _ in range(4):  # rounds of the loop in which whoever knocked is let in and talks:
            await asyncio.sleep(0)  # asyncio forgets the sockets of those it turns away
        server.close()
        for task in talks:
            task.cancel()
        await asyncio.gather(*talks, return_exceptions=True)
        for writer in open_ends:
            writer.transport.abort()
        await asyncio.gather(*(end.wait_closed() for end in open_ends), return_exceptions=True)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="scripted", daemon=True)
    thread.start()
    assert ready.wait(600)
    try:
        yield state
    finally:
        loops[0].call_soon_threadsafe(over.set)
        thread.join(600)
