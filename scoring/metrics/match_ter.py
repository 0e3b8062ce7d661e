"""Exact and equivalent match, length ratio, and translation edit rate (scoring-specification §2.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from unicodedata import normalize

import numpy as np
from rapidfuzz.distance import Levenshtein

from corpora.languages.cards import VariantRules
from corpora.text.comparison import comparison_form, is_blank
from scoring.core.metric import (
    FloatArray,
    MatchRate,
    Metric,
    RateMetric,
    Statistics,
    card_key,
    own_signature,
    sacrebleu_signature,
)
from scoring.core.setup import Translation
from scoring.core.specification import metric_info
from scoring.grammar.variants import Equivalence, LintVerdict, VariantClass
from scoring.metrics.chrf_bleu import ONE, References
from scoring.metrics.maker import Maker

if TYPE_CHECKING:
    from scoring.words.source_words import Resources


class ExactMatch(MatchRate):
    """Share of outputs equal to the reference in comparison form; one in which nothing is seen never is."""

    info = metric_info("exact_match_rate")

    def stats(self, translation: Translation) -> Statistics:
        output, reference = translation.output, translation.entry.reference
        equal = comparison_form(output) == comparison_form(reference)
        return (int(equal and not is_blank(output)), 1)


class EquivalentMatch(MatchRate):
    """Share of outputs equal to the reference, to one of ``variants[]``, or to one of these by the rules of
    the language (METRICS §6, appendix B).

    In a corpus with variants, entries without any count by their reference: matches / total. Null for a
    corpus without a single variant in a language without rules, where it would only repeat the exact match.
    """

    info = metric_info("equivalent_match_rate")

    def __init__(self, *, has_variants: bool, rules: VariantRules | None = None, card: str = "none") -> None:
        """Initialise with the rules of the target's language card, which ``card`` names for the signature."""
        self.has_variants = has_variants
        """Whether any entry of the corpus has variants, so that a run in progress knows from the start."""
        self.rules = rules
        self._card = card

    @property
    def signature(self) -> str:
        return own_signature(f"nrefs:variants|rules:{self._card}|case:mixed|punct:yes|space:folded")

    @property
    def why_missing(self) -> str:
        if self.has_variants or self._card != "none":
            return super().why_missing
        return _NO_VARIANTS

    def stats(self, translation: Translation) -> Statistics | None:
        if not self.has_variants and self.rules is None:
            return None
        return (int(self.verdict(translation) in _RIGHT), 1)

    def verdict(self, translation: Translation) -> LintVerdict:
        """Return the verdict of appendix B on one output."""
        if is_blank(translation.output):
            return LintVerdict.NO_OUTPUT
        output, entry = comparison_form(translation.output), translation.entry
        if output == comparison_form(entry.reference):
            return LintVerdict.EXACT
        if any(output == comparison_form(variant) for variant in entry.variants):
            return LintVerdict.EQUIVALENT
        return LintVerdict.EQUIVALENT if self._accepted(translation) else LintVerdict.MISS

    def explain(self, translation: Translation) -> tuple[str, ...]:
        if self.verdict(translation) is not LintVerdict.EQUIVALENT:
            return ()
        accepted = self._accepted(translation)
        if accepted is None or self.rules is None:
            return ("Equal to one of the other translations that the corpus accepts.",)
        classes = self._equivalence.classes(translation.output, accepted, translation.entry.source, translation.fst)
        listed = "; ".join(_WORDS[variant_class] for variant_class in classes or ())
        what = "the reference" if accepted == translation.entry.reference else "a listed variant"
        if not listed:
            return (f"Says the same as {what}: only capitals or punctuation differ.",)
        return (f"Says the same as {what} by the rules of the language: {listed}.",)

    def _accepted(self, translation: Translation) -> str | None:
        """Return the accepted sentence that the output says the same as, None where there is none."""
        if self.rules is None:
            return None
        output, entry = translation.output, translation.entry
        annotation = translation.fst
        for accepted in (entry.reference, *entry.variants):
            if self._equivalence.equivalent(output, accepted, entry.source, annotation):
                return accepted
        return None

    @cached_property
    def _equivalence(self) -> Equivalence:
        return Equivalence(self.rules or VariantRules())


