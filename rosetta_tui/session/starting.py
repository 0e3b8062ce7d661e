"""From a draft to a run that is ready to go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rosetta_tui.request.kept_draft import forget_draft

if TYPE_CHECKING:
    from rosetta_tui.request.draft import RunDraft
    from rosetta_tui.session.engine import Engine


def begin(store_path: Path, draft: RunDraft) -> Engine:
    """Store the beginning of the run that a draft asks for; the draft that was kept is forgotten then.

    Raises CorpusError or HarnessError with what is wrong; nothing is stored then, and no draft is lost.
    """
    from harness.privacy import make_method
    from harness.run.beginning import begin as begin_run
    from harness.run.beginning import instruments_for
    from harness.store.file.database import opened
    from harness.store.runs import read_run
    from rosetta_tui.session.engine import Engine

    corpus = draft.corpus(store_path)
    places = draft.positions(corpus)
    plan = draft.plan(corpus)
    chosen = [corpus.entries[place] for place in places]
    method = make_method(plan, corpus.entries, chosen)
    with opened(store_path) as connection:
        instruments = instruments_for(connection, corpus, places, plan)
        number = begin_run(connection, corpus, places, method, plan, instruments)
        run_id = read_run(connection, number).run_id
    forget_draft(store_path.parent)
    return Engine(store_path, number, method, instruments=instruments, run_id=run_id)
