"""Translations made wrong on purpose, without a language model: another one's text, a swapped phrase, a half.

The swapped phrase follows the quality control of the WMT campaigns: an inner phrase gives way to one of the
same length from another text, so that the sentence keeps its look and loses its meaning.

For languages with an analyser also the right word in the wrong person, number or tense. An analyser only looks words
up, it makes none. So another form of a word is one that is in the texts, or one made after the pattern of two
forms that do; it is used only where the analyser accepts it and its one reading differs from that of the right word
in nothing but the intended tag.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import permutations
from random import Random

from corpora.text.comparison import comparison_form, scripts
from scoring.core.setup import WordAnalysis
from scoring.grammar.gold_analysis import TaggedWord, features, inflection_faults, tagged_word

# What may be changed: it changes who did what, or when, and not only how well it is said
CATEGORIES = frozenset(
    {"person", "number", "object person", "object number", "possessor person", "possessor number", "obviation", "tense"}
)

# Words that may be changed; a wrong form of others mostly breaks an agreement and no meaning
WORD_CLASSES = frozenset({"noun", "verb", "pronoun"})

MOST_PATTERNS = 300  # The most frequent ones are tried

Analyse = Callable[[Sequence[str]], Sequence[WordAnalysis]]  # Looks words up, in their order


@dataclass(frozen=True, slots=True)
class Pattern:
    """How one form becomes another: what is cut off and put on at both ends, and which tag changes."""

    cut: tuple[str, str]
    put: tuple[str, str]
    old: str
    new: str  # Tags

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
    old: str  # Tag of the right word
    new: str  # Tag of the wrong one

    @property
    def made_by(self) -> str:
        """How it was made, for the answer key."""
        return f"fst: {self.old}→{self.new}"


class OtherForms:
    """Finds other forms of words among those that are in some texts."""

    def __init__(self, words: Iterable[str], analyse: Analyse) -> None:
        """``words`` are forms that are attested; ``analyse`` looks up what is made after their pattern."""
        self._analyse = analyse
        self._by_lemma: dict[str, dict[str, TaggedWord]] = defaultdict(dict)
        known = sorted({word.lower() for word in words})
        for word_analysis in analyse(known):
            if (reading := _reading(word_analysis)) is not None:
                self._by_lemma[reading.key][word_analysis.word] = reading
        patterns: Counter[Pattern] = Counter()
        for forms in self._by_lemma.values():
            for (word, reading), (other, theirs) in permutations(sorted(forms.items()), 2):
                if (change := changed_tag(reading, theirs)) is not None:
                    # What two forms differ in at their ends, around the longest stretch that they share
                    start, there, size = SequenceMatcher(None, word, other, autojunk=False).find_longest_match()
                    left, made = (word[:start], word[start + size :]), (other[:there], other[there + size :])
                    patterns[Pattern(left, made, *change)] += 1
        self._patterns = [pattern for pattern, _ in patterns.most_common(MOST_PATTERNS)]

    def of(self, word: str) -> list[tuple[str, str, str]]:
        """Return (form, old tag, new tag) of the wrong forms of a word; attested ones come first."""
        [word_analysis] = self._analyse([word.lower()])
        if (reading := _reading(word_analysis)) is None:
            return []
        attested = [*self._by_lemma.get(reading.key, {})]
        fitting_patterns = (pattern for pattern in self._patterns if pattern.old in reading.tags)
        made = [form for pattern in fitting_patterns if (form := pattern.applied(word.lower()))]
        forms = list(dict.fromkeys(form for form in (*attested, *made) if form != word.lower()))
        fitting = []
        for other in self._analyse(forms):
            theirs = _reading(other)
            if (change := None if theirs is None else changed_tag(reading, theirs)) is not None:
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


def like_written(form: str, model: str) -> str:
    return form[:1].upper() + form[1:] if model[:1].isupper() else form


def inflected(text: str, words: Sequence[tuple[str, int, int]], forms: OtherForms) -> list[Inflected]:
    """Return a text in all versions with one word in a wrong form; ``words`` are those of the text, with places."""
    return [
        Inflected(text[:start] + like_written(form, word) + text[end:], old, new)
        for word, start, end in words
        for form, old, new in forms.of(word)
    ]


OTHER, SWAP, HALF, FORM = "other reference", "phrase swap", "truncated", "fst"

# Scripts that put no space between words: their phrases are counted in characters
UNSPACED = frozenset(
    {"Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan", "Javanese",
     "Balinese", "Tai_Le", "New_Tai_Lue", "Tai_Tham", "Yi", "Bopomofo"}
)  # fmt: skip

LEAST_WORDS = 4  # Shorter texts have no inner phrase and no half

LEAST_CHARACTERS = 6  # The same, where words are not told apart

ALIKE = 0.25  # Share by which another text may be longer or shorter than the one it stands for


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong translation and how it was made."""

    text: str
    made_by: str


