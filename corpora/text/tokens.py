"""Words of a text, and what in it is not a word of any language: placeholders and tags (METRICS §0).

A program fills placeholders in and reads tags, so that a translation must keep them. What is left is prose: the
words of a text are the words of its prose.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

import regex

from corpora.text.comparison import stacked

_DEPTH = 8
"""How deep plural and select arguments are read inside each other."""
_PLURAL_WORDS = frozenset({"zero", "one", "two", "few", "many"})
"""Plural categories of Unicode CLDR beside ``other``: which of them there are is each language's own."""
_TRANSLATED = frozenset({"alt", "aria-label", "dir", "label", "lang", "placeholder", "title"})
"""Attributes of tags whose values a translator changes."""
_VOID = frozenset({"br", "hr", "img", "input", "wbr"})
"""Tags that HTML closes on its own: ``<br>`` is ``<br/>``."""
_NAME = r"[-@.\#/$]?[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.\-\[\]]*+"

_PIECES = rf"""
      (?P<address> https?://[^\s<>{{}}]+ )
    | <(?P<closing>/?)(?P<tag>[A-Za-z][\w:.-]*+)(?P<attributes>(?:\s[^<>]*)?)(?P<self>/?)>
    | (?P<literal> %% )
    | (?P<printf>
        %\(\w++\)[-+0\#]*+\d*+(?:\.\d++)?[sdiufgGxXc]
      | (?<!\d)(?!(?<=\d\s)%\p{{Latin}}{{2}})
        %(?:\d++\$)?[-+0\#]*+\d*+(?:\.\d++)?(?!\p{{Latin}}{{4}})(?:hh?|ll?|[qzjt])?[sdiufgGxXc@]
      )
    | (?P<icu> \{{\s*+(?P<argument>{_NAME})\s*+,\s*+(?P<kind>plural|selectordinal|select)\s*+, )
    | (?P<typed> \{{\s*+(?P<value>{_NAME})\s*+,\s*+
        (?P<type>number|date|time|spellout|ordinal|duration|list)\b[^{{}}]*+\}} )
    | (?P<braced>
        \{{\{{\{{?\s*+{_NAME}\s*+(?:[|:!][^{{}}]*+)?\}}?\}}\}}
      | [$%]?\{{\s*+(?:{_NAME}\s*+(?:[|:!][^{{}}]*+)?)?\}}
      )
"""
"""One alternative for each kind; quantifiers that could meet each other give nothing back."""
_BRACE = regex.compile(r"[{}]")
_BRANCH = regex.compile(r"\s*+(?:offset:\d++\s*+)?(?P<key>=?[\w-]++)\s*+\{")
_ATTRIBUTE = regex.compile(r"([^\s=\"'/]++)(?:\s*+=\s*+(\"[^\"]*+\"|'[^']*+'|[^\s\"']++))?")


@cache
def _pieces() -> regex.Pattern[str]:
    return regex.compile(_PIECES, regex.VERBOSE)


@dataclass(frozen=True, slots=True)
class PlaceholderReading:
    """A text taken apart."""

    text: str
    variables: Counter[str]
    """How often each placeholder and tag is in it, in one spelling for equal ones."""
    spans: tuple[tuple[int, int], ...]
    """Where the rest begins and ends, which people read: between placeholders, tags and addresses."""

    @property
    def prose(self) -> str:
        """Return the text for people; a blank replaces all between."""
        return " ".join(self.text[start:end] for start, end in self.spans)


def read_placeholders(text: str) -> PlaceholderReading:
    """Split a text: ``{x}`` ``{{x}}`` ``${x}`` ``%s`` ``%1$d`` ``%(x)s``, ICU arguments, tags.

    Of an ICU plural or select, argument, type and keys count, and what its branches hold: once for all
    branches. The plural words zero, one, two, few and many may differ, since languages differ in them.
    A ``%`` after a number and braces around several words are prose.
    """
    if "{" not in text and "%" not in text and "<" not in text and "://" not in text:
        return PlaceholderReading(text, Counter(), ((0, len(text)),))
    spans: list[tuple[int, int]] = []
    counts = _Text(text, _closings(text) if "{" in text else {}, spans).read(0, len(text), 0)
    return PlaceholderReading(text, counts, tuple(spans))


@dataclass(frozen=True, slots=True)
class _Text:
    """A text that is being taken apart."""

    text: str
    closings: dict[int, int]
    """Place of each opening brace → that of its closing one."""
    spans: list[tuple[int, int]]
    """Of prose, found so far."""

    def read(self, start: int, end: int, depth: int) -> Counter[str]:
        """Count the variables of a part of the text, and note its prose."""
        counts: Counter[str] = Counter()
        place = start
        while match := _pieces().search(self.text, place, end):
            place = match.end()
            if match["icu"]:
                close = self.closings.get(match.start())
                if close is None or depth == _DEPTH:
                    place = match.start() + 1
                    continue
                self.spans.append((start, match.start()))
                counts += self._argument(match, close, depth)
                start = place = close + 1
                continue
            if name := _name(match):
                counts[name] += 1
            self.spans.append((start, match.start()))
            start = place
        self.spans.append((start, end))
        return counts

    def _argument(self, match: regex.Match[str], end: int, depth: int) -> Counter[str]:
        """Read a plural or select argument: its keys, and its branches as if they were one text."""
        head = f"{match['argument']}, {match['kind']}"
        keys: Counter[str] = Counter({f"{{{head}}}": 1})
        inside: Counter[str] = Counter()
        place = match.end()
        # A branch counts where its brace is closed.
        while (branch := _BRANCH.match(self.text, place, end)) and branch.end() - 1 in self.closings:
            key, place = branch["key"], self.closings[branch.end() - 1] + 1
            if match["kind"] == "select" or key not in _PLURAL_WORDS:
                keys[f"{{{head}, {key}}}"] += 1
            first = len(self.spans)
            variables = self.read(branch.end(), place - 1, depth + 1)
            numbered = any(self.text.find("#", *span) >= 0 for span in self.spans[first:])
            if numbered and match["kind"] != "select":
                variables[f"{{{match['argument']}}}"] += 1
            inside |= variables
        if self.text[place:end].strip():
            keys[f"{{{head}, … }} that cannot be read"] += 1
        return keys + inside


