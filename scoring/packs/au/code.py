"""Function calling: whether the calls of an answer are those that are wanted (au-harness-metrics).

By the rules of the Berkeley function-calling leaderboard's ``ast_checker``: each wanted call has one of the answer's
for itself, in any order; a value must be one of those allowed, where an allowed "" says that the parameter may be left
out; text is compared without case, spaces and ``,./-_*^``. An answer is the JSON text ``[{name: {parameter: value}}]``.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from corpora.files.json_types import Json, JsonObject
from corpora.model.task import json_text
from corpora.text.tokens import lowered
from scoring.core.metric import Compared, FloatArray, RateMetric, Statistics, own_signature
from scoring.core.packs import pack_metric
from scoring.core.setup import Translation
from scoring.grammar.morpheme_difference import best_pairs
from scoring.metrics.maker import Maker
from scoring.packs.au.structured import json_answer
from scoring.words.source_words import Resources

AllowedValues = Mapping[str, Sequence[Json]]
"""Parameter → the values that it may have."""
WantedCall = Mapping[str, AllowedValues]
"""One name, and what its call may say."""
MOST_CALLS = 64
"""Wanted calls of a record."""
_TYPES: Mapping[str, type] = {
    "string": str, "integer": int, "float": float, "number": float, "boolean": bool, "array": list,
    "tuple": list, "dict": dict, "object": dict,
}  # fmt: skip
_LEFT_OUT = re.compile(r"[ ,./\-_*^]")


def call_faults(calls: Sequence[Json], wanted: Sequence[WantedCall], tools: Sequence[Json]) -> list[str]:
    """Return what is wrong with the calls of an answer, in words; nothing where they are those wanted."""
    if len(calls) != len(wanted):
        return [f"{len(calls)} calls; {len(wanted)} are wanted."]
    described = _by_name(tools)
    faults = [[_fault(call, other, described) for call in calls] for other in wanted]
    fits = [[int(fault is None) for fault in row] for row in faults]
    problems = []
    for other, row, column in zip(wanted, faults, best_pairs(fits), strict=True):
        if column is None:  # what is wrong with a call of the wanted name, else with the first call
            faulty = [(call, fault) for call, fault in zip(calls, row, strict=True) if fault]
            named = (fault for call, fault in faulty if _is_named(call, other))
            problems.append(next(named, faulty[0][1]))
    return problems


def compared_calls(calls: Sequence[Json], wanted: Sequence[WantedCall], tools: Sequence[Json]) -> Iterator[Compared]:
    """Yield the parameters of each wanted call beside those of the call nearest to it, then the calls too many."""
    described = _by_name(tools)
    rows = [[list(_beside(call, other, described)) for call in calls] for other in wanted]
    near = [
        [
            1 + sum(row.given == row.wanted for row in beside) if _is_named(call, other) else 0
            for call, beside in zip(calls, others, strict=True)
        ]
        for other, others in zip(wanted, rows, strict=True)
    ]
    pairs = best_pairs(near)
    for other, others, column in zip(wanted, rows, pairs, strict=True):
        yield from _beside(None, other, described) if column is None else others[column]
    for place, call in enumerate(calls):
        if place not in pairs:
            yield Compared("one too many", json_text(call), "")


def _beside(call: Json, wanted: WantedCall, described: Mapping[str, JsonObject]) -> Iterator[Compared]:
    """Yield a row for each parameter, or one for the call where it is missing or has none."""
    ((name, allowed),) = wanted.items()
    given = next(iter(call.values())) if isinstance(call, Mapping) and _is_named(call, wanted) else None
    if not (isinstance(given, Mapping) and (given or allowed)):
        needed = {name: one[0] for name, one in allowed.items() if one and "" not in one}
        yield Compared(name, "" if given is None else json_text(given), json_text(needed))
        return
    properties, _ = _description(described.get(_name(name)), allowed)
    for parameter in {**allowed, **given}:
        values = allowed.get(parameter, ()) if parameter in properties else ()
        others = " or ".join(json_text(value) for value in values if value != "")
        if parameter not in given:
            if "" not in values:
                yield Compared(f"{name} {parameter}", "", others)
            continue
        text = json_text(given[parameter])
        right = bool(values) and _allowed(given[parameter], values, properties[parameter])
        yield Compared(f"{name} {parameter}", text, text if right else others)


def _is_named(call: Json, wanted: WantedCall) -> bool:
    """Return whether a call is of the wanted function, whatever its parameters."""
    return isinstance(call, Mapping) and [*map(_name, call)] == [*map(_name, wanted)]


def _by_name(tools: Sequence[Json]) -> dict[str, JsonObject]:
    return {_name(str(tool.get("name"))): tool for tool in tools if isinstance(tool, Mapping)}


def _name(name: str) -> str:
    """Return a name as services that allow no dots in it give it back."""
    return name.replace(".", "_")


def _fault(call: Json, wanted: WantedCall, described: Mapping[str, JsonObject]) -> str | None:
    """Return why a call is not the wanted one; None where it is."""
    ((name, allowed),) = wanted.items()
    if not (isinstance(call, Mapping) and _is_named(call, wanted)):
        return f"{name} is not called."
    (given,) = call.values()
    if not isinstance(given, Mapping):
        return f"{name} is called without parameters by name."
    properties, required = _description(described.get(_name(name)), allowed)
    for parameter in required:
        if parameter not in given:
            return f"{name}: {parameter} is missing."
    for parameter, value in given.items():
        if parameter not in properties or parameter not in allowed:
            return f"{name}: {parameter} is not expected."
        if not _allowed(value, allowed[parameter], properties[parameter]):
            return f"{name}: the value of {parameter} is not allowed."
    left = [name for name in allowed if name not in given and "" not in allowed[name]]
    return f"{name}: {left[0]} is missing." if left else None


def _description(tool: JsonObject | None, allowed: AllowedValues) -> tuple[JsonObject, Sequence[str]]:
    """Return the described parameters and those that must be there; without a description any type will do."""
    stated = tool.get("parameters") if tool else None
    properties = stated.get("properties") if isinstance(stated, Mapping) else None
    if not isinstance(stated, Mapping) or not isinstance(properties, Mapping):
        return {parameter: {} for parameter in allowed}, ()
    required = stated.get("required")
    names = required if isinstance(required, list) else ()
    return properties, [name for name in names if isinstance(name, str)]


def _allowed(value: Json, answers: Sequence[Json], described: Json) -> bool:
    """Return whether a value is one of the allowed answers, and of the described type or theirs."""
    kind = _type_of(described) or type(value)
    if kind is float and type(value) is int:
        value = float(value)
    theirs = next((type(answer) for answer in answers if answer != ""), None)
    properties = described if isinstance(described, Mapping) else {}
    inner = _type_of(properties.get("items")) if kind is list else None
    of_kind = type(value) is kind
    if of_kind and inner is not None:
        of_kind = isinstance(value, list) and _items_fit(value, answers, inner)
    if not of_kind and type(value) is not theirs:
        return False
    if of_kind and theirs in {kind, None}:
        if isinstance(value, dict):
            return any(_dict_fits(value, answer) for answer in answers)
        if isinstance(value, list) and inner is dict:
            return any(_dicts_fit(value, answer) for answer in answers)
        if kind in {str, list}:
            return _plain(value) in [_plain(answer) for answer in answers if type(answer) is kind]
    return value in answers


def _type_of(described: Json) -> type | None:
    named = described.get("type") if isinstance(described, Mapping) else None
    return _TYPES.get(named) if isinstance(named, str) else None


def _items_fit(values: Sequence[Json], answers: Sequence[Json], inner: type) -> bool:
    """Return whether all items are of the described type, or of that of an allowed list's items."""
    for answer in answers:
        if not isinstance(answer, list):
            return True
        theirs = next((type(item) for item in answer if item != ""), None)
        if all(type(value) in {inner, theirs} for value in values):
            return True
    return False


