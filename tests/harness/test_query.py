"""The language that narrows lists: what it reads, what it says of mistakes, and that columns find what a plain reading finds."""

from __future__ import annotations

import operator
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.query import (
    EVERYTHING,
    NONE,
    Query,
    QueryError,
    QueryField,
    QueryTerm,
    QueryType,
    completions,
    fold,
    holds,
    matches,
    parse,
)
from harness.store.ordering import Ordering
from rosetta_tui.show.run_columns import RunColumns
from scoring.findings.finding import FindingCode
from tests.review.thorough import examples

FIELDS = {
    "chrf": QueryField(QueryType.NUMBER, "chrF++"),
    "len": QueryField(QueryType.NUMBER, "characters"),
    "tier": QueryField(QueryType.WORD, "tier", ("baseline", "fluent", "in between"), closed=True),
    "tag": QueryField(QueryType.WORD, "tag", ("a", 'b "c"')),
    "source": QueryField(QueryType.TEXT, "source"),
}
WORDS = st.text(st.sampled_from('ab"\\-:<>=! \tÉßſ\x1b\u202e\ud800'), min_size=1, max_size=8)
NAMES = st.sampled_from([*FIELDS, "length", "x.y", "chrf++"])
TERMS = st.builds(
    QueryTerm, st.just("") | NAMES, st.just(":"), WORDS, st.booleans(),
) | st.builds(QueryTerm, NAMES, st.sampled_from([":", "<", "<=", ">", ">="]), WORDS | st.just("30"), st.booleans())  # fmt: skip


@examples(200, 2000)
@given(st.lists(TERMS, max_size=5))
def test_a_printed_query_is_read_as_it_was(terms: list[QueryTerm]) -> None:
    query = Query(tuple(terms))
    assert parse(str(query)) == query
    assert str(parse(str(query))) == str(query)


@examples(300, 3000)
@given(st.text(st.sampled_from('chrf tier:<>=!-"\\ab3.') | st.characters(), max_size=30))
def test_whatever_is_typed_is_read_or_refused_in_its_own_words(text: str) -> None:
    try:
        query = Query.of(text, FIELDS)
    except QueryError as error:
        place = (error.start, error.end, str(error).split(":")[0])
        query = EVERYTHING
    else:
        place = (0, 0, "At character 1")
        assert Query.of(str(query), FIELDS) == query
    assert 0 <= place[0] <= place[1] <= len(text)
    assert place[2] == f"At character {place[0] + 1}"
    assert not len(matches(query, np.ones(0, bool), partial(holds, rows=Rows([]))))
    for offered in completions(text, FIELDS) if query else ():
        parse(text[: offered.start] + offered.text + ("1" if offered.text[-1] in "<:" else ""))


