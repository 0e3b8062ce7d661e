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
    from harness import api
    from rosetta_tui.session.engine import Engine

    ready = api.start(store_path, draft.request(draft.corpus(store_path)))
    forget_draft(store_path.parent)
    return Engine(ready)
