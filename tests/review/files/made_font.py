"""Fonts for tests: real ones of the program cut down, one that is drawn here, and ones that were changed."""

import random
import struct
from collections.abc import Sequence
from io import BytesIO

import pytest

from review.desktop.look import FOLDER
from review.files.font_file import CarriedFont

pytest.importorskip("fontTools", reason="the extra `fonts` is not installed")

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

from review.office.making.carried_fonts import subset_font

CHEROKEE = "ᏣᎳᎩᎦᏬᏂᎯᏍᏗ"
ARABIC = (FOLDER / "RosettaNotoSansArabic-Regular.ttf").read_bytes()
"""A font with tables that join letters and place marks."""
OFL = (FOLDER / "RosettaNotoSansArabic-OFL.txt").read_bytes()


def drawn_font(letters: str = CHEROKEE) -> bytes:
    """Draw a font whose letters are bars, each of another width, as anybody's font could be."""
    names = [".notdef", *(f"u{ord(each):04X}" for each in letters)]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupHead(unitsPerEm=1000, created=0, modified=0)
    builder.font.recalcTimestamp = False
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(each): f"u{ord(each):04X}" for each in letters})
    builder.setupGlyf({name: _bar(100 + 20 * n) for n, name in enumerate(names)})
    builder.setupHorizontalMetrics({name: (300 + 20 * n, 50) for n, name in enumerate(names)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Somebody's Letters", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, usWinAscent=800, usWinDescent=200)
    builder.setupPost()
    made = BytesIO()
    builder.save(made)
    return made.getvalue()


def _bar(width: int) -> object:
    pen = TTGlyphPen(None)
    pen.moveTo((50, 0))
    for place in ((50, 700), (50 + width, 700), (50 + width, 0)):
        pen.lineTo(place)
    pen.closePath()
    return pen.glyph()


def carried(letters: str = CHEROKEE) -> CarriedFont:
    return CarriedFont(subset_font(drawn_font(letters), set(letters)), OFL)


def changed(data: bytes, seed: int, tables: Sequence[str] = ()) -> bytes:
    """Change some bytes within the tables of a font, and bring the sums in its directory up to date."""
    chosen = random.Random(seed)
    made, count = bytearray(data), struct.unpack_from(">H", data, 4)[0]
    records = [struct.unpack_from(">4s3I", data, 12 + 16 * n) for n in range(count)]
    wanted = [each for each in records if not tables or each[0].decode() in tables]
    _, _, begin, size = chosen.choice(wanted)
    for _ in range(chosen.choice([1, 1, 2, 5, 20])):
        place = begin + min(int(chosen.paretovariate(0.4)) - 1, size - 1)
        made[place] = chosen.choice([0, 1, 0x7F, 0x80, 0xFF, chosen.randrange(256)])
    for n, (tag, _, begin, size) in enumerate(records):
        table = bytes(made[begin : begin + size])
        if tag == b"head":
            table = table[:8] + bytes(4) + table[12:]
        padded = table + bytes(-size % 4)
        total = sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF
        struct.pack_into(">I", made, 12 + 16 * n + 4, total)
    return bytes(made)
