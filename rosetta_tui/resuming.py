"""Going on, from the app, with a run that was cut."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rosetta_tui.engine import Engine


def resume(path: Path, run_id: str) -> Engine:
    """Make a run ready to go on as it was begun; HarnessError where it cannot."""
    from contextlib import closing

    from harness.beginning import resume_method
    from harness.store.database import open_store
    from harness.store.runs import find_run
    from rosetta_tui.engine import Engine

    with closing(open_store(path)) as connection:
        run = find_run(connection, run_id)
        method = resume_method(connection, run)
    return Engine(path, run.id, method)
