"""The runs over a corpus: those that used it, and the draft of one more."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosetta_tui.request.draft import RunDraft
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import in_store, telling
from rosetta_tui.toolkit.dialogs.choose import choose
from rosetta_tui.toolkit.messages import RunChosen

if TYPE_CHECKING:
    import sqlite3

    from textual.screen import Screen

    from harness.store.corpora.listing import CorpusSummary
    from harness.store.runs import RunSummary


def draft_over(summary: CorpusSummary, *, stored: bool) -> RunDraft:
    """Return the draft of a run over a corpus of the store, or over one that was only opened from its files."""

    if stored:
        return RunDraft.of({"file": f"store:{summary.sha256[:12]}"})
    files: dict[str, str | tuple[str, ...]] = dict(
        zip(("file", "reference"), map(str, summary.files), strict=False)
    )
    files["other_reference"] = tuple(map(str, summary.files[2:]))
    columns = summary.dataset.columns_read or {}
    files |= {f"{side}_column": name for side, name in columns.items()}
    tags = {
        "source_language": summary.dataset.source_language,
        "target_language": summary.dataset.target_language,
    }
    return RunDraft.of({**files, **tags})


def ask_for_user(screen: Screen[Any], path: Path, run_ids: Collection[str]) -> None:
    """Let a person choose one of the runs that used a corpus; the screen posts RunChosen."""
    cannot = telling(screen, "The runs cannot be read")
    read, ask = partial(_users, frozenset(run_ids)), partial(_choose, screen)
    in_store(screen, path, "users", read, ask, cannot, asks=True)


def _users(run_ids: frozenset[str], store: sqlite3.Connection) -> list[RunSummary]:
    from harness.store.runs import list_runs
    from rosetta_tui.show.run_facts import runs_now

    return [run for run in runs_now(list_runs(store, brief=True)) if run.run_id in run_ids]


def _choose(screen: Screen[Any], users: Sequence[RunSummary]) -> None:
    from rosetta_tui.show.run_facts import setup_words, when

    if not users:
        screen.notify("No run has used this corpus yet.", markup=False)
        return
    runs = {run.run_id: run for run in users}

    def chosen(run_id: str) -> None:
        screen.post_message(RunChosen(run_id, runs[run_id].state == "complete"))

    words = {
        run_id: plain(f"{when(run.created)}  {setup_words(run)}  {run.state}")
        for run_id, run in runs.items()
    }
    choose(screen.app, "Open a run", words, next(iter(words)), chosen)
