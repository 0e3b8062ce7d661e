"""The verdicts of appendix B on the meaning of an output, from analyses and a dictionary (METRICS §6).

No model is asked: an analyser tells the dictionary form and grammar of each word, a dictionary of the user
tells what that form means in English. The rules, in this order:

NO_OUTPUT     the output is empty
EXACT_MATCH   the words of the reference in its order; capitals and punctuation do not count
WRONG         no content of the sentence is there
INCOMPLETE    less than half of it is there
PARTIAL       half or more is there, but not all, or words are there that nothing explains
WRONG_ORDER   all is there and nothing else, but a word has another grammar than in the reference, or the
              order differs where it is not free
VALID         all is there and nothing else, or the rules of the language (``scoring.grammar.variants``) say that the
              output is equivalent to the reference

Content is there where an output word has the dictionary form of a reference word, or a meaning in common
with it; or, counted over the source instead, where the dictionary explains the content words of the source by
words of the output. The larger of the two shares counts. A word is explained in the same way, by the
reference or by the source; a word without own content (all its meanings are words like “the”, or the
language lets it stand or be missing) needs no explanation. A word that neither analyser nor dictionary knows
is explained only where the reference has it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache

from corpora.languages.cards import VariantRules
from corpora.text.comparison import is_blank
from corpora.text.tokens import folded
from scoring.core.setup import FstAnnotation, Translation, WordAnalysis
from scoring.grammar.gold_analysis import TaggedWord, tagged_word
from scoring.grammar.variants import Equivalence, speakerless

# ---- English content words: what a source sentence and a dictionary's glosses are compared by.
#
# Dictionaries of many small languages are glossed in English. The list of words without content
# and the stemming are our own and small: they need to bring “saw” and “see” together, not to
# parse English. Negations and words of number, time and place have content here: “not” makes a
# different sentence.

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")

_EMPTY_WORDS = """
a an the this that these those such
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its
itself we us our ours ourselves they them their theirs themselves one ones oneself someone somebody
something anyone anybody anything s so sth sb o t pl sg
am is are was were be been being do does did done doing have has had having
will would shall should can could may might must ought let lets
of to in on at by for with from into onto as about than then
and or but nor if while because though although since until unless whether
who whom whose which what there here
very just too also even quite rather really still already
am's i'm you're he's she's it's we're they're i've you've we've they've i'll you'll he'll she'll it'll
we'll they'll i'd you'd he'd she'd we'd they'd that's there's let's e.g i.e etc esp usually used
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
"""Words without content of their own, and what dictionaries write for someone and something."""

_IRREGULAR_FORMS = """
be am is are was were been, bear bore borne born, become became, begin began begun, bite bit bitten, blow blew
blown, break broke broken, bring brought, build built, burn burnt, buy bought, catch caught, child children,
choose chose chosen, come came, cry cried cries, die died dying, dig dug, draw drew drawn, drink drank drunk,
drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt, fight fought, find found, fly flew
flown flies, foot feet, forget forgot forgotten, freeze froze frozen, get got gotten, give gave given, go went
gone goes going, good better best well, goose geese, grow grew grown, hang hung, hear heard, hide hid hidden,
hold held, keep kept, knife knives, know knew known, leaf leaves, leave left, lie lying lain, life lives, lose
lost, make made, man men, mean meant, meet met, moose mooses, mouse mice, no not don't doesn't didn't isn't
aren't wasn't weren't won't can't cannot couldn't shouldn't wouldn't haven't hasn't hadn't never, pay paid,
person people persons, ride rode ridden, ring rang rung, rise rose risen, run ran, say said, see saw seen,
seek sought, sell sold, send sent, sew sewn, shoot shot, sing sang sung, sit sat, sleep slept, speak spoke
spoken, stand stood, steal stole stolen, strike struck, swim swam swum, take took taken, teach taught, tear
tore torn, tell told, think thought, throw threw thrown, tooth teeth, understand understood, wake woke woken,
wear wore worn, wife wives, win won, wolf wolves, woman women, write wrote written
"""
_IRREGULAR = {form: base for base, *forms in map(str.split, _IRREGULAR_FORMS.split(",")) for form in forms}
_VOWELS = frozenset("aeiouy")


@lru_cache(maxsize=65536)
def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words of an English text that have content."""
    words = (word.casefold().replace("’", "'") for word in _WORD.findall(text))
    return frozenset(stem(word) for word in words if len(word) > 1 and word not in _EMPTY)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Reduce the forms of a folded word to one: sleeps, sleeping, slept."""
    word = word.removesuffix("'s")
    if word in _IRREGULAR:
        word = _IRREGULAR[word]
    for ending in ("ing", "ed", "es", "s"):
        rest = word[: -len(ending)]
        kept = ending == "s" and rest.endswith(("s", "u", "i"))  # glass, bus, analysis
        if word.endswith(ending) and len(rest) > 2 and not kept and not _VOWELS.isdisjoint(rest):
            return _bare(rest)
    return _bare(word)