@pytest.mark.parametrize(("typed", "message"), [
    ("a chrff<3", "At character 3: “chrff” is no field; did you mean chrf?"),
    ("zzz:1", "At character 1: “zzz” is no field; there are chrf, len, tier, tag, source."),
    ("chrf<x", "At character 1: chrf is compared with a number, and “x” is none; such as chrf<30."),
    ("chrf<nan", "At character 1: chrf is compared with a number, and “nan” is none; such as chrf<30."),
    ("chrf:1_0", "At character 1: chrf is compared with a number, and “1_0” is none; such as chrf<30."),
    ("tier:base", "At character 1: tier is never “base”; did you mean baseline?"),
    ("tier<3", "At character 1: tier has no order; write tier:3."),
    ("x tier:", "At character 3: there is no value after “tier:”."),
    ("<30", "At character 1: there is no field before “<”. Write such as chrf<30, and in quotes what is searched as text."),
    ("-", "At character 1: there is nothing after “-”. Write such as chrf<30, and in quotes what is searched as text."),
    ('tag:"a', "At character 5: the quotation mark is not closed."),
    ('a"b"', 'At character 2: a quotation mark stands inside a word. Write "…" around all of it, and \\" inside.'),
    ('""', "At character 1: there is no text."),
])  # fmt: skip
def test_a_mistake_is_said_with_its_place_and_the_nearest(typed: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        Query.of(typed, FIELDS)
    assert str(caught.value) == message


def test_metrics_go_by_any_of_their_names_and_signs_have_one_form() -> None:
    query = Query.of('chrF++>=3 CHRF=4 chrf_plus_plus!=none -tier:"In Between"', FIELDS)
    assert str(query) == 'chrf>=3 chrf:4 -chrf:none -tier:"In Between"'


@pytest.mark.parametrize(("typed", "offered"), [
    ("", ["chrf<", "len<", "tier:", "tag:", "source:"]), ("x -t", ["tier:", "tag:"]), ("tier:f", ["fluent"]),
    ("tier:", ["baseline", "fluent", '"in between"', NONE]), ('tag:"B', ['"b \\"c\\""']), ("chrf<", []), ("source:a", []),
    ("tier:fluent ", ["chrf<", "len<", "tier:", "tag:", "source:"]),
])  # fmt: skip
def test_fields_and_their_words_are_offered(typed: str, offered: list[str]) -> None:
    assert [one.text for one in completions(typed, FIELDS)] == offered


class Rows:
    """Rows as dicts, asked one by one: what ``matches`` must find."""

    fields = FIELDS

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def numbers(self, name: str) -> Any:
        return np.array([np.nan if row[name] is None else row[name] for row in self.rows], np.float64)

    def having(self, name: str, value: str | None) -> Any:
        words = [row[name] for row in self.rows]
        return np.array([w is None if value is None else w is not None and fold(w) == fold(value) for w in words], bool)

    def containing(self, name: str, text: str) -> Any:
        return np.array([text.casefold() in row["source"].casefold() for row in self.rows], bool)


ROWS = st.lists(
    st.fixed_dictionaries({
        "chrf": st.none() | st.sampled_from([0.0, 29.9, 30.0, 100.0]), "len": st.integers(0, 3),
        "tier": st.none() | st.sampled_from(FIELDS["tier"].values), "tag": st.none() | WORDS, "source": WORDS,
    }), max_size=6,
)  # fmt: skip
ASKED = st.lists(st.one_of(
    st.tuples(st.booleans(), st.sampled_from(["chrf", "len"]), st.sampled_from([":", "<", "<=", ">", ">="]),
              st.sampled_from(["0", "30", "+29.9", "1e0", ".5"])),
    st.tuples(st.booleans(), st.sampled_from(["chrf", "tier", "tag"]), st.just(":"), st.just(NONE)),
    st.tuples(st.booleans(), st.just("tier"), st.just(":"), st.sampled_from(FIELDS["tier"].values)),
    st.tuples(st.booleans(), st.sampled_from(["tag", "source", ""]), st.just(":"), WORDS),
), max_size=4)  # fmt: skip


SIGNS = {":": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def plain(row: dict[str, Any], negated: bool, name: str, sign: str, value: str) -> bool:
    own = row[name or "source"]
    if value.casefold() == NONE and name in {"chrf", "tier", "tag"}:
        found = own is None
    elif name in {"chrf", "len"}:
        found = own is not None and SIGNS[sign](own, float(value))
    elif name in {"tier", "tag"}:
        found = own is not None and fold(own) == fold(value)
    else:
        found = value.casefold() in own.casefold()
    return found is not negated


@examples(150, 1500)
@given(ROWS, ASKED)
def test_columns_find_what_a_plain_reading_finds(
    rows: list[dict[str, Any]], asked: list[tuple[bool, str, str, str]]
) -> None:
    query = Query.of(
        str(Query(tuple(QueryTerm(name, sign, value, negated) for negated, name, sign, value in asked))), FIELDS
    )
    found = matches(query, np.ones(len(rows), bool), partial(holds, rows=Rows(rows)))
    assert found.tolist() == [all(plain(row, *term) for term in asked) for row in rows]


def test_the_page_of_filters_has_every_field() -> None:
    page = (Path(__file__).parents[2] / "docs" / "filters.md").read_text("utf-8")
    entries, runs = page.split("## Runs")
    entry_fields, run_fields = Ordering(1).fields, RunColumns([]).fields
    assert [name for name in entry_fields if f"`{name}`" not in entries and name != "equivalent"] == []
    assert [name for name in run_fields if f"`{name}`" not in runs] == []
    named = set(re.findall(r"`([a-z_]+)`", entries.partition("## Entries")[2])) - {
        word for one in entry_fields.values() for word in one.values
    }
    worked_out = {
        "why",
        "length",
        "punctuation",
        "numbers",
        "words_seen_once",
        "check",
        "any",
        *FindingCode,
        "ter",
        "length_ratio",
    }
    assert named <= {*entry_fields, *worked_out, "w", "b"}, "a field that is not there"
