"""What works on this computer, what is missing, and what to do: looked at here, sent nowhere, changing nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from harness.doctor.finding import Finding, Health

Check = Callable[[], Iterable[Finding]]


def examine(home: Path) -> Iterator[Finding]:
    """Look at everything that has nothing to do with a screen; ``home`` is the data folder.

    What cannot be looked at is a finding too, so that one broken thing hides no other. The keyring is asked
    whether it answers, which may open a dialog of the operating system.
    """
    from harness.doctor import data as doctor_data
    from harness.doctor import languages as doctor_languages
    from harness.doctor import program as doctor_program

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
    """Yield what a check finds; a failure of the check itself ends it and is told."""
    try:
        yield from check()
    except Exception as error:  # noqa: BLE001  whatever is broken here is what a person asks about
        words = f"cannot be looked at ({type(error).__name__})"
        yield Finding(area, area.lower(), Health.BROKEN, words)
