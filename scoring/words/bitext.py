"""What a corpus itself shows of its two languages: frequent words, and which words translate which."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain, islice, pairwise

import numpy as np
import numpy.typing as npt

from corpora.files.packed_list import HashSet
from corpora.model.entry import Entry, OpenEntry
from corpora.text.comparison import alike
from corpora.text.tokens import folded
from scoring.core.metric import FloatArray
from scoring.core.setup import Translation, WordAnalysis
from scoring.grammar.gold_analysis import tagged_word
from scoring.words.reading import Reader, reader, stem

# ---- Word links learned from a corpus' own sentence pairs: IBM model 1 (Brown et al. 1993, “The
# Mathematics of Statistical Machine Translation”).
#
# The model asks, for each source word, how likely each target word is as its translation, and
# needs nothing but pairs: no tool, no download, no language knowledge. From "la maison – the house"
# and "la fleur – the flower" it learns that "maison" is "house": in round 1 each target word is
# shared out over null word, "la" and "maison" alike, 1/3 each, which makes t(house | la) = 1/4,
# for "la" is in two sentences, and t(house | maison) = 1/2. So in round 2 "maison" gets 1/2 of
# "house" and 1/3 of "the": t = (1/2) / (1/2 + 1/3) = 0.60. After 5 rounds it is 0.84.

LEAST_PAIRS = 200
"""With fewer pairs nearly every word is seen once, and one sight links it to all words around it."""
MOST_PAIRS = 5000
ROUNDS = 5
LEAST_LINK = 0.01
"""Probability from which a target word counts as a translation of a source word."""
IntArray = npt.NDArray[np.int64]
NumberArray = npt.NDArray[np.int32]
TOGETHER = 100_000
"""Pairings of words over which target words are shared out together."""


class Alignment:
    """Which target words are translations of which source words."""

    def __init__(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> None:
        """Learn from (source words, target words) of each pair; a pair with an empty side is left out.

        The same pairs in the same order give the same links.
        """
        full = [(source, target) for source, target in pairs if source and target][:MOST_PAIRS]
        self.pairs = len(full)
        """How many pairs it was learned from."""
        self._sources = ["", *sorted(set(chain.from_iterable(source for source, _ in full)))]
        self._targets = sorted(set(chain.from_iterable(target for _, target in full)))
        source_number, target_number = _numbers(self._sources), _numbers(self._targets)
        source, target, probability = ibm1(
            [[0, *(source_number[word] for word in words)] for words, _ in full],
            [[target_number[word] for word in words] for _, words in full],
        )
        kept = np.flatnonzero((probability >= LEAST_LINK) & (source > 0))
        self._linked, self._linking, self._probability = source[kept], target[kept], probability[kept]
        """Numbers of the source word and of the target word of each link, by source word, and its probability."""
        self._by_target = np.argsort(self._linking, kind="stable").astype(np.int32)
        """Places of the links by target word."""
        self._first_of_source = np.searchsorted(self._linked, np.arange(len(self._sources) + 1))
        self._first_of_target = np.searchsorted(self._linking[self._by_target], np.arange(len(self._targets) + 1))
        self.links = lru_cache(maxsize=4096)(self._links)  # of the most frequent target words
        """Return the source words that a target word translates, with the probability of each, 0–1."""

    def _links(self, target: str) -> Mapping[str, float]:
        places = self._by_target[_span(target, self._targets, self._first_of_target)]
        sources = map(self._sources.__getitem__, self._linked[places].tolist())
        return dict(zip(sources, self._probability[places].tolist(), strict=True))

    def renderings(self, sources: Iterable[str]) -> frozenset[str]:
        """Return the target words that translate any of some source words."""
        spans = (_span(word, self._sources, self._first_of_source) for word in sources)
        numbers = chain.from_iterable(self._linking[span].tolist() for span in spans)
        return frozenset(map(self._targets.__getitem__, numbers))


def _numbers(words: Sequence[str]) -> dict[str, int]:
    return {word: number for number, word in enumerate(words)}


def _span(word: str, words: Sequence[str], first: IntArray) -> slice:
    """Return where the links of a word are; ``first`` says it of each of the words, which are sorted."""
    number = bisect_left(words, word)
    if number == len(words) or words[number] != word:
        return slice(0)
    return slice(first[number], first[number + 1])


def ibm1(
    sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], rounds: int = ROUNDS
) -> tuple[NumberArray, NumberArray, FloatArray]:
    """Estimate t(target word | source word) by expectation maximisation from a uniform start.

    Sentences are sequences of word numbers, none empty; a null word is a source word like any other. Gives
    source words, target words and probabilities of every pair of words that stand together in a sentence pair.
    """
    if not sources:
        return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
    token, key, words = _pairings(sources, targets)
    order = key.argsort()  # as np.unique does, which holds twice as much of it at once
    key = key[order]
    begins = np.concatenate(([True], key[1:] != key[:-1]))
    source, target = (part.astype(np.int32) for part in np.divmod(key[begins], words))
    del key
    kind = np.empty(len(order), np.int32)
    kind[order] = np.cumsum(begins, dtype=np.int32) - 1
    del order, begins
    edges = np.unique([*np.searchsorted(token, token[::TOGETHER]), len(token)])
    blocks = [(kind[first:last], token[first:last] - token[first]) for first, last in pairwise(edges.tolist())]
    del token
    probability = np.full(len(source), 1.0 / words)
    for _ in range(rounds):
        counted = np.zeros(len(source))
        for own, of_token in blocks:
            # expectation: each target token is shared out over the source tokens of its sentence
            share = probability[own]
            share /= np.bincount(of_token, share)[of_token]
            # maximisation: what each source word got, as shares of all that it got
            np.add.at(counted, own, share)
        probability = counted
        probability /= np.bincount(source, counted)[source]
    return source, target, probability


def _pairings(
    sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> tuple[NumberArray, NumberArray | IntArray, int]:
    """Pair each target token with each source token of its sentence.

    Gives the number of the target token, the pair of words as one number, and the number of target words. Of the
    sources (0 1) and (0 2) and the targets (0 1) and (2) the tokens are 0 0 1 1 2 2; with 3 target words their keys are
    0·3+0, 1·3+0, 0·3+1, 1·3+1, 0·3+2, 2·3+2.
    """
    source, source_sizes = _flat(sources)
    target, target_sizes = _flat(targets)
    words = int(target.max()) + 1
    most = max(int(source_sizes @ target_sizes), (int(source.max()) + 1) * words)
    whole = np.int32 if most < 2**31 else np.int64
    sizes = np.repeat(source_sizes, target_sizes)
    token = np.repeat(np.arange(len(target), dtype=np.int32), sizes)
    begins = np.repeat(np.cumsum(source_sizes) - source_sizes, target_sizes) - (np.cumsum(sizes) - sizes)
    place = begins.astype(whole)[token]
    place += np.arange(len(token), dtype=whole)
    key = source.astype(whole)[place]
    del place
    key *= words
    key += target.astype(whole)[token]
    return token, key, words


def _flat(sentences: Iterable[Sequence[int]]) -> tuple[IntArray, IntArray]:
    listed = list(sentences)
    sizes = np.fromiter(map(len, listed), np.int64, len(listed))
    return np.fromiter(chain.from_iterable(listed), np.int64, int(sizes.sum())), sizes


FREQUENT = 0.02
"""Share of texts from which a word counts as a function word: it tells nothing of what a text is about."""
LEAST_TEXTS = 3
"""In a small corpus a word of two texts is not yet frequent."""
SIGNATURE = f"stem:5|function-words:>{FREQUENT:.0%},>={LEAST_TEXTS}"


class Bitext:
    """A corpus with the readers of its two languages; everything is worked out where first used."""

    def __init__(self, source: Reader, target: Reader, entries: Sequence[Entry], pairs: Sequence[OpenEntry]) -> None:
        """Initialise with the entries of a run and the development entries of its corpus (none that is secret)."""
        self.source, self.target = source, target
        self._entries, self._pairs = entries, pairs

    def _all(self) -> Iterator[Entry]:
        """Yield each entry and each pair once."""
        seen = HashSet()  # of texts: the numbers -1 and -2 have one hash
        return (entry for entry in chain(self._entries, self._pairs) if seen.add(str(entry.id)))

    @cached_property
    def _count(self) -> int:
        return sum(1 for _ in self._all())

    @cached_property
    def source_frequencies(self) -> Counter[str]:
        """In how many sources each folded word stands."""
        return _frequencies(self.source, (entry.source for entry in self._all()))

    @cached_property
    def target_frequencies(self) -> Counter[str]:
        """In how many references and variants each folded word stands."""
        texts = (text for entry in self._all() for text in (entry.reference, *entry.variants))
        return _frequencies(self.target, texts)

    @cached_property
    def source_function_words(self) -> frozenset[str]:
        """Frequent words of the sources."""
        return _function_words(self.source_frequencies, self._count)

    @cached_property
    def target_function_words(self) -> frozenset[str]:
        """Frequent words of the references."""
        references = self.target_frequencies
        if any(entry.variants for entry in self._all()):
            references = _frequencies(self.target, (entry.reference for entry in self._all()))
        return _function_words(references, self._count)

    @cached_property
    def alignment(self) -> Alignment | None:
        """Links between stems of content words; None under LEAST_PAIRS pairs."""
        pairs = alignable(self._pairs)
        if len(pairs) < LEAST_PAIRS:
            return None
        sources = _content(self.source, self.source_function_words, (pair.source for pair in pairs))
        references = (pair.reference for pair in pairs)
        targets = _content(self.target, self.target_function_words, references)
        return Alignment(list(zip(sources, targets, strict=True)))


def alignable(pairs: Sequence[OpenEntry]) -> list[OpenEntry]:
    """Return the pairs from which an alignment is learned: with two texts, the first 5,000."""
    return list(islice((pair for pair in pairs if pair.source.strip() and pair.reference.strip()), MOST_PAIRS))


def alignment_name(pairs: Sequence[OpenEntry]) -> str | None:
    """Name the alignment that these pairs give, for ``ScoringSetup.alignment``; None where they give none."""
    number = len(alignable(pairs))
    name = f"IBM model 1, {ROUNDS} rounds, links from {LEAST_LINK}, {number:,} pairs"
    return name if number >= LEAST_PAIRS else None


def _content(reader: Reader, function_words: frozenset[str], texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield the stems of the content words of each text."""
    for text in texts:
        yield [stem(word) for word in reader.read(text).words if word not in function_words]


