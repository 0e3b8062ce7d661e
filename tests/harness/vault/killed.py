"""Kill a process at each of its steps on the disk while it changes a vault, and look at what is left.

Run as a program of one thread, because it forks: ``python killed.py FOLDER STEP`` kills at every STEP-th place of every
act and prints how often, what was lost and in which files a text could be read.
"""

import io
import json
import os
import posix
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

from corpora.model.entry import Segment
from harness.sealed.keys import Identity, Role
from harness.sealed.strict_records import FileError
from harness.vault.keepers import keeper_of
from harness.vault.key_shares import OpeningKey
from harness.vault.shares import combined, own_share
from harness.vault.vault import Vault
from tests.harness.vault.made import (
    KEEPERS,
    MINE,
    OFFICE,
    PEOPLE,
    corpus,
    filled,
    filled_together,
    founded,
    readable,
    vault,
)

STEPS = {"open", "write", "flush", "fsync", "truncate", "replace", "rename", "link", "unlink", "mkdir", "chmod"}

ENTRIES = 8
NEW = Identity.make(Role.KEEPER)


WHY = "moved away"


def together(made: Vault) -> OpeningKey:
    """What the keepers have together, whichever splitting of theirs is the last one."""
    state = made.read()
    people = [each for each in PEOPLE.values() if each.public.signing_key in state.keepers]
    return combined(state, [own_share(state, each) for each in people])


ACTS: dict[str, Callable[[Vault], object]] = {
    "init": lambda made: made.found("Words of the elders", KEEPERS, MINE),
    "add": lambda made: made.add(corpus(4, "others"), "others", MINE),
    "open": lambda made: made.open("greetings", "a look", MINE),
    "rotate": lambda made: made.rotate("greetings", Segment.HELD_OUT, Segment.GOLD_STANDARD, 1, WHY, MINE),
    "enrol": lambda made: made.enrol(keeper_of(NEW, "Library"), WHY, MINE),
    "revoke": lambda made: made.revoke("School", WHY, MINE),
    "export": lambda made: made.export(made.folder.parent / "stick", WHY, MINE),
    "init together": lambda made: founded(made.folder.parent),
    "enrol together": lambda made: made.enrol(keeper_of(NEW, "New"), WHY, OFFICE, together(made)),
    "revoke together": lambda made: made.revoke("School", WHY, OFFICE, together(made)),
    "refresh": lambda made: made.refresh(WHY, OFFICE, together(made), 2),
}  # fmt: skip
OF_SEVERAL = {"init together", "enrol together", "revoke together", "refresh"}
"""Acts of a vault whose keepers open together."""


def is_step(function: Any) -> bool:
    """Tell whether a call of C writes, or makes, names or deletes a file; ``str.replace`` is none."""
    of = getattr(function, "__self__", None)
    return function.__name__ in STEPS and (
        of is posix or (isinstance(of, io.IOBase) and not isinstance(of, io.BytesIO | io.StringIO))
    )


def killed(act: Callable[[Any], object], made: Any, place: int) -> bool:
    """Do an act in a process that is ended at its ``place``-th step on the disk; False where it has fewer."""
    child = os.fork()
    if child == 0:
        left = [place]

        def count(_: FrameType, event: str, function: Any) -> None:
            if event == "c_call" and is_step(function):
                left[0] -= 1
                if left[0] < 0:
                    os._exit(9)

        sys.setprofile(count)
        act(made)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def left(made: Vault, founded: bool) -> int:
    """Return the entries that a keeper still has; as many as there ought to be where there was no vault before."""
    if not founded:
        return ENTRIES
    state = made.read()
    counts = [each.entries for each in state.head.corpora.values() if each.name == "greetings"]
    who, opener = (MINE, None) if state.split is None else (OFFICE, together(made))
    opened = made.open("greetings", "after the kill", who, opener=opener)
    assert len(opened) == sum(n for of in counts for s, n in of.items() if s != Segment.HELD_OUT)
    return sum(sum(of.values()) for of in counts)


def main(folder: Path, step: int) -> dict[str, Any]:
    """Kill and look; gives how often, and all that is wrong."""
    told: dict[str, Any] = {"kills": {}, "lost": [], "readable": []}
    filled(folder / "whole")
    filled_together(folder / "whole together")
    for name, act in ACTS.items():
        place = kills = 0
        while True:
            here = folder / f"{name}-{place}"
            if not name.startswith("init"):
                whole = "whole together" if name in OF_SEVERAL else "whole"
                shutil.copytree(folder / whole, here)
            made = vault(here)
            if not killed(act, made, place):
                break
            kills += 1
            told["readable"] += readable(here)
            try:
                if left(made, not name.startswith("init")) != ENTRIES:
                    told["lost"].append(f"{name} at {place}")
                with suppress(FileError):  # it was done before the process was killed
                    act(made)
                made.read()
            except Exception as error:  # noqa: BLE001  told with its place
                told["lost"].append(f"{name} at {place}: {error!r}")
            told["readable"] += readable(here)
            shutil.rmtree(here)
            place += 2 * step if step > 1 and name in OF_SEVERAL else step
        told["kills"][name] = kills
    return told


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
