"""A font as it may travel in a batch: a TrueType file of a few tables, each of them where its directory says.

A font program of the system reads it afterwards, so nothing in it is left to guess: it has no instructions,
no variations and no bitmaps, every number that points somewhere points into it, and it bears a name of ours.

Whether a text can be judged where no font has some of its letters is the same for window and organiser. A stray sign
is read by its name. A word of which the letters are missing is not: nobody rates what they cannot see.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple, NoReturn

from corpora.languages.tags import CODES
from corpora.text.comparison import script_of
from corpora.text.visible import MOST_NAMED, any_of
from harness.core.failures import HarnessError

# Categories of characters that show nothing by themselves
_UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
# What Unicode calls Default_Ignorable_Code_Point
_VARIATIONS = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
# Scripts of a tag that are written in those of the characters (ISO 15924)
_SEVERAL = {
    "Jpan": frozenset({"Hani", "Hira", "Kana"}),
    "Kore": frozenset({"Hang", "Hani"}),
    "Hans": frozenset({"Hani"}),
    "Hant": frozenset({"Hani"}),
}


def legible_without(text: str, undrawn: Collection[str], script: str | None) -> bool:
    """Return whether a text can be judged where these letters, each with its marks, are only named.

    It cannot where one of them belongs to the script of the text's language (``script``, ISO 15924, None where it is
    not known), where they are more than half of the text's letters, or more than ``MOST_NAMED`` signs.
    """
    pattern = any_of(undrawn)
    if not (lost := "" if pattern is None else "".join(pattern.findall(text))):
        return True
    missed = [character for character in lost if character.isalpha()]
    own = _SEVERAL.get(script or "", frozenset({script}))
    if len(lost) > MOST_NAMED or any(CODES.get(script_of(c), "") in own for c in set(missed)):
        return False
    return 2 * len(missed) <= sum(map(str.isalpha, text))


def seen_of(letter: str) -> str:
    """Return what is to be drawn of a letter, each of its marks once, however many there are."""
    seen = _VARIATIONS.sub("", letter)
    return "".join(c for c in dict.fromkeys(seen) if unicodedata.category(c) not in _UNSEEN)


MOST_BYTES: Final = 2 * 2**20  # Of one font, subset to the letters of its batch
MOST_GLYPHS: Final = 20_000
NEEDED: Final = frozenset({"OS/2", "cmap", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "name", "post"})
# Tables that move and join letters; a font may lack them
SHAPING: Final = frozenset({"GDEF", "GPOS", "GSUB"})
# With 12 hexadecimal digits behind it the name that a font has in a batch: no other font of a
# computer has it, and the OFL asks for another name where a font was changed
FAMILY: Final = "Rosetta Batch "
MOST_FONTS: Final = 4  # Of one batch
MOST_LICENCE: Final = 2**16  # Bytes of a licence

_TRUETYPE, _APPLE = b"\0\1\0\0", b"true"
_HEAD: Final = struct.Struct(">4s4H")
_RECORD: Final = struct.Struct(">4s3I")
_MAGIC: Final = 0x5F0F3CF5
_MOST_TABLES = 64
_FAMILY = re.compile(r"Rosetta Batch [0-9a-f]{12}")
# What is in the text of the OFL, spaces and capitals aside
_OFL = ("sil open font license version 1.1", "permission & conditions")
# Where `head` holds the sum of the whole file, which counts as 0 in its own
_CHECKSUM_AT: Final = 8


class FontError(HarnessError):
    """A font that is not used; says why."""


class CarriedFont(NamedTuple):
    """A font that a batch brings along, as it is there; neither of the two was examined."""

    font: bytes
    # Text of the licence under which it may be handed on; nothing where the batch has none
    licence: bytes

    def read(self) -> FontFile:
        check_licence(self.licence)
        return read_font(self.font)


@dataclass(frozen=True, slots=True)
class FontFile:
    """Facts that a font states about itself."""

    family: str
    characters: frozenset[int]  # Code points that it draws


def read_font(data: bytes) -> FontFile:
    """Read a font of a batch; FontError for anything that this program does not write itself."""
    if len(data) > MOST_BYTES:
        _refuse(f"it has more than {MOST_BYTES:,} bytes")
    tables = _strict_tables(data)
    # Return the number of pictures; FontError where the tables disagree about them.
    head, maxp, hhea = tables["head"], tables["maxp"], tables["hhea"]
    if (len(head), len(maxp), len(hhea)) != (54, 32, 36) or maxp[:4] != b"\0\1\0\0":
        _refuse("its heads are of another form")
    units, long = struct.unpack_from(">H", head, 18)[0], struct.unpack_from(">h", head, 50)[0]
    if struct.unpack_from(">I", head, 12)[0] != _MAGIC or not 16 <= units <= 16384 or long not in {0, 1}:
        _refuse("its head is none")
    glyphs: int = struct.unpack_from(">H", maxp, 4)[0]
    if not 0 < glyphs <= MOST_GLYPHS:
        _refuse(f"it has no pictures, or more than {MOST_GLYPHS:,}")
    wide = struct.unpack_from(">H", hhea, 34)[0]
    if not 0 < wide <= glyphs or len(tables["hmtx"]) != 4 * wide + 2 * (glyphs - wide):
        _refuse("its widths do not fit its pictures")
    _check_outlines(tables, glyphs, long=bool(long))
    family = _family(tables["name"])
    if _FAMILY.fullmatch(family) is None:
        _refuse("it does not bear the name of a font of a batch")
    try:
        drawn = dict(_mapped(tables["cmap"]))
    except (struct.error, IndexError):
        _refuse("its table of characters ends too soon")
    if any(glyph >= glyphs for glyph in drawn.values()):
        _refuse("a character names a picture that is not there")
    return FontFile(family, frozenset(code for code, glyph in drawn.items() if glyph))


def characters_of(data: bytes) -> frozenset[int]:
    """Return the code points that a font of ours, or of the organiser's, draws; FontError where it is none."""
    try:
        version, count, *_ = _HEAD.unpack_from(data)
        records = [_RECORD.unpack_from(data, _HEAD.size + n * _RECORD.size) for n in range(count)]
        tables = {tag: data[begin : begin + size] for tag, _, begin, size in records}
        if version not in {_TRUETYPE, _APPLE, b"OTTO"}:
            _refuse("it is no TrueType or OpenType file")
        return frozenset(code for code, glyph in _mapped(tables[b"cmap"]) if glyph)
    except (struct.error, IndexError, KeyError):
        _refuse("it is damaged or no font")


