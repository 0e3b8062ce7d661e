"""The page in real browsers: from the double click to ratings that the office takes; what is kept, and who can read it."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from review.browser.page import make_page
from review.files.batch import Batch, write_batch
from review.files.ratings import RatingsFile, open_ratings
from review.log.event import read_event
from review.log.payloads import Rate
from review.office.intake.importing import find_ratings, import_files
from review.office.intake.speaking import FileOutcome
from review.rating import Rating
from tests.review.browser.drivers import PATIENCE, PROGRAMS, Browser, browser
from tests.review.files import made
from tests.review.office.made import Desk, desk, vouch_for

pytestmark = pytest.mark.costly("it starts a browser")

PASSPHRASE = "tabol nidur hokes mivuz rapin"
BROWSERS = [
    pytest.param(name, marks=pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed"))
    for name, program in PROGRAMS.items()
]


class Sitting:
    """One person in front of one browser."""

    def __init__(self, window: Browser, page: Path, downloads: Path) -> None:
        self.window, self.page, self.downloads = window, page, downloads

    async def place(self, words: str) -> None:
        await self.window.until(f"document.getElementById('place')?.textContent.includes({json.dumps(words)})")

    async def says(self, words: str) -> None:
        await self.window.until(f"document.body.innerText.includes({json.dumps(words)})")

    async def begin(self, code: str, *, secret: str = "") -> None:
        """Come to the first sentence: the words of the card, the code, the consent, how near one is, and no practice."""
        await self.window.open(self.page)
        if secret:
            await self.says("secret words")
            await self.window.fill("#typed", secret)
            await self.window.key("Enter")
        await self.says("Which code")
        await self.window.fill("#typed", code)
        await self.window.key("Enter")
        await self.place("Before you begin")
        while not await self.window.run("document.body.innerText.includes('Did you take part')"):
            await self.window.key("Enter")
        await self.window.key("3")
        await self.place("Practice")
        await self.painted()
        await self.window.key("s")
        await self.painted()

    async def painted(self) -> None:
        """Wait until a key can mean the sentence that is shown."""
        await self.window.until("rosettaPage.session?.time.takesKeys()")

    async def rate(self, key: str) -> None:
        before = await self.window.run("rosettaPage.session.view.done")
        await self.painted()
        await self.window.key(key)
        await self.window.until(f"rosettaPage.session.view.done > {before}")

    async def hand_over(self) -> tuple[str, Path]:
        """Return the six words that are shown, and the file that was saved."""
        await self.window.key("x")
        words = await self.window.until("document.getElementById('six')?.textContent")
        await self.window.press("save")
        await self.says("The file is saved")
        return str(words), await self.saved("*.rosetta-ratings")

    async def saved(self, pattern: str) -> Path:
        """Return a file once the browser has written it."""
        async with asyncio.timeout(PATIENCE):
            while not (files := [path for path in self.downloads.glob(pattern) if path.stat().st_size]):
                await asyncio.sleep(0.02)
        return files[0]


@pytest.fixture(params=BROWSERS)
async def window(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Browser]:
    async with browser(request.param, tmp_path / "profile", tmp_path / "downloads") as started:
        yield started


def written(batch: Batch, folder: Path, passphrase: str | None = None) -> Path:
    path = folder / "page.html"
    path.write_bytes(make_page(write_batch(batch, passphrase=passphrase), batch))
    return path


def answers(ratings: RatingsFile) -> list[Rating]:
    events = [read_event(line) for line in ratings.lines]
    return [event.payload.rating for event in events if isinstance(event.payload, Rate)]


@pytest.fixture
def reviewed(tmp_path: Path) -> Desk:
    return desk(tmp_path / "office", reviewers=2, items=12)


async def test_a_whole_open_batch_comes_back(window: Browser, reviewed: Desk, tmp_path: Path) -> None:
    sitting = Sitting(window, written(reviewed.batch, tmp_path), tmp_path / "downloads")
    await sitting.begin(reviewed.review.code(reviewed.codes[0]))
    total = await window.run("rosettaPage.session.view.total")
    for number in range(total):
        await sitting.rate("1234"[number % 4])
        if await window.run("rosettaPage.session.view.phase === 'rest'"):
            await window.key("Enter")
    await sitting.place(f"{total} of {total}")
    words, file = await sitting.hand_over()
    renamed = file.with_name("ratings (1).txt")
    file.rename(renamed)
    data = renamed.read_bytes()
    vouch_for(reviewed.office, reviewed.identity, data)
    files = find_ratings([renamed.parent]).files
    [report] = import_files(reviewed.office, [reviewed.identity.age], files, now=datetime.now(UTC))
    assert (report.outcome, [*report.damaged, *report.aside], report.phrase) == (FileOutcome.TAKEN, [], words)
    found = open_ratings(data, [reviewed.identity.age])
    assert answers(found) == [list(Rating)[number % 4] for number in range(total)]
    assert report.added == found.manifest.events


async def test_a_sealed_batch_opens_with_the_words_of_the_card(window: Browser, tmp_path: Path) -> None:
    batch = made.batch(secret=True)
    sitting = Sitting(window, written(batch, tmp_path, PASSPHRASE), tmp_path / "downloads")
    await window.open(sitting.page)
    await sitting.says("secret words")
    await window.fill("#typed", "other words than those")
    await window.key("Enter")
    await sitting.says("This file does not open.")
    await sitting.begin(made.REVIEWERS[0], secret=PASSPHRASE.upper())
    for _ in range(3):
        await sitting.rate("4")
    words, file = await sitting.hand_over()
    ratings = open_ratings(file.read_bytes(), [made.ORGANISATION.age])
    assert (ratings.phrase(), answers(ratings)) == (words, [Rating.EXCELLENT] * 3)
