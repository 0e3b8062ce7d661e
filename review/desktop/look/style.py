"""The style sheet: what Qt's own widgets look like in our colours.

Three sets of colours.

Every text has a contrast of at least 7 to its ground (WCAG 2, level AAA), every border and the ring around
what has the focus at least 3. A colour only repeats what a word or a sign says already.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from PySide6.QtGui import QColor


class Theme(StrEnum):
    """A set of colours."""

    LIGHT = "light"
    DARK = "dark"
    CONTRAST = "contrast"


class Colours(NamedTuple):
    """The colours of a theme, by what they are for."""

    ground: QColor
    field: QColor
    """Behind what is read, typed or pressed."""
    text: QColor
    quiet: QColor
    border: QColor
    accent: QColor
    on_accent: QColor
    good: QColor
    warn: QColor
    focus: QColor
    """The ring around what has the focus."""


def _colours(*names: str) -> Colours:
    return Colours(*map(QColor, names))


COLOURS: Final = {
    Theme.LIGHT: _colours(
        "#f6f3ec", "#fffefb", "#1d1c19", "#4a4740", "#7a756a",
        "#0b4a5c", "#ffffff", "#0d5030", "#8a2c0a", "#8b2fa8",
    ),
    Theme.DARK: _colours(
        "#17191c", "#212429", "#f1efe9", "#c6c3ba", "#8b8a84",
        "#8fd0dc", "#0c1a1e", "#9adfb0", "#ffb98a", "#f5c84b",
    ),
    Theme.CONTRAST: _colours(
        "#000000", "#000000", "#ffffff", "#ffffff", "#ffffff",
        "#ffe500", "#000000", "#7dff9b", "#ffb47a", "#00ffff",
    ),
}  # fmt: skip


TARGET = 44
"""Pixels: the smallest thing to press that a shaking hand hits."""

HIDES_KEYS = "hidesKeys"
"""Property of the application: true where no button shows its key."""

_SHEET = """
QLabel[role="title"] {{ font-size: {title}px; font-weight: bold; }}
QLabel[role="strong"] {{ font-weight: bold; }}
QLabel[role="mark"] {{ font-weight: bold; }}
QLabel[role="quiet"] {{ color: {quiet}; }}
QLabel[role="good"] {{ color: {good}; font-weight: bold; }}
QLabel[role="warn"] {{ color: {warn}; font-weight: bold; }}

QTextEdit, QPlainTextEdit, QLineEdit {{
    background: {field}; color: {text}; border: 2px solid {border}; border-radius: 8px;
    padding: 6px; selection-background-color: {accent}; selection-color: {on_accent};
}}
QTextEdit:focus, QPlainTextEdit:focus, QLineEdit:focus {{ border: 4px solid {focus}; padding: 4px; }}
QTextEdit[readOnly="true"] {{ border-color: {card}; }}
QTextEdit[readOnly="true"]:focus {{ border-color: {focus}; }}
QLineEdit {{ min-height: {inside}px; placeholder-text-color: {quiet}; }}

QPushButton, QToolButton {{
    background: {field}; color: {text}; border: 2px solid {border}; border-radius: 8px;
    min-height: {inside}px; min-width: {inside}px; padding: 4px 12px;
}}
QPushButton:focus, QToolButton:focus {{ border: 4px solid {focus}; padding: 2px 10px; }}
QPushButton:pressed, QPushButton[role="main"], QPushButton:default {{
    background: {accent}; color: {on_accent};
}}
QPushButton:disabled {{ color: {quiet}; border-style: dashed; }}

QCheckBox, QRadioButton {{ min-height: {target}px; spacing: 10px; }}

QProgressBar {{
    background: {field}; border: 2px solid {border}; border-radius: 6px; color: {text};
    margin: 0 5px;
    min-height: 8px; max-height: 8px;
}}
QProgressBar::chunk {{ background: {accent}; border-radius: 3px; }}

QListView, QTreeView {{ background: {field}; color: {text}; border: 2px solid {border}; }}
QListView::item {{ min-height: {target}px; }}
QListView:focus, QTreeView:focus {{ border: 4px solid {focus}; }}
QHeaderView::section {{ background: {ground}; color: {text}; border: 1px solid {border}; }}
QMenu {{ background: {field}; color: {text}; border: 2px solid {border}; }}
QMenu::item {{ padding: 10px 24px; }}
QMenu::item:selected {{ background: {accent}; color: {on_accent}; }}
QMenu::item:disabled {{ color: {quiet}; }}

QScrollArea, QScrollArea > QWidget > QWidget {{ background: {ground}; }}
QScrollBar:vertical {{ background: {ground}; width: 20px; margin: 0; }}
QScrollBar:horizontal {{ background: {ground}; height: 20px; margin: 0; }}
QScrollBar::handle {{ background: {border}; border-radius: 6px; margin: 3px; }}
QScrollBar::handle:vertical {{ min-height: {target}px; }}
QScrollBar::handle:horizontal {{ min-width: {target}px; }}
QScrollBar::handle:hover, QScrollBar::handle:pressed {{ background: {accent}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: {ground}; }}

QFrame#banner QTextEdit[readOnly="true"] {{ padding: 2px; border-color: {field}; }}
QFrame#banner QTextEdit[readOnly="true"]:focus {{ padding: 0px; border-color: {focus}; }}
QFrame#banner {{ background: {field}; border: 3px solid {warn}; border-radius: 8px; }}
"""


def sheet(colours: Colours, px: int) -> str:
    """Return the style sheet for colours and a size of letters in pixels."""
    # where ground and field differ, what is only read needs no edge: an edge means that one can type
    card = colours.field if colours.ground != colours.field else colours.border
    names = {name: colour.name() for name, colour in colours._asdict().items()}
    title = px + max(4, px // 4)
    return _SHEET.format(
        **names, card=card.name(), title=title, target=TARGET, inside=max(TARGET - 12, px * 3 // 2)
    )
