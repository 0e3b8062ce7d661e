"""The report to the maker of a submission: a released card or a released refusal, in a file, counted in the budget."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, get_args

from harness.core.failures import UsageError
from harness.core.written_files import write_file
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.submission.sharing import desk, say

with when_used():
    from harness.release import budget, ledger, records, releasing
    from harness.store import runs
    from harness.store.file import database
    from harness.submission import desk as desks
    from rosetta_tui.show import released_words


def require_free(output: Path | None) -> None:
    """Refuse a name that is taken, or a folder that takes nothing, before anything is run or an answer is counted."""
    if output is not None and output.exists():
        raise UsageError(f"{output.name} is there already. Choose another name.")
    if output is not None and not os.access(output.absolute().parent, os.W_OK | os.X_OK):
        raise UsageError(
            f"{output.absolute().parent}: not a folder that you may write to. Make it, or name another with -o."
        )


def tell_of(
    kept: desks.KeptSubmission,
    output: Path | None,
    submitter: str | None,
    vault: Mapping[str, Any],
    open_texts: Callable[[sqlite3.Connection, runs.Run], None] | None = None,
) -> bool:
    """Write the report of a submission's last run to its maker, and return whether anything is released; else print why not.

    ``submitter``: whose budget it counts in; None: that of the name in the bundle. ``vault``: the options that name one. ``open_texts`` opens the texts of the run, where they are not open; what is withheld without them is withheld before. The ledger has it first. The same run gives the same file again, and counts once.
    """
    last = kept.judged
    name = submitter or kept.manifest.submitter
    known = ledger.own_ledger(database.home(), clock_was_wrong=bool(vault["clock_was_wrong"]))
    before = len(known.read().answers)
    try:
        with database.opened() as connection, ledger.anchored(known, vault["vault"]):
            run = runs.find_run(connection, last.run)
            if last.what is desks.SubmissionEvent.REFUSED:
                stage = next(
                    stage for stage in get_args(records.RefusedStage) if stage == last.words
                )
                data = releasing.release_refusal(connection, run.id, name, stage, known)
            else:
                opening = None if open_texts is None else partial(open_texts, connection, run)
                data = releasing.release_run(connection, run.id, name, known, opening)
    except budget.NotReleased as kept_back:
        unwritten = "" if output is None else f" {output} was not written."
        waits = isinstance(kept_back, budget.NotYetReleased)
        later = f" Later: rosetta submission tell {kept.number}" if waits else ""
        say([f"Nothing is told of it{' now' if waits else ''}: {kept_back}{unwritten}{later}"])
        return False
    path = output or kept.folder / f"{last.run[:8]}.told.json"
    _write(path, data, kept.number, overwrite=output is None)
    released = json.loads(data)
    words = last.words if "stage" in released else released["shortfall"] or released["confirmation"]
    desk().note(kept.submission, desks.SubmissionEvent.TOLD, last.run, last.corpus, words)
    counts = "It counts as an answer" if len(known.read().answers) > before else "It is the same answer as before, and counts once"  # fmt: skip
    say([f"What {name} is told: {path}. {counts}; `rosetta report released {path} -o page.html` makes a page of it."])  # fmt: skip
    if "stage" not in released:
        say([released_words.confirmation(released["shortfall"])])
    return True


def _write(path: Path, data: bytes, number: str, *, overwrite: bool) -> None:
    """Write a report, which is counted by now; where it cannot be written, print how to have it again."""
    try:
        write_file(path, data, overwrite=overwrite)
    except UsageError as error:
        raise UsageError(
            f"{error} The answer is counted; the same again, which does not count: rosetta submission tell {number} -o FILE, with "
            "--vault and --purpose where the corpus is in a vault."
        ) from None
