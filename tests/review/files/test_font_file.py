"""A font of a batch is believed only where all of it is as this program writes it."""

from collections.abc import Callable
from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.desktop.look import FOLDER
from review.files import font_file
from review.files.font_file import CarriedFont, FontError, characters_of, check_licence, read_font
from tests.review.files.made_font import ARABIC, CHEROKEE, OFL, carried, changed, drawn_font
from tests.review.thorough import examples

pytest.importorskip("fontTools", reason="the extra `fonts` is not installed")

from fontTools.ttLib import TTFont

from review.office.making.carried_fonts import subset_font
from tests.harness.sealed.refusals import refuses

FONT = subset_font(ARABIC, {"س", "\u0655"})
DRAWN = carried().font


def test_cut_font_holds_its_letters_and_what_joins_them() -> None:
    found = read_font(FONT)
    assert {ord("س"), 0x0655} <= found.characters
    assert len(FONT) < len(ARABIC)
    assert ord("a") not in found.characters
    cut = TTFont(BytesIO(FONT))
    assert {"GSUB", "GPOS", "GDEF"} <= set(cut.keys())
    assert not {"fpgm", "prep", "cvt "} & set(cut.keys())
    assert {name.toUnicode() for name in cut["name"].names if name.nameID in {1, 4}} == {found.family}
    assert found.family != read_font(DRAWN).family
    assert subset_font(ARABIC, {"س", "\u0655"}) == FONT
    assert set(map(ord, CHEROKEE)) <= read_font(carried().font).characters
    few = read_font(subset_font(drawn_font(CHEROKEE), {"Ꮳ"}))
    assert set(map(ord, CHEROKEE)) <= few.characters
    han = "".join(map(chr, range(0x4E00, 0x4E00 + 1100)))
    assert read_font(subset_font(drawn_font(han), set("一丁"))).characters == {0x4E00, 0x4E01}
    for file in sorted(FOLDER.glob("*.ttf")):
        assert characters_of(file.read_bytes()) == set(TTFont(file).getBestCmap()), file.stem


@given(st.integers(0, len(FONT) - 1), st.integers(1, 255))
@examples(30, 2000)
def test_every_changed_byte_is_noticed(place: int, by: int) -> None:
    """But for the sum of the whole file, which no reader goes by, and a table's length as long as it ends in the same word."""
    made = bytearray(FONT)
    made[place] ^= by
    head = 12 + 16 * [b"GDEF", b"GPOS", b"GSUB", b"OS/2", b"cmap", b"glyf", b"head"].index(b"head")
    adjustment = int.from_bytes(FONT[head + 8 : head + 12], "big") + 8
    if place in range(adjustment, adjustment + 4) or 4 < place < 12:
        return
    if place < 12 + 16 * 7 and (place - 12) % 16 == 15:
        before, now = FONT[place], made[place]
        if -(-before // 4) == -(-now // 4):
            return  # what was cut off or taken in are the zeros that fill the last word
    refuses(FontError, "", read_font, bytes(made))


@given(st.integers(0, 2**32))
@examples(60, 5000)
def test_hostile_font_is_read_or_refused_in_words(seed: int) -> None:
    for font in (FONT, DRAWN):
        with suppress(FontError):
            assert read_font(changed(font, seed)).family.startswith("Rosetta Batch ")


def _with(table: str, change: Callable[[bytearray], None]) -> bytes:
    made = bytearray(DRAWN)
    at = next(12 + 16 * n for n in range(30) if made[12 + 16 * n :][:4] == table.encode())
    begin, size = (int.from_bytes(made[at + n : at + n + 4], "big") for n in (8, 12))
    content = made[begin : begin + size]
    change(content)
    made[begin : begin + size] = content
    # the sum is right, so that only the content is wrong
    made[at + 4 : at + 8] = font_file._sum(table, bytes(content)).to_bytes(4, "big")
    return bytes(made)


def _set(place: int, value: int, size: int = 2) -> Callable[[bytearray], None]:
    def change(content: bytearray) -> None:
        content[place : place + size] = value.to_bytes(size, "big")

    return change


@pytest.mark.parametrize(("font", "why"), [
    (b"", "no TrueType"), (DRAWN[:-4], "cut short"), (DRAWN + bytes(4), "behind it"),
    (b"OTTO" + DRAWN[4:], "no TrueType"), (ARABIC, "lacks a table, or has one"),
    (drawn_font(), "names are of another form"), (_with("head", _set(18, 8)), "head is none"),
    (_with("head", _set(50, 2)), "head is none"), (_with("maxp", _set(4, 0)), "no pictures"),
    (_with("maxp", _set(4, 9)), "do not fit"), (_with("hhea", _set(34, 40)), "widths"),
    (_with("loca", _set(2, 0xFFFF)), "leads out"),
    (_with("glyf", _set(0, 0xFFFF)), "made of others"),
    (_with("glyf", _set(12, 1)), "instructions"), (_with("name", _set(0, 1)), "another form"),
    (_with("cmap", _set(2, 999)), "characters is none"),
    (bytes(font_file.MOST_BYTES + 1), "more than"),
])  # fmt: skip
def test_what_a_reader_could_stumble_over_is_refused(font: bytes, why: str) -> None:
    refuses(FontError, why, read_font, font)


def test_a_font_goes_with_the_open_font_licence_and_no_other() -> None:
    check_licence(OFL)
    for other in (b"", b"Apache License", OFL[:200], OFL + bytes(2**16)):
        with pytest.raises(FontError, match="licence"):
            CarriedFont(DRAWN, other).read()


def test_what_is_no_font_or_lacks_the_letters_cannot_be_cut() -> None:
    for data in (b"", b"no font", ARABIC[:400], ARABIC[:20_000]):
        refuses(FontError, "", subset_font, data, {"س"})
    refuses(FontError, "none of the letters", subset_font, ARABIC, {"Ꮳ"})
