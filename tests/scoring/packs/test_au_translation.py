"""BLEU, METEOR, BERTScore, COMET and SQL of the pack au."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.setup import CometFacts
from scoring.packs.au import code, structured, translation
from scoring.packs.au.structured import is_ordered, same_result, without_distinct
from tests.review.thorough import examples, first
from tests.scoring.late import Late
from tests.scoring.packs.au import cases, check_golden, entry_value, metric, record, resources
from tests.scoring.packs.pack_cases import corpus_value

meteor, sql_parts = Late("scoring.packs.au.meteor"), Late("scoring.packs.au.sql_parts")
nltk_meteor, stemming = Late("nltk.translate.meteor_score"), Late("nltk.stem.porter")


def test_bleu_is_the_published_one_and_model_scores_are_only_read() -> None:
    for case in cases("au.bleu"):
        check_golden(metric("bleu"), case)
    for name in ("bertscore", "comet"):
        made = metric(name)
        assert made.stats(record("a", "a")) is None
        for output, score, value in (("a", 0.75, 0.75), ("a", 1.2, 1), (" ", 0.75, 0)):
            assert entry_value(made, record(output, "a", annotations={name: score})) == value
        assert made.stats(record("a", "a", annotations={name: float("nan")})) is None


class _Nothing:
    def synsets(self, _: str) -> list[Any]:
        return []


words = st.lists(st.sampled_from(["cat", "cats", "running", "run", "the", "sky", "skies"]))


@examples(15, 40)
@given(words, words.filter(bool))
def test_meteor_is_nltks_without_synonyms(output: list[str], reference: list[str]) -> None:
    made = metric("meteor", resources("en"))
    given = {"stemmer": stemming.PorterStemmer(), "wordnet": _Nothing()}
    expected = nltk_meteor.single_meteor_score(reference, output, **given)
    assert entry_value(made, record(" ".join(output), " ".join(reference))) == expected


def test_meteor_says_which_words_match() -> None:
    pair = record("the cats sat on a mat", "the cat sat on the mat")
    english, cree = metric("meteor", resources("en-CA")), metric("meteor")
    assert entry_value(english, pair) == pytest.approx(0.743333333)
    assert entry_value(cree, pair) < 0.7
    assert "match:exact+stem|" in english.signature
    assert "match:exact|" in cree.signature
    assert entry_value(cree, record("", "atim")) == 0
    assert cree.stats(record("atim", "...")) is None


def wordnet_folder(folder: Path, *synsets: tuple[str, ...]) -> None:
    """Write nouns with their synonyms in the files of WordNet 3.0."""
    place = folder / "corpora" / "wordnet"
    place.mkdir(parents=True)
    data, index = "", dict[str, list[str]]()
    for words in synsets:
        offset = f"{len(data):08d}"
        named = " ".join(f"{word} 0" for word in words)
        data += f"{offset} 00 n {len(words):02x} {named} 000 | meant\n"
        for word in words:
            index.setdefault(word, []).append(offset)
    lines = {
        word: f"{word} n {len(places)} 0 {len(places)} 0 {' '.join(places)}  \n"
        for word, places in sorted(index.items())
    }
    kinds = ("noun", "verb", "adj", "adv")
    files = dict.fromkeys([f"{name}.{kind}" for kind in kinds for name in ("index", "data")], "")
    files |= dict.fromkeys([*(f"{kind}.exc" for kind in kinds), "cntlist.rev", "index.sense"], "")
    files |= {"data.noun": data, "index.noun": "".join(lines.values()), "lexnames": "00\tnoun\t1\n"}
    for name, content in files.items():
        (place / name).write_text(content, "utf-8")


@pytest.fixture
def no_wordnet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder in which alone nltk looks for its data, and a WordNet that nobody opened yet.

    nltk's reader leaves its files open until it is collected, which is done here.
    """
    import nltk.corpus
    from nltk.corpus.reader.wordnet import WordNetCorpusReader
    from nltk.corpus.util import LazyCorpusLoader

    monkeypatch.setattr("nltk.data.path", [str(tmp_path)])
    unopened = LazyCorpusLoader("wordnet", WordNetCorpusReader, object())
    monkeypatch.setattr(nltk.corpus, "wordnet", unopened)
    del unopened
    meteor.wordnet.cache_clear()
    yield tmp_path
    meteor.wordnet.cache_clear()
    monkeypatch.undo()
    gc.collect()


unclosed = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")


@unclosed
def test_synonyms_count_where_wordnet_is_here(no_wordnet: Path) -> None:
    pair = record("my hound", "my dog")
    assert "match:exact+stem|" in metric("meteor", resources("en")).signature
    before = entry_value(metric("meteor", resources("en")), pair)
    wordnet_folder(no_wordnet, ("dog", "hound"), ("cat",))
    meteor.wordnet.cache_clear()
    english = metric("meteor", resources("en"))
    assert "match:exact+stem+wordnet|" in english.signature
    assert entry_value(english, pair) == entry_value(english, record("my dog", "my dog")) > before
    assert entry_value(english, record("my cat", "my dog")) == before
    assert "match:exact|" in metric("meteor").signature
    assert entry_value(metric("meteor"), pair) == before


