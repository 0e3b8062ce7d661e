"""How long a person waits after a key: from writing it to a pseudo terminal until the app has painted a frame.

    python -u -P -m benchmarks.app_keys [rounds] [runs]

walks through the screens of the app over a store of ``runs`` runs (501), presses each key ``rounds`` times (3) after
a round that imports what the others find, and prints for every screen, for every key of it, and over all the median
and the 95th percentile of the first frame, the processor time until then, which other work on the machine does not
change, and the last frame, when everything that the key asked for is there. A bare Textual app with one text and
a footer is measured in the same run, with what is the same kind of key there; the ratio to it is what the app itself
costs. Escape waits for the rest of a sequence (``rosetta_tui.app.launch``); that is in the figures.
``benchmarks.store_sorting`` opens and sorts a run of 100,000 entries.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal, NamedTuple

from benchmarks.painting import Waited, Watched
from benchmarks.terminal import ROSETTA
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store

GOAL_SECONDS = 0.05
DEFAULTS = (3, 501)
BARE = [sys.executable, "-P", "-m", "benchmarks.bare_app"]

UP, DOWN, RIGHT, LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
PAGE_DOWN, PAGE_UP, END, HOME = "\x1b[6~", "\x1b[5~", "\x1b[F", "\x1b[H"
ESCAPE, ENTER, TAB, PALETTE, JUMP, DELETE = "\x1b", "\r", "\t", "\x10", "\x0f", "\x7f"
NAMES = {
    UP: "up", DOWN: "down", RIGHT: "right", LEFT: "left", PAGE_DOWN: "page down", PAGE_UP: "page up",
    END: "end", HOME: "home", ESCAPE: "escape", ENTER: "enter", TAB: "tab", PALETTE: "ctrl+p",
    JUMP: "ctrl+o", DELETE: "backspace", " ": "space", "\x14": "ctrl+t",
}  # fmt: skip

Kind = Literal["stay", "open", "back"]


class Step(NamedTuple):
    """One key on a screen, and the words that are there when it is done."""

    screen: str
    key: str
    kind: Kind = "stay"
    then: str = ""
    gone: str = ""
    """Words that are there no more."""


# What is pressed


def keys(screen: str, *pressed: str) -> Iterator[Step]:
    """Press keys that stay on a screen."""
    yield from (Step(screen, key) for key in pressed)


def visit(screen: str, key: str, name: str, inside: str, *pressed: str, back: str = ESCAPE) -> Iterator[Step]:
    """Open something from a screen, press keys there, and come back."""
    yield Step(screen, key, "open", inside)
    yield from keys(name, *pressed)
    yield Step(name, back, "back", gone=inside)


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
    yield Step("Home", ENTER, "open", "chrF++")
    yield from keys("Run", *MOVES)
    yield from visit("Run", "s", "dialog", "enter chooses", DOWN)
    yield from visit("Run", "f", "dialog", "enter chooses", DOWN)
    yield from visit("Run", "m", "metrics", "", DOWN)
    yield from visit("Run", "e", "export", "96 rows", DOWN)
    yield Step("Run", "/")
    yield from keys("search", "l", "a", ESCAPE)
    yield from keys("Run", "y")
    yield from visit("Run", ENTER, "Entry", "Reference", RIGHT, RIGHT, LEFT, "p", "p", "r", "r", back="q")
    yield from everywhere("Run")
    yield Step("Run", "q", "back", "› Home")


def corpora() -> Iterator[Step]:
    """Walk through the corpora, one of them, an entry, its statistics and checks."""
    yield Step("Home", "b", "open", "› Corpora")
    yield from keys("Corpora", *MOVES)
    yield Step("Corpora", ENTER, "open", "› Corpus")
    yield from keys("Corpus", *MOVES)
    yield from visit("Corpus", "s", "dialog", "enter chooses", DOWN)
    yield from visit("Corpus", "i", "statistics", "› Statistics", DOWN, PAGE_DOWN, back="q")
    yield from visit("Corpus", "c", "checks", "The checks found nothing", back="q")
    yield from visit("Corpus", ENTER, "corpus entry", "› Entry", RIGHT, LEFT, back="q")
    yield Step("Corpus", "q", "back", "› Corpora")
    yield Step("Corpora", "q", "back", "› Home")


def places() -> Iterator[Step]:
    """Walk through the screens that stand for themselves."""
    yield from visit("Home", "l", "Leaderboard", "validated by", *MOVES, " ", " ", back="q")
    yield from visit("Home", ",", "Settings", "› Settings", DOWN, RIGHT, DOWN, DOWN, LEFT, UP, back="q")
    yield from visit("Home", "w", "Doctor", "› Doctor", DOWN, DOWN, "f", "f", back="q")
    yield from visit("Home", "n", "New run", "The corpus", TAB, TAB, "\x14", "\x14")
    yield from visit("Home", "p", "Plots", "1 Scores", RIGHT, LEFT, DOWN, back="q")


def compared() -> Iterator[Step]:
    """Lay two runs side by side."""
    yield Step("Home", "c", "open", "chance alone")
    yield from keys("Compare", *MOVES)
    yield from visit("Compare", "m", "dialog", "enter chooses", DOWN)
    yield from visit("Compare", "s", "dialog", "enter chooses", DOWN)
    yield from visit("Compare", "d", "parts", "› Parts", DOWN, back="q")
    yield from visit("Compare", ENTER, "compared entry", "› Entry", RIGHT, LEFT, back="q")
    yield from everywhere("Compare")
    yield Step("Compare", "q", "back", "› Home")


def one_round() -> Iterator[Step]:
    """Go through all of it once."""
    for part in (home, run, corpora, places, compared):
        yield from part()


# What it is pressed on


def fill(home_folder: Path, runs: int) -> None:
    """Make a store of the demo by two systems, and that many runs in all: copies without entries."""
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


def walk(app: Watched, steps: Iterable[Step]) -> Iterator[tuple[Step, Waited | None]]:
    """Press the keys of the steps; gives what was waited for after each."""
    for step in steps:
        waited = app.press(step.key)
        app.see(step.then, gone=step.gone)
        yield step, waited


BARE_STEPS = (*keys("bare", "d", "d"), *visit("bare", "o", "bare", "second", "d", "d", back="q"))


def measure_bare(rounds: int) -> list[Measured]:
    """Press the keys of the bare app, so often that each kind has some hundred values."""
    with Watched(BARE, os.environ) as app:
        app.see("first")
        every = [list(walk(app, BARE_STEPS)) for _ in range(12 * rounds)]
    return [Measured(step, waited) for each in every[1:] for step, waited in each if waited]


def measure(home_folder: Path, rounds: int) -> tuple[list[Measured], list[Measured]]:
    """Walk through the app; gives what was waited for in the first round and in the others."""
    first, others = list[Measured](), list[Measured]()
    with Watched(ROSETTA, {**os.environ, "ROSETTA_HOME": str(home_folder)}) as app:
        app.see("✓")
        for number in range(rounds + 1):
            begun = time.perf_counter()
            print(f"round {number} of {rounds}{'' if number else ', with imports'}:", end="")
            screen = ""
            for step, waited in walk(app, one_round()):
                if step.screen != screen:
                    screen = step.screen
                    print(f" {screen}", end="")
                if waited is None:
                    print(f" ({NAMES.get(step.key, step.key)} painted nothing)", end="")
                else:
                    (others if number else first).append(Measured(step, waited))
            print(f"; {time.perf_counter() - begun:.0f} s")
    return first, others


# What came out


class Measured(NamedTuple):
    """One key, and what was waited for after it."""

    step: Step
    waited: Waited


class Summary(NamedTuple):
    """Milliseconds: median and 95th percentile of the first frame, the latter of processor time and last frame."""

    presses: int
    middle: float
    most: float
    busy: float
    last: float


def percentile(values: Iterable[float], share: float) -> float:
    """Return the value below which this share of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def summary(measured: Sequence[Measured]) -> Summary:
    """Sum up some keys."""
    first, last, busy = zip(*(each.waited for each in measured), strict=True)
    figures = [(first, 0.5), (first, 0.95), (busy, 0.95), (last, 0.95)]
    return Summary(len(measured), *(percentile(values, share) * 1000 for values, share in figures))


