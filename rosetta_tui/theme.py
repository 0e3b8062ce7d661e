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


def _theme(
    name: str,
    *,
    dark: bool,
    backgrounds: tuple[str, str, str],
    foreground: str,
    quiet: str,
    good: str,
    warn: str,
    bad: str,
    mark: str,
    cursor: str,
    on_cursor: str,
) -> Theme:
    background, surface, panel = backgrounds
    return Theme(
        name=name,
        dark=dark,
        primary=mark,
        secondary=quiet,
        accent=mark,
        success=good,
        warning=warn,
        error=bad,
        foreground=foreground,
        background=background,
        surface=surface,
        panel=panel,
        variables={
            "quiet": quiet,
            "good": good,
            "warn": warn,
            "bad": bad,
            "mark": mark,
            "cursor": cursor,
            "on-cursor": on_cursor,
            "border": quiet,
            "border-blurred": quiet,
            "block-cursor-background": cursor,
            "block-cursor-foreground": on_cursor,
            "block-cursor-blurred-background": cursor,
            "block-cursor-blurred-foreground": on_cursor,
            "footer-background": panel,
            "footer-item-background": panel,
            "footer-foreground": foreground,
            "footer-description-foreground": foreground,
            "footer-description-background": panel,
            "footer-key-foreground": mark,
            "footer-key-background": panel,
            "input-selection-background": cursor,
            "screen-selection-background": cursor,
            "screen-selection-foreground": on_cursor,
            "scrollbar": quiet,
            "scrollbar-background": panel,
            "scrollbar-corner-color": panel,
        },
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