def _bare(word: str) -> str:
    """Remove what a spelling rule leaves at the end: stopp(ed), danc(e), cri(ed)."""
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    return f"{word[:-1]}y" if len(word) > 2 and word.endswith("i") else word


_NUMBER = re.compile(r"\d+")
_MOST_KEPT = 50_000


class SemanticVerdict(StrEnum):
    """What an output says, measured by source and reference."""

    EXACT_MATCH = "EXACT_MATCH"
    VALID = "VALID"
    WRONG_ORDER = "WRONG_ORDER"
    PARTIAL = "PARTIAL"
    INCOMPLETE = "INCOMPLETE"
    WRONG = "WRONG"
    NO_OUTPUT = "NO_OUTPUT"


TENTHS = {
    SemanticVerdict.EXACT_MATCH: 10,
    SemanticVerdict.VALID: 10,
    SemanticVerdict.WRONG_ORDER: 7,
    SemanticVerdict.PARTIAL: 4,
    SemanticVerdict.INCOMPLETE: 3,
    SemanticVerdict.WRONG: 0,
    SemanticVerdict.NO_OUTPUT: 0,
}
"""Weight of each verdict, in tenths, so that sums stay whole numbers."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """One word of the target language with all that is known of it."""

    written: str
    """As it is in its text."""
    text: str
    """In the form for comparison: folded, in one spelling."""
    readings: tuple[TaggedWord, ...]
    lemmas: frozenset[str]
    glosses: frozenset[frozenset[str]]
    """Content words of each of its meanings."""
    empty: bool
    """True where it says nothing of its own."""
    known: bool
    """True where the analyser accepts it or the dictionary has it."""

    def explained_by(self, content: frozenset[str]) -> bool:
        """Return whether at least half of one meaning stands among these content words."""
        return any(2 * len(gloss & content) >= len(gloss) for gloss in self.glosses)

    def same_text(self, other: Meaning) -> bool:
        """Return whether two words have one form."""
        return self.text == other.text

    def shares_lemma(self, other: Meaning) -> bool:
        """Return whether two words have a dictionary form in common."""
        return not self.lemmas.isdisjoint(other.lemmas)

    def like(self, other: Meaning) -> bool:
        """Return whether two words have their form, dictionary form, or a whole meaning in common."""
        meanings = self.glosses & other.glosses
        return self.same_text(other) or self.shares_lemma(other) or bool(meanings)


@dataclass(frozen=True, slots=True)
class GrammarJudgement:
    """A verdict with its reasons; words are as they were written."""

    verdict: SemanticVerdict
    missing: tuple[str, ...] = ()
    """Reference words whose content is not in the output."""
    unexplained: tuple[str, ...] = ()
    """Known output words that neither source nor reference explains."""
    unknown: tuple[str, ...] = ()
    """Output words that neither analyser nor dictionary knows, and that the reference has not."""
    other_grammar: tuple[str, ...] = ()
    """Output words of a reference word's dictionary form with other tags."""
    reordered: bool = False


