"""The store's tables: created from the steps, and compared with what the steps make."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from harness.core.failures import StoreError


def _read_steps() -> dict[str, str]:
    """Return the SQL of each step of ``steps.sql`` under its name, in order, without the file's remarks."""
    text = Path(__file__).with_name("steps.sql").read_text("utf-8")
    parts = re.split(r"^-- step (\w+)$", text, flags=re.MULTILINE)
    remark = re.compile(r"^--.*\n", re.MULTILINE)
    # the spaces at the end are what the steps were recorded with
    return {name: remark.sub("", sql) + "    " for name, sql in zip(parts[1::2], parts[2::2], strict=True)}


STEPS = _read_steps()
"""The SQL of each step under its name. Each brings a store from the version before it to its own."""

_RECORDS = """CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
"""
"""The table in which sqlite-utils records applied steps, as it would create it."""


def create_schema(connection: sqlite3.Connection) -> None:
    """Create all tables of an empty store in one transaction, as applying every step would.

    sqlite-utils splits a step into statements one by one, which takes longer than SQLite takes to run them, and
    importing it takes longer still. Only stores of older versions need it: ``harness.store.sqlite.migrations``.
    """
    applied_at = str(datetime.now(UTC))
    records = (
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
        f"VALUES ('rosetta', '{name}', '{applied_at}');"
        for name in STEPS
    )
    script = (
        "BEGIN IMMEDIATE;",
        _RECORDS,
        *STEPS.values(),
        *records,
        f"PRAGMA user_version = {len(STEPS)};",
        "COMMIT;",
    )
    connection.executescript("\n".join(script))


# What the tables of a store should be

Columns = dict[str, tuple[object, ...]]


def recorded_steps(connection: sqlite3.Connection) -> set[str]:
    """Return the names of the steps that a store records as applied: while it is upgraded, more than its version says."""
    if "_sqlite_migrations" not in _tables(connection):
        return set()
    query = "SELECT name FROM _sqlite_migrations WHERE migration_set = 'rosetta'"
    return {str(name) for (name,) in connection.execute(query)}


def require_columns(connection: sqlite3.Connection, path: Path, steps: Iterable[str], end: str) -> None:
    """Raise StoreError where the tables are not those that the steps make; ``end``: what became of the store."""
    if differences := schema_differences(connection, steps):
        raise StoreError(
            f"{path} cannot be brought up to date: {'; '.join(differences)}. No released version of Rosetta "
            f"made it: use the one that did, or name another folder in ROSETTA_HOME. {end}"
        )


def schema_differences(connection: sqlite3.Connection, steps: Iterable[str]) -> list[str]:
    """Return how the tables of a store differ from what these steps make, a clause for each; empty where they do not.

    Columns are compared by name, type, NOT NULL and part in the primary key, indexes by name. A table or index that no
    step makes is not examined. No name that only the store has is quoted.
    """
    names = set(steps)
    if names - set(STEPS):
        return ["it records a step that this version does not know"]
    with closing(sqlite3.connect(":memory:")) as expected:
        try:
            expected.executescript("\n".join(sql for name, sql in STEPS.items() if name in names))
        except sqlite3.Error:
            return ["it records a step without one that comes before"]
        tables = [*_differing_tables(_tables(connection), _tables(expected))]
        missing = sorted(_indexes(expected) - _indexes(connection))
    return [*tables, *(f"the index {name} is missing" for name in missing)]


def _tables(connection: sqlite3.Connection) -> dict[str, Columns]:
    """Return table → column → its type, whether it is NOT NULL, and its place in the primary key."""
    query = """
        SELECT m.name, c.name, c.type, c."notnull", c.pk FROM sqlite_master m, pragma_table_info(m.name) c
        WHERE m.type = 'table'
    """
    tables: dict[str, Columns] = {}
    for table, column, *declared in connection.execute(query):
        tables.setdefault(table, {})[column] = tuple(declared)
    return tables


