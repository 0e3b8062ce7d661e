"""The list of runs: what one line of it shows, read without the parts that hardly a list needs."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from corpora.files.json_types import Json, JsonObject
from corpora.files.problems import StoredValueError
from harness.core.failures import RunState
from harness.method.method_names import submission_number
from harness.store.attachments import UNCHECKED, Attached, CheckedHere, attached_by_run, checked_here, tags_by_run
from harness.store.sqlite.database import BUSY_MILLISECONDS, has_table, opened, store_path
from harness.store.sqlite.trouble import (
    count_positions,
    rows_by_name,
    stored_json,
    stored_object,
    stored_word,
    transaction,
)
from harness.store.withdrawn import withdrawn_runs

if TYPE_CHECKING:
    from harness.store.sqlite.openings import Live


NameAndFacts = tuple[tuple[Hashable, ...], Sequence[str]]
"""Method, corpus, model and condition of a run, and its ``setup_facts``."""

# ---- What a list says of each run besides its own row: what parts it from others, and how many
# entries are in.
#
# People try one method with several outputs or settings, so that runs of one name are separated
# by what they differ in.


def failures_by_run(connection: sqlite3.Connection, only: Collection[int] | None = None) -> dict[int, dict[str, int]]:
    """Count the failed entries of runs by class, the most frequent first; of ``only`` these runs, or of all.

    A class that this version does not know keeps its name.
    """
    failures: dict[int, dict[str, int]] = {}
    rows = connection.execute(
        f"SELECT run, error_class, count(*) FROM results WHERE error_class IS NOT NULL AND {_among('run', only)}"
        " GROUP BY run, error_class ORDER BY count(*) DESC, error_class"
    )
    for run, error_class, count in rows:
        failures.setdefault(run, {})[str(error_class)] = count
    return failures


def done_by_run(connection: sqlite3.Connection, only: Collection[int] | None = None) -> dict[int, int]:
    """Count the stored entries of runs; of ``only`` these, or of all."""
    return dict(connection.execute(f"SELECT run, count(*) FROM results WHERE {_among('run', only)} GROUP BY run"))


def _among(column: str, numbers: Collection[int] | None) -> str:
    """Return SQL that holds of rows of these runs; of all rows for None."""
    return "TRUE" if numbers is None else f"{column} IN ({', '.join(map(str, numbers))})"


def distinctions_by_run(
    connection: sqlite3.Connection, run_id: str | None = None, known: Mapping[int, NameAndFacts] | None = None
) -> dict[int, str]:
    """Return for every run what distinguishes it from those of the same corpus, method, model and condition.

    Where ``run_id`` asks for one run, only those that it can be separated from are read. ``known``: runs by number
    whose set-up is not read.
    """
    runs = dict(known or {})
    others = [number for (number,) in connection.execute("SELECT id FROM runs") if number not in runs]
    query = f"""
        SELECT id, setup, plan -> '$.options.outputs' AS outputs, dataset_id, model_slug, condition
        FROM runs
        WHERE {_among("id", others)} AND (:run_id IS NULL OR (dataset_id, model_slug, condition) =
            (SELECT dataset_id, model_slug, condition FROM runs WHERE run_id = :run_id))
    """
    for row in rows_by_name(connection, query, {"run_id": run_id}):
        method, *facts = _method_and_facts(row)
        runs[row["id"]] = (method, row["dataset_id"], row["model_slug"], row["condition"]), facts
    return dict(zip(runs, distinctions(*zip(*runs.values(), strict=True)), strict=True)) if runs else {}


def _method_and_facts(row: sqlite3.Row) -> tuple[str, ...]:
    setup = stored_object(row["setup"])
    outputs = None if row["outputs"] is None else stored_json(row["outputs"])
    return str(setup.get("method") or ""), *setup_facts(setup, outputs)


def distinctions(names: Sequence[Hashable], facts: Sequence[Sequence[str]]) -> list[str]:
    """Return for each run what distinguishes it from others of its name; empty where nothing does, or nothing need.

    ``facts`` has the same number of words for each run; the first that distinguish runs are returned.
    """
    groups, suffixes = list(names), [""] * len(names)
    for words in zip(*facts, strict=True):
        if len(set(words)) < 2:
            continue
        kinds = Counter(group for group, _ in set(zip(groups, words, strict=True)))
        for place, (group, word) in enumerate(zip(groups, words, strict=True)):
            if word and kinds[group] > 1:
                groups[place] = (group, word)
                suffixes[place] += f" · {word}" if suffixes[place] else word
    return suffixes


def setup_facts(setup: JsonObject, outputs: str | None) -> tuple[str, ...]:
    """Return what runs of one method, model and condition differ by, as words; ``outputs`` is a path."""
    temperature, replicate, tools = (setup.get(name) for name in ("temperature", "replicate", "tools_enabled"))
    hashes = {of: setup.get(f"{name}_sha256") for of, name in _HASHES.items()}
    return (
        PurePath(outputs or "").name,
        f"temperature {temperature:g}" if isinstance(temperature, int | float) else "",
        f"prompt {setup['prompt_version']}" if setup.get("prompt_version") else "",
        f"with {', '.join(map(str, tools))}" if isinstance(tools, list) and tools else "",
        str(setup.get("provider") or ""),
        f"replicate {replicate}" if replicate else "",
        *(f"{of} {str(sha256)[:8]}" if sha256 else "" for of, sha256 in hashes.items()),
    )


_HASHES = {"coaching": "coaching_data", "prompt": "system_prompt", "outputs": "outputs"}


LEAD = ("chrf_plus_plus", "composite")
"""Metrics of translations that are shown first and together (DESIGN T3)."""


class CardLine(NamedTuple):
    """What lists show of a finished run, kept in a column: reading its card would take a hundred times as long."""

    method: str
    method_name: str
    facts: Sequence[str]
    """``setup_facts`` of its set-up."""
    total: int
    done: int
    failures: Mapping[str, int]
    retry_of: str
    rescore_of: str
    submission: str
    unverified: bool
    translates: bool
    """Whether it is of translations, which alone have a composite and a tier."""
    ids: Sequence[str]
    """Metrics that it is shown by, the headline first."""
    values: Mapping[str, float | None]
    """Values of these and of ``composite``."""
    lead: str
    """The headline with its interval, in words; so are the following, for a run without a review."""
    composite: str
    tier: str
    whole_tier: str
    result: str
    caveats: str
    cost: str
    total_cost_usd: float | None
    corpus: str
    """SHA-256 of the corpus file, as the card states it."""
    weighed: str
    """What its composite is made of."""
    inside: bool
    """Whether its numbers stay inside: ``rosetta runs list --json`` leaves them out."""
    json_summary: str = ""
    """JSON of what ``rosetta runs list --json`` has of it from the card; empty where nobody asked for it."""


class StoredCard(Mapping[str, Json]):
    """The sealed card of a run without breakdowns, read from the store when something of it is asked for."""

    def __init__(self, store: Path, run_id: str) -> None:
        self._store, self._run_id = store, run_id
        self._card: JsonObject | None = None

    def _read(self) -> JsonObject:
        if self._card is None:
            query = f"SELECT json_remove(run_card, {_PATHS}) FROM runs WHERE run_id = ? AND run_card IS NOT NULL"
            with opened(self._store) as connection:
                row = connection.execute(query, (self._run_id,)).fetchone()
            self._card = {} if row is None else stored_object(row[0])  # the run may be gone
        return self._card

    def __getitem__(self, name: str) -> Json:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        """Return whether both are of one run: a sealed card never changes."""
        return self._run_id == other._run_id if isinstance(other, StoredCard) else super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]


class RunSummary(NamedTuple):
    """One line of the list of runs."""

    run_id: str
    number: int
    state: RunState
    created: float
    dataset_id: str
    language_pair: str
    model_slug: str
    condition: str
    method: str
    total: int
    done: int
    failed: int
    card: JsonObject | None
    """The sealed card without results[]; None while the run is not complete."""
    live: Live | None
    imported: bool
    scoring: JsonObject | None = None
    """Of a run without a card what it is scored with, and its task; None where the card tells it, or nothing does."""
    failures: Mapping[str, int] = MappingProxyType({})
    """Class of failure → entries that failed so, the most frequent first."""
    certificates: tuple[Attached, ...] = ()
    """Certificates of reviews beside the run; ``review.verdict.certificate.certificate`` says what they are worth."""
    note: str = ""
    """What a person wrote about it (``harness.store.attachments``)."""
    tags: tuple[str, ...] = ()
    """In order."""
    retry_of: str = ""
    """Id of the run whose failed entries this one asked for again; empty for its own run."""
    rescore_of: str = ""
    """Id of the run whose outputs this one scored again; empty for its own run."""
    trashed: float | None = None
    """Unix time at which it was deleted, None where it is not."""
    distinction: str = ""
    """What parts it from others of its method, model and condition; empty where none has all three."""
    method_name: str = ""
    """What its maker calls the method; empty where nobody named it."""
    submission: str = ""
    """Number of the submission that its method came in; empty for any other method."""
    checked: CheckedHere = UNCHECKED
    line: CardLine | None = None
    """What the store keeps of its card for lists; None where the list was read by the cards, or it has none."""

    @property
    def so_far(self) -> dict[str, float | None]:
        """Return chrF++ and composite (or the headline) of the entries that are in, of a run without a card; empty if unknown."""
        stated = {} if self.live is None else self.live.so_far
        if len(stated) == 1 and not stated.keys() & set(LEAD):
            return dict(stated)
        return {name: stated.get(name) for name in LEAD} if stated else {}

    @property
    def stated(self) -> bool:
        """Return whether its scores are only what its card states: nobody scored them again here with the card's corpus."""
        return self.imported and not self.checked.counts


