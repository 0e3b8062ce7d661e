"""What the metrics together may never do, on real texts of many scripts (with everything that a run uses)."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from harness.setup.scoring_tools import ScoringTools
from scoring.card.floors import floors
from scoring.card.scorecard import scorecard
from scoring.core.inventory import composite
from scoring.core.setup import Translation
from scoring.core.specification import specification
from tests.harness import guarded_corpora as given_corpora
from tests.harness.guarded_corpora import CORPORA
from tests.review.thorough import examples, first, times
from tests.scoring.samples import sentences

SIZE = times(40, 300)
QUICK = ["demo", "hin", "jpn"]
"""Scripts with marks and without spaces; the others in the thorough suite."""
ORDERED = [*QUICK, *(name for name in CORPORA if name not in QUICK)]


def tools(name: str) -> ScoringTools:
    return given_corpora.tools(name, size=SIZE)


def entries_of(found: ScoringTools) -> Sequence[Entry]:
    return found.resources.entries


def _paired(entries: Sequence[Entry], outputs: Sequence[str]) -> list[Translation]:
    return [Translation(entry, text) for entry, text in zip(entries, outputs, strict=True)]


@pytest.mark.parametrize("language", first(1, ORDERED))
def test_each_value_has_an_interval_or_a_reason(language: str) -> None:
    found = tools(language)
    seeded = random.Random(3)
    entries = entries_of(found)
    words = [entry.reference.split() for entry in entries]
    texts = [" ".join(each for each in some if seeded.random() < 0.8) for some in words]
    statistics = found.scorer.statistics(found.annotated(_paired(entries, texts)))
    known = floors(entries, found.scorer.metrics, annotate=found.annotated)
    failed = [not text for text in texts]
    scores = scorecard(entries, statistics, failed, found.scorer, texts, known_floors=known)
    for id_, row in specification().metrics.items():
        value = getattr(scores, id_)
        interval = scores.confidence_intervals.get(id_)
        if value is None:
            assert scores.reasons[id_]
            assert interval is None
        elif row.interval and id_ in {metric.info.id for metric in found.scorer.metrics}:
            assert interval is not None, id_
            assert interval.ci_lower <= value <= interval.ci_upper, id_
    mixed = scores.confidence_intervals["composite"]
    assert scores.composite is not None
    assert mixed.ci_lower <= scores.composite <= mixed.ci_upper


@pytest.mark.parametrize("language", first(2, ORDERED))
def test_dropping_words_never_raises_the_composite(language: str) -> None:
    found = tools(language)
    entries = entries_of(found)[: times(20, 60)]
    before = None
    for kept in (1.0, 0.8, 0.6, 0.4, 0.2, 0.0):
        texts = [" ".join(words[: round(kept * len(words))]) for words in _split(entries)]
        now = _composite(found, entries, texts)
        assert before is None or now <= before + 1e-9, kept
        before = now


def _split(entries: Sequence[Entry]) -> list[list[str]]:
    return [entry.reference.split() or [entry.reference] for entry in entries]


def _composite(found: ScoringTools, entries: Sequence[Entry], texts: Sequence[str]) -> float:
    statistics = found.scorer.statistics(found.annotated(_paired(entries, texts)))
    return composite(found.scorer.table(statistics).corpus_values()).value or 0.0


@examples(15, 60)
@given(st.sampled_from(ORDERED[: times(3, 99)]), st.integers(0, 39), st.integers(0, 200))
def test_next_correct_word_never_lowers_the_entry(language: str, place: int, kept: int) -> None:
    found = tools(language)
    entry = entries_of(found)[place]
    words = _split([entry])[0]
    cut = kept % len(words)
    shorter, longer = " ".join(words[:cut]), " ".join(words[: cut + 1])
    less, more = (_composite(found, [entry], [text]) for text in (shorter, longer))
    assert more >= less - 1e-9, (cut, len(words))


@examples(20, 150)
@given(
    st.sampled_from(ORDERED[: times(3, 99)]),
    st.lists(st.tuples(sentences, sentences, sentences), max_size=4),
)
def test_values_stay_in_their_range(language: str, texts: list[tuple[str, str, str]]) -> None:
    found = tools(language)
    translations = [
        Translation(Entry(id=n, source=source, reference=reference), output)
        for n, (source, reference, output) in enumerate(texts)
    ]
    annotated = found.annotated(translations)
    statistics = found.scorer.statistics(annotated)
    table = found.scorer.table(statistics)
    for values in found.scorer.entries_values(statistics):
        for id_, value in values.values.items():
            _in_range(id_, value)
    for id_, value in {**table.corpus_values(), **found.corpus_values(annotated)}.items():
        _in_range(id_, value)
    for metric in found.scorer.metrics:
        for each in annotated:
            assert all(isinstance(sentence, str) for sentence in metric.explain(each))


def _in_range(id_: str, value: float | None) -> None:
    info = specification().metrics[id_].info
    assert value is None or info.low <= value <= info.high, id_
