"""How long a reviewer waits for the window, and what it takes of the computer's memory.

``python -m benchmarks.review_window_start [COMMAND]`` starts the window from source, or by the command of a
bundle, several times: from exec to the first pixel on a real X server, with the disk's cache warm and, where
the kernel lets us drop it, cold; then the memory, at the start and after ratings (PSS, RSS).
Goals: cold within 1.0 s, at most 90 MB PSS.
"""

from __future__ import annotations

import contextlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.glass import Glass
from benchmarks.review_window import PAUSE_SECONDS, ROOT, prepared
from review.session.view import PART
from tests.desktop.real.display import Display, display, until
from tests.desktop.real.stage import Stage
from tests.desktop.real.window import KNOWN_CARD, PROGRAM

GOAL_SECONDS, GOAL_MB = 1.0, 90.0
TIMES = 5
RATED = 20
SOURCE = [sys.executable, "-P", "-c", PROGRAM]
_LEAST = """
from PySide6.QtWidgets import QApplication, QLabel
app, window = QApplication([]), QLabel("Text")
window.resize(1000, 560)
window.show()
app.exec()
"""
BARE = [sys.executable, "-P", "-c", _LEAST]
"""The least window that the same library can show."""
_DROP = Path("/proc/sys/vm/drop_caches")
_MIDDLE = (512, 300)


@contextlib.contextmanager
def started(
    screen: Display, glass: Glass, home: Path, command: Sequence[str]
) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    """Start a program; gives it and the seconds until it had painted."""
    environment = {**screen.environment, "ROSETTA_HOME": str(home), "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "xcb"}
    before, begun = glass.pixel(*_MIDDLE), time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        yield process, glass.changed(*_MIDDLE, before) - begun
    finally:
        process.kill()
        process.wait()
        until(lambda: glass.pixel(*_MIDDLE) == before, "an empty screen")


def forget_files() -> bool:
    """Let the kernel forget what it read from the disk; False where it does not let us."""
    subprocess.run(["sync"], check=True)
    try:
        _DROP.write_text("3")
    except OSError:
        return False
    return True


def seconds(screen: Display, glass: Glass, home: Path, command: Sequence[str], *, cold: bool) -> list[float]:
    """Start it several times."""
    taken = []
    for _ in range(TIMES):
        if cold and not forget_files():
            return []
        with started(screen, glass, home, command) as (_, waited):
            taken.append(waited)
    return taken


def memory(process: subprocess.Popen[bytes]) -> tuple[float, float]:
    """Return proportional and resident memory, in millions of bytes."""
    facts = dict(line.split(":", 1) for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()[1:])
    pss, rss = (int(facts[name].split()[0]) * 1024 / 1e6 for name in ("Pss", "Rss"))
    return pss, rss


def remembered(screen: Display, glass: Glass, folder: Path, command: Sequence[str]) -> list[tuple[float, float]]:
    """Return the memory at the first page, and after some ratings."""
    scene = prepared(folder, RATED + 2)
    with started(screen, glass, scene.home, [*command, str(scene.file)]) as (process, _):
        shown = until(lambda: screen.windows(process.pid), "a window")
        screen.do("xdotool", "windowactivate", "--sync", shown[0])
        first = memory(process)
        screen.press(*KNOWN_CARD)
        for number in range(1, RATED + 1):
            until(lambda n=number: _rated(screen, scene, n), f"rating {number}")  # type: ignore[misc]
            if number % PART == 0:  # a rest
                time.sleep(PAUSE_SECONDS)
                screen.press("Return")
        time.sleep(PAUSE_SECONDS)
        return [first, memory(process)]


def _rated(screen: Display, scene: Stage, number: int) -> bool:
    """Rate once more; a key that comes too soon does nothing, so the store is asked what was saved."""
    time.sleep(PAUSE_SECONDS)
    if len(scene.state().judgements) < number:
        screen.press("3")
    return len(scene.state().judgements) >= number


def main() -> None:
    """Measure and print."""
    command = sys.argv[1:] or SOURCE
    with (
        tempfile.TemporaryDirectory(prefix="window") as name,
        display(Path(name) / "x", "1024x600") as screen,
        Glass(screen.name) as glass,
    ):
        folder = Path(name)
        medians = {}
        for what, each in (("the window", command), ("a bare window of the same library", BARE)):
            for cold in (False, True):
                taken = seconds(screen, glass, folder / "home", each, cold=cold)
                state = "cold" if cold else "warm"
                if not taken:
                    print(f"{what}, {state}: not measured, the cache cannot be dropped here")
                    continue
                medians[what, state] = statistics.median(taken)
                print(f"{what}, {state}: median {medians[what, state]:.2f} s, most {max(taken):.2f} s")
        first, after = remembered(screen, glass, folder, command)
    print(f"memory at the first page: PSS {first[0]:.0f} MB, RSS {first[1]:.0f} MB")
    print(f"memory after {RATED} ratings: PSS {after[0]:.0f} MB, RSS {after[1]:.0f} MB")
    cold_start = medians.get(("the window", "cold"), medians["the window", "warm"])
    verdict = "met" if cold_start <= GOAL_SECONDS and after[0] <= GOAL_MB else "MISSED"
    print(f"goals: {GOAL_SECONDS:.1f} s, {GOAL_MB:.0f} MB PSS: {verdict}")


if __name__ == "__main__":
    main()
