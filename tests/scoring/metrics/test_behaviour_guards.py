"""Words of the source language, their alignment and quotation marks; and what behavioural metrics may never do."""

from __future__ import annotations

import gzip
import json
import random
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import msgpack
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpora.formats.load import load
from corpora.languages.cards import find_card
from corpora.model.entry import Entry, Segment, only_open
from corpora.samples import DEMO_COACHING, DEMO_CORPUS, sample_path
from scoring.core.metric import Metric, RateMetric
from scoring.core.setup import Acceptance, FstAnnotation, ScoringSetup, Translation, WordAnalysis
from scoring.metrics.behavioral import (
    CodeSwitching,
    Consistency,
    Hallucination,
    TerminologyAdherence,
    why_no_code_switching,
    why_no_hallucination,
)
from scoring.words import word_lists
from scoring.words.bitext import LEAST_PAIRS, MOST_PAIRS, Alignment, alignable, alignment_name, ibm1
from scoring.words.reading import unspaced
from scoring.words.source_words import Resources, source_word_list
from scoring.words.violations import quotation_marks, quoting, turned_round
from scoring.words.word_lists import MOST
from tests.growth import grows_less
from tests.outside import TEXTS, only_with
from tests.review.thorough import examples, first
from tests.scoring.behaviour import LANGUAGES, card, entries, news, outputs, resources
from tests.scoring.samples import sentences

wordfreq = pytest.importorskip("wordfreq", reason="the package wordfreq is not installed")
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


@cache
def demo() -> Resources:
    terms = json.loads(sample_path(DEMO_COACHING).read_text(encoding="utf-8"))["dictionary"]
    listed = {key: [to] if isinstance(to, str) else to for key, to in terms.items()}
    found = find_card("eo")
    return resources(load(sample_path(DEMO_CORPUS)).reveal_here(), listed, target_card=found.card)


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
def test_translations_are_told_from_english_and_from_chance(language: str) -> None:
    found = news(language)
    half = resources(found.entries[:1000], source="eng", target=language)
    others = [each.model_copy(update={"reference": ""}) for each in found.entries[1000:]]
    unseen = outputs(others, (each.reference for each in found.entries[1000:]))
    assert (rate(CodeSwitching(half), unseen) or 0) < 0.02
    metric = Consistency(found)
    human = metric.corpus_value(texts(found, "references")) or 0
    assert human > 0.4
    assert human > 1.3 * (metric.corpus_value(texts(found, "shuffled")) or 0)
    assert metric.corpus_value(texts(found, "empty")) == 0.0


@needs_texts
@pytest.mark.parametrize("code", first(2, ["csw", "sme", "ike", "ojb"]))
def test_syllabics_and_sami_are_not_flagged(code: str) -> None:
    root = ET.parse(TEXTS / f"udhr_{code}.xml").getroot()
    paragraphs = [text for text in map(str.strip, root.itertext()) if text]
    english = ["Everyone has the right to life, liberty and security of person."] * len(paragraphs)
    found = resources(entries(zip(english, paragraphs, strict=True)), {"right": ["x"]}, source="eng", target=code)
    for metric in (CodeSwitching(found), Hallucination(found)):
        assert flagged(metric, texts(found, "references")) < 0.05
        assert (rate(metric, texts(found, "sources")) or 0) > 0.8


def test_demo_references_are_not_flagged_and_copies_are() -> None:
    found = demo()
    assert found.setup.alignment is None
    assert why_no_hallucination(found) is None
    for metric in behaviour(found):
        assert flagged(metric, texts(found, "references")) < 0.05
        assert flagged(metric, texts(found, "sources")) > 0.5
    assert rate(TerminologyAdherence(found), texts(found, "empty")) == 0.0


def behaviour(found: Resources) -> tuple[RateMetric, ...]:
    return CodeSwitching(found), Hallucination(found), TerminologyAdherence(found)


