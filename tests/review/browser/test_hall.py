"""The hall: seats, receipts, kills, and who is refused; a real server on this machine and real sockets."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import aiohttp
import pytest

from harness.core.failures import UsageError
from harness.sealed.sealing import seal
from review.browser.hall import JOURNAL, KEPT, MOST_BYTES, Hall, Seat
from tests.review.thorough import times

RECIPIENTS = ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"]
CODES = [f"AAAA-{n:04}" for n in range(20)]
SECRETS = [sha256(bytes([n])).hexdigest() for n in range(30)]
SERVER = """
import asyncio, socket, sys
from pathlib import Path
from review.browser.hall import Hall, serving
async def run():
    listening = socket.create_server((sys.argv[2], int(sys.argv[3])))
    async with serving(Hall.open(Path(sys.argv[1]), "batch", sys.argv[4:]), b"<p>page</p>", listening):
        print("ready", flush=True)
        await asyncio.Event().wait()
asyncio.run(run())
"""


def answers(number: int) -> bytes:
    """Return a sealed file that stands for all answers up to a number."""
    return seal(str(number).encode(), RECIPIENTS)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def start(folder: Path, port: int, codes: list[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-P", "-c", SERVER, str(folder), "127.0.0.1", str(port), *codes]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    assert server.stdout.readline() == "ready\n"
    return server


def stop(server: subprocess.Popen[str]) -> None:
    server.send_signal(signal.SIGKILL)
    server.communicate()


async def phone(number: int, url: str, token: str, count: int, sent: list[tuple[int, int]]) -> None:
    """Join and send ``count`` files, each until it is acknowledged, as the page does."""
    connector = aiohttp.TCPConnector(local_addr=(f"127.0.1.{number + 1}", 0), force_close=True)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask(path: str, headers: dict[str, str], data: bytes) -> str:
            while True:
                try:
                    async with session.post(url + path, data=data, headers=headers) as answer:
                        if answer.status == 200:
                            return await answer.text()
                        assert answer.status == 429, answer.status
                except aiohttp.ClientError:
                    pass
                await asyncio.sleep(0.02)

        given = {"token": token, "secret": SECRETS[number]}
        await ask("/join", {}, json.dumps(given).encode())
        for at in range(1, count + 1):
            data = answers(at)
            headers = {"Authorization": f"Bearer {SECRETS[number]}", "Rosetta-Answers": str(at)}
            assert await ask("/answers", headers, data) == sha256(data).hexdigest()
            sent.append((number, at))


@pytest.mark.costly
def test_a_server_that_is_killed_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    phones, count, kills = times(4, 20), times(12, 100), times(2, 50)
    folder, port, codes = tmp_path / "hall", free_port(), CODES[:phones]
    tokens = [seat.token for seat in Hall.open(folder, "batch", codes).seats]
    sent: list[tuple[int, int]] = []
    chance = random.Random(7)

    async def sitting() -> None:
        server = start(folder, port, codes)
        url = f"http://127.0.0.1:{port}"
        everyone = asyncio.gather(*(phone(n, url, tokens[n], count, sent) for n in range(phones)))
        for kill in range(1, kills + 1):
            goal = kill * phones * count // (kills + 1) + chance.randrange(3)
            while len(sent) < goal and not everyone.done():
                await asyncio.sleep(0.002)
            stop(server)
            kept = {seat.number - 1: seat.files for seat in Hall.open(folder, "batch", codes).seats}
            for number, at in sent:
                assert kept[number] >= at
            server = await asyncio.to_thread(start, folder, port, codes)
        await everyone
        stop(server)

    asyncio.run(sitting())
    hall = Hall.open(folder, "batch", codes)
    assert len(hall.newest()) == phones
    assert all(len([*path.parent.iterdir()]) <= KEPT for path in hall.newest())


def test_a_link_is_for_the_first_phone_that_opens_it(tmp_path: Path) -> None:
    hall = Hall.open(tmp_path, "batch", CODES[:2])
    first, second = hall.seats
    assert hall.join(first.token, SECRETS[0]) is first
    assert hall.join(first.token, SECRETS[0]) is first  # its answer was lost on the way
    assert hall.join(first.token, SECRETS[1]) is None
    assert hall.join("", SECRETS[1]) is None
    assert hall.seat_of(SECRETS[1]) is None
    again = Hall.open(tmp_path, "batch", CODES[:2])  # after a restart
    assert again.join(first.token, SECRETS[1]) is None
    token = again.free(1)
    assert again.seat_of(SECRETS[0]) is None
    assert again.join(first.token, SECRETS[1]) is None
    assert Hall.open(tmp_path, "batch", CODES[:2]).join(token, SECRETS[1]) == Seat(1, CODES[0], token, sha256(SECRETS[1].encode()).hexdigest())  # fmt: skip
    assert again.seat_of(second.token) is None


def test_what_stood_is_never_replaced_by_less(tmp_path: Path) -> None:
    hall = Hall.open(tmp_path, "batch", CODES[:1])
    seat = hall.join(hall.seats[0].token, SECRETS[0])
    assert seat is not None
    files = [answers(n) for n in range(8)]
    for data in (*files, files[-1]):
        assert hall.take(seat, data, 3) == sha256(data).hexdigest()
    kept = sorted(path.read_bytes() for path in (tmp_path / "person-01").iterdir())
    assert kept == sorted(files[-KEPT:])
    assert hall.newest()[0].read_bytes() == files[-1]


@pytest.mark.parametrize("data", [b"", b"PK\3\4", b"age-encryption.org/v1\n-> scrypt x 18\n", b"<script>"])
def test_only_files_sealed_for_keys_are_kept(tmp_path: Path, data: bytes) -> None:
    hall = Hall.open(tmp_path, "batch", CODES[:1])
    with pytest.raises(ValueError, match="no sealed file"):
        hall.take(hall.seats[0], data, 1)
    assert hall.newest() == []


def test_another_batch_and_a_changed_journal_are_refused(tmp_path: Path) -> None:
    hall = Hall.open(tmp_path, "batch", CODES[:1])
    with pytest.raises(UsageError, match="another batch"):
        Hall.open(tmp_path, "other", CODES[:1])
    journal = tmp_path / JOURNAL
    whole = journal.read_bytes()
    hall.join(hall.seats[0].token, SECRETS[0])
    joined = journal.read_bytes()
    journal.write_bytes(joined[:-1])  # the last write was cut off, and nobody was told that it had ended
    assert Hall.open(tmp_path, "batch", CODES[:1]).seats[0].phone == ""
    journal.write_bytes(whole + b'{"seat": 9, "phone": "x"}\n')
    with pytest.raises(UsageError, match="was changed"):
        Hall.open(tmp_path, "batch", CODES[:1])


def test_nothing_else_is_there_and_too_much_is_refused(tmp_path: Path) -> None:
    port = free_port()
    hall = Hall.open(tmp_path / "hall", "batch", CODES[:1])
    server = start(tmp_path / "hall", port, CODES[:1])

    async def tried() -> list[int]:
        url, found = f"http://127.0.0.1:{port}", []
        async with aiohttp.ClientSession() as session:
            async with session.get(url + "/") as page:
                assert await page.text() == "<p>page</p>"
                assert page.headers["Cache-Control"] == "no-store"
            joined = json.dumps({"token": hall.seats[0].token, "secret": SECRETS[0]}).encode()
            bearer = {"Authorization": f"Bearer {SECRETS[0]}"}
            for method, path, headers, data in (
                ("GET", "/hall.jsonl", {}, b""),
                ("GET", "/../hall.jsonl", {}, b""),
                ("GET", "/answers", bearer, b""),
                ("POST", "/", {}, b""),
                ("POST", "/join", {}, b"[1]"),
                ("POST", "/join", {}, b"\xff"),
                ("POST", "/join", {}, json.dumps({"token": "x", "secret": SECRETS[0]}).encode()),
                ("POST", "/answers", bearer, answers(1)),  # not joined yet
                ("POST", "/join", {}, joined),
                ("POST", "/answers", bearer, answers(1)),
                ("POST", "/answers", {"Authorization": "Bearer x"}, answers(1)),
                ("POST", "/answers", bearer, BytesIO(bytes(MOST_BYTES + 1))),
                ("POST", "/answers", bearer, b"x"),
            ):
                async with session.request(method, url + path, headers=headers, data=data) as answer:
                    found.append(answer.status)
            statuses = set()
            for _ in range(60):
                async with session.get(url + "/") as answer:
                    statuses.add(answer.status)
            assert 429 in statuses
        return found

    try:
        assert asyncio.run(tried()) == [404, 404, 405, 405, 400, 400, 403, 403, 200, 200, 403, 413, 400]
    finally:
        stop(server)
    assert os.listdir(tmp_path / "hall" / "person-01") == ["000001.rosetta-ratings"]  # noqa: PTH208
