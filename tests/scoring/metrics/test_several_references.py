"""chrF++, BLEU and TER with several references, against sacreBLEU as the oracle: integers and values."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from corpora.samples import DEMO_CORPUS, DEMO_WEAK, sample_path
from corpora.text.comparison import is_blank
from scoring.core.metric import Metric
from scoring.core.translation import Translation
from scoring.metrics.bleu import Bleu
from scoring.metrics.chrf import ChrfPlusPlus
from scoring.metrics.length import LengthRatio
from scoring.metrics.match import ExactMatch
from scoring.metrics.ter import Ter
from tests.outside import published, skip_without
from tests.review.thorough import examples, first, times
from tests.scoring.metrics.oracles import sacrebleu_counts
from tests.scoring.samples import ALPHABETS, HOSTILE, entry, sentences, worse

LANGUAGES = ("fin", "hin", "arb", "jpn", "amh", "ukr", "mri")

Oracle = BLEU | CHRF | TER
Group = tuple[str, Sequence[str]]
"""An output and its references."""

MADE: dict[str, tuple[Metric, Callable[[], Oracle]]] = {
    "chrF++": (ChrfPlusPlus(multi_ref=True), lambda: CHRF(word_order=2)),
    "BLEU": (Bleu(multi_ref=True), BLEU),
    "TER": (Ter(multi_ref=True), TER),
}

each = pytest.mark.parametrize("name", MADE)


def made(groups: Sequence[Group]) -> list[Translation]:
    return [
        Translation(entry(texts[0], id_, variants=tuple(texts[1:])), output)
        for id_, (output, texts) in enumerate(groups)
    ]


def laid_out(groups: Sequence[Group]) -> tuple[list[str], list[list[str | None]]]:
    """Return composed outputs and references as sacreBLEU takes them: one list for each place, None where there is none."""
    kept = [[texts[0], *[text for text in texts[1:] if not is_blank(text)]] for _, texts in groups]
    composed = [[normalize("NFC", text) for text in texts] for texts in kept]
    most = max(map(len, composed))
    streams = [
        [texts[place] if place < len(texts) else None for texts in composed]
        for place in range(most)
    ]
    return [normalize("NFC", output) for output, _ in groups], streams


def check(name: str, groups: Sequence[Group]) -> None:
    metric, oracle = MADE[name]
    assert metric.stats_many(made(groups)) == sacrebleu_counts(oracle(), *laid_out(groups))


def check_values(name: str, groups: Sequence[Group]) -> None:
    metric, make_oracle = MADE[name]
    oracle = make_oracle()
    outputs, streams = laid_out(groups)
    rows = np.array(metric.stats_many(made(groups)), dtype=np.float64)
    singles = [
        oracle.corpus_score([output], [[s[place]] for s in streams if s[place] is not None]).score  # type: ignore[list-item]
        for place, output in enumerate(outputs)
    ]
    assert metric.values(rows) == pytest.approx(singles, abs=1e-9)
    expected = oracle.corpus_score(outputs, streams).score  # type: ignore[arg-type]
    assert metric.value(rows.sum(axis=0)) == pytest.approx(expected, abs=1e-9)


def reworded(text: str, rng: random.Random) -> str:
    """Say it in another order with some words lost and some letters doubled."""
    words = worse(text, rng).split() or [text]
    if rng.random() < 0.4:
        rng.shuffle(words)
    return " ".join(word + word[-1:] if rng.random() < 0.2 else word for word in words)


def phrase_book(alphabet: str, entries: int, most: int, rng: random.Random) -> list[Group]:
    """Entries with one to ``most`` references each; a variant may be the reference once more."""
    vocabulary = ["".join(rng.choices(alphabet, k=rng.randint(1, 6))) for _ in range(40)]
    groups: list[Group] = []
    for _ in range(entries):
        text = " ".join(rng.choices(vocabulary, k=rng.randint(1, 14)))
        others = [reworded(text, rng) or text for _ in range(rng.randrange(most))]
        groups.append((reworded(rng.choice([text, *others]), rng), [text, *others]))
    return groups


@each
@pytest.mark.parametrize("alphabet", first(1, ALPHABETS.values()))
def test_any_number_of_references_in_any_script(name: str, alphabet: str) -> None:
    groups = phrase_book(alphabet, times(60, 220), 5, random.Random(4))
    check(name, groups)
    check_values(name, groups)


@each
def test_hostile_texts_in_every_place(name: str) -> None:
    rng = random.Random(9)
    outputs = HOSTILE[:: times(3, 1)]
    check(name, [(o, [r, *rng.choices(HOSTILE, k=3)]) for o in outputs for r in HOSTILE])


@each
@examples(20, 120)
@given(
    st.lists(
        st.tuples(sentences, st.lists(sentences, min_size=1, max_size=4)), min_size=1, max_size=4
    )
)
def test_any_unicode(name: str, groups: list[Group]) -> None:
    check(name, groups)


@each
@examples(18, 200)
@given(
    st.text(alphabet="ab ", max_size=9),
    st.lists(st.text(alphabet="ab ", min_size=1, max_size=9), min_size=2, max_size=6),
)
def test_references_as_good_as_each_other(name: str, output: str, texts: list[str]) -> None:
    check(name, [(output, texts)])


def test_scores_of_references_are_sacrebleus_to_the_last_bit() -> None:
    """Else two references that are as good as each other could be told apart by rounding, here or there."""
    chrf, oracle = MADE["chrF++"][0], CHRF(word_order=2)
    rows = np.array(
        chrf.stats_many(made(phrase_book("abc", times(500, 2000), 1, random.Random(2))))
    )
    ours = chrf.values(rows.astype(np.float64)).tolist()
    # one row is one entry, which its public way would extract anew
    assert ours == [oracle._compute_f_score(row) for row in rows.tolist()]


@each
def test_more_references_than_are_counted_side_by_side(name: str) -> None:
    rng = random.Random(40)
    [(_, [text])] = phrase_book("abcdefgh", 1, 1, rng)
    long = " ".join([text] * 3)
    many = [(reworded(long, rng), [long, *[reworded(long, rng) for _ in range(40)]])]
    check(name, [*many, *phrase_book("abc", 30, 3, rng)])


@pytest.mark.thorough
def test_words_too_many_for_a_key_are_counted_one_by_one() -> None:
    rng = random.Random(12)
    words = [f"w{place}" for place in range(70_000)]
    texts = [" ".join(rng.sample(words, k=len(words))) for _ in range(3)]
    check("BLEU", [(reworded(texts[0], rng), texts)])


@each
def test_single_entries_have_the_integers_of_a_batch(name: str) -> None:
    metric = MADE[name][0]
    items = made(phrase_book("abcdef", 40, 4, random.Random(8)))
    assert [metric.stats(item) for item in items] == metric.stats_many(items)


@each
def test_the_demo(name: str) -> None:
    from corpora.formats.load import load

    corpus = load(sample_path(DEMO_CORPUS))
    outputs = sample_path(DEMO_WEAK).read_text("utf-8").splitlines()
    rng = random.Random(1)
    groups = [
        (rng.choice([outputs[place], reworded((item.reference, *item.variants)[-1], rng)]),
         [item.reference, *item.variants])
        for place, item in enumerate(corpus.entries[: times(40, 96)])
    ]  # fmt: skip
    assert len({len(texts) for _, texts in groups}) > 2
    check(name, groups)
    check_values(name, groups)


@pytest.mark.thorough
@each
@pytest.mark.parametrize("language", LANGUAGES)
def test_published_sentences_of_many_scripts(name: str, language: str) -> None:
    path = published(language)
    skip_without(path)
    rng = random.Random(language)
    lines = path.read_text("utf-8").splitlines()[:25]
    groups = []
    for line in lines:
        others = [reworded(line, rng) for _ in range(rng.randrange(4))]
        groups.append((reworded(rng.choice([line, *others]), rng), [line, *others]))
    check(name, groups)
    check_values(name, groups)


@each
def test_signature_is_sacrebleus_for_a_varying_number(name: str) -> None:
    metric, make_oracle = MADE[name]
    oracle = make_oracle()
    oracle.corpus_score(["a", "b"], [["a", "b"], ["c", None]])  # type: ignore[list-item]
    theirs = str(oracle.get_signature())
    assert "nrefs:var|" in theirs
    assert metric.signature.startswith(f"{theirs}|norm:NFC|engine:")


@each
def test_without_being_asked_variants_are_no_references(name: str) -> None:
    groups = phrase_book("abcdef", 60, 5, random.Random(3))
    single = {"chrF++": ChrfPlusPlus(), "BLEU": Bleu(), "TER": Ter()}[name]
    assert single.signature.startswith("nrefs:1|")
    alone = [(output, texts[:1]) for output, texts in groups]
    assert single.stats_many(made(groups)) == MADE[name][0].stats_many(made(alone))
    assert single.stats_many(made(groups)) != MADE[name][0].stats_many(made(groups))


@each
def test_blank_variant_makes_no_empty_output_right(name: str) -> None:
    metric = MADE[name][0]
    for blank in ("", " ", "\u200b", "\u3000\n"):
        alone, beside = made([("", ["mi iras"]), ("", ["mi iras", blank])])
        assert metric.stats(beside) == metric.stats(alone)
        assert metric.value(metric.stats(beside) or ()) == (100.0 if name == "TER" else 0.0)


@examples(20, 60)
@given(sentences, st.lists(sentences, min_size=2, max_size=4))
def test_further_reference_only_helps(output: str, texts: list[str]) -> None:
    fewer, more = made([(output, texts[:-1]), (output, texts)])
    chrf, ter = MADE["chrF++"][0], MADE["TER"][0]
    assert (chrf.value(chrf.stats(more) or ()) or 0) >= (chrf.value(chrf.stats(fewer) or ()) or 0)
    assert (ter.stats(more) or ())[0] <= (ter.stats(fewer) or ())[0]


def test_counted_by_hand() -> None:
    # "the" stands twice in one reference and once in the other: twice is right, not three times; seven
    # words lie nearer to seven (first) than to five; no run of two words of the output is in either
    output = "the the the the the the the"
    (item,) = made([(output, ["the cat is on the mat now", "there is a cat the"])])
    assert MADE["BLEU"][0].stats(item) == (7, 7, 2, 0, 0, 0, 7, 6, 5, 4)
    # one word from the second reference; two and three words are two and a half on average
    (item,) = made([("a b", ["a c d", "a b c"])])
    assert MADE["TER"][0].stats(item) == (1, 3)
    (item,) = made([("a b", ["x y", "a b c"])])
    assert (MADE["TER"][0].stats(item), MADE["TER"][0].value((1, 2.5))) == ((1, 2.5), 40.0)
    # of lengths as near as each other the shorter counts
    (item,) = made([("a b c", ["a b c d", "a b"])])
    assert (MADE["BLEU"][0].stats(item) or ())[:2] == (3, 2)
    (item,) = made([("saluton", ["bonan tagon", "saluton"])])
    assert MADE["chrF++"][0].value(MADE["chrF++"][0].stats(item) or ()) == 100.0


def test_nearest_variant_is_named_and_length_keeps_the_reference() -> None:
    item = made([("saluton", ["bonan tagon", "saluton"])])[0]
    assert (LengthRatio().stats(item), ExactMatch().stats(item)) == ((7, 11), (0, 1))
    chrf = MADE["chrF++"][0]
    other, same = made(
        [("saluton", ["bonan tagon", "", "saluton"]), ("bonan tagon", ["bonan tagon", "x"])]
    )
    assert chrf.explain(other) == (
        "Measured by variant 1, the nearest of 2 accepted translations.",
    )
    assert (chrf.explain(same), ChrfPlusPlus().explain(other)) == ((), ())
