"""Quotation marks of a text, told apart from apostrophes, inches and letters that look like them."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import category

import regex

_MARK = regex.compile("[\"“”„‟«»‹›「」『』﹁﹂﹃﹄〝〞〟＂❝❞'‘’‚‛]")
_SINGLE = frozenset("'‘’‚‛")
_CLOSING = frozenset("'’‘")
_HEBREW = regex.compile(r"\p{Hebrew}")


def quotation_marks(text: str, letters: str = "") -> frozenset[str]:
    """Return the characters that a text quotes with, see ``quoting``."""
    return frozenset(quoting(text, letters))


def quoting(text: str, letters: str = "") -> list[str]:
    """Return the marks that a text quotes with, as they come; pairs of single ones as they are closed.

    A single mark counts where it opens at the beginning of a word and another closes at the end of one,
    so that an apostrophe, a contraction and a plural's possessive do not; ``letters`` are single marks
    that the language writes words with, and never count. A straight double mark right after a number
    with no quotation open means inches, one between Hebrew letters marks an abbreviation.
    """
    found: list[str] = []
    opened, inside = "", False
    for match in _MARK.finditer(text):
        mark, place = match[0], match.start()
        before, after = text[place - 1 : place], text[place + 1 : place + 2]
        if mark not in _SINGLE:
            if mark == '"' and _is_no_quote(before, after, inside):
                continue
            inside = not inside if mark == '"' else inside
            found.append(mark)
        elif mark in letters:
            continue
        elif opened and mark in _CLOSING and _closes(before, after):
            found += [opened, mark]
            opened = ""
        elif _opens(before, after):
            opened = mark
    return found


def turned_round(marks: Sequence[str], pair: str) -> bool:
    """Tell whether marks that come in a text open with the closing mark of a pair and close with its opening.

    Other marks between them do not count; a pair of one mark cannot be turned round.
    """
    first, last = pair[0], pair[-1]
    own = [mark for mark in marks if mark in pair]
    return first != last and bool(own) and own == [last, first] * (len(own) // 2)


def _is_no_quote(before: str, after: str, inside: bool) -> bool:
    if before.isdigit() and not inside:
        return True
    return bool(before and after and _HEBREW.match(before) and _HEBREW.match(after))


def _opens(before: str, after: str) -> bool:
    return not _in_word(before) and bool(after) and not after.isspace()


def _closes(before: str, after: str) -> bool:
    return bool(before) and not before.isspace() and not _in_word(after)


def _in_word(character: str) -> bool:
    return bool(character) and category(character)[0] in "LMN"
