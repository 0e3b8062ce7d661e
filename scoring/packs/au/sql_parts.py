"""The parts of a query, in a form in which queries made of the same parts are equal (the "set match" of Spider).

Loads sqlglot, so it is imported where queries are compared. What sqlglot logs quotes the query, and is not printed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify

from scoring.packs.au.structured import unfenced

logging.getLogger("sqlglot").disabled = True
Parts = tuple[Any, ...]
MOST_LETTERS = 5_000
"""Of a longer query no parts are compared."""


def same_parts(query: str, wanted: str, tables: Mapping[str, Sequence[str]]) -> bool:
    """Return whether two queries have the same parts; ``tables`` are the columns of each, in lower case."""
    parts = _parts(query, tables)
    return parts is not None and parts == _parts(wanted, tables)


def _parts(query: str, tables: Mapping[str, Sequence[str]]) -> Parts | None:
    """Split a query into its parts; None where that cannot be done."""
    if len(query) > MOST_LETTERS:
        return None
    try:
        trees = parse(unfenced(query), read="sqlite")
        if len(trees) != 1 or not isinstance(trees[0], exp.Query):
            return None
        qualified = qualify(
            trees[0],
            dialect="sqlite",
            schema={table: dict.fromkeys(own, "TEXT") for table, own in tables.items()},
            validate_qualify_columns=False,
            expand_stars=False,
            expand_alias_refs=False,
            quote_identifiers=False,
        )
        named_tables = qualified.find_all(exp.Table)
        names = {table.alias_or_name.lower(): table.name.lower() for table in named_tables}
        return ("query", _Reader(names).read(qualified))
    except (SqlglotError, RecursionError):
        return None


def _sorted(pieces: Iterable[Any]) -> Parts:
    return tuple(sorted(pieces, key=repr))


class _Reader:
    """Reads the pieces of one query; those inside it are read by readers of their own."""

    def __init__(self, tables: Mapping[str, str], columns: Mapping[str, exp.Expression] | None = None) -> None:
        self._tables = tables
        """What each name in FROM stands for."""
        self._columns = columns or {}
        """What each column stands for that the query names again."""

    def read(self, node: Any) -> Any:
        """Return a piece in comparable form."""
        match node:
            case exp.Literal() | exp.Boolean() | exp.Null() | exp.Neg(this=exp.Literal()):
                return "?"
            case exp.Paren() | exp.Alias() | exp.Subquery():
                return self.read(node.this)
            case exp.Select():
                # Clauses of a query: what it selects, its tables and groups in no order.
                given = ((expression.alias_or_name.lower(), expression.unalias()) for expression in node.expressions)
                anew = {
                    name: expression
                    for name, expression in given
                    if not isinstance(expression, exp.Column) or expression.table
                }
                read = _Reader(self._tables, anew).read
                sources = [node.find(exp.From), *(node.args.get("joins") or ())]
                group = node.args.get("group")
                clauses = [node.args.get(name) for name in ("where", "having", "order", "with_")]
                return (
                    "Select",
                    _sorted(map(read, node.expressions)),
                    _sorted(read(source.this) for source in sources if source),
                    _sorted(map(read, group.expressions)) if group else (),
                    tuple(read(clause) for clause in clauses if clause),
                    node.args.get("limit") is not None,
                )
            case exp.Column():
                return self._column(node)
            case exp.Table():
                return ("table", node.name.lower())
            case _:
                return self._operation(node)

    def _operation(self, node: Any) -> Any:
        """Read what has operands: sorted where their order says nothing, turned where another says the same."""
        name = type(node).__name__
        match node:
            case exp.And() | exp.Or():
                return (name, _sorted(map(self.read, node.flatten())))
            case exp.EQ() | exp.NEQ() | exp.Add() | exp.Mul() | exp.Union() | exp.Intersect():
                return (name, _sorted(map(self.read, (node.this, node.expression))))
            case exp.GT() | exp.GTE() | exp.LT() | exp.LTE():
                sides = (self.read(node.this), self.read(node.expression))
                return (name, *sides) if name[0] == "G" else (f"G{name[1:]}", *reversed(sides))
            case exp.Ordered():
                return ("order", self.read(node.this), bool(node.args.get("desc")))
            case exp.Distinct():
                pieces = tuple(map(self.read, node.expressions))
                return pieces[0] if len(pieces) == 1 else pieces
            case _:
                return self._other(node)

    def _other(self, node: Any) -> Any:
        if isinstance(node, list):
            return tuple(map(self.read, node))
        if isinstance(node, exp.Expression):
            pieces = ((name, self.read(child)) for name, child in sorted(node.args.items()) if child)
            return (type(node).__name__, *pieces)
        return str(node).lower()

    def _column(self, node: Any) -> Any:
        table, name = node.table.lower(), node.name.lower()
        if not table and name in self._columns:
            return self.read(self._columns[name])
        return (self._tables.get(table, table), name)
