"""How long a person waits after a key: from writing it to a pseudo terminal until the app has painted a frame.

    python -P -m benchmarks.app_keys [rounds] [runs]

walks through the screens of the app over a store of ``runs`` runs (501), presses each key ``rounds`` times (9), and
prints for every screen the median and the 95th percentile of the first frame, the processor time until then, which
other work on the machine does not change, and the last frame, when everything that the key asked for stands there.
Escape waits 25 ms for the rest of a sequence; that is in the figures. ``benchmarks.store_sorting`` opens and sorts a
run of 100,000 entries.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import pyte

from benchmarks.terminal import ROSETTA
from harness.store.database import open_store
from harness.store.runs import find_run

COLUMNS, LINES = 140, 40
GOAL_SECONDS = 0.05
DEFAULTS = (9, 501)
QUIET_SECONDS = 0.12
"""Silence after which the last frame was painted."""
PATIENCE_SECONDS = 30.0
NOTHING_SECONDS = 1.2
"""Without a frame for so long, a key changed nothing that is seen: one more step down from the last row."""

QUESTION, ANSWER, FRAME = b"\x1b[?2026$p", b"\x1b[?2026;2$y", b"\x1b[?2026l"
"""Whether the terminal shows whole frames only, that it does, and the end of one."""

UP, DOWN, RIGHT, LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
PAGE_DOWN, PAGE_UP, END, HOME = "\x1b[6~", "\x1b[5~", "\x1b[F", "\x1b[H"
ESCAPE, ENTER, TAB, PALETTE, JUMP, DELETE = "\x1b", "\r", "\t", "\x10", "\x0f", "\x7f"
NAMES = {
    UP: "up", DOWN: "down", RIGHT: "right", LEFT: "left", PAGE_DOWN: "page down", PAGE_UP: "page up",
    END: "end", HOME: "home", ESCAPE: "escape", ENTER: "enter", TAB: "tab", PALETTE: "ctrl+p",
    JUMP: "ctrl+o", DELETE: "backspace", " ": "space",
}  # fmt: skip


class Step(NamedTuple):
    """One key on a screen, and the words that stand there when it is done."""

    screen: str
    key: str
    then: str = ""
    gone: str = ""
    """Words that stand there no more."""


class Waited(NamedTuple):
    """Seconds from a key to the first frame after it, and to the last; and of the processor until the first."""

    first: float
    last: float
    busy: float


class Watched:
    """The app on a pseudo terminal that knows where a frame ends."""

    def __init__(self, home: Path) -> None:
        self._screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self._screen)
        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        env = {**os.environ, "ROSETTA_HOME": str(home), "TERM": "xterm-256color"}
        self._process = subprocess.Popen(ROSETTA, stdin=side, stdout=side, stderr=side, env=env)
        os.close(side)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._main)

    def _read(self, seconds: float) -> bytes:
        if not select.select([self._main], [], [], seconds)[0]:
            return b""
        data = os.read(self._main, 1 << 20)
        if QUESTION in data:
            os.write(self._main, ANSWER)
        return data

    def _settle(self) -> None:
        while data := self._read(QUIET_SECONDS):
            self._stream.feed(data)

    def _busy(self) -> float:
        """Give the processor time that the app has used, in seconds."""
        threads = Path(f"/proc/{self._process.pid}/task").glob("*/schedstat")
        return sum(int(each.read_text().split()[0]) for each in threads) / 1e9

    def press(self, key: str) -> Waited | None:
        """Press a key and wait for its frames; gives None where nothing is painted."""
        self._settle()
        drawn = bytearray()
        first = last = busy = 0.0
        before = self._busy()
        begun = time.perf_counter()
        os.write(self._main, key.encode())
        while not last or time.perf_counter() - begun - last < QUIET_SECONDS:
            data = self._read(QUIET_SECONDS)
            now = time.perf_counter() - begun
            if FRAME in data:
                first, last, busy = first or now, now, busy or self._busy() - before
            elif now > NOTHING_SECONDS and not first:
                self._stream.feed(bytes(drawn))
                return None
            drawn += data
        self._stream.feed(bytes(drawn))
        return Waited(first, last, busy)

    @property
    def shown(self) -> str:
        """The text of the screen."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def see(self, words: str, *, gone: str = "") -> None:
        """Wait until words stand there, and others no more."""
        end = time.perf_counter() + PATIENCE_SECONDS
        while words not in (shown := self.shown) or (gone and gone in shown):
            if time.perf_counter() > end:
                raise TimeoutError(f"{words!r} never stand there, or {gone!r} for ever:\n{shown}")
            self._stream.feed(self._read(0.1))


