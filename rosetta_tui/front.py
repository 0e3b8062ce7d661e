"""What the front door knows before anything is imported: its packages, its commands, its help page."""

from __future__ import annotations

import os

import rosetta_tui

PACKAGES = ("corpora", "scoring", "harness", "review", "rosetta_tui", "rosetta")
"""Our packages, from the ground up; other programs may bring ones of the plain names among them."""

ORDER = (
    "demo", "run", "estimate", "score", "resume", "watch", "retry", "runs", "compare", "leaderboard",
    "corpus", "language", "review", "calibrate", "key", "doctor",
)  # fmt: skip
"""The order in which commands are needed; one that is not named here stands after them."""


def commands(group: str = "", order: tuple[str, ...] = ORDER) -> dict[str, tuple[str, str]]:
    """Return the commands of a group of ``rosetta``: name → the module that holds it, and what it does.

    A command is a file of ``rosetta_tui/commands``, or of the folder there that has the group's name. Its
    first line begins with its call and says in a sentence what it does; no file is imported for that.
    """
    begins = f'"""``rosetta {f"{group} " if group else ""}'
    package = ".".join(filter(None, ("rosetta_tui.commands", group)))
    found = {}
    for home in rosetta_tui.__path__:
        folder = os.path.join(home, "commands", group)  # noqa: PTH118  pathlib costs start-up time
        if not os.path.isdir(folder):  # noqa: PTH112
            continue
        for each in sorted(os.listdir(folder)):  # noqa: PTH208
            stem = each.removesuffix(".py")
            name, colon, does = _first_line(os.path.join(folder, each)).partition("``: ")  # noqa: PTH118
            name = name.removeprefix(begins)
            if colon and stem.rstrip("_") == name:
                found[name] = (f"{package}.{stem}", does.removesuffix('"""'))
    places = {name: place for place, name in enumerate(order)}
    return dict(sorted(found.items(), key=lambda each: places.get(each[0], len(order))))


def _first_line(path: str) -> str:
    """Return the first line of a file of Python, or of a folder's ``__init__``; empty where it is neither."""
    if not path.endswith(".py"):
        path = os.path.join(path, "__init__.py")  # noqa: PTH118
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return file.readline().rstrip("\n")
    except OSError:
        return ""


DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130

EXIT_CODES = {
    DONE: "done",
    FAILED: "failed, or what was looked at does not hold: a card, a certificate, a finding that is broken",
    MISUSED: "wrong usage or bad input; nothing was changed, or only what a message names",
    INTERRUPTED: "interrupted, with everything saved",
}
"""Exit code → what it says, for every command."""


def help_text() -> str:
    """Write the help page; without click, so that it costs next to nothing."""
    known = commands()
    width = max(map(len, known))
    listed = "\n".join(f"  {name:<{width}}  {words}" for name, (_, words) in known.items())
    return f"""Usage: rosetta [COMMAND] [OPTIONS]

  Find out, offline and honestly, whether a machine translation is good enough.
  Without a command, the app opens.

Commands:
{listed}

Options:
  --version  Show the version.
  -h, --help Show this page; `rosetta COMMAND -h` shows a command's own.
"""
