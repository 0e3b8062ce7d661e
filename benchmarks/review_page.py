"""How long a reviewer waits in the page: from a key to the next item painted, with the durable commit; and until it opens.

``python -m benchmarks.review_page [ITEMS]`` presses real keys in headless Chromium and Firefox, after 2,000 events of the
same person. Goals: 95 of 100 keys within 40 ms; a page of 80 items has at most 400 KB and opens within a second.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.review_window import line, percentile
from benchmarks.window_probe import text_of
from review.browser.page import make_page
from review.rating import Rating
from tests.review.browser.drivers import PROGRAMS, browser
from tests.review.browser.test_in_browsers import Sitting
from tests.review.session.scenes import CODE, batch_of, items_of, training_of

GOAL_MS, GOAL_BYTES, GOAL_OPEN = 40.0, 400_000, 1.0
BEFORE = 1_000
"""Ratings that are given and taken back before: two events each."""
_WATCH = """(() => { globalThis.waits = []; let begun = 0;
  addEventListener('keydown', event => { begun = event.timeStamp }, true);
  addEventListener('rosetta-painted', () => { if (begun) waits.push(performance.now() - begun); begun = 0 }); return 1 })()"""
_FILL = """(async () => { const { session } = rosettaPage; session.time._guard = 0;
  for (let n = 0; n < %d; n++) { const paint = () => session.painted(session.view.item.id);
    paint(); await session.rate(session.view.item.id, 'gist'); paint(); await session.undo() } rosettaPage.redraw(); return 1 })()"""


async def measured(name: str, items: int, folder: Path) -> tuple[float, list[float], int]:
    """Return seconds until the page is open, milliseconds of each key, and bytes of the page."""
    texts = [item.model_copy(update={"candidate": text_of(number)}) for number, item in enumerate(items_of(items))]
    batch = batch_of(texts, training_of([Rating.GIST]), salt=bytes(32))
    page = folder / f"{name}.html"
    page.write_bytes(make_page(batch.archive, batch))
    async with browser(name, folder / f"{name}-profile", folder / "downloads") as window:
        sitting = Sitting(window, page, folder / "downloads")
        begun = time.monotonic()
        await window.open(page)
        await sitting.says("Which code")
        opened = time.monotonic() - begun
        await sitting.begin(CODE, asked=True)
        await window.run(_FILL % BEFORE)
        await window.run(_WATCH)
        for number in range(1, items):
            await sitting.rate("1234"[number % 4])
            if await window.run("rosettaPage.session.view.phase === 'rest'"):
                await window.key("Enter")
        return opened, list(await window.run("waits")), page.stat().st_size


def main() -> None:
    """Measure and print."""
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    met = True
    with tempfile.TemporaryDirectory(prefix="page") as name:
        for program in ("chromium", "firefox"):
            if shutil.which(PROGRAMS[program]) is None:
                print(f"{program}: not installed")
                continue
            opened, waits, size = asyncio.run(measured(program, items, Path(name)))
            print(line(f"{program}: key to next item painted and stored", waits))
            print(f"{program}: open after {opened:.2f} s; the page has {size / 1000:.0f} KB")
            met &= percentile(waits, 0.95) <= GOAL_MS and size <= GOAL_BYTES and opened <= GOAL_OPEN
    print(
        f"goals (p95 {GOAL_MS:.0f} ms, {GOAL_BYTES // 1000} KB, open within {GOAL_OPEN:.0f} s): {'met' if met else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