# What is pressed


def keys(screen: str, *pressed: str) -> Iterator[Step]:
    """Press keys that stay on a screen."""
    yield from (Step(screen, key) for key in pressed)


def visit(
    screen: str, key: str, name: str, inside: str, *pressed: str, back: str = ESCAPE
) -> Iterator[Step]:
    """Open something from a screen, press keys there, and come back."""
    yield Step(screen, key, inside)
    yield from keys(name, *pressed)
    yield Step(name, back, gone=inside)


MOVES = (DOWN, DOWN, PAGE_DOWN, PAGE_UP, END, HOME)


def everywhere(screen: str) -> Iterator[Step]:
    """Open what can be opened on every screen."""
    yield from visit(screen, "?", "help", ": keys")
    yield from visit(screen, PALETTE, "palette", "Search for commands", "s", "o", DOWN)
    yield from visit(screen, JUMP, "jump", "", back=ESCAPE)


def home() -> Iterator[Step]:
    """Use the list of runs, its dialogs and its search."""
    yield from keys("Home", *MOVES, " ", " ", UP, " ", UP, " ", HOME)
    yield from visit("Home", "s", "dialog", "enter chooses", DOWN, DOWN)
    yield from visit("Home", "f", "dialog", "enter chooses", DOWN, DOWN)
    yield from visit("Home", "t", "notes", "Tags and note", "a", DELETE)
    yield Step("Home", "/")
    yield from keys("search", "d", "e", "m", "o", ESCAPE)
    yield from everywhere("Home")


def run() -> Iterator[Step]:
    """Open the run under the cursor, an entry of it and its metrics."""
    yield Step("Home", ENTER, "chrF++")
    yield from keys("Run", *MOVES)
    yield from visit("Run", "s", "dialog", "enter chooses", DOWN)
    yield from visit("Run", "f", "dialog", "enter chooses", DOWN)
    yield from visit("Run", "m", "metrics", "", DOWN)
    yield from visit("Run", "e", "export", "96 rows", DOWN)
    yield Step("Run", "/")
    yield from keys("search", "l", "a", ESCAPE)
    yield from keys("Run", "y")
    yield from visit(
        "Run", ENTER, "Entry", "Reference", RIGHT, RIGHT, LEFT, DOWN, "p", "p", "r", "r", back="q"
    )
    yield from everywhere("Run")
    yield Step("Run", "q", "› Home")


def corpora() -> Iterator[Step]:
    """Walk through the corpora, one of them, an entry, its statistics and checks."""
    yield Step("Home", "b", "› Corpora")
    yield from keys("Corpora", *MOVES)
    yield Step("Corpora", ENTER, "› Corpus")
    yield from keys("Corpus", *MOVES)
    yield from visit("Corpus", "s", "dialog", "enter chooses", DOWN)
    yield from visit("Corpus", "i", "statistics", "", DOWN, PAGE_DOWN, back="q")
    yield from visit("Corpus", "c", "checks", "The checks found nothing", back="q")
    yield from visit("Corpus", ENTER, "corpus entry", "", RIGHT, LEFT, back="q")
    yield Step("Corpus", "q", "› Corpora")
    yield Step("Corpora", "q", "› Home")


def places() -> Iterator[Step]:
    """Walk through the screens that stand for themselves."""
    yield from visit(
        "Home", "l", "Leaderboard", "validated by", *MOVES, " ", " ", RIGHT, LEFT, back="q"
    )
    yield from visit(
        "Home", ",", "Settings", "› Settings", DOWN, RIGHT, DOWN, DOWN, LEFT, UP, back="q"
    )
    yield from visit("Home", "w", "Doctor", "› Doctor", DOWN, DOWN, "f", "f", back="q")
    yield from visit("Home", "n", "New run", "What is translated", TAB, TAB, "\x14", "\x14")
    yield from visit("Home", "p", "Plots", "1 Scores", RIGHT, LEFT, DOWN, back="q")


