"""The best constant: the one reference that, given for every entry, has the highest composite (DESIGN T2).

Trying each reference on each entry would take the square of the corpus. What a constant gets from chrF++ and
from the analyser, which differ most between constants, is worked out exactly for all of them at once; the most
promising ones are then scored as outputs on entries spread over the corpus.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import groupby, islice
from typing import TypeVar
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from corpora.files.packed_list import packed
from corpora.model.entry import Entry
from corpora.text.comparison import comparison_form
from scoring.core.inventory import STRUCTURAL_KEY, normalised
from scoring.core.metric import EntryStatistics, FloatArray, Metric
from scoring.core.scorer import Scorer
from scoring.core.setup import Translation
from scoring.core.specification import Weighing
from scoring.metrics.chrf_bleu import CHARACTERS, WORDS, ChrfPlusPlus, split_words

MOST_LETTERS = 200_000
"""Characters of the references that are searched; of a larger corpus references spread over it."""
PROMISING = 5
"""Candidates that are scored as outputs."""
Annotate = Callable[[Sequence[Translation]], Sequence[Translation]]
"""Fills in what annotators find."""
IntArray = npt.NDArray[np.int64]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FoundConstant:
    """The constant that was found."""

    text: str
    searched: int
    """How many distinct references it was chosen from."""


SORTED = 50_000
"""References that are sorted together; of more the lists are merged, so that not all are held unpacked."""
STEP = 32
"""Entries or candidates that one step looks at."""


def search_constant(
    entries: Sequence[Entry],
    metrics: Sequence[Metric],
    annotate: Annotate,
    judges: int,
    weighing: Weighing | None = None,
) -> Generator[None, None, FoundConstant]:
    """Choose among all references by composite, in short steps; ties go to the text that sorts first.

    ``metrics`` are those of the composite; ``judges`` is the number of entries on which the most promising
    candidates are scored. Yields between the steps.
    """
    references = (comparison_form(entry.reference) for entry in entries)
    forms = []
    while block := sorted(islice(references, SORTED)):
        forms.append(packed(block))
    yield
    texts, repeated = _affordable(forms)
    del forms
    if len(texts) == 1:
        return FoundConstant(texts[0], 1)
    scorer = Scorer(metrics, weighing=weighing)
    accepted = yield from _accepted(entries, texts, metrics, annotate)
    # Weigh what of each constant's composite can be told without scoring it on every entry.
    known: dict[str, FloatArray] = {"exact_match_rate": repeated / repeated.sum()}
    if any(isinstance(metric, ChrfPlusPlus) for metric in scorer.metrics):
        known["chrf_plus_plus"] = constant_chrf(texts, repeated)
    known |= accepted
    profile = "A" if STRUCTURAL_KEY in known else "B"
    weights = scorer.weighing.profiles[profile]
    promise = sum(
        (weights[id_] * np.nan_to_num(normalised(id_, values))) for id_, values in known.items() if id_ in weights
    ) + np.zeros(len(texts))
    yield
    ranked = sorted(range(len(texts)), key=lambda place: (-promise[place], texts[place]))
    finalists = [texts[place] for place in ranked[:PROMISING]]
    tried = spread(entries, judges)
    scores = []
    for text in finalists:
        scores.append(_composite(tried, text, scorer, annotate))
        yield
    return FoundConstant(finalists[max(range(len(finalists)), key=scores.__getitem__)], len(texts))


def spread(things: Sequence[T], most: int) -> list[T]:
    """Return up to ``most`` things (at least 1), evenly spread."""
    step = max(1.0, len(things) / most)
    return [things[int(place * step)] for place in range(min(most, len(things)))]


def _affordable(lists: Sequence[Sequence[str]]) -> tuple[list[str], IntArray]:
    """Return as many distinct texts as have the most letters together, one at least, and how often each is there.

    ``lists`` are sorted, each of them; the texts are in order.
    """
    lengths = array("l", (len(text) for text, _ in groupby(merge(*lists))))
    letters = sum(lengths)
    most = len(lengths) if letters <= MOST_LETTERS else max(1, len(lengths) * MOST_LETTERS // letters)
    chosen = set(spread(range(len(lengths)), most))
    texts = {text: sum(1 for _ in same) for at, (text, same) in enumerate(groupby(merge(*lists))) if at in chosen}
    return [*texts], np.array([*texts.values()])


def _composite(entries: Sequence[Entry], text: str, scorer: Scorer, annotate: Annotate) -> float:
    taken = scorer.statistics(annotate([Translation(entry, text) for entry in entries]))
    return scorer.composite(scorer.table(taken).corpus_values()).value or 0.0


def _accepted(
    entries: Sequence[Entry], texts: Sequence[str], metrics: Sequence[Metric], annotate: Annotate
) -> Generator[None, None, Mapping[str, FloatArray]]:
    """Return the acceptance of each constant, which is the same on all entries; empty without an analyser."""
    scorer = Scorer([metric for metric in metrics if metric.info.id == STRUCTURAL_KEY])
    if not scorer.ids:
        return {}
    firsts: dict[str, Entry | None] = dict.fromkeys(texts)
    for candidate in entries:
        form = comparison_form(candidate.reference)
        if form in firsts and firsts[form] is None:
            firsts[form] = candidate
    statistics: list[EntryStatistics] = []
    for start in range(0, len(texts), STEP):
        chunk = [entry for text in texts[start : start + STEP] if (entry := firsts[text]) is not None]
        perfect = annotate([Translation(entry, entry.reference) for entry in chunk])
        statistics += scorer.statistics(perfect)
        yield
    return scorer.table(statistics).entry_values()


def constant_chrf(texts: Sequence[str], repeated: IntArray) -> FloatArray:
    """Return chrF++ over the corpus for each text as the output of every entry; shape (texts,), 0–100.

    Text i is the reference of ``repeated[i]`` entries. A constant shares with all references together, of each
    n-gram that it has for the j-th time, one for each reference that has it at least j times: so one count of
    the corpus serves every constant, and the values are those of ``ChrfPlusPlus`` exactly. Of the references "aab",
    "ab" and "a", three have an a and one a second one: "aab" shares 3 + 1 letters a and 2 letters b with the corpus.
    """
    forms = [normalize("NFC", text) for text in texts]
    letters = ["".join(form.split()) for form in forms]
    columns = [
        *_order_columns([[*letter] for letter in letters], CHARACTERS, repeated),
        *_order_columns([split_words(form) for form in forms], WORDS, repeated),
    ]
    return ChrfPlusPlus().values(np.column_stack(columns).astype(np.float64))


def _order_columns(sequences: Sequence[Sequence[str]], most: int, repeated: IntArray) -> list[FloatArray]:
    """Return for each order the n-grams of the outputs, of the references, and those shared, as columns."""
    numbers: dict[str, int] = {}
    symbols = np.array(
        [numbers.setdefault(symbol, len(numbers)) for sequence in sequences for symbol in sequence], dtype=np.int64
    )
    lengths = np.array([len(sequence) for sequence in sequences])
    texts = np.repeat(np.arange(len(sequences)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(symbols))
    base, text_bits = max(1, len(numbers)), len(sequences).bit_length()
    grams, kinds, columns = symbols, base, list[FloatArray]()
    for order in range(1, most + 1):
        if order > 1:  # the gram that is one symbol longer
            if (kinds * base).bit_length() + text_bits > _KEY_BITS:  # numbered anew, so that it stays short
                grams = np.unique(grams, return_inverse=True)[1]
                kinds = len(grams)
            following = np.concatenate((symbols[order - 1 :], symbols[: order - 1]))
            grams, kinds = grams * base + following, kinds * base
        whole = left >= order
        own = np.maximum(lengths - order + 1, 0)
        shared = _shared((grams[whole] << text_bits) | texts[whole], text_bits, repeated)
        of_references = np.full(len(own), float((own * repeated).sum()))
        columns += [own * repeated[own > 0].sum(), of_references, shared]
    return columns


_KEY_BITS = 63
"""Of a gram and its text in one number."""


def _shared(keys: IntArray, text_bits: int, repeated: IntArray) -> FloatArray:
    """Sum for each text what it shares with every reference; keys are grams, the texts they are in in the lowest bits."""
    keys.sort()  # places of one gram together, in the order of texts
    firsts = np.flatnonzero(np.diff(keys, prepend=-1))
    times = np.diff(np.append(firsts, len(keys)))
    pairs = keys[firsts]  # each gram of each text once
    gram, text = pairs >> text_bits, pairs & ((1 << text_bits) - 1)
    shared = np.zeros(len(repeated))
    while len(text):  # those that have it at least once, then twice, …
        begins = np.flatnonzero(np.diff(gram, prepend=-1))
        having = np.add.reduceat(repeated[text], begins)
        shared += np.bincount(text, np.repeat(having, np.diff(np.append(begins, len(text)))), len(repeated))
        more = times > 1
        gram, text, times = gram[more], text[more], times[more] - 1
    return shared
