"""How long a reviewer waits in the window: from a key to the next item painted, with the durable commit.

``python -m benchmarks.review_window [ITEMS]`` presses real keys on a real X server and measures inside the
process; next to it, in the same run, a bare Qt window that only repaints. Goal: 95 of 100 keys within 60 ms.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.review_keys import percentile
from benchmarks.window_probe import text_of
from review.files.batch import Batch
from review.log.laptop import Laptop
from review.log.payloads import Face
from review.rating import Rating
from review.session.session import Session
from review.session.view import PART
from review.session.words.catalogue import Words
from tests.desktop.real.display import Display, display, until
from tests.desktop.real.stage import Stage, stage
from tests.desktop.real.window import KNOWN_CARD
from tests.review.session.scenes import CODE, batch_of, item_of, items_of

GOAL_MS = 60.0
PAUSE_SECONDS = 0.35
"""Between two keys: more than the guard against double presses."""
ROOT = Path(__file__).parents[1]


class Watched:
    """A window on the screen, with what its probe tells."""

    def __init__(self, screen: Display, home: Path, *arguments: str) -> None:
        self._screen = screen
        environment = {
            **screen.environment,
            "ROSETTA_HOME": str(home),
            "PYTHONPATH": str(ROOT),
            "QT_QPA_PLATFORM": "xcb",
        }
        command = [sys.executable, "-P", "-m", "benchmarks.window_probe", *arguments]
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, cwd=home.parent)
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        shown = until(lambda: screen.windows(self.process.pid), "a window")
        screen.do("xdotool", "windowactivate", "--sync", shown[0])

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self._lines.put(line)

    def press(self, key: str) -> None:
        """Press a key, when the guard is over."""
        time.sleep(PAUSE_SECONDS)
        self._screen.press(key)

    def begin(self) -> None:
        """Say that this is one's card, where Enter does nothing, and wait for the first item."""
        for key in KNOWN_CARD:
            self.press(key)
        self.painted()

    def painted(self) -> tuple[float, float]:
        """Wait for the next item; gives milliseconds since the key, and those of the commit."""
        _, waited, commit = self._lines.get(timeout=30).split()
        return float(waited), float(commit)

    def end(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.wait()


def prepared(folder: Path, items: int, before: int = 0) -> Stage:
    """Put a batch on a stick, with its person known and agreed, who gave and took back some ratings before."""
    made = [item.model_copy(update={"candidate": text_of(number)}) for number, item in enumerate(items_of(items))]
    batch: Batch = batch_of(made)
    scene = stage(folder, batch).know()
    with Laptop.open(scene.home) as laptop:
        laptop.connection.execute("PRAGMA synchronous = OFF")
        session = Session(laptop, batch, CODE, Face.DESKTOP, Words.load("en"), guard=0)
        for _ in range(before):
            item = item_of(session.view).id
            session.painted(item)
            session.rate(item, Rating.GIST)
            session.painted(item_of(session.view).id)
            session.undo()
    return scene


def rate(window: Watched, number: int) -> tuple[float, float] | None:
    """Rate an item, and return how long the next one took; None where a rest came first."""
    window.press("1234"[number % 4])
    rests = number % PART == 0
    if rests:
        window.press("Return")
    waited = window.painted()
    return None if rests else waited


def rated(screen: Display, folder: Path, items: int) -> list[tuple[float, float]]:
    """Rate all items but the last in our window."""
    scene = prepared(folder, items)
    window = Watched(screen, scene.home, "ours", str(scene.file))
    try:
        window.begin()
        return [waited for number in range(1, items) if (waited := rate(window, number))]
    finally:
        window.end()


def repainted(screen: Display, folder: Path, items: int) -> list[tuple[float, float]]:
    """Press as many keys in a window that only repaints."""
    window = Watched(screen, folder / "none", "bare", str(items))
    try:
        window.painted()
        waits = []
        for number in range(1, items):
            window.press("1234"[number % 4])
            waits.append(window.painted())
    finally:
        window.end()
    return waits


def line(what: str, values: Sequence[float]) -> str:
    """Write one row."""
    return (
        f"{what}: p50 {percentile(list(values), 0.5):.1f} ms, p95 {percentile(list(values), 0.95):.1f} ms,"
        f" most {max(values):.1f} ms ({len(values)})"
    )


def main() -> None:
    """Measure and print."""
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    os.umask(0o077)
    with tempfile.TemporaryDirectory(prefix="window") as name, display(Path(name) / "x", "1366x768") as screen:
        waits = rated(screen, Path(name), items)
        bare = [waited for waited, _ in repainted(screen, Path(name), items)]
    ours = [waited for waited, _ in waits]
    without = [waited - commit for waited, commit in waits]
    print(line("key to next item painted", ours))
    print(line("of it the durable commit", [commit for _, commit in waits]))
    print(line("the rest", without))
    print(line("a bare window that only repaints", bare))
    print(f"the rest, against the bare window: {percentile(without, 0.5) / percentile(bare, 0.5):.1f} ×")
    verdict = "met" if percentile(ours, 0.95) <= GOAL_MS else "MISSED"
    print(f"goal: p95 within {GOAL_MS:.0f} ms: {verdict}")


if __name__ == "__main__":
    main()