PARTS = ("difficulty", "provenance", "register", "segment", "context", "variety", "orthography")
"""The breakdowns of a card: nine tenths of it, which hardly a list shows."""

_PATHS = ", ".join(f"'$.scores.by_{name}'" for name in PARTS)

_LIST = """
    SELECT u.id, u.run_id, u.state, u.imported IS NOT NULL, u.dataset_id, u.model_slug, u.condition, u.language_pair,
           u.created, u.put_away, coalesce(n.words, ''), {summary}, {card}, {line}
    FROM runs u LEFT JOIN notes n ON n.run = u.id {lines}
    WHERE u.put_away {condition} AND (:run_id IS NULL OR u.run_id = :run_id)
"""

_OF_CARDS = """
    SELECT id, json_extract(setup, '$.method') AS method, coalesce(json_extract(setup, '$.method_name'), '') AS method_name,
           json_extract(setup, '$.method_sha256') AS method_sha256, positions, {card} AS card, live,
           CASE WHEN run_card IS NULL THEN json_extract(opening, '$.scoring') END AS scoring,
           json_extract(opening, '$.retry_of.run_id') AS retry_of,
           json_extract(opening, '$.rescore_of.run_id') AS rescore_of
    FROM runs WHERE {among}
"""


def list_runs(
    connection: sqlite3.Connection,
    *,
    run_id: str | None = None,
    deleted: bool = False,
    brief: bool = False,
    made_by: str | None = None,
    summaries: bool = False,
    with_cards: bool = False,
) -> list[RunSummary]:
    """Return all runs, newest first; those in the trash instead where ``deleted``, the latest first.

    Those for which consent was withdrawn are not among them. ``run_id`` asks for one run alone; ``brief`` leaves out the breakdowns, which takes a third of the time.
    ``made_by``: runs with a line of this version (``keep_lines``) come with it and with a ``StoredCard``, which takes a hundredth;
    ``summaries``: with their ``json_summary``; ``with_cards``: with the cards themselves, without breakdowns, all read at once.
    """
    lined = made_by is not None and has_table(connection, "run_summaries")
    query = _LIST.format(
        summary="l.summary" if lined and summaries else "''",
        card="l.card" if lined and with_cards else "NULL",
        line="l.line" if lined else "NULL",
        lines="LEFT JOIN run_summaries l ON l.run = u.id AND l.made_by = :made_by" if lined else "",
        condition="IS NOT NULL" if deleted else "IS NULL",
    )
    rows = connection.execute(query, {"run_id": run_id, "made_by": made_by}).fetchall()
    # SQLite would carry the lines along to order them
    rows.sort(key=itemgetter(9 if deleted else 8, 0), reverse=True)
    only = rows[0][0] if run_id is not None and rows else None
    lined_rows = [row for row in rows if row[-1] is not None]
    store = store_path(connection)
    lines = dict(zip((row[0] for row in lined_rows), _lines(lined_rows), strict=True))
    named = {row[0]: ((lines[row[0]].method, *row[4:7]), lines[row[0]].facts) for row in lined_rows}
    own = _of_cards(connection, [row[0] for row in rows if row[-1] is None], brief=brief)
    own |= {row[0]: _of_line(lines[row[0]], row[-2], store, row[1]) for row in lined_rows}
    certificates, tags = attached_by_run(connection), tags_by_run(connection)
    parted, checked = distinctions_by_run(connection, run_id, named), checked_here(connection, only)
    withdrawn = withdrawn_runs(connection, only)
    states = {word: stored_word(word, RunState) for word in {row[2] for row in rows}}
    return [
        RunSummary(
            run_id=own_id, number=number, state=states[state], created=created, dataset_id=dataset_id,
            language_pair=language_pair, model_slug=model_slug, condition=condition, imported=bool(imported),
            certificates=certificates.get(number, ()), note=note, tags=tags.get(number, ()), trashed=trashed,
            distinction=parted.get(number, ""), checked=checked.get(number, UNCHECKED), line=lines.get(number),
            **own[number],
        )
        for number, own_id, state, imported, dataset_id, model_slug, condition, language_pair, created, trashed, note, *_ in rows
        if number not in withdrawn
    ]  # fmt: skip


