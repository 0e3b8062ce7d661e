"""Fonts that a batch brings along, cut down to its letters, and what reviewers will be able to read of a review.

This is the only place that needs fontTools; anyone who reads a batch does not.
"""

from __future__ import annotations

import hashlib
import logging
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from corpora.languages.tags import tag_script
from corpora.text.comparison import script_of
from harness.core.failures import UsageError
from review.files.font_file import (
    FAMILY,
    MOST_FONTS,
    NEEDED,
    SHAPING,
    CarriedFont,
    FontError,
    characters_of,
    check_licence,
    legible_without,
    read_font,
    seen_of,
)
from review.office.making.batches import Drawn, scripted
from review.office.making.items import Item

if TYPE_CHECKING:
    from fontTools.ttLib import TTFont


# Of the reviewer's window, which has them on every computer; fonts of the computer itself may come
# to them
FONTS = Path(__file__).parents[2] / "desktop" / "fonts"


@dataclass(frozen=True)
class Readability:
    """Which items show letters by name, and which cannot be read and will be left out."""

    # Letter that no font of the window or the batch has → items in which it stands, most first
    lacking: Mapping[str, int]
    named: tuple[Item, ...]
    left_out: tuple[Item, ...]  # On every computer that has no font of its own for their letters
    # Letters for lack of which nobody can read what they agree to; then the whole review is not
    # begun
    consent_lacks: frozenset[str]


@cache
def brought() -> tuple[frozenset[int], ...]:
    """Return the code points that each font of the reviewer's window draws."""
    files = sorted(FONTS.glob("*-Regular.ttf"))
    return tuple(characters_of(file.read_bytes()) for file in files)


def readability(drawn: Drawn, consent: str, language: str, carried: Sequence[Collection[int]] = ()) -> Readability:
    """Work out what can be read; ``consent`` is in ``language``, and ``carried`` are the code points of each font of the batch."""
    has = (*brought(), *carried)
    shown = [item.shown for item in drawn.items]
    data = drawn.dataset
    source = tag_script(scripted(data.source_language, [item.source for item in shown]))
    target = tag_script(scripted(data.target_language, [item.candidate for item in shown]))
    lacking: Counter[str] = Counter()
    named, left_out = [], []
    for item in drawn.items:
        pair = ((item.shown.source, source), (item.shown.candidate, target))
        lost = [lacking_in(text, has) for text, _ in pair]
        lacking.update(lost[0] | lost[1])
        read = (legible_without(text, no, of) for (text, of), no in zip(pair, lost, strict=True))
        if not all(read):
            left_out.append(item)
        elif lost[0] | lost[1]:
            named.append(item)
    unread = lacking_in(consent, has)
    agreed = legible_without(consent, unread, tag_script(language))
    return Readability(
        dict(lacking.most_common()), tuple(named), tuple(left_out), frozenset() if agreed else frozenset(unread)
    )


def lacking_in(text: str, fonts: Sequence[Collection[int]]) -> set[str]:
    """Return the characters of a text that are to be seen and that none of the fonts, given by their code points, can draw."""

    def drawn(character: str) -> bool:
        """Return whether a font has a picture of it, or one font has those of all its parts."""
        parts = {ord(part) for part in unicodedata.normalize("NFD", character)}
        return any(ord(character) in has or all(part in has for part in parts) for has in fonts)

    return {character for character in set(text) if seen_of(character) and not drawn(character)}


_MOST_SOURCE: Final = 64 * 2**20
_WHOLE: Final = 1_000  # A script of no more letters is taken whole: people write in it, too
# What scripts need to join letters, or to show a mark on its own
_BESIDE: Final = frozenset({0x20, 0xA0, 0x200C, 0x200D, 0x25CC})
_NO_EMBEDDING: Final = 0x0002  # Bit of `OS/2.fsType`: the font may not be part of a document


def carried_fonts(fonts: Sequence[Path], licences: Sequence[Path], texts: Iterable[str]) -> tuple[CarriedFont, ...]:
    """Read fonts with their licences, cut to the letters of ``texts`` that the reviewer's window lacks.

    ``licences``: one for each font, or one for all. UsageError in words for what cannot be sent along.
    """
    if not (files := font_files(fonts, licences)):
        return ()
    lacking = {character for text in texts for character in lacking_in(text, brought())}
    carried = []
    for file in files:
        with _naming(file):
            made = subset_font(file.data, lacking)
            read_font(made)
        carried.append(CarriedFont(made, file.text))
    return tuple(carried)


def require_fonttools(what: str) -> None:
    """Raise UsageError where fontTools, which something needs, is not installed."""
    if find_spec("fontTools") is None:
        raise UsageError(
            f"{what} needs fontTools, which is not installed. Install it in the folder of Rosetta: "
            'pip install ".[fonts]"'
        )