@examples(15, 100)
@given(source=sentences, reference=sentences, output=sentences, variant=sentences)
def test_no_value_leaves_its_range(source: str, reference: str, output: str, variant: str) -> None:
    entry = Entry(id="x", source=source, reference=reference, variants=(variant,))
    translation = Translation(entry, output)
    for metric in behaviour(demo()):
        row = metric.stats(translation)
        assert row is None or (0 <= row[0] <= row[1] and row[1] > 0)
        assert bool(metric.explain(translation)) <= (row is not None)
    value = Consistency(demo()).corpus_value([translation, translation])
    assert value is None or 0 <= value <= 1


@examples(15, 100)
@given(st.lists(st.tuples(sentences, sentences, sentences), max_size=6))
@example([("", "", "")] * 2 + [("", "", "A¹ x² \N{ROMAN NUMERAL EIGHT}")])
@example([("", "", "a \U00016d70 b\U0001e5f1")])  # digits of a Unicode version that Python may not know
def test_no_corpus_raises(rows: list[tuple[str, str, str]]) -> None:
    covered = entries((source, reference) for source, reference, _ in rows)
    found = resources(covered, {source: [reference] for source, reference, _ in rows})
    made = outputs(covered, (output for _, _, output in rows))
    for metric in behaviour(found):
        metric.stats_many(made)
    rows_of_stems = Hallucination(resources(covered)).stats_many(made)  # without terms stems alone tell most of it
    for translation, row in zip(made, rows_of_stems, strict=True):
        explained = Hallucination(resources(covered)).explain(translation)
        assert sum(int(sentence.split()[0]) for sentence in explained) == (row[0] if row else 0)
        assert all(int(sentence.split()[2]) == row[1] for sentence in explained if row)
    Consistency(found).corpus_value(made)


@examples(15, 100)
@given(st.data())
def test_a_word_of_the_reference_never_raises_code_switching(data: st.DataObject) -> None:
    entry = data.draw(st.sampled_from(list(demo().entries)))
    output = data.draw(st.lists(st.sampled_from([*entry.source.split(), "xyzzy", "kaj"])))
    word = data.draw(st.sampled_from(entry.reference.split()))
    metric = CodeSwitching(demo())
    texts = (" ".join(words) for words in (output, [*output, word]))
    before, after = (metric.stats(Translation(entry, text)) for text in texts)
    if before is not None and after is not None:
        assert after[0] / after[1] <= before[0] / before[1]


def test_signatures_and_values_need_nothing_but_the_setup() -> None:
    found = resources(demo().entries, {"dog": ["hundo"]}, target_card=card())
    setup = ScoringSetup.model_validate_json(found.setup.model_dump_json())
    for kind in (CodeSwitching, Hallucination, TerminologyAdherence):
        full, bare = kind(found), kind(Resources(setup))
        assert (bare.signature, bare.why_missing) == (full.signature, full.why_missing)
        assert bare.value((1, 4)) == 0.25
    assert Consistency(Resources(setup)).signature == Consistency(found).signature


@needs_texts
@pytest.mark.parametrize("kind", first(1, [Hallucination, CodeSwitching]))
def test_time_grows_as_the_entries_do(kind: type[CodeSwitching | Hallucination]) -> None:
    metric, made = kind(news("fin")), texts(news("fin"), "references")
    assert grows_less(lambda size: metric.stats_many(made[:size]), 150, 600, 2.5)  # as many texts as are kept


CORPUS = entries([
    ("Where is the train station?", "Kie estas la stacidomo?"),
    ("My name is Peter and I live in London.", "Mi nomiĝas Petro kaj loĝas en Londono."),
    ("I see the dog.", "Mi vidas la hundon."),
    ("The cat drinks 3 cups of milk.", "La kato trinkas 3 tasojn da lakto."),
])  # fmt: skip
METRIC = CodeSwitching(resources(CORPUS, {"computer": ["komputer"]}, source_card=card("en", name="English")))


def taken(output: str, place: int = 0, metric: CodeSwitching = METRIC) -> tuple[float, ...] | None:
    return metric.stats(Translation(CORPUS[place], output))


