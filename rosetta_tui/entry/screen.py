"""One entry: the texts, how they differ, what they scored and why, and how the output came about.

Every screen of one entry goes from one entry of its table to the next, and back to the table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import get_current_worker

from corpora.model.entry import Entry, EntryId
from harness.method.method import Result
from harness.store.runs import Run
from rosetta_tui.entry import page
from rosetta_tui.entry.explaining import EntryExplanation, Explaining, analysed, why
from rosetta_tui.show.output_text import is_cree
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import Field, PageLine, StatusBar, show, show_fields
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import BenchAsked, Copied
from rosetta_tui.toolkit.pages import UNREADABLE, readable

STEPS: list[BindingType] = [
    Binding("left,h", "step(-1)", "Prev", key_display="←", tooltip="Entry before", id="previous"),
    Binding("right,l", "step(1)", "Next", key_display="→", tooltip="Entry after", id="next"),
]

NO_LINES = (PageLine("", show(f"This entry {UNREADABLE}.", "$bad")),)  # page of an unreadable entry


class EntryByEntryScreen(Screen[int]):
    """Shows the entries of a table one by one; gives the place of the last one seen."""

    TITLE = "Entry"

    def __init__(self, places: Sequence[int], index: int) -> None:
        super().__init__()
        self._places = places  # in the corpus, in the order of the table
        self._index = index
        self._turned = False  # true where texts are shown in the other writing of the language

    @property
    def place(self) -> int:
        return self._places[self._index]

    @property
    def language(self) -> str:
        raise NotImplementedError

    @property
    def entry(self) -> Entry | None:
        """The entry that is shown; None where it cannot be read."""
        raise NotImplementedError

    @property
    def holds_secret(self) -> bool:
        """Return whether text of a secret entry is shown, which no selection may take to the clipboard."""
        return self.entry is not None and self.entry.secret

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield VerticalScroll(id="page")
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one("#page").focus()
        self.call_after_refresh(self._show)

    async def _show(self) -> None:
        raise NotImplementedError

    def _head(self, id_: EntryId, entry: Entry | None) -> Content:
        """Return which entry is shown, and what kind of one it is."""
        return Content.assemble(
            show(str(id_), "bold"),
            (f"   {self._index + 1:,} of {len(self._places):,}   ", "$quiet"),
            Content() if entry is None else page.tags(entry),
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "writing":
            return is_cree(self.language)
        return super().check_action(action, parameters)

    async def action_step(self, by: int) -> None:
        index = max(0, min(len(self._places) - 1, self._index + by))
        if index != self._index:
            self._index = index
            await self._show()
            self.query_one("#page").scroll_home(animate=False)

    async def action_writing(self) -> None:
        self._turned = not self._turned
        await self._show()

    def _copy(self, text: str, what: str) -> None:
        """Copy text to the clipboard, harmless as shown; never that of a secret entry."""
        if self.holds_secret:
            self.notify("This entry is secret and is not copied.", markup=False)
        else:
            self.post_message(Copied(text, what))

    def action_leave(self) -> None:
        self.dismiss(self.place)


SCORES = "Scores"  # label of the field below which an explanation has its place


class EntryScreen(EntryByEntryScreen):
    """Shows the entries of a table one by one; gives the place of the last one seen."""

    HELP = (
        "The output is held against the reference in the way of the corpus's task; of translations variants count as "
        "right in “equivalent”.\n"
        "Words: ↓ the analyser accepts it in lower case   ≈ in its own spelling   ✗ rejects it.\n"
        "A good analyser does not know all good words: see what it accepts of the references.\n"
        "A tier is the band of the entry's own scores, no verdict: what may be called deployable or fluent is "
        "for speakers to say, and of a whole run."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        *STEPS,
        Binding("a", "analyses", "Analyses", id="entry.analyses"),
        Binding("v", "writing", "SRO/syllabics", id="entry.writing"),
        Binding("p", "prompt", "Prompt", id="entry.prompt"),
        Binding("r", "raw", "Raw", id="entry.raw"),
        Binding("y", "copy", "Copy", id="copy"),
        Binding("q", "leave", "Back", id="back"),
        Binding("B", "bench", "Bench", tooltip="Ask this entry again in another way", id="bench"),
        Binding("escape", "close", "Close or back", show=False, id="entry.close"),
    ]

    def __init__(
        self,
        store: sqlite3.Connection,
        run: Run,
        positions: Sequence[int],
        index: int,
        missing: Mapping[str, str],
        explaining: Explaining,
    ) -> None:
        super().__init__(positions, index)
        self._pages, self._explaining = page.RunPages(store, run, missing), explaining
        self._run_id = run.run_id
        self._asking = False  # true while a thread explains an entry
        self._told = explaining.why_not is not None  # whether it was said that nothing can be
        self._opened: set[str] = set()
        self._facts: page.EntryFacts | None = None

    def compose(self) -> ComposeResult:
        yield Static(Content.styled("reading …", "$quiet"), id="where")
        yield VerticalScroll(id="page")
        yield KeyLine(palette_from=110)

    @property
    def language(self) -> str:
        return "" if self._pages.scoring is None else self._pages.scoring.target_language

    @property
    def entry(self) -> Entry | None:
        return None if self._facts is None else self._facts.entry

    # The page

    async def _show(self) -> None:
        facts = self._facts = readable(lambda: self._pages.facts(self.place, turned=self._turned))
        head = self._head(facts.entry.id, facts.entry) if facts else self._head("", None)
        self.query_one("#where", Static).update(Content.assemble(("Entry ", "$quiet"), head))
        await show_fields(self.query_one("#page"), self._lines(facts) if facts else NO_LINES)
        self.refresh_bindings()
        self._explain()

    def _lines(self, facts: page.EntryFacts) -> Iterator[PageLine]:
        return page.page_lines(facts, self._explanation, self._opened)

    def _field(self, label: str) -> Field | None:
        return next((field for field in self.query(Field) if field.label == label), None)

    # Why the values are what they are

    @property
    def _explanation(self) -> EntryExplanation | None:
        return self._explaining.known.get(self.place)

    def _explain(self) -> None:
        """Start explaining the entry, unless it is explained already or a thread is still at another one."""
        facts, position = self._facts, self.place
        if facts is None or facts.result is None or facts.result.failed:
            return
        if not (self._asking or self._told or position in self._explaining.known):
            self._asking = True
            self._ask(position, facts.entry, facts.result)

    @work(thread=True, group="explain", description="explain")
    def _ask(self, position: int, entry: Entry, result: Result) -> None:
        explanation = self._explaining.explain(entry, result)
        if not get_current_worker().is_cancelled:
            bring(self, self._answered, position, explanation)

    def _answered(self, position: int, found: EntryExplanation | None) -> None:
        self._asking = False
        if not self.is_attached:
            return
        if found is None:
            self._told = True
            self._insert([PageLine("Why", show(f"Not here: {self._explaining.why_not}", "$quiet"))])
            return
        self._explaining.known[position] = found
        if position == self.place and self._facts is not None:
            self._insert(why(found, page.unjudged(self._facts)))
            self.refresh_bindings()
        self._explain()

    def _insert(self, lines: Iterable[PageLine]) -> None:
        """Insert lines below the scores, without moving what is above them."""
        scores = self._field(SCORES)
        if scores is not None:
            fields = [Field(*line) for line in lines]
            self.query_one("#page", VerticalScroll).mount_all(fields, after=scores)

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "analyses":
            return self._explanation is not None and self._explanation.words is not None
        return super().check_action(action, parameters)

    async def action_analyses(self) -> None:
        self._opened ^= {"analyses"}
        await self._show()
        for line in analysed(self._explanation):
            if "analyses" in self._opened and (first := self._field(line.label)):
                self.call_after_refresh(first.scroll_visible, top=True, animate=False)
            break

    async def action_prompt(self) -> None:
        await self._toggle("prompt")

    async def action_raw(self) -> None:
        await self._toggle("raw")

    async def _toggle(self, part: str) -> None:
        self._opened ^= {part}
        await self._show()
        if part in self._opened:
            self.query_one("#page").scroll_end(animate=False)

    def action_bench(self) -> None:
        self.post_message(BenchAsked(self._run_id, [self.place]))

    def action_copy(self) -> None:
        """Copy the output to the clipboard, harmless as it is shown; never that of a secret entry."""
        facts = self._facts
        output = facts.result.output if facts and facts.result else None
        if facts is None or not output:
            self.notify("There is no output to copy.", markup=False)
        else:
            self._copy(output, "Output")

    async def action_close(self) -> None:
        if self._opened:
            self._opened.clear()
            await self._show()
        else:
            self.action_leave()
