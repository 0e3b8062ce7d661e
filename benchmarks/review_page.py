"""How long a reviewer waits in the page: from a key to the next item painted, with the durable commit; and until it opens.

``python -m benchmarks.review_page [ITEMS]`` presses real keys in headless Chromium and Firefox and in the window, by turns,
after 2,000 events of the same person in each. Goals: 95 of 100 keys within 40 ms and twice the window's; a page of 80 items
has at most 400 KB, and opens within a second in a browser that shows files already: how long that takes for an almost empty
one, the first of this browser, is shown beside it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from benchmarks.review_keys import percentile
from benchmarks.review_window import Watched, line, prepared, rate
from benchmarks.window_probe import text_of
from review.browser.page import make_page
from review.rating import Rating
from tests.desktop.real.display import display
from tests.review.browser.drivers import PROGRAMS, Browser, browser
from tests.review.browser.sitting import Sitting
from tests.review.session.scenes import CODE, batch_of, items_of, training_of

GOAL_MS, GOAL_TIMES, GOAL_BYTES, GOAL_OPEN = 40.0, 2.0, 400_000, 1.0
BEFORE = 1_000
"""Ratings that are given and taken back before: two events each."""
_WATCH = """(() => { globalThis.waits = []; let begun = 0;
  addEventListener('keydown', event => { begun = event.timeStamp }, true);
  addEventListener('rosetta-painted', () => { if (begun) waits.push(performance.now() - begun); begun = 0 }); return 1 })()"""
_FILL = """(async () => { const { session } = rosettaPage; session.time._guard = 0;
  for (let n = 0; n < %d; n++) { const paint = () => session.painted(session.view.item.id);
    paint(); await session.rate(session.view.item.id, 'gist'); paint(); await session.undo() } rosettaPage.redraw(); return 1 })()"""


async def opened(window: Browser, page: Path) -> tuple[float, float]:
    """Return seconds until an almost empty page is shown, and then until this one asks for the code."""
    empty = page.with_name("empty.html")
    empty.write_text("<p>empty")
    begun = time.monotonic()
    await window.open(empty)
    await window.until("document.body.innerText === 'empty'")
    between = time.monotonic()
    await window.open(page)
    await window.until("document.body.innerText.includes('Which code')")
    return between - begun, time.monotonic() - between


async def measured(names: list[str], items: int, page: Path, window: Watched) -> tuple[dict[str, list[float]], float]:
    """Return milliseconds of each key, by the program, and the slowest opening."""
    waits: dict[str, list[float]] = {"window": []}
    slowest = 0.0
    async with AsyncExitStack() as stack:
        sittings = {}
        for name in names:
            shown = await stack.enter_async_context(browser(name, page.parent / name, page.parent / "downloads"))
            empty, full = await opened(shown, page)
            slowest = max(slowest, full)
            print(f"{name}: opens within {full:.2f} s; an almost empty page before it, within {empty:.2f} s")
            sittings[name] = Sitting(shown, page, page.parent / "downloads")
            await sittings[name].begin(CODE, asked=True)
            await shown.run(_FILL % BEFORE)
            await shown.run(_WATCH)
        for number in range(1, items):
            waited = await asyncio.to_thread(rate, window, number)
            waits["window"] += [waited[0]] if waited else []
            for sitting in sittings.values():
                await sitting.rate("1234"[number % 4])
                if await sitting.window.run("rosettaPage.session.view.phase === 'rest'"):
                    await sitting.window.key("Enter")
        for name, sitting in sittings.items():
            waits[name] = list(await sitting.window.run("waits"))
    return waits, slowest


def main() -> None:
    """Measure and print."""
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    names = [name for name in ("chromium", "firefox") if shutil.which(PROGRAMS[name])]
    os.umask(0o077)
    with tempfile.TemporaryDirectory(prefix="page") as folder, display(Path(folder) / "x", "1366x768") as screen:
        texts = [item.model_copy(update={"candidate": text_of(number)}) for number, item in enumerate(items_of(items))]
        batch = batch_of(texts, training_of([Rating.GIST]), salt=bytes(32))
        page = Path(folder) / "page.html"
        page.write_bytes(make_page(batch.archive, batch))
        scene = prepared(Path(folder) / "window", items, BEFORE)
        window = Watched(screen, scene.home, "ours", str(scene.file))
        try:
            window.begin()
            waits, slowest = asyncio.run(measured(names, items, page, window))
        finally:
            window.end()
        size = page.stat().st_size
    for name, values in waits.items():
        print(line(f"{name}: key to next item painted and stored", values))
    print(f"the page has {size / 1000:.0f} KB")
    beside = percentile(waits.pop("window"), 0.95)
    worst = max((percentile(values, 0.95) for values in waits.values()), default=0.0)
    print(f"the slowest browser against the window: {worst / beside:.1f} ×")
    met = worst <= min(GOAL_MS, GOAL_TIMES * beside) and size <= GOAL_BYTES and slowest <= GOAL_OPEN
    print(
        f"goals (p95 {GOAL_MS:.0f} ms and {GOAL_TIMES:.0f} × the window, {GOAL_BYTES // 1000} KB, open within {GOAL_OPEN:.0f} s): "
        f"{'met' if met else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
