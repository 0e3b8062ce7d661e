"""Word error rate: words changed, left out or added, for each word of the reference (au-harness-metrics).

Words are runs of letters, marks and numbers of any script, in NFC and without case; punctuation is none. Where a
language is written without spaces its characters are counted instead. Nothing is translated, spelled out or stripped
of its accents: the normalisers made for English speech take the marks off ``niwâpamâw`` and cut ``x̱át`` in two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import regex
from rapidfuzz.distance import Levenshtein

from corpora.text.messages import counted
from corpora.text.tokens import bare
from scoring.core.metric import Compared, FloatArray, RateMetric, Statistics, own_signature
from scoring.core.packs import pack_metric
from scoring.core.setup import ScoringSetup, Translation
from scoring.grammar.morpheme_difference import best_pairs
from scoring.metrics.maker import Maker
from scoring.words.source_words import Resources
from scoring.words.tokenizers import bleu_tokenizer

MOST_CELLS = 2_000_000_000
"""Output words times reference words that are compared in under two seconds; a lecture of an hour against itself
is a twentieth of it."""


def spoken_words(text: str, *, characters: bool = False) -> list[str]:
    """Return the words of a text, or its characters, as they are compared."""
    words = bare(text).split()
    return list("".join(words)) if characters else words


def word_edits(output: Sequence[str], reference: Sequence[str]) -> int:
    """Count the words that must be changed, added or taken away; all of the longer where both are too long."""
    if len(output) * len(reference) > MOST_CELLS:
        return max(len(output), len(reference))
    return Levenshtein.distance(output, reference)


def empty_references(id_: str, total: FloatArray) -> dict[str, float | int | None]:
    """Return the field of the card that says how many references have no word; the sums' third number counts them."""
    return {f"{id_}_empty_references": int(total[2])}


class SpokenWords:
    """Splits the texts of a record as its language is written."""

    def __init__(self, setup: ScoringSetup) -> None:
        self._setup = setup

    def __call__(self, text: str, translation: Translation) -> list[str]:
        """Return the words of a text; the language of the record goes before that of the corpus."""
        given = translation.given("language")
        if isinstance(given, str):
            return spoken_words(text, characters=unspaced_language(given, None))
        setup = self._setup
        unspaced = unspaced_language(setup.target_language, setup.script)
        return spoken_words(text, characters=unspaced)


@lru_cache(maxsize=1024)
def unspaced_language(language: str, script: str | None) -> bool:
    """Return whether a language is written without spaces between words."""
    return bleu_tokenizer(language, script) != "13a"


class WordErrorRate(RateMetric):
    """Word errors over reference words, from 0 without an upper end; lower is better.

    Statistics: errors, reference words or 1 where there is none, references without a word. Where the reference has
    no word, every word of the output was added. An empty output leaves out every word of the reference.
    """

    info = pack_metric("au.wer")
    width = 3
    signature = own_signature("words:letters-marks-numbers|case:lower|unspaced:characters")

    def __init__(self, resources: Resources) -> None:
        self._words = SpokenWords(resources.setup)

    def stats(self, translation: Translation) -> Statistics:
        output, reference = self._sides(translation)
        return (word_edits(output, reference), max(len(reference), 1), int(not reference))

    def further(self, total: FloatArray) -> dict[str, float | int | None]:
        return empty_references(self.info.id, total)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        output, reference = self._sides(translation)
        if len(output) * len(reference) > MOST_CELLS // 100:
            return ()
        edits = {"replace": 0, "insert": 0, "delete": 0}
        for edit in Levenshtein.editops(reference, output):
            edits[edit.tag] += 1
        changed, left_out = edits["replace"], edits["delete"]
        words = f"{counted(len(reference), 'word')}: {changed} changed, {left_out} left out"
        return (f"{words}; {edits['insert']} added.",)

    def compared(self, translation: Translation) -> tuple[Compared, ...]:
        output, reference = (" ".join(words) for words in self._sides(translation))
        return (Compared("words", output, reference, running=True),)

    def _sides(self, translation: Translation) -> tuple[list[str], list[str]]:
        reference = translation.entry.reference
        return self._words(translation.output, translation), self._words(reference, translation)


# ---- Who spoke which words: WDER, cpWER and the number of speakers, from lines ``NAME: words``
# (au-harness-metrics).
#
# A line without a name continues the speaker before it; words before the first name have none.
# Names only tell speakers apart: which speaker of the output is which of the reference is chosen
# so that the fewest words are wrong.

_LINE = regex.compile(r"(?P<name>[^:：\n]{1,60})[:：](?![0-9])(?P<words>.*)")
_LONGEST_NAME = 3
"""Words of a name; a longer run before a colon is speech."""
MOST_SPEAKERS = 32
"""Speakers of an output that are paired, those with most words; the words of the others are nobody's."""
MOST_LETTERS = 500_000
"""Letters of a text that are read line by line, eight hours of talk; the words behind them are nobody's."""
Speaker = str | None
"""The words of a name, in lower case; None where no name is given."""


