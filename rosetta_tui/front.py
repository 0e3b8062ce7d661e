"""What the front door knows before anything is imported: its packages, its commands, its help page."""

from __future__ import annotations

import os

import rosetta_tui

PACKAGES = ("corpora", "scoring", "harness", "review", "rosetta_tui", "rosetta")
"""Our packages, from the ground up; other programs may bring ones of the plain names among them."""

GROUPS = {
    "Commands": ("demo", "run", "score", "runs", "compare", "leaderboard", "report", "corpus", "doctor"),
    "Runs": ("cost", "resume", "watch", "retry", "sweep", "publish", "verify", "calibrate", "key"),
    "Speakers": ("review", "ownership", "organisation", "consent", "community"),
    "Secret texts": ("vault", "submission", "exchange"),
    "Languages": ("language",),
}  # fmt: skip
"""Heading of the help page → its commands, in the order in which they are needed."""

ORDER = tuple(name for names in GROUPS.values() for name in names)
"""All of them; a command that is not named here stands after them."""


def commands(group: str = "", order: tuple[str, ...] = ORDER) -> dict[str, tuple[str, str]]:
    """Return the commands of a group of ``rosetta``: name → the module that holds it, and what it does.

    A command is a file of ``rosetta_tui/commands``, or of the folder there that has the group's name; a group of two
    words is a folder in the folder of the first. Its first line begins with its call and says in a sentence what it does; no file is imported for that.
    """
    listed: dict[str, tuple[str, str]] = {}
    for folder in _folders(group):
        if os.path.isdir(folder):  # noqa: PTH112
            for file_name in sorted(os.listdir(folder)):  # noqa: PTH208
                listed |= _told(group, folder, file_name)
    places = {name: place for place, name in enumerate(order)}
    return dict(sorted(listed.items(), key=lambda command: places.get(command[0], len(order))))


def module_of(group: str, name: str) -> str | None:
    """Return the module that holds a command; None where there is none. Only files of its name are examined."""
    files = (f"{name}{end}" for end in ("", "_", ".py", "_.py"))
    listings = (_told(group, folder, file) for file in files for folder in _folders(group))
    return next((listing[name][0] for listing in listings if name in listing), None)


def _folders(group: str) -> list[str]:
    return [os.path.join(home, "commands", *group.split()) for home in rosetta_tui.__path__]  # noqa: PTH118  pathlib costs start-up time


def _told(group: str, folder: str, file: str) -> dict[str, tuple[str, str]]:
    """Return name, module and purpose of the command that a file holds; empty where it holds none."""
    stem = file.removesuffix(".py")
    call, colon, does = _first_line(os.path.join(folder, file)).partition("``: ")  # noqa: PTH118
    name = call.removeprefix(f'"""``rosetta {group} '.replace("  ", " "))
    if not colon or stem.rstrip("_") != name:
        return {}
    module = ".".join(("rosetta_tui.commands", *group.split(), stem))
    return {name: (module, does.removesuffix('"""'))}


def _first_line(path: str) -> str:
    """Return the first line of a file of Python, or of a folder's ``__init__``; empty where it is neither."""
    if not path.endswith(".py"):
        path = os.path.join(path, "__init__.py")  # noqa: PTH118
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return file.readline().rstrip("\n")
    except (OSError, ValueError):  # no file has such a name
        return ""


DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130

EXIT_CODES = {
    DONE: "done",
    FAILED: "failed, or what was examined does not hold: a card, a certificate, a finding that is broken",
    MISUSED: "wrong usage or bad input; nothing was changed, or only what a message names",
    INTERRUPTED: "interrupted, with everything saved",
}
"""Exit code → what it says, for every command."""


def help_text() -> str:
    """Write the help page; without click, so that it costs next to nothing."""
    known = commands()
    width = max(map(len, known))
    lines = {name: f"  {name:<{width}}  {words}" for name, (_, words) in known.items()}
    groups = {
        title: [lines[name] for name in names if name in lines] for title, names in GROUPS.items()
    }
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
