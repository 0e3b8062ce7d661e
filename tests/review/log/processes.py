"""Programs for tests that need a process of their own, run as ``python -m tests.review.log.processes WHAT FOLDER``."""

import sys
from pathlib import Path

from review.log.laptop import Laptop
from review.rating import Rating
from tests.review.log.material import rate


def append(folder: str, count: str) -> None:
    with Laptop.open(Path(folder), busy_seconds=60) as laptop:
        for number in range(int(count)):
            event = laptop.append(rate(number % 6, Rating.GIST))
            sys.stdout.write(f"{event.id} {event.seq}\n")
            sys.stdout.flush()


def hold(folder: str) -> None:
    with Laptop.open(Path(folder)) as laptop:
        laptop.connection.execute("BEGIN IMMEDIATE")
        sys.stdout.write("held\n")
        sys.stdout.flush()
        sys.stdin.read()
        laptop.connection.execute("ROLLBACK")


if __name__ == "__main__":
    {"append": append, "hold": hold}[sys.argv[1]](*sys.argv[2:])
