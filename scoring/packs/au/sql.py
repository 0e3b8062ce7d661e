"""Predicted SQL: whether it gives the reference query's result, and whether it has the same parts (au-harness-metrics).

Nothing runs here: what queries give is found by the annotator ``sql``, which also tells the tables of the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from scoring.core.metric import RateMetric, Statistics, own_signature
from scoring.core.packs import pack_metric
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker
from scoring.words.resources import Resources

MOST_LETTERS = 5_000
"""Of a longer query no parts are compared."""

Parts = tuple[Any, ...]
"""A query, or a piece of one, in a form in which equal ones are equal."""


class _Sql(RateMetric):
    """What both metrics share: the annotation."""

    @property
    def why_missing(self) -> str:
        return "no record names a database whose reference query has a result"

    def _found(self, translation: Translation) -> Mapping[str, Any] | None:
        """Return the annotation; None without one, or where the reference query itself has no result."""
        found = translation.annotations.get("sql")
        return found if isinstance(found, Mapping) and found.get("exec") in {0, 1} else None


class ExecutionMatch(_Sql):
    """Share of queries that give the rows of the reference query, 0–1, higher is better.

    Columns may stand in any order, rows too unless the reference orders them; DISTINCT is left out of both, as
    published. A query that fails, writes, or takes too long is wrong. Null where the reference has no result.
    """

    info = pack_metric("au.text2sql_score")

    def __init__(self, resources: Resources) -> None:
        facts = resources.setup.annotators.get("sql", {})
        self._sqlite = str(facts.get("sqlite", "none"))

    @property
    def signature(self) -> str:
        return own_signature(f"rows:multiset|columns:any-order|distinct:no|sqlite:{self._sqlite}")

    def stats(self, translation: Translation) -> Statistics | None:
        found = self._found(translation)
        return None if found is None else (int(found["exec"]), 1)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Say why the result is another."""
        found = translation.annotations.get("sql")
        why = str(found.get("why") or "") if isinstance(found, Mapping) else ""
        return (f"{why[:1].upper()}{why[1:]}.",) if why else ()


class SetMatch(_Sql):
    """Share of queries made of the same parts as the reference query, 0–1, higher is better.

    Parts are compared without order where order does not matter. As published, values, DISTINCT and the conditions
    of joins are not compared. What cannot be parsed, or is too long, does not match. Null as for ``ExecutionMatch``.
    """

    info = pack_metric("au.sql_set_match")

    @property
    def signature(self) -> str:
        return own_signature(f"values:no|distinct:no|joins:tables|sqlglot:{_version()}")

    def stats(self, translation: Translation) -> Statistics | None:
        found = self._found(translation)
        if found is None:
            return None
        tables = found.get("tables") or {}
        return (int(same_parts(translation.output, translation.entry.reference, tables)), 1)


@cache
def _version() -> str:
    try:
        return version("sqlglot")
    except PackageNotFoundError:
        return "none"


