"""Take answers in, use a grant and kill whoever does, in random orders; count what was opened.

Run as a program of one thread, because it forks: ``python -m tests.harness.vault.grants.orders FOLDER COUNT FIRST``.
"""

import json
import os
import random
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from harness.sealed.strict_records import FileError
from harness.vault.grants.grants import Grants
from harness.vault.vault import Vault
from tests.harness.vault.grants import made
from tests.harness.vault.killed import killed
from tests.harness.vault.made import readable

OPENED = "opened"
"""A file with a letter for each time that texts were opened, and how many keepers had allowed it by then."""


def in_a_process(act: Callable[[], object], place: int | None) -> None:
    """Do an act in a process; it is ended at its ``place``-th step on the disk where that is given."""

    def tried(_: object) -> None:
        with suppress(Exception):
            act()

    killed(tried, None, 10**9 if place is None else place)


def story(folder: Path, whole: Path, draw: random.Random) -> dict[str, Any]:
    """Play one story; gives how often the texts were opened, with how many who allowed it, and what was found wrong."""
    shutil.copytree(whole, folder)
    (folder / OPENED).touch()
    answers: list[str] = json.loads((whole / "answers.json").read_text())
    number = (whole / "number").read_text()
    taken: set[int] = set()
    whole_way = ["take"] * 6 + ["use"] * 3 if draw.random() < 0.8 else []
    kinds = ["take", "take", "take", "use", "copy", "forget"]
    for act in [*draw.choices(kinds, k=draw.randrange(8)), *whole_way]:
        place = draw.choice([None, None, draw.randrange(30), draw.randrange(60)])
        twice = (folder / "twice").exists() and draw.random() < 0.3
        here = made.at(folder)
        vault = Vault(folder / ("twice" if twice else "vault"), folder / "memory", here.vault.clock)
        grants = Grants(vault, here.machine)
        match act:
            case "take":
                chosen = draw.choices(range(len(answers)), weights=[4, 4, 4, 1])[0]
                taken.add(chosen)
                data = bytes.fromhex(answers[chosen])
                in_a_process(partial(grants.take, data, made.OFFICE), place)
            case "use":
                in_a_process(partial(use, grants, number, folder), place)
            case "copy" if not twice:
                shutil.copytree(folder / "vault", folder / "twice", dirs_exist_ok=True)
            case _:
                for seen in (folder / "memory").glob("*.json"):
                    seen.unlink()
    return {
        "opened": (folder / OPENED).stat().st_size,
        "allowing": sum(each < len(answers) - 1 for each in taken),
        "readable": readable(folder),
        **looked_at(folder),
    }


def use(grants: Grants, number: str, folder: Path) -> None:
    assert grants.open(number, made.OFFICE, made.RUN)
    with (folder / OPENED).open("ab") as file:
        file.write(b"x")


def looked_at(folder: Path) -> dict[str, list[str]]:
    """Read both copies of the vault as a computer that never saw them does."""
    told: dict[str, list[str]] = {"used": [], "wrong": []}
    for place in ("vault", "twice"):
        vault = Vault(folder / place, folder / f"fresh-{place}", made.at(folder).vault.clock)
        if vault.folder.exists():
            try:
                told["used"] += [each.used for each in vault.read().grants.values() if each.used]
            except FileError as error:
                told["wrong"].append(str(error))
    return told


def main(folder: Path, count: int, first: int) -> dict[str, int]:
    """Play stories; gives how many opened, never, once or oftener, and with too few who allowed it."""
    os.fsync = lambda fd: None  # the program is killed, not the computer
    whole = folder / "whole"
    made.founded(whole)
    grants = made.at(whole)
    data, number = made.asked(grants)
    answers = [
        *made.allowed(grants, data, made.SCHOOL, made.LIBRARY, made.CHURCH),
        grants.answer(data, made.CHURCH, allowed=False, reason="not now"),
    ]
    (whole / "answers.json").write_text(json.dumps([each.hex() for each in answers]))
    (whole / "number").write_text(number)
    told = {"stories": 0, "never": 0, "once": 0, "oftener": 0, "too few": 0, "twice in the logs": 0, "readable": 0, "wrong": 0}  # fmt: skip
    for place in range(first, first + count):
        found = story(folder / str(place), whole, random.Random(place))
        told["stories"] += 1
        told["never" if not found["opened"] else "once" if found["opened"] == 1 else "oftener"] += 1
        told["too few"] += found["opened"] > 0 and found["allowing"] < 2
        told["twice in the logs"] += len(set(found["used"])) > 1
        told["readable"] += bool(found["readable"])
        told["wrong"] += bool(found["wrong"])
        shutil.rmtree(folder / str(place))
    return told


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
