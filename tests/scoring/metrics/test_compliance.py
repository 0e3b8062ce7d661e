"""The compliance index on outputs and finals, and the violations that a repair took away."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.formats.load import load
from corpora.languages.cards import find_card
from corpora.languages.language import LanguageCard, WritingSystem
from corpora.model.entry import Entry
from corpora.samples import DEMO_CORPUS, sample_path
from scoring.card.scorecard import scorecard
from scoring.core.metric import Metric
from scoring.core.setup import ScoringSetup, Translation
from scoring.metrics.compliance import ComplianceIndex, RepairEffectiveness
from scoring.metrics.inventory import make_scorer
from scoring.words.source_words import Resources
from tests.outside import ENGLISH, published, skip_without
from tests.review.thorough import examples, first, times
from tests.scoring.samples import HOSTILE, sentences

SCRIPTS = {
    "fin": "Latn", "hin": "Deva", "arb": "Arab", "jpn": "Jpan", "amh": "Ethi", "ukr": "Cyrl",
    "mri": "Latn", "spa": "Latn",
}  # fmt: skip


def target(
    script: str | None = None, quotes: tuple[str, ...] = (), *, card: bool = True,
    word_letters: str = "", loan_words: tuple[str, ...] = (),
) -> Resources:  # fmt: skip
    """Return the resources of a target in one script, with a card unless told otherwise."""
    cased = script in {"Latn", "Cyrl", None}
    writing = WritingSystem(letters="a", cased=cased, quotes=quotes, word_letters=word_letters)
    made = LanguageCard(
        tag="xx", name="Test", default_script=script or "Latn", sources={},
        writings={script or "Latn": writing}, loan_words=loan_words,
    )  # fmt: skip
    setup = ScoringSetup(
        metrics=(), source_language="en", target_language="xx", script=script,
        language_card="xx" if card else None, language_card_sha256="0" * 64 if card else None,
    )  # fmt: skip
    return Resources(setup, made if card else None)


def translated(source: str, output: str, reference: str = "", raw: str | None = None) -> Translation:  # fmt: skip
    return Translation(Entry(id=1, source=source, reference=reference), output, raw=raw)


def value(translation: Translation, resources: Resources) -> float | None:
    metric = ComplianceIndex(resources)
    return metric.value(metric.stats(translation))


def shipped(language: str) -> Resources:
    found = find_card(language)
    return replace(target(SCRIPTS.get(language, "Latn")), card=found.card)


def flagged(metric: Metric, translations: list[Translation]) -> float:
    values = [metric.value(row) for row in metric.stats_many(translations) if row is not None]
    return sum(one is not None and one < 1 for one in values) / len(translations)


def read_pairs(language: str) -> list[Translation]:
    skip_without(ENGLISH)
    entries = load(ENGLISH, published(language)).entries
    return [Translation(entry, entry.reference) for entry in entries]


FRENCH = target("Latn", ("«»", "“”"))
SYLLABICS = target("Cans", ("“”",))


def test_values_of_entries() -> None:
    for source, output, expected in [
        ("Hello", "Bonjour", 1.0), ("Hello {name}", "Bonjour {name}", 1.0),
        ("Hello {name}", "Bonjour", 0.4), ("Hello", "Bonjour {name}", 0.4), ("{a} {a}", "{a}", 0.4),
        ("{a} and {b}", "{b} et {a}", 1.0), ("%1$s of %2$d", "%2$d de %1$s", 1.0),
        ("<b>Go</b>", "<b>Va<b>", 0.4), ('He said "go"', "Il dit « va »", 1.0),
        ('He said "go"', "Il dit “va”", 1.0), ('He said "go"', 'Il dit "va"', 0.8),
        ('He said "go"', "Il dit va", 0.8), ('He said "go {x}"', 'Il dit "va"', 0.2),
        ("Don't go", "L'homme n'ira pas", 1.0),
        ('<a title="dog">Go</a>', '<a title="chien">Va</a>', 1.0), ("Hello", "", 0.0),
        ("Hello", " \u200b", 0.0),
    ]:  # fmt: skip
        assert value(translated(source, output), FRENCH) == pytest.approx(expected)


def test_marks_and_breaks_around_an_answer() -> None:
    for source, output, reference, expected in [
        ("A dog", '"Un chien"', "Un chien", 0.8), ("A dog.", "«Un chien».", "Un chien.", 0.8),
        ('"A dog"', "«Un chien»", "«Un chien»", 1.0), ('A "dog"', "«Un chien»", "", 1.0),
        ('A "dog"', '"Un « chien »"', "Un « chien »", 0.8), ("A and B", "«A» et «B»", "«A» et «B»", 1.0),
        ("A dog", "Un\nchien", "Un chien", 0.8), ("A\ndog", "Un\nchien", "Un chien", 1.0),
        ("A dog", "\nUn chien\n", "Un chien", 1.0), ("L'eau", "'l'eau'", "l'eau", 0.8),
    ]:  # fmt: skip
        assert value(translated(source, output, reference), FRENCH) == pytest.approx(expected)
    wrapped = translated("A dog", '"Un\nchien"', "Un chien")
    told = " ".join(ComplianceIndex(FRENCH).explain(wrapped))
    assert "around the whole output" in told
    assert "a line break" in told


def test_latin_words_leak_only_into_writings_of_others() -> None:
    for source, output, expected in [
        ("The train stops", "ᐃᔥᑯᑌᐅᑖᐹᓐ", 1.0), ("The train stops", "train ᐃᔥᑯᑌᐅᑖᐹᓐ", 1.0),
        ("He stops", "train ᐃᔥᑯᑌᐅᑖᐹᓐ", 0.8), ("Ask Mary", "ᒣᕆ mary", 1.0),
        ("Open https://example.org/{id}", "ᐋᐸ https://example.org/{id}", 1.0),
        ("Take {count} <b>now</b>", "{count} <b>ᐊᓄᐦᒡ</b>", 1.0),
        ("Take {count}", "ᐊᓄᐦᒡ {antal}", 0.4),
    ]:  # fmt: skip
        assert value(translated(source, output), SYLLABICS) == pytest.approx(expected)
    cree = target("Latn")
    assert value(translated("The dog", "atim"), cree) == 1.0
    japanese = target("Jpan", ("「」",))
    kept = translated("T-shirts of the BBC's iPhones", "ＢＢＣの iPhone Tシャツ")
    assert value(kept, japanese) == 1.0
    assert value(translated("shirts", "TVシャツ"), japanese) == pytest.approx(0.8)


def test_part_without_a_known_rule_is_left_out() -> None:
    unknown = target(None, card=False)
    metric = ComplianceIndex(unknown)
    quoting = translated('Say "{x}"', '"{x}"')
    assert metric.stats(quoting) == (3, 3, 3)
    assert metric.stats(translated("Say {x}", "{x}")) == (4, 4, 4)
    assert metric.stats(translated('Say "{x}"', "„{x}“", "„{x}“")) == (4, 4, 4)
    assert metric.stats(translated('Say "{x}"', "«{x}»", "„{x}“")) == (3, 3, 4)
    told = " ".join(metric.explain(quoting))
    assert "no language card" in told
    assert "which script" in told
    assert value(translated("a", "train"), target("Ethi", card=False)) == pytest.approx(0.8)
    assert value(translated("a", "train"), target("Cyrl", card=False)) == 1.0
    spoken = translated('Say "it"', "“ka ‘ōlelo a‘o‘”")
    assert value(spoken, target("Latn", ("“”",), word_letters="‘")) == 1.0
    assert value(spoken, target("Latn", ("“”",))) == pytest.approx(0.8)
    said = 'He said "go"'
    assert value(translated(said, 'Il dit "va"', 'Il a dit "va"'), FRENCH) == 1.0
    assert value(translated(said, "Il dit va", "Il a dit d'aller"), FRENCH) == 1.0
    assert value(translated("x", "TV ᐊ", "ᐊ TV"), SYLLABICS) == 1.0
    loans = target("Cans", loan_words=("OK",))
    assert value(translated("Yes", "ok ᐊ"), loans) == 1.0


def test_first_answers_have_an_index_of_their_own() -> None:
    metric = ComplianceIndex(FRENCH)
    mended = metric.stats(translated("Hi {x}", "Salut {x}", raw="Salut"))
    same = metric.stats(translated("Hi {x}", "Salut {x}"))
    failed = metric.stats(translated("Hi {x}", "Salut {x}", raw=""))
    assert (mended, same, failed) == ((5, 2, 5), (5, 5, 5), (5, 0, 5))
    total = np.sum([mended, same, failed], axis=0, dtype=np.float64)
    assert metric.value(total) == 1.0  # type: ignore[arg-type]
    assert metric.further(total) == {"compliance_index_raw": pytest.approx(7 / 15)}  # type: ignore[arg-type]
    assert metric.further(np.zeros(3)) == {"compliance_index_raw": None}


def test_explanations_name_what_is_wrong_and_are_cut() -> None:
    metric = ComplianceIndex(SYLLABICS)
    translation = translated('Send "{name}" %s %s', '"train" ᐊ {nom} %s')
    assert metric.explain(translation) == (
        "The variable {name} is missing.",
        "The variable %s stands once, in the source 2 times.",
        "The variable {nom} is not in the source.",
        'The output quotes with "; right is “”.',
        "In Latin letters, and not in the source: train.",
    )
    assert metric.explain(translated("a", "ᐊ")) == ()
    assert metric.explain(translated("a", "")) == ("There is no output.",)
    many = " ".join(f"{{x{number}}} wordy{number}z" for number in range(5000))
    told = ComplianceIndex(SYLLABICS).explain(translated("a", many))
    assert len(told) < 12
    assert sum(map(len, told)) < 2000


@examples(15, 100)
@given(sentences, sentences, sentences, st.one_of(st.none(), sentences))
def test_every_text_has_a_value(source: str, output: str, reference: str, raw: str | None) -> None:
    for resources in (FRENCH, SYLLABICS, target(None, card=False)):
        metric = ComplianceIndex(resources)
        translation = translated(source, output, reference, raw)
        got, first, possible = metric.stats(translation)
        assert 0 <= min(got, first) <= max(got, first) <= possible <= 5
        metric.explain(translation)


@examples(15, 100)
@given(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=60)).filter(str.strip))
def test_a_copied_source_keeps_every_variable(text: str) -> None:
    told = ComplianceIndex(FRENCH).explain(translated(text, text))
    assert not [sentence for sentence in told if "variable" in sentence]


@pytest.mark.parametrize("language", first(1, ["hin", *sorted(set(SCRIPTS) - {"hin"})]))
def test_human_translations_are_hardly_ever_flagged(language: str) -> None:
    pairs = read_pairs(language)[:: times(4, 1)]
    metric = ComplianceIndex(shipped(language))
    assert flagged(metric, pairs) < 0.002
    assert flagged(ComplianceIndex(target(SCRIPTS[language], card=False)), pairs) < 0.002
    alone = [translated(pair.entry.source, pair.output) for pair in pairs]
    told = [" ".join(metric.explain(one)) for one in alone]
    wrong = [words for words in told if "quotes with" in words or "Latin" in words]
    if language != "fin":  # that translation opens quotations with “, which Finnish does not
        assert len(wrong) / len(alone) < 0.02
    if language == "hin":
        spoiled = [Translation(one.entry, f"{one.output} zyxw") for one in pairs[::4]]
        assert flagged(ComplianceIndex(target("Deva", ("“”",))), spoiled) == 1.0


def test_references_and_variants_of_the_demo_keep_everything() -> None:
    metric = ComplianceIndex(shipped("eo"))
    for entry in load(sample_path(DEMO_CORPUS)).entries:
        for text in (entry.reference, *entry.variants):
            alone = translated(entry.source, text)
            assert metric.explain(alone) == ()


def test_both_indices_and_the_repairs_reach_the_card() -> None:
    resources = target("Latn", ("«»",))
    names = ("exact_match_rate", "compliance_index", "repair_effectiveness")
    setup = resources.setup.model_copy(update={"metrics": names})
    scorer = make_scorer(replace(resources, setup=setup))
    pairs = [
        translated("Hi {x}", "Salut {x}", "Salut {x}", raw="Salut {y}"),
        translated("Go", "Va", "Va"),
    ]
    statistics = [scorer.unpack(scorer.pack(row)) for row in scorer.statistics(pairs)]
    scores = scorecard([pair.entry for pair in pairs], statistics, [False, False], scorer)
    assert (scores.compliance_index, scores.compliance_index_raw) == (1.0, pytest.approx(0.7))
    assert scores.repair_effectiveness == 1.0
    assert "compliance_index" in scores.confidence_intervals
    stored = make_scorer(Resources(setup)).metrics
    assert [each.signature for each in stored] == [each.signature for each in scorer.metrics]


def test_quotation_marks_that_are_turned_round() -> None:
    for quotes, reference, output, told in [
        (("«»",), "«x»", "»x«", ("» « stands where « » is used.",)),
        (("«»", "“”"), "x", "”x“ »x«", ("» « stands where « » is used.", "” “ stands where “ ” is used.")),
        (("«»", "»«"), "«x»", "»x«", ()),
        (("«»",), "»x«", "»x«", ()),
        ((), "«x»", "»x«", ("» « stands where « » is used.",)),
        (("«»",), "«x»", '"x"', ('The output quotes with "; right is «».',)),
        (("„“", "“”"), "„x“", "„x“", ()),
    ]:  # fmt: skip
        metric = ComplianceIndex(target("Latn", quotes))
        found = translated('Say "x"', output, reference=reference)
        assert metric.explain(found) == told
        assert metric.stats(found) == (5 - bool(told), 5 - bool(told), 5)


METRIC = RepairEffectiveness(target("Ethi", ("«»",)))
SOURCE = 'Send "{a}" to {b}'


def test_counts() -> None:
    for raw, output, expected in [
        ("«{a}» {b}", "«{a}» {b}", (0, 0, 1)), ("«{a}» {b}", "«{a}»", (0, 0, 1)),
        ("«{a}»", "«{a}» {b}", (1, 1, 1)), ("«»", "«{a}»", (1, 2, 1)),
        ("«»", "«{a}» {b}", (2, 2, 1)), ('"{a}" train {c}', "«{a}» {b}", (4, 4, 1)),
        ('"{a}" train {c}', '"{a}" {b}', (3, 4, 1)),
        ('"{a}" train town {b}', '"{a}" town {b}', (1, 3, 1)),
        ("«{a}» {b} {b}", "«{a}» {b}", (1, 1, 1)), ("«{a}»", "«{b}»", (0, 1, 1)),
        ('"{a}" {b}', "{a} {b}", (0, 1, 1)), ("«{a}»", "", (0, 1, 1)), ("", "«{a}» {b}", None),
        (None, "«{a}»", (0, 1, 0)), (None, "«{a}» {b}", None), (None, "", None),
    ]:  # fmt: skip
        assert METRIC.stats(translated(SOURCE, output, raw=raw)) == expected


def test_repairs_over_a_corpus_and_without_first_answers() -> None:
    rows = np.array([[1.0, 1.0, 1.0], [0.0, 3.0, 0.0], [0.0, 0.0, 0.0]])
    values = METRIC.values(np.vstack([rows, rows.sum(axis=0)]))
    assert values.tolist()[0] == 1.0
    assert np.isnan(values[1:3]).all()
    assert values[3] == 0.25
    made_elsewhere = METRIC.stats(translated(SOURCE, "«{a}»")) or ()
    assert METRIC.value(made_elsewhere) is None
    assert "no first answers are known" in METRIC.why_missing
    repaired_nothing = METRIC.stats(translated(SOURCE, "«{a}» b", raw="«{a}»")) or ()
    assert METRIC.value(repaired_nothing) == 0.0
    told = METRIC.explain(translated(SOURCE, '"{a}" {b}', raw='"{a}" train'))
    assert told == (
        "The first answer broke 3 rules of compliance; 2 were repaired.",
        "The variable {b} is missing.",
        'The output quotes with "; right is «».',
        "In Latin letters, and not in the source: train.",
    )
    assert METRIC.explain(translated(SOURCE, "«{a}» {b}")) == ()


@examples(15, 100)
@given(sentences, sentences, st.one_of(st.none(), sentences))
def test_no_more_is_repaired_than_was_found(source: str, output: str, raw: str | None) -> None:
    translation = translated(source, output, raw=raw)
    statistics = METRIC.stats(translation)
    if statistics is not None:
        assert 0 <= statistics[0] <= statistics[1]
    said = METRIC.explain(translation)
    assert bool(said) is (statistics is not None and statistics[1] > 0 and raw is not None)
