"""All corpora: those of the store, and the way to one that is only a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from corpora.files.problems import Problem
from corpora.samples import DEMO_CORPUS, sample_path
from harness.api import CorpusRequest
from harness.store.corpora.listing import CorpusSummary, list_corpora
from rosetta_tui.corpus.detail_screens import CorpusChecksScreen
from rosetta_tui.corpus.open_corpus import OpenCorpusScreen, OpenedCorpus, open_corpus
from rosetta_tui.corpus.screen import CorpusScreen
from rosetta_tui.corpus.table import CORPORA, CorpusRows, segment_words
from rosetta_tui.toolkit.background import background, in_thread
from rosetta_tui.toolkit.content import EmptyState, StatusBar, show
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import BackRequested, CorpusChosen
from rosetta_tui.toolkit.result_table import ResultTable


class CorporaScreen(Screen[None]):
    """The list of corpora; reads the store in a thread."""

    TITLE = "Corpora"
    HELP = (
        "A corpus is in the store once a run has used it. Runs compare where their corpora have the "
        "same SHA-256.\n"
        "A file that is only opened is examined in memory and stored nowhere."
    )
    CSS_PATH = "corpus.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open", "Open a file", id="corpora.open"),
        Binding("d,D", "demo", "Demo corpus", key_display="D", id="corpora.demo"),
        Binding("r", "read", "Refresh", id="refresh"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]
    table = getters.query_one("#corpora", ResultTable)

    def __init__(self, store_path: Path) -> None:
        super().__init__()
        self._path = store_path
        self._corpora: list[CorpusSummary] | None = None

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield EmptyState(
            "No corpora yet.",
            "The first run puts its corpus here.\n\n"
            "o  opens a corpus file, to see what is in it and what the checks say\n"
            "D  shows the corpus of the demo",
        )
        yield ResultTable(CORPORA, id="corpora")
        yield Static(id="chosen")
        yield KeyLine()

    def on_mount(self) -> None:
        for widget in (self.query_one(EmptyState), self.query_one("#chosen")):
            widget.display = False
        self.table.focus()
        self.action_read()

    def on_screen_resume(self) -> None:
        if self._corpora is not None:
            self.action_read()

    @property
    def chosen(self) -> CorpusSummary | None:
        return self._corpora[self.table.cursor] if self._corpora else None

    def action_read(self) -> None:
        background(self, self._path, "corpora", list_corpora, self._show, self._cannot)

    def _cannot(self, why: str) -> None:
        self.query_one(StatusBar).say(show(why, "$bad"))

    def _show(self, found: list[CorpusSummary]) -> None:
        here = self.chosen
        self._corpora = found
        rows = CorpusRows(found)
        self.table.show_rows(rows, None if here is None else rows.find(here.sha256))
        self.query_one(EmptyState).display = not found
        self.table.display = self.query_one("#chosen").display = bool(found)
        count = "1 corpus" if len(found) == 1 else f"{len(found):,} corpora"
        self.query_one(StatusBar).say(Content.styled(count if found else "", "$quiet"))
        self._moved()

    @on(ResultTable.Moved)
    def _moved(self) -> None:
        corpus = self.chosen
        if corpus is None:
            return
        read = " + ".join(map(str, corpus.files)) or "nobody noted where it was read from"
        if corpus.partial:
            read = "known only from a run card"
        self.query_one("#chosen", Static).update(
            Content.assemble(
                show(f"{segment_words(corpus.segments)} · {read}"), "\n", show(f"sha-256 {corpus.sha256}", "$quiet")
            )
        )

    @on(ResultTable.Chosen)
    def _choose(self) -> None:
        if self.chosen is not None:
            self.post_message(CorpusChosen(self.chosen.sha256))

    def action_open(self) -> None:
        self.app.push_screen(OpenCorpusScreen(), self._opened)

    def action_demo(self) -> None:
        demo = partial(open_corpus, CorpusRequest(sample_path(DEMO_CORPUS)))
        in_thread(self, "demo", demo, self._opened, self._cannot, asks=True, unwanted=lambda o: o.connection.close())

    def _opened(self, found: OpenedCorpus | tuple[Problem, ...] | None) -> None:
        if found is None:
            return
        if isinstance(found, tuple):
            self.app.push_screen(CorpusChecksScreen(found, None))
        else:
            self.app.push_screen(CorpusScreen(self._path, found.sha256, found))

    def action_leave(self) -> None:
        self.post_message(BackRequested())
