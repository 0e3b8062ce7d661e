"""How a language is written in one script: letters, marks and rules, as a section of its card."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, model_validator

from corpora.text.tokens import JOINERS

# ---- How long a search for a regular expression can take: cards come from strangers (DESIGN L2).
#
# A search tries one way after another until one fits. Repetitions in a row multiply their ways, so
# that a pattern of a few letters can keep a machine busy for years: "a*a*a*b" has 100 · 100 · 100
# ways from one letter of a word of 100. They are counted before anything is searched.

LONGEST_WORD = 100
"""Letters of a word that are searched; all that follow are no word of any language."""
MOST_WAYS = 1000
"""Ways that a search may try from one letter on: one repetition without end, and a few choices next to it."""

_TOKEN = re.compile(
    r"""
      (?P<reference> \\[1-9] )
    | \\. | \[\^?+\]?+ (?: \\. | [^\]\\] )*+ \]
    | \( (?P<plain> (?: \? (?: [:=!>] | <[=!] ) )?+ ) (?P<other> \??+ )
    | (?P<close> \) )
    | (?P<bar> \| )
    | (?P<quantifier> [*+?] | \{ (?: [0-9]++ (?: ,[0-9]*+ )?+ | ,[0-9]*+ ) \} ) [+?]?+
    | .
    """,
    re.VERBOSE | re.DOTALL,
)


def why_endless(pattern: str) -> str | None:
    """Return why a search for a pattern that compiles could take very long; None where it cannot."""
    ways = _Ways()
    after_group = False
    for token in _TOKEN.finditer(pattern):
        if token["other"]:
            return "has a group that sets flags, has a name or is a comment; use plain groups, (…) or (?:…)"
        choices = _choices(token["quantifier"])
        if token["reference"] or (after_group and (choices > 1 and token["quantifier"] != "?")):
            return "repeats a group or refers to one; write the cases with | instead"
        ways.see(token, choices)
        after_group = token["close"] is not None
    if ways.all > MOST_WAYS:
        return (
            f"lets a search try {ways.all:,} ways from one letter on, and {MOST_WAYS:,} are allowed; "
            "keep to one * or + in each case between |, or make two patterns of it"
        )
    return None


class _Ways:
    """Counts ways: cases between bars add up, what is in a row multiplies."""

    def __init__(self) -> None:
        self._before = 0
        """Of the cases that are read."""
        self._case = 1
        """Of the case that is being read."""
        self._open: list[int] = []
        """Cases of each group that is being read; what is inside of one counts in each of its cases."""

    @property
    def all(self) -> int:
        """How many ways there are."""
        return self._before + self._case

    def see(self, token: re.Match[str], choices: int) -> None:
        """Count one token, which may be repeated in as many ways."""
        self._case *= choices
        if token["plain"] is not None:
            self._open.append(1)
        elif token["close"] and self._open:
            self._case *= self._open.pop()
        elif token["bar"] and self._open:
            self._open[-1] += 1
        elif token["bar"]:
            self._before, self._case = self.all, 1


def _choices(quantifier: str | None) -> int:
    """Return in how many numbers of times something may be repeated, at most LONGEST_WORD."""
    if quantifier is None:
        return 1
    if quantifier in "*+?":
        return 2 if quantifier == "?" else LONGEST_WORD
    least, comma, most = quantifier[1:-1].partition(",")
    if not comma:
        return 1
    last = int(most) if most else LONGEST_WORD
    return max(1, min(last - int(least or 0) + 1, LONGEST_WORD))


Tokenizer = Literal["13a", "intl", "char", "none", "zh", "ja-mecab", "ko-mecab", "flores200"]
"""sacreBLEU's tokenizers."""
_MOST_IN_RANGE = 30_000
_LONGEST_LETTER = 8
_MOST_NAMED = 5
"""Repeated letters that a message names."""
_LONGEST_PATTERN = 200


def shown(text: str) -> str:
    """Quote something of a card's file in a message: short, and with what would act made visible."""
    if text[:40].isprintable():
        return f"“{text[:40]}”"
    return ascii(text if len(text) <= 40 else f"{text[:39]}…")


def composed(text: str) -> str:
    """Return text in NFC, in which everything is compared."""
    return unicodedata.normalize("NFC", text)


def graphemes(text: str) -> Iterator[str]:
    """Return the letters that a list names, ranges written out; ValueError where an item is none."""
    for item in composed(text).split():
        if len(item) == 3 and item[1] == "-":
            yield from map(chr, range(ord(item[0]), ord(item[2]) + 1))
        else:
            yield item


def _listed_once(text: str) -> str:
    """Refuse items that are no letter or range, and a list in which one stands twice: another may be missing."""
    for item in composed(text).split():
        if len(item) == 3 and item[1] == "-":
            if not 0 < ord(item[2]) - ord(item[0]) <= _MOST_IN_RANGE:
                raise ValueError(
                    f"the range {shown(item)} goes from a later character to an earlier one, "
                    f"or holds more than {_MOST_IN_RANGE:,}"
                )
        elif len(item) > _LONGEST_LETTER:
            raise ValueError(f"{shown(item)} is too long for a letter: put spaces between letters")
    spelled_letters = composed(text)
    letters = list(graphemes(spelled_letters))
    if len(set(letters)) < len(letters):
        counted = Counter(letters).items()
        twice = [letter for letter, times in counted if times > 1][:_MOST_NAMED]
        raise ValueError(f"{', '.join(map(shown, twice))} stands twice; list each letter once")
    return spelled_letters


