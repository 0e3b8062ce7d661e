"""One entry: the texts, how they differ, what they scored and why, and how the output came about."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Static

from harness.store.corpora import read_entries
from harness.store.replies import read_exchange
from harness.store.results import read_attempts, read_results
from harness.store.runs import Run
from rosetta_tui.entry_page import EntryFacts, Line, page, prompts, replies, tags
from rosetta_tui.text import plain, show
from rosetta_tui.widgets.field import Field


def read_facts(
    store: sqlite3.Connection, run: Run, position: int, missing: Mapping[str, str]
) -> EntryFacts:
    """Read everything about one entry of a run."""
    entry = read_entries(store, run.corpus, [position])[position]
    result = next(iter(read_results(store, run.id, [position])), None)
    attempts = read_attempts(store, run.id, position)
    exchanges = [
        None if attempt.reply_key is None else read_exchange(store, attempt.reply_key)
        for attempt in attempts
    ]
    return EntryFacts(entry, result, attempts, exchanges, missing)


class EntryScreen(Screen[int]):
    """Shows the entries of a table one by one; gives the place of the last one seen."""

    TITLE = "Entry"
    HELP = "The output is compared with the reference; variants count as right in “equivalent”."

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step(-1)", "Previous", key_display="←"),
        Binding("right,l", "step(1)", "Next", key_display="→"),
        Binding("p", "prompt", "Prompt"),
        Binding("r", "raw", "Raw reply"),
        Binding("y", "copy", "Copy output"),
        Binding("q", "leave", "Back"),
        Binding("escape", "close", "Close or back", show=False),
    ]

    def __init__(
        self,
        store: sqlite3.Connection,
        run: Run,
        positions: Sequence[int],
        index: int,
        missing: Mapping[str, str],
    ) -> None:
        super().__init__()
        self._store = store
        self._run = run
        self._positions = positions
        self._index = index
        self._missing = missing
        self._opened: set[str] = set()
        self._facts: EntryFacts | None = None

    def compose(self) -> ComposeResult:
        """Lay out where am I, the page, and the keys."""
        yield Static(id="where")
        yield VerticalScroll(id="page")
        yield Footer(compact=True)

    async def on_mount(self) -> None:
        """Show the first entry."""
        self.query_one("#page").focus()
        await self._show()

    async def _show(self) -> None:
        facts = read_facts(self._store, self._run, self._positions[self._index], self._missing)
        self._facts = facts
        self.query_one("#where", Static).update(
            Content.assemble(
                ("Entry ", "$quiet"),
                show(str(facts.entry.id), "bold"),
                (f"   {self._index + 1:,} of {len(self._positions):,}   ", "$quiet"),
                tags(facts.entry),
            )
        )
        lines = page(facts)
        lines += [Line("", Content(" ")), *prompts(facts)] if "prompt" in self._opened else []
        lines += [Line("", Content(" ")), *replies(facts)] if "raw" in self._opened else []
        scroll = self.query_one("#page", VerticalScroll)
        async with self.batch():
            await scroll.remove_children()
            await scroll.mount_all(Field(line.label, line.text) for line in lines)

    async def action_step(self, by: int) -> None:
        """Go to the entry before or after, in the order of the table."""
        index = max(0, min(len(self._positions) - 1, self._index + by))
        if index != self._index:
            self._index = index
            await self._show()
            self.query_one("#page").scroll_home(animate=False)

    async def action_prompt(self) -> None:
        """Show what was asked, or hide it."""
        await self._toggle("prompt")

    async def action_raw(self) -> None:
        """Show what was answered as it came, or hide it."""
        await self._toggle("raw")

    async def _toggle(self, part: str) -> None:
        self._opened ^= {part}
        await self._show()
        if part in self._opened:
            self.query_one("#page").scroll_end(animate=False)

    def action_copy(self) -> None:
        """Put the output on the clipboard, harmless as it is shown; never that of a secret entry."""
        facts = self._facts
        output = facts.result.output if facts and facts.result else None
        if facts is None or not output:
            self.notify("There is no output to copy.", markup=False)
        elif facts.entry.secret:
            self.notify("This entry belongs to a secret segment and is not copied.", markup=False)
        else:
            self.app.copy_to_clipboard(plain(output))
            self.notify("Output copied.", markup=False)

    async def action_close(self) -> None:
        """Hide the prompt and the reply where they are shown, else go back."""
        if self._opened:
            self._opened.clear()
            await self._show()
        else:
            self.action_leave()

    def action_leave(self) -> None:
        """Go back to the table, at the entry seen last."""
        self.dismiss(self._positions[self._index])
