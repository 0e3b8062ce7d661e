"""What queries give, compared; and their parts, compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.packs.au import sql, sql_results
from scoring.packs.au.sql_parts import same_parts
from scoring.packs.au.sql_results import is_ordered, same_result, without_distinct
from tests.scoring.packs.au import entry_value, metric, record, resources
from tests.scoring.packs.pack_cases import corpus_value

TABLES = {"item": ["id", "name", "price", "cat"], "sale": ["id", "item_id", "qty"]}

cells = st.one_of(st.none(), st.integers(0, 2), st.sampled_from(["", "a"]), st.just(b"a"))
results = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[cells] * width), min_size=1, max_size=6)
)


@settings(deadline=None, max_examples=60)
@given(results, st.randoms(use_true_random=False))
def test_rows_and_columns_may_change_places(rows: list[tuple[Any, ...]], random: Any) -> None:
    order = list(range(len(rows[0])))
    random.shuffle(order)
    turned = [tuple(row[place] for place in order) for row in rows]
    assert same_result(rows, turned, ordered=True)
    random.shuffle(turned)
    assert same_result(rows, turned, ordered=False)
    assert same_result(rows, turned, ordered=True) == any(
        [tuple(row[place] for place in other) for row in rows] == turned
        for other in _orders(len(rows[0]))
    )


@settings(deadline=None, max_examples=60)
@given(results, results)
def test_two_results_are_the_same_under_some_order_of_columns_or_not_at_all(
    rows: list[tuple[Any, ...]], others: list[tuple[Any, ...]]
) -> None:
    same = len(rows[0]) == len(others[0]) and any(
        sorted(map(repr, (tuple(row[place] for place in order) for row in rows)))
        == sorted(map(repr, others))
        for order in _orders(len(rows[0]))
    )
    assert same_result(rows, others, ordered=False) == same


def _orders(width: int) -> list[tuple[int, ...]]:
    from itertools import permutations

    return list(permutations(range(width)))


def test_results_of_no_rows_are_the_same_and_one_of_more_columns_is_not() -> None:
    assert same_result([], [], ordered=True)
    assert not same_result([(1,)], [], ordered=False)
    assert not same_result([(1,)], [(1, 1)], ordered=False)
    assert same_result([(1,)], [(1.0,)], ordered=False)


def test_columns_that_are_alike_do_not_take_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """In every pair of columns of one side some rows differ that do not on the other."""
    monkeypatch.setattr(sql_results, "MOST_WORK", 20_000)
    rows = [tuple((place >> column) & 1 for column in range(12)) for place in range(4096)]
    crossed = [tuple(row[(column * 5) % 12] for column in range(12)) for row in rows]
    assert not same_result(rows, [*crossed[:-1], crossed[0]], ordered=False)
    assert not same_result(rows, crossed, ordered=False)


@pytest.mark.parametrize(
    ("query", "without", "ordered"),
    [
        ("SELECT DISTINCT a FROM b", "SELECT  a FROM b", False),
        (
            "select count(distinct a) from b order\nby a",
            "select count( a) from b order\nby a",
            True,
        ),
        ("select 'distinct order by', \"distinct\" from b", None, False),
        ("select a from b where a is distinct  from 1", None, False),
        ("select a from (select a from b order by a)", None, False),
        ("select a from b -- order by distinct\n", None, False),
        ("select a /* order by distinct", None, False),
        ("select 'it''s' order by 1", None, True),
    ],
)
def test_words_in_texts_names_and_comments_are_none_of_the_query(
    query: str, without: str | None, ordered: bool
) -> None:
    assert without_distinct(query) == (query if without is None else without)
    assert is_ordered(query) == ordered


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("select distinct name from item", "SELECT name FROM item"),
        ("select count(distinct name) from item", "SELECT count(name) FROM item"),
        ("select name, price from item", "select price, name from item"),
        (
            "select name from item join sale on item.id=sale.item_id",
            "SELECT t2.name FROM sale t1 join item t2 ON t1.item_id=t2.id",
        ),
        ("select name from item where 3 < price", "select name from item where price > 7"),
        ("select name from item where -1 <= price", "select name from item where price >= 7"),
        (
            "select name from item where price >1 or cat='x' and id=3",
            "select name from item where (id=9 and cat='a') or price>4",
        ),
        ("select name from item group by name, cat", "select name from item group by cat,name"),
        ("select name p from item order by p", "select name from item order by name"),
        (
            "select name from item union select id from sale",
            "select id from sale union select name from item",
        ),
        ("```sql\nselect 1\n```", "select 2"),
    ],
)
def test_queries_of_the_same_parts_match(query: str, wanted: str) -> None:
    assert same_parts(query, wanted, TABLES)
    assert same_parts(wanted, query, TABLES)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("select name from item order by id desc limit 1", "select name from item order by id limit 1"),
        ("select name from item order by id, cat", "select name from item order by cat, id"),
        ("select name from item limit 1", "select name from item"),
        ("select name from item except select id from sale", "select id from sale except select name from item"),
        ("select name from item where id in (select item_id from sale)", "select name from item where id in (select item_id from sale where qty>1)"),
        ("select name from item where id in (select id from sale)", "select name from item where id not in (select id from sale)"),
        ("with a as (select id from item) select * from a", "with a as (select id from sale) select * from a"),
        ("select name from item where name like 'a'", "select name from item where name not like 'a'"),
        ("select max(price) from item", "select min(price) from item"),
        ("select price + 1 from item", "select price - 1 from item"),
        ("select price - id from item", "select id - price from item"),
        ("select cast(price as int) from item", "select cast(price as text) from item"),
        ("select id from item", "select id from sale"),
        ("select name from item; drop table item", "select name from item"),
        ("drop table item", "drop table item"),
        ("select " + "(" * 2000 + "1" + ")" * 2000, "select 1"),
        ("select (((", "select (((" ),
        ("", ""),
        ("select 1" + " " * 5000, "select 1"),
    ],
)  # fmt: skip
def test_queries_of_other_parts_do_not_match(query: str, wanted: str) -> None:
    assert not same_parts(query, wanted, TABLES)


@pytest.mark.parametrize("name", ["text2sql_score", "sql_set_match"])
def test_what_a_query_gives_is_only_read(name: str) -> None:
    made = metric(name)
    assert made.stats(record("select 1", "select 1")) is None
    broken: dict[str, Any] = {
        "exec": None,
        "why": "the reference query fails: no such table: x",
        "tables": {},
    }
    failed = record("select 1", "select 1", annotations={"sql": broken})
    assert entry_value(made, failed) is None
    assert made.further(np.asarray(made.stats(failed))) == {f"au.{name}_references_failed": 1}
    found: dict[str, Any] = {"exec": 1, "why": "", "tables": TABLES}
    given = record("select name from item", "select NAME from item", annotations={"sql": found})
    assert entry_value(made, given) == 1
    assert corpus_value(made, [given, failed]) == 1
    assert made.explain(given) == ()


def test_why_a_result_is_another_is_said() -> None:
    late: dict[str, Any] = {"exec": 0, "why": "the query takes too long", "tables": {}}
    given = record("x", "y", annotations={"sql": late})
    assert metric("text2sql_score").explain(given) == ("The query takes too long.",)
    rows = {"given": ["a | 1", "b | NULL"], "wanted": []}
    other = record("x", "y", annotations={"sql": {**late, "why": "2 rows", "rows": rows}})
    assert metric("text2sql_score").explain(other) == (
        "2 rows.",
        "Its first rows:\n  a | 1\n  b | NULL",
    )
    refused = {**late, "why": "the query fails: not authorized"}
    said = metric("text2sql_score").explain(record("x", "y", annotations={"sql": refused}))
    assert said[0] == "The query fails: not authorized."
    assert "only read" in said[1]
    assert entry_value(metric("text2sql_score"), given) == 0


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = {"sql": {"sqlite": "3.40.1"}}
    with_runner = resources(annotators=facts)
    assert "sqlite:3.40.1" in metric("text2sql_score", with_runner).signature
    for made in sql.METRICS.values():
        assert "database" in made.why_off(resources())
        assert made.why_off(with_runner) is None
    monkeypatch.setattr(sql, "sqlglot_version", lambda: "none")
    assert "rosetta doctor" in sql.METRICS["au.sql_set_match"].why_off(with_runner)
    assert sql.METRICS["au.text2sql_score"].why_off(with_runner) is None


def test_what_sqlglot_says_of_a_query_is_not_printed(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    assert not same_parts("VACUUM INTO 'a text'", "SELECT 1", TABLES)
    assert (caplog.records, capfd.readouterr()) == ([], ("", ""))
