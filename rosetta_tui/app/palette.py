"""Runs by name in the command palette."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from textual.command import Hit, Hits, Provider

from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.messages import RunChosen

MOST_HITS = 20
"""Runs that are offered at once; typing more of the name finds the others."""


class WithStore(Protocol):
    """An app over one store (``rosetta_tui.app.app.RosettaApp``)."""

    store_path: Path


class Named(NamedTuple):
    """A run and the words by which it is found."""

    words: str
    run_id: str
    complete: bool


class RunProvider(Provider):
    """Opens a run by what it is called: corpus, method, model, condition, tags, beginning of its id."""

    async def startup(self) -> None:
        """Read the names once for each opening of the palette, in a thread."""
        import asyncio

        path = cast("WithStore", self.app).store_path
        self._runs = await asyncio.to_thread(named_runs, path)

    async def search(self, query: str) -> Hits:
        """Offer the runs that match, the best first."""
        matcher = self.matcher(query)
        found = [(matcher.match(run.words), run) for run in self._runs]
        found.sort(key=lambda each: -each[0])
        for score, run in found[:MOST_HITS]:
            if score > 0:
                yield Hit(
                    score,
                    matcher.highlight(run.words),
                    partial(self.app.post_message, RunChosen(run.run_id, run.complete)),
                    text=run.words,
                    help="open this run",
                )


def named_runs(path: Path) -> Sequence[Named]:
    """Return every run with its words, the newest first; none where the store cannot be read."""
    from harness.core.failures import StoreError
    from harness.store.file.database import opened
    from harness.store.runs import list_runs
    from rosetta_tui.show.run_facts import setup_words

    try:
        with opened(path) as store:
            runs = list_runs(store, brief=True)
    except StoreError:  # Home says what is wrong with it
        return []
    return [
        Named(
            plain(
                f"Run {run.dataset_id} · {setup_words(run)} · {run.run_id[:8]}"
                + "".join(f" #{tag}" for tag in run.tags)
            ),
            run.run_id,
            run.state == "complete",
        )
        for run in runs
    ]
