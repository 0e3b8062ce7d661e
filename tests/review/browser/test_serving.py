"""``rosetta review serve`` with a real browser as the phone: from the link to ratings that the office takes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pexpect
import pytest

from harness.core.failures import UsageError
from review.browser.hall import JOURNAL
from review.files.batch import Batch, write_batch
from review.files.ratings import open_ratings
from review.log.event import read_event
from review.log.payloads import Kind
from review.office.intake.importing import find_ratings, import_files
from review.office.intake.speaking import FileOutcome
from review.rating import Rating
from rosetta_tui.commands.review import serve
from tests.review.browser.drivers import Browser
from tests.review.browser.sitting import PASSPHRASE, Sitting, answers
from tests.review.files import made
from tests.review.office.made import Desk, vouch_for

pytestmark = pytest.mark.costly("it starts a browser and the program")

SERVE = "import sys; from rosetta_tui.cli import main; main(['review', 'serve', *sys.argv[1:]])"


@asynccontextmanager
async def served(home: Path, batch: Path, port: int = 0) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """Serve a batch as the command does; yields the process and its address."""
    words = [str(batch), "--on", "127.0.0.1", "--port", str(port)]
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-c", SERVE, *words, stdout=-1, stderr=-1, stdin=-3, env={**os.environ, "ROSETTA_HOME": str(home)}
    )  # fmt: skip
    try:
        assert server.stdout is not None
        assert server.stderr is not None
        line = (await server.stdout.readline()).decode()
        found = re.search(r"http://\S+", line)
        assert found, (await server.stderr.read()).decode()
        yield server, found[0]
    finally:
        if server.returncode is None:
            server.kill()
        await server.communicate()


def links(home: Path, url: str) -> list[str]:
    """Return what the pictures hold."""
    [journal] = (home / "halls").glob(f"*/{JOURNAL}")
    seats = json.loads(journal.read_text().splitlines()[0])["seats"]
    return [f"{url}/#t={seat['token']}&c={seat['code']}" for seat in seats]


async def to_first_sentence(sitting: Sitting, link: str) -> None:
    await sitting.window.run(f"void (location.href = {json.dumps(link)})")
    await sitting.place("Before you begin")
    assert "t=" not in await sitting.window.run("location.href")
    await sitting.agree()


async def test_answers_of_a_phone_reach_the_office(window: Browser, reviewed: Desk, tmp_path: Path) -> None:
    home, batch = tmp_path / "office", tmp_path / "open.rosetta-batch"
    batch.write_bytes(write_batch(reviewed.batch))
    sitting = Sitting(window, batch, tmp_path / "downloads")
    sent = "All your answers are with the organiser."
    async with served(home, batch) as (server, url):
        await to_first_sentence(sitting, links(home, url)[0])
        for number in range(3):
            await sitting.rate("1234"[number])
        await sitting.says(sent)
        server.send_signal(signal.SIGKILL)
        await server.wait()
        await sitting.rate("4")  # kept on the phone
        await sitting.says("sent when the network is there")
    async with served(home, batch, int(url.rpartition(":")[2])) as (server, _):
        await sitting.says(sent)
        await window.run("void location.reload()")  # the same phone goes on without its link
        await sitting.place("Welcome back")
        await window.press("This is my card")
        await sitting.place("Sentence 5")  # whoever answered has no practice again
        await sitting.painted()
        await sitting.rate("3")
        await window.run("rosettaPage.session.withdraw('comments').then(() => 1)")
        await window.until("rosettaPage.hall._sent === rosettaPage.hall._wanted")
        await sitting.says(sent)
        server.send_signal(signal.SIGINT)
        said, complaints = await server.communicate()
        assert "1 of 2 people sent answers" in said.decode(), complaints.decode()
    [folder] = (home / "halls").iterdir()
    files = find_ratings([folder]).files
    newest = max(file.path for file in files).read_bytes()
    vouch_for(reviewed.office, reviewed.identity, newest)
    reports = [*import_files(reviewed.office, [reviewed.identity.age], files, now=datetime.now(UTC))]
    assert {report.outcome for report in reports} == {FileOutcome.TAKEN}
    ratings = open_ratings(newest, [reviewed.identity.age])
    assert any(read_event(line).kind == Kind.WITHDRAW for line in ratings.lines)
    rated = answers(ratings)
    assert rated == [Rating.REJECT, Rating.GIST, Rating.ACCEPTABLE, Rating.EXCELLENT, Rating.ACCEPTABLE]


def test_terminal_shows_links_frees_seats_and_ends(reviewed: Desk, tmp_path: Path) -> None:
    batch = tmp_path / "open.rosetta-batch"
    batch.write_bytes(write_batch(reviewed.batch))
    words = ["-P", "-c", SERVE, str(batch), "--on", "127.0.0.1", "--port", "0"]
    terminal = pexpect.spawn(
        sys.executable, words, env={**os.environ, "ROSETTA_HOME": str(tmp_path / "office")}, encoding="utf-8",
        dimensions=(60, 160), timeout=60,
    )  # fmt: skip
    terminal.expect("A number and Enter")
    terminal.sendline("2")
    terminal.expect(r"▀")
    terminal.expect(r"/#t=(\S+)&c=")
    before = terminal.match[1]
    terminal.sendline("free 2")
    terminal.expect("Person 2 has a new link")
    terminal.expect(r"/#t=(\S+)&c=")
    assert terminal.match[1] != before
    terminal.sendline("9")
    terminal.expect("Person 1: not here yet")
    terminal.sendintr()
    terminal.expect("Ended. Nobody sent an answer.")
    terminal.wait()
    assert terminal.exitstatus == 0


@pytest.mark.parametrize(
    ("batch", "words", "refusal"),
    [
        (made.batch(secret=True), PASSPHRASE, "is sealed"),
        (made.batch(), None, "no batch of this computer's"),
    ],
)
async def test_secret_and_foreign_batches_are_refused(tmp_path: Path, batch: Batch, words: str | None, refusal: str) -> None:  # fmt: skip
    path = tmp_path / "x.rosetta-batch"
    path.write_bytes(write_batch(batch, passphrase=words))
    with pytest.raises(AssertionError, match=refusal):
        async with served(tmp_path / "home", path):
            pass


@pytest.mark.parametrize(("address", "refusal"), [("0.0.0.0", "not an address of a private"), ("93.184.216.34", "strangers"), ("here", "no address")])  # fmt: skip
def test_only_private_addresses_are_served(address: str, refusal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "addresses_here", lambda: ["192.168.43.1"])
    with pytest.raises(UsageError, match=f"{refusal}.*Here: 192.168.43.1"):
        serve.own_address(address)
