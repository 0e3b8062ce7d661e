"""How the words of an output differ from those of the reference, morpheme by morpheme, in words.

The entry screen shows it for every entry that an analyser has examined, with a gold analysis or without. It
says about an output's words in several places; they agree because all pair words here, one to one, so that the
pairs are worth the most together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rapidfuzz.distance import Prefix
from rapidfuzz.fuzz import ratio

from corpora.text.messages import faulty, shortened
from corpora.text.tokens import folded
from scoring.core.setup import FstAnnotation, WordAnalysis
from scoring.grammar.gold_analysis import features, inflection_faults, tagged_word

Weights = Sequence[Sequence[int]]
"""What a pair of row and column is worth, 0 or more; 0 means that the two are no pair."""


def best_pairs(weights: Weights) -> list[int | None]:
    """Return the column of each row, None where it has none: exactly the most that pairs can be worth.

    Among pairings worth the same, the one that keeps nearest to the order is taken. It is the Hungarian
    method with shortest augmenting paths; rows whose best column is free are settled at once, which are
    nearly all where two sentences are alike.
    """
    if not weights or not weights[0]:
        return [None] * len(weights)
    if len(weights) > len(weights[0]):
        return _turned(best_pairs(list(zip(*weights, strict=True))), len(weights))
    # Worth counts first and nearness in order second; squares prefer pairs that do not cross. Of the worths
    # [[5, 5], [5, 5]] both pairings are worth 10: the straight one loses 0 + 0, the crossed one 1 + 1.
    columns = len(weights[0])
    scale = len(weights) * columns * columns + 1
    pairing = _Pairing(
        [
            [worth * scale - (row - at) ** 2 if worth else 0 for at, worth in enumerate(line)]
            for row, line in enumerate(weights)
        ]
    )
    for row in pairing.unsettled():
        pairing.settle(row)
    chosen = enumerate(pairing.column_of)
    return [column if weights[row][column] > 0 else None for row, column in chosen]


def _turned(rows: Sequence[int | None], length: int) -> list[int | None]:
    """Convert the rows of columns into the columns of rows."""
    columns: list[int | None] = [None] * length
    for column, row in enumerate(rows):
        if row is not None:
            columns[row] = column
    return columns


class _Pairing:
    """Prices of rows and columns that together are never below a pair's worth, and equal it for pairs.

    Then no other pairing is worth more: it could not be worth more than the sum of all prices, which the pairs are
    worth. Of the worths [[7, 6], [6, 3]] the rows begin with the prices 7 and 6, and both want column 0. Row 1 gets it
    where row 0 moves to column 1: prices 6 and 5, column 0 costs 1. The pairs are worth 6 + 6 = 6 + 5 + 1; 7 + 3 is less.
    There are no more rows than columns.
    """

    def __init__(self, worth: list[list[int]]) -> None:
        self._worth = worth
        self._row_price = [max(line) for line in worth]
        self._column_price = [0] * len(worth[0])
        self._row_of = [_NONE] * len(worth[0])
        self.column_of = [_NONE] * len(worth)

    def unsettled(self) -> list[int]:
        """Settle each row whose best column is still free; give the others."""
        for row, line in enumerate(self._worth):
            best = line.index(self._row_price[row])
            if self._row_of[best] == _NONE:
                self._row_of[best], self.column_of[row] = row, best
        return [row for row, column in enumerate(self.column_of) if column == _NONE]

    def settle(self, start: int) -> None:
        """Settle one more row along the path of changes that costs least."""
        cost: dict[int, int] = {}
        came_from: dict[int, int] = {}
        reached: list[int] = []
        open_columns = set(range(len(self._column_price)))
        row, spent = start, 0
        while True:
            line, price = self._worth[row], spent + self._row_price[row]
            for column in open_columns:
                candidate_cost = price + self._column_price[column] - line[column]
                if column not in cost or candidate_cost < cost[column]:
                    cost[column], came_from[column] = candidate_cost, row
            nearest = min(open_columns, key=cost.__getitem__)
            open_columns.remove(nearest)
            spent, row = cost[nearest], self._row_of[nearest]
            if row == _NONE:
                break
            reached.append(nearest)
        self._row_price[start] -= spent
        for column in reached:
            self._column_price[column] += spent - cost[column]
            self._row_price[self._row_of[column]] -= spent - cost[column]
        # The free column goes to the row that reached it, that row's column to the one before, and so on.
        while nearest != _NONE:
            row = came_from[nearest]
            self._row_of[nearest] = row
            self.column_of[row], nearest = nearest, self.column_of[row]


_NONE = -1
MOST_WORDS = 120
"""Words of either text that are compared; no sentence has more."""
_LEAST_BEGINNING = 3
"""Letters that two words must begin with, which also are half of the longer one, to be taken for kin."""
_ALIKE = 65
"""Per cent of letters from which on a word that has no lemma is taken for a form of another."""
_LEAST_LETTERS = 4
"""Of shorter words a share says nothing."""
_NEAR = 2
"""Places that words of one class may be apart."""
_SAME_TEXT, _SAME_LEMMA, _KIN, _SAME_CLASS = 64_000_000, 500_000, 3_000, 10
"""What a likeness is worth at least; each is worth more than the next one is for all words of a text."""


def counterparts(output: Sequence[WordAnalysis], reference: Sequence[WordAnalysis]) -> list[int | None]:
    """Return for each word of an output the place of its counterpart in the reference, None where it has none.

    Counterparts are the same word, else words with one lemma, else words that begin alike (or of which one
    has no lemma and the letters are mostly the same), else words of one class in about the same place.
    Words without any such likeness are no pair, nor are words beyond the first 120 of either text.
    """
    ours = [_Looked(word) for word in output[:MOST_WORDS]]
    theirs = [_Looked(word) for word in reference[:MOST_WORDS]]
    worth = [
        [_worth(word, other, abs(at - place)) for place, other in enumerate(theirs)] for at, word in enumerate(ours)
    ]
    pairing = best_pairs(worth)
    return [*pairing, *[None] * (len(output) - len(pairing))]


class _Looked:
    """What is compared of a word."""

    def __init__(self, word: WordAnalysis) -> None:
        analyses = [tagged_word(analysis) for analysis in word.analyses]
        self.text = folded(word.word)
        self.lemmas = frozenset(analysis.key for analysis in analyses)
        classes = (features(analysis.tags).get("word class", ()) for analysis in analyses)
        self.classes = set(filter(None, classes))
        """Word class by analysis; a participle that is a noun has two, and is like such a one only."""


def _worth(word: _Looked, other: _Looked, distance: int) -> int:
    near = max(0, 9 - distance)
    if word.text == other.text:
        return _SAME_TEXT + near
    if not word.lemmas.isdisjoint(other.lemmas):
        return _SAME_LEMMA + near
    if kinship := _kinship(word, other):
        return _KIN + 10 * kinship + near
    if distance <= _NEAR and not word.classes.isdisjoint(other.classes):
        return _SAME_CLASS + near
    return 0


def _kinship(word: _Looked, other: _Looked) -> int:
    """Return the per cent of letters that two words have in common; 0 for those that are not kin."""
    begins = Prefix.similarity(word.text, other.text)
    alike = int(ratio(word.text, other.text))
    if begins >= _LEAST_BEGINNING and 2 * begins >= max(len(word.text), len(other.text)):
        return max(1, alike)
    if min(len(word.text), len(other.text)) < _LEAST_LETTERS or (word.lemmas and other.lemmas):
        return 0
    return alike if alike >= _ALIKE else 0


@dataclass(frozen=True, slots=True)
class MorphemeDifference:
    """One thing in which an output differs from the reference."""

    output: str | None
    """Word of the output; None where a word of the reference has no counterpart."""
    reference: str | None
    """Word of the reference; None where a word of the output has no counterpart."""
    category: str
    """What differs: ``person``, ``case`` … of the inflection, ``lemma``, ``unknown word``, ``word``,
    ``missing word``, ``surplus word``."""
    found: str | None
    """What the output's word has there."""
    expected: str | None
    """What the reference's word has there."""
    words: str
    """The difference as a sentence; it quotes the output, which is hostile until shown through the one
    display function."""
    fault: str = ""
    """What is wrong with the form of the output's word; empty for differences of other kinds."""

    @property
    def named(self) -> frozenset[str]:
        """The words that the sentence quotes, folded."""
        return frozenset(folded(word) for word in (self.output, self.reference) if word)


