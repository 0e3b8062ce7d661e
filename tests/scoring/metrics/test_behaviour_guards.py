"""What the behavioural metrics may never do: flag human translations, reward nothing, break on a text."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.formats.load import load
from corpora.languages.cards import find_card
from corpora.model.entry import Entry
from corpora.samples import DEMO_COACHING, DEMO_CORPUS, sample_path
from scoring.core.metric import Metric, RateMetric
from scoring.core.setup import ScoringSetup
from scoring.core.translation import Translation
from scoring.metrics.code_switching import CodeSwitching
from scoring.metrics.consistency import Consistency
from scoring.metrics.hallucination import Hallucination, why_no_hallucination
from scoring.metrics.terminology_adherence import TerminologyAdherence
from scoring.words.resources import Resources
from tests.growth import grows_less
from tests.outside import TEXTS, only_with
from tests.review.thorough import examples, first
from tests.scoring.behaviour import LANGUAGES, card, entries, news, outputs, resources
from tests.scoring.samples import sentences

pytest.importorskip("wordfreq", reason="the package wordfreq is not installed")
needs_texts = only_with(TEXTS)


def rate(metric: Metric, translations: list[Translation]) -> float | None:
    taken = [row for row in metric.stats_many(translations) if row is not None]
    return metric.value([sum(column) for column in zip(*taken, strict=True)]) if taken else None


def flagged(metric: Metric, translations: list[Translation]) -> float:
    lower = metric.info.better == "lower"
    values = [None if row is None else metric.value(row) for row in metric.stats_many(translations)]
    bad = sum(value is not None and (value > 0 if lower else value < 1) for value in values)
    return bad / len(values)


def texts(found: Resources, kind: str) -> list[Translation]:
    covered = found.entries
    made = {
        "references": [entry.reference for entry in covered],
        "sources": [entry.source for entry in covered],
        "shuffled": [covered[place - 7].reference for place in range(len(covered))],
        "empty": [""] * len(covered),
    }
    return outputs(covered, made[kind])


def demo() -> Resources:
    terms = json.loads(sample_path(DEMO_COACHING).read_text(encoding="utf-8"))["dictionary"]
    listed = {key: [to] if isinstance(to, str) else to for key, to in terms.items()}
    found = find_card("eo")
    return resources(load(sample_path(DEMO_CORPUS)).entries, listed, target_card=found.card)


@pytest.mark.thorough
@needs_texts
@pytest.mark.parametrize("language", LANGUAGES)
def test_human_translations_are_not_flagged_and_bad_ones_are(language: str) -> None:
    found = news(language)
    switching, hallucination = CodeSwitching(found), Hallucination(found)
    for metric in (switching, hallucination):
        assert flagged(metric, texts(found, "references")) < 0.05
        assert rate(metric, texts(found, "empty")) is None
    assert (rate(switching, texts(found, "sources")) or 0) > 0.85
    assert (rate(hallucination, texts(found, "sources")) or 0) > 0.7
    assert (rate(switching, texts(found, "shuffled")) or 0) < 0.01
    assert (rate(hallucination, texts(found, "shuffled")) or 0) > 0.7


@needs_texts
@pytest.mark.parametrize("language", first(1, LANGUAGES))
def test_unseen_translations_are_not_taken_for_english(language: str) -> None:
    found = news(language)
    half = resources(found.entries[:1000], source="eng", target=language)
    unseen = [
        Translation(Entry(id=entry.id, source=entry.source, reference=""), entry.reference)
        for entry in found.entries[1000:]
    ]
    assert (rate(CodeSwitching(half), unseen) or 0) < 0.02


@needs_texts
@pytest.mark.parametrize("language", first(1, LANGUAGES))
def test_consistency_tells_translations_from_chance(language: str) -> None:
    found = news(language)
    metric = Consistency(found)
    human = metric.corpus_value(texts(found, "references")) or 0
    assert human > 0.4
    assert human > 1.3 * (metric.corpus_value(texts(found, "shuffled")) or 0)
    assert metric.corpus_value(texts(found, "empty")) == 0.0


@needs_texts
@pytest.mark.parametrize("code", ["csw", "ike", "ojb", "sme"])
def test_syllabics_and_sami_are_not_flagged(code: str) -> None:
    root = ET.parse(TEXTS / f"udhr_{code}.xml").getroot()
    paragraphs = [text for text in map(str.strip, root.itertext()) if text]
    english = ["Everyone has the right to life, liberty and security of person."] * len(paragraphs)
    found = resources(
        entries(zip(english, paragraphs, strict=True)), {"right": ["x"]}, source="eng", target=code
    )
    for metric in (CodeSwitching(found), Hallucination(found)):
        assert flagged(metric, texts(found, "references")) < 0.05
        assert (rate(metric, texts(found, "sources")) or 0) > 0.8


def test_demo_references_are_not_flagged_and_copies_are() -> None:
    found = demo()
    assert found.setup.alignment is None
    assert why_no_hallucination(found) is None
    found = demo()
    kinds: tuple[type[RateMetric], ...] = (CodeSwitching, Hallucination, TerminologyAdherence)
    for metric in (kind(found) for kind in kinds):  # type: ignore[call-arg]
        assert flagged(metric, texts(found, "references")) < 0.05
        assert flagged(metric, texts(found, "sources")) > 0.5
    assert rate(TerminologyAdherence(found), texts(found, "empty")) == 0.0


HOSTILE = demo()
METRICS: tuple[Metric, ...] = (
    CodeSwitching(HOSTILE),
    Hallucination(HOSTILE),
    TerminologyAdherence(HOSTILE),
)


@examples(15, 100)
@given(source=sentences, reference=sentences, output=sentences, variant=sentences)
def test_no_text_raises_and_no_value_leaves_its_range(
    source: str, reference: str, output: str, variant: str
) -> None:
    entry = Entry(id="x", source=source, reference=reference, variants=(variant,))
    translation = Translation(entry, output)
    for metric in METRICS:
        row = metric.stats(translation)
        assert row is None or (0 <= row[0] <= row[1] and row[1] > 0)
        assert bool(metric.explain(translation)) <= (row is not None)
    value = Consistency(HOSTILE).corpus_value([translation, translation])
    assert value is None or 0 <= value <= 1


@examples(15, 100)
@given(st.lists(st.tuples(sentences, sentences, sentences), max_size=6))
def test_no_corpus_raises(rows: list[tuple[str, str, str]]) -> None:
    covered = entries((source, reference) for source, reference, _ in rows)
    found = resources(covered, {source: [reference] for source, reference, _ in rows})
    made = outputs(covered, (output for _, _, output in rows))
    for metric in (CodeSwitching(found), Hallucination(found), TerminologyAdherence(found)):
        metric.stats_many(made)
    Consistency(found).corpus_value(made)


@examples(15, 100)
@given(st.data())
def test_a_word_of_the_reference_never_raises_code_switching(data: st.DataObject) -> None:
    entry = data.draw(st.sampled_from(list(HOSTILE.entries)))
    output = data.draw(st.lists(st.sampled_from([*entry.source.split(), "xyzzy", "kaj"])))
    word = data.draw(st.sampled_from(entry.reference.split()))
    before, after = (
        METRICS[0].stats(Translation(entry, " ".join(words))) for words in (output, [*output, word])
    )
    if before is not None and after is not None:
        assert after[0] / after[1] <= before[0] / before[1]


def test_signatures_and_values_need_nothing_but_the_setup() -> None:
    found = resources(HOSTILE.entries, {"dog": ["hundo"]}, target_card=card())
    setup = ScoringSetup.model_validate_json(found.setup.model_dump_json())
    for kind in (CodeSwitching, Hallucination, TerminologyAdherence):
        full, bare = kind(found), kind(Resources(setup))
        assert (bare.signature, bare.why_missing) == (full.signature, full.why_missing)
        assert bare.value((1, 4)) == 0.25
    assert Consistency(Resources(setup)).signature == Consistency(found).signature


@needs_texts
@pytest.mark.parametrize("kind", [CodeSwitching, Hallucination])
def test_time_grows_as_the_entries_do(kind: type[CodeSwitching | Hallucination]) -> None:
    found = news("spa")
    metric = kind(found)
    made = texts(found, "references")
    few = len(made) // 4
    assert grows_less(lambda size: metric.stats_many(made[:size]), few, len(made), 2.5)
