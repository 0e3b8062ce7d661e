"""What the command palette offers: runs by name, and every action of the screen below."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from textual.binding import ActiveBinding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.system_commands import SystemCommandsProvider

from harness.core.failures import StoreError
from harness.store.sqlite.database import opened
from rosetta_tui.show.key_names import FOREIGN, key_name
from rosetta_tui.show.run_facts import listed_runs, setup_words
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.messages import RunChosen

MOST_HITS = 20  # runs that are offered at once; typing more of the name finds the others


class WithStore(Protocol):
    """An app over one store (``rosetta_tui.app.app.RosettaApp``)."""

    store_path: Path


class Named(NamedTuple):
    words: str
    run_id: str
    complete: bool


class RunProvider(Provider):
    """Opens a run by what it is called: corpus, method, model, condition, tags, beginning of its id."""

    async def startup(self) -> None:
        """Read the names once for each opening of the palette, in a thread."""
        path = cast("WithStore", self.app).store_path
        self._runs = await asyncio.to_thread(named_runs, path)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        matches = [(matcher.match(run.words), run) for run in self._runs]
        matches.sort(key=lambda match: -match[0])
        for score, run in matches[:MOST_HITS]:
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
    try:
        with opened(path) as store:
            runs = listed_runs(store)
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


class ActionProvider(SystemCommandsProvider):
    """Offers the bindings that work now, then what works everywhere; one provider, because the palette orders several at random."""

    def _actions(self) -> list[ActiveBinding]:
        seen: dict[str, ActiveBinding] = {}
        for active in self.screen.active_bindings.values():
            binding = active.binding
            known = binding.description and not binding.system and binding.action not in FOREIGN
            # of a table its acts, which have names, and not the ways of its cursor
            act = binding.id and not binding.id.startswith("table.")
            if active.enabled and known and (binding.show or active.node is self.screen or act):
                seen.setdefault(binding.description, active)
        return list(seen.values())

    async def discover(self) -> Hits:
        """Offer everything before anything is typed."""
        for active in self._actions():
            binding = active.binding
            yield DiscoveryHit(
                Content(binding.description),
                partial(self.app.run_action, binding.action, active.node),
                text=binding.description,
                help=_key(active),
            )
        async for hit in super().discover():
            yield hit

    async def search(self, query: str) -> Hits:
        """Offer what matches."""
        matcher = self.matcher(query)
        for active in self._actions():
            binding = active.binding
            score = matcher.match(binding.description) or matcher.match(binding.tooltip)
            if score > 0:
                yield Hit(
                    score,
                    matcher.highlight(binding.description),
                    partial(self.app.run_action, binding.action, active.node),
                    text=binding.description,
                    help=_key(active),
                )
        async for hit in super().search(query):
            yield hit


def _key(active: ActiveBinding) -> str:
    return f"key {key_name(active.binding.key)}"