def _marks(text: str) -> str:
    """Refuse white space and letters among marks."""
    if wrong := [mark for mark in text if mark.isspace() or mark.isdigit()]:
        raise ValueError(f"{shown(wrong[0])} is white space or a digit, and no mark")
    return composed(text)


def _quotes(pair: str) -> str:
    """Refuse what is not an opening and a closing mark."""
    if len(pair) != 2 or any(mark.isalnum() or mark.isspace() for mark in pair):
        raise ValueError(f"{shown(pair)} is no pair of an opening and a closing mark, such as “”")
    return pair


def _pattern(text: str) -> str:
    """Refuse a pattern that is none, or one whose search could take time without end."""
    if not text or len(text) > _LONGEST_PATTERN:
        raise ValueError(f"a pattern has between 1 and {_LONGEST_PATTERN} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what may mean something else in another Python
            re.compile(text)
    except (re.error, RecursionError, OverflowError, Warning) as error:
        raise ValueError(f"{shown(text)} is no regular expression ({error})") from None
    if reason := why_endless(text):
        raise ValueError(f"{shown(text)} {reason}")
    return composed(text)


def _filled(text: str) -> str:
    """Refuse what says nothing."""
    if not text.strip():
        raise ValueError("nothing stands here; at least one character is wanted")
    return text


Letters = Annotated[str, AfterValidator(_listed_once)]
Marks = Annotated[str, AfterValidator(_marks)]
Composed = Annotated[str, AfterValidator(composed)]
Filled = AfterValidator(_filled)


class Forbidden(BaseModel):
    """A sequence of letters that the orthography does not have."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    pattern: Annotated[str, AfterValidator(_pattern)]
    """Regular expression of Python's ``re``, searched in the first 100 letters of a lower-cased word in NFC.
    No group in it is repeated, and of ``*`` and ``+`` there is one in each case between bars, so that no
    word can make the search long (``corpora.languages.writing``)."""
    why: Annotated[str, Field(min_length=1, max_length=200)]
    """In words, for the entry screen: “long e is written ê”."""

    @cached_property
    def _search(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def stands_in(self, word: str) -> bool:
        """Return whether a lower-cased word in NFC has the sequence."""
        return self._search.search(word, 0, LONGEST_WORD) is not None

    def in_any(self, words: str) -> bool:
        """Return whether any of some words has the sequence, or two of them across their border."""
        return self._search.search(words) is not None


class WritingSystem(BaseModel):
    """How a language is written in one script."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    letters: Annotated[Letters, Filled]
    """Letters of the language's own words, in lower case, separated by spaces; several characters make
    one letter where the alphabet says so (``sh``). Ranges of single characters are written ``ᐁ-ᕽ``."""
    foreign_letters: Letters = ""
    """Letters of names and loan words, written likewise; they break no rule there, in any other word they do."""
    word_letters: Marks = ""
    """Characters that Unicode calls no letters and the language does (``'`` as a glottal stop)."""
    joiners: Marks = JOINERS
    """Characters that belong to a word where letters are on both sides."""
    cased: StrictBool
    """True where capitals are in use by convention."""
    quotes: tuple[Annotated[str, AfterValidator(_quotes)], ...] = ()
    """Pairs of opening and closing marks, the usual one first."""
    direction: Literal["ltr", "rtl"] = "ltr"
    """Direction of reading."""
    sentence_end: Annotated[Marks, Filled] = ".?!"
    """Marks that end a sentence, as one string."""
    bleu_tokenizer: Tokenizer = "13a"
    """sacreBLEU's tokenizer for this writing."""
    normalisation: tuple[tuple[Annotated[Composed, Filled], Composed], ...] = ()
    """Replacements that turn accepted spellings into the analyser's, tried where a word is rejected
    as written: ``["ā", "â"]``."""
    suspended_hyphen: StrictBool = False
    """True where a hyphen may end a word that shares its rest with a later one (“Vor- und Nachteile”)."""
    vowel_marks: tuple[Annotated[Composed, Filled], ...] = ()
    """Sets of letters of which a text uses only one, such as ``["âêîô", "āēīō"]``."""
    forbidden: tuple[Forbidden, ...] = ()
    """Sequences that the orthography does not have."""

    @model_validator(mode="after")
    def _consistent(self) -> WritingSystem:
        if self.cased:
            for letter in graphemes(self.letters + " " + self.foreign_letters):
                if letter != letter.lower():
                    why = f"{shown(letter)} is a capital; list letters in lower case"
                    raise ValueError(f"letters: {why}")
        if len(self.vowel_marks) == 1:
            raise ValueError("vowel_marks: one set alone excludes nothing; give two, or none")
        marks = "".join(self.vowel_marks)
        if twice := [mark for mark in marks if marks.count(mark) > 1]:
            raise ValueError(f"vowel_marks: {shown(twice[0])} stands twice")
        return self

    @cached_property
    def graphemes(self) -> tuple[str, ...]:
        """The language's own letters as its alphabet has them, in lower case, ranges written out."""
        return tuple(dict.fromkeys(graphemes(self.letters)))

    @cached_property
    def native(self) -> frozenset[str]:
        """Single characters that words of the language are made of, capitals too where there are some."""
        return self._characters(self.letters)

    @cached_property
    def alphabet(self) -> frozenset[str]:
        """Single characters of words: ``native`` and those of names and loan words."""
        return self.native | self._characters(self.foreign_letters)

    def _characters(self, listed: str) -> frozenset[str]:
        single = {character for letter in graphemes(listed) for character in letter}
        single |= set(self.word_letters)
        if self.cased:
            single |= {upper for character in single for upper in character.upper()}
            single |= {"ẞ"} if "ß" in single else set()  # Unicode writes its capital SS
        return frozenset(single)