def test_words_are_counted_by_their_language() -> None:
    for output, wanted in [
        ("Kie estas la train station?", (2, 5)), ("KIE ESTAS LA TRAIN?", (1, 4)),
        ("Where is the train station?", (5, 5)), ("kie xyzzy", (0, 2)),
        ("kie {train} <b>%(station)s https://train.example/station", (0, 1)), ("about", (1, 1)),
        ("komputer", (0, 1)), ("kie 42 7th", (0, 1)), ("станция estas", (0, 2)),
    ]:  # fmt: skip
        assert taken(output) == wanted


def test_each_entry_counts_once_whatever_its_id() -> None:
    covered = [Entry(id=id_, source=f"word{place}", reference="x") for place, id_ in enumerate((-1, -2, "a", 0))]
    assert set(resources(covered).bitext.source_frequencies.values()) == {1}
    assert len(resources(covered).bitext.source_frequencies) == 4


def test_output_without_a_word_earns_nothing() -> None:
    assert {taken(text) for text in ("", " ", "42", "!?", "{name}", "\ud800")} == {None}
    assert METRIC.value((2, 5)) == 0.4
    assert METRIC.value((0, 0)) is None


def test_names_are_left_out_and_titles_have_none() -> None:
    assert taken("Mi nomiĝas Peter kaj loĝas en London.", 1) == (0, 5)
    assert taken("peter", 1) == (1, 1)
    covered = [*CORPUS, Entry(id=9, source="The Long Road To London", reference="La longa vojo")]
    metric = CodeSwitching(resources(covered))
    assert metric.stats(Translation(covered[-1], "La Long Road")) == (2, 3)
    pairs = [(f"the dog sees the thing {n}", "hundo vidas") for n in range(10)]
    covered = entries([*pairs, ("He saw a film.", "Li vidis la filmon The Road.")])
    metric = CodeSwitching(resources(covered))
    assert metric.stats(Translation(covered[0], "the hundo")) == (1, 2)
    assert metric.stats(Translation(covered[-1], covered[-1].reference))[0] == 0


def test_accepted_words_and_loan_words_are_the_target_s() -> None:
    analysed = (WordAnalysis("train", Acceptance.AS_WRITTEN), WordAnalysis("station", None))
    translation = Translation(CORPUS[0], "train station", {"fst": FstAnnotation(analysed, ())})
    assert METRIC.stats(translation) == (1, 2)
    metric = CodeSwitching(resources(CORPUS, target_card=card(loan_words=("Station",))))
    assert taken("train station", metric=metric) == (1, 2)


def test_another_script_or_the_source_tells_without_a_list() -> None:
    pairs = [("Where is the station?", "駅はどこですか。"), ("I see a dog.", "犬が見えます。")]
    covered = entries(pairs)
    metric = CodeSwitching(resources(covered, listed=False))
    assert metric.stats(Translation(covered[0], "whatever")) == (1, 1)
    assert metric.stats(Translation(covered[0], "駅stationはどこ")) == (1, 5)
    metric = CodeSwitching(resources(CORPUS, listed=False))
    assert taken("kie train about", metric=metric) == (1, 3)
    assert "list:none" in metric.signature
    assert "list:wordfreq" in METRIC.signature

    # a single letter of the source tells no language
    corpus = entries([("Plan b or bb", "Plano du"), ("Where is it?", "Kie estas?")])
    metric = CodeSwitching(resources(corpus))
    assert metric.stats(Translation(corpus[0], "b")) == (0, 1)
    assert metric.stats(Translation(corpus[0], "bb")) == (1, 1)