_NO_VARIANTS = "no entry of this corpus lists variants, and the language has no rules for them"
_RIGHT = frozenset({LintVerdict.EXACT, LintVerdict.EQUIVALENT})

_WORDS = {
    VariantClass.WORD_ORDER: "the words are in another order, which is free",
    VariantClass.ORTHOGRAPHIC: "a word is spelled in another accepted way",
    VariantClass.OPTIONAL_PARTICLE: "a word that may be left out stands or is missing",
    VariantClass.LEMMA_SYNONYM: "a word is replaced by one of the same meaning",
    VariantClass.PROGRESSIVE_AMBIGUITY: "the action is marked as under way, as in the source",
    VariantClass.INCLUSIVE_EXCLUSIVE: "“we” includes the person spoken to or not, which the source leaves open",
}


def equivalent_match(resources: Resources) -> EquivalentMatch:
    """Make the metric; the signature names the card and its content, because the rules are in it."""
    setup, card = resources.setup, resources.card
    named = f"{setup.language_card}-{card_key(setup)}"
    return EquivalentMatch(
        has_variants=setup.has_variants,
        rules=card.variants if card is not None and setup.variant_rules else None,
        card=named if setup.variant_rules else "none",
    )


# ---- Length ratio: a warning of truncation (below 0.5) and of inflation (above 2.0) ----


class LengthRatio(RateMetric):
    """Characters of the output / characters of the reference, both in NFC; 1 is ideal, no upper end.

    The corpus value is total / total (scoring-specification §2.1). Null for an empty reference.
    """

    info = metric_info("length_ratio")
    signature = own_signature("nrefs:1|unit:character")
    why_missing = "the references are empty"

    def stats(self, translation: Translation) -> Statistics | None:
        reference = len(normalize("NFC", translation.entry.reference))
        return (len(normalize("NFC", translation.output)), reference) if reference else None


# ---- Tercom's search for the fewest edits and shifts, with the results of sacreBLEU's
# implementation.
#
# The costly part, the distance after each tried shift, is bit-parallel (rapidfuzz). The alignment
# of the words is traced once per accepted shift from bit vectors (Myers 1999, Hyyrö 2003).
# sacreBLEU looks only within a beam around the diagonal: as long as the traced path stays in it,
# the beam changes neither distance nor trace. Where a path strays, sacreBLEU's own code is used,
# so that both agree. It takes seconds for one entry of some hundred words, so beyond
# ``MOST_CELLS`` the search continues without a beam instead, by the same limits on shifts.
#
# Translation edit rate (Snover et al. 2006): edits of words and shifts of phrases per reference
# word. The output "c a b" takes two edits to the reference "a b c" (c away, c added), but one where
# the phrase "c" is first shifted to the end: 1 shift + 0 edits, TER 1 / 3 = 33.3.

_MOST_SHIFTED = 10
"""Words in one shift."""
_FARTHEST = 50
"""Words that a phrase may lie from its place in the reference."""
_MOST_TRIED = 1000
"""Shifts tried per entry before the search ends."""
_WITHOUT_BEAM = 24
"""Reference words up to which the beam of 25 holds the whole matrix."""
_WITHIN_BEAM = 23
"""Words off the diagonal that are in the beam however its edges are rounded."""
MOST_CELLS = 10_000
"""Output words times reference words up to which a path that strays is left to sacreBLEU."""


class _StrayedError(Exception):
    """A best path leaves the beam."""


def edits(output: Sequence[str], reference: Sequence[str]) -> int:
    """Count the edits that turn the output's words into the reference's, shifts included."""
    if not reference or not output:
        return len(reference) + len(output)
    words, target = as_characters(output, reference)
    distance = Levenshtein.distance(words, target)
    if distance < 2:
        return distance
    try:
        return search(words, target, distance)
    except _StrayedError:
        if len(words) * len(target) > MOST_CELLS:
            return search(words, target, distance, beam=False)
        return by_sacrebleu(output, reference)


def by_sacrebleu(output: Sequence[str], reference: Sequence[str]) -> int:
    """Return the edits that sacreBLEU counts, shifts included."""
    from sacrebleu.metrics.lib_ter import translation_edit_rate

    return int(translation_edit_rate(list(output), list(reference))[0])


