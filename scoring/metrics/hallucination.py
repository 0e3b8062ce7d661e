"""Hallucination: content of the output that nothing in the source accounts for (METRICS §4)."""

from __future__ import annotations

from collections.abc import Sequence

from scoring.core.messages import counted, listed, percent
from scoring.core.metric import Statistics, content_key, own_signature
from scoring.core.specification import metric_info
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker, ResourceRate
from scoring.words.bitext import LEAST_PAIRS
from scoring.words.bitext import SIGNATURE as CONTENT
from scoring.words.reading import SIGNATURE, Reading, capitalised, stem
from scoring.words.resources import Resources

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

    @property
    def signature(self) -> str:
        setup = self._setup
        return own_signature(
            f"alignment:{setup.alignment or 'none'}|terms:{content_key(setup.terms_sha256)}"
            f"|{CONTENT}|repeats:3 words,8 characters|{SIGNATURE}"
        )

    @property
    def why_missing(self) -> str:
        return "no output has a content word"

    def stats(self, translation: Translation) -> Statistics | None:
        unsupported, number = self._unsupported(translation)
        return (len(unsupported), number) if number else None

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
        sentences = (
            f"{len(kinds[lack])} of {some} {_is(kinds[lack])} {lack}: {listed(kinds[lack])}."
            for lack in _LACKS
            if lack in kinds
        )
        return tuple(sentences)

    def _unsupported(self, translation: Translation) -> tuple[list[tuple[str, str]], int]:
        """Return words and numbers without support, each with what it lacks, and how many are content."""
        bitext, entry = self._resources.bitext, translation.entry
        output = bitext.target.read(translation.output)
        source = bitext.source.read(entry.source)
        references = [bitext.target.read(text) for text in (entry.reference, *entry.variants)]
        repeated = _repeated(output, source, references)
        frequent = bitext.target_function_words
        content = [
            place
            for place, word in enumerate(output.words)
            if word not in frequent or place in repeated
        ]
        stems = references[0].stems.union(*(reference.stems for reference in references[1:]))
        words = [
            (output.written[place], _lack(output.words[place], place in repeated, source))
            for place in content
            if place in repeated
            or (
                stem(output.words[place]) not in stems
                and not self._accounted(place, output, source, translation)
            )
        ]
        numbers = [(number, _NEW) for number in _new_numbers(output, source, references)]
        return words + numbers, len(content) + len(output.numbers)

    def _accounted(
        self, place: int, output: Reading, source: Reading, translation: Translation
    ) -> bool:
        """Return whether the source has a name, a number or a word that a word of the output renders."""
        word = output.words[place]
        if not word.isalpha() and any(map(str.isdigit, word)):
            digits = self._resources.bitext.target.read(word).digits
            return word in source.distinct or digits <= source.digits
        if capitalised(output.written[place]) and _carried(word, source.names):
            return True
        alignment, beginning = self._resources.bitext.alignment, stem(word)
        if alignment and not alignment.links(beginning).keys().isdisjoint(source.stems):
            return True
        return bool(self._resources.terms.terms) and beginning in self._prescribed(
            translation.entry.source
        )

    def _prescribed(self, source: str) -> frozenset[str]:
        """Return the stems of all renderings of the dictionary's terms that are in a source."""
        read = self._resources.bitext.target.read
        terms = self._resources.terms.occurring(source)
        stems = (read(rendering).stems for term in terms for rendering in term.renderings)
        return frozenset[str]().union(*stems)


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
    return (
        f"the coaching dictionary knows {_per_cent(known)} of the content words of the sources; "
        f"{percent(LEAST_KNOWN)} are needed, or {LEAST_PAIRS} development entries to learn from"
    )


def _per_cent(share: float) -> str:
    """Round down, so that too little never looks like enough."""
    return percent(int(share * 100) / 100)


def _lack(word: str, repeated: bool, source: Reading) -> str:
    if repeated:
        return _AGAIN
    return _LEFT_OVER if word in source.distinct else _UNLINKED


def _is(words: Sequence[str]) -> str:
    return "is" if len(words) == 1 else "are"


def _repeated(output: Reading, source: Reading, references: list[Reading]) -> frozenset[int]:
    """Return the places of words said again beyond what source and references repeat themselves."""
    if not output.repeats:
        return frozenset()
    own = max(len(reading.repeats) for reading in (source, *references))
    return frozenset(output.repeats[own:])


def _carried(word: str, names: frozenset[str]) -> bool:
    """Return whether a capitalised word is a name of the source, or begins with one and has an ending."""
    return word in names or any(len(name) > 2 and word.startswith(name) for name in names)


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


METRICS = {"hallucination_rate": Maker(Hallucination, why_no_hallucination)}