class SpokenTurns(NamedTuple):
    """The words of a text in order, and who spoke each."""

    words: list[str]
    speakers: list[Speaker]

    def add(self, words: Sequence[str], speaker: Speaker) -> None:
        """Append words that a speaker says."""
        self.words.extend(words)
        self.speakers.extend([speaker] * len(words))

    @property
    def of_speaker(self) -> dict[Speaker, list[str]]:
        """All words of each speaker, in order."""
        words_of_speakers: dict[Speaker, list[str]] = {}
        for word, speaker in zip(self.words, self.speakers, strict=True):
            words_of_speakers.setdefault(speaker, []).append(word)
        return words_of_speakers

    @property
    def named(self) -> list[str]:
        """The speakers that are paired, those with most words first."""
        counted = Counter(speaker for speaker in self.speakers if speaker is not None)
        return [name for name, _ in counted.most_common(MOST_SPEAKERS)]

    @property
    def streams(self) -> list[Speaker]:
        """The speakers that are paired, and behind them None where words have no name."""
        return [*self.named, *([None] if None in self.speakers else [])]

    @property
    def speaker_count(self) -> int:
        """How many different names spoke a word."""
        return len({speaker for speaker in self.speakers if speaker is not None})


class _Diarization(RateMetric):
    """What the three metrics share: both sides of a record, taken apart."""

    why_missing = "no reference says who spoke: write lines NAME: words"

    def __init__(self, resources: Resources) -> None:
        self._words = SpokenWords(resources.setup)

    @property
    def signature(self) -> str:
        return own_signature(
            f"words:letters-marks-numbers|case:lower|unspaced:characters|speakers:best-pairing{self._nameless}"
        )

    _nameless = ""

    def _sides(self, translation: Translation) -> tuple[SpokenTurns, SpokenTurns] | None:
        """Return output and reference; None where a reference with words names no speaker, or too many."""
        reference = self._turns(translation.entry.reference, translation)
        if reference.words and not 0 < reference.speaker_count <= MOST_SPEAKERS:
            return None
        return self._turns(translation.output, translation), reference

    def _turns(self, text: str, translation: Translation) -> SpokenTurns:
        turns = SpokenTurns([], [])
        speaker: Speaker = None
        for name, words in _lines(text):
            speaker = _key(name) or speaker
            turns.add(self._words(words, translation), speaker)
        turns.add(self._words(text[MOST_LETTERS:], translation), None)
        return turns


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name at the beginning of each line, empty where none is there, and the words."""
    for line in text[:MOST_LETTERS].split("\n"):
        match = _LINE.fullmatch(line)
        named = match is not None and 0 < len(spoken_words(match["name"])) <= _LONGEST_NAME
        yield (match["name"].strip(), match["words"]) if match and named else ("", line)


def _key(name: str) -> str:
    """Return a name as it is compared."""
    return " ".join(spoken_words(name))


def _written(text: str) -> dict[Speaker, str]:
    """Return the names of a text as they are written first."""
    names = [name for name, _ in _lines(text) if name]
    return {_key(name): name for name in reversed(names)}


class WordDiarizationErrorRate(_Diarization):
    """Aligned words with the wrong speaker over aligned words, in 0–1; lower is better.

    Where no word of the output is next to one of the reference, or nobody is named, all words of the reference
    count as wrong. Null where the reference is empty, names nobody, or more than ``MOST_SPEAKERS``.
    """

    info = pack_metric("au.wder")

    def stats(self, translation: Translation) -> Statistics | None:
        sides = self._sides(translation)
        if sides is None or not sides[1].words:
            return None
        output, reference = sides
        pairs = _aligned_speakers(output, reference)
        if not pairs or output.speaker_count == 0:
            return (len(reference.words), len(reference.words))
        names, wanted = output.named, reference.named
        right = [[pairs[name, other] for name in names] for other in wanted]
        return (pairs.total() - _worth(right), pairs.total())

    def explain(self, translation: Translation) -> tuple[str, ...]:
        statistics = self.stats(translation)
        if statistics is None:
            return ()
        pairs = counted(int(statistics[1]), "aligned word")
        return (f"{statistics[0]:g} of {pairs} with another speaker.",)


class SpeakerWordErrorRate(_Diarization):
    """cpWER: word errors after all words of a speaker are put together, over reference words; lower is better.

    A speaker without a partner counts whole, as words left out or added. Words without a name are one more speaker.
    Equal to meeteval's. Statistics: errors, reference words or 1 where there is none, references without a word.
    Null where a reference with words names nobody, or more than ``MOST_SPEAKERS``.
    """

    info = pack_metric("au.cpwer")
    width = 3
    _nameless = "|nameless:one-speaker"

    def stats(self, translation: Translation) -> Statistics | None:
        sides = self._sides(translation)
        if sides is None:
            return None
        output, reference = sides
        spared = _worth(_spared_words(output, reference))
        words = len(reference.words)
        return (len(output.words) + words - spared, max(words, 1), int(not words))

    def further(self, total: FloatArray) -> dict[str, float | int | None]:
        return empty_references(self.info.id, total)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        sides, statistics = self._sides(translation), self.stats(translation)
        if sides is None or statistics is None:
            return ()
        ours, theirs = _written(translation.output), _written(translation.entry.reference)
        pairs = [
            f"{ours.get(name, _NO_NAME)} for {theirs.get(other, _NO_NAME)}" for other, name in _pairs(*sides).items()
        ]
        taken = (f"Speakers were taken: {', '.join(pairs)}.",) if pairs else ()
        errors, words = counted(int(statistics[0]), "error"), counted(len(sides[1].words), "word")
        return (f"{errors} in {words}, speaker by speaker.", *taken)

    def compared(self, translation: Translation) -> tuple[Compared, ...]:
        sides = self._sides(translation)
        if sides is None:
            return ()
        output, reference = sides
        pairs = _pairs(output, reference)
        spoken = {name: " ".join(words) for name, words in output.of_speaker.items()}
        wanted = {name: " ".join(words) for name, words in reference.of_speaker.items()}
        ours, theirs = _written(translation.output), _written(translation.entry.reference)
        rows = []
        for other, words in wanted.items():
            name, given = theirs.get(other, _NO_NAME), ""
            if other in pairs:
                name += f" ← {ours.get(pairs[other], _NO_NAME)}"
                given = spoken[pairs[other]]
            rows.append(Compared(name, given, words, running=True))
        unpaired = spoken.keys() - pairs.values()
        rows += [
            Compared(ours.get(name, _NO_NAME), words, "", running=True)
            for name, words in spoken.items()
            if name in unpaired
        ]
        return tuple(rows)


_NO_NAME = "no name"


class SpeakerCountError(_Diarization):
    """Mean distance between the numbers of speakers, in speakers from 0; lower is better. Null as for cpWER."""

    info = pack_metric("au.speaker_count_error")

    def stats(self, translation: Translation) -> Statistics | None:
        sides = self._sides(translation)
        if sides is None:
            return None
        output, reference = sides
        return (abs(output.speaker_count - reference.speaker_count), 1)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        sides = self._sides(translation)
        if sides is None:
            return ()
        output, reference = sides
        there = counted(output.speaker_count, "speaker")
        return (f"{there}; the reference has {reference.speaker_count}.",)


def _aligned_speakers(output: SpokenTurns, reference: SpokenTurns) -> Counter[tuple[Speaker, Speaker]]:
    """Count (speaker of the output, of the reference) over the words that an alignment puts together."""
    if len(output.words) * len(reference.words) > MOST_CELLS:
        return Counter()
    pairs: Counter[tuple[Speaker, Speaker]] = Counter()
    for block in Levenshtein.opcodes(reference.words, output.words):
        if block.tag in {"equal", "replace"}:
            there = output.speakers[block.dest_start : block.dest_end]
            wanted = reference.speakers[block.src_start : block.src_end]
            pairs.update(zip(there, wanted, strict=True))
    return pairs


def _spared_words(output: SpokenTurns, reference: SpokenTurns) -> list[list[int]]:
    """Count by speaker of the reference and of the output how many errors their pairing spares.

    None of them where the texts are too long to be compared.
    """
    if len(output.words) * len(reference.words) > MOST_CELLS:
        return [[0] * len(output.streams)] * len(reference.streams)
    spoken, wanted, names = output.of_speaker, reference.of_speaker, output.streams
    return [
        [len(spoken[name]) + len(wanted[other]) - word_edits(spoken[name], wanted[other]) for name in names]
        for other in reference.streams
    ]


def _pairs(output: SpokenTurns, reference: SpokenTurns) -> dict[Speaker, Speaker]:
    """Return by speaker of the reference the one of the output who is taken for them; without those who have none."""
    names, wanted = output.streams, reference.streams
    paired = _paired(_spared_words(output, reference))
    return {wanted[row]: names[column] for row, column in paired.items()}


def _paired(worth: Sequence[Sequence[int]]) -> dict[int, int]:
    """Pair rows with columns, each in one pair at most, so that together they are worth the most."""
    pairing = enumerate(best_pairs(worth))
    return {row: column for row, column in pairing if column is not None}


def _worth(worth: Sequence[Sequence[int]]) -> int:
    """Return what the best pairs are worth together."""
    return sum(worth[row][column] for row, column in _paired(worth).items())


METRICS = {
    "au.wer": Maker(WordErrorRate),
    "au.wder": Maker(WordDiarizationErrorRate),
    "au.cpwer": Maker(SpeakerWordErrorRate),
    "au.speaker_count_error": Maker(SpeakerCountError),
}
