"""From a run of the store back to the options that ask for another one like it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel

from corpora.model.corpus import Corpus, Selection
from corpora.model.task import TRANSLATION
from harness.core.failures import UsageError
from harness.method.option_table import LIMIT_OPTIONS
from harness.setup.plan import Plan, plan_of
from harness.setup.scoring_options import kept_file
from harness.store.corpora.entries import read_dataset
from harness.store.corpora.listing import read_corpus_of_run, read_stored, stored_name
from harness.store.runs import Run
from harness.store.sqlite.database import home, store_path
from harness.vault.opening import folder_of
from rosetta_tui.request.draft import YES, RunDraft, Value

_RUN = {"concurrency": "concurrency", **LIMIT_OPTIONS}
"""Field of RunOptions → name of the option."""

_OF_THE_CORPUS = ("source_language", "target_language", "task", "file_lines", "service")


def draft_of(run: Run, connection: sqlite3.Connection) -> RunDraft:
    """Make the draft of another run like this one, on the corpus as the store keeps it.

    Raises UsageError where no command line can ask for the same.
    """
    return RunDraft.of(draft_values(run, connection))


def draft_values(run: Run, connection: sqlite3.Connection) -> dict[str, Value]:
    """Return the options of ``rosetta run`` that ask for the same; raises UsageError where none do."""
    if run.imported:
        raise UsageError("The run came as a card from elsewhere, which does not tell all that it was asked with.")
    plan = plan_of(run)
    came = read_dataset(connection, run.corpus).opened_from
    if came is not None:
        return {**_of_vault(connection, run, came), **plan_values(plan)}
    corpus = read_corpus_of_run(connection, run.corpus)
    return {
        "file": stored_name(corpus),
        **_envelope(connection, corpus),
        **_selection(corpus, run.positions),
        **plan_values(plan),
    }


def _of_vault(connection: sqlite3.Connection, run: Run, came: str) -> dict[str, Value]:
    """Name the vault and the corpus in it, by its number; what it is opened for is another thing each time."""
    vault, number, _ = came.split("/")
    rows = connection.execute(
        "SELECT entry_id FROM entries WHERE corpus = ? AND position IN (SELECT value FROM json_each(?))",
        (run.corpus, json.dumps([*run.positions])),
    )
    folder = folder_of(store_path(connection).parent, vault)
    if not folder:
        raise UsageError(
            f"The run is from a vault, number {vault[:16]}, that this computer does not know any more: name its folder with "
            "--vault."
        )
    return {"file": number, "vault": folder, "entries": named_entries([str(position) for (position,) in rows])}


def plan_values(plan: Plan) -> dict[str, Value]:
    """Return the options that make this plan: only those that are not as they are by default."""
    method = plan.method
    if method == "api" and plan.options.service:
        method = f"api:{plan.options.service}"
    options = _told(plan.options)
    for name in _OF_THE_CORPUS:
        options.pop(name, None)
    for name, pairs in (("body", plan.options.body), ("settings", plan.options.settings)):
        options[name] = tuple(f"{key}={json.dumps(value)}" for key, value in pairs.items())
    run_options = _told(plan.run)
    limits = {option: run_options[name] for name, option in _RUN.items() if name in run_options}
    switches: dict[str, Value] = {
        "no_cache": "" if plan.run.use_cache else YES,
        "offline": YES if plan.run.offline else "",
    }
    scoring = _told(plan.scoring)
    if "metrics" in scoring:
        scoring["metrics"] = ",".join(plan.scoring.metrics)
    if plan.scoring.scoring is not None:
        scoring["scoring"] = str(kept_file(home(), plan.scoring.scoring))
    return {"method": method, **options, **limits, **switches, **scoring}


def _told(options: BaseModel) -> dict[str, Value]:
    """Return the fields of a model that are not as by default, as a command line writes them."""
    fields: dict[str, Value] = {}
    for name, field in type(options).model_fields.items():
        value = getattr(options, name)
        if not field.is_required() and value == field.default:
            continue
        if isinstance(value, tuple):
            fields[name] = tuple(map(str, value))
        elif isinstance(value, bool):
            fields[name] = YES if value else ""
        else:
            fields[name] = "none" if value is None else str(value)
    return fields


def _envelope(connection: sqlite3.Connection, corpus: Corpus) -> dict[str, Value]:
    """Return which reading of a file is meant, where the store knows several."""
    dataset = corpus.dataset
    tried = {} if dataset.task == TRANSLATION else {"task": dataset.task}
    for option, field in (
        ("", ""),
        ("source_language", "source_language"),
        ("target_language", "target_language"),
        ("corpus_id", "id"),
    ):
        if option:
            tried[option] = getattr(dataset, field)
        wanted = {"id" if name == "corpus_id" else name: value for name, value in tried.items()}
        try:
            read_stored(connection, stored_name(corpus), wanted, dataset.columns_read)
        except UsageError:
            continue
        break
    return {**tried, **{f"{side}_column": name for side, name in (dataset.columns_read or {}).items()}}


def _selection(corpus: Corpus, positions: Sequence[int]) -> dict[str, Value]:
    """Return the shortest options that choose exactly these entries: filters and a limit, else their ids."""
    if len(positions) == len(corpus.entries):
        return {}
    chosen = [corpus.entries[place] for place in positions]
    segments = tuple(sorted({entry.segment for entry in chosen if entry.segment}))
    tiers = tuple(sorted({entry.difficulty for entry in chosen if entry.difficulty}))
    segment_words: dict[str, Value] = {"segment": tuple(str(segment.value) for segment in segments)}
    tier_words: dict[str, Value] = {"difficulty": tuple(map(str, tiers))}
    limit: dict[str, Value] = {"limit": str(len(positions))}
    filters = [
        ({}, Selection()),
        (segment_words, Selection(segments=segments)),
        (tier_words, Selection(difficulties=tiers)),
        (segment_words | tier_words, Selection(segments=segments, difficulties=tiers)),
    ]

    cut = [(words | limit, replace(selection, limit=len(positions))) for words, selection in filters]
    for words, selection in (*filters, *cut):
        if selection.apply(corpus) == tuple(positions):
            return words
    return {"entries": named_entries([str(corpus.entries[place].id) for place in positions])}


def named_entries(ids: Sequence[str]) -> str:
    """Return ids of entries as one option; UsageError where they cannot be told from each other in it."""
    if any("," in id_ or id_ != id_.strip() for id_ in ids):
        raise UsageError(
            "The run's entries cannot be named one by one, because their ids hold commas or end in "
            "spaces. Choose them with --segment, --difficulty or --sample."
        )
    return ",".join(ids)
