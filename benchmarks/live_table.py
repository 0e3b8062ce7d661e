"""The live screen over 100,000 entries with 1,000 results a second, on a real pseudo terminal (140 × 40).

    python -m benchmarks.live_table [seconds]

prints, for our table and for Textual's DataTable at a size it survives: time from key to paint (median, p95:
from writing the key to reading the row drawn under the cursor, and the processor time of the screen's thread until the
pane, too, shows that row;
also with the pane, a query and a sorting by a metric that is computed from statistics), share of one core (also while a
filter is set and nobody presses a key), memory over the data. Of the results a quarter is there at the beginning; the others
are stored and announced by a thread whose own processor time is not counted.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the program does

import fcntl
import json
import pty
import random
import resource
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from itertools import cycle
from pathlib import Path
from sqlite3 import Connection
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.events import Key
from textual.widgets import DataTable, Footer

from harness.core.failures import RunState
from harness.method.method import Result
from harness.run.events import Control, EntryScored, EventQueue, Progress, Started
from harness.store.results import add_results
from harness.store.sqlite.database import open_store
from harness.store.sqlite.trouble import transaction
from rosetta_tui.app.app import RosettaApp
from rosetta_tui.app.launch import SWITCH_SECONDS
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.session.run_sources import WatchedRun
from scoring.metrics.inventory import surface_setup
from tests.tui import scenes
from tests.tui.scenes import DATASET, RUN_ID, SETUP, entries_of, scene

COLUMNS, LINES = 140, 40
CURSOR = b"48;2;43;77;116"
"""The cursor's background as the terminal is told; no other cell has it."""
MARK, LEAVE = b"\x1b[23~", b"\x1b[24~"  # F11, F12
DOWN, UP, PAGE_DOWN, PAGE_UP, END, HOME = b"\x1b[B", b"\x1b[A", b"\x1b[6~", b"\x1b[5~", b"\x1b[F", b"\x1b[H"
MOVES = (DOWN, DOWN, PAGE_DOWN, DOWN, UP, PAGE_DOWN, DOWN, PAGE_UP, END, UP, PAGE_UP, UP, DOWN, HOME)
"""Keys of which each moves the cursor, also pressed again and again."""


# The child: an app under load


def ours(folder: Path, rows: int, rate: int) -> None:
    """Run the live screen over a store with this many entries while results arrive."""
    queue = EventQueue()
    stored = _stored(rows)
    queue(Started(RUN_ID, SETUP, DATASET, tuple(range(rows)), stored, (), {}, 0.05, 0.0))

    class Watched(_measured(RosettaApp)):  # type: ignore[misc]
        CSS_PATH = RosettaApp.CSS_PATH

    app = Watched(folder / "s.sqlite", lambda _: queue, lambda: None, WatchedRun(queue, Control()))

    def give(positions: Sequence[int]) -> None:
        results = [_result(position) for position in positions]
        if _fed[0] < rows:
            with closing(open_store(folder / "s.sqlite")) as store:
                _add(store, results)
        for result in results:
            queue(EntryScored(RUN_ID, result))
        queue(_progress(rows, _fed[0], rate))

    sys.setswitchinterval(SWITCH_SECONDS)  # as the program does
    _result(0)
    _fed[0] = stored
    _feed(give, rows, rate)
    app.stats_file = folder / "stats.json"
    app.run()


KINDS = 997  # different sentences


def _pairs() -> list[tuple[str, str, str]]:
    return [(f"Sentence {n} of the corpus, to be translated.", f"Frazo {n} estas tie ĉi.", "") for n in range(KINDS)]


@cache
def _kinds() -> list[Result]:
    """Return one scored result of each sentence: some good, some without accents, some behind a preamble."""
    outputs = ("Frazo {} estas tie ĉi.", "Frazo {} estas tie ci.", "Here it is: Frazo {} ĉi tie.", "Io alia pri {}.")
    entries = enumerate(entries_of(_pairs(), KINDS))
    return [scenes.result(n, entry, outputs[n % len(outputs)].format(n)) for n, entry in entries]


def _result(position: int) -> Result:
    return replace(_kinds()[position % KINDS], position=position, entry_id=position + 1)


