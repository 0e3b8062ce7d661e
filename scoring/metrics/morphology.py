"""Morphological accuracy: whether words have the lemma and the inflection they should have (§2.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from corpora.model.entry import Entry
from corpora.text.messages import faulty, listed, shortened
from corpora.text.tokens import folded
from scoring.core.metric import FloatArray, Statistics, analyser_key, card_key, own_signature
from scoring.core.setup import FstAnnotation, ScoringSetup, Translation, WordAnalysis
from scoring.core.specification import metric_info
from scoring.grammar.gold_analysis import (
    GoldWord,
    TaggedWord,
    UnreadableAnalysisError,
    gold_words,
    inflection_faults,
    joined,
    tagged_word,
)
from scoring.grammar.morpheme_difference import best_pairs, counterparts
from scoring.metrics.maker import Maker, ResourceRate
from scoring.metrics.word_forms import why_no_acceptance
from scoring.words.source_words import Resources


class MorphologicalAccuracy(ResourceRate):
    """Lemmas and tags that are as expected / those expected, 0–1, higher is better.

    Every gold word is paired with one word of the output such that the pairs have the most in common; of
    an ambiguous word the best analysis counts. Numbers and punctuation of the gold analysis are left out, as
    no analyser is asked for those of an output. Statistics (right, expected, left out).
    """

    info = metric_info("morphological_accuracy")
    width = 3

    @property
    def signature(self) -> str:
        setup = self._setup
        return own_signature(
            f"fst:{analyser_key(setup)}|gold:words:analyser,interlinear|pairs:best|ambiguous:best"
            f"|card:{card_key(setup)}"
        )

    @property
    def why_missing(self) -> str:
        return why_no_analyses(self._setup) or NO_GOLD

    def stats(self, translation: Translation) -> Statistics | None:
        annotation = translation.fst
        if annotation is None or not translation.entry.morphological_analysis:
            return None
        try:
            gold = self._expected(translation.entry, annotation)
        except UnreadableAnalysisError:
            return None
        right = _right(gold, annotation.output)
        return (right, _size(gold), sum(len(word.unmapped) for word in gold))

    def further(self, total: FloatArray) -> dict[str, float | int | None]:
        return {"unmapped_glosses": int(total[2])}

    def explain(self, translation: Translation) -> tuple[str, ...]:
        annotation = translation.fst
        if annotation is None or not translation.entry.morphological_analysis:
            return ()
        try:
            gold = self._expected(translation.entry, annotation)
        except UnreadableAnalysisError as error:
            return (f"The entry's morphological analysis cannot be used: {error}.",)
        word_pairs = pairs(gold, annotation)
        right = _right(gold, annotation.output)
        elsewhere = right - sum(pair.worth for pair in word_pairs)
        where = f", {elsewhere} of them in words that stand for others" if elsewhere else ""
        sentences = [f"{right} of {_size(gold)} expected lemmas and tags are there{where}."]
        faults = filter(None, (pair.fault() for pair in word_pairs))
        sentences += {folded(fault): fault for fault in faults}.values()
        if left_out := [gloss for word in gold if word.a_word for gloss in word.unmapped]:
            why = "because there is no tag of the analyser"
            sentences.append(f"Left out, {why}: {listed(left_out)}.")
        if signs := [word.shown for word in gold if not word.a_word]:
            sentences.append(f"Left out, as no words: {listed(signs)}.")
        return tuple(sentences)

    def _expected(self, entry: Entry, annotation: FstAnnotation) -> tuple[GoldWord, ...]:
        """Return what is expected of an entry, read once; UnreadableAnalysisError where it cannot be read."""
        key = (entry.morphological_analysis or "", entry.reference)
        known = self._known.get(key)
        if known is None:
            card = self._resources.card
            gold = gold_words(key[0], {} if card is None else card.glosses)
            # What the analyser says of the same words in the reference completes the interlinear lines.
            by_form = {joined(word.word): word for word in annotation.reference}
            pairs = [(word, by_form.get(word.form)) for word in gold]
            known = tuple(word if same is None else _as_analysed(word, same) for word, same in pairs)
            self._known[key] = known
        return known

    @cached_property
    def _known(self) -> dict[tuple[str, str], tuple[GoldWord, ...]]:
        """By analysis and reference; there are no more than entries."""
        return {}


NO_GOLD = "no entry has a morphological analysis that can be compared"


@dataclass(frozen=True, slots=True)
class WordPair:
    """A gold word and the word of the output that stands for it."""

    gold: GoldWord
    found: WordAnalysis | None
    """None: no word of the output stands for it."""
    analysis: TaggedWord | None
    """The analysis of the found word that fits best; None for a word that the analyser does not know."""

    @property
    def worth(self) -> int:
        """How much of what is expected is there, lemma and tags."""
        return 0 if self.analysis is None else _most_common(self.gold, (self.analysis,))

    def fault(self) -> str | None:
        """Return in a sentence what is not as expected; of a word of another lemma only that."""
        if not self.gold.a_word:
            return None
        if self.found is None:
            return f"“{self.gold.shown}” is missing."
        word = shortened(self.found.word)
        if self.analysis is None:
            unknown = "" if self.found.accepted else ", no word the analyser knows,"
            return f"“{word}”{unknown} instead of “{self.gold.shown}”."
        if not self.gold.has_lemma(self.analysis):
            return f"“{word}” (lemma {self.analysis.lemma}) instead of “{self.gold.shown}”."
        missing = self.gold.tags - self.analysis.tags
        differences = inflection_faults(self.analysis.tags, missing)
        faults = [fault.words for fault in differences if fault.expected is not None]
        return faulty(self.found.word, faults) if faults else None


def pairs(gold: Sequence[GoldWord], annotation: FstAnnotation) -> list[WordPair]:
    """Pair each gold word with the output's counterpart of the reference word that it tells about.

    A gold word that tells about no word of the reference is paired as if it stood at its end.
    """
    places = _in_reference(gold, annotation.reference)
    expected = list(annotation.reference)
    for at, word in enumerate(gold):
        if places[at] is None and word.a_word:
            places[at] = len(expected)
            lemmas = ("+".join((lemma, *sorted(word.tags))) for lemma in sorted(word.lemmas))
            expected.append(WordAnalysis(word.shown, None, tuple(lemmas)))
    pairing = counterparts(annotation.output, expected)
    output_of = {place: at for at, place in enumerate(pairing) if place is not None}
    word_pairs = []
    for word, place in zip(gold, places, strict=True):
        counterpart = None if place is None else output_of.get(place)
        analysis = None if counterpart is None else annotation.output[counterpart]
        known = place is not None and place < len(annotation.reference)
        shown = annotation.reference[place].word if place is not None and known else word.shown
        shown_word = replace(word, shown=shown)
        analyses = [] if analysis is None else list(map(tagged_word, analysis.analyses))
        worth = [(_most_common(shown_word, (one,)), shown_word.has_lemma(one)) for one in analyses]
        word_pairs.append(WordPair(shown_word, analysis, analyses[worth.index(max(worth))] if worth else None))
    return word_pairs


def _in_reference(gold: Sequence[GoldWord], reference: Sequence[WordAnalysis]) -> list[int | None]:
    """Return for each gold word the place of the word that it tells about: in order, each place once."""
    left = list(range(len(reference)))
    places: list[int | None] = []
    for word in gold:
        place = next((at for at in left if word.a_word and _tells_about(word, reference[at])), None)
        places.append(place)
        if place is not None:
            left.remove(place)
    return places


def _tells_about(gold: GoldWord, word: WordAnalysis) -> bool:
    if gold.form:
        return gold.form == joined(word.word)
    keys = {tagged_word(analysis).key for analysis in word.analyses} or {folded(word.word)}
    return not gold.lemmas.isdisjoint(keys)


def _right(gold: Sequence[GoldWord], output: Sequence[WordAnalysis]) -> int:
    """Count what is there of all that is expected, each gold word in its own word."""
    analysed = [tuple(map(tagged_word, word.analyses)) for word in output]
    worth = [[_most_common(word, analyses) for analyses in analysed] for word in gold]
    pairs = zip(worth, best_pairs(worth), strict=True)
    return sum(line[column] for line, column in pairs if column is not None)


def _most_common(gold: GoldWord, analyses: Sequence[TaggedWord]) -> int:
    """Count what the best analysis of a word has of what is expected."""
    tags, lemmas, most = gold.tags, gold.lemmas, 0
    for analysis in analyses:
        right = analysis.key in lemmas if lemmas else gold.has_lemma(analysis)
        common = len(tags & analysis.tags) + right
        if common > most:  # noqa: PLR1730  max() would take as long as all the rest of this loop
            most = common
    return most


def _as_analysed(gold: GoldWord, reference: WordAnalysis) -> GoldWord:
    """Use the lemma from the analyses that fit best, and omit tags that none of them has.

    What the analyser does not say of the right word, no output can have.
    """
    gold = replace(gold, shown=reference.word)
    analyses = [tagged_word(analysis) for analysis in reference.analyses]
    if not analyses:
        return gold
    most = max(len(gold.tags & analysis.tags) for analysis in analyses)
    best = [analysis for analysis in analyses if len(gold.tags & analysis.tags) == most]
    tags = frozenset(tag for analysis in best for tag in gold.tags & analysis.tags)
    return replace(
        gold,
        lemmas=frozenset(analysis.key for analysis in best),
        tags=tags,
        unmapped=(*gold.unmapped, *sorted(gold.tags - tags)),
    )


def _size(gold: Sequence[GoldWord]) -> int:
    return sum(word.size for word in gold)


def why_no_analyses(setup: ScoringSetup) -> str | None:
    """Return why analyses of words cannot be had in this run; None where they can."""
    if setup.analyser is not None and setup.analyser.acceptor:
        return (
            f"{setup.analyser.name} is an acceptor such as spell-checkers use: it gives no analyses; "
            f"`rosetta language check {setup.target_language}` names the analysers that do"
        )
    return why_no_acceptance(setup)


def why_no_morphology(resources: Resources) -> str | None:
    """Return why the metric is off with these resources; None where it is not."""
    if reason := why_no_analyses(resources.setup):
        return reason
    with_gold = [entry for entry in resources.entries if entry.morphological_analysis]
    if not with_gold:
        return "no entry has a morphological analysis"
    glosses = {} if resources.card is None else resources.card.glosses
    problems = (_problem(entry, glosses) for entry in with_gold)
    first = next(problems)
    if first is None or any(problem is None for problem in problems):
        return None
    return f"no morphological analysis can be used; that of entry {with_gold[0].id}: {first}"


def _problem(entry: Entry, glosses: Mapping[str, str]) -> str | None:
    try:
        gold_words(entry.morphological_analysis or "", glosses)
    except UnreadableAnalysisError as error:
        return str(error)
    return None


METRICS = {"morphological_accuracy": Maker(MorphologicalAccuracy, why_no_morphology)}
