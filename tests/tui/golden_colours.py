"""Colours of screens, held against those that are kept."""

from __future__ import annotations

import os

from textual.color import Color, ColorParseError

from rosetta_tui.app.app import RosettaApp
from tests.tui.golden import GOLDENS
from tests.tui.screens import drawn

THEMES = ["rosetta-dark", "rosetta-light"]


ROLES = ("mark", "good", "warn", "bad", "quiet", "foreground", "background", "panel", "on-cursor")
"""Names that a colour may have, the most telling first."""


def roles(app: RosettaApp) -> dict[tuple[int, ...], str]:
    """Return the role of each colour of the theme in use."""
    found: dict[tuple[int, ...], str] = {}
    for role in ROLES:
        try:
            colour = Color.parse(app.theme_variables.get(role, ""))
        except ColorParseError:
            continue
        found.setdefault(colour.rgb, role)
    return found


def coloured(app: RosettaApp) -> str:
    """Return each line of the screen as runs of ``length role``, with the ground where it is not the screen's."""
    names = roles(app)
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


def compare_colours(name: str, app: RosettaApp) -> None:
    path = GOLDENS / f"{name}.colours.txt"
    found = coloured(app)
    if os.environ.get("ROSETTA_WRITE_GOLDENS") and app.theme == THEMES[0]:
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")
