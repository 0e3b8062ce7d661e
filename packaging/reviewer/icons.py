"""The program's icon in the forms of the systems, all drawn from one SVG."""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from pathlib import Path

import recipe

SVG = recipe.HERE / "icon.svg"
ICO_SIZES = (16, 24, 32, 48, 64, 128, 256)
ICNS_KINDS = {16: b"icp4", 32: b"icp5", 64: b"icp6", 128: b"ic07", 256: b"ic08", 512: b"ic09", 1024: b"ic10"}
"""Pixels → the type of an element that holds a PNG."""


def png(size: int) -> bytes:
    """Draw the icon ``size`` pixels wide and high, as PNG."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
    from PySide6.QtGui import QImage, QImageWriter, QPainter
    from PySide6.QtSvg import QSvgRenderer

    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(SVG)).render(painter)
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(data.data())


def write_ico(path: Path) -> Path:
    """Write the icon for Windows."""
    path.write_bytes(ico({size: png(size) for size in ICO_SIZES}))
    return path


def write_icns(path: Path) -> Path:
    """Write the icon for macOS."""
    path.write_bytes(icns({size: png(size) for size in ICNS_KINDS}))
    return path


def ico(images: Mapping[int, bytes]) -> bytes:
    """Return an ICO file of PNG images by their size: a head, an entry for each, the images."""
    place = 6 + 16 * len(images)
    entries = b""
    for size, image in images.items():
        entries += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(image), place)
        place += len(image)
    return struct.pack("<HHH", 0, 1, len(images)) + entries + b"".join(images.values())


def icns(images: Mapping[int, bytes]) -> bytes:
    """Return an ICNS file of PNG images by their size: a head, and each with its type and length."""
    elements = b"".join(ICNS_KINDS[size] + struct.pack(">I", 8 + len(image)) + image for size, image in images.items())
    return b"icns" + struct.pack(">I", 8 + len(elements)) + elements