@unclosed
@pytest.mark.parametrize("damage", first(1, ["lexnames", "index.noun"]))
def test_a_damaged_wordnet_is_as_none(no_wordnet: Path, damage: str) -> None:
    wordnet_folder(no_wordnet, ("dog", "hound"))
    (no_wordnet / "corpora" / "wordnet" / damage).write_text("nonsense of no form\n", "utf-8")
    made = metric("meteor", resources("en"))
    assert "match:exact+stem|" in made.signature
    assert 0 < entry_value(made, record("my dog", "my dog")) <= 1


def test_long_texts_are_cut_or_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "MOST_WORDS", 3)
    made = metric("meteor")
    assert made.stats(record("x", "a b c d")) is None
    longer, same = (entry_value(made, record(text, "a b c")) for text in ("a b c d e", "a b c"))
    assert longer == same
    monkeypatch.setattr(translation, "MOST_CELLS", 6)
    assert entry_value(made, record("a b c", "a b c")) == entry_value(made, record("a b", "a b c"))
    made, cut = metric("bleu"), record("the cat sat on a", "the cat sat on the mat")
    before = made.stats(cut)
    monkeypatch.setattr(translation, "MOST_LETTERS", len(cut.output))
    assert made.stats(record(cut.output + " mat and more", cut.entry.reference)) == before


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    makers = translation.METRICS
    assert "--bertscore" in makers["au.bertscore"].why_off(resources())
    facts = {"model": "a|b:c", "sha256": "ab" * 32, "imported": False, "layer": 9}
    found = resources(annotators={"bertscore": facts})
    assert makers["au.bertscore"].why_off(found) is None
    signed = metric("bertscore", found).signature
    assert signed.startswith("model:a/b=c-abababababab|from:model|layer:9|idf:no|rescaled:no|")
    assert "--comet" in makers["au.comet"].why_off(resources())
    comet = CometFacts(model="m", sha256=None, imported=True)
    assert makers["au.comet"].why_off(resources(comet=comet)) is None
    assert makers["au.meteor"].why_off(resources()) is None
    monkeypatch.setattr(translation, "nltk_version", lambda: "none")
    assert "rosetta doctor" in makers["au.meteor"].why_off(resources())


TABLES = {"item": ["id", "name", "price", "cat"], "sale": ["id", "item_id", "qty"]}

cells = st.one_of(st.none(), st.integers(0, 2), st.sampled_from(["", "a"]), st.just(b"a"))
results = st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[cells] * width), min_size=1, max_size=6))