def _progress(rows: int, done: int, rate: int) -> Progress:
    return Progress(
        RUN_ID, RunState.RUNNING, done / rate, rows, done, 0, tuple(range(16)), (), 16, 32, 0, 0,
        values={"chrf_plus_plus": 50 + done % 10, "composite": 0.5, "exact_match_rate": 0.2},
        intervals={"chrf_plus_plus": (48, 62), "composite": (0.45, 0.55)}, cost_usd=done / 1e4,
        budget_usd=100, tokens=done * 220, per_minute=rate * 60, eta_seconds=60, p50_seconds=0.4,
    )  # fmt: skip


def fill(folder: Path, rows: int) -> None:
    """Store a run with this many entries, of which some are done."""
    entries = entries_of(_pairs(), rows)
    scoring = surface_setup("en", "eo", entries[:KINDS]).model_dump(mode="json")  # as a run states it
    made = scene(folder / "s.sqlite", entries=entries, stored=0, scoring=scoring)
    _add(made.store, [_result(_turn(n, rows)) for n in range(_stored(rows))])
    made.close()


def _stored(rows: int) -> int:
    """Return how many entries are done at the beginning."""
    return rows if rows < 10_000 else rows // 4


def _turn(n: int, rows: int) -> int:
    return n * 7919 % rows  # 7919 is prime: every row once before one twice


def _add(store: Connection, results: Sequence[Result]) -> None:
    with transaction(store):
        add_results(store, 1, results)


def theirs(folder: Path, rows: int, rate: int) -> None:
    """Run Textual's DataTable with the same columns and the same rate, drained as often."""
    arrived: deque[int] = deque()
    names = ["", "state", "id", "source", "output", "chrF++", "exact", "tier", "tokens", "cost", "s"]

    class Table(App[None]):
        CSS = "DataTable > .datatable--cursor { background: #2b4d74; color: white; }"

        def compose(self) -> ComposeResult:
            yield DataTable(cursor_type="row")
            yield Footer()

        def on_mount(self) -> None:
            table = self.query_one(DataTable)
            self.keys = table.add_columns(*names)
            texts = ("…", "waiting", "1", "Sentence of the corpus, to be translated.", *[""] * 7)
            for place in range(rows):
                table.add_row(*texts, key=str(place))
            table.focus()
            self.set_interval(1 / 12, self.look)

        def look(self) -> None:
            table = self.query_one(DataTable)
            values = ("✓", "done", "Frazo tradukita de la maŝino.", "50.0", "no", "◆◆◆◇◇", "220", "$0.0001")
            columns = (0, 1, 4, 5, 6, 7, 8, 9)
            while arrived:
                place = str(arrived.popleft())
                for column, value in zip(columns, values, strict=True):
                    table.update_cell(place, self.keys[column], value)

    class Watched(_measured(Table)):  # type: ignore[misc]
        pass

    app = Watched()
    app.stats_file = folder / "stats.json"
    _feed(arrived.extend, rows, rate)
    app.run()


def _measured(base: Any) -> Any:  # noqa: C901  one small class
    class Measured(base):  # type: ignore[misc]
        """Notes processor time and memory at two keys."""

        stats_file: Path
        marks: ClassVar[list[tuple[float, float]]] = []
        moves: ClassVar[list[float]] = []
        moved: tuple[float, object] | None = None
        """Processor time of the thread at a key that moves the cursor, and what was shown then."""

        async def on_event(self, event: Any) -> None:
            if isinstance(event, Key) and event.key in {"up", "down", "pageup", "pagedown", "home", "end"}:
                self.moved = self.moved or (time.thread_time(), _place(self.screen))
            await super().on_event(event)

        def _display(self, screen: Any, renderable: Any) -> None:
            super()._display(screen, renderable)
            if self.moved and _place(screen) not in {None, self.moved[1]}:
                self.moves.append(time.thread_time() - self.moved[0])
                self.moved = None

        def on_ordered_table_entries_shown(self, event: Any) -> None:
            order = event.table._shown_order  # noqa: SLF001  of the rows that are there
            self.call_after_refresh(self.note_order, f"{order.sort} {order.turned} {order.where}")

        def note_order(self, words: str) -> None:
            with self.stats_file.with_name("orders").open("a") as orders:
                orders.write(f"{time.monotonic()} {words}\n")

        def on_key(self, event: Any) -> None:
            if event.key in {"f11", "f12"}:
                self.marks.append((time.monotonic(), time.process_time() - _feeding[0]))
            if event.key == "f12":
                numbers = {"cpu": _share(*self.marks[:2]), "rss": _resident(), "move": _p95(self.moves)}
                if len(self.marks) > 3:
                    numbers["filtered cpu"] = _share(*self.marks[2:4])
                self.stats_file.write_text(json.dumps(numbers))
                self.exit()

    return Measured


