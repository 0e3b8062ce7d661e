"""What can be known of the terminal: size, colours, letters, fonts, clipboard."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache, partial
from textwrap import wrap

from corpora.files.json_types import JsonObject
from harness.doctor.finding import Finding, Health
from rosetta_tui.show.text import plain

LEAST = (80, 24)  # columns and rows for which every screen is made

_COLOURS = {
    "truecolor": "16 million: every theme as it was made",
    "256": "256: themes come close",
    "standard": "16: choose the terminal's own colours in the settings",
    "windows": "16: choose the terminal's own colours in the settings",
}
"""Rich's name of what a terminal can → what that means here."""

_FONTS = {
    "symbols ◆ ▶ █": ("25c6 25b6 2588", "fonts-dejavu"),
    "Latin letters with marks ŋ ł ə": ("14b 142 259", "fonts-dejavu"),
    "Canadian syllabics ᓂᐚᐤ": ("14c2 141a 1424", "fonts-noto-core"),
    "Cherokee ᏣᎳᎩ": ("13e3 13b3 13a9", "fonts-noto-core"),
    "Arabic كتب": ("643 62a 628", "fonts-noto-core"),
    "Devanagari हिन्दी": ("939 93f", "fonts-noto-core"),
}
"""Letters → their code points, and a package of Debian and its kin that has them."""

_SECONDS = 5  # no small program of the system takes longer


def terminal(size: tuple[int, int], environment: Mapping[str, str]) -> Iterator[Finding]:
    """Return what the terminal can do."""
    find = partial(Finding, "Terminal")
    name = environment.get("TERM_PROGRAM") or environment.get("TERM", "unknown")
    inside = [program for sign, program in _INSIDE.items() if environment.get(sign)]
    yield find("name", Health.OK, " in ".join(dict.fromkeys([name, *inside])))
    enough = size[0] >= LEAST[0] and size[1] >= LEAST[1]
    words = f"{size[0]} columns, {size[1]} rows"
    words += "" if enough else f": make the window larger, to {LEAST[0]} × {LEAST[1]} at least"
    yield find("size", Health.OK if enough else Health.MISSING, words)
    yield find("colours", *_colours(environment))
    encoding = (getattr(sys.__stdout__, "encoding", None) or "unknown").lower()
    if encoding.replace("-", "") == "utf8":
        yield find("letters", Health.OK, "UTF-8: every script can be sent")
    else:
        words = f"{encoding}: letters of many languages cannot be sent. Choose UTF-8:"
        mend = "chcp 65001" if os.name == "nt" else "export LC_ALL=C.UTF-8"
        yield find("letters", Health.BROKEN, words, (mend,))
    yield from _fonts(environment)
    yield find("clipboard", *_clipboard(environment))


_INSIDE = {"TMUX": "tmux", "STY": "screen", "SSH_CONNECTION": "ssh"}


def _colours(environment: Mapping[str, str]) -> tuple[Health, str]:
    if environment.get("NO_COLOR"):
        return Health.OK, "none, because NO_COLOR is set; words and shapes say everything"
    color_system = color_system_of(environment)
    if color_system is None:
        return Health.MISSING, "none; words and shapes say everything"
    return Health.OK, _COLOURS[color_system]


def color_system_of(environment: Mapping[str, str]) -> str | None:
    """Return what Rich, and so the app, takes the colours of a terminal for; Rich itself is asked on Windows alone, as it is large."""
    if os.name == "nt":
        from rich.console import Console

        return Console(force_terminal=True, _environ=dict(environment)).color_system
    term = environment.get("TERM", "").strip().lower()
    if term in {"dumb", "unknown"}:
        return None
    if environment.get("COLORTERM", "").strip().lower() in {"truecolor", "24bit"}:
        return "truecolor"
    return "256" if term.rpartition("-")[2] in {"kitty", "256color"} else "standard"


