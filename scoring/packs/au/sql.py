"""Predicted SQL: whether it gives the reference query's result, and whether it has the same parts (au-harness-metrics).

Nothing runs here: what queries give is found by the annotator ``sql``, which also tells the tables of the database.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from scoring.core.metric import FloatArray, RateMetric, Statistics, own_signature
from scoring.core.packs import pack_metric
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker
from scoring.words.resources import Resources


class _Sql(RateMetric):
    """What both metrics share: the annotation, and records whose reference query itself has no result.

    Statistics are (right, 1, 0), and (0, 0, 1) for such a record, which has no value.
    """

    width = 3

    def stats(self, translation: Translation) -> Statistics | None:
        execution = translation.annotations.get("sql")
        if not isinstance(execution, Mapping):
            return None
        if execution.get("exec") is None:
            return (0, 0, 1)
        return (int(self.right(execution, translation)), 1, 0)

    @abstractmethod
    def right(self, found: Mapping[str, Any], translation: Translation) -> bool:
        """Return whether a query is right, by the annotation."""

    def further(self, total: FloatArray) -> dict[str, float | int | None]:
        """Return how many reference queries have no result."""
        return {f"{self.info.id}_references_failed": int(total[2])}

    @property
    def why_missing(self) -> str:
        return "no record names a database whose reference query has a result"


class ExecutionMatch(_Sql):
    """Share of queries that give the rows of the reference query, 0–1, higher is better.

    Columns may be in any order, rows too unless the reference orders them; DISTINCT is left out of both, as
    published. A query that fails, writes, or takes too long is wrong. Null where the reference has no result.
    """

    info = pack_metric("au.text2sql_score")

    def __init__(self, resources: Resources) -> None:
        facts = resources.setup.annotators.get("sql", {})
        self._sqlite = str(facts.get("sqlite", "none"))

    @property
    def signature(self) -> str:
        return own_signature(f"rows:multiset|columns:any-order|distinct:no|sqlite:{self._sqlite}")

    def right(self, found: Mapping[str, Any], translation: Translation) -> bool:  # noqa: ARG002
        return bool(found["exec"])

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Return why the result is another, with the first rows of both."""
        execution = translation.annotations.get("sql")
        if not isinstance(execution, Mapping) or not execution.get("why"):
            return ()
        why, rows = str(execution["why"]), execution.get("rows") or {}
        sides = {"given": "Its first rows:", "wanted": "Those of the reference query:"}
        shown = [
            "\n  ".join([words, *rows[side]]) for side, words in sides.items() if rows.get(side)
        ]
        may = (_ONLY_READS,) if _REFUSED in why else ()
        return (f"{why[:1].upper()}{why[1:]}.", *may, *shown)


_REFUSED = "not authorized"
"""What SQLite says of a query that may not do what it wants to."""
_ONLY_READS = "A query may only read tables of its database; nothing was changed."


class SetMatch(_Sql):
    """Share of queries made of the same parts as the reference query, 0–1, higher is better.

    Parts are compared without order where order does not matter. As published, values, DISTINCT and the conditions
    of joins are not compared. What cannot be parsed, or is too long, does not match. Null as for ``ExecutionMatch``.
    """

    info = pack_metric("au.sql_set_match")

    @property
    def signature(self) -> str:
        return own_signature(f"values:no|distinct:no|joins:tables|sqlglot:{sqlglot_version()}")

    def right(self, found: Mapping[str, Any], translation: Translation) -> bool:
        from scoring.packs.au.sql_parts import same_parts

        tables = found.get("tables") or {}
        return same_parts(translation.output, translation.entry.reference, tables)


@cache
def sqlglot_version() -> str:
    """Return the version of sqlglot; ``none`` where it is not installed."""
    try:
        return version("sqlglot")
    except PackageNotFoundError:
        return "none"


def why_no_execution(resources: Resources) -> str | None:
    """Return why no query is run."""
    if "sql" in resources.setup.annotators:
        return None
    return (
        "no record names a database: give the path of a SQLite file beside the corpus as database"
    )


def why_no_parts(resources: Resources) -> str | None:
    """Return what is missing to compare the parts of queries."""
    if sqlglot_version() == "none":
        return "the parts of queries are told by sqlglot, which is not installed: rosetta doctor says how"
    return why_no_execution(resources)


METRICS = {
    "au.text2sql_score": Maker(ExecutionMatch, why_no_execution),
    "au.sql_set_match": Maker(lambda _: SetMatch(), why_no_parts),
}
