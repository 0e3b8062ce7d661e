"""Code-switching, hallucination, terminology adherence and consistency (METRICS §4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from functools import cached_property, lru_cache

from corpora.model.entry import Entry
from corpora.text.messages import counted, listed, percent
from corpora.text.tokens import folded
from scoring.core.metric import CorpusMetric, Statistics, analyser_key, card_key, content_key, own_signature
from scoring.core.setup import Translation
from scoring.core.specification import metric_info
from scoring.metrics.maker import Maker, ResourceRate
from scoring.words.bitext import LEAST_PAIRS, LEAST_STEM, DictionaryTerm, Renderings
from scoring.words.bitext import SIGNATURE as CONTENT
from scoring.words.reading import SIGNATURE, STEM, Reading, capitalised, stem
from scoring.words.source_words import QUOTED, LanguageSide, Resources, Sides, languages_alike


class CodeSwitching(ResourceRate):
    """Words that are the source language's and not the target's / words, 0–1, lower is better.

    A word is the target's if the analyser accepts it, or it is in references, in prescribed renderings
    or among the card's loan words. It is the source's if its script is only the source's, or it is a common
    word of the source language or is in this entry's source (two letters or more). Names carried over,
    words with digits, placeholders and addresses are no words here. Source: scoring-specification §2.4.
    Null for an output without a word, an empty one too.
    """

    info = metric_info("code_switching_rate")
    reads_source = True
    why_missing = "no output has a word besides names and numbers"

    @property
    def signature(self) -> str:
        setup = self._setup
        return own_signature(
            f"source:{setup.source_language}|list:{setup.word_list or 'none'}"
            f"|analyser:{analyser_key(setup)}|card:{card_key(setup)}"
            f"|terms:{content_key(setup.terms_sha256)}|quoted:{QUOTED}|{SIGNATURE}"
        )

    def stats(self, translation: Translation) -> Statistics | None:
        foreign, number = self._foreign(translation)
        return (len(foreign), number) if number else None

    def explain(self, translation: Translation) -> tuple[str, ...]:
        foreign, number = self._foreign(translation)
        if not foreign:
            return ()
        card = self._resources.source_card
        language = card.name if card else self._setup.source_language
        are = "is" if len(foreign) == 1 else "are"
        share = f"{len(foreign)} of {counted(number, 'word')}"
        return (f"{share} {are} {language}: {listed(foreign)}.",)

    @cached_property
    def _sides(self) -> Sides:
        return Sides(self._resources)

    def _foreign(self, translation: Translation) -> tuple[list[str], int]:
        """Return the source language's words as they are in the output, and how many words there are."""
        bitext = self._resources.bitext
        output = bitext.target.read(translation.output)
        if not output.words:
            return [], 0
        source = bitext.source.read(translation.entry.source)
        names, side = source.names, self._sides.side
        if names and not (self._sides.capitals_tell_names and len(names) * 2 <= len(source.words)):
            # Where capitals are common, common words are no names.
            names = frozenset(name for name in names if not self._sides.listed(name))
        sides = list(map(side, output.words))
        if sides.count(LanguageSide.TARGET) == len(sides) and names.isdisjoint(output.distinct):
            return [], len(sides)  # as most outputs are
        number, suspects, given = 0, [], source.distinct
        for word, written, language_side in zip(output.words, output.written, sides, strict=True):
            if language_side is LanguageSide.NONE or (names and word in names and capitalised(written)):
                continue
            number += 1
            if language_side is LanguageSide.SOURCE or (
                language_side is LanguageSide.UNKNOWN and len(word) > 1 and word in given
            ):
                suspects.append((word, written))
        known = self._known(translation) if suspects else frozenset()
        return [written for word, written in suspects if word not in known], number

    def _known(self, translation: Translation) -> frozenset[str]:
        """Return the words of this entry's references, and those of the output that the analyser accepts."""
        read, entry = self._resources.bitext.target.read, translation.entry
        texts = (entry.reference, *entry.variants)
        known = frozenset[str]().union(*(read(text).distinct for text in texts))
        if (fst := translation.fst) is None:
            return known
        return known.union(folded(word.word) for word in fst.output if word.accepted is not None)


def why_no_code_switching(resources: Resources) -> str | None:
    """Return why words cannot be told apart: source and target are one language, or nearly."""
    alike = resources.entries and languages_alike(resources)
    why = "source and target share most of their words, so that a word does not tell its language"
    return why if alike else None


