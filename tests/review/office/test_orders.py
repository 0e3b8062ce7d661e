"""Which entries are drawn, in which orders they go to whom, what stands beside them, and the training before."""

import io
import zipfile
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry, Segment
from harness.card.comparability import card_id
from harness.core.failures import UsageError
from harness.sealed.keys import Identity, Role
from harness.store.sqlite.database import open_store
from review.files.manifests import SentenceContext
from review.office.making.controls import make_training, read_training
from review.office.making.creating import ReviewDraft, Size, draft_review
from review.office.making.items import REPEAT_APART, allocate, draw, order, orders, spread, stratum
from review.office.making.reviewed_runs import ContextPolicy, read_runs, surroundings
from review.office.making.texts import review_texts
from review.office.making.wrong_texts import plain_form
from review.office.store.store import Office
from review.rating import Rating
from review.verdict.gate.policy import proposed
from tests.review.office import made
from tests.review.office.made import demo_entries
from tests.review.thorough import examples, times


def batch(real: int, bad: int, repeats: int, runs: int = 1) -> tuple[dict[str, int], dict[str, str]]:
    originals = {f"r{run}-{entry}": entry for run in range(runs) for entry in range(real)}
    originals |= {f"b{entry}": entry for entry in range(bad)}
    partners = {f"p{entry}": f"r0-{entry + bad}" for entry in range(repeats)}
    originals |= {repeat: originals[item] for repeat, item in partners.items()}
    return originals, partners


@examples(15, 600)
@given(st.integers(60, 120), st.integers(0, 12), st.integers(0, 12), st.integers(1, 3), st.integers())
def test_repeats_stand_thirty_apart(real: int, bad: int, repeats: int, runs: int, seed: int) -> None:
    originals, partners = batch(real, bad, repeats, runs)
    made = order(list(originals), originals, partners, Random(seed))
    assert sorted(made) == sorted(originals)
    place = {item: at for at, item in enumerate(made)}
    for repeat, item in partners.items():
        assert abs(place[repeat] - place[item]) >= REPEAT_APART
    for one, other in pairwise(made):
        assert originals[one] != originals[other]


@examples(20, 100)
@given(st.integers(1, 20), st.integers(0, 5), st.integers())
def test_short_orders_are_whole_too(real: int, repeats: int, seed: int) -> None:
    originals, partners = batch(real, 0, min(repeats, real))
    made = order(list(originals), originals, partners, Random(seed))
    assert sorted(made) == sorted(originals)


def test_a_place_tells_nothing_of_what_stands_there() -> None:
    """Over many orders, controls stand in the first half as often as in the second."""
    originals, partners = batch(80, 8, 8)
    trials = times(100, 300)
    first: Counter[str] = Counter()
    for seed in range(trials):
        made = order(list(originals), originals, partners, Random(seed))
        first.update(item[0] for item in made[: len(made) // 2])
    for kind, count in (("b", 8), ("p", 8), ("r", 80)):
        share = first[kind] / (trials * count)
        assert abs(share - 0.5) < times(100, 300) ** -0.5, kind  # three deviations, of 800 places and more


@examples(20, 100)
@given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 60), st.integers())
def test_extra_entries_are_spread_evenly(extra: int, people: int, each: int, seed: int) -> None:
    given_ = spread(list(range(extra)), [str(n) for n in range(people)], each, Random(seed))
    counts = Counter(entry for entries in given_.values() for entry in entries)
    full = [counts[entry] for entry in range(extra)]
    assert max(full) - min(full) <= 1
    assert all(len(set(entries)) == len(entries) == min(each, extra) for entries in given_.values())


def test_everybody_gets_the_core_and_an_even_share() -> None:
    originals = {f"i{n}": n for n in range(20)}
    extra = {n: [f"i{n}"] for n in range(10, 20)}
    given_ = orders(originals, {}, [f"i{n}" for n in range(10)], extra, ["A", "B", "C"], 5, 1)  # type: ignore[arg-type]
    for items in given_.values():
        assert {f"i{n}" for n in range(10)} <= set(items)
        assert len(items) == 15
    counts = Counter(item for items in given_.values() for item in items)
    assert sorted(counts[f"i{n}"] for n in range(10, 20)) == [1] * 5 + [2] * 5
    assert len(set(given_.values())) == 3
    extra = {n: [f"i{n}"] for n in range(10)}
    with pytest.raises(UsageError, match="asked of nobody"):
        orders({f"i{n}": n for n in range(10)}, {}, [], extra, ["A", "B"], 4, 1)  # type: ignore[arg-type]


