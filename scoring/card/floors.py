"""Floors: what outputs without any translation in them reach on the same corpus (DESIGN T2).

A composite means little before it is known what worthless outputs get from the same metrics: nothing at all,
the untouched source, the best constant, references in wrong places, valid words at random, and no more than
the beginning of each reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from corpora.model.entry import Entry
from corpora.tasks.task import TRANSLATION
from scoring.card.claim import FloorScores
from scoring.card.constant import Annotate, best_constant, spread
from scoring.core.composite import STRUCTURAL_KEY, composite_metrics
from scoring.core.metric import Metric
from scoring.core.scorer import Scorer
from scoring.core.specification import Weighing
from scoring.core.translation import FstAnnotation, Translation

JUDGES = 100
"""Entries on which the most promising constants are scored."""

MOST_DRAWN = 1_000
"""Entries, spread evenly, on which ``words`` and ``truncated`` are scored where there are more."""

BEGINNING = 0.2
"""Share of each reference that ``truncated`` outputs keep."""


def floors(
    entries: Sequence[Entry],
    metrics: Sequence[Metric],
    *,
    annotate: Annotate = list,
    seed: int = 12345,
    judges: int = JUDGES,
    weighing: Weighing | None = None,
) -> dict[str, FloorScores]:
    """Score worthless outputs with the metrics of the composite, by the specification's weights where no others are given.

    ``empty``; ``source``; ``constant``, the best by composite among the references; ``shuffled``, references
    in wrong places; ``words``, as many words as the reference has, at random from other references, those
    that the analyser accepts where it judges outputs; ``truncated``, the first fifth of each reference. They
    depend on the entries only, so runs on the same entries share them. ``shuffled`` and ``words`` are left
    out where no other entry gives them anything. Tasks other than translation have no floors.
    """
    if not entries or entries[0].of_task != TRANSLATION:
        return {}
    used = [metric for metric in metrics if metric.info.id in composite_metrics()]
    nothing = annotate([Translation(entry, "") for entry in entries])
    constant = best_constant(entries, used, annotate, judges, weighing)
    scorer = Scorer(used, weighing=weighing)
    floor_scoreses = {"empty": _floor(nothing, scorer)}
    judged = any(metric.info.id == STRUCTURAL_KEY for metric in used)
    for kind, texts in _outputs(nothing, constant.text, seed, accepted=judged):
        given = [Translation(entry, text) for entry, text in zip(entries, texts, strict=True)]
        if kind in _DRAWN:
            given = spread(given, MOST_DRAWN)
        searched = constant.searched if kind == "constant" else None
        floor_scoreses[kind] = _floor(annotate(given), scorer, searched)
    return floor_scoreses


_DRAWN = frozenset({"words", "truncated"})


def _outputs(
    nothing: Sequence[Translation], constant: str, seed: int, *, accepted: bool
) -> Iterator[tuple[str, list[str]]]:
    entries = [translation.entry for translation in nothing]
    yield "source", [entry.source for entry in entries]
    yield "constant", [constant] * len(entries)
    if len(entries) > 1:
        places = derangement(len(entries), seed)
        yield "shuffled", [entries[place].reference for place in places]
    if words := words_at_random(nothing, seed, accepted=accepted):
        yield "words", words
    yield "truncated", [beginning(entry.reference, BEGINNING) for entry in entries]


def words_at_random(translations: Sequence[Translation], seed: int, *, accepted: bool) -> list[str]:
    """Return each entry as many words as its reference has, drawn with a seed from the other references.

    ``accepted`` takes only words that the analyser accepts. Empty where no entry finds a word elsewhere.
    """
    texts = [_words(translation, accepted=accepted) for translation in translations]
    pool = [word for _, usable in texts for word in usable]
    random = np.random.default_rng(seed)
    outputs, start = [], 0
    for number, usable in texts:
        others = len(pool) - len(usable)
        drawn = random.integers(0, max(1, others), number if others else 0).tolist()
        chosen = [pool[at if at < start else at + len(usable)] for at in drawn]
        outputs.append(joined(chosen))
        start += len(usable)
    return outputs if any(outputs) else []


def _words(translation: Translation, *, accepted: bool) -> tuple[int, Sequence[str]]:
    """Return how many words a reference has, and those that may be drawn from it."""
    annotation = translation.annotations.get("fst")
    if accepted and isinstance(annotation, FstAnnotation):
        reference = annotation.reference
        return len(reference), [word.word for word in reference if word.accepted is not None]
    from scoring.words.reading import reader

    written = reader().read(translation.entry.reference).written
    return len(written), written


def joined(words: Sequence[str]) -> str:
    """Set words side by side as their script does."""
    from scoring.words.reading import unspaced

    return ("" if words and all(map(unspaced, words)) else " ").join(words)


def beginning(text: str, share: float) -> str:
    """Return a share of the words from the first on, rounded down; of characters where words are not spaced."""
    from scoring.words.reading import unspaced

    words = text.split()
    if any(map(unspaced, words)):
        return text[: int(len(text) * share)]
    return " ".join(words[: int(len(words) * share)])


def derangement(length: int, seed: int) -> list[int]:
    """Return places such that none stays where it is, by shifting a seeded random order by one."""
    order = np.random.default_rng(seed).permutation(length)
    places = np.empty(length, dtype=np.int64)
    places[order] = np.roll(order, 1)
    return [int(place) for place in places]


def _floor(
    translations: Sequence[Translation], scorer: Scorer, searched: int | None = None
) -> FloorScores:
    values = scorer.table(scorer.statistics(translations)).corpus_values()
    mixed = scorer.composite(values)
    return FloorScores(
        mixed.value,
        values.get("chrf_plus_plus"),
        tuple(part.metric for part in mixed.inputs),
        len(translations),
        searched,
    )
