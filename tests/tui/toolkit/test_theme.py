"""Every text colour can be read on every background it is used on."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import Theme

from rosetta_tui.toolkit.theme import ANSI_COLOURS, THEMES
from tests.tui.scenes import scene
from tests.tui.screens import App, settle, text


def colour(theme: Theme, name: str) -> Color:
    value = theme.variables.get(name) or getattr(theme, name)
    return Color.parse(value)


def luminance(shade: Color) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [part / 255 for part in (shade.r, shade.g, shade.b)]
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: Color, other: Color) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_computed_as_the_standard_says() -> None:
    assert contrast(Color.parse("#ffffff"), Color.parse("#000000")) == pytest.approx(21)
    assert contrast(Color.parse("#777777"), Color.parse("#ffffff")) == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("background", ["background", "surface", "panel"])
@pytest.mark.parametrize("name", ["foreground", "quiet", "good", "warn", "bad", "mark"])
def test_text_can_be_read(theme: Theme, background: str, name: str) -> None:
    assert contrast(colour(theme, name), colour(theme, background)) >= 4.5


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_the_cursor_can_be_read(theme: Theme) -> None:
    assert contrast(colour(theme, "on-cursor"), colour(theme, "cursor")) >= 4.5


def test_every_theme_has_every_colour() -> None:
    for theme in THEMES:
        assert ANSI_COLOURS.keys() <= theme.variables.keys()


@pytest.mark.parametrize("name", [*(theme.name for theme in THEMES), "ansi-dark", "ansi-light"])
async def test_the_live_screen_can_be_drawn_in(name: str, tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite")
    made.middle(84)
    app = App(made, watch=True)
    async with app.run_test(size=(120, 36)) as pilot:
        app.theme = name
        await settle(pilot)
        assert "✓ 83 done" in text(app)
        assert "◆◆◇◇◇ emerging" in text(app)
    made.close()
