"""The entries of a run or a corpus in any order and selection.

Sorting a hundred thousand entries by a column in memory takes milliseconds, where a query of the store has to read every
row again. Texts are kept as their ranks.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Mapping
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from harness.core.query import EVERYTHING, Fields, Query, QueryField, QueryType, fold, holds, matches, never
from harness.core.storage import storable
from harness.store.columns import (
    ID,
    OF_ENTRIES,
    OF_RESULTS,
    TAGS,
    WHOLE,
    Column,
    EntryColumns,
    Places,
    ReadColumn,
    TextSearch,
    read_numbers,
)
from harness.store.sqlite.sealing import has_key
from scoring.core.inventory import title, typed_name
from scoring.core.specification import COMPOSITE, TRANSLATIONS, Tier, specified

if TYPE_CHECKING:
    from harness.core.query import Mask, Numbers

Groups = Mapping[str, Mapping[str, Collection[int]]]
"""Further fields of words: name → word → places of the entries that have it; an entry may have several."""
TURN_SECONDS = 0.01  # after each column that is read ahead, so that who waits for an answer is served between
MOST_WORDS = 200  # words of a field that are offered

_WORD = QueryType.WORD
_WORKED_OUT = {
    "state": QueryField(_WORD, "how far the entry is", ("failed", "done", "waiting"), closed=True),
    "tier": QueryField(_WORD, "tier of the entry's composite", tuple(Tier), closed=True),
    "match": QueryField(_WORD, "equal to reference, variant or none", ("no", "variant", "exact"), closed=True),
}
"""Their words in the order in which they are sorted."""
_ABOUT = {"why": "finding of the output"}
_TEXTS = frozenset({"source", "reference", "output"})


class Ordering(EntryColumns):
    """Finds entries by a query and sorts them by a field."""

    groups: Groups = MappingProxyType({})
    """Fields that others worked out; may be set at any time."""

    @property
    def fields(self) -> Fields:
        """The fields that entries can be asked for; words are those that were read so far."""
        fields = {name: source.field for name, source in OF_ENTRIES.items()}
        if self.run:
            metrics = {name: QueryField(QueryType.NUMBER, title(id_)) for name, id_ in self.metrics.items()}
            others = {name: words for name, words in _WORKED_OUT.items() if name in self._worked_out}
            fields = metrics | others | {name: source.field for name, source in OF_RESULTS.items()} | fields
        for name, words in self.offered.items():
            if not fields[name].closed:
                fields[name] = fields[name]._replace(values=tuple(words[:MOST_WORDS]))
        groups = {
            name: QueryField(_WORD, _ABOUT.get(name, name), tuple(own), closed=True)
            for name, own in self.groups.items()
        }
        return fields | groups  # a group hides what goes by the same name

    @cached_property
    def _worked_out(self) -> frozenset[str]:
        """Fields of this run that follow from several columns."""
        tier = {"tier"} if COMPOSITE in self.kept.ids else set()
        return frozenset({"state", *tier, *(["match"] if self.kept.right else [])})

    def prepare(self, connection: sqlite3.Connection) -> None:
        """Read what most orders need and which words the tags have, so that the first wish is answered quickly."""
        for name in (
            "difficulty",
            *TAGS,
            *(f"{text} number" for text in ("source", "reference", *(["output"] if self.run else []))),
            *sorted(self.metrics, key=lambda name: self.metrics[name] not in self.stored),
        ):
            began = time.monotonic()
            with self.asked(connection, never):
                self.column(name)
            if time.monotonic() - began > TURN_SECONDS:  # it was not there already
                time.sleep(TURN_SECONDS)

    def positions(
        self,
        connection: sqlite3.Connection,
        *,
        sort: str = "position",
        descending: bool = False,
        where: Query = EVERYTHING,
        cancelled: Callable[[], bool] = never,
    ) -> Places:
        """Return the places of the entries that fit a query, in the order of a screen.

        ``sort`` is one of ``fields``, or ``position``. Entries without a value come last, equal ones in the order of the
        corpus. Raises Cancelled as soon as ``cancelled`` says so.
        """
        with self.asked(connection, cancelled):
            chosen = np.flatnonzero(matches(where, np.ones(self.count, np.bool_), partial(holds, rows=self)))
            if sort == "position":
                return self.places[chosen[::-1] if descending else chosen]
            values = self._ranks(sort)[chosen]
            return self.places[chosen[np.argsort(-values if descending else values, kind="stable")]]

    # What a query asks (``query.QueryRows``)

    def numbers(self, name: str) -> Numbers:
        """Return the values of a field of numbers."""
        return self.column(name).astype(np.float64)

    def having(self, name: str, value: str | None) -> Mask:
        """Return which entries have a word; None: which have none."""
        if name in self.groups:
            words = self.groups[name].items()
            own = [places for word, places in words if value is None or fold(word) == fold(value)]
            mask = np.zeros(self.count, np.bool_)
            for places in own:
                mask[self.index(np.fromiter(places, np.uint32, len(places)))[0]] = True
            return ~mask if value is None else mask
        if name == "id" and value is not None:
            return np.asarray(self.column("id", TextSearch(f"{ID} = :text", storable(value))) == 1, np.bool_)
        codes = self._codes(name)
        if value is None:
            return np.asarray(np.isnan(codes), np.bool_)
        return np.asarray(codes == self.words.get(name, {}).get(fold(value), -1), np.bool_)

    def containing(self, name: str, text: str) -> Mask:
        """Return which entries have a piece of text in a field; "" for any of their texts, or as their whole id."""
        folded = storable(text.casefold())
        own = (name,) if name else ("source", "reference", "output")
        there = [field for field in own if self.run or field != "output"]
        if not name:
            self.search_texts(there, folded)
        masks = [self.column(of, self.text_search(of, folded)) == 1 for of in there]
        if not name:
            masks.append(self.column("id", TextSearch(f"{ID} = :text", storable(text))) == 1)
        return np.asarray(np.logical_or.reduce(masks))

    def _codes(self, name: str) -> Column:
        """Return the numbers that stand for the words of a field."""
        if name not in _WORKED_OUT:
            return self.column(name)
        self.words[name] = {fold(word): code for code, word in enumerate(_WORKED_OUT[name].values)}
        if name == "state":
            return np.where(self.done, np.where(np.isnan(self.column("error")), 1.0, 0.0), 2.0)
        if name == "tier":
            lines = sorted((self.kept.weighing or specified()).tiers)
            codes = np.array([0.0, *(list(Tier).index(Tier(word)) for _, word in lines)])
            values = np.nan_to_num(self.column(typed_name(COMPOSITE)), nan=-np.inf)
            tiers = codes[np.searchsorted([least for least, _ in lines], values, side="right")]
            return np.where(self.done, tiers, np.nan)
        exact = self.column("exact column")
        variant = self.kept == TRANSLATIONS and self.column(typed_name(self.kept.third)) == 1
        return np.where(np.isnan(exact), np.nan, np.where(exact == 1, 2.0, np.where(variant, 1.0, 0.0)))

    # Ranks

    def _ranks(self, name: str) -> Column:
        """Return the values to sort by, NaN where there is none."""
        if name in self.groups:
            ranks = np.full(self.count, np.nan)
            for rank, places in reversed([*enumerate(self.groups[name].values())]):
                ranks[self.index(np.fromiter(places, np.uint32, len(places)))[0]] = rank
            return ranks
        if name == "id":
            return self._id_ranks()
        if name in _TEXTS:
            return self._text_ranks(name)
        name = typed_name(COMPOSITE) if name == "tier" else name
        if self.fields[name].kind is not _WORD or name in _WORKED_OUT:
            return self._codes(name)
        codes, words = self._codes(name), self.words.get(name, {})
        order = {words[word]: rank for rank, word in enumerate(sorted(words))}
        by_code: Numbers = np.array([np.nan, *(order[code] for code in range(len(order)))])
        return np.asarray(by_code[np.nan_to_num(codes, nan=-1).astype(int) + 1])

    def _id_ranks(self) -> Column:
        """Rank ids as SQLite compares them: numbers first, then texts by their bytes."""
        if "id rank" not in self.columns:
            query = "SELECT position FROM entries WHERE corpus = ? ORDER BY entry_id"
            places = read_numbers(self.connection.execute(query, (self.corpus,)))
            self.columns["id rank"] = ReadColumn(
                self.filled(self.nothing, places, np.arange(float(len(places)))), WHOLE
            )
        return self.columns["id rank"].values

    def _text_ranks(self, name: str) -> Column:
        """Rank texts as SQLite compares them: by their bytes; equal texts have one rank."""
        key, of_entries = f"{name} rank", name in OF_ENTRIES
        end, known = WHOLE if of_entries else self.last_row, self.columns.get(key)
        if known is not None and known.last == end:
            return known.values
        if has_key(self.connection, self.corpus):
            # of those that are stored encrypted equal ones have no number in common
            texts = {place: text for place, text in self.rows_of(name, self.sql(name)) if text is not None}
            ordered = {text: rank for rank, text in enumerate(sorted({*texts.values()}))}
            places = np.fromiter(texts, np.uint32, len(texts))
            ranks = np.fromiter((ordered[text] for text in texts.values()), np.float64, len(texts))
        else:
            numbers = self.column(f"{name} number")
            there = ~np.isnan(numbers)
            table, of = ("entries", "corpus") if of_entries else ("results", "run")
            query = f"SELECT id FROM texts WHERE id IN (SELECT {name} FROM {table} WHERE {of} = ?) ORDER BY body"
            rows = self.connection.execute(query, (self.corpus if of_entries else self.run,))
            ordered_numbers = read_numbers(rows)
            by_number, places = np.argsort(ordered_numbers), self.places[there]
            own = np.searchsorted(ordered_numbers[by_number], numbers[there].astype(np.int64))
            ranks = by_number[own].astype(np.float64)
        self.columns[key] = ReadColumn(self.filled(self.nothing, places, ranks), end)
        return self.columns[key].values


def stored_places(connection: sqlite3.Connection, run: int) -> tuple[Places, Places]:
    """Return the places of a run's stored entries, and of those that failed; reads indexes only."""
    queries = (
        "SELECT position FROM results INDEXED BY results_run_position WHERE run = ?",
        "SELECT position FROM results WHERE run = ? AND error_class IS NOT NULL",
    )
    done, failed = (read_numbers(connection.execute(query, (run,))) for query in queries)
    return done.astype(np.uint32), failed.astype(np.uint32)