# ---- Hallucination: content of the output that nothing in the source accounts for (METRICS §4).

LEAST_KNOWN = 0.25
"""Share of the sources' running content words that a dictionary alone has to know."""
_UNLINKED = "neither in the reference nor linked by a known word pair to the source"
_LEFT_OVER = "left over from the source"
_AGAIN = "said again"
_NEW = "in neither source nor reference"
_LACKS = (_UNLINKED, _NEW, _LEFT_OVER, _AGAIN)
"""What a word or number without support lacks, in the order in which it is told."""


class Hallucination(ResourceRate):
    """Content words of the output without support / its content words, 0–1, lower is better.

    Content words are all but the frequent words of the references; numbers are content always. Support: the
    word is in a reference or variant (first five letters), renders a source word by the dictionary or
    by a link of the alignment, or is a name or number of the source. A sequence that is said again, more
    often than source and reference repeat themselves, is without support. Null for an output without
    content, an empty one too, and in a run without dictionary and alignment. Source: scoring-specification
    §2.4.
    """

    info = metric_info("hallucination_rate")
    reads_source = True
    why_missing = "no output has a content word"

    @property
    def signature(self) -> str:
        setup = self._setup
        return own_signature(
            f"alignment:{setup.alignment or 'none'}|terms:{content_key(setup.terms_sha256)}"
            f"|{CONTENT}|repeats:3 words,8 characters|{SIGNATURE}"
        )

    def stats(self, translation: Translation) -> Statistics | None:
        bitext, entry = self._resources.bitext, translation.entry
        output = bitext.target.read(translation.output)
        if output.digits or output.repeats or self._resources.terms.terms or bitext.source.read(entry.source).names:
            unsupported, number = self._unsupported(translation)
            return (len(unsupported), number) if number else None
        # Stems alone tell it, as of most outputs.
        frequent = bitext.target_function_words
        content = [word[:STEM] for word in output.words if word not in frequent]
        if not content:
            return None
        unknown = content
        for text in (entry.reference, *entry.variants):
            stems = bitext.target.read(text).stems
            unknown = [word for word in unknown if word not in stems]
        linked = self._linked(entry.source) if unknown else frozenset[str]()
        return (sum(word not in linked for word in unknown), len(content))

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Name the words without support, and say of each kind what was looked for.

        “2 of 5 content words are neither in the reference nor linked by a known word pair to the source:
        karakoko, 7”.
        """
        unsupported, number = self._unsupported(translation)
        if not unsupported:
            return ()
        kinds: dict[str, list[str]] = {}
        for word, lack in unsupported:
            kinds.setdefault(lack, []).append(word)
        some = counted(number, "content word")
        sentences = []
        for lack in filter(kinds.__contains__, _LACKS):
            words, are = kinds[lack], "is" if len(kinds[lack]) == 1 else "are"
            sentences.append(f"{len(words)} of {some} {are} {lack}: {listed(words)}.")
        return tuple(sentences)

    def _unsupported(self, translation: Translation) -> tuple[list[tuple[str, str]], int]:
        """Return words and numbers without support, each with what it lacks, and how many are content."""
        bitext, entry = self._resources.bitext, translation.entry
        output = bitext.target.read(translation.output)
        if not (output.words or output.numbers):
            return [], 0
        source = bitext.source.read(entry.source)
        references = [bitext.target.read(text) for text in (entry.reference, *entry.variants)]
        # Words said again beyond what source and references repeat themselves.
        own = max(len(reading.repeats) for reading in (source, *references)) if output.repeats else 0
        repeated = frozenset(output.repeats[own:])
        frequent = bitext.target_function_words
        stems = references[0].stems.union(*(reference.stems for reference in references[1:]))
        linked = self._linked(entry.source)
        may_account = bool(source.names or self._resources.terms.terms)
        words, content = [], 0
        for place, (word, written) in enumerate(zip(output.words, output.written, strict=True)):
            if place in repeated:
                words.append((written, _AGAIN))
            elif word in frequent:
                continue
            elif (beginning := word[:STEM]) not in stems and not (
                (beginning in linked and not any(map(str.isdecimal, word)))
                or ((may_account or not word.isalpha()) and self._accounted(word, written, source, entry))
            ):
                words.append((written, _LEFT_OVER if word in source.distinct else _UNLINKED))
            content += 1
        numbers = [(number, _NEW) for number in _new_numbers(output, source, references)]
        return words + numbers, content + len(output.numbers)

    @cached_property
    def _linked(self) -> Callable[[str], Set[str]]:
        """Find the stems that render a word of a source; kept, for floors ask several times of each."""
        return lru_cache(maxsize=128)(self._find_linked)  # the floors of one block of entries

    def _find_linked(self, source: str) -> Set[str]:
        bitext = self._resources.bitext
        return bitext.alignment.renderings(bitext.source.read(source).stems) if bitext.alignment else frozenset()

    def _accounted(self, word: str, written: str, source: Reading, entry: Entry) -> bool:
        """Return whether the source has a name, a number or a term that a word of the output renders."""
        if not word.isalpha() and any(map(str.isdecimal, word)):
            digits = self._resources.bitext.target.read(word).digits
            return word in source.distinct or digits <= source.digits
        # A capitalised word may be a name of the source, or begin with one and have an ending.
        if (source.names and capitalised(written)) and (
            word in source.names or any(len(name) > 2 and word.startswith(name) for name in source.names)
        ):
            return True
        dictionary = self._resources.terms
        if not dictionary.terms:
            return False
        read, beginning = self._resources.bitext.target.read, stem(word)
        terms = dictionary.occurring(entry.source)
        return any(beginning in read(text).stems for term in terms for text in term.renderings)


def why_no_hallucination(resources: Resources) -> str | None:
    """Return that nothing, or too little, shows which words translate which, or None."""
    if resources.setup.alignment:
        return None
    if not resources.setup.terms:
        return (
            "there is neither a coaching dictionary nor enough development entries to learn from "
            f"({LEAST_PAIRS} are needed)"
        )
    sources = (entry.source for entry in resources.entries)
    known = resources.terms.coverage(sources, resources.bitext.source_function_words)
    if known >= LEAST_KNOWN:
        return None
    shown = percent(int(known * 100) / 100)  # rounded down: too little never looks like enough
    return (
        f"the coaching dictionary knows {shown} of the content words of the sources; "
        f"{percent(LEAST_KNOWN)} are needed, or {LEAST_PAIRS} development entries to learn from"
    )


def _new_numbers(output: Reading, source: Reading, references: list[Reading]) -> list[str]:
    """Return the numbers of the output that stand neither in the source nor in a reference."""
    if not output.numbers:
        return []
    known = source.digits.union(*(reference.digits for reference in references))
    return [
        number[0]
        for number in output.numbers
        if number[0] not in known and (len(number) == 1 or not known.issuperset(number[1:]))
    ]


# ---- Terminology adherence: whether the output respects prescribed vocabulary (METRICS §4).


class TerminologyAdherence(ResourceRate):
    """Prescribed terms that the output renders as prescribed / those that apply, 0–1, higher is better.

    A term applies where it is in the source and the reference or a variant renders it as prescribed:
    elsewhere it has another sense (the key of a keyboard) and the dictionary is wrong for the sentence. What
    the output says decides nothing of that. Each term counts once an entry, of terms inside one another the
    longest; an empty output keeps none. Null where no term applies. Source: scoring-specification §2.4.
    """

    info = metric_info("terminology_adherence")
    reads_source = True
    why_missing = "no prescribed term applies to an entry"

    @property
    def signature(self) -> str:
        setup = self._setup
        return own_signature(
            f"terms:{content_key(setup.terms_sha256)}|analyser:{analyser_key(setup)}"
            f"|card:{card_key(setup)}|stem:>={LEAST_STEM}|applies:references"
        )

    @cached_property
    def _renderings(self) -> Renderings:
        return renderings(self._resources)

    def stats(self, translation: Translation) -> Statistics | None:
        terms = self._applying(translation)
        if not terms:
            return None
        renderings = self._renderings.found(terms, translation)
        return (sum(has is not None for has in renderings), len(terms))

    def explain(self, translation: Translation) -> tuple[str, ...]:
        terms = self._applying(translation)
        lacking = [
            f"“{' '.join(term.source)}” should be {' or '.join(term.renderings)}"
            for term, has in zip(terms, self._renderings.found(terms, translation), strict=True)
            if has is None
        ]
        return (f"{'; '.join(lacking)}.",) if lacking else ()

    def _applying(self, translation: Translation) -> list[DictionaryTerm]:
        """Return the terms that apply to an entry, worked out once whatever the outputs say."""
        entry = translation.entry
        key = (entry.source, entry.reference, entry.variants, "fst" in translation.annotations)
        applying = self._known.get(key)
        if applying is None:
            terms = self._resources.terms.applying(entry.source)
            expected = self._renderings.expected(terms, translation) if terms else []
            applying = [term for term, wanted in zip(terms, expected, strict=True) if wanted]
            self._known[key] = applying
        return applying

    @cached_property
    def _known(self) -> dict[tuple[str, str, tuple[str, ...], bool], list[DictionaryTerm]]:
        """By what decides; there are no more than entries."""
        return {}


def renderings(resources: Resources) -> Renderings:
    """Make what finds renderings in the target language's outputs."""
    endings = resources.card.affixes if resources.card else ()
    return Renderings(resources.bitext.target, endings)