def _of_cards(connection: sqlite3.Connection, numbers: Collection[int], *, brief: bool) -> dict[int, dict[str, Any]]:
    """Return by number what the cards of runs say of them, and of runs without one their own rows."""
    if not numbers:
        return {}
    done, failures = done_by_run(connection, numbers), failures_by_run(connection, numbers)
    card = f"json_remove(run_card, {_PATHS})" if brief else "run_card"
    query = _OF_CARDS.format(card=card, among=_among("id", numbers))
    facts = {}
    for row in rows_by_name(connection, query, ()):
        head = None if row["card"] is None else stored_object(row["card"])
        failed = failures.get(row["id"], {})
        facts[row["id"]] = {
            "method": row["method"],
            "method_name": row["method_name"],
            "total": count_positions(row["positions"]),
            "done": done.get(row["id"], 0),
            "failed": sum(failed.values()),
            "failures": failed,
            "card": head,
            "live": None if row["live"] is None else _live(row["live"]),
            "scoring": None if row["scoring"] is None else stored_object(row["scoring"]),
            "retry_of": row["retry_of"] or _origin(head, "retry_of"),
            "rescore_of": row["rescore_of"] or _origin(head, "rescore_of"),
            "submission": submission_number(row["method"], row["method_sha256"]),
        }
    return facts