def all_turned(rows: list[tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
    """Return the rows with their columns in every order."""
    orders = permutations(range(len(rows[0])))
    return [[tuple(row[place] for place in order) for row in rows] for order in orders]


@examples(20, 60)
@given(results, st.randoms(use_true_random=False))
def test_rows_and_columns_may_change_places(rows: list[tuple[Any, ...]], random: Any) -> None:
    order = list(range(len(rows[0])))
    random.shuffle(order)
    turned = [tuple(row[place] for place in order) for row in rows]
    assert same_result(rows, turned, ordered=True)
    random.shuffle(turned)
    assert same_result(rows, turned, ordered=False)
    assert same_result(rows, turned, ordered=True) == (turned in all_turned(rows))


@examples(20, 60)
@given(results, results)
def test_results_are_alike_under_some_order_of_columns(rows: list[Any], others: list[Any]) -> None:
    same = len(rows[0]) == len(others[0]) and any(
        sorted(map(repr, turned)) == sorted(map(repr, others)) for turned in all_turned(rows)
    )
    assert same_result(rows, others, ordered=False) == same
    assert same_result([], [], ordered=True)
    assert not same_result([(1,)], [], ordered=False)
    assert not same_result([(1,)], [(1, 1)], ordered=False)
    assert same_result([(1,)], [(1.0,)], ordered=False)


def test_columns_that_are_alike_do_not_take_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """In every pair of columns of one side some rows differ that do not on the other."""
    monkeypatch.setattr(structured, "MOST_WORK", 20_000)
    rows = [tuple((place >> column) & 1 for column in range(12)) for place in range(2048)]
    crossed = [tuple(row[(column * 5) % 12] for column in range(12)) for row in rows]
    assert not same_result(rows, [*crossed[:-1], crossed[0]], ordered=False)
    assert not same_result(rows, crossed, ordered=False)


def test_words_in_texts_names_and_comments_are_none_of_the_query() -> None:
    for query, without, ordered in [
        ("SELECT DISTINCT a FROM b", "SELECT  a FROM b", False),
        ("select count(distinct a) from b order\nby a", "select count( a) from b order\nby a", True),
        ("select 'distinct order by', \"distinct\" from b", None, False),
        ("select a from b where a is distinct  from 1", None, False),
        ("select a from (select a from b order by a)", None, False),
        ("select a from b -- order by distinct\n", None, False),
        ("select a /* order by distinct", None, False),
        ("select 'it''s' order by 1", None, True),
    ]:  # fmt: skip
        assert without_distinct(query) == (query if without is None else without)
        assert is_ordered(query) == ordered


def test_queries_of_the_same_parts_match() -> None:
    for query, wanted in [
        ("select distinct name from item", "SELECT name FROM item"),
        ("select count(distinct name) from item", "SELECT count(name) FROM item"),
        ("select name, price from item", "select price, name from item"),
        ("select name from item join sale on item.id=sale.item_id", "SELECT t2.name FROM sale t1 join item t2 ON t1.item_id=t2.id"),
        ("select name from item where 3 < price", "select name from item where price > 7"),
        ("select name from item where -1 <= price", "select name from item where price >= 7"),
        ("select name from item where price >1 or cat='x' and id=3", "select name from item where (id=9 and cat='a') or price>4"),
        ("select name from item group by name, cat", "select name from item group by cat,name"),
        ("select name p from item order by p", "select name from item order by name"),
        ("select name from item union select id from sale", "select id from sale union select name from item"),
        ("```sql\nselect 1\n```", "select 2"),
    ]:  # fmt: skip
        assert sql_parts.same_parts(query, wanted, TABLES)
        assert sql_parts.same_parts(wanted, query, TABLES)


def test_queries_of_other_parts_do_not_match() -> None:
    for query, wanted in [
        ("select name from item order by id desc limit 1", "select name from item order by id limit 1"),
        ("select name from item order by id, cat", "select name from item order by cat, id"),
        ("select name from item except select id from sale", "select id from sale except select name from item"),
        ("select name from item where id in (select item_id from sale)", "select name from item where id in (select item_id from sale where qty>1)"),
        ("select name from item where id in (select id from sale)", "select name from item where id not in (select id from sale)"),
        ("with a as (select id from item) select * from a", "with a as (select id from sale) select * from a"),
        ("select name from item where name like 'a'", "select name from item where name not like 'a'"),
        ("select max(price) from item", "select min(price) from item"),
        ("select price - id from item", "select id - price from item"),
        ("select cast(price as int) from item", "select cast(price as text) from item"),
        ("select name from item; drop table item", "select name from item"),
        ("drop table item", "drop table item"),
        ("select " + "(" * 2000 + "1" + ")" * 2000, "select 1"), ("select (((", "select (((" ),
        ("", ""), ("select 1" + " " * 5000, "select 1"),
    ]:  # fmt: skip
        assert not sql_parts.same_parts(query, wanted, TABLES)


def test_what_a_query_gives_is_only_read() -> None:
    broken: dict[str, Any] = {"sql": {"exec": None, "why": "the reference query fails", "tables": {}}}
    found = {"sql": {"exec": 1, "why": "", "tables": TABLES}}
    failed = record("select 1", "select 1", annotations=broken)
    given = record("select name from item", "select NAME from item", annotations=found)
    for name in ("text2sql_score", "sql_set_match"):
        made = metric(name)
        assert made.stats(record("select 1", "select 1")) is None
        assert entry_value(made, failed) is None
        assert made.further(np.asarray(made.stats(failed))) == {f"au.{name}_references_failed": 1}
        assert (entry_value(made, given), corpus_value(made, [given, failed])) == (1, 1)
        assert made.explain(given) == ()


def test_why_a_result_is_another_is_said() -> None:
    late: dict[str, Any] = {"exec": 0, "why": "the query takes too long", "tables": {}}
    given = record("x", "y", annotations={"sql": late})
    assert metric("text2sql_score").explain(given) == ("The query takes too long.",)
    rows = {"given": ["a | 1", "b | NULL"], "wanted": []}
    other = record("x", "y", annotations={"sql": {**late, "why": "2 rows", "rows": rows}})
    assert metric("text2sql_score").explain(other) == ("2 rows.", "Its first rows:\n  a | 1\n  b | NULL")
    refused = {**late, "why": "the query fails: not authorized"}
    said = metric("text2sql_score").explain(record("x", "y", annotations={"sql": refused}))
    assert said[0] == "The query fails: not authorized."
    assert "only read" in said[1]
    assert entry_value(metric("text2sql_score"), given) == 0


def test_sql_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = {"sql": {"sqlite": "3.40.1"}}
    with_runner = resources(annotators=facts)
    assert "sqlite:3.40.1" in metric("text2sql_score", with_runner).signature
    for made in (code.METRICS["au.text2sql_score"], code.METRICS["au.sql_set_match"]):
        assert "database" in made.why_off(resources())
        assert made.why_off(with_runner) is None
    monkeypatch.setattr(code, "sqlglot_version", lambda: "none")
    assert "rosetta doctor" in code.METRICS["au.sql_set_match"].why_off(with_runner)
    assert code.METRICS["au.text2sql_score"].why_off(with_runner) is None


def test_sqlglot_prints_nothing(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    assert not sql_parts.same_parts("VACUUM INTO 'a text'", "SELECT 1", TABLES)
    assert (caplog.records, capfd.readouterr()) == ([], ("", ""))
