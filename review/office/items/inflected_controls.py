"""Wrong translations for languages with an analyser: the right word in the wrong person, number or tense.

An analyser only looks words up, it makes none. So another form of a word is one that stands in the texts, or
one made after the pattern of two forms that do; it is used only where the analyser accepts it and its one
reading differs from that of the right word in nothing but the intended tag.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, takewhile

from scoring.core.translation import WordAnalysis
from scoring.grammar.gold_analysis import TaggedWord, tagged_word
from scoring.grammar.inflection import features, inflection_faults

CATEGORIES = frozenset(
    {
        "person",
        "number",
        "object person",
        "object number",
        "possessor person",
        "possessor number",
        "obviation",
        "tense",
    }
)
"""What may be changed: it changes who did what, or when, and not only how well it is said."""

WORD_CLASSES = frozenset({"noun", "verb", "pronoun"})
"""Words that may be changed; a wrong form of others mostly breaks an agreement and no meaning."""

MOST_PATTERNS = 300
"""The most frequent ones are tried."""

Analyse = Callable[[Sequence[str]], Sequence[WordAnalysis]]
"""Looks words up, in their order."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """How one form becomes another: what is cut off and put on at both ends, and which tag changes."""

    cut: tuple[str, str]
    put: tuple[str, str]
    old: str
    new: str
    """Tags."""

    def applied(self, word: str) -> str | None:
        """Return the other form, None where the word has not these ends."""
        before, after = self.cut
        if len(word) <= len(before) + len(after):
            return None
        if not (word.startswith(before) and word.endswith(after)):
            return None
        return self.put[0] + word[len(before) : len(word) - len(after)] + self.put[1]


@dataclass(frozen=True, slots=True)
class Inflected:
    """A sentence with one word in a wrong form."""

    text: str
    old: str
    """Tag of the right word."""
    new: str
    """Tag of the wrong one."""

    @property
    def made_by(self) -> str:
        """How it was made, for the answer key."""
        return f"fst: {self.old}→{self.new}"


class OtherForms:
    """Finds other forms of words among those that stand in some texts."""

    def __init__(self, words: Iterable[str], analyse: Analyse) -> None:
        """``words`` are forms that are attested; ``analyse`` looks up what is made after their pattern."""
        self._analyse = analyse
        self._by_lemma: dict[str, dict[str, TaggedWord]] = defaultdict(dict)
        known = sorted({word.lower() for word in words})
        for found in analyse(known):
            if (reading := _reading(found)) is not None:
                self._by_lemma[reading.key][found.word] = reading
        counted = Counter(self._found_patterns()).most_common(MOST_PATTERNS)
        self._patterns = [pattern for pattern, _ in counted]

    def _found_patterns(self) -> Iterator[Pattern]:
        for forms in self._by_lemma.values():
            for (word, reading), (other, theirs) in permutations(sorted(forms.items()), 2):
                if (change := changed_tag(reading, theirs)) is not None:
                    yield _pattern(word, other, *change)

    def of(self, word: str) -> list[tuple[str, str, str]]:
        """Return (form, old tag, new tag) of the wrong forms of a word; attested ones come first."""
        [found] = self._analyse([word.lower()])
        reading = _reading(found)
        if reading is None:
            return []
        attested = [*self._by_lemma.get(reading.key, {})]
        fitting_patterns = (each for each in self._patterns if each.old in reading.tags)
        made = [form for each in fitting_patterns if (form := each.applied(word.lower()))]
        forms = list(dict.fromkeys(form for form in (*attested, *made) if form != word.lower()))
        fitting = []
        for other in self._analyse(forms):
            theirs = _reading(other)
            change = None if theirs is None else changed_tag(reading, theirs)
            if change is not None:
                fitting.append((other.word, *change))
        return fitting


def _reading(found: WordAnalysis) -> TaggedWord | None:
    """Return a word's one analysis; a word with several might be right in another reading."""
    return tagged_word(found.analyses[0]) if len(found.analyses) == 1 else None


def changed_tag(right: TaggedWord, wrong: TaggedWord) -> tuple[str, str] | None:
    """Return the one tag that differs between two forms of one lemma, as (old, new); None for any other pair.

    It must change one thing that bears meaning, and put another of the same kind in its place.
    """
    old, new = right.tags - wrong.tags, wrong.tags - right.tags
    if right.key != wrong.key or len(old) != 1 or len(new) != 1:
        return None
    has, had = features(wrong.tags), features(right.tags)
    faults = inflection_faults(wrong.tags, right.tags)
    if len(faults) != 1 or faults[0].category not in CATEGORIES or has.keys() != had.keys():
        return None
    if not WORD_CLASSES.issuperset(had.get("word class", ())):
        return None
    return next(iter(old)), next(iter(new))


def _pattern(word: str, other: str, old: str, new: str) -> Pattern:
    """Return what two forms differ in at their ends, around the longest stretch that they share."""
    size, start, there = _shared(word, other)
    return Pattern(
        (word[:start], word[start + size :]), (other[:there], other[there + size :]), old, new
    )


def _shared(word: str, other: str) -> tuple[int, int, int]:
    """Return length and places of the longest stretch that two words share; the first of equal ones."""
    stretches = (
        (_alike(word[here:], other[there:]), here, there)
        for here in range(len(word))
        for there in range(len(other))
    )
    return max(stretches, key=lambda each: (each[0], -each[1], -each[2]))


def _alike(word: str, other: str) -> int:
    """Count the letters with which two words begin alike."""
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False))
    )


def like_written(form: str, model: str) -> str:
    """Return a form with the capital letter of the word that it stands for."""
    return form[:1].upper() + form[1:] if model[:1].isupper() else form


def inflected(
    text: str, words: Sequence[tuple[str, int, int]], forms: OtherForms
) -> list[Inflected]:
    """Return a text in all versions with one word in a wrong form; ``words`` are those of the text, with places."""
    return [
        Inflected(text[:start] + like_written(form, word) + text[end:], old, new)
        for word, start, end in words
        for form, old, new in forms.of(word)
    ]
