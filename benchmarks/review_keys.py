"""How long a reviewer waits: from a key to the next item on a real pseudo-terminal, with the durable commit.

``python -m benchmarks.review_keys [ITEMS]`` prints the median and the 95th percentile, the share of the
commit in it, and the goal: 95 of 100 keys within 100 ms. After that what a rating costs the program at the
end of 100 and of 1,000 ratings, the wait for the disk left out, and the ratio of the two, whose goal is 1.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.terminal import Terminal
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity
from review.files.batch import make_batch, write_batch
from review.files.identities import make_codes, new_salt, place_of, tag_of
from review.files.manifests import BatchItem, BatchManifest, Organisation
from review.log.laptop import Laptop
from review.log.payloads import Face
from review.rating import Rating
from review.session.view import PART, Phase
from rosetta_tui.review.rating.sitting import TerminalOpening

GOAL_MS = 100.0
PAUSE_SECONDS = 0.35
"""Between two keys: more than the guard against double presses."""

OPENING = (("Which code", "1\r"), ("Before you begin", "\r"), ("Yes, they may be used", "1"), ("Neither", "3"))
"""The pages before the first item, each with its keys: the code, consent, corrections, part in the method."""

CHILD = """
import json, sys, time
from pathlib import Path
from review.log.laptop import Laptop
from rosetta_tui.review.rating.visit import run_review
from rosetta_tui.review.rating.sitting import TerminalOpening

folder, appends = Path(sys.argv[1]), []
record = Laptop.record

def timed(laptop, *given):
    begun = time.perf_counter()
    events = record(laptop, *given)
    appends.append(time.perf_counter() - begun)
    return events

Laptop.record = timed
with Laptop.open(folder / "home") as laptop:
    places = [folder / "stick" / "Keys.rosetta-batch"]
    run_review(TerminalOpening(laptop, places=places, language="en"))
(folder / "appends.json").write_text(json.dumps(appends))
"""


def rating_cost(folder: Path, items: int) -> float:
    """Return the processor's milliseconds of a rating, the median of the last 50 of that many."""
    folder.mkdir()
    code = prepare(folder, items)
    costs = []
    with Laptop.open(folder / "home") as laptop:
        laptop.connection.execute("PRAGMA synchronous = OFF")
        opening = TerminalOpening(laptop, places=[folder / "stick" / "Keys.rosetta-batch"])
        batch = opening.open(opening.choices()[0])
        session = opening.session(batch, opening.reviewer(batch, code), Face.LINES, guard=0.0)
        session.agree(share_corrections=False)
        while (item := session.view.item) is not None or session.view.phase is Phase.REST:
            if item is None:
                session.go_on()
                continue
            session.painted(item.id)
            begun = time.process_time()
            session.rate(item.id, Rating.GIST)
            costs.append((time.process_time() - begun) * 1000)
    return median(costs[-50:])


def prepare(folder: Path, items: int) -> str:
    """Put a batch on the stick, trust its maker and agree to it; gives the reviewer's code."""
    organisation, (code,) = Identity.make(Role.ORGANISATION), make_codes(1)
    made = [
        BatchItem(
            id=f"{n:016x}",
            source=f"I saw his dog in the garden behind the old house yesterday. ({n})",
            candidate=f"Mark{n:04d} Hieraŭ mi vidis lian hundon en la ĝardeno malantaŭ la malnova domo.",
        )
        for n in range(items)
    ]
    salt = new_salt()
    manifest = BatchManifest(
        batch="be" * 8,
        review="keys",
        title="Keys",
        created="2026-01-01T00:00:00Z",
        source_language="en",
        target_language="eo",
        organisation=Organisation(
            name="Benchmark",
            signing_key=organisation.public.signing_key,
            recipients=tuple(sorted(AgeIdentity.make().recipient for _ in range(2))),
        ),
        policy_sha256="0" * 64,
        consent="Agreed.",
        guide="",
        language="en",
        secret=False,
        orders={place_of(tag_of(code, salt)): tuple(each.id for each in made)},
        members={},
    )
    batch = make_batch(manifest, made, [], organisation, salt)
    (folder / "stick").mkdir()
    (folder / "stick" / "Keys.rosetta-batch").write_bytes(write_batch(batch))
    with Laptop.open(folder / "home") as laptop:
        opening = TerminalOpening(laptop)
        opening.accept(batch)
        opening.reviewer(batch, code)
    return code


def measure(folder: Path, items: int) -> tuple[list[float], list[float]]:
    """Rate all items but the last; gives the milliseconds of each key, and of each commit."""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    terminal = Terminal([sys.executable, "-P", "-c", CHILD, str(folder)], env, 80, 24)
    waits = []
    try:
        for page, keys in OPENING:
            terminal.see(page, 30)
            terminal.press(keys)
        terminal.see("Mark0000", 30)
        for number in range(1, items):
            time.sleep(PAUSE_SECONDS)
            begun = pressed(terminal, "1234"[number % 4], "to go." if number % PART == 0 else f"Mark{number:04d}")
            if number % PART == 0:
                time.sleep(PAUSE_SECONDS)
                begun = pressed(terminal, "\r", f"Mark{number:04d}")
            waits.append((time.perf_counter() - begun) * 1000)
        terminal.press("q")
        terminal.wait(20)
    finally:
        terminal.end()
    commits = json.loads((folder / "appends.json").read_text())
    return waits, [seconds * 1000 for seconds in commits]


def pressed(terminal: Terminal, key: str, then: str) -> float:
    """Press a key until what follows is drawn, and return when it was pressed last; on a slow machine a key may come too soon."""
    for tries in range(10, -1, -1):
        begun = time.perf_counter()
        terminal.press(key)
        try:
            terminal.see(then, 5)
        except TimeoutError:
            if not tries:
                raise
        else:
            return begun
    raise AssertionError


def percentile(values: list[float], share: float) -> float:
    """Return the value below which this share of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def tell_growth() -> None:
    """Measure and print how the cost of a rating grows with the log."""
    with tempfile.TemporaryDirectory() as name:
        few, many = (rating_cost(Path(name) / str(items), items) for items in (100, 1000))
    print(
        f"a rating: {few:.2f} ms of processor after 100 ratings, {many:.2f} ms after 1,000: "
        f"ratio {many / few:.2f} (goal: about 1)"
    )


def main() -> None:
    """Measure and print."""
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, items)
        waits, commits = measure(folder, items)
    for what, values in (("key to next item painted", waits), ("of it the durable commit", commits)):
        print(
            f"{what}: p50 {percentile(values, 0.5):.1f} ms, p95 {percentile(values, 0.95):.1f} ms,"
            f" most {max(values):.1f} ms ({len(values)})"
        )
    tell_growth()
    verdict = "met" if percentile(waits, 0.95) <= GOAL_MS else "MISSED"
    print(f"goal: p95 within {GOAL_MS:.0f} ms: {verdict}")


if __name__ == "__main__":
    main()