def _dict_fits(value: JsonObject, answer: Json) -> bool:
    """Return whether a record has one of the allowed values under each name of an allowed record."""
    if not isinstance(answer, Mapping):
        return False
    known = all(name in answer and _plain(item) in map(_plain, _several(answer[name])) for name, item in value.items())
    return known and all(name in value or "" in _several(others) for name, others in answer.items())


def _several(allowed: Json) -> Sequence[Json]:
    """Return the allowed values of a name; one that stands alone is the only one."""
    return allowed if isinstance(allowed, list) else [allowed]


def _dicts_fit(values: Sequence[Json], answers: Json) -> bool:
    if not isinstance(answers, list) or len(values) != len(answers):
        return False
    pairs = zip(values, answers, strict=True)
    return all(isinstance(item, Mapping) and _dict_fits(item, answer) for item, answer in pairs)


def _plain(value: Json) -> Json:
    """Return a text, or the texts of a list, in the form in which they are compared."""
    if isinstance(value, list):
        return [_plain_text(item) if isinstance(item, str) else item for item in value]
    return _plain_text(value) if isinstance(value, str) else value


def _plain_text(text: str) -> str:
    return _LEFT_OUT.sub("", lowered(text)).replace("'", '"')


class FunctionCallMatch(RateMetric):
    """Share of answers whose calls are those wanted, 0–1, higher is better.

    An answer that is no list of calls is wrong. Null without ``reference_calls``.
    """

    info = pack_metric("au.bfcl_match_score")
    signature = own_signature("rules:bfcl-ast|order:free|dots:underscores")
    why_missing = "no record has reference_calls [{name: {parameter: [allowed values]}}]"

    def stats(self, translation: Translation) -> Statistics | None:
        faults = self._faults(translation)
        return None if faults is None else (int(not faults), 1)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        return tuple(self._faults(translation) or ())[:_MOST_NAMED]

    def compared(self, translation: Translation) -> tuple[Compared, ...]:
        sides = self._sides(translation)
        if sides is None or sides[0] is None:
            return ()
        try:
            return tuple(compared_calls(sides[0], sides[1], sides[2]))
        except RecursionError:
            return ()

    def _faults(self, translation: Translation) -> list[str] | None:
        """Return what is wrong with the answer; None without calls to compare with."""
        sides = self._sides(translation)
        if sides is None:
            return None
        calls, wanted, tools = sides
        if calls is None:
            return ["The answer is no JSON list of calls."]
        try:
            return call_faults(calls, wanted, tools)
        except RecursionError:
            return ["A value is nested too deep to be compared."]

    def _sides(
        self, translation: Translation
    ) -> tuple[Sequence[Json] | None, Sequence[WantedCall], Sequence[Json]] | None:
        """Return the calls of the answer (None: it is no list of calls), those wanted, and the tools."""
        wanted = translation.given("reference_calls")
        if not isinstance(wanted, list) or not all(_wanted(wanted)) or len(wanted) > MOST_CALLS:
            return None
        tools, answer = translation.given("tools"), json_answer(translation.output)
        calls = [answer] if isinstance(answer, Mapping) else answer
        listed = calls if isinstance(calls, list) else None
        return (listed, wanted, tools if isinstance(tools, list) else ())


