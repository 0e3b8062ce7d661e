"""Letters of another size than the page's, for everything in one part of it.

Qt hands a font down to what lies within only where no style sheet is set; here each part is given it.
"""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from review.desktop import fonts


def set_letters(widget: QWidget, px: int) -> None:
    """Give a widget and all that lies within it letters of this many pixels."""
    font = fonts.font(px)
    for part in (widget, *widget.findChildren(QWidget)):
        if part.font().pixelSize() != px:
            part.setFont(font)