def _place(screen: Any) -> object:
    """Return the row under the cursor, None until the pane shows it too."""
    if not isinstance(screen, LiveScreen):
        return next((table.cursor_row for table in screen.query(DataTable)), None)
    page = screen._page_key  # noqa: SLF001  what the pane shows
    place = screen.table.place
    return place if isinstance(page, tuple) and page[0] == place else None


def _p95(times: Sequence[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]


def _share(begin: tuple[float, float], end: tuple[float, float]) -> float:
    """Return the processor time between two marks as a share of the time."""
    return (end[1] - begin[1]) / (end[0] - begin[0])


_fed, _feeding = [0], [0.0]
"""How many results were given so far, and the processor time of the thread that does it."""


def _feed(give: Any, rows: int, rate: int) -> None:
    def run() -> None:
        begin, before = time.monotonic(), _fed[0]
        while True:
            due = before + int((time.monotonic() - begin) * rate)
            give([_turn(n, rows) for n in range(_fed[0], due)])
            _fed[0], _feeding[0] = due, time.thread_time()
            time.sleep(0.1)

    threading.Thread(target=run, daemon=True).start()


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


# The parent: a terminal with a stop watch


@contextmanager
def _child(kind: str, folder: Path, rows: int, rate: int) -> Iterator[int]:
    ours_, theirs_ = pty.openpty()
    fcntl.ioctl(theirs_, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.live_table", "child", kind, str(folder), str(rows), str(rate)],
        stdin=theirs_, stdout=theirs_, stderr=theirs_, env=environment, start_new_session=True,
    )  # fmt: skip
    os.close(theirs_)
    try:
        yield ours_
        while _read(ours_, 5.0):
            pass
        child.wait(20)
    finally:
        child.kill()
        os.close(ours_)


def _read(terminal: int, seconds: float) -> bytes:
    if not select.select([terminal], [], [], seconds)[0]:
        return b""
    try:
        return os.read(terminal, 1 << 20)
    except OSError:
        return b""


def measure(kind: str, rows: int, rate: int, seconds: float) -> dict[str, float]:
    """Run one app, press keys for some seconds, and give its numbers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if kind == "ours":
            fill(folder, rows)
        with _child(kind, folder, rows, rate) as terminal:
            _wait_for(terminal, CURSOR, 180)
            _idle(terminal, 2.0)
            os.write(terminal, MARK)
            measured = _cursor(terminal, seconds)
            os.write(terminal, MARK)
            if kind == "ours":
                measured |= dict(_asked(terminal, folder, seconds))
            os.write(terminal, LEAVE)
        stats: dict[str, float] = json.loads((folder / "stats.json").read_text())
        return measured | stats


def _cursor(terminal: int, seconds: float, name: str = "") -> dict[str, float]:
    times = list(_press(terminal, seconds))
    return {f"{name}median": statistics.median(times), f"{name}p95": _p95(times)}


def _press(terminal: int, seconds: float) -> Iterator[float]:
    dice = random.Random(3)
    end = time.monotonic() + seconds
    for key in cycle(MOVES):
        _idle(terminal, dice.uniform(0.08, 0.25))
        begin = time.monotonic()
        os.write(terminal, key)
        if _wait_for(terminal, CURSOR, 5.0):
            yield time.monotonic() - begin
        if time.monotonic() > end:
            return


def _asked(terminal: int, folder: Path, seconds: float) -> Iterator[tuple[str, float]]:
    """Filter and sort while results arrive: yield the seconds from the last key to the frame with the new rows."""
    for name, opening, wanted, keys, order in (
        ("filter", b"/", b"filter", _pasted("chrf<30"), "position False chrf<30"),
        ("computed", b"/", b"filter", _pasted("ter>30"), "position False ter>30"),
        ("search", b"/", b"filter", _pasted("Frazo"), "position False Frazo"),
        ("sort", b"s", b"Columns (", DOWN + b"\r", "chrf False "),
        ("turned", b"s", b"Columns (", b"\r", "chrf True "),
        ("query", b"/", b"filter", _pasted("chrf<90"), "chrf True chrf<90"),
    ):
        os.write(terminal, opening)
        _wait_for(terminal, wanted, 5.0)
        _idle(terminal, 0.5)
        begin = time.monotonic()
        os.write(terminal, keys)
        yield name, _shown(terminal, folder / "orders", order, begin) - begin
        if opening == b"/":
            os.write(terminal, b"\r")  # to the rows
        if name == "search":  # which fits nearly all rows
            os.write(terminal, MARK)
            _idle(terminal, seconds)
            os.write(terminal, MARK)
        if name == "query":  # sorted by a metric, too, and with the pane
            yield from _cursor(terminal, seconds, "ordered ").items()
        if opening == b"/":
            os.write(terminal, b"\x1b")  # ends the filter
        _idle(terminal, 1.0)


def _pasted(text: str) -> bytes:
    """Return a text as a terminal pastes it, so that no part of it was asked for before."""
    return b"\x1b[200~" + text.encode() + b"\x1b[201~"


def _shown(terminal: int, orders: Path, order: str, begin: float) -> float:
    """Return when rows in this order were drawn first, by the app's own clock, which is the same one."""
    while time.monotonic() < begin + 10:
        _idle(terminal, 0.05)
        for line in orders.read_text().splitlines() if orders.exists() else ():
            when, _, words = line.partition(" ")
            if words == order and float(when) > begin:
                return float(when)
    return float("inf")


def _wait_for(terminal: int, wanted: bytes, seconds: float) -> bool:
    got, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        got += _read(terminal, left)
        if wanted in got:
            return True
    return False


def _idle(terminal: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        _read(terminal, left)


def main() -> None:
    """Measure both tables, and print them side by side."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    runs = [("ours", 1_000, 1_000), ("ours", 100_000, 1_000), ("theirs", 1_000, 1_000)]
    names = {"ours": "Rosetta live screen", "theirs": "Textual DataTable"}
    results = []
    print(
        f"{'':22}{'rows':>8}{'results/s':>11}{'key→paint median':>18}{'p95':>9}{'of processor':>14}{'one core':>10}{'memory':>10}"
    )
    for kind, rows, rate in runs:
        numbers = measure(kind, rows, rate, seconds)
        results.append(numbers)
        print(
            f"{names[kind]:22}{rows:>8,}{rate:>11,}{numbers['median'] * 1000:>15.1f} ms"
            f"{numbers['p95'] * 1000:>6.1f} ms{numbers['move'] * 1000:>11.1f} ms{numbers['cpu']:>10.0%}{numbers['rss'] / 1e6:>7.1f} MB",
            flush=True,
        )
    small, large, peer = results
    named = ("filter", "computed", "search", "sort", "turned", "ordered median", "ordered p95")
    print("\nfrom the key to new rows, 100,000 entries, and to the cursor in rows of a query that are sorted: "
          + " · ".join(f"{name} {large[name] * 1000:.0f} ms" for name in named))  # fmt: skip
    print(f"share of one core with a filter that fits all results: {large['filtered cpu']:.0%}")
    data = sum(sys.getsizeof(place) for place in range(100_000)) + 8 * 100_000
    over = large["rss"] - small["rss"] - data
    print(f"\nmemory of 100,000 rows over those of 1,000 and the run's own list of places: {over / 1e6:.1f} MB")
    print(f"DataTable with a hundredth of the rows: {peer['p95'] / large['p95']:.1f} × the p95, "
          f"{peer['cpu'] / large['cpu']:.1f} × the processor time")  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        {"ours": ours, "theirs": theirs}[sys.argv[2]](Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