def _of_line(line: CardLine, card: object, store: Path, run_id: str) -> dict[str, Any]:
    """Return the same of a finished run as ``_of_cards``, by its line and, where it was read, its card."""
    return {
        "method": line.method, "method_name": line.method_name, "total": line.total, "done": line.done,
        "failed": sum(line.failures.values()), "failures": line.failures, "retry_of": line.retry_of,
        "rescore_of": line.rescore_of, "submission": line.submission, "live": None,
        "card": StoredCard(store, run_id) if card is None else stored_object(card),
    }  # fmt: skip


def _lines(rows: Sequence[sqlite3.Row]) -> list[CardLine]:
    """Read the stored lines of rows of ``_LIST``, all as one JSON text; StoredValueError where one is none."""
    lines, length = stored_json(f"[{','.join(str(row[-1]) for row in rows)}]"), len(CardLine._fields) - 1
    if len(lines) != len(rows) or any(type(line) is not list or len(line) != length for line in lines):
        raise StoredValueError
    return [CardLine._make([*line, row[-3]]) for line, row in zip(lines, rows, strict=True)]


def keep_lines(connection: sqlite3.Connection, made_by: str, lines: Mapping[int, CardLine]) -> None:
    """Store what lists show of finished runs, by number; nothing where the store cannot be written at once.

    Their ``facts`` are filled in here.
    """
    if not lines:
        return
    query = f"SELECT id, setup, plan -> '$.options.outputs' AS outputs FROM runs WHERE {_among('id', lines)}"
    facts = {row["id"]: _method_and_facts(row)[1:] for row in rows_by_name(connection, query, ())}
    rows = [
        (made_by, json.dumps(line._replace(facts=facts[run])[:-1], ensure_ascii=False), line.json_summary, run)
        for run, line in lines.items()
    ]
    keep = f"INSERT OR REPLACE INTO run_summaries SELECT id, ?, ?, ?, json_remove(run_card, {_PATHS}) FROM runs WHERE id = ?"
    with suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            with transaction(connection):
                connection.executemany(keep, rows)
        finally:
            connection.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")