def test_what_is_found_is_listed_in_words() -> None:
    assert METRIC.explain(Translation(CORPUS[0], "Kie estas la train station?")) == (
        "2 of 5 words are English: train, station.",
    )
    assert METRIC.explain(Translation(CORPUS[0], "Train")) == ("1 of 1 word is English: Train.",)
    assert METRIC.explain(Translation(CORPUS[0], "Kie estas la stacidomo?")) == ()
    assert METRIC.explain(Translation(CORPUS[0], "")) == ()
    strange = "would about people because after which think before through should could never again"
    (said,) = METRIC.explain(Translation(CORPUS[0], f"the train the station {strange}"))
    assert said.startswith("17 of 17 words are English: the (2×), train, station, would, about, ")
    assert said.endswith(", through and 4 more.")
    # two varieties of one language turn it off
    pairs = [("The colour of the lorry", "The color of the truck"), ("I see it", "I see it")]
    alike = entries(pairs)
    assert "share most of their words" in (why_no_code_switching(resources(alike)) or "")
    assert why_no_code_switching(resources(CORPUS)) is None
    assert why_no_code_switching(resources([])) is None


def toy(pairs: int) -> list[tuple[list[str], list[str]]]:
    rng, made = random.Random(3), []
    for _ in range(pairs):
        source = [f"s{rng.randrange(12)}" for _ in range(rng.randint(1, 8))]
        target = [f"t{word[1:]}" for word in source if rng.random() > 0.1] or ["t0"]
        rng.shuffle(target)
        made.append((source, target))
    return made


def test_probabilities_equal_those_of_nltk() -> None:
    translate = pytest.importorskip("nltk.translate", reason="nltk is not installed")
    # nltk divides twice where a target word stands twice in its sentence, so each stands there once
    pairs = [(source, list(dict.fromkeys(target))) for source, target in toy(60)]
    oracle = translate.IBMModel1([translate.AlignedSent(t, s) for s, t in pairs], 5)
    sources = ["", *sorted({word for source, _ in pairs for word in source})]
    targets = sorted({word for _, target in pairs for word in target})
    numbers = [[0, *map(sources.index, source)] for source, _ in pairs]
    found = ibm1(numbers, [list(map(targets.index, target)) for _, target in pairs])
    for source, target, probability in zip(*(part.tolist() for part in found), strict=True):
        wanted = oracle.translation_table[targets[target]][sources[source] or None]
        assert probability == pytest.approx(wanted, rel=1e-9)


def test_links_are_translations_and_the_same_again() -> None:
    alignment = Alignment(toy(300))
    for number in range(12):
        links = alignment.links(f"t{number}")
        assert max(links, key=links.__getitem__) == f"s{number}"
        assert links[f"s{number}"] > 0.8
    assert alignment.links("unseen") == {}
    first, second = Alignment(toy(300)), Alignment(toy(300))
    assert all(first.links(f"t{n}") == second.links(f"t{n}") for n in range(12))
    assert Alignment([]).links("a") == {}
    alignment = Alignment([([], ["b"]), (["a"], []), (["a"], ["b"])])
    assert (alignment.pairs, list(alignment.links("b"))) == (1, ["a"])
    source, _, probability = ibm1([[0, 1, 2], [0, 2], [0, 1, 1]], [[0, 1], [1, 1, 2], [0]])
    assert np.bincount(source, probability) == pytest.approx(np.ones(3))


def test_the_time_of_learning_grows_as_the_pairs_do() -> None:
    rng = random.Random(1)
    words = [[str(int(rng.paretovariate(0.5)) % 9000) for _ in range(15)] for _ in range(2_400)]
    pairs = list(zip(words[::2], words[1::2], strict=True))
    assert grows_less(lambda size: Alignment(pairs[:size]), 300, 1_200, 2.5)


def test_secret_and_one_sided_pairs_are_never_learned_from() -> None:
    open_ = entries([("a", "b")] * LEAST_PAIRS, segment=Segment.DEVELOPMENT)
    secret = entries([("a", "b")] * LEAST_PAIRS, segment=Segment.HELD_OUT)
    assert alignment_name(only_open(open_)) == "IBM model 1, 5 rounds, links from 0.01, 200 pairs"
    assert alignment_name(only_open([*open_[1:], *secret])) is None
    assert alignable(only_open([*secret, *entries([("", "b"), ("a", " ")])])) == []
    assert len(alignable(only_open(entries([("a", "b")] * (MOST_PAIRS + 1))))) == MOST_PAIRS