def morpheme_differences(annotation: FstAnnotation) -> tuple[MorphemeDifference, ...]:
    """Compare the words of an output with their counterparts in the reference, in the output's order.

    A word that stands for one of another lemma differs in that and in nothing else.
    """
    output, reference = annotation.output[:MOST_WORDS], annotation.reference[:MOST_WORDS]
    places = counterparts(output, reference)
    differences: list[MorphemeDifference] = []
    for word, place in zip(output, places, strict=True):
        if place is None:
            known = "" if word.accepted is not None else ", and the analyser does not know it"
            text = f"“{shortened(word.word)}” has no counterpart in the reference{known}."
            differences.append(MorphemeDifference(word.word, None, "surplus word", word.word, None, text))
        else:
            differences += _between(word, reference[place])
    met = set(places)
    for word in (word for at, word in enumerate(reference) if at not in met):
        text = f"“{shortened(word.word)}” is missing."
        differences.append(MorphemeDifference(None, word.word, "missing word", None, word.word, text))
    return tuple(differences)


def sentences(differences: Iterable[MorphemeDifference]) -> tuple[str, ...]:
    """Describe differences word by word: all faults of a word's form in one sentence, and nothing twice."""
    messages: list[str] = []
    for (word, _, inflected), group in groupby(differences, lambda one: (one.output, one.reference, bool(one.fault))):
        if word is not None and inflected:
            messages.append(faulty(word, (difference.fault for difference in group)))
        else:
            messages += [difference.words for difference in group]
    return tuple({folded(sentence): sentence for sentence in messages}.values())