class SweepRun(NamedTuple):
    """What a sweep is read by of one of its runs."""

    run_id: str
    number: int
    state: RunState
    done: int
    total: int
    failures: Mapping[str, int]
    """Class of failure → entries that failed so, the most frequent first."""
    live: Live | None
    card: JsonObject | None
    """Name of a part that was asked for → what the sealed card has there, None where it has nothing; None before the seal."""


def runs_of_sweep(connection: sqlite3.Connection, sweep: int, parts: Mapping[str, str]) -> dict[str, SweepRun]:
    """Return the runs of a sweep by their ids, without those that were deleted or whose consent was withdrawn.

    ``parts``: name → JSON path, two or more, of what is wanted of their cards; nothing else of them is read.
    """
    query = f"""
        SELECT u.run_id, u.id, u.state, u.positions, u.live,
               json_extract(u.run_card, {", ".join("?" * len(parts))}) AS card,
               (SELECT count(*) FROM results r WHERE r.run = u.id) AS done
        FROM runs u
        WHERE u.put_away IS NULL AND u.run_id IN (SELECT run_id FROM sweep_cells WHERE sweep = ?)
    """
    rows = rows_by_name(connection, query, (*parts.values(), sweep))
    failures, withdrawn = failures_by_run(connection), withdrawn_runs(connection)
    return {
        row["run_id"]: SweepRun(
            run_id=row["run_id"],
            number=row["id"],
            state=stored_word(row["state"], RunState),
            done=row["done"],
            total=count_positions(row["positions"]),
            failures=failures.get(row["id"], {}),
            live=None if row["live"] is None else _live(row["live"]),
            card=None if row["card"] is None else dict(zip(parts, stored_json(row["card"]), strict=True)),
        )
        for row in rows
        if row["id"] not in withdrawn
    }


def _live(text: object) -> Live:
    from harness.store.sqlite.openings import Live

    return Live.read(text)


def _origin(card: JsonObject | None, name: str) -> str:
    """Read from a card, which may come from elsewhere, which run it goes back to."""
    origin = (card or {}).get(name)
    run_id = origin.get("run_id") if isinstance(origin, Mapping) else None
    return run_id if isinstance(run_id, str) else ""