SIZES = st.dictionaries(st.integers(0, 5), st.integers(1, 300), min_size=1)


@examples(20, 100)
@given(SIZES, st.integers(1, 400), st.integers(0, 12))
def test_allocation_is_whole_within_strata(sizes: dict[int, int], wanted: int, least: int) -> None:
    given_ = allocate(sizes, wanted, least)
    assert given_.keys() == sizes.keys()
    assert sum(given_.values()) == min(wanted, sum(sizes.values()))
    assert all(0 <= given_[name] <= sizes[name] for name in sizes)
    if sum(min(least, size) for size in sizes.values()) <= wanted:
        assert all(given_[name] >= min(least, sizes[name]) for name in sizes)


@examples(20, 100)
@given(SIZES, st.integers(1, 400))
def test_without_a_least_shares_are_those_of_the_corpus(sizes: dict[int, int], wanted: int) -> None:
    total = sum(sizes.values())
    if wanted < total:
        for name, count in allocate(sizes, wanted, 0).items():
            assert abs(count - wanted * sizes[name] / total) < 1


def test_rest_goes_by_share_and_too_few_evenly() -> None:
    # 80 of 200: 8 each are 40, the other 40 by share 100:50:25:15:10 are 20, 10, 5, 3, 2
    sizes = {1: 100, 2: 50, 3: 25, 4: 15, 5: 10}
    assert allocate(sizes, 80, 8) == {1: 28, 2: 18, 3: 13, 4: 11, 5: 10}
    assert allocate({1: 100, 2: 50, 3: 2}, 8, 8) == {1: 3, 2: 3, 3: 2}


def corpus(count: int) -> list[Entry]:
    return [
        Entry(id=number, source=f"s {number}", reference=f"r {number}", difficulty=1 + number % 5)
        for number in range(count)
    ]


def test_draw_keeps_to_seed_and_strata_and_is_fair() -> None:
    entries = corpus(300)
    drawn = draw(entries, 80, 8, seed=3)
    assert [entry.id for entry in drawn] == [entry.id for entry in draw(entries, 80, 8, seed=3)]
    assert [entry.id for entry in drawn] != [entry.id for entry in draw(entries, 80, 8, seed=4)]
    assert Counter(map(stratum, drawn)) == dict.fromkeys(range(1, 6), 16)
    assert [entry.id for entry in drawn] == sorted(entry.id for entry in drawn)
    for size in (10, 50, 80):
        assert draw(corpus(size), 80, 8, seed=1) == corpus(size)
    entries = corpus(100)
    counts = Counter(entry.id for seed in range(400) for entry in draw(entries, 50, 0, seed))
    assert min(counts.values()) > 140  # 200 ± 10 each; six deviations
    assert max(counts.values()) < 260


WORDS = review_texts("en").training


def test_made_practice_is_only_what_is_wrong_in_any_language() -> None:
    entries = demo_entries()
    items = make_training(entries, WORDS, seed=1)
    references = {entry.source: entry.reference for entry in entries}
    assert [item.rating for item in items] == [Rating.REJECT] * 3
    for item in items:
        right = references[item.source]
        assert item.candidate in set(references.values()) - {right} or right.startswith(item.candidate)
        assert item.explanation in WORDS.values()
    assert make_training([], WORDS, 1) == []
    assert 1 <= len(make_training(demo_entries()[:4], WORDS, 1)) <= 2


def test_half_a_sentence_is_no_gist_and_nothing_comes_twice() -> None:
    entries = demo_entries()
    right = {entry.source: entry.reference for entry in entries}
    for seed in range(times(12, 40)):
        items = make_training([*entries, *entries], WORDS, seed)
        [half] = [each for each in items if each.explanation == WORDS["half"]]
        assert half.rating is Rating.REJECT
        assert right[half.source].startswith(half.candidate)
        assert len({each.source for each in items}) == len(items)
        assert len({plain_form(each.candidate) for each in items}) == len(items)
        own = {right[each.source] for each in items}
        assert not {each.candidate for each in items if each.rating is Rating.REJECT} & own


