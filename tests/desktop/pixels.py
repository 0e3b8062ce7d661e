"""What is really on a picture: its colours, and their contrast as WCAG 2 defines it."""

from __future__ import annotations

from collections import Counter

import numpy as np
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QWidget


def contrast(one: QColor, other: QColor) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def picture(widget: QWidget) -> QImage:
    return widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)


def colours(image: QImage, rect: QRect | None = None) -> Counter[str]:
    part = image.copy(image.rect() if rect is None else rect)
    found, counts = np.unique(np.frombuffer(part.constBits(), np.uint32), return_counts=True)
    pairs = zip(found.tolist(), counts.tolist(), strict=True)
    return Counter({f"#{pixel & 0xFFFFFF:06x}": count for pixel, count in pairs})


def strongest(image: QImage, rect: QRect | None = None) -> float:
    """Return the contrast between the ground of a picture, its commonest colour, and what differs most from it."""
    found = colours(image, rect)
    ground = QColor(found.most_common(1)[0][0])
    return max(contrast(ground, QColor(name)) for name in found)


def _luminance(colour: QColor) -> float:
    parts = (colour.redF(), colour.greenF(), colour.blueF())
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
