"""All corpora, and one of them: its entries, sorted and narrowed at will, and the ways to all that is known of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from corpora.files.problems import Problem
from corpora.model.task import TRANSLATION
from corpora.model.vocabularies import SECRET_SEGMENTS
from corpora.samples import DEMO_CORPUS, sample_path
from corpora.text.messages import counted
from harness.api import CorpusRequest
from harness.core.query import Query, QueryTerm
from harness.store.corpora import listing
from harness.store.corpora.listing import CorpusSummary, list_corpora
from harness.store.ordering import Ordering
from harness.store.run_list import RunSummary
from harness.store.sqlite.database import open_store, opened
from rosetta_tui.corpus import detail_screens
from rosetta_tui.corpus.detail_screens import CorpusChecksScreen
from rosetta_tui.corpus.open_corpus import OpenCorpusScreen, OpenedCorpus, open_corpus, open_original, summary_of
from rosetta_tui.corpus.table import CORPORA, CorpusRows, CorpusTable, segment_words
from rosetta_tui.entry.pane import GONE, PANE, EntryPage, EntryPane, PanedScreen, RowsAndPane
from rosetta_tui.request.draft import RunDraft
from rosetta_tui.show.run_facts import listed_runs, setup_words, when
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import background, in_thread, telling
from rosetta_tui.toolkit.content import EmptyState, StatusBar, show
from rosetta_tui.toolkit.dialogs.choose import choose
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import BackRequested, CorpusChosen, NewRunAsked, RunChosen
from rosetta_tui.toolkit.ordered_table import MATCHES
from rosetta_tui.toolkit.query_line import QueryLine
from rosetta_tui.toolkit.result_table import ResultTable

# a connection for the screen, the line of the corpus, and the places of its entries
Found = tuple[sqlite3.Connection, listing.CorpusSummary, Sequence[int]]


def draft_over(summary: listing.CorpusSummary, *, stored: bool) -> RunDraft:
    """Return the draft of a run over a corpus of the store, or over one that was only opened from its files."""
    if stored:
        return RunDraft.of({"file": f"store:{summary.sha256[:12]}"})
    files: dict[str, str | tuple[str, ...]] = dict(zip(("file", "reference"), map(str, summary.files), strict=False))
    files["other_reference"] = tuple(map(str, summary.files[2:]))
    columns = summary.dataset.columns_read or {}
    files |= {f"{side}_column": name for side, name in columns.items()}
    tags = {"source_language": summary.dataset.source_language, "target_language": summary.dataset.target_language}
    if summary.dataset.task != TRANSLATION:
        tags["task"] = summary.dataset.task
    return RunDraft.of({**files, **tags})


def _choose(screen: Screen[Any], users: Sequence[RunSummary]) -> None:
    if not users:
        screen.notify("No run has used this corpus yet.", markup=False)
        return
    runs = {run.run_id: run for run in users}

    def chosen(run_id: str) -> None:
        screen.post_message(RunChosen(run_id, runs[run_id].state == "complete"))

    words = {run_id: plain(f"{when(run.created)}  {setup_words(run)}  {run.state}") for run_id, run in runs.items()}
    choose(screen.app, "Open a run", words, next(iter(words)), chosen)


class CorpusScreen(PanedScreen):
    """Reads a corpus of the store, or one that was only opened; both without loading it whole."""

    TITLE = "Corpus"
    HELP = (
        "!  a check is about this entry; c lists what was found, enter there shows the entries.\n"
        "Entries of gold_standard and held_out are shown on this machine only: they are never "
        "copied or exported."
    )
    CSS_PATH = "corpus.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        PANE,
        MATCHES[0],
        Binding("s", "sort", "Sort", tooltip="Columns and order", id="sort"),
        Binding("i", "facts", "Statistics", id="corpus.facts"),
        Binding("c", "checks", "Checks", id="corpus.checks"),
        Binding("u", "runs", "Runs", id="corpus.runs"),
        Binding("n", "new_run", "New run", id="new_run"),
        Binding("o", "original", "Original", tooltip="Open the file itself", id="corpus.original"),
        Binding("q,escape", "back", "Back", key_display="q", id="back"),
    ]

    def __init__(self, store_path: Path, sha256: str, opened: OpenedCorpus | None = None) -> None:
        super().__init__()
        self._path, self._sha256, self._opened = store_path, sha256, opened
        self._store = None if opened is None else opened.connection
        self.summary: listing.CorpusSummary | None = None
        self.examination: listing.Examination | None = opened.examination if opened else None

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield Static(id="notes")
        yield QueryLine('len>100 segment:development -check:none "two words"', lambda: self.table.fields)
        yield EmptyState("Reading …")
        with RowsAndPane():
            yield CorpusTable(id="entries")
            yield EntryPane()
        yield KeyLine(palette_from=110)

    def on_mount(self) -> None:
        self.query_one(RowsAndPane).display = False

        def cannot(why: str) -> None:
            self.query_one(EmptyState).say("The corpus cannot be read.", show(why))

        in_thread(self, "corpus", self._found, self._begin, cannot, unwanted=_close)

    @property
    def table(self) -> CorpusTable:
        return self.query_one("#entries", CorpusTable)

    @property
    def holds_secret(self) -> bool:
        """Return whether text of a secret entry is shown, which no selection may take to the clipboard."""
        summary = self.summary
        if summary is None:
            return False
        return summary.dataset.terms.local_only or not SECRET_SEGMENTS.isdisjoint(summary.segments)

    # Reading

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Return a connection for a thread; what goes wrong with it is a StoreError."""
        return opened(self._path) if self._opened is None else self._opened.reading()

    def _found(self) -> Found | None:
        summary = summary_of(self._path, self._sha256, self._opened)
        if summary is None:
            return None
        with self._reading() as store:
            places = Ordering(corpus=summary.number).positions(store).tolist()
        return self._store or open_store(self._path), summary, places

    def _begin(self, found: Found | None) -> None:
        if found is None:
            self.query_one(EmptyState).say(
                "This corpus is no longer in the store.",
                "It went with the last run that used it. Its file can be opened in the list of corpora.",
            )
            return
        store, summary, places = found
        self._store, self.summary = store, summary
        self.query_one(EmptyState).display = False
        self.query_one(RowsAndPane).display = True
        self.table.focus()
        name, pair = show(summary.dataset.name, "bold"), summary.dataset.language_pair
        self.query_one(StatusBar).say(Content.assemble(name, show(f" · {pair}", "$quiet")))
        self.table.begin(store, self._reading, summary.number, places)
        if self.examination is None:
            self.examine_again()
        else:
            self._examined(self.examination)

    def examine_again(self) -> None:
        if (summary := self.summary) is not None:

            def examine() -> listing.Examination:
                with self._reading() as store:
                    return listing.examine_stored(store, summary.number, summary.sha256, summary.files)

            cannot = telling(self, "The checks cannot be made")
            in_thread(self, "examine", examine, self._examined, cannot)

    def _examined(self, found: listing.Examination) -> None:
        self.examination = found
        self.table.flag(found.problems)
        self._tell()

    @on(CorpusTable.EntriesShown)
    def _shown(self) -> None:
        self._tell()
        self.show_entry()

    def _tell(self) -> None:
        """Show how many entries are shown and why, or else what all of them are and what the checks say."""
        rows, summary, examination = self.table.entries, self.summary, self.examination
        if rows is None or summary is None:
            return
        if words := self.table.order.by_words:
            line = show(words, "$mark")
        else:
            count = counted(summary.entries, "entry", "entries")
            checked = "checking …" if examination is None else problem_words(examination)
            tone = "$warn" if examination is not None and examination.problems else "$quiet"
            line = Content.assemble(count, show(f" · {segment_words(summary.segments)} · ", "$quiet"), (checked, tone))
        self.query_one("#notes", Static).update(line)

    def entry_key(self) -> Hashable:
        return None if self.table.place is None else (self.table.place, self.examination is None)

    def entry_page(self) -> EntryPage:
        entry, place, summary = self.table.entry, self.table.place, self.summary
        if entry is None or place is None or summary is None:
            return GONE
        problems = [] if self.examination is None else self.examination.of_entry(place)
        lines = detail_screens.entry_lines(entry, problems, summary.dataset.task, turned=False)
        return EntryPage(entry, (line for line in lines if line.label not in detail_screens.TAGS))

    # Where one can go from here

    @on(ResultTable.Chosen)
    def _open(self, event: ResultTable.Chosen) -> None:
        if self.table.entries is None or self.summary is None:
            return

        def back(place: int | None) -> None:
            if place is not None:
                self.table.move_to_place(place)
                self.show_entry()

        dataset, examination = self.summary.dataset, self.examination
        screen = detail_screens.CorpusEntryScreen(self.table.entries, event.index, dataset, examination)
        self.app.push_screen(screen, back)

    def action_facts(self) -> None:
        if self.summary is None or self.examination is None:
            self.notify("The corpus is still being counted.", markup=False)
        else:
            self.app.push_screen(detail_screens.CorpusFactsScreen(self.summary, self.examination))

    def action_checks(self) -> None:
        examination = self.examination
        if examination is None:
            self.notify("The checks are still going on.", markup=False)
            return

        def chosen(index: int | None) -> None:
            if index is not None:
                self.filter_by(Query((QueryTerm("check", ":", str(index + 1)),)))

        self.app.push_screen(detail_screens.CorpusChecksScreen(examination.problems, examination.original), chosen)

    def action_runs(self) -> None:
        if self.summary is not None:
            # Offer the runs that used a corpus to choose from; the screen posts RunChosen.
            cannot = telling(self, "The runs cannot be read")
            run_ids = frozenset(self.summary.runs)

            def read(store: sqlite3.Connection) -> list[RunSummary]:
                return [run for run in listed_runs(store) if run.run_id in run_ids]

            background(self, self._path, "users", read, partial(_choose, self), cannot, asks=True)

    def action_new_run(self) -> None:
        summary = self.summary
        if summary is None or summary.partial:
            self.notify("This corpus is known from a run card only: a run needs its file.", markup=False)
        else:
            self.post_message(NewRunAsked(draft_over(summary, stored=self._opened is None)))

    def action_original(self) -> None:
        if self.examination is None:
            self.notify("The file is still being examined.", markup=False)
        else:
            open_original(self.app, self.examination, self.table.place)


def problem_words(found: listing.Examination) -> str:
    """Return how much the checks found, such as ``3 findings, 12 entries``."""
    if not found.problems:
        return "checks found nothing"
    words = [counted(len(found.problems), "finding")]
    words += [counted(len(found.flagged), "entry", "entries")] if found.flagged else []
    return ", ".join(words)


def _close(found: Found | None) -> None:
    if found is not None:
        found[0].close()


# ---- All corpora: those of the store, and the way to one that is only a file ----


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
