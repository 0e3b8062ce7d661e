"""What the front door knows before anything is imported: its packages, its commands, its help page."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import rosetta_tui

PACKAGES = ("corpora", "scoring", "harness", "review", "rosetta_tui", "rosetta")
"""Our packages, from the ground up; other programs may bring ones of the plain names among them."""

GROUPS = {
    "Commands": ("demo", "run", "score", "runs", "compare", "leaderboard", "report", "corpus", "doctor"),
    "Runs": ("gate", "cost", "resume", "watch", "retry", "sweep", "publish", "verify", "calibrate", "key", "completion"),
    "Speakers": ("review", "community"),
    "Secret texts": ("vault", "submission", "council"),
    "Languages": ("language",),
}  # fmt: skip
"""Heading of the help page → its commands, in the order in which they are needed."""

ORDER = tuple(name for names in GROUPS.values() for name in names)  # others stand after them


def commands(group: str = "", order: tuple[str, ...] = ORDER) -> dict[str, tuple[str, str]]:
    """Return a group's commands: name → module and description, read from the files' first lines without importing any."""
    listed: dict[str, tuple[str, str]] = {}
    for path, module in _files(group):
        for line in _first_lines(path):
            call, _, does = line.partition("``: ")
            name = call.removeprefix(f"``rosetta {group} ".replace("  ", " "))
            if " " not in name:
                listed[name] = (module, does)
    places = {name: place for place, name in enumerate(order)}
    return dict(sorted(listed.items(), key=lambda command: places.get(command[0], len(order))))


def module_of(group: str, name: str) -> str | None:
    """Return the module that holds a command; None where there is none."""
    return commands(group).get(name, (None,))[0]


def _files(group: str) -> Iterator[tuple[str, str]]:
    """Yield path and module of each file that may hold commands of a group."""
    package = ".".join(("rosetta_tui.commands", *group.split()))
    for home in rosetta_tui.__path__:
        folder = os.path.join(home, "commands", *group.split())  # noqa: PTH118  pathlib costs start-up time
        yield f"{folder}.py", package
        if os.path.isdir(folder):  # noqa: PTH112
            for file in sorted(os.listdir(folder)):  # noqa: PTH208
                path = os.path.join(folder, file)  # noqa: PTH118
                path += "" if file.endswith(".py") else "/__init__.py"
                yield path, f"{package}.{file.removesuffix('.py')}"


def _first_lines(path: str) -> list[str]:
    """Return the lines with which a file begins and that begin with a call of ``rosetta``."""
    lines: list[str] = []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            for line in file:
                line = line.strip().strip('"')  # noqa: PLW2901
                if not line.startswith("``rosetta "):
                    break
                lines.append(line)
    except (OSError, ValueError):  # no file has such a name
        pass
    return lines


DONE, FAILED, MISUSED, WAITING, INTERRUPTED = 0, 1, 2, 3, 130

EXIT_CODES = {
    DONE: "done",
    FAILED: "failed, or what was examined does not hold: a card, a certificate, a finding that is broken",
    MISUSED: "wrong usage or bad input; nothing was changed, or only what a message names",
    WAITING: "keepers were asked, and too few have answered: the same command continues once they have",
    INTERRUPTED: "interrupted, with everything saved",
}
"""Exit code → what it says, for every command."""


def help_text() -> str:
    """Write the help page; without click, so that it costs next to nothing."""
    known = commands()
    width = max(map(len, known))
    lines = {name: f"  {name:<{width}}  {words}" for name, (_, words) in known.items()}
    groups = {title: [lines[n] for n in names if n in lines] for title, names in GROUPS.items()}
    groups["Further"] = [line for name, line in lines.items() if name not in ORDER]
    listed = "\n\n".join("\n".join([f"{title}:", *of]) for title, of in groups.items() if of)
    return f"""Usage: rosetta [COMMAND] [OPTIONS]

  Find out, offline and honestly, whether a machine translation is good enough.
  Without a command, the app opens.

{listed}

Options:
  --version  Show the version.
  -h, --help Show this page; `rosetta COMMAND -h` shows a command's own.
"""


def on_terminal() -> bool:
    """Return whether a person reads and answers, and no file."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def version_text() -> str:
    """Write the line of ``--version``."""
    from harness.core.version import VERSION

    return f"rosetta, version {VERSION}\n"