def _frequencies(reader: Reader, texts: Iterable[str]) -> Counter[str]:
    frequencies: Counter[str] = Counter()
    for text in texts:
        frequencies.update(reader.distinct(text))
    return frequencies


def _function_words(frequencies: Counter[str], texts: int) -> frozenset[str]:
    least = max(LEAST_TEXTS, FREQUENT * texts)
    return frozenset(word for word, number in frequencies.items() if number >= least)


# ---- Prescribed terms: source phrases with the renderings that count as right (scoring-
# specification §2.4).
#
# Finding a term's rendering in an output, in whatever form the sentence asks for (METRICS §4).


@dataclass(frozen=True, slots=True)
class DictionaryTerm:
    """One line of the coaching dictionary."""

    source: tuple[str, ...]
    """Words of the source phrase, folded."""
    renderings: tuple[str, ...]
    """Target phrases as the dictionary writes them, best first."""


@dataclass(frozen=True, slots=True)
class _Place:
    term: DictionaryTerm
    first: int
    last: int

    def inside(self, other: _Place) -> bool:
        """Return whether a longer term covers this one."""
        longer = other.last - other.first > self.last - self.first
        return longer and other.first <= self.first and self.last <= other.last


class Terminology:
    """Finds prescribed terms in a source text."""

    def __init__(
        self, pairs: Iterable[tuple[str, tuple[str, ...]]], sha256: str = "", languages: tuple[str, str] = ("", "")
    ) -> None:
        """Initialise with (source phrase, renderings) pairs; ``sha256`` names the file they come from.

        Phrases that differ in case only are one term; a phrase without a word or a rendering is none. ``languages``:
        shortest tags of source and target, as ``alike`` takes them.
        """
        self.sha256 = sha256
        source, target = languages
        self._read = reader().read
        renderings: dict[tuple[str, ...], dict[str, None]] = {}
        for phrase, targets in pairs:
            written = [alike(text, target) for text in targets if text.strip()]
            if (words := self._read(alike(phrase, source)).words) and written:
                renderings.setdefault(words, {}).update(dict.fromkeys(written))
        self.terms = tuple(DictionaryTerm(key, tuple(texts)) for key, texts in renderings.items())
        self._by_first: dict[str, list[DictionaryTerm]] = {}
        for term in self.terms:
            self._by_first.setdefault(term.source[0], []).append(term)
        self._places = lru_cache(maxsize=8192)(lambda text: tuple(self._find(text)))

    def __len__(self) -> int:
        return len(self.terms)

    def occurring(self, text: str) -> tuple[DictionaryTerm, ...]:
        """Return every term whose words are in a text in its order, each once; case is ignored."""
        return tuple(dict.fromkeys(place.term for place in self._places(text)))

    def applying(self, text: str) -> tuple[DictionaryTerm, ...]:
        """Return the terms that a text asks for: of terms inside one another only the longest."""
        places = self._places(text)
        outer = (place for place in places if not any(place.inside(other) for other in places))
        return tuple(dict.fromkeys(place.term for place in outer))

    def coverage(self, texts: Iterable[str], function_words: Collection[str]) -> float:
        """Return the share of the running words of some texts that are in a term, 0–1; 0 without a word.

        Function words count on neither side: nobody lists them, and half of a text are such.
        """
        known = total = 0
        for text in texts:
            inside = {at for place in self._places(text) for at in range(place.first, place.last)}
            words = enumerate(self._read(text).words)
            content = [at for at, word in words if word not in function_words]
            total += len(content)
            known += len(inside.intersection(content))
        return known / total if total else 0.0

    def _find(self, text: str) -> Iterator[_Place]:
        words = self._read(text).words
        for first, word in enumerate(words):
            for term in self._by_first.get(word, ()):
                last = first + len(term.source)
                if words[first:last] == term.source:
                    yield _Place(term, first, last)


