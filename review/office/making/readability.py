"""What reviewers will be able to read of a review, worked out before anything of it is written."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from corpora.languages.scripts import tag_script
from review.files.font_file import characters_of
from review.office.items.items import Item
from review.office.making.batches import scripted
from review.office.making.making import Drawn
from review.session.legible import legible_without, seen_of

FONTS = Path(__file__).parents[2] / "desktop" / "fonts"
"""Of the reviewer's window, which has them on every computer; fonts of the computer itself may come to them."""


@dataclass(frozen=True)
class Readability:
    """Which items show letters by name, and which cannot be read and will be left out."""

    lacking: Mapping[str, int]
    """Letter that no font of the window or the batch has → items in which it stands, most first."""
    named: tuple[Item, ...]
    left_out: tuple[Item, ...]
    """On every computer that has no font of its own for their letters."""
    consent_lacks: frozenset[str]
    """Letters for lack of which nobody can read what they agree to; then the whole review is not begun."""


@cache
def brought() -> tuple[frozenset[int], ...]:
    """Return the code points that each font of the reviewer's window draws."""
    files = sorted(FONTS.glob("*-Regular.ttf"))
    return tuple(characters_of(file.read_bytes()) for file in files)


def readability(
    drawn: Drawn, consent: str, language: str, carried: Sequence[Collection[int]] = ()
) -> Readability:
    """Work out what can be read; ``consent`` is in ``language``, and ``carried`` are the code points of each font of the batch."""
    has = (*brought(), *carried)
    shown = [item.shown for item in drawn.items]
    source = tag_script(scripted(drawn.dataset.source_language, [each.source for each in shown]))
    target = tag_script(scripted(drawn.dataset.target_language, [each.candidate for each in shown]))
    lacking: Counter[str] = Counter()
    named, left_out = [], []
    for item in drawn.items:
        pair = ((item.shown.source, source), (item.shown.candidate, target))
        lost = [lacking_in(text, has) for text, _ in pair]
        lacking.update(lost[0] | lost[1])
        if not all(
            legible_without(text, no, of) for (text, of), no in zip(pair, lost, strict=True)
        ):
            left_out.append(item)
        elif lost[0] | lost[1]:
            named.append(item)
    unread = lacking_in(consent, has)
    agreed = legible_without(consent, unread, tag_script(language))
    return Readability(
        dict(lacking.most_common()),
        tuple(named),
        tuple(left_out),
        frozenset() if agreed else frozenset(unread),
    )


def lacking_in(text: str, fonts: Sequence[Collection[int]]) -> set[str]:
    """Return the characters of a text that are to be seen and that none of the fonts, given by their code points, can draw."""
    return {each for each in set(text) if seen_of(each) and not _drawn(each, fonts)}


def _drawn(character: str, fonts: Sequence[Collection[int]]) -> bool:
    """Tell whether a font has a picture of it, or one font has those of all its parts."""
    parts = [ord(each) for each in unicodedata.normalize("NFD", character)]
    return any(ord(character) in has or all(each in has for each in parts) for has in fonts)
