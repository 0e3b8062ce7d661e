"""How an answer is arranged: length, wealth of words, structure and pace (response-quality-metrics).

Every value is full; three decimals are for showing. Only ``overall`` weighs the parts as they are shown, so that
it can be checked with them. An empty answer has no value.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from decimal import Decimal
from typing import Final, NamedTuple

import regex

from corpora.text.comparison import is_blank
from corpora.text.messages import counted, listed, shortened
from corpora.text.tokens import LetterTable, bare, composed, lowered
from scoring.core.metric import RateMetric, Statistics, own_signature
from scoring.core.packs import pack_metric
from scoring.core.setup import Translation
from scoring.metrics.maker import Maker
from scoring.packs.views import half_up

LEAST_TARGET = 350
"""Characters that an answer to the shortest prompt should have."""
LONGEST_FILLER = 4
"""Characters of the longest word of a prompt that is no keyword."""
MOST_SIGNALS = 6
"""List items and paragraph breaks from which structure is full."""
MOST_VARIANCE = 50
"""Variance of sentence lengths, in words², from which clarity is 0."""
WORDS_PER_MINUTE = 180
SHOWN_DIGITS = 3

WEIGHTS: Final = {
    "length": Decimal("0.25"),
    "richness": Decimal("0.20"),
    "coverage": Decimal("0.25"),
    "structure": Decimal("0.15"),
    "clarity": Decimal("0.15"),
}
"""Weights of the parts in ``overall``."""


class ResponseMetric(RateMetric):
    """Mean over entries of a value that the answer, and in part its prompt, has; null for an empty answer."""

    signature = own_signature("words:letters,marks,numbers|case:lower")
    why_missing = "every answer is empty"

    def stats(self, translation: Translation) -> Statistics | None:
        if is_blank(translation.output):
            return None
        return (self.entry_value(translation.entry.source, translation.output), 1)

    @abstractmethod
    def entry_value(self, prompt: str, answer: str) -> float:
        """Return the value of an answer in which something is seen."""

    def explain(self, translation: Translation) -> tuple[str, ...]:
        if is_blank(translation.output):
            return ("An empty answer has no value.",)
        return self.counted(translation.entry.source, translation.output)

    @abstractmethod
    def counted(self, prompt: str, answer: str) -> tuple[str, ...]:
        """Return what the value of an answer counts."""


class Length(ResponseMetric):
    """min(characters, target) / target, where target = max(1.1 × characters of the prompt, 350); 0–1."""

    info = pack_metric("nest.length")

    def entry_value(self, prompt: str, answer: str) -> float:
        return min(len(composed(answer)) / _target(prompt), 1.0)

    def counted(self, prompt: str, answer: str) -> tuple[str, ...]:
        characters = counted(len(composed(answer)), "character")
        return (f"{characters}; the target is {_target(prompt):,.4g}.",)


class Richness(ResponseMetric):
    """Different words / words, 0–1; 0 without a word."""

    info = pack_metric("nest.richness")

    def entry_value(self, prompt: str, answer: str) -> float:  # noqa: ARG002
        words = bare(answer).split()
        return len(set(words)) / max(len(words), 1)

    def counted(self, prompt: str, answer: str) -> tuple[str, ...]:  # noqa: ARG002
        words = bare(answer).split()
        return (f"{len(set(words)):,} different words of {len(words):,}.",)


class Coverage(ResponseMetric):
    """Keywords of the prompt that the answer has / keywords, 0–1; 0 where the prompt has none.

    A keyword is a word of more than four characters; it counts as many times as it is in the prompt.
    """

    info = pack_metric("nest.coverage")

    def entry_value(self, prompt: str, answer: str) -> float:
        keywords = _keywords(prompt)
        answer_words = set(bare(answer).split())
        hits = sum(count for word, count in keywords.items() if word in answer_words)
        return hits / max(keywords.total(), 1)

    def counted(self, prompt: str, answer: str) -> tuple[str, ...]:
        keywords = _keywords(prompt)
        if not keywords:
            return ("The prompt has no word of more than four characters.",)
        answer_words = set(bare(answer).split())
        missing = {word: count for word, count in keywords.items() if word not in answer_words}
        hits = keywords.total() - sum(missing.values())
        summary = f"{hits:,} of {counted(keywords.total(), 'keyword')} of the prompt"
        absent = f"; not in the answer: {listed(map(shortened, missing))}" if missing else ""
        return (f"{summary}{absent}.",)


class Structure(ResponseMetric):
    """min(1, (list items + paragraph breaks) / 6), 0–1: lines that begin with a hyphen, and blank lines."""

    info = pack_metric("nest.structure")

    def entry_value(self, prompt: str, answer: str) -> float:  # noqa: ARG002
        return min(sum(_signals(answer)) / MOST_SIGNALS, 1.0)

    def counted(self, prompt: str, answer: str) -> tuple[str, ...]:  # noqa: ARG002
        items, breaks = _signals(answer)
        signals = f"{counted(items, 'list item')} and {counted(breaks, 'paragraph break')}"
        return (f"{signals}; {MOST_SIGNALS} together give 1.",)


class Clarity(ResponseMetric):
    """1 − min(1, variance of words per sentence / 50), 0–1; 1 for one sentence.

    The variance is that of all sentences, not of a sample. A sentence ends with a mark of any script that ends
    sentences; a full stop before a letter or number, as in 3.14, ends none.
    """

    info = pack_metric("nest.clarity")

    def entry_value(self, prompt: str, answer: str) -> float:  # noqa: ARG002
        return 1 - min(pace(answer).variance / MOST_VARIANCE, 1.0)

    def counted(self, prompt: str, answer: str) -> tuple[str, ...]:  # noqa: ARG002
        sentence_pace = pace(answer)
        lengths = f"variance of their lengths {sentence_pace.variance:,.4g} words²"
        return (f"{counted(sentence_pace.sentences, 'sentence')}; {lengths}, {MOST_VARIANCE} give 0.",)


_PARTS: Final = {
    "length": Length(),
    "richness": Richness(),
    "coverage": Coverage(),
    "structure": Structure(),
    "clarity": Clarity(),
}


class Overall(ResponseMetric):
    """0.25 length + 0.2 richness + 0.25 coverage + 0.15 structure + 0.15 clarity, each to three decimals; 0–1."""

    info = pack_metric("nest.overall")

    def entry_value(self, prompt: str, answer: str) -> float:
        parts = self._parts(prompt, answer)
        return float(sum((WEIGHTS[name] * part for name, part in parts.items()), Decimal(0)))

    def counted(self, prompt: str, answer: str) -> tuple[str, ...]:
        parts = self._parts(prompt, answer)
        return (" + ".join(f"{WEIGHTS[name]} × {name} {part}" for name, part in parts.items()) + ".",)

    def _parts(self, prompt: str, answer: str) -> dict[str, Decimal]:
        values = {name: part.entry_value(prompt, answer) for name, part in _PARTS.items()}
        return {name: half_up(value, SHOWN_DIGITS) for name, value in values.items()}


class ReadingTime(ResponseMetric):
    """Seconds that the words of an answer take at 180 a minute, from 0; neither more nor less is better."""

    info = pack_metric("nest.reading_time")

    def entry_value(self, prompt: str, answer: str) -> float:  # noqa: ARG002
        return len(bare(answer).split()) * 60 / WORDS_PER_MINUTE

    def counted(self, prompt: str, answer: str) -> tuple[str, ...]:  # noqa: ARG002
        words = counted(len(bare(answer).split()), "word")
        return (f"{words} at {WORDS_PER_MINUTE} a minute.",)


def _target(prompt: str) -> float:
    """Return the characters of an answer of full length; 11 / 10 is exact where 1.1 is not."""
    return max(len(composed(prompt)) * 11 / 10, LEAST_TARGET)


def _keywords(prompt: str) -> Counter[str]:
    return Counter(word for word in bare(prompt).split() if len(word) > LONGEST_FILLER)


def _signals(answer: str) -> tuple[int, int]:
    """Count the list items and the paragraph breaks of an answer, whatever its ends of lines."""
    lines = answer.replace("\r\n", "\n")
    return lines.count("\n-"), lines.count("\n\n")


class SentencePace(NamedTuple):
    """The sentences of an answer."""

    sentences: int
    variance: float
    """Of their words, over all of them."""


_END: Final = regex.compile(r"\p{Sentence_Terminal}")
_INSIDE: Final = regex.compile(r"[.!?](?=[\p{L}\p{N}])")
_ENDS: Final = LetterTable(lambda other: "\n" if _END.match(other) else " ")
"""Keeps letters, marks and numbers; a mark that ends sentences becomes the end of a line."""


def pace(answer: str) -> SentencePace:
    """Count the sentences that have a word, and the variance of their words."""
    sentences = _INSIDE.sub(" ", lowered(answer)).translate(_ENDS).split("\n")
    lengths = Counter(len(sentence.split()) for sentence in sentences)
    del lengths[0]
    many = lengths.total()
    words = sum(length * count for length, count in lengths.items())
    squares = sum(length * length * count for length, count in lengths.items())
    return SentencePace(many, (many * squares - words * words) / max(many * many, 1))


METRICS = {
    "nest.length": Maker(lambda _: Length()),
    "nest.richness": Maker(lambda _: Richness()),
    "nest.coverage": Maker(lambda _: Coverage()),
    "nest.structure": Maker(lambda _: Structure()),
    "nest.clarity": Maker(lambda _: Clarity()),
    "nest.overall": Maker(lambda _: Overall()),
    "nest.reading_time": Maker(lambda _: ReadingTime()),
}
