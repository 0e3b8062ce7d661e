"""What a list says of each run besides its own row: what parts it from others, and how many entries are in.

People try one method with several outputs or settings, so that runs of one name are separated by what they differ
in.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from harness.store.file.trouble import rows_by_name, stored_json, stored_object


def failures_by_run(
    connection: sqlite3.Connection, only: int | None = None
) -> dict[int, dict[str, int]]:
    """Count the failed entries of runs by class, the most frequent first; those of one run where ``only``.

    A class that this version does not know keeps its name.
    """
    failures: dict[int, dict[str, int]] = {}
    of_one = "" if only is None else "AND run = :run"
    rows = connection.execute(
        f"SELECT run, error_class, count(*) FROM results WHERE error_class IS NOT NULL {of_one}"
        " GROUP BY run, error_class ORDER BY count(*) DESC, error_class",
        {"run": only},
    )
    for run, error_class, count in rows:
        failures.setdefault(run, {})[str(error_class)] = count
    return failures


def done_by_run(connection: sqlite3.Connection, only: int | None = None) -> dict[int, int]:
    """Count the stored entries of runs; those of one run where ``only``."""
    of_one = "" if only is None else "WHERE run = :run"
    query = f"SELECT run, count(*) FROM results {of_one} GROUP BY run"
    return dict(connection.execute(query, {"run": only}))


def distinctions_by_run(
    connection: sqlite3.Connection, run_id: str | None = None
) -> dict[int, str]:
    """Return for every run what distinguishes it from those of the same corpus, method, model and condition.

    Where ``run_id`` asks for one run, only those that it can be separated from are read.
    """
    query = """
        SELECT id, setup, plan -> '$.options.outputs' AS outputs, dataset_id, model_slug, condition
        FROM runs
        WHERE :run_id IS NULL OR (dataset_id, model_slug, condition) =
            (SELECT dataset_id, model_slug, condition FROM runs WHERE run_id = :run_id)
    """
    rows = rows_by_name(connection, query, {"run_id": run_id})
    setups = [stored_object(row["setup"]) for row in rows]
    names = [
        (setup.get("method"), row["dataset_id"], row["model_slug"], row["condition"])
        for setup, row in zip(setups, rows, strict=True)
    ]
    outputs = [None if row["outputs"] is None else stored_json(row["outputs"]) for row in rows]
    facts = [setup_facts(*setup_row) for setup_row in zip(setups, outputs, strict=True)]
    return dict(zip((row["id"] for row in rows), distinctions(names, facts), strict=True))


def distinctions(names: Sequence[Hashable], facts: Sequence[Sequence[str]]) -> list[str]:
    """Return for each run what distinguishes it from others of its name; empty where nothing does, or nothing need.

    ``facts`` has the same number of words for each run; the first that distinguish runs are returned.
    """
    told_words: list[tuple[str, ...]] = [()] * len(names)
    for words in zip(*facts, strict=True):
        kinds: dict[Hashable, set[str]] = {}
        called = list(zip(names, told_words, strict=True))
        for label, word in zip(called, words, strict=True):
            kinds.setdefault(label, set()).add(word)
        told_words = [
            (*label[1], word) if word and len(kinds[label]) > 1 else label[1]
            for label, word in zip(called, words, strict=True)
        ]
    return [" · ".join(label) for label in told_words]


def setup_facts(setup: Mapping[str, Any], outputs: str | None) -> tuple[str, ...]:
    """Return what runs of one method, model and condition differ by, as words; ``outputs`` is a path."""
    temperature, replicate = setup.get("temperature"), setup.get("replicate")
    tools = setup.get("tools_enabled") or ()
    return (
        PurePath(outputs or "").name,
        "" if temperature is None else f"temperature {temperature:g}",
        f"prompt {setup['prompt_version']}" if setup.get("prompt_version") else "",
        f"with {', '.join(tools)}" if tools else "",
        setup.get("provider") or "",
        f"replicate {replicate}" if replicate else "",
        _hash("coaching", setup.get("coaching_data_sha256")),
        _hash("prompt", setup.get("system_prompt_sha256")),
        _hash("outputs", setup.get("outputs_sha256")),
    )


def _hash(of: str, sha256: str | None) -> str:
    return f"{of} {sha256[:8]}" if sha256 else ""
