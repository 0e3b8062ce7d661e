"""The language that narrows lists of entries and runs: ``chrf<30 tier:baseline -why:quotes "two words"``.

All terms must hold; ``-`` before a term negates it. A term is a field with a value, or words that the texts of a row
contain. Parsing knows no field, ``Query.of`` checks names and values against those that a list has, and ``matches``
asks whole columns at once. Nothing of a query is ever executed.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as of_dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from corpora.text.comparison import comparison_form
from corpora.text.messages import near_names, one_of
from harness.core.failures import UsageError
from scoring.core.inventory import metric_named, typed_name

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]
    Numbers = npt.NDArray[np.float64]

NONE = "none"
"""As a value: the row has none."""


class QueryType(StrEnum):
    """How a field is compared with the value of a term."""

    NUMBER = "number"
    WORD = "word"
    """The whole word, without regard to case."""
    TEXT = "text"
    """Any piece of the text, without regard to case."""


class QueryField(NamedTuple):
    """One thing that rows of a list can be asked for."""

    kind: QueryType
    about: str
    values: tuple[str, ...] = ()
    """Words that rows have, as they are offered."""
    closed: bool = False
    """Whether another word is a mistake; else it only finds nothing."""


Fields = Mapping[str, QueryField]


class QueryError(UsageError):
    """A query cannot be read; the message has what is wrong, where, and what may be meant."""

    def __init__(self, why: str, start: int, end: int) -> None:
        super().__init__(f"At character {start + 1}: {why}")
        self.start, self.end = start, end


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One condition; ``field`` is empty where the texts of a row are searched."""

    field: str
    operator: str
    """``:``, ``<``, ``<=``, ``>`` or ``>=``."""
    value: str
    negated: bool = False
    span: tuple[int, int] = of_dataclass(default=(0, 0), compare=False)
    """Where it stands in what was typed."""

    def __str__(self) -> str:
        """Return the term as it is typed."""
        value = _written(self.value, _BARE_VALUE if self.field else _BARE_WORD)
        return f"{'-' * self.negated}{self.field}{self.operator * bool(self.field)}{value}"


def _written(value: str, bare: re.Pattern[str]) -> str:
    return value if bare.fullmatch(value) else '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'