class FontFiles(NamedTuple):
    """A font with its licence, as they are on the disk."""

    font: Path
    licence: Path
    data: bytes
    text: bytes


def font_files(fonts: Sequence[Path], licences: Sequence[Path]) -> list[FontFiles]:
    """Read fonts with their licences; UsageError for what cannot be sent along, whatever letters a review has."""
    if not fonts and not licences:
        return []
    if not fonts or len(licences) not in {1, len(fonts)} or len(fonts) > MOST_FONTS:
        raise UsageError(
            "--font and --font-licence belong together: a font, and the file with the text of its licence (OFL.txt), "
            f"one for each font or one for all; at most {MOST_FONTS} fonts."
        )
    require_fonttools("Sending a font along")
    each_licence = licences if len(licences) == len(fonts) else [*licences] * len(fonts)
    files = [
        FontFiles(font, licence, _bytes(font), _bytes(licence))
        for font, licence in zip(fonts, each_licence, strict=True)
    ]
    for file in files:
        with _naming(file):
            check_licence(file.text)
            characters_of(file.data)
    return files


@contextmanager
def _naming(file: FontFiles) -> Iterator[None]:
    """Return which file cannot be sent along."""
    try:
        yield
    except FontError as error:
        path = file.licence if "licence" in str(error) else file.font
        raise UsageError(f"{path}: {error}") from None


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MOST_SOURCE:
            raise UsageError(f"{path} is too large: at most {_MOST_SOURCE:,} bytes are read.")
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None


def subset_font(data: bytes, lacking: Collection[str]) -> bytes:
    wanted = _wanted(characters_of(data), lacking)
    digest = hashlib.sha256(data + ",".join(map(str, sorted(wanted))).encode()).hexdigest()
    try:
        # Write a font under its new name, each picture drawn itself.
        font = cut_font(data, wanted)
        family = FAMILY + digest[:12]
        from fontTools.pens.recordingPen import DecomposingRecordingPen
        from fontTools.pens.ttGlyphPen import TTGlyphPen

        pictures: Any = font.getGlyphSet()
        table: Any = font["glyf"]
        for name in font.getGlyphOrder():
            if table[name].isComposite():
                parts, pen = DecomposingRecordingPen(pictures), TTGlyphPen(None)
                pictures[name].draw(parts)
                parts.replay(pen)
                table[name] = pen.glyph()
        # It may not bear the name that its licence reserves.
        names: Any = font["name"]
        names.names = [name for name in names.names if name.platformID == 3]
        for kind, text in ((1, family), (2, "Regular"), (4, family), (6, family.replace(" ", ""))):
            names.setName(text, kind, 3, 1, 0x409)
        font["post"].formatType = 3.0
        made = BytesIO()
        font.save(made)
        return made.getvalue()
    except FontError:
        raise
    except Exception as error:  # noqa: BLE001  fontTools raises whatever a damaged font leads to
        raise FontError(f"This font is not used: it is damaged ({type(error).__name__}).") from None


def _wanted(has: Collection[int], lacking: Collection[str]) -> set[int]:
    if not (wanted_codes := {ord(character) for character in lacking} & set(has)):
        raise FontError(
            "This font is not used: it has none of the letters that the reviewer's window lacks for this review."
        )
    wanted = set(wanted_codes)
    for script in {script_of(chr(code)) for code in wanted_codes if chr(code).isalpha()} - {"Other"}:
        whole = {code for code in has if script_of(chr(code)) == script}
        wanted |= whole if len(whole) <= _WHOLE else set()
    return wanted | (_BESIDE & set(has))


def cut_font(data: bytes, wanted: Collection[int]) -> TTFont:
    """Return a font with the pictures of these code points alone; FontError where it may or can not be cut."""
    from fontTools import subset
    from fontTools.ttLib import TTFont

    logging.getLogger("fontTools").setLevel(logging.CRITICAL)  # what is wrong is said below, once
    font = TTFont(BytesIO(data), recalcTimestamp=False)
    if "glyf" not in font:
        raise FontError("This font is not used: its outlines are not TrueType. Take the .ttf file of it.")
    if font["OS/2"].fsType & _NO_EMBEDDING:
        raise FontError("This font is not used: it says that it may not be sent along with texts.")
    if "fvar" in font:
        from fontTools.varLib.instancer import instantiateVariableFont

        usual = {axis.axisTag: axis.defaultValue for axis in font["fvar"].axes}
        font = instantiateVariableFont(font, usual)
    for tag in set(font.keys()) - NEEDED - SHAPING - {"GlyphOrder"}:
        del font[tag]
    options = subset.Options(
        hinting=False, layout_features=["*"], notdef_outline=True, glyph_names=False, name_IDs=[0, 13, 14]
    )
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=wanted)
    cutter.subset(font)
    return font