def grouped(measured: Iterable[Measured], *fields: str) -> dict[str, list[Measured]]:
    """Group the keys by fields of their step."""
    groups: dict[str, list[Measured]] = defaultdict(list)
    for each in measured:
        words = (getattr(each.step, field) for field in fields)
        groups[" ".join(f"{NAMES.get(word, word):14}" for word in words).rstrip()].append(each)
    return groups


def print_table(title: str, groups: dict[str, list[Measured]]) -> None:
    """Print a line for each group, the slowest first."""
    print(f"\n{title:30}{'keys':>6}{'median':>9}{'p95':>9}{'cpu p95':>9}{'all, p95':>10}")
    lines = [(summary(each), name) for name, each in groups.items()]
    for (count, middle, most, busy, last), name in sorted(lines, key=lambda line: -line[0].most):
        mark = "" if most <= GOAL_SECONDS * 1000 else "  over"
        print(f"{name:30}{count:>6}{middle:>6.0f} ms{most:>6.0f} ms{busy:>6.0f} ms{last:>7.0f} ms{mark}")


def print_ratios(ours: Sequence[Measured], bare: Sequence[Measured]) -> None:
    """Print how many times as long as the bare app ours takes, for each kind of key."""
    print("\ntimes the bare app              median      p95  cpu p95")
    other = grouped(bare, "kind")
    for kind, each in grouped(ours, "kind").items():
        one, two = summary(each), summary(other[kind])
        ratios = (one.middle / two.middle, one.most / two.most, one.busy / two.busy)
        print(f"{kind:30}" + "".join(f"{ratio:>8.1f}×" for ratio in ratios))


def report(first: list[Measured], ours: list[Measured], bare: list[Measured]) -> None:
    """Print the tables: keys, screens, kinds, all; and the ratios."""
    print_table("screen and key", grouped(ours, "screen", "key"))
    print_table("screen", grouped(ours, "screen"))
    print_table("kind", grouped(ours, "kind"))
    print_table("bare app, kind", grouped(bare, "kind"))
    print_table("over all", {"first round, with imports": first, "every key": ours, "bare": bare})
    print_ratios(ours, bare)
    most = summary(ours).most
    print(f"\nevery key, p95: {most:.0f} ms: {'met' if most <= 50 else 'MISSED'} (goal 50 ms)")
    print("load of the machine: " + " ".join(f"{each:.1f}" for each in os.getloadavg()))


def main() -> None:
    """Measure and print."""
    given = [int(word) for word in sys.argv[1:]]
    rounds, runs = (*given, *DEFAULTS[len(given) :])
    bare = measure_bare(rounds)
    with tempfile.TemporaryDirectory() as name:
        fill(Path(name), runs)
        first, ours = measure(Path(name), rounds)
    report(first, ours, bare)


if __name__ == "__main__":
    main()
