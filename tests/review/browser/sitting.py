"""One person in front of one browser, with a page of a batch."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from review.browser.page import make_page
from review.files.batch import Batch, write_batch
from review.files.ratings import RatingsFile
from review.log.event import read_event
from review.log.payloads import Rate
from review.rating import Rating
from tests.review.browser.drivers import PATIENCE, PROGRAMS, Browser

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

    async def begin(self, code: str, *, secret: str = "", asked: bool = False) -> None:
        """Come to the first sentence: the words of the card, the code, the consent, how near one is, and no practice."""
        if not asked:
            await self.window.open(self.page)
        if secret:
            await self.says("secret words")
            await self.window.fill("#typed", secret)
            await self.window.key("Enter")
        await self.says("Which code")
        await self.window.fill("#typed", code)
        await self.window.key("Enter")
        await self.agree()

    async def agree(self) -> None:
        """Come from the consent to the first sentence."""
        await self.place("Before you begin")
        while not await self.window.run("document.body.innerText.includes('Did you take part')"):
            await self.window.key("Enter")
        await self.window.key("3")
        await self.place("Practice")
        await self.painted()
        await self.window.key("s")
        await self.place("Sentence")
        await self.painted()

    async def painted(self) -> None:
        """Wait until a key can mean the sentence that is shown."""
        await self.window.until("rosettaPage.session?.time.takesKeys()")

    async def rate(self, key: str) -> None:
        before = await self.window.run("rosettaPage.session.view.done")
        done, read = f"rosettaPage.session.view.done > {before}", "said.textContent.startsWith('First read')"
        rated = False
        while not rated:  # a first key may show what is below
            await self.painted()
            await self.window.run("said.replaceChildren()")
            await self.window.key(key)
            rated = await self.window.until(f"{done} ? 1 : {read} && 2") == 1

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


def written(batch: Batch, folder: Path, passphrase: str | None = None) -> Path:
    path = folder / "page.html"
    path.write_bytes(make_page(write_batch(batch, passphrase=passphrase), batch))
    return path


def answers(ratings: RatingsFile) -> list[Rating]:
    events = [read_event(line) for line in ratings.lines]
    return [event.payload.rating for event in events if isinstance(event.payload, Rate)]