def check_licence(content: bytes) -> None:
    """Refuse what is not the text of the SIL Open Font License 1.1 (https://openfontlicense.org)."""
    text = " ".join(content[:MOST_LICENCE].decode("utf-8", "replace").casefold().split())
    if len(content) > MOST_LICENCE or not all(phrase in text for phrase in _OFL):
        _refuse("the text of its licence, the SIL Open Font License 1.1, is not next to it")


def _refuse(why: str) -> NoReturn:
    raise FontError(f"This font is not used: {why}.")


# the directory


def _strict_tables(data: bytes) -> Mapping[str, bytes]:
    """Extract the tables: each once, in their order, beside each other, and with the sum that the file states."""
    if len(data) < _HEAD.size or data[:4] != _TRUETYPE:
        _refuse("it is no TrueType file")
    count = _HEAD.unpack_from(data)[1]
    if not 0 < count <= _MOST_TABLES or len(data) < _HEAD.size + count * _RECORD.size:
        _refuse("its directory does not fit")
    records = [_RECORD.unpack_from(data, _HEAD.size + n * _RECORD.size) for n in range(count)]
    tags = [tag.decode("latin-1") for tag, *_ in records]
    if tags != sorted(set(tags)) or not NEEDED <= set(tags) <= NEEDED | SHAPING:
        _refuse("it lacks a table, or has one that a font of a batch does not have")
    _check_places(data, [(begin, size) for _, _, begin, size in records])
    tables = {tag: data[r[2] : r[2] + r[3]] for tag, r in zip(tags, records, strict=True)}
    for tag, (_, total, *_) in zip(tags, records, strict=True):
        if _sum(tag, tables[tag]) != total:
            _refuse("it was changed after it was written, or is damaged")
    return tables


def _sum(tag: str, table: bytes) -> int:
    if tag == "head":
        table = table[:_CHECKSUM_AT] + bytes(4) + table[_CHECKSUM_AT + 4 :]
    padded = table + bytes(-len(table) % 4)
    total: int = sum(struct.unpack(f">{len(padded) // 4}I", padded))
    return total & 0xFFFFFFFF