def why_no_terminology(resources: Resources) -> str | None:
    """Return that nothing is prescribed, or None."""
    return None if resources.setup.terms else "no terms are prescribed: give a dictionary"


# ---- Consistency: whether a term is rendered alike across the entries of a run (METRICS §4).


class Consistency(CorpusMetric):
    """Occurrences rendered with their term's most frequent rendering / occurrences, 0–1, higher is better.

    Terms are those of the coaching dictionary, without one the content words of the sources with their
    links of the alignment; only what is in two entries or more counts. An occurrence without a
    recognisable rendering (an empty output too) stays in the denominator. Null where nothing repeats.
    Source: scoring-specification §2.4.
    """

    info = metric_info("consistency_score")
    why_missing = "no term is in two entries"

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    @property
    def signature(self) -> str:
        setup = self._resources.setup
        of = (
            f"terms:{content_key(setup.terms_sha256)}|card:{card_key(setup)}|analyser:{analyser_key(setup)}"
            if setup.terms
            else f"alignment:{setup.alignment or 'none'}|{CONTENT}"
        )
        return own_signature(of)

    def corpus_value(self, translations: Sequence[Translation]) -> float | None:
        agreement_of = self._by_terms if self._resources.setup.terms else self._by_links
        renderings_of: dict[object, list[str | None]] = {}
        for term, rendering in agreement_of(translations):
            renderings_of.setdefault(term, []).append(rendering)
        agreeing = occurrences = 0
        for seen in renderings_of.values():
            if len(seen) > 1:
                occurrences += len(seen)
                counts = Counter(rendering for rendering in seen if rendering is not None)
                agreeing += max(counts.values(), default=0)
        return agreeing / occurrences if occurrences else None

    def _by_terms(self, translations: Sequence[Translation]) -> Iterable[tuple[object, str | None]]:
        """Yield each term of each entry with the rendering that the output has."""
        finder, terms = renderings(self._resources), self._resources.terms
        for translation in translations:
            applying = terms.applying(translation.entry.source)
            yield from zip(applying, finder.found(applying, translation), strict=True)

    def _by_links(self, translations: Sequence[Translation]) -> Iterable[tuple[object, str | None]]:
        """Yield each content word of each source with the stem in the output that translates it best."""
        bitext = self._resources.bitext
        if bitext.alignment is None:
            return
        for translation in translations:
            source = bitext.source.read(translation.entry.source)
            content = source.distinct - bitext.source_function_words
            stems = frozenset(map(stem, content))
            best: dict[str, tuple[float, str]] = {}
            for target in bitext.target.read(translation.output).stems:
                links = bitext.alignment.links(target)
                for word in links.keys() & stems:
                    link = (links[word], target)
                    if word not in best or link > best[word]:
                        best[word] = link
            for word in content:
                yield word, best.get(stem(word), (0.0, None))[1]


def why_no_consistency(resources: Resources) -> str | None:
    """Return that nothing shows which words render which, or None."""
    if resources.setup.terms or resources.setup.alignment:
        return None
    return "there is neither a coaching dictionary nor an alignment, by which renderings are known"


METRICS = {
    "code_switching_rate": Maker(CodeSwitching, why_no_code_switching),
    "hallucination_rate": Maker(Hallucination, why_no_hallucination),
    "terminology_adherence": Maker(TerminologyAdherence, why_no_terminology),
    "consistency_score": Maker(Consistency, why_no_consistency),
}