@cache
def no_terms() -> Terminology:
    """Return a terminology without terms."""
    return Terminology(())


LEAST_STEM = 3
"""Letters that must stay when an ending is taken off."""


class Renderings:
    """Finds renderings by lemma where the analyser gives one, else by word with the card's endings."""

    def __init__(self, target: Reader, endings: Iterable[str]) -> None:
        self._target = target
        self._endings = tuple(folded(ending.lstrip("-")) for ending in endings if ending.strip("-"))
        self._forms = lru_cache(maxsize=16_384)(self._stripped)
        self._plain = lru_cache(maxsize=8192)(
            lambda text: [self._forms(word) for word in self._target.read(text).words]
        )

    def found(self, terms: Sequence[DictionaryTerm], translation: Translation) -> list[str | None]:
        """Return for each term the first of its renderings that is in the output, None where none does."""
        fst = translation.fst
        lemmas = _lemmas((*fst.reference, *fst.output)) if fst else {}
        return self._found_in(translation.output, terms, lemmas)

    def expected(self, terms: Sequence[DictionaryTerm], translation: Translation) -> list[bool]:
        """Return for each term whether the reference or a variant renders it so; the output has no say.

        Without any reference all terms are expected.
        """
        entry, fst = translation.entry, translation.fst
        texts = [text for text in (entry.reference, *entry.variants) if text.strip()]
        lemmas = _lemmas(fst.reference) if fst else {}
        rows = [self._found_in(text, terms, lemmas) for text in texts]
        places = range(len(terms))
        return [not rows or any(row[at] is not None for row in rows) for at in places]

    def _found_in(
        self, text: str, terms: Sequence[DictionaryTerm], lemmas: Mapping[str, frozenset[str]]
    ) -> list[str | None]:
        written = self._plain(text)
        if lemmas:  # for each word the forms in which a rendering may have it
            words = self._target.read(text).words
            known = zip(words, written, strict=True)
            written = [lemmas[word] | {word} if word in lemmas else forms for word, forms in known]
        anywhere = frozenset[str]().union(*written)
        return [
            next((to for to in term.renderings if self._stands(to, written, anywhere, lemmas)), None) for term in terms
        ]

    def _stands(
        self,
        rendering: str,
        written: list[frozenset[str]],
        anywhere: frozenset[str],
        lemmas: Mapping[str, frozenset[str]],
    ) -> bool:
        words = self._target.read(rendering).words
        if not words or self._wanted(words[0], lemmas).isdisjoint(anywhere):
            return False
        wanted = [self._wanted(word, lemmas) for word in words]
        starts = range(len(written) - len(wanted) + 1)
        places = (zip(wanted, written[start:], strict=False) for start in starts)
        return any(all(not forms.isdisjoint(there) for forms, there in pairs) for pairs in places)

    def _wanted(self, word: str, lemmas: Mapping[str, frozenset[str]]) -> frozenset[str]:
        """Return the forms of a rendering's word: an output may add an ending to it or to its stem, but a
        bare stem is another word (English “long” for Esperanto “longa”)."""
        return self._forms(word) | lemmas.get(word, frozenset()) | {f"{word}-"}

    def _stripped(self, word: str) -> frozenset[str]:
        """Return a folded word, and what stays without each ending marked as a stem with a hyphen."""
        endings = (ending for ending in self._endings if word.endswith(ending))
        stems = (word.removesuffix(ending) for ending in endings)
        return frozenset({word, *(f"{stem}-" for stem in stems if len(stem) >= LEAST_STEM)})


def _lemmas(words: Iterable[WordAnalysis]) -> dict[str, frozenset[str]]:
    """Return the lemmas of the words that the analyser knows, folded; of an acceptor there are none."""
    return {_folded(word.word): _lemmas_of(word.analyses) for word in words if word.analyses}


_folded = lru_cache(maxsize=16_384)(folded)


@lru_cache(maxsize=16_384)
def _lemmas_of(analyses: tuple[str, ...]) -> frozenset[str]:
    """Return the lemmas of analyser strings; the parts of a compound are written as one word."""
    return frozenset(tagged_word(analysis).key.replace("#", "") for analysis in analyses)
