"""Rules of spelling that a language card declares, applied to the words of a text (METRICS §2)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import is_normalized

import regex

from corpora.languages.cards import WritingSystem
from corpora.text.comparison import script_of
from corpora.text.messages import listed
from corpora.text.tokens import Word, folded, pieces, words
from scoring.words.reading import Reader, reader

_HYPHENS = "-‑"
_UNSPACED = frozenset({
    "Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan", "Bopomofo",
})  # fmt: skip
"""Scripts without spaces: a run of letters holds several words, and foreign ones may be in it."""
_RUN = regex.compile(
    r"[\p{Script=Latin}\p{M}]+|[\p{Script=Cyrillic}\p{M}]+|[\p{Script=Greek}\p{M}]+"
    r"|[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]+"
)
_APART = frozenset('.,;:!?"()“”„«»…')
"""Characters between words that no rule looks at."""
_JOINING = frozenset("'’-‑")
"""Characters within words that a glance understands."""
_LONGEST_GLANCED = 1000
"""Characters of a text that is judged as a whole: how long a rule's search takes grows with the square of them."""
_CONTEXT = re.compile(r"\\|\$|(?<!\[)\^|\(\?(?!:)")
"""What in a rule looks at the ends of a word, or around what it finds."""
_MOST_KEPT = 16_384
_MOST_TEXTS = 512
"""Texts that are kept: a reference is judged as the output of the next entry too where floors are worked out."""
_Faults = tuple[tuple[str, str], ...]
"""Words with the rule that each breaks."""
_Marked = tuple[tuple[str, tuple[int, ...]], ...]
"""Words that break none, with the sets of marks that each uses."""


class _Judged(NamedTuple):
    """What is found of the words of one piece of a text."""

    words: int
    faults: _Faults
    marked: _Marked
    foreign: tuple[tuple[str, str], ...]
    """Words with letters of names and loans that break no other rule, each as written and folded."""


_RIGHT = _Judged(1, (), (), ())
"""One word, with nothing to be said of it."""