TSV = "source\tcandidate\trating\texplanation\nHello\tSaluton\texcellent\tA greeting.\n"
TOML = '[[item]]\nsource = "Hello"\ncandidate = "Saluton"\nrating = "gist"\nexplanation = "x"\n'


def test_organisers_items_are_read_or_refused_in_words(tmp_path: Path) -> None:
    for name, text in (("t.tsv", TSV), ("t.toml", TOML)):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        [item] = read_training(path)
        assert (item.source, item.candidate) == ("Hello", "Saluton")
    for name, text, words in (
        ("t.tsv", TSV.replace("excellent", "great"), "line 2: field 'rating'"),
        ("t.tsv", TSV.replace("\tA greeting.", ""), "line 2: 3 columns"),
        ("t.tsv", TSV.replace("explanation", "why"), "line 1: the columns"),
        ("t.tsv", TSV.replace("A greeting.", " "), "explanation"),
        ("t.tsv", "", "line 1"),
        ("t.toml", TOML.replace("gist", "great"), "item 1: field 'rating'"),
        ("t.toml", TOML + "more = 1\n", "item 1: field 'more'"),
        ("t.toml", "x = 1\n", "only sections"),
        ("t.toml", "item = [1]\n", "item 1"),
        ("t.toml", "[[item", "no TOML"),
        ("t.toml", TOML * 51, "51 training items"),
    ):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        with pytest.raises(UsageError, match=words) as raised:
            read_training(path)
        assert str(path) in str(raised.value)


def test_who_agrees_knows_of_the_wrong_and_the_repeated() -> None:
    for language, candid, test in (
        ("en", ("made wrong on purpose", "come twice"), "tested"),
        ("fr", ("fausses exprès", "une deuxième fois"), "épreuve"),
    ):
        texts = review_texts(language)
        assert all(words in texts.consent for words in candid)
        assert test not in texts.guide


def entries(count: int = 6, *secret: int, document: object = "story") -> list[Entry]:
    return [
        Entry.model_validate(
            {
                "id": n, "source": f"Source {n}.", "reference": f"Reference {n}.",
                "context": f"context {n}", "register": "formal", "document": document,
                "segment": "gold_standard" if n in secret else "development",
            }
        )
        for n in range(count)
    ]  # fmt: skip


def told(of: Sequence[Entry], carries: ContextPolicy = ContextPolicy.OPEN) -> dict[object, tuple[str, str]]:
    found = surroundings(of, carries).told
    return {id_: (each.before, each.after) for id_, each in found.items()}


def test_sentence_has_open_ones_next_to_it_in_its_document() -> None:
    found = surroundings(entries(3), ContextPolicy.OPEN)
    assert found.told[1] == SentenceContext(
        context="context 1", formality="formal", before="Source 0.", after="Source 2."
    )
    assert (found.told[0].before, found.told[2].after) == ("", "")
    two = [*entries(2), *(e.model_copy(update={"id": 10 + e.id}) for e in entries(2, document=7))]
    assert told(two)[1] == ("Source 0.", "")
    assert told(two)[10] == ("", "Source 1.")
    assert told(entries(3, document=None))[1] == ("", "")
    assert told(entries(3, document=""))[1] == ("", "")
    bare = [Entry(id=n, source=f"S{n}", reference="R") for n in range(3)]
    assert surroundings(bare, ContextPolicy.ALL).told == {}
    corpus = entries(5, 1)
    assert told(corpus) == {0: ("", ""), 2: ("", "Source 3."), 3: ("Source 2.", "Source 4."), 4: ("Source 3.", "")}
    every = surroundings(corpus, ContextPolicy.ALL)
    assert every.told[1].context == "context 1"
    assert every.secret == {0, 2}, "beside these a secret sentence would be shown"
    assert told(corpus, ContextPolicy.NONE) == {}
    kept = [e.model_copy(update={"local_only": e.id == 3}) for e in entries(5)]
    assert told(kept)[2] == ("Source 1.", ""), "what may not leave the machine is secret, too"
    gone = [e.model_copy(update={"not_stored": e.id == 3}) for e in entries(5)]
    assert told(gone, ContextPolicy.ALL)[2] == ("Source 1.", "")