def plain_form(text: str) -> str:
    """Return the form in which two candidates count as the same: no case, no marks, no spaces."""
    return "".join(letter for letter in comparison_form(text).casefold() if letter.isalnum())


def unspaced(text: str) -> bool:
    """Return whether a text's script leaves no space between words."""
    return next(iter(scripts([text])), "") in UNSPACED


class WrongTexts:
    def __init__(self, pool: Sequence[str], forms: Callable[[str], Sequence[Inflected]], chance: Random) -> None:
        """``forms`` gives the versions with one word in a wrong form; none where there is no analyser."""
        self._pool = sorted(set(pool))
        self._forms = forms
        self._chance = chance

    def make(self, kind: str, right: str, length: int, never: frozenset[str]) -> Wrong | None:
        """Make one of a kind from a right text, None where it cannot be.

        ``length`` is that of what it is next to, in characters; ``never`` are plain forms that it must
        not equal: the references of its entry and what systems gave.
        """
        for text, made_by in self._tries(kind, right, length):
            if (form := plain_form(text)) and form not in never:
                return Wrong(text, made_by)
        return None

    def _tries(self, kind: str, right: str, length: int) -> Iterator[tuple[str, str]]:
        if kind == FORM:
            inflecteds = list(self._forms(right))
            self._chance.shuffle(inflecteds)
            yield from ((inflected.text, inflected.made_by) for inflected in inflecteds)
        elif kind == OTHER:
            # Texts of similar length in random order, then the others, the nearest in length first
            alike = [text for text in self._pool if abs(len(text) - length) <= ALIKE * length]
            self._chance.shuffle(alike)
            others = sorted(sorted(set(self._pool) - set(alike)), key=lambda text: abs(len(text) - length))
            yield from ((text, OTHER) for text in (*alike, *others))
        elif kind == SWAP:
            yield from ((text, SWAP) for text in self._swapped(right))
        elif (half := first_half(right)) is not None:
            yield half, HALF

    def _swapped(self, right: str) -> Iterator[str]:
        tokens, glue = _tokens(right)
        size = max(1, round(len(tokens) / 3))
        if len(tokens) < (LEAST_WORDS if glue else LEAST_CHARACTERS):
            return
        for _ in range(20):
            phrase = self._phrase(size, glue)
            start = self._chance.randint(1, len(tokens) - size - 1)
            if phrase:
                yield glue.join([*tokens[:start], *phrase, *tokens[start + size :]])

    def _phrase(self, size: int, glue: str) -> list[str] | None:
        """Return an inner phrase of a random other text, None where that is too short."""
        tokens, theirs = _tokens(self._chance.choice(self._pool)) if self._pool else ([], glue)
        if theirs != glue or len(tokens) < size + 2:
            return None
        start = self._chance.randint(1, len(tokens) - size - 1)
        return tokens[start : start + size]


def first_half(text: str) -> str | None:
    """Return the first half of a text's words (characters, where words are not told apart), None of a short one."""
    tokens, glue = _tokens(text)
    if len(tokens) < (LEAST_WORDS if glue else LEAST_CHARACTERS):
        return None
    return glue.join(tokens[: len(tokens) // 2])


def _tokens(text: str) -> tuple[list[str], str]:
    """Cut a text into what phrases are counted in; gives also what goes between."""
    return (list(text), "") if unspaced(text) else (text.split(), " ")