_NAME = r'[^\s:<>=!"\\-][^\s:<>=!"\\]*'
_BARE_WORD, _BARE_VALUE = re.compile(_NAME), re.compile(r'[^\s"=][^\s"]*')
_TERM = re.compile(
    rf"(?P<minus>-?)(?:(?P<field>{_NAME})(?P<operator><=|>=|!=|[:<>=]))?"
    r'(?:"(?P<quoted>(?:[^"\\]|\\.)*)(?P<closing>"?)|(?P<bare>[^\s"]*))',
    re.DOTALL,
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Query:
    """Conditions that all must hold; without any, every row fits."""

    terms: tuple[QueryTerm, ...] = ()

    def __bool__(self) -> bool:
        """Return whether anything is asked for."""
        return bool(self.terms)

    def __str__(self) -> str:
        """Return the query as it is typed."""
        return " ".join(map(str, self.terms))

    @classmethod
    def of(cls, text: str, fields: Fields, *, typing: bool = False) -> Query:
        """Read a query over these fields; raises QueryError. While one is ``typing``, a last word that begins a field is left out."""
        terms = parse(text).terms
        if typing and terms and text.endswith(terms[-1].value) and not terms[-1].field:
            begun = terms[-1].value.casefold()
            terms = terms[:-1] if any(name.startswith(begun) for name in fields) else terms
        return cls(tuple(_checked(term, fields) for term in terms))


EVERYTHING = Query()


class Cancelled(Exception):  # noqa: N818  nothing went wrong
    """Nobody wants the answer of a query any more."""


def never() -> bool:
    """Return False: nobody cancels."""
    return False


def parse(text: str) -> Query:
    """Read the terms of a query, whatever its fields are called; raises QueryError."""
    return Query(tuple(_terms(text)))


def _terms(text: str) -> Iterator[QueryTerm]:
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        match = _TERM.match(text, at)
        end = at if match is None else match.end()
        if match is None or end == at or (end < len(text) and not text[end].isspace()):
            raise QueryError(
                'a quotation mark stands inside a word. Write "…" around all of it, and \\" inside.', end, end + 1
            )
        yield _term(match)
        at = end


def _term(match: re.Match[str]) -> QueryTerm:
    name, sign, bare, quoted = match["field"] or "", match["operator"] or ":", match["bare"], match["quoted"]
    span = match.span()
    if quoted is not None and not match["closing"]:
        raise QueryError("the quotation mark is not closed.", match.start("quoted") - 1, span[1])
    value = bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
    if not name and bare is not None and (not bare or bare[0] in "<>=:"):
        what = f"no field before “{bare[0]}”" if bare else "nothing after “-”"
        raise QueryError(f"there is {what}. Write such as chrf<30, and in quotes what is searched as text.", *span)
    if not value:
        raise QueryError(f"there is no value after “{name}{sign}”." if name else "there is no text.", *span)
    negated = bool(match["minus"]) is not (sign == "!=")
    return QueryTerm(name, ":" if sign in {"=", "!="} else sign, value, negated, span)


def _checked(term: QueryTerm, fields: Fields) -> QueryTerm:
    """Return a term with the field's own name; raises QueryError where it asks for what is not there."""
    if not term.field:
        return term
    name = _named(term.field, fields)
    if name is None:
        near = _nearest(term.field, fields)
        hint = f"did you mean {one_of(near)}?" if near else f"there are {', '.join(fields)}."
        raise QueryError(f"“{term.field}” is no field; {hint}", *term.span)
    asked, value, absent = fields[name], term.value, term.operator == ":" and term.value.casefold() == NONE
    if asked.kind is QueryType.NUMBER:
        if not absent and not _NUMBER.fullmatch(value):
            raise QueryError(f"{name} is compared with a number, and “{value}” is none; such as {name}<30.", *term.span)
    elif term.operator != ":":
        raise QueryError(f"{name} has no order; write {name}:{value}.", *term.span)
    elif asked.closed and not absent and fold(value) not in set(map(fold, asked.values)):
        near = _nearest(value, asked.values)
        hint = f"did you mean {one_of(near)}?" if near else f"there are {', '.join(asked.values) or 'none'}."
        raise QueryError(f"{name} is never “{value}”; {hint}", *term.span)
    return replace(term, field=name)


def _nearest(typed: str, known: Iterable[str]) -> list[str]:
    return [name for name in known if fold(name).startswith(fold(typed))][:3] or near_names(typed, known)


def _named(typed: str, fields: Fields) -> str | None:
    """Return the field that goes by a name; metrics go by any of theirs."""
    if typed.casefold() in fields:
        return typed.casefold()
    metric = metric_named(typed)
    return typed_name(metric) if metric is not None and typed_name(metric) in fields else None


def fold(text: str) -> str:
    """Return a word as it is compared: without regard to case and to characters that look alike."""
    return comparison_form(text).casefold()


# ---- Rows that a query is asked of


class QueryRows(Protocol):
    """Rows as columns; each method returns an array with one value for every row."""

    @property
    def fields(self) -> Fields:
        """Return what can be asked for."""
        ...

    def numbers(self, name: str) -> Numbers:
        """Return the values of a NUMBER field, NaN where there is none."""
        ...

    def having(self, name: str, value: str | None) -> Mask:
        """Return which rows have a word, None: which have none."""
        ...

    def containing(self, name: str, text: str) -> Mask:
        """Return which rows have a piece of text in a TEXT field, "" for any of their texts."""
        ...


_COMPARE: Mapping[str, Callable[[Numbers, float], Mask]] = {
    ":": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def matches(query: Query, every: Mask, holds: Callable[[QueryTerm], Mask]) -> Mask:
    """Return which rows fit a query, of ``every`` row; ``holds`` tells for which a term does, before it is negated."""
    for term in query.terms:
        every = every & (holds(term) ^ term.negated)
    return every


def holds(term: QueryTerm, rows: QueryRows) -> Mask:
    """Return for which rows a checked term holds, before it is negated."""
    kind = rows.fields[term.field].kind if term.field else QueryType.TEXT
    absent = term.operator == ":" and term.value.casefold() == NONE
    if kind is QueryType.NUMBER:
        return compared(rows.numbers(term.field), term)
    if kind is QueryType.WORD:
        return rows.having(term.field, None if absent else term.value)
    return rows.containing(term.field, term.value)


def compared(values: Numbers, term: QueryTerm) -> Mask:
    """Return for which numbers a term holds; one that is not there, NaN, fits no comparison."""
    if term.operator == ":" and term.value.casefold() == NONE:
        absent: Mask = values != values  # noqa: PLR0124  NaN alone is not equal to itself
        return absent
    return _COMPARE[term.operator](values, float(term.value))


# ---- What may follow as one types


class Completion(NamedTuple):
    """A piece that can replace what was typed from ``start`` on."""

    start: int
    text: str
    about: str


_TYPED = re.compile(
    rf'(?:^|(?<=\s))-?(?:(?P<field>{_NAME})(?P<operator>:|!=|=)(?P<value>"[^"]*|[^\s"]*)|(?P<name>(?:{_NAME})?))$'
)


def completions(text: str, fields: Fields) -> list[Completion]:
    """Return what may be meant by the last term of a text: fields by their beginning, then the words of a field."""
    match = _TYPED.search(text)
    if match is None:
        return []
    if match["field"] is None:
        start, begun = match.start("name"), match["name"].casefold()
        return [
            Completion(start, f"{name}{'<' if one.kind is QueryType.NUMBER else ':'}", one.about)
            for name, one in fields.items()
            if name.startswith(begun)
        ]
    name, start = _named(match["field"], fields), match.start("value")
    begun = fold(match["value"].removeprefix('"'))
    words = [] if name is None or fields[name].kind is not QueryType.WORD else [*fields[name].values, NONE]
    return [
        Completion(start, _written(word, _BARE_VALUE), "no value" if word == NONE else "")
        for word in words
        if fold(word).startswith(begun)
    ]