def _name(match: regex.Match[str]) -> str | None:
    """Return the one spelling of a piece; None for an address and a literal per cent sign."""
    if match["tag"]:
        tag, attributes = match["tag"], match["attributes"].rstrip()
        closed = bool(match["self"]) or attributes.endswith("/")
        kept = sorted(
            f'{name}="{value.strip(chr(34) + chr(39))}"' if value and name.lower() not in _TRANSLATED else name
            for name, value in _ATTRIBUTE.findall(attributes.removesuffix("/"))
        )
        end = "/" if closed or tag.lower() in _VOID else ""
        return f"<{match['closing']}{' '.join([tag, *kept])}{end}>"
    if match["typed"]:
        return f"{{{match['value']}, {match['type']}}}"
    piece = match["printf"] or match["braced"]
    return "".join(piece.split()) if piece else None


def _closings(text: str) -> dict[int, int]:
    """Find the closing brace of every opening one in one pass."""
    closings, waiting = {}, []
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            waiting.append(match.start())
        elif waiting:
            closings[waiting.pop()] = match.start()
    return closings


JOINERS = "'’ʼʔ·‑-"
"""Characters that join letters to one word in a language whose card says nothing else."""


_AROUND = '.,;:!?"()“”„«»…'
"""Marks around a word that make nothing else of it."""


class Word(NamedTuple):
    """One word and where it is in its text."""

    text: str
    start: int
    end: int

    @property
    def number(self) -> bool:
        """True where it holds a digit."""
        return any(letter.isnumeric() for letter in self.text)


def words(text: str, joiners: str = JOINERS, letters: str = "") -> Iterator[Word]:
    """Yield the words of a text; placeholders, tags and addresses are none.

    ``joiners`` belong to a word where letters are on both sides; ``letters`` are characters that
    Unicode calls no letter and the language does, such as an apostrophe for a glottal stop.
    """
    bare = text.strip(_AROUND)
    if bare.isalpha() and not any(map(_AROUND.__contains__, letters)):  # as most pieces of a text
        start = text.index(bare)
        yield Word(bare, start, start + len(bare))
        return
    word = _word(joiners, letters)
    for start, end in read_placeholders(text).spans:
        for match in word.finditer(text, start, end):
            yield Word(match[0], *match.span())


def pieces(text: str) -> list[str]:
    """Cut a text where no word, placeholder or tag is cut, so that what is found of a piece can be kept.

    The pieces are what stands between spaces; the same ones come again and again in the texts of a corpus.
    Only placeholders and tags may hold a space, and before a per cent sign it may tell that none begins
    there: a text with one of these is a single piece.
    """
    return [text] if "{" in text or "<" in text or " %" in text else text.split(" ")


@cache
def _word(joiners: str, letters: str) -> regex.Pattern[str]:
    letter = rf"[\p{{L}}\p{{M}}\p{{N}}{regex.escape(letters)}]++"
    joined = rf"(?:[{regex.escape(joiners)}]{letter})*+" if joiners else ""
    return regex.compile(f"{letter}{joined}")


def folded(text: str) -> str:
    """Return a word in the form in which words are compared: NFC, without case, one apostrophe."""
    return unicodedata.normalize("NFC", text).casefold().replace("’", "'").replace("ʼ", "'")


# ---- Texts down to their letters, marks and numbers, in whatever script they are written ----
#
# The systems of the packs compare texts without case and punctuation. Their published code keeps
# the letters of some scripts only, so that Cree syllabics, Devanagari, Khmer and Greek become
# nothing and any two answers are equal; here a letter of any script stays.

_KEPT: Final = regex.compile(r"[\p{L}\p{M}\p{N}]")
_UNSEEN_IN_WORDS: Final = frozenset("\u00ad\u200c\u200d\u2060")
"""Soft hyphen, joiners and non-joiners: they stand inside a word and part nothing."""


class LetterTable(dict[int, str]):
    """A table for ``str.translate`` that keeps letters, marks and numbers and blanks all else.

    It decides about a character when it first meets it, so that a text costs one look-up a character.
    """

    def __init__(self, other: Callable[[str], str] = lambda _: " ") -> None:
        """Initialise with the replacement of a character that is not kept."""
        super().__init__()
        self._other = other

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if _KEPT.match(character):
            self[code] = character
        else:
            self[code] = "" if character in _UNSEEN_IN_WORDS else self._other(character)
        return self[code]


_LETTERS: Final = LetterTable()


def composed(text: str) -> str:
    """Return a text in NFC; one with more marks on a letter than any writing has stays as it is.

    Composing a long row of marks takes time by the square of the row.
    """
    return text if stacked(text) else unicodedata.normalize("NFC", text)


def lowered(text: str) -> str:
    """Return a text in lower case, in NFC before and after."""
    return composed(composed(text).lower())


def bare(text: str) -> str:
    """Return the words of a text in lower case, one space between them, without punctuation and symbols."""
    return " ".join(lowered(text).translate(_LETTERS).split())