def compared() -> Iterator[Step]:
    """Lay two runs side by side."""
    yield Step("Home", "c", "› Compare")
    yield from keys("Compare", *MOVES)
    yield from visit("Compare", "m", "dialog", "enter chooses", DOWN)
    yield from visit("Compare", "s", "dialog", "enter chooses", DOWN)
    yield from visit("Compare", "d", "parts", "", DOWN, back="q")
    yield from visit("Compare", ENTER, "compared entry", "", RIGHT, LEFT, back="q")
    yield from everywhere("Compare")
    yield Step("Compare", "q", "› Home")


def one_round() -> Iterator[Step]:
    """Go through all of it once."""
    for part in (home, run, corpora, places, compared):
        yield from part()


# What it is pressed on


def fill(home_folder: Path, runs: int) -> None:
    """Make a store of the demo by two systems, and so many runs in all: copies without entries."""
    env = {**os.environ, "ROSETTA_HOME": str(home_folder)}
    demo = [*ROSETTA, "demo", "--plain"]
    for words in ((), ("--system", "griza")):
        subprocess.run([*demo, *words], env=env, check=True, capture_output=True)
    with closing(open_store(home_folder / "rosetta.sqlite")) as store:
        names = [row[1] for row in store.execute("PRAGMA table_info(runs)")]
        kept = ", ".join(name for name in names if name not in {"id", "run_id", "created"})
        old = find_run(store, "last").id
        store.execute("BEGIN IMMEDIATE")
        for number in range(runs - 2):
            store.execute(
                f"INSERT INTO runs (run_id, created, {kept})"
                f" SELECT printf('%08x', ?) || substr(run_id, 9), created - 60 * ?, {kept} FROM runs WHERE id = ?",
                (number + 1, number + 1, old),
            )
        store.execute("COMMIT")


def measure(home_folder: Path, rounds: int) -> dict[tuple[str, str], list[Waited]]:
    """Walk through the app; gives what was waited for at each screen and key."""
    waits: dict[tuple[str, str], list[Waited]] = defaultdict(list)
    with Watched(home_folder) as app:
        app.see("✓")
        for number in range(rounds + 1):
            for step in one_round():
                waited = app.press(step.key)
                if (
                    number and waited is not None
                ):  # the first round imports and fills what the others find
                    waits[step.screen, NAMES.get(step.key, step.key)].append(waited)
                app.see(step.then, gone=step.gone)
    return waits


def percentile(values: Sequence[float], share: float) -> float:
    """Give the value below which this share of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def report(waits: dict[tuple[str, str], list[Waited]]) -> None:
    """Print each screen with its slowest keys."""
    screens: dict[str, list[Waited]] = defaultdict(list)
    slowest: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for (screen, key), each in waits.items():
        screens[screen] += each
        slowest[screen].append((percentile([one.busy for one in each], 0.5) * 1000, key))
    print(
        f"{'':16}{'keys':>6}{'median':>9}{'p95':>8}{'cpu p95':>10}{'all, p95':>10}   slowest keys, median in ms"
    )
    for screen, each in screens.items():
        _line(
            screen,
            each,
            ", ".join(f"{key} {ms:.0f}" for ms, key in sorted(slowest[screen])[:-5:-1]),
        )
    _line("every screen", [one for each in screens.values() for one in each], "")


def _line(name: str, waits: Sequence[Waited], words: str) -> None:
    first = [waited.first for waited in waits]
    busy = percentile([waited.busy for waited in waits], 0.95)
    middle, most = percentile(first, 0.5), percentile(first, 0.95)
    last = percentile([waited.last for waited in waits], 0.95)
    verdict = "met" if most <= GOAL_SECONDS else "MISSED"
    print(
        f"{name:16}{len(waits):>6}{middle * 1000:>7.0f} ms{most * 1000:>5.0f} ms{busy * 1000:>7.0f} ms{last * 1000:>7.0f} ms"
        f"   {verdict:7}{words}"
    )


def main() -> None:
    """Measure and print."""
    rounds, runs = (int(word) for word in (*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as name:
        fill(Path(name), runs)
        report(measure(Path(name), rounds))


if __name__ == "__main__":
    main()
