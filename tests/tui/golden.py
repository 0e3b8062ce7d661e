"""Pictures of screens, their words and what their colours mean, held against those that are kept.

Every screen has one picture: its words as text, its colours as runs of named roles. A role is the name that a theme
gives a colour, so a golden says what a colour means, not which one it is.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Any

import pytest
from textual.app import App as TextualApp
from textual.color import Color, ColorParseError
from textual.pilot import Pilot

from rosetta_tui.app.app import RosettaApp
from tests.tui.screens import drawn, lines, settle

GOLDENS = Path(__file__).parent / "goldens"
SIZES = [(80, 24), (160, 48)]
SMALL = SIZES[0]
EVERY_SIZE = [SMALL, pytest.param(SIZES[1], marks=pytest.mark.thorough)]
"""Of screens with a hard layout all sizes and themes are kept, of others the first of each."""
THEMES = ["rosetta-dark", "rosetta-light"]
ROLES = ("mark", "good", "warn", "bad", "quiet", "foreground", "background", "panel", "on-cursor")
"""Names that a colour may have, the most telling first."""


def compare_file(file: str, found: str) -> None:
    """Compare with what is kept; ``ROSETTA_WRITE_GOLDENS`` writes it anew."""
    path = GOLDENS / file
    if os.environ.get("ROSETTA_WRITE_GOLDENS"):
        path.write_text(found, encoding="utf-8")
    kept = path.read_text(encoding="utf-8")
    told = difflib.unified_diff(kept.splitlines(), found.splitlines(), "kept", "drawn", lineterm="")
    assert found == kept, "\n".join([file, *told])


def compare(name: str, size: tuple[int, int], app: TextualApp[Any]) -> None:
    found = "\n".join(line.rstrip() for line in lines(app)) + "\n"
    compare_file(f"{name}-{size[0]}x{size[1]}.txt", found)


def look(name: str, app: RosettaApp) -> None:
    """Compare the words and colours of a small screen with those that are kept."""
    compare(name, SMALL, app)
    compare_file(f"{name}.colours.txt", _coloured(app))


async def look_in_every_theme(name: str, pilot: Pilot[Any]) -> None:
    """Compare words in any size, and colours of the small one in each theme."""
    app = pilot.app
    assert isinstance(app, RosettaApp)
    compare(name, (app.size.width, app.size.height), app)
    if app.size == SMALL:
        for theme in reversed(THEMES):
            app.theme = theme
            await settle(pilot)
            look(name, app)


def _roles(app: RosettaApp) -> dict[tuple[int, ...], str]:
    found: dict[tuple[int, ...], str] = {}
    for role in ROLES:
        try:
            colour = Color.parse(app.theme_variables.get(role, ""))
        except ColorParseError:
            continue
        found.setdefault(colour.rgb, role)
    return found


def _coloured(app: RosettaApp) -> str:
    """Return each line of the screen as runs of ``length role``; ``!`` where ground and letters are turned round."""
    names = _roles(app)
    told = []
    for strip in drawn(app):
        runs: list[tuple[int, str]] = []
        for segment in strip:
            style = segment.style
            over = style.color.triplet if style and style.color and style.color.triplet else ()
            said = names.get(tuple(over), "other") if segment.text.strip() else "blank"
            if style and style.reverse:
                said += "!"
            if runs and runs[-1][1] == said:
                runs[-1] = (runs[-1][0] + segment.cell_length, said)
            else:
                runs.append((segment.cell_length, said))
        told.append(" ".join(f"{length} {said}" for length, said in runs))
    return "\n".join(told) + "\n"
