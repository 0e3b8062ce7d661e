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

from corpora.languages.patterns import LONGEST_WORD, why_endless
from corpora.text.words import JOINERS

Tokenizer = Literal[
    "13a", "intl", "char", "none", "zh", "ja-mecab", "ko-mecab", "flores200"
]  # fmt: skip
"""sacreBLEU's tokenizers."""

_MOST_IN_RANGE = 30_000
_LONGEST_LETTER = 8
_MOST_NAMED = 5
"""Repeated letters that a message names."""
_LONGEST_PATTERN = 200


def shown(text: str) -> str:
    """Quote something of a card's file in a message: short, and with what would act made visible."""
    return ascii(text if len(text) <= 40 else f"{text[:39]}…") if _acts(text) else f"“{text[:40]}”"


def _acts(text: str) -> bool:
    return not text[:40].isprintable()


def composed(text: str) -> str:
    """Return text in NFC, in which everything is compared."""
    return unicodedata.normalize("NFC", text)


def graphemes(text: str) -> Iterator[str]:
    """Yield the letters that a list names, ranges written out; ValueError where an item is none."""
    for item in composed(text).split():
        if len(item) == 3 and item[1] == "-":
            yield from map(chr, range(ord(item[0]), ord(item[2]) + 1))
        else:
            yield item


def _letters(text: str) -> str:
    """Refuse items that are neither a letter nor a range."""
    for item in composed(text).split():
        if len(item) == 3 and item[1] == "-":
            if not 0 < ord(item[2]) - ord(item[0]) <= _MOST_IN_RANGE:
                raise ValueError(
                    f"the range {shown(item)} goes from a later character to an earlier one, "
                    f"or holds more than {_MOST_IN_RANGE:,}"
                )
        elif len(item) > _LONGEST_LETTER:
            raise ValueError(f"{shown(item)} is too long for a letter: put spaces between letters")
    return composed(text)


def _listed_once(text: str) -> str:
    """Refuse a list of letters in which one stands twice: another may be missing in its place."""
    found = _letters(text)
    counted = Counter(graphemes(found)).items()
    if twice := [letter for letter, times in counted if times > 1][:_MOST_NAMED]:
        raise ValueError(f"{', '.join(map(shown, twice))} stands twice; list each letter once")
    return found


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
            warnings.simplefilter(
                "error"
            )  # what may mean something else in another version of Python
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
    word can make the search long (``corpora.languages.patterns``)."""
    why: Annotated[str, Field(min_length=1, max_length=200)]
    """In words, for the entry screen: “long e is written ê”."""

    @cached_property
    def _search(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def stands_in(self, word: str) -> bool:
        """Tell whether a lower-cased word in NFC has the sequence."""
        return self._search.search(word, 0, LONGEST_WORD) is not None


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
    """Characters that belong to a word where letters stand on both sides."""
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
                    raise ValueError(
                        f"letters: {shown(letter)} is a capital; list letters in lower case"
                    )
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
