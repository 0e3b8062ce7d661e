"""Colours: three themes of our own, and the terminal's own sixteen for those who chose theirs.

A colour here only repeats what a word or a shape says already. Every text colour reaches a contrast of
4.5 on every background it is used on (WCAG 2, level AA).
"""

from __future__ import annotations

from textual.theme import Theme

TEXT_COLOURS = ("foreground", "quiet", "good", "warn", "bad", "mark")
"""Names of the colours that text is written in."""

BACKGROUNDS = ("background", "surface", "panel")
"""Names of the colours that text of every colour is written on."""

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


def _theme(name: str, *, dark: bool, backgrounds: tuple[str, str, str], **colours: str) -> Theme:
    """Make a theme of the colours in TEXT_COLOURS, and of ``cursor`` and ``on_cursor``."""
    named = {key.replace("_", "-"): value for key, value in colours.items()}
    named |= dict(zip(BACKGROUNDS, backgrounds, strict=True))
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


DARK = _theme(
    "rosetta-dark",
    dark=True,
    backgrounds=("#14171c", "#1a1e24", "#222830"),
    foreground="#e6e6e3",
    quiet="#9ca6b2",
    good="#86d392",
    warn="#e8bb70",
    bad="#f49a92",
    mark="#79bcff",
    cursor="#2b4d74",
    on_cursor="#ffffff",
)

LIGHT = _theme(
    "rosetta-light",
    dark=False,
    backgrounds=("#fbfaf7", "#f3f1ec", "#e9e6df"),
    foreground="#1d2126",
    quiet="#555c65",
    good="#1b632d",
    warn="#744b00",
    bad="#a01f19",
    mark="#0a549f",
    cursor="#c4dcf7",
    on_cursor="#0d141b",
)

CONTRAST = _theme(
    "rosetta-contrast",
    dark=True,
    backgrounds=("#000000", "#000000", "#101010"),
    foreground="#ffffff",
    quiet="#d6d6d6",
    good="#7dff9b",
    warn="#ffd066",
    bad="#ffaaa2",
    mark="#ffe14d",
    cursor="#ffe14d",
    on_cursor="#000000",
)

THEMES = (DARK, LIGHT, CONTRAST)

THEME_WORDS = {
    DARK.name: "dark",
    LIGHT.name: "light",
    CONTRAST.name: "high contrast",
    "ansi-dark": "the terminal's own colours, on dark",
    "ansi-light": "the terminal's own colours, on light",
}
"""Name of every theme → in words, in the order in which they are offered."""
