"""What the front door knows before anything is imported: its commands, its packages, its help page."""

from __future__ import annotations

PACKAGES = ("corpora", "scoring", "harness", "review", "rosetta_tui")
"""Our packages, from the ground up; other programs may bring ones of the plain names among them."""

COMMANDS = {
    "demo": ("rosetta_tui.commands.demo", "Run the bundled demo: no key, no network."),
    "run": ("rosetta_tui.commands.run", "Translate a corpus with a method, scoring every entry."),
    "estimate": (
        "rosetta_tui.commands.estimate",
        "Say what a run would cost and how long it takes.",
    ),
    "score": ("rosetta_tui.commands.score", "Score outputs that were made elsewhere."),
    "resume": ("rosetta_tui.commands.resume", "Go on where a run was cut."),
    "watch": ("rosetta_tui.commands.watch", "Watch a run of another terminal, and steer it."),
    "retry": ("rosetta_tui.commands.retry", "Ask again for a run's failed entries."),
    "runs": ("rosetta_tui.commands.runs", "List, show, note, export, import and delete runs."),
    "compare": ("rosetta_tui.commands.compare", "Tell which run is better, and how sure that is."),
    "leaderboard": ("rosetta_tui.commands.leaderboard", "Rank the runs that are comparable."),
    "corpus": ("rosetta_tui.commands.corpus", "Check, describe and convert corpus files."),
    "language": ("rosetta_tui.commands.language", "Show languages; check what works for one here."),
    "review": ("rosetta_tui.commands.review", "Let speakers rate outputs; read the verdict."),
    "calibrate": ("rosetta_tui.commands.calibrate", "Compare scores with people's ratings."),
    "key": ("rosetta_tui.commands.key", "Keep keys of model and translation services."),
    "doctor": ("rosetta_tui.commands.doctor", "Say what works here, what is missing, what to do."),
}
"""Name → where the command is and what it does; imported only when it is called."""


def help_text() -> str:
    """Write the help page; without click, so that it costs next to nothing."""
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:<{width}}  {words}" for name, (_, words) in COMMANDS.items())
    return f"""Usage: rosetta [COMMAND] [OPTIONS]

  Find out, offline and honestly, whether a machine translation is good enough.
  Without a command, the app opens.

Commands:
{commands}

Options:
  --version  Show the version.
  -h, --help Show this page; `rosetta COMMAND -h` shows a command's own.
"""