def same_parts(query: str, wanted: str, tables: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether two queries have the same parts; ``tables`` are the columns of each, in lower case."""
    parts = _parts(query, tables)
    return parts is not None and parts == _parts(wanted, tables)


def _parts(query: str, tables: Mapping[str, Sequence[str]]) -> Parts | None:
    """Take a query apart; None where that cannot be done."""
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError
    from sqlglot.optimizer.qualify import qualify

    if len(query) > MOST_LETTERS:
        return None
    schema = {table: dict.fromkeys(columns, "TEXT") for table, columns in tables.items()}
    try:
        tree = parse_one(_unfenced(query), read="sqlite")
        if not isinstance(tree, exp.Query):
            return None
        qualified = qualify(
            tree,
            dialect="sqlite",
            schema=schema,
            validate_qualify_columns=False,
            expand_stars=False,
            expand_alias_refs=False,
            quote_identifiers=False,
        )
        return _canonical(qualified, _tables_by_alias(qualified))
    except (SqlglotError, RecursionError):
        return None


def _unfenced(query: str) -> str:
    text = query.strip()
    if not (text.startswith("```") and text.endswith("```")):
        return text
    return text.strip("`").removeprefix("sqlite").removeprefix("sql").strip()


def _tables_by_alias(tree: Any) -> dict[str, str]:
    """Return what each name in FROM stands for, in lower case."""
    from sqlglot import exp

    return {table.alias_or_name.lower(): table.name.lower() for table in tree.find_all(exp.Table)}


def _canonical(node: Any, tables: Mapping[str, str], named: Mapping[str, Any] | None = None) -> Any:
    """Return a piece of a query in comparable form; ``named`` are the columns that its query names anew."""
    from sqlglot import exp

    def again(each: Any) -> Any:
        return _canonical(each, tables, named)

    match node:
        case exp.Select():
            return _select(node, tables)
        case exp.Literal() | exp.Boolean() | exp.Null() | exp.Neg(this=exp.Literal()):
            return "?"
        case exp.Paren() | exp.Alias() | exp.Subquery():
            return again(node.this)
        case exp.Column():
            table = node.table.lower()
            renamed = None if table else (named or {}).get(node.name.lower())
            return again(renamed) if renamed else (tables.get(table, table), node.name.lower())
        case exp.Table():
            return ("table", node.name.lower())
        case exp.Distinct():
            pieces = tuple(map(again, node.expressions))
            return pieces[0] if len(pieces) == 1 else pieces
        case exp.Ordered():
            return ("order", again(node.this), bool(node.args.get("desc")))
        case exp.LT() | exp.LTE():
            turned = "GT" if isinstance(node, exp.LT) else "GTE"
            return (turned, again(node.expression), again(node.this))
        case exp.And() | exp.Or():
            return (type(node).__name__, _sorted(again(each) for each in node.flatten()))
        case exp.EQ() | exp.NEQ() | exp.Add() | exp.Mul() | exp.Union() | exp.Intersect():
            return (type(node).__name__, _sorted([again(node.this), again(node.expression)]))
        case exp.Expr():
            pieces = ((name, again(each)) for name, each in sorted(node.args.items()) if each)
            return (type(node).__name__, *pieces)
        case list():
            return tuple(map(again, node))
        case _:
            return str(node).lower()


def _select(node: Any, tables: Mapping[str, str]) -> Parts:
    """Return the clauses of one query; tables, columns and conditions in no order."""
    from sqlglot import exp

    given = {each.alias_or_name.lower(): each.unalias() for each in node.expressions}
    named = {
        name: each for name, each in given.items() if not isinstance(each, exp.Column) or each.table
    }

    def again(each: Any) -> Any:
        return _canonical(each, tables, named)

    sources = [each.this for each in (node.find(exp.From), *(node.args.get("joins") or ())) if each]
    clauses = {name: node.args.get(name) for name in ("where", "having", "order", "with_")}
    group = node.args.get("group")
    return (
        "Select",
        _sorted(map(again, node.expressions)),
        _sorted(map(again, sources)),
        _sorted(map(again, group.expressions)) if group else (),
        tuple((name, again(each)) for name, each in clauses.items() if each),
        node.args.get("limit") is not None,
    )


def _sorted(pieces: Any) -> Parts:
    return tuple(sorted(pieces, key=repr))


def why_no_execution(resources: Resources) -> str | None:
    """Say why no query is run."""
    if "sql" in resources.setup.annotators:
        return None
    return (
        "no record names a database: give the path of a SQLite file beside the corpus as database"
    )


def why_no_parts(resources: Resources) -> str | None:
    """Say what is missing to compare the parts of queries."""
    if _version() == "none":
        return "the parts of queries are told by sqlglot, which is not installed: rosetta doctor says how"
    return why_no_execution(resources)


METRICS = {
    "au.text2sql_score": Maker(ExecutionMatch, why_no_execution),
    "au.sql_set_match": Maker(lambda _: SetMatch(), why_no_parts),
}
