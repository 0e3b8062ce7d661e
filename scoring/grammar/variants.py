"""Whether two sentences say the same by a language's own rules (METRICS §6, appendix B).

Both are brought into a normal form and compared: no search, so that the time grows with the length of the
sentences only. The rules are data (``corpora.languages.cards``); any language card may have some. Nearly all
texts that differ are distinguished at a glance, before their normal forms are made.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import chain

from corpora.languages.cards import VariantRules
from corpora.text.comparison import comparison_form, is_blank
from scoring.core.setup import FstAnnotation
from scoring.grammar.gold_analysis import TaggedWord, tagged_word

# ---- Sentences in normal form: two that are equal in it say the same by a language's own rules
# (METRICS §6).
#
# The form depends on the classes of differences that are let through, and notes what was taken
# from a text, because not everything that may be missing may also be exchanged.


class VariantClass(StrEnum):
    """A kind of difference that may leave the meaning as it is."""

    WORD_ORDER = "word order"
    ORTHOGRAPHIC = "spelling"
    OPTIONAL_PARTICLE = "optional particle"
    LEMMA_SYNONYM = "synonym"
    PROGRESSIVE_AMBIGUITY = "progressive"
    INCLUSIVE_EXCLUSIVE = "inclusive or exclusive “we”"


Analyses = Mapping[str, "tuple[TaggedWord, ...]"]
"""Word as it is looked up → its analyses."""


@dataclass(slots=True)
class Sentence:
    """One sentence without the marks that may differ."""

    words: list[str] = field(default_factory=list)
    """In normal form."""
    looked_up: list[str] = field(default_factory=list)
    """The same words as they are looked up."""
    joins_clauses: bool = False
    """Whether a word of it joins clauses."""


@dataclass(slots=True)
class NormalText:
    """A text in normal form, and what was taken from it."""

    sentences: list[Sentence] = field(default_factory=list)
    """In the order of the text."""
    particles: Counter[str] = field(default_factory=Counter)
    """Optional words that were taken out."""
    under_way: Counter[str] = field(default_factory=Counter)
    """Words of which a progressive preverb was taken off."""
    speakers: set[bool] = field(default_factory=set)
    """Whether “we” was inclusive, in all words that say it."""

    @property
    def flat(self) -> list[str]:
        """The words of all sentences."""
        return [word for sentence in self.sentences for word in sentence.words]


class NormalForms:
    """Brings sentences of one language into normal form."""

    def __init__(self, rules: VariantRules) -> None:
        self._rules = rules
        self._edges = rules.ignored_marks
        self._preverbs = frozenset(rules.preverbs)
        self._fused = dict(rules.fused)
        self._progressive = frozenset(rules.progressive)
        self._particles = frozenset(rules.optional_particles)
        self._clause_words = frozenset(rules.clause_words)
        self._apart = frozenset(rules.separate_words)
        self._heads = heads(rules)
        self._pronouns = {word: (f"we:{pair[0]}", word == pair[1]) for pair in rules.clusive_words for word in pair}
        self.spell = lru_cache(maxsize=1024)(self._respelled)  # frequent words; others cost less than room for them
        """Give a word in the spelling that rules and analyses are looked up in."""

    def of(self, text: str, on: Set[VariantClass], analyses: Analyses) -> NormalText:
        """Convert a text into the normal form in which differences of the classes ``on`` do not show."""
        form, whole = NormalText(), list(self._sentences(text))
        if self._apart and VariantClass.ORTHOGRAPHIC in on:
            whole = [self._taken_apart(pieces) for pieces in whole]
        for pieces in whole:
            kept = [piece for piece in pieces if not self._left_out(piece, on, form)]
            if kept:
                spelled_pieces = [self.spell(piece).casefold() for piece in pieces]
                joins = not self._clause_words.isdisjoint(spelled_pieces)
                sentence = Sentence(joins_clauses=joins)
                for written, spelled in self._joined(kept, on):
                    sentence.words.append(self._word(written, spelled, on, analyses, form))
                    sentence.looked_up.append(spelled)
                form.sentences.append(sentence)
        if not form.sentences:  # optional words that are all a sentence says are not optional
            form.particles.clear()
            form.sentences = [Sentence(pieces, pieces) for pieces in whole]
        return form

    def _sentences(self, text: str) -> Iterator[list[str]]:
        """Yield the words of each sentence without the marks that may differ."""
        sentence_words: list[str] = []
        for piece in unicodedata.normalize("NFC", text).split():
            bare = piece.strip(self._edges)
            if bare:
                sentence_words.append(bare.casefold() if self._rules.ignore_case else bare)
            tail = piece[len(piece.rstrip(self._edges)) :] or piece[-1]
            if sentence_words and any(mark in tail for mark in self._rules.sentence_end):
                yield sentence_words
                sentence_words = []
        if sentence_words:
            yield sentence_words

    def _taken_apart(self, pieces: list[str]) -> list[str]:
        """Write those words by themselves that are also joined to the next one by a hyphen."""
        separated: list[str] = []
        for piece in pieces:
            first, _, rest = piece.partition("-")
            apart = bool(rest) and self.spell(first).casefold() in self._apart
            separated += [first, rest] if apart else [piece]
        return separated

    def _left_out(self, piece: str, on: Set[VariantClass], form: NormalText) -> bool:
        """Return whether a word may be missing; noted in ``form``, because it may not be exchanged."""
        word = self.spell(piece).casefold()
        if VariantClass.OPTIONAL_PARTICLE not in on or word not in self._particles:
            return False
        speakerless = self._pronoun(word, form) if _WE in on else ""
        form.particles[speakerless or word] += 1
        return True

    def _joined(self, pieces: list[str], on: Set[VariantClass]) -> Iterator[tuple[str, str]]:
        """Join preverbs to their word; return each word as it counts, and as it is looked up."""
        same = VariantClass.ORTHOGRAPHIC in on
        written, spelled = "", ""
        for place, piece in enumerate(pieces):
            form = self.spell(piece)
            written += form if same else piece
            spelled += form.casefold()
            if place + 1 < len(pieces) and self._preverbs.issuperset(spelled.split("-")):
                written, spelled = written + ("-" if same else " "), spelled + "-"
                continue
            yield written, spelled
            written, spelled = "", ""

    def _respelled(self, word: str) -> str:
        form = unicodedata.normalize("NFC", word).strip("-") or word
        for one, other in self._rules.spellings:
            form = form.replace(one, other)
        if "-" not in form:
            return self._fused.get(form, form)
        return "-".join(self._fused.get(part, part) for part in form.split("-"))

    def _word(self, written: str, spelled: str, on: Set[VariantClass], analyses: Analyses, form: NormalText) -> str:
        """Convert one word into normal form, and record in ``form`` what was removed from it."""
        if VariantClass.PROGRESSIVE_AMBIGUITY in on:
            # Without the preverbs of an action under way.
            *before, last = spelled.split("-")
            plain = "-".join([*(part for part in before if part not in self._progressive), last])
            if plain != spelled:
                form.under_way[plain] += 1
                written = spelled = plain
        if VariantClass.LEMMA_SYNONYM in on and spelled in self._heads:
            return self._heads[spelled]
        if _WE in on and (pronoun := self._pronoun(spelled, form)):
            return pronoun
        if known := analyses.get(spelled):
            return self._meant(known, on, form) or written
        return (self._speakerless(spelled, form) if _WE in on else "") or written

    def _meant(self, known: tuple[TaggedWord, ...], on: Set[VariantClass], form: NormalText) -> str:
        """Return what a word means where a class has something to say about its analyses, else nothing."""
        meanings, speakers = [], set()
        heads = self._heads if VariantClass.LEMMA_SYNONYM in on else {}
        for word in known:
            lemma, tags = word.lemma, word.tags
            plain = speakerless(tags, self._rules)
            if _WE in on and plain is not None:
                speakers.add(plain != tags)
            elif lemma not in heads:
                continue
            joined = "+".join(sorted(tags if plain is None or _WE not in on else plain))
            meanings.append(f"={heads.get(lemma, lemma)}+{joined}")
        if len(speakers) == 1:
            form.speakers |= speakers
        return min(meanings, default="")

    def _pronoun(self, spelled: str, form: NormalText) -> str:
        """Return a whole word for “we” without saying who is meant; nothing for other words."""
        known, inclusive = self._pronouns.get(spelled, ("", False))
        if known:
            form.speakers.add(inclusive)
        return known

    def _speakerless(self, spelled: str, form: NormalText) -> str:
        """Handle an inflected word that no analyser knows in the same way: beginning and end must both fit."""
        for affixes in self._rules.clusive_affixes:
            for start, end in (affixes.exclusive, affixes.inclusive):
                stem = spelled[len(start) : len(spelled) - len(end)]
                if stem and spelled.startswith(start) and spelled.endswith(end):
                    form.speakers.add((start, end) == affixes.inclusive)
                    return f"we:{affixes.exclusive[0]}{stem}{affixes.exclusive[1]}"
        return ""


def heads(rules: VariantRules) -> dict[str, str]:
    """Return for each word or lemma with synonyms the one that stands for them all."""
    return {word: group[0] for group in rules.synonyms for word in group}


def speakerless(tags: frozenset[str], rules: VariantRules) -> frozenset[str] | None:
    """Return the tags of a word for “we” as they are when it is not told who is meant; None for other words."""
    for exclusive, inclusive in rules.clusive_tags:
        if any(exclusive in tag or inclusive in tag for tag in tags):
            return frozenset(tag.replace(inclusive, exclusive) for tag in tags)
    return None


_PART = 1 << 80  # more than the hashes of a text's parts can add up to


class Prefilter:
    """Weighs texts by the parts of their words that no class of differences takes away or changes.

    Two texts that differ cost a twentieth of a comparison of normal forms: the constant floor compares its
    candidates with every reference (``floors`` in docs/internals/benchmarks.md).
    """

    def __init__(self, rules: VariantRules, spell: Callable[[str], str]) -> None:
        """``spell`` gives a word in the spelling that rules are looked up in."""
        self._rules = rules
        self._spell = spell
        self._heads = heads(rules)
        self._gone = frozenset(rules.progressive) | frozenset(rules.optional_particles)
        self._exchanged = frozenset(
            part for word in chain(self._heads, *rules.clusive_words) for part in word.split("-")
        )
        # Beginnings and the ends of words for “we”, cut at their hyphens.
        begins, ends = set[str](), set[str]()
        for affixes in rules.clusive_affixes:
            for begin, end in (affixes.exclusive, affixes.inclusive):
                begins.update(part for part in begin.split("-") if part)
                ends.update(part for part in end.split("-") if part)
        self._begins, self._ends = tuple(begins), tuple(ends)
        self._telling_words = re.compile("|".join(map(re.escape, chain(self._heads, *rules.clusive_tags))) or "(?!)")
        self._weight = lru_cache(maxsize=32_768)(self._weigh)  # the floors of 2,000 entries ask again for all words
        self._whole_weight = lru_cache(maxsize=4096)(lambda text: sum(map(self._weight, text.split())))
        # whether a class may have something to say about these analyses of a word
        self._telling = lru_cache(maxsize=16_384)(lambda analyses: any(map(self._telling_words.search, analyses)))

    def apart(self, output: str, accepted: str, annotation: FstAnnotation | None) -> bool:
        """Return whether two texts differ for certain by their words alone; False proves nothing.

        They differ where they have another number of parts that no class takes away, or other parts that no
        class changes; what a class reads from an analysis may change any part.
        """
        ours, theirs = self._whole_weight(output), self._whole_weight(accepted)
        if ours == theirs or ours // _PART != theirs // _PART:
            return ours != theirs
        words = () if annotation is None else (*annotation.output, *annotation.reference)
        return not any(self._telling(word.analyses) for word in words)

    def _weigh(self, piece: str) -> int:
        """Count in units of _PART the parts of a word that no class takes away; those that no class changes add their
        hashes: a text of three parts, one of which a class may change, weighs 3 · 2^80 plus two hashes.
        """
        bare = unicodedata.normalize("NFC", piece).strip(self._rules.ignored_marks)
        word = self._spell(bare.casefold() if self._rules.ignore_case else bare).casefold()
        weight = 0
        for part in self._heads.get(word, word).split("-"):
            if part and part not in self._gone:
                weight += _PART
                changed = part.startswith(self._begins) or part.endswith(self._ends)
                if not changed and part not in self._exchanged:
                    weight += abs(hash(part))
        return weight


_WORD = re.compile(r"\w+")
_EVERY = frozenset(VariantClass)
_WE = VariantClass.INCLUSIVE_EXCLUSIVE


class LintVerdict(StrEnum):
    """What the rules say of an output."""

    EXACT = "EXACT"
    """Equal to the reference in comparison form."""
    EQUIVALENT = "EQUIVALENT"
    """Equal to a listed variant, or to any of these under the rules."""
    MISS = "MISS"
    NO_OUTPUT = "NO_OUTPUT"


class Equivalence:
    """The rules of one language, ready to compare sentences."""

    def __init__(self, rules: VariantRules) -> None:
        self._rules = rules
        self._clause_words = frozenset(rules.clause_words)
        self._placed = frozenset(rules.placed_words)
        self._told_by = frozenset(rules.clusive_told_by)
        self._forms = NormalForms(rules)
        self._spell = self._forms.spell
        self._prefilter = Prefilter(rules, self._spell)

    def equivalent(self, output: str, accepted: str, source: str, annotation: FstAnnotation | None = None) -> bool:
        """Return whether an output says the same as an accepted sentence; analyses make it surer.

        An empty output never does.
        """
        if is_blank(output):
            return False
        if self._prefilter.apart(output, accepted, annotation):
            return False
        if comparison_form(output) == comparison_form(accepted):
            return True
        return self._same(output, accepted, self._allowed(source), self._analyses(annotation))

    def free_order(self, annotation: FstAnnotation) -> bool:
        """Return whether the words of output and reference may be in any order."""
        analyses = self._analyses(annotation)
        sides = [
            [self._spell(word.word).casefold() for word in words] for words in (annotation.output, annotation.reference)
        ]
        return self._rules.free_word_order and all(
            self._free(Sentence([], words, not self._clause_words.isdisjoint(words)), analyses) for words in sides
        )

    def classes(
        self, output: str, accepted: str, source: str, annotation: FstAnnotation | None = None
    ) -> tuple[VariantClass, ...] | None:
        """Name the classes that are needed to make an output equivalent, None where none do.

        Empty: only capitals or punctuation differ, if anything. Of several sets of classes that would do,
        it is the one that is left when each class in turn is given up if the rest suffices.
        """
        needed, analyses = self._allowed(source), self._analyses(annotation)
        if not self._same(output, accepted, needed, analyses):
            return None
        for variant_class in VariantClass:
            if self._same(output, accepted, needed - {variant_class}, analyses):
                needed -= {variant_class}
        return tuple(kind for kind in VariantClass if kind in needed)

    def _allowed(self, source: str) -> frozenset[VariantClass]:
        """Omit the classes that this source does not license."""
        allowed = _EVERY
        source_words = _WORD.findall(source.casefold())
        endings = self._rules.progressive_endings
        if not any(word.endswith(endings) for word in source_words):
            allowed -= {VariantClass.PROGRESSIVE_AMBIGUITY}
        if not self._told_by.isdisjoint(source_words):
            allowed -= {_WE}
        return allowed if self._rules.free_word_order else allowed - {VariantClass.WORD_ORDER}

    def _analyses(self, annotation: FstAnnotation | None) -> Analyses:
        if annotation is None:
            return {}
        return {
            self._spell(word.word).casefold(): tuple(map(tagged_word, word.analyses))
            for word in chain(annotation.output, annotation.reference)
            if word.analyses
        }

    def _same(self, output: str, accepted: str, on: Set[VariantClass], analyses: Analyses) -> bool:
        ours, theirs = (self._forms.of(text, on, analyses) for text in (output, accepted))
        if not ours.sentences or theirs.under_way - ours.under_way:
            return False
        if ours.particles - theirs.particles and theirs.particles - ours.particles:
            return False  # one word for another is no optional word
        if max(len(ours.speakers), len(theirs.speakers)) > 1:  # who says both tells them apart
            return self._same(output, accepted, on - {_WE}, analyses)
        if ours.flat == theirs.flat:
            return True
        if VariantClass.WORD_ORDER not in on or len(ours.sentences) != len(theirs.sentences):
            return False
        # Only words within one clause may be in another order.
        pairs = zip(ours.sentences, theirs.sentences, strict=True)
        moved = [pair for pair in pairs if pair[0].words != pair[1].words]
        return all(sorted(one.words) == sorted(other.words) for one, other in moved) and all(
            self._free(one, analyses) and self._free(other, analyses) for one, other in moved
        )

    def _free(self, sentence: Sentence, analyses: Analyses) -> bool:
        """Return whether the order is free: one clause, as the analyser sees it, else by its joining words."""
        if not self._placed.isdisjoint(sentence.looked_up):
            return False
        readings = [analyses.get(word) for word in sentence.looked_up]
        if None in readings:
            return not sentence.joins_clauses
        verb = self._rules.verb_tag
        return sum(all(verb in word.tags for word in words or ()) for words in readings) < 2
