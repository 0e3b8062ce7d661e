"""Links and codes of a review as pictures that a telephone's camera reads (QR codes)."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

import segno
from markupsafe import Markup

from rosetta_tui.html.page import render


def hall_cards(title: str, organisation: str, links: Sequence[tuple[int, str, str]]) -> str:
    """Return a page of (number, code, link): each link opens the review for one person, so it is for the organiser alone."""
    cards = [(number, code, link, picture(link, code)) for number, code, link in links]
    return render("hall.html.j2", title=title, organisation=organisation, cards=cards, style_file="cards.css")


def picture(text: str, title: str) -> Markup:
    """Return a text as a QR code in SVG, as wide as its place, with a title for screen readers; the same bytes each time."""
    symbol = segno.make_qr(text, error="m")
    return Markup(symbol.svg_inline(title=title, omitsize=True, border=2, svgclass=None, lineclass=None))  # noqa: S704


def terminal_picture(text: str) -> str:
    """Return a text as lines of half blocks, dark on light whatever the terminal's colours are."""
    lines = StringIO()
    segno.make(text, error="l").terminal(lines, compact=True, border=2)
    return lines.getvalue()