_MOST_NAMED = 5


def _wanted(calls: Sequence[Json]) -> Iterator[bool]:
    """Yield for each call whether it is one name with lists of allowed values."""
    for call in calls:
        values = list(call.values()) if isinstance(call, Mapping) else []
        yield (
            len(values) == 1
            and isinstance(values[0], Mapping)
            and all(isinstance(item, list) for item in values[0].values())
        )


# ---- Predicted SQL: whether it gives the reference query's result, and whether it has the same
# parts (au-harness-metrics).
#
# Nothing runs here: what queries give is found by the annotator ``sql``, which also tells the
# tables of the database.


class QueryOutcome(NamedTuple):
    """What an answer's query and the reference query gave: the annotation ``sql``."""

    exec: int | None
    """1 where both give the same rows; None where the reference query has no result itself."""
    why: str
    """What is wrong; empty where nothing is."""
    tables: Mapping[str, Sequence[str]]
    """Table → its columns, in lower case."""
    rows: Mapping[str, Sequence[str]]
    """``given`` and ``wanted`` → the first rows of each, where they differ."""


def query_outcome(translation: Translation) -> QueryOutcome | None:
    """Read the annotation of a translation; None where it has none."""
    stated = translation.annotations.get("sql")
    if not isinstance(stated, Mapping):
        return None
    return QueryOutcome(
        stated.get("exec"), str(stated.get("why") or ""), stated.get("tables") or {}, stated.get("rows") or {}
    )


class _Sql(RateMetric):
    """What both metrics share: the annotation, and records whose reference query itself has no result.

    Statistics are (right, 1, 0), and (0, 0, 1) for such a record, which has no value.
    """

    width = 3
    why_missing = "no record names a database whose reference query has a result"

    def stats(self, translation: Translation) -> Statistics | None:
        outcome = query_outcome(translation)
        if outcome is None:
            return None
        if outcome.exec is None:
            return (0, 0, 1)
        return (int(self.right(outcome, translation)), 1, 0)

    @abstractmethod
    def right(self, outcome: QueryOutcome, translation: Translation) -> bool:
        """Return whether a query is right, by the annotation."""

    def further(self, total: FloatArray) -> dict[str, float | int | None]:
        return {f"{self.info.id}_references_failed": int(total[2])}


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

    def right(self, outcome: QueryOutcome, translation: Translation) -> bool:  # noqa: ARG002
        return bool(outcome.exec)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        outcome = query_outcome(translation)
        if outcome is None or not outcome.why:
            return ()
        why, rows = outcome.why, outcome.rows
        sides = {"given": "Its first rows:", "wanted": "Those of the reference query:"}
        there = [side for side in sides if rows.get(side)]
        shown = ["\n  ".join([sides[side], *rows[side]]) for side in there]
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

    def right(self, outcome: QueryOutcome, translation: Translation) -> bool:
        from scoring.packs.au.sql_parts import same_parts

        return same_parts(translation.output, translation.entry.reference, outcome.tables)


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
    why = "no record names a database"
    return f"{why}: give the path of a SQLite file beside the corpus as database"


def why_no_parts(resources: Resources) -> str | None:
    """Return what is missing to compare the parts of queries."""
    if sqlglot_version() == "none":
        return "the parts of queries are read by sqlglot, which is not installed: rosetta doctor says how"
    return why_no_execution(resources)


METRICS = {
    "au.bfcl_match_score": Maker(lambda _: FunctionCallMatch()),
    "au.text2sql_score": Maker(ExecutionMatch, why_no_execution),
    "au.sql_set_match": Maker(lambda _: SetMatch(), why_no_parts),
}