def test_quotations_are_told_from_apostrophes_and_letters() -> None:
    for text, marks in [
        ('He said "go".', '"'), ("“Go,” she said", "“”"), ("„Geh“, sagte er", "„“"),
        ("« Va », dit-elle", "«»"), ("「行け」と『本』", "「」『』"), ("“He said ‘no’ twice”", "“”‘’"),
        ("worried about 'looking like muppets'", "'"), ('"They shouted: \'I got bit!\'"', "\"'"),
        ("said: 'The investigation of O'Hagan continues'", "'"), ('مثل "007"و"مهمة"', '"'),
        ("これは\"テスト\"です", '"'), ("‚so‘", "‚‘"), ("‹so›", "‹›"),
    ]:  # fmt: skip
        assert quotation_marks(text) == frozenset(marks)
    for text in [
        "don't", "l’homme", "it's the dogs' home", "the dogs' and cats' homes", "rock 'n roll", "kâ-wî'c", "qaʼaq",
        "a 24\" screen", "5'10\" tall", "5′ 10″", "צה\"ל", "", "'", "‘", "в’їзд", "o‘zbek tili", "Toyota's Aurisን",
    ]:  # fmt: skip
        assert quotation_marks(text) == frozenset()
    assert quotation_marks("‘o ka ‘ōlelo’ ", "‘’") == frozenset()
    assert quotation_marks("“‘ōlelo”", "‘") == frozenset("“”")
    assert quotation_marks('he wrote "in 1974" twice') == frozenset('"')


@examples(15, 100)
@given(sentences)
def test_only_characters_of_the_text_are_named(text: str) -> None:
    assert quotation_marks(text) <= frozenset(text)


def test_marks_that_are_turned_round() -> None:
    for text, pair, turned in [
        ("»Va« , dit-elle", "«»", True), ("«Va», dit-elle", "«»", False),
        ("»Va« et »viens«", "«»", True), ("»Va« et «viens»", "«»", False),
        ("»Va ‘là’«", "«»", True), ("Va»", "«»", False), ('"Va"', '""', False),
        ("„Geh“", "“”", False), ("", "«»", False),
    ]:  # fmt: skip
        assert turned_round(quoting(text), pair) is turned


def test_words_are_those_of_the_package() -> None:
    for tag, code in [("eng", "en"), ("spa-Latn", "es")]:
        words, name = source_word_list(tag)
        top = wordfreq.top_n_list(code, MOST, wordlist="small")
        wanted = {word.casefold().replace("’", "'").replace("ʼ", "'") for word in top}
        assert words == {word for word in wanted if len(word) > 1}
        assert name.endswith(f"small_{code}, 5,000 words")


def test_languages_without_a_list_or_package_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for tag in ("crk", "iu-Cans", "qqq", "../../x", "", "zh", "ja"):
        assert source_word_list(tag) == (frozenset(), None)
    for code in wordfreq.available_languages("small"):  # all others have words between spaces
        top = wordfreq.top_n_list(code, MOST, wordlist="small")
        assert (word_lists.listed_words(code)[1] is None) == (sum(map(unspaced, top)) * 2 > len(top)), code
    monkeypatch.setattr(word_lists, "find_spec", lambda _: None)
    assert source_word_list.__wrapped__("en") == (frozenset(), None)


def test_damaged_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "small_en.msgpack.gz"
    monkeypatch.setattr(word_lists, "list_file", lambda _: file)
    packed = (b"", b"\xc1", msgpack.packb([{}, []]), msgpack.packb(7))
    for content in (b"", b"no gzip", *(gzip.compress(each, mtime=0) for each in packed)):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=r"small_en\.msgpack\.gz .* install the package again"):
            source_word_list.__wrapped__("en")