def _between(word: WordAnalysis, other: WordAnalysis) -> Iterator[MorphemeDifference]:
    """Return how a word differs from its counterpart."""
    if folded(word.word) == folded(other.word):
        return
    if word.accepted is None:
        unknown = "is not a word the analyser knows; the reference has"
        yield _plain(word, other, "unknown word", unknown)
    elif not word.analyses or not other.analyses:
        yield _plain(word, other, "word", "instead of")
    else:
        yield from _between_analysed(word, other)


def _between_analysed(word: WordAnalysis, other: WordAnalysis) -> Iterator[MorphemeDifference]:
    """Compare the two analyses of one lemma that differ least; name the lemmas where there is none."""
    pairs = [
        (analysis, expected)
        for analysis in map(tagged_word, word.analyses)
        for expected in map(tagged_word, other.analyses)
    ]
    same = [pair for pair in pairs if pair[0].key == pair[1].key]
    actual, expected = min(same or pairs, key=lambda pair: len(pair[0].tags ^ pair[1].tags))
    if not same:
        begin = f"“{shortened(word.word)}” (lemma {actual.lemma})"
        sentence = f"{begin} instead of “{shortened(other.word)}”."
        lemmas = actual.lemma, expected.lemma
        yield MorphemeDifference(word.word, other.word, "lemma", *lemmas, sentence)
        return
    for fault in inflection_faults(actual.tags, expected.tags):
        values = fault.category, fault.found, fault.expected
        sentence = faulty(word.word, (fault.words,))
        yield MorphemeDifference(word.word, other.word, *values, sentence, fault.words)


def _plain(word: WordAnalysis, other: WordAnalysis, category: str, between: str) -> MorphemeDifference:
    sentence = f"“{shortened(word.word)}” {between} “{shortened(other.word)}”."
    return MorphemeDifference(word.word, other.word, category, word.word, other.word, sentence)