def _check_places(data: bytes, places: list[tuple[int, int]]) -> None:
    end = _HEAD.size + len(places) * _RECORD.size
    for begin, size in sorted(places):
        if begin != end or begin % 4:
            _refuse("its tables overlap or leave gaps")
        end = begin + (size + 3) // 4 * 4
        if any(data[begin + size : end]):
            _refuse("something stands between its tables")
    if end != len(data):
        _refuse("it is cut short, or something stands behind it")


# the tables


def _check_outlines(tables: Mapping[str, bytes], count: int, *, long: bool) -> None:
    """Check that each picture is in its table, is drawn itself, and has no instructions."""
    loca, glyf = tables["loca"], tables["glyf"]
    if len(loca) != (count + 1) * (4 if long else 2):
        _refuse("its list of pictures does not fit")
    at = struct.unpack(f">{count + 1}{'I' if long else 'H'}", loca)
    places = [place * (1 if long else 2) for place in at]
    if places != sorted(places) or places[-1] > len(glyf):
        _refuse("its list of pictures leads out of it")
    for begin, end in pairwise(places):
        if begin < end:
            glyph = glyf[begin:end]
            try:
                contours = struct.unpack_from(">h", glyph)[0]
                if contours < 0:
                    _refuse("a picture is made of others")
                if struct.unpack_from(">H", glyph, 10 + 2 * contours)[0]:
                    _refuse("a picture has instructions")
            except struct.error:
                _refuse("a picture ends too soon")


def _family(name: bytes) -> str:
    """Return the family's name; FontError where the table gives several, or names that are no text."""
    try:
        form, count, begin = struct.unpack_from(">3H", name)
        records = [struct.unpack_from(">6H", name, 6 + 12 * n) for n in range(count)]
    except struct.error:
        _refuse("its names end too soon")
    texts = [(r[3], name[begin + r[5] : begin + r[5] + r[4]]) for r in records]
    if form or any(r[0] != 3 or begin + r[5] + r[4] > len(name) for r in records):
        _refuse("its names are of another form")
    families = {text.decode("utf-16-be", "replace") for kind, text in texts if kind in {1, 4, 16}}
    if len(families) != 1:
        _refuse("it has several names, or none")
    return families.pop()


def _mapped(cmap: bytes) -> Iterator[tuple[int, int]]:
    _, count = struct.unpack_from(">2H", cmap)
    if count > _MOST_TABLES:
        _refuse("its table of characters is none")
    places = {struct.unpack_from(">2HI", cmap, 4 + 8 * n)[2] for n in range(count)}
    for place in sorted(places):
        form = struct.unpack_from(">H", cmap, place)[0]
        if form == 4:
            yield from _in_segments(cmap, place)
        elif form == 12:
            yield from _in_groups(cmap, place)


def _in_segments(cmap: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Read a subtable of form 4 (OpenType, cmap)."""
    count = struct.unpack_from(">H", cmap, at + 6)[0] // 2
    ends, starts, deltas, offsets = (
        struct.unpack_from(f">{count}H", cmap, at + 14 + 2 * count * n + (2 if n else 0)) for n in range(4)
    )
    _check_ascending(starts, ends)
    for n, (end, start, delta, offset) in enumerate(zip(ends, starts, deltas, offsets, strict=True)):
        for code in range(start, min(end, 0xFFFE) + 1):
            if not offset:
                yield code, (code + delta) & 0xFFFF
                continue
            place = at + 16 + 6 * count + 2 * n + offset + 2 * (code - start)
            glyph = struct.unpack_from(">H", cmap, place)[0]
            yield code, (glyph + delta) & 0xFFFF if glyph else 0


def _in_groups(cmap: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Read a subtable of form 12 (OpenType, cmap)."""
    count = struct.unpack_from(">I", cmap, at + 12)[0]
    if at + 16 + 12 * count > len(cmap):
        _refuse("its table of characters ends too soon")
    groups = [struct.unpack_from(">3I", cmap, at + 16 + 12 * n) for n in range(count)]
    _check_ascending([start for start, *_ in groups], [end for _, end, _ in groups])
    for start, end, glyph in groups:
        yield from ((code, glyph + code - start) for code in range(start, end + 1))


def _check_ascending(starts: Sequence[int], ends: Sequence[int]) -> None:
    """Refuse stretches of characters that overlap: each is read once, however many there are."""
    bounds = [-1, *(bound for pair in zip(starts, ends, strict=True) for bound in pair)]
    if bounds[-1] > 0x10FFFF or any(
        second < first + (number % 2 == 0) for number, (first, second) in enumerate(pairwise(bounds))
    ):
        _refuse("its table of characters is none")