class Spelling:
    """Judges words by one writing's rules; verdicts are kept, for words come again and again.

    Letters of names and loans are right in a word with a capital at its beginning and in a known one. In
    scripts without capitals names do not show, so that such letters are right everywhere.
    """

    def __init__(
        self, writing: WritingSystem, loans: Container[str] = frozenset(), source: Reader | None = None
    ) -> None:
        """Initialise with the known words of the language with foreign letters, folded, and the reader of sources."""
        self._writing = writing
        self._joiners = frozenset(writing.joiners)
        self._hyphens = "".join(mark for mark in _HYPHENS if mark in writing.joiners)
        self._scripts = _scripts(writing.native)
        self._unspaced = not self._scripts.isdisjoint(_UNSPACED)
        sets = enumerate(writing.vowel_marks)
        self._marks = {mark: place for place, marks in sets for mark in marks}
        self._marked = frozenset(self._marks)
        letters = filter(str.isalpha, writing.alphabet | writing.native)
        own = frozenset(letter for letter in letters if script_of(letter) in self._scripts)
        self._plain = own & writing.native
        """A word of these letters alone is neither strange nor of another script, as most words are."""
        self._lettered = own
        """Letters that are right in a known word; a word of others is looked at closer."""
        self._borrowed = frozenset(
            letter
            for letter in writing.alphabet - writing.native
            if letter.lower() != letter.upper() and letter.lower() not in writing.native
        )
        self._apart = _APART.difference(writing.joiners, writing.word_letters)
        self._joining = _JOINING & self._joiners
        joining = re.escape("".join(self._joining))
        self._loose = re.compile(rf"(?:^|[\n{joining}])[{joining}]|[{joining}]$" if joining else "(?!)", re.MULTILINE)
        """Finds a joiner without letters on both sides."""
        self._usual = self._in_usual_texts()
        """Characters of texts in which few rules can be broken."""
        self._loans = loans
        self._source = source or reader()
        self._foreign = lru_cache(maxsize=_MOST_KEPT)(self._foreign_parts)
        self._piece = lru_cache(maxsize=_MOST_KEPT)(self._judge_piece)
        self._text = lru_cache(maxsize=_MOST_TEXTS)(self._judge_text)

    def counts(self, text: str, source: str = "") -> tuple[int, int]:
        """Count the words in the language's script, and those of them that break a rule.

        A word of the ``source`` may be carried over with its foreign letters.
        """
        judged, faults = self._faults(text, source)
        return judged, len(faults)

    def judged(self, text: str, source: str = "") -> tuple[int, dict[str, str]]:
        """Count the words in the language's script, and say of each distinct one that breaks a rule why."""
        judged, faults = self._faults(text, source)
        return judged, dict(faults)

    def has_words(self, text: str) -> bool:
        """Return whether a text has a word in any script."""
        words = (word.text for word in self._words(text))
        return any(script_of(letter) != "Other" for word in words for letter in word)

    def foreign(self, text: str) -> list[str]:
        """Return the words that are wholly in another script."""
        words = (word.text for word in self._words(text))
        return [word for word in words if not self._native(word) and _scripts(word)]

    def _faults(self, text: str, source: str) -> tuple[int, list[tuple[str, str]]]:
        """Count the words that are judged; give those that break a rule, with the first rule they break."""
        text_judged = self._text(text)
        faults = [*text_judged.faults]
        if text_judged.foreign:
            given = self._source.read(source).distinct
            unknown = (word for word, form in text_judged.foreign if form not in given)
            faults += [(word, self._why_foreign(word)) for word in unknown if not given.issuperset(self._foreign(word))]
        if len({marks[0] for _, marks in text_judged.marked}) > 1:
            # words with the rarer marks of a text that mixes them; the card's first set wins a tie
            used = Counter(marks[0] for _, marks in text_judged.marked)
            usual = min(used, key=lambda place: (-used[place], place))
            why = f"{self._named(sorted(used))} mixed in one text"
            faults += [(word, why) for word, marks in text_judged.marked if marks[0] != usual]
        return text_judged.words, faults

    def _in_usual_texts(self) -> frozenset[str]:
        """Return the language's own letters, its joiners and what stands between words; none where a rule asks for more."""
        if self._unspaced or any(_CONTEXT.search(rule.pattern) for rule in self._writing.forbidden):
            return frozenset()
        letters = self._lettered & self._writing.alphabet
        capitals = {letter.upper() for letter in letters if letter.upper().lower() == letter} - {"Σ"}  # not always σ
        return letters | capitals | self._apart | self._joining | {" "}

    def _glance(self, text: str) -> _Judged | None:
        """Judge a text in which only letters of names and loans may be wrong, as most are; None where more may be.

        Rules are searched in all words at once: what one of them has, all have together.
        """
        characters = {*text}
        if len(text) > _LONGEST_GLANCED or not (self._usual >= characters and is_normalized("NFC", text)):
            return None
        spaced = text
        for mark in characters & self._apart:
            spaced = spaced.replace(mark, " ")
        apart = spaced.split()
        together = "\n".join(apart)
        if not self._joining.isdisjoint(characters) and self._loose.search(together):
            return None
        lowered = together.lower()
        if len({self._marks[mark] for mark in self._marked.intersection(lowered)}) > 1:
            return None
        if any(rule.in_any(lowered) for rule in self._writing.forbidden):
            return None
        if self._borrowed.isdisjoint(lowered):
            return _Judged(len(apart), (), (), ())
        forms = zip(apart, folded(together).split("\n"), strict=True)
        return _Judged(len(apart), (), (), tuple(pair for pair in forms if pair[1] not in self._loans))

    def _judge_text(self, text: str) -> _Judged:
        """Judge the words of a text, piece by piece where a glance does not do."""
        if (judged_text := self._glance(text)) is not None:
            return judged_text
        judged_pieces = list(map(self._piece, pieces(text)))
        judged = len(judged_pieces)
        faults: list[tuple[str, str]] = []
        marked: list[tuple[str, tuple[int, ...]]] = []
        foreign: list[tuple[str, str]] = []
        for piece in judged_pieces:
            if piece is not _RIGHT:
                judged += piece.words - 1
                faults += piece.faults
                marked += piece.marked
                foreign += piece.foreign
        return _Judged(judged, tuple(faults), tuple(marked), tuple(foreign))

    def _judge_piece(self, piece: str) -> _Judged:
        """Judge the words of one piece of a text."""
        if self._lettered.issuperset(piece) and not self._unspaced:
            judged_word = self._judge_known(piece)
            if judged_word is not None:
                return judged_word
        judged, faults, marked, strangers = 0, [], [], []
        for word in self._words(piece):
            native, why, marks = self._judge(word.text)
            if not native:
                continue
            judged += 1
            if why is None and self._hyphens and word.text != piece:
                why = self._hyphen_fault(piece, word)
            if why is not None:
                faults.append((word.text, why))
            elif self._foreign(word.text):
                strangers.append((word.text, folded(word.text)))
            elif marks:
                marked.append((word.text, marks))
        return _Judged(judged, tuple(faults), tuple(marked), tuple(strangers))

    def _judge_known(self, word: str) -> _Judged | None:
        """Judge a piece that is one word of the language's letters, as most are; None where there is more to look at."""
        lowered = word.lower()
        if not (word and is_normalized("NFC", word)):
            return None
        if self._marked.isdisjoint(lowered):
            marks: tuple[int, ...] = ()
        else:
            marks = tuple(sorted({self._marks[c] for c in self._marked.intersection(lowered)}))
        why = f"{self._named(marks)} mixed" if len(marks) > 1 else self._forbidden(lowered)
        if why is not None:
            return _Judged(1, ((word, why),), (), ())
        if not self._borrowed.isdisjoint(lowered) and self._foreign(word):
            return _Judged(1, (), (), ((word, folded(word)),))
        return _Judged(1, (), ((word, marks),), ()) if marks else _RIGHT

    def _foreign_parts(self, text: str) -> tuple[str, ...]:
        """Return the parts of a word with letters of names and loans that is not known as either; none of all others.

        They are folded, and each has such a letter.
        """
        word = unicodedata.normalize("NFC", text)
        if self._borrowed.isdisjoint(word.lower()):
            return ()
        parts = [word]
        if not self._joiners.isdisjoint(word):
            parts = [part for part in self._parts(word) if not self._borrowed.isdisjoint(part.lower())]
        if _begins_with_a_capital(word) or (parts != [word] and all(map(_begins_with_a_capital, parts))):
            return ()
        forms = tuple(map(folded, parts))
        return () if all(form in self._loans for form in forms) or folded(text) in self._loans else forms

    def _why_foreign(self, text: str) -> str:
        letters = filter(self._borrowed.__contains__, unicodedata.normalize("NFC", text).lower())
        return _only_in_loans("".join(dict.fromkeys(letters)))

    def _words(self, text: str) -> Iterator[Word]:
        split_words = words(text, self._writing.joiners, self._writing.word_letters)
        return self._pieces(split_words) if self._unspaced else split_words

    @staticmethod
    def _pieces(found: Iterator[Word]) -> Iterator[Word]:
        """Cut runs of letters where a script with spaces begins or ends."""
        for word in found:
            for piece in _RUN.finditer(word.text):
                yield Word(piece[0], word.start + piece.start(), word.start + piece.end())

    def _native(self, word: str) -> bool:
        return not self._scripts.isdisjoint(_scripts(word))

    def _judge(self, word: str) -> tuple[bool, str | None, tuple[int, ...]]:
        """Judge one word on its own: whether it is the language's, the first rule it breaks, its marks.

        Letters taken apart break the rule of NFC. The orders of marks and the letters that NFC itself
        takes apart, which keyboards of Arabic and Hindi make, do not: nobody writes them otherwise.
        """
        composed = unicodedata.normalize("NFC", word)
        plain = composed == word and self._plain.issuperset(word)
        if not plain and not self._native(word):
            return False, None, ()
        lowered = composed.lower()
        marks = tuple(sorted({self._marks[char] for char in self._marked.intersection(lowered)}))
        if len(composed) < len(word):
            return True, "not in Unicode's composed form, NFC", marks
        why = None if plain else self._mixed_scripts(composed) or self._strange_letters(composed)
        if why is None and len(marks) > 1:
            why = f"{self._named(marks)} mixed"
        return True, why or self._forbidden(lowered), marks

    def _mixed_scripts(self, word: str) -> str | None:
        """Name the other scripts in a part of a word between joiners; a part wholly in one is a loan."""
        for part in self._parts(word):
            scripts = _scripts(part)
            if not self._scripts.isdisjoint(scripts) and (others := scripts - self._scripts):
                names = ", ".join(name.replace("_", " ") for name in sorted(others))
                return f"{names} letters inside the word"
        return None

    def _strange_letters(self, word: str) -> str | None:
        alphabet = self._writing.alphabet
        letters = [letter for part in self._parts(word) if self._native(part) for letter in part]
        unknown = [letter for letter in letters if not {letter, letter.lower()} & alphabet]
        strange = [letter for letter in unknown if not letter.isnumeric()]
        if not strange:
            return None
        if len(set(strange)) == 1:
            return f"{strange[0]} is no letter of the language"
        return f"{listed(dict.fromkeys(strange))} are no letters of the language"

    def _forbidden(self, lowered: str) -> str | None:
        for rule in self._writing.forbidden:
            if rule.stands_in(lowered):
                return rule.why
        return None

    def _parts(self, word: str) -> Iterator[str]:
        start = 0
        for place, character in enumerate(word):
            if character in self._joiners:
                yield word[start:place]
                start = place + 1
        yield word[start:]

    def _hyphen_fault(self, text: str, word: Word) -> str | None:
        """Return what is wrong with the hyphens around a word; inside it each stands between letters."""
        before = text[max(0, word.start - 2) : word.start]
        after = text[word.end : word.end + 2]
        if after[:1] and after[0] in self._hyphens:
            if after[1:] and after[1] in self._hyphens:
                return "doubled hyphen"
            if not self._writing.suspended_hyphen and not after[1:].strip():
                return "hyphen at the end of the word"
        if before and before[-1] in self._hyphens and not before[:-1].strip():
            return None if self._writing.suspended_hyphen else "hyphen at the beginning of the word"
        return None

    def _named(self, places: Sequence[int]) -> str:
        """Name sets of marked vowels after their marks: ``âêîô`` is ``circumflex``."""
        names = []
        for letters in (self._writing.vowel_marks[place] for place in places):
            marks = {unicodedata.name(one, "").partition(" WITH ")[2].lower() for one in letters}
            names.append(marks.pop() if len(marks) == 1 and "" not in marks else letters)
        return " and ".join(names)


def _scripts(letters: str | frozenset[str]) -> frozenset[str]:
    """Return the scripts of some letters; marks and signs that scripts share have none."""
    return frozenset(map(script_of, filter(str.isalpha, letters))) - {"Other"}


@lru_cache(maxsize=256)
def _only_in_loans(letters: str) -> str:
    return f"{listed(letters)} only in names and loan words"


def _begins_with_a_capital(word: str) -> bool:
    """Return whether the first letter is a capital; digits may stand before it."""
    first = word[:1] if word[:1].isalpha() else next(filter(str.isalpha, word), "")
    return first != first.lower()
