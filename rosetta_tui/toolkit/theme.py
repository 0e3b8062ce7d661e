"""Colours: three themes of our own, and the terminal's own sixteen for those who chose theirs.

A colour here only repeats what a word or a shape says already. Every text colour reaches a contrast of
4.5 on every background it is used on (WCAG 2, level AA).
"""

from __future__ import annotations

from textual.theme import Theme

ANSI_COLOURS = {
    "quiet": "ansi_default",
    "good": "ansi_green",
    "warn": "ansi_yellow",
    "bad": "ansi_red",
    "mark": "ansi_cyan",
    "cursor": "ansi_blue",
    "on-cursor": "ansi_bright_white",
}
"""Stand-ins for our own colours in a theme that leaves colours to the terminal."""


_ROLES = {
    "border": "quiet",
    "border-blurred": "quiet",
    "block-cursor-background": "cursor",
    "block-cursor-foreground": "on-cursor",
    "block-cursor-blurred-background": "cursor",
    "block-cursor-blurred-foreground": "on-cursor",
    "footer-background": "panel",
    "footer-item-background": "panel",
    "footer-foreground": "foreground",
    "footer-description-foreground": "foreground",
    "footer-description-background": "panel",
    "footer-key-foreground": "mark",
    "footer-key-background": "panel",
    "input-selection-background": "cursor",
    "screen-selection-background": "cursor",
    "screen-selection-foreground": "on-cursor",
    "scrollbar": "quiet",
    "scrollbar-background": "panel",
    "scrollbar-corner-color": "panel",
}
"""Parts of Textual's own widgets, and the colour that each of them takes."""


_COLOURS = {
    "background": ("#14171c", "#fbfaf7", "#000000"),
    "surface": ("#1a1e24", "#f3f1ec", "#000000"),
    "panel": ("#222830", "#e9e6df", "#101010"),
    "foreground": ("#e6e6e3", "#1d2126", "#ffffff"),
    "quiet": ("#9ca6b2", "#555c65", "#d6d6d6"),
    "good": ("#86d392", "#1b632d", "#7dff9b"),
    "warn": ("#e8bb70", "#744b00", "#ffd066"),
    "bad": ("#f49a92", "#a01f19", "#ffaaa2"),
    "mark": ("#79bcff", "#0a549f", "#ffe14d"),
    "cursor": ("#2b4d74", "#c4dcf7", "#ffe14d"),
    "on-cursor": ("#ffffff", "#0d141b", "#000000"),
}
"""Name of each colour → what it is in the dark theme, in the light one, and in that of high contrast."""


def _theme(name: str, column: int, *, dark: bool) -> Theme:
    """Make the theme whose colours are in a column of _COLOURS."""
    named = {colour: values[column] for colour, values in _COLOURS.items()}
    return Theme(
        name=name,
        dark=dark,
        primary=named["mark"],
        secondary=named["quiet"],
        accent=named["mark"],
        success=named["good"],
        warning=named["warn"],
        error=named["bad"],
        foreground=named["foreground"],
        background=named["background"],
        surface=named["surface"],
        panel=named["panel"],
        variables={name: named[name] for name in ANSI_COLOURS}
        | {part: named[colour] for part, colour in _ROLES.items()},
    )


DARK = _theme("rosetta-dark", 0, dark=True)
LIGHT = _theme("rosetta-light", 1, dark=False)
CONTRAST = _theme("rosetta-contrast", 2, dark=True)

THEMES = (DARK, LIGHT, CONTRAST)

THEME_WORDS = {
    DARK.name: "dark",
    LIGHT.name: "light",
    CONTRAST.name: "high contrast",
    "ansi-dark": "the terminal's own colours, on dark",
    "ansi-light": "the terminal's own colours, on light",
}
"""Name of every theme → in words, in the order in which they are offered."""