class Judge:
    """Judges outputs by one dictionary; remembers the words it has seen."""

    def __init__(
        self,
        glosses: Mapping[str, tuple[str, ...]],
        rules: VariantRules | None = None,
        spellings: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Initialise with lemma → glosses, the language's rules, and replacements that make spellings agree."""
        self._given = glosses
        self._rules = rules or VariantRules()
        self._equivalence = Equivalence(self._rules)
        self._spellings = tuple(spellings)
        self._may_be_missing = frozenset(self._rules.optional_particles)
        self._seen: dict[WordAnalysis, Meaning] = {}

    def judge(self, translation: Translation, annotation: FstAnnotation) -> GrammarJudgement:
        """Judge one output; the annotation holds the words of output and reference."""
        output, entry = translation.output, translation.entry
        if is_blank(output):
            return GrammarJudgement(SemanticVerdict.NO_OUTPUT)
        ours = [*map(self._meaning, annotation.output), *_numbers(output)]
        theirs = [*map(self._meaning, annotation.reference), *_numbers(entry.reference)]
        same = ours and [word.text for word in ours] == [word.text for word in theirs]
        if same or folded(output.strip()) == folded(entry.reference.strip()):
            return GrammarJudgement(SemanticVerdict.EXACT_MATCH)
        if self._equivalence.equivalent(output, entry.reference, entry.source, annotation):
            return GrammarJudgement(SemanticVerdict.VALID)
        source_content = content_words(entry.source).union(_NUMBER.findall(entry.source))
        matched = _matched(ours, theirs)
        strange = [
            word
            for place, word in enumerate(ours)
            if place not in matched and not word.empty and not word.explained_by(source_content)
        ]
        rest = iter(theirs)
        grammar_judgement = GrammarJudgement(
            SemanticVerdict.VALID,
            missing=tuple(
                word.written for place, word in enumerate(theirs) if place not in matched.values() and not word.empty
            ),
            unexplained=tuple(word.written for word in strange if word.known),
            unknown=tuple(word.written for word in strange if not word.known),
            other_grammar=tuple(
                ours[place].written
                for place, other in matched.items()
                if self._other_grammar(ours[place], theirs[other])
            ),
            reordered=not all(any(word.text == theirs[other].text for word in rest) for other in matched.values())
            and not self._equivalence.free_order(annotation),
        )
        return _with_verdict(grammar_judgement, max(_share(theirs, matched), _explained_share(source_content, ours)))

    def _meaning(self, word: WordAnalysis) -> Meaning:
        known = self._seen.get(word)
        if known is None:
            if len(self._seen) >= _MOST_KEPT:
                self._seen.clear()
            known = self._seen[word] = self._look_up(word)
        return known

    def _look_up(self, word: WordAnalysis) -> Meaning:
        text = self._form(word.word)
        readings = tuple(tagged_word(analysis) for analysis in word.analyses)
        lemmas = frozenset(self._form(reading.lemma) for reading in readings) or frozenset({text})
        entries = [self._glosses[lemma] for lemma in lemmas if lemma in self._glosses]
        glosses = frozenset(gloss for entry in entries for gloss in entry if gloss)
        return Meaning(
            written=word.word,
            text=text,
            readings=readings,
            lemmas=lemmas,
            glosses=glosses,
            empty=text in self._may_be_missing or (bool(entries) and not glosses),
            known=word.accepted is not None or bool(entries),
        )

    @cached_property
    def _glosses(self) -> dict[str, frozenset[frozenset[str]]]:
        """Return the content words of every meaning, by lemma in the form for comparison."""
        meanings_by_form: dict[str, frozenset[frozenset[str]]] = {}
        for lemma, glosses in self._given.items():
            meanings = frozenset(
                content_words(meaning)
                for gloss in glosses
                for meaning in [part for part in gloss.replace(";", ",").split(",") if part.strip()]
            )
            form = self._form(lemma)
            meanings_by_form[form] = meanings_by_form.get(form, frozenset()) | meanings
        return meanings_by_form

    def _form(self, word: str) -> str:
        form = folded(word)
        for one, other in self._spellings:
            form = form.replace(one, other)
        return form

    def _other_grammar(self, one: Meaning, other: Meaning) -> bool:
        """Return whether two words of one lemma can have no grammar in common."""
        if one.lemmas.isdisjoint(other.lemmas) or one.text == other.text:
            return False
        return self._grammars(one).isdisjoint(self._grammars(other))

    def _grammars(self, word: Meaning) -> set[tuple[str, frozenset[str]]]:
        """Return lemma and tags of each reading, as they are when “we” is not told apart."""
        return {
            (self._form(reading.lemma), speakerless(reading.tags, self._rules) or reading.tags)
            for reading in word.readings
        }


def _numbers(text: str) -> list[Meaning]:
    """Return the numbers of a text, which no analyser is asked about, as words that say themselves."""
    words = [(number, frozenset({number})) for number in _NUMBER.findall(text)]
    return [Meaning(word, word, (), own, frozenset({own}), False, True) for word, own in words]


def _matched(ours: Sequence[Meaning], theirs: Sequence[Meaning]) -> dict[int, int]:
    """Return places of output words → places of reference words, one to one, the closest kin first."""
    pairing: dict[int, int] = {}
    left, free = list(range(len(ours))), list(range(len(theirs)))
    for same in (Meaning.same_text, Meaning.shares_lemma, Meaning.like):
        for place in left:
            word = ours[place]
            for other in free:
                if same(word, theirs[other]):
                    pairing[place] = other
                    free.remove(other)
                    break
        left = [place for place in left if place not in pairing]
        if not left or not free:
            break
    return dict(sorted(pairing.items()))


def _share(theirs: Sequence[Meaning], matched: Mapping[int, int]) -> float:
    """Return the share of the reference's content that the output has."""
    content = [place for place, word in enumerate(theirs) if not word.empty]
    there = set(matched.values())
    return sum(place in there for place in content) / len(content) if content else 0.0


def _explained_share(said: frozenset[str], ours: Sequence[Meaning]) -> float:
    """Return the share of the source's content words that words of the output explain."""
    explained = {
        word
        for meaning in ours
        for gloss in meaning.glosses
        if 2 * len(gloss & said) >= len(gloss)
        for word in gloss & said
    }
    return len(explained) / len(said) if said else 0.0


def _with_verdict(found: GrammarJudgement, share: float) -> GrammarJudgement:
    if share == 0:
        verdict = SemanticVerdict.WRONG
    elif share < 0.5:
        verdict = SemanticVerdict.INCOMPLETE
    elif share < 1 or found.unexplained or found.unknown:
        verdict = SemanticVerdict.PARTIAL
    elif found.other_grammar or found.reordered:
        verdict = SemanticVerdict.WRONG_ORDER
    else:
        verdict = SemanticVerdict.VALID
    return replace(found, verdict=verdict)
