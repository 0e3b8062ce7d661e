"""What works on this computer, what is missing, and what to do: looked at here, sent nowhere, changing nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path


class Health(StrEnum):
    """How it stands with one thing."""

    OK = "ok"
    MISSING = "missing"
    """It is not here, and something would be better with it."""
    BROKEN = "broken"
    """It is here and does not work, or nothing works without it."""
    UNKNOWN = "unknown"
    """It cannot be found out."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    area: str
    name: str
    health: Health
    words: str
    """What it is, or what is wrong with it."""
    mend: tuple[str, ...] = ()
    """Lines for a shell, each to be copied as it stands; without any, ``words`` say what to do."""


Check = Callable[[], Iterable[Finding]]


def examine(home: Path) -> Iterator[Finding]:
    """Look at everything that has nothing to do with a screen; ``home`` is the data folder.

    What cannot be looked at is a finding too, so that one broken thing hides no other. The keyring is asked
    whether it answers, which may open a dialog of the operating system.
    """
    from harness import doctor_data, doctor_languages, doctor_program

    for area, check in (
        ("Program", doctor_program.program),
        ("Extras", doctor_program.extras),
        ("Keys", doctor_program.keys),
        ("Data", partial(doctor_data.data, home)),
        ("Settings", partial(doctor_data.settings, home)),
        ("Languages", partial(doctor_languages.languages, home)),
    ):
        yield from looked_at(area, check)


def looked_at(area: str, check: Check) -> Iterator[Finding]:
    """Give what a check finds; a failure of the check itself ends it and is told."""
    try:
        yield from check()
    except Exception as error:  # noqa: BLE001  whatever is broken here is what a person asks about
        words = f"cannot be looked at ({type(error).__name__})"
        yield Finding(area, area.lower(), Health.BROKEN, words)