def _fonts(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yield for which letters no font is installed; over ssh, fonts are those of another computer."""
    if environment.get("SSH_CONNECTION"):
        words = "they are those of the computer you sit at: run `rosetta doctor` there"
        yield Finding("Terminal", "fonts", Health.UNKNOWN, words)
        return
    lister = shutil.which("fc-list")
    if lister is None:
        samples = "   ".join(_FONTS)
        words = f"cannot be known here. Each of these should show letters, no boxes:   {samples}"
        yield Finding("Terminal", "fonts", Health.UNKNOWN, words)
        return
    # Query fontconfig which letters each font has: `20-7e a0 100-17f`, the code points in
    # hexadecimal.
    done = subprocess.run(  # noqa: S603  the program was found on the path, its arguments are ours
        [lister, "--format", "%{charset}\\n"],
        capture_output=True, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    fonts = set(done.stdout.decode("ascii", "replace").splitlines())

    @cache
    def ranges(font: str) -> list[tuple[int, int]]:
        return [(int(a, 16), int(b or a, 16)) for a, _, b in (part.partition("-") for part in font.split())]

    def has(font: str, points: str) -> bool:
        """Return whether a font has all of these letters."""
        wanted = [int(point, 16) for point in points.split()]
        return all(any(low <= point <= high for low, high in ranges(font)) for point in wanted)

    gone = {
        words: package for words, (points, package) in _FONTS.items() if not any(has(font, points) for font in fonts)
    }
    if not gone:
        words = "installed for every script tried; which of them the terminal uses, it does not tell"
        yield Finding("Terminal", "fonts", Health.OK, words)
    for words, package in gone.items():
        mend = (f"sudo apt install {package}",) if shutil.which("apt") else ()
        yield Finding("Terminal", "fonts", Health.MISSING, f"none installed for {words}", mend)


def _clipboard(environment: Mapping[str, str]) -> tuple[Health, str, tuple[str, ...]]:
    if environment.get("STY"):
        words = "screen passes no copied text on; select with the mouse and shift instead"
        return Health.MISSING, words, ()
    program = shutil.which("tmux")
    if environment.get("TMUX") and program is not None:
        done = subprocess.run(  # noqa: S603  as above
            [program, "show-options", "-gv", "set-clipboard"],
            capture_output=True, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.stdout.strip() == b"on":
            return Health.OK, "tmux passes copied text on to the terminal", ()
        words = "tmux does not pass copied text on to the terminal. Let it:"
        return Health.MISSING, words, ("tmux set-option -g set-clipboard on",)
    return (Health.UNKNOWN, "copying is asked of the terminal (OSC 52), which does not tell whether it does", ())


# ---- Findings of the doctor as lines for a terminal ----

SIGNS = {Health.OK: "✓", Health.MISSING: "○", Health.BROKEN: "✗", Health.UNKNOWN: "?"}


def finding_lines(finding: Finding, *, new_area: bool, width: int | None = None) -> Iterator[str]:
    """Yield the lines of one finding, below its area where that is new; words wrap at ``width`` cells, commands never."""
    if new_area:
        yield finding.area
    sign = f"{SIGNS[finding.health]} {finding.health}"
    whole = f"  {sign:<10}{plain(finding.name)}: {plain(finding.words)}"
    if width is None:
        yield whole
    else:
        yield from wrap(
            whole,
            width,
            subsequent_indent=_INDENT,
            break_long_words=False,
            break_on_hyphens=False,
            drop_whitespace=True,
        )
    yield from (f"{_INDENT}{line}" for line in finding.mend)


_INDENT = " " * 12


def summary(findings: Sequence[Finding]) -> str:
    """Return how it stands with everything together."""
    counts = {health: sum(finding.health is health for finding in findings) for health in Health}
    broken, missing = counts[Health.BROKEN], counts[Health.MISSING]
    verdict = "Nothing is broken" if not broken else f"{broken} broken"
    rest = f"{missing} missing" if missing else "nothing is missing"
    unknown = f", {counts[Health.UNKNOWN]} not known" if counts[Health.UNKNOWN] else ""
    return f"{verdict}, {rest}{unknown}."


def findings_json(findings: Sequence[Finding]) -> JsonObject:
    return {
        "healthy": all(finding.health is not Health.BROKEN for finding in findings),
        "findings": [asdict(finding) for finding in findings],
    }
