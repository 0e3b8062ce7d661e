"""Kill a computer at each of its steps on the disk while it puts out or takes in, and go on from what is left.

Run as a program of one thread, because it forks: ``python killed.py FOLDER STEP`` kills at every STEP-th place and prints
how often, and what was wrong afterwards.
"""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.harness.exchange.computers import Computer, computers
from tests.harness.vault.killed import killed

CARDS = ("Ana", "Bo", "Cee")


def put(folder: Path) -> None:
    """The office puts three cards on the stick."""
    office = Computer(folder / "office", "Office")
    office.out(folder / "stick", *(office.home / f"{each}.rosetta-keeper" for each in CARDS))


def take(folder: Path) -> None:
    """The school takes them."""
    Computer(folder / "school", "School").take(folder / "stick")


ACTS: dict[str, Callable[[Path], None]] = {"out": put, "in": take}


def begun(folder: Path, *, filled: bool) -> Path:
    """Two computers, a stick and three cards, which lie on it where ``filled``."""
    folder.mkdir(parents=True)
    office, *_ = computers(folder)
    for each in CARDS:
        office.card(each)
    if filled:
        put(folder)
    return folder


def wrong(folder: Path, act: str) -> str:
    """Say what is not as it should be once somebody went on; empty where all of it is."""
    school, stick = Computer(folder / "school", "School"), folder / "stick"
    if act == "in":
        again = school.take(stick)
        if again.refused or len(again.new) + again.before != len(CARDS):
            return f"{again}"
    else:
        seen = school.take(stick) if (stick / "rosetta-exchange" / "exchange.json").exists() else None
        if seen is not None and seen.refused:
            return f"{seen.refused}"
        put(folder)
        school.take(stick)
    names = [f"{each}.rosetta-keeper" for each in CARDS]
    for each in names:
        if (school.inbox / each).read_bytes() != (folder / "office" / each).read_bytes():
            return f"{each} is another"
    if school.has() != names or school.take(stick).before != len(CARDS):
        return f"{school.has()}"
    office = Computer(folder / "office", "Office")
    [mine] = [each for each in office.look(stick).machines if each.own]
    return "" if all("School" in each.taken_by and each.there for each in mine.lying) else f"{mine}"


def main(folder: Path, step: int) -> dict[str, Any]:
    """Kill and go on; gives how often, and all that is wrong."""
    told: dict[str, Any] = {"kills": {}, "wrong": []}
    for name, act in ACTS.items():
        whole = begun(folder / f"{name}-whole", filled=name == "in")
        place = kills = 0
        while True:
            here = folder / f"{name}-{place}"
            shutil.copytree(whole, here)
            if not killed(act, here, place):
                break
            kills += 1
            if said := wrong(here, name):
                told["wrong"].append(f"{name} at {place}: {said}")
            shutil.rmtree(here)
            place += step
        told["kills"][name] = kills
    return told


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