def as_characters(output: Sequence[str], reference: Sequence[str]) -> tuple[str, str]:
    """Write each different word as one character, because strings are compared and cut fastest."""
    number: dict[str, str] = {}
    for word in (*reference, *output):
        if word not in number:
            number[word] = chr(len(number))
    return "".join([number[word] for word in output]), "".join([number[w] for w in reference])


def search(words: str, target: str, distance: int, *, beam: bool = True) -> int:
    """Apply the best shift until none helps, or too many were tried.

    Raises _StrayedError where a path leaves the beam and ``beam`` says that there is one.
    """
    shifts = tried = 0
    known = {words: distance}
    while distance > 1:
        best, tried = _best_shift(words, target, distance, tried, known, beam)
        if tried >= _MOST_TRIED or best is None:
            break
        shifts += 1
        words, distance = best, known[best]
    return shifts + distance


def _best_shift(
    words: str, target: str, distance: int, tried: int, known: dict[str, int], beam: bool
) -> tuple[str | None, int]:
    """Find the shift that saves most: then the longest, the earliest, the earliest target."""
    alignment = _align(words, target)
    # whether a path of this distance could leave the beam at all
    off_diagonal = (distance + abs(len(words) - len(target))) / 2
    beam_matters = beam and len(target) > _WITHOUT_BEAM and off_diagonal >= _WITHIN_BEAM
    if beam_matters:
        _check_beam(alignment, words)
    best: tuple[int, int, int, int] | None = None
    shifted_best = None
    for start, place, length in _shiftable(words, target, alignment):
        for goal in _goals(alignment.at, place, length):
            tried += 1
            shifted = _shifted(words, start, length, goal)
            left = known.get(shifted)
            if left is None:
                left = known[shifted] = Levenshtein.distance(shifted, target)
            candidate = (distance - left, length, -start, -goal)
            if candidate[0] > 0 and (best is None or candidate > best):
                best, shifted_best = candidate, shifted
                if beam_matters:
                    _check_beam(_align(shifted, target), shifted)
        if tried >= _MOST_TRIED:
            break
    return shifted_best, tried


def _check_beam(alignment: _Alignment, words: str) -> None:
    """Raise where the path leaves the beam, at either end of the output words beside a target word."""
    # the beam lies around the diagonal of a table that is longer on one side than on the other
    ratio = len(alignment.at) / len(words)
    ends = [place + 1 for place in alignment.at]
    for j, (first, last) in enumerate(zip([0, *ends], [*ends, len(words)], strict=True)):
        if max(abs(j - first * ratio), abs(j - last * ratio)) > _WITHIN_BEAM:
            raise _StrayedError


@dataclass(slots=True)
class _Alignment:
    at: list[int]
    """For each target word the last output word used up when it is reached, -1 before the first."""
    wrong_words: list[bool]
    """Output words that are not simply kept."""
    wrong_target: list[bool]
    """Target words that no output word simply matches."""


