"""What the metrics together may never do, on real texts of many scripts (with everything that a run uses)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from harness.setup.scoring_tools import ScoringTools
from scoring.card.claim import FloorScores
from scoring.card.floors import derangement, floors
from scoring.card.scorecard import RunScores, scorecard
from scoring.core.composite import composite
from scoring.core.specification import Tier, specification
from scoring.core.translation import Translation
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


def judged(language: str, outputs: Sequence[str]) -> RunScores:
    found = tools(language)
    entries = entries_of(found)
    statistics = found.scorer.statistics(found.annotated(_paired(entries, outputs)))
    return scorecard(
        entries,
        statistics,
        [not text for text in outputs],
        found.scorer,
        outputs,
        known_floors=floors_of(language),
    )


def _paired(entries: Sequence[Entry], outputs: Sequence[str]) -> list[Translation]:
    return [Translation(entry, text) for entry, text in zip(entries, outputs, strict=True)]


@cache
def floors_of(language: str) -> dict[str, FloorScores]:
    found = tools(language)
    return floors(entries_of(found), found.scorer.metrics, annotate=found.annotated)


WORTHLESS: dict[str, Callable[[Sequence[Entry]], list[str]]] = {
    "empty": lambda entries: [""] * len(entries),
    "copied": lambda entries: [entry.source for entry in entries],
    "constant": lambda entries: [entries[len(entries) // 2].reference] * len(entries),
    "shuffled": lambda entries: [
        entries[place].reference for place in derangement(len(entries), 7)
    ],
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", WORTHLESS)
@pytest.mark.parametrize("language", CORPORA)
def test_worthless_outputs_claim_baseline(language: str, kind: str) -> None:
    found = tools(language)
    scores = judged(language, WORTHLESS[kind](entries_of(found)))
    assert scores.claimable_tier is Tier.BASELINE, (kind, scores.composite)


@pytest.mark.thorough
@pytest.mark.parametrize("language", CORPORA)
def test_references_scored_as_outputs(language: str) -> None:
    found = tools(language)
    entries = entries_of(found)
    translations = found.annotated(_paired(entries, [entry.reference for entry in entries]))
    statistics = found.scorer.statistics(translations)
    values = [found.scorer.entry_values(row).values for row in statistics]
    for id_, ideal, most in (
        ("code_switching_rate", 0.0, 0.05),
        ("hallucination_rate", 0.0, 0.05),
        ("terminology_adherence", 1.0, 0.05),
        ("compliance_index", 1.0, 0.02),
    ):
        flagged = [row.get(id_) not in {None, ideal} for row in values]
        assert sum(flagged) / len(flagged) < most, id_
    scores = judged(language, [entry.reference for entry in entries])
    assert scores.exact_match_rate == 1.0
    assert (scores.orthographic_accuracy or 1.0) > 0.98
    assert _without_analyser(scores) >= 0.97


@pytest.mark.thorough
def test_the_cree_corpus_is_judged_by_its_analyser() -> None:
    found = tools("cree")
    scores = judged("cree", [entry.reference for entry in entries_of(found)])
    analyser = found.setup.analyser
    assert analyser is not None
    assert analyser.reference_accepted == analyser.reference_words > 800
    assert scores.fst_acceptance_rate == 1.0
    assert scores.morphological_accuracy == 1.0
    marked = sum(not set("âêîô").isdisjoint(entry.reference) for entry in entries_of(found))
    assert marked > 0.9 * len(entries_of(found))


def _without_analyser(scores: RunScores) -> float:
    """Return the composite apart from the share of the analyser, which does not know all human words."""
    kept = [part for part in scores.composite_inputs if part.metric != "fst_acceptance_rate"]
    weight = sum(part.weight for part in kept)
    return sum(part.weight * part.normalised for part in kept) / weight


@pytest.mark.parametrize("language", first(2, ORDERED))
def test_each_value_has_an_interval_or_a_reason(language: str) -> None:
    found = tools(language)
    seeded = random.Random(3)
    texts = [_worse(entry.reference, seeded) for entry in entries_of(found)]
    scores = judged(language, texts)
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


def _worse(text: str, seeded: random.Random) -> str:
    return " ".join(word for word in text.split() if seeded.random() < 0.8)


@pytest.mark.parametrize("language", first(3, ORDERED))
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
