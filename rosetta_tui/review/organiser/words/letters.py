"""The texts about letters for the organiser: which a reviewer's window lacks, and what therefore nobody is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from corpora.text.comparison import script_of
from corpora.text.visible import letter_name
from harness.core.failures import UsageError
from review.files.font_file import CarriedFont, read_font
from review.office.items.items import Item
from review.office.making.batches import Drawn
from review.office.making.carried_fonts import Readability, carried_fonts, readability
from review.office.making.texts import ReviewTexts
from scoring.core.messages import counted

if TYPE_CHECKING:
    from review.office.results.progress import ReviewProgress

_MOST = 10
"""Entries that are named."""
_BROUGHT = "Latin, Greek, Cyrillic, Arabic, Canadian syllabics and many signs"
"""What the fonts of the reviewer's window draw."""


_SIGNS = "signs"
"""Everything that is no letter."""


class Letters(NamedTuple):
    """The fonts that a batch brings along, and what can be read with them and those of the window."""

    fonts: tuple[CarriedFont, ...]
    found: Readability
    secret: bool
    """Then no letter of a sentence is named, only its script."""


def look_at_letters(
    drawn: Drawn, texts: ReviewTexts, given: Mapping[str, Any], *, secret: bool
) -> Letters:
    """Cut the fonts that are named to the letters of a review, and work out what can be read; UsageError in words."""
    shown = [*(item.shown for item in drawn.items), *drawn.training]
    written = [text for batch_item in shown for text in _texts(batch_item.model_dump())]
    written += [
        texts.consent,
        texts.guide,
        *(
            text
            for in_language in texts.others.values()
            for text in _texts(in_language.model_dump())
        ),
    ]
    written += [given["title"] or texts.title, given["organisation"] or "", *drawn.written]
    fonts = carried_fonts(given["fonts"], given["licences"], written)
    has = [read_font(font.font).characters for font in fonts]
    readable_letters = readability(drawn, texts.consent, texts.language, has)
    return Letters(fonts, readable_letters, secret)


def _texts(record: object) -> Iterator[str]:
    """Yield every text of a record, at whatever depth."""
    if isinstance(record, str):
        yield record
    elif isinstance(record, Mapping):
        for value in record.values():
            yield from _texts(value)
    elif isinstance(record, list | tuple):
        for value in record:
            yield from _texts(value)


def letter_lines(letters: Letters) -> Iterator[str]:
    """Yield, for the plan, which letters the reviewer's window lacks and what becomes of their items."""
    readability = letters.found
    brings = f"the reviewer's window brings {_BROUGHT}"
    if letters.fonts:
        size = sum(len(font.font) for font in letters.fonts)
        brings += f", the batch {counted(len(letters.fonts), 'font')} ({size // 1024 + 1} KB)"
    if not readability.lacking:
        yield f"all can be shown: {brings}"
        return
    yield f"not all can be shown: {brings}"
    if readability.named:
        yield (
            f"SHOWN BY NAME, such as ‹GRINNING FACE›: {_kinds(letters, readability.named)} in "
            f"{counted(len(readability.named), 'item')}, {_entries(readability.named)}"
        )
    if readability.left_out:
        yield (
            f"LEFT OUT where the computer has no font for them: {counted(len(readability.left_out), 'item')} with "
            f"{_kinds(letters, readability.left_out)}, {_entries(readability.left_out)}"
        )


def unreadable_words(letters: Letters) -> str:
    """Return what nobody could read, and how to fix it; empty where all can be read."""
    readability = letters.found
    if readability.consent_lacks:
        what = f"The consent cannot be read ({_scripts(readability.consent_lacks)})"
    elif readability.left_out:
        what = (
            f"{counted(len(readability.left_out), 'item')} cannot be read ({_kinds(letters, readability.left_out)}, "
            f"{_entries(readability.left_out)})"
        )
    else:
        return ""
    return (
        f"{what} with the letters that the reviewer's window brings: {_BROUGHT}. Send a font along (--font FILE.ttf "
        "--font-licence OFL.txt), or add --anyway: then nobody is asked about them where the computer has no font of "
        "its own for them."
    )


def require_readable(letters: Letters, *, anyway: bool) -> None:
    """Refuse a review of which something could not be read, unless the organiser knows it."""

    if not anyway and (why := unreadable_words(letters)):
        raise UsageError(why)


def letters_json(letters: Letters) -> dict[str, Any]:
    """Return the same as JSON values."""
    return {
        "fonts": len(letters.fonts),
        "lacking": _by_script(letters.found.lacking),
        "shown_by_name": [item.truth.entry for item in letters.found.named],
        "left_out": [item.truth.entry for item in letters.found.left_out],
    }


def not_shown_words(found: ReviewProgress) -> Iterator[str]:
    """Return which sentences laptops could not show, so that their people were not asked."""
    entries = found.not_shown
    if entries:
        times = sum(entries.values())
        message = "could not be shown on a laptop, so its person was not asked"
        yield (
            f"NOT SHOWN: {counted(len(entries), 'sentence')} {message} ({counted(times, 'time')} in all): "
            f"{named(entries)}. A batch can bring letters along: `rosetta review create --font`."
        )


def named(entries: Iterable[object]) -> str:
    """Name entries by their ids, the first ones of many."""
    ids = list(dict.fromkeys(map(str, entries)))
    more = f" and {len(ids) - _MOST} more" if len(ids) > _MOST else ""
    return f"{'entry' if len(ids) == 1 else 'entries'} {', '.join(ids[:_MOST])}{more}"


def _entries(items: Sequence[Item]) -> str:
    return named(sorted((item.truth.entry for item in items), key=_in_order))


def _in_order(entry: object) -> tuple[int, str]:
    return len(str(entry)), str(entry)


def _kinds(letters: Letters, items: Sequence[Item]) -> str:
    """Name what some items lack: the scripts, and of open sentences a few signs by their names."""

    texts = "".join(text for item in items for text in (item.shown.source, item.shown.candidate))
    here = [letter for letter in letters.found.lacking if letter in texts]
    few = here[:3] if not letters.secret else []
    names = (
        f": {', '.join(map(letter_name, few))}{', …' if len(here) > len(few) else ''}"
        if few
        else ""
    )
    return f"{_scripts(here)}{names}"


def _scripts(letters: Iterable[str]) -> str:
    return ", ".join(
        counted(count, "sign" if name == _SIGNS else f"{name} letter")
        for name, count in _by_script(letters).items()
    )


def _by_script(letters: Iterable[str]) -> dict[str, int]:
    """Count letters by their script; what is no letter is a sign."""

    return dict(
        Counter(
            script_of(letter).replace("_", " ") if letter.isalpha() else _SIGNS
            for letter in letters
        ).most_common()
    )