def _shiftable(words: str, target: str, alignment: _Alignment) -> Iterator[tuple[int, int, int]]:
    """Yield (start, target place, length) of equal phrases where both sides are wrong as they lie."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(target):
        places.setdefault(word, []).append(place)
    for start, word in enumerate(words):
        for place in places.get(word, ()):
            most = min(_MOST_SHIFTED, len(words) - start, len(target) - place)
            wrong_word = wrong_target = False
            for last in range(most if abs(place - start) <= _FARTHEST else 0):
                if words[start + last] != target[place + last]:
                    break
                wrong_word = wrong_word or alignment.wrong_words[start + last]
                wrong_target = wrong_target or alignment.wrong_target[place + last]
                elsewhere = not start <= alignment.at[place] <= start + last
                if wrong_word and wrong_target and elsewhere:
                    yield start, place, last + 1


def _goals(at: list[int], place: int, length: int) -> Iterator[int]:
    """Yield the different positions in the output that lie before, in and behind the target phrase."""
    previous = -1
    for offset in range(place - 1, place + length):
        goal = at[offset] + 1 if offset >= 0 else 0
        if goal != previous:
            previous = goal
            yield goal


def _shifted(words: str, start: int, length: int, goal: int) -> str:
    end = start + length
    phrase = words[start:end]
    if goal < start:
        return words[:goal] + phrase + words[goal:start] + words[end:]
    if goal > end:
        return words[:start] + words[end:goal] + phrase + words[goal:]
    return words[:start] + words[end : length + goal] + phrase + words[length + goal :]


def _align(words: str, target: str) -> _Alignment:
    """Trace the alignment from the end: keep or replace first, then drop an output word, then insert."""
    diagonals, rises = _vectors(words, target)
    i, j = len(words), len(target)
    alignment = _Alignment([-1] * j, [False] * i, [False] * j)
    while i or j:
        bit = 1 << (j - 1) if j else 0
        same = i > 0 and j > 0 and words[i - 1] == target[j - 1]
        if same or (i and j and not diagonals[i - 1] & bit):
            i, j = i - 1, j - 1
            alignment.at[j] = i
            alignment.wrong_words[i] = alignment.wrong_target[j] = not same
        elif i and (j == 0 or rises[i - 1] & bit):
            i -= 1
            alignment.wrong_words[i] = True
        else:
            j -= 1
            alignment.at[j] = i - 1
            alignment.wrong_target[j] = True
    return alignment


def _vectors(words: str, target: str) -> tuple[list[int], list[int]]:
    """Return two bit vectors per output word, one bit per target word.

    A bit of the first is set where the distance equals the one diagonally before it, a bit of the second
    where it is one more than without the output word.
    """
    # Myers 1999 in the form of Hyyrö 2003: a whole row of the table of distances is worked out by operations on
    # the bits of one number; `up` and `down` say where the distance rises or falls by 1 along the target. Of the word
    # "b" and the target "a b" (bit 0 is a): up 11, match 10, so diagonal ((10 + 11) ^ 11 | 10) & 11 = 10: the distance
    # of "b" to "a b" is 1, as that of nothing to "a". No rise; fall 10: to "a b" it is one less than without the word.
    full = (1 << len(target)) - 1
    equal: dict[str, int] = {}
    for place, word in enumerate(target):
        equal[word] = equal.get(word, 0) | 1 << place
    up, down = full, 0
    diagonals, rises = [], []
    for word in words:
        match = equal.get(word, 0) | down
        # the carry of the addition runs through each stretch of words that go on matching
        diagonal = ((((match & up) + up) ^ up) | match) & full
        rise = down | (full & ~(diagonal | up))
        fall = diagonal & up
        diagonals.append(diagonal)
        rises.append(rise)
        rise = (rise << 1 | 1) & full  # 1: before the first target word every output word costs one
        up = (fall << 1 | full & ~(diagonal | rise)) & full
        down = rise & diagonal
    return diagonals, rises


class Ter(Metric):
    """TER in per cent (0 is best, no upper end), equal to sacreBLEU's tercom on NFC texts.

    Statistics: edits, reference words. An empty output costs one edit per reference word; a text
    against an empty reference is 100 (scoring-specification §2.1). Of several references the fewest edits
    count, over the mean of their lengths. Never null.
    """

    info = metric_info("ter")
    width = 2

    def __init__(self, references: References = ONE) -> None:
        self.references = references

    @property
    def signature(self) -> str:
        return sacrebleu_signature(f"{self.references.signed}|case:lc|tok:tercom|norm:no|punct:yes|asian:no")

    def stats(self, translation: Translation) -> Statistics:
        output = _words(translation.output)
        given = self.references.texts(translation.entry)
        targets = list(map(_words, given))
        if len(targets) == 1:
            return (edits(output, targets[0]), len(targets[0]))
        fewest = min([edits(output, target) for target in targets])
        return (fewest, sum(map(len, targets)) / len(targets))

    def values(self, totals: FloatArray) -> FloatArray:
        edited, words = totals[:, 0], totals[:, 1]
        rate = edited / np.where(words > 0, words, 1.0)
        return 100.0 * np.where(words > 0, rate, (edited > 0).astype(np.float64))


def _words(text: str) -> list[str]:
    return normalize("NFC", text).lower().split()


METRICS = {
    "exact_match_rate": Maker(lambda _: ExactMatch()),
    "equivalent_match_rate": Maker(
        equivalent_match,
        lambda resources: None if resources.setup.has_variants or resources.setup.variant_rules else _NO_VARIANTS,
    ),
    "length_ratio": Maker(lambda _: LengthRatio()),
    "ter": Maker(lambda resources: Ter(References.of(resources.setup))),
}