def test_a_tag_that_is_too_long_and_a_blank_neighbour_are_left_out() -> None:
    corpus = entries(3)
    corpus[0] = corpus[0].model_copy(update={"source": " "})
    corpus[1] = corpus[1].model_copy(update={"context": "x" * 201})
    found = surroundings(corpus, ContextPolicy.OPEN).told[1]
    assert (found.context, found.before, found.after) == ("", "", "Source 2.")


SECRET = "zqsecret"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Every second entry is secret, and each secret text and tag has a word of its own."""
    corpus = []
    for place, entry in enumerate(made.demo_entries()):
        said: dict[str, object] = {"document": f"page {place // 12}", "context": f"scene {place}"}
        if place % 2:
            said |= {
                "segment": Segment.GOLD_STANDARD, "source": f"{entry.source} {SECRET}",
                "context": SECRET, "register_": SECRET,
            }  # fmt: skip
        corpus.append(entry.model_copy(update=said))
    outputs = [[made.demo_outputs()[entry.id] for entry in corpus]]
    made.store_runs(tmp_path, corpus, outputs)
    return tmp_path


def drafted(home: Path, carries: ContextPolicy, segment: Segment) -> ReviewDraft:
    with closing(open_store(home / "rosetta.sqlite")) as connection:
        runs = read_runs(connection, made.RUNS[:1], [segment])
    policy, _ = proposed()
    size = Size(reviewers=3, items=20)
    return draft_review(runs, policy, size, 7, review_texts("en"), None, carries)


def everything(draft: ReviewDraft) -> str:
    [batch] = made.made(draft, Identity.make(Role.ORGANISATION)).batches
    archive = zipfile.ZipFile(io.BytesIO(batch.archive))
    return "\n".join(archive.read(name).decode("utf-8", "replace") for name in archive.namelist())


def test_no_member_of_an_open_batch_has_a_word_of_a_secret_entry(home: Path) -> None:
    segment = next(e.segment for e in made.demo_entries()[::2] if e.segment)
    draft = drafted(home, ContextPolicy.OPEN, segment)
    assert draft.placed == len(draft.entries)
    assert not draft.secret
    batch = everything(draft)
    assert SECRET not in batch
    assert "scene 0" in batch or "scene 2" in batch
    wished = drafted(home, ContextPolicy.ALL, segment)
    assert wished.secret, "with a secret sentence beside an open one the batch has to be sealed"
    assert SECRET in everything(wished)


def test_of_a_secret_review_its_own_sentences_stand_alone(home: Path) -> None:
    draft = drafted(home, ContextPolicy.OPEN, Segment.GOLD_STANDARD)
    items = [item for item in draft.items if draft.runs.corpus[item.truth.entry].secret]
    assert items
    assert {item.shown.around for item in items} == {None}
    wished = drafted(home, ContextPolicy.ALL, Segment.GOLD_STANDARD)
    assert {bool(item.shown.around) for item in wished.items} == {True}


def test_controls_say_the_same_of_their_sentence_as_real_items(tmp_path: Path) -> None:
    """Else what stands beside a sentence would tell which items are tests; the office keeps it, too."""
    corpus = [
        entry.model_copy(update={"document": stratum(entry), "context": f"scene {place}"})
        for place, entry in enumerate(made.demo_entries())
    ]
    made.store_runs(tmp_path, corpus)
    draft = made.draft(made.reviewed(tmp_path), reviewers=2, items=20)
    around: dict[object, set[SentenceContext | None]] = {}
    for item in draft.items:
        around.setdefault(item.truth.entry, set()).add(item.shown.around)
    assert {len(each) for each in around.values()} == {1}
    assert around.keys() >= {card_id(entry.id) for entry in draft.entries}
    _, policy = proposed()
    ready = made.made(draft, Identity.make(Role.ORGANISATION))
    with Office.open(tmp_path / "office") as office:
        kept = office.create_review(ready.key, policy, ready.manifests, ready.texts).texts
    assert kept == {item.id: item.shown for item in draft.items}