def _indexes(connection: sqlite3.Connection) -> set[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    return {str(name) for (name,) in connection.execute(query)}


def _differing_tables(tables: dict[str, Columns], expected: dict[str, Columns]) -> Iterator[str]:
    for table, columns in expected.items():
        if table not in tables:
            yield f"the table {table} is missing"
            continue
        present = tables[table]
        yield from (f"{table} has no column {name}" for name in columns if name not in present)
        yield from (
            f"{table}.{name} is declared in another way"
            for name, declared in columns.items()
            if present.get(name, declared) != declared
        )
        if more := len(present.keys() - columns.keys()):
            yield f"{table} has {more} column{'s' * (more != 1)} more"


# ---- The scores of finished runs in columns, for lists, for published cards and for queries of
# one's own (scoring-specification §9.1).
#
# The columns follow from the stored card alone, by SQL, so that none can state other than its
# card. A metric that is implemented has a column: a new one is added to ``METRICS`` here, and to
# the tables by a numbered step of ``steps.sql`` and of ``harness.publish``.

METRICS: Final = (
    "equivalent_match_rate", "ter", "length_ratio", "morphological_accuracy",
    "orthographic_accuracy", "semantic_score", "code_switching_rate", "hallucination_rate",
    "terminology_adherence", "consistency_score", "compliance_index", "repair_effectiveness",
    "lbrag.em", "lbrag.f1", "lbrag.rlc", "lbrag.rlc_ok", "lbrag.cost", "lbrag.cnbe",
    "lbrag.semantic_score", "au.wer", "au.wder", "au.cpwer", "au.speaker_count_error",
    "au.multiple_choice_accuracy", "au.gsm8k_exact_match", "au.joint_goal_accuracy",
    "au.slot_accuracy", "au.slot_f1", "au.bfcl_match_score", "au.instruction_following",
    "au.text2sql_score", "au.sql_set_match", "au.bleu", "au.meteor", "au.bertscore", "au.comet",
    "au.llm_judge_binary", "au.llm_judge_detailed", "au.llm_judge_big_bench_audio",
    "au.llm_judge_redteaming", "au.mt_bench_llm_judge", "nest.length", "nest.richness",
    "nest.coverage", "nest.structure", "nest.clarity", "nest.overall", "nest.reading_time",
)  # fmt: skip
"""Ids of the metrics without a column of another name; that of a pack's is called ``pack_metric``."""

CARD_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "composite_score": ("scores", "composite"),
    "quality_tier": ("scores", "quality_tier"),
    "chrf_plus_plus": ("scores", "chrf_plus_plus"),
    "exact_match_rate": ("scores", "exact_match_rate"),
    "fst_acceptance_rate": ("scores", "fst_acceptance_rate"),
    "corpus_bleu": ("scores", "bleu"),
    "comet_score": ("scores", "comet_score"),
    "total_cost_usd": ("cost", "total_cost_usd"),
    "cost_per_1k_tokens": ("cost", "cost_per_1k_tokens"),
    "avg_latency_seconds": ("speed", "avg_latency_seconds"),
    "model_slug": ("model_slug",),
    "condition": ("condition",),
    "dataset_id": ("dataset", "id"),
    "language_pair": ("dataset", "language_pair"),
    "fingerprint_hash": ("fingerprint", "hash"),
    **{id_.replace(".", "_"): ("scores", id_) for id_ in METRICS},
}
"""Column → field of a card; those of the specification's table come first."""

TEXTS: Final = frozenset({"quality_tier", "model_slug", "condition", "dataset_id", "language_pair", "fingerprint_hash"})
"""Columns of text; all others hold numbers."""


def _value(column: str) -> str:
    """Return SQL of what a card has in the field of a column; NULL if it is of another type."""
    path = "'$" + "".join(f'."{name}"' for name in CARD_FIELDS[column]) + "'"
    types = "('text')" if column in TEXTS else "('integer', 'real')"
    return f"CASE WHEN json_type(run_card, {path}) IN {types} THEN json_extract(run_card, {path}) END"


def fill_run_scores(connection: sqlite3.Connection, run: int | None = None) -> None:
    """Fill the columns of a run that was finished, or of all that have none yet; called within a transaction.

    A card that is damaged has no columns.
    """
    which = "id = ?" if run is not None else "id NOT IN (SELECT run FROM run_scores)"
    connection.execute(
        f"INSERT OR REPLACE INTO run_scores (run, {', '.join(CARD_FIELDS)}) SELECT id, {', '.join(map(_value, CARD_FIELDS))}"
        f" FROM runs WHERE {which} AND CASE typeof(run_card) WHEN 'text' THEN json_valid(run_card) END",
        () if run is None else (run,),
    )
