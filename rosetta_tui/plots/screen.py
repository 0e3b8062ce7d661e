"""Plots of runs: scores with intervals, cost against quality, latencies, and scores by difficulty."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from corpora.text.messages import counted
from harness.card.reading import inside_words, kept_inside
from harness.store.results import read_latencies
from harness.store.run_list import RunSummary, list_runs
from harness.store.runs import read_card
from rosetta_tui.plots.points import (
    COMPOSITE,
    MOST_TOGETHER,
    Effort,
    PlotCorpus,
    PlotKind,
    PlotPicture,
    Point,
    by_corpus,
    cost,
    difficulty,
    efforts_of,
    latency,
    metric_shown,
    metrics_of,
    over_fewer,
    point_words,
    scores,
)
from rosetta_tui.plots.view import PlotView
from rosetta_tui.show.columns import Listed
from rosetta_tui.show.exporting import row_text
from rosetta_tui.toolkit.background import background
from rosetta_tui.toolkit.content import EmptyState, StatusBar, show
from rosetta_tui.toolkit.dialogs.choose import choose
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import BackRequested, Copied, ExportAsked, RunChosen
from scoring.core.inventory import title

TALL = 30  # lines of a screen from which several plots stand below each other


class PlotsScreen(Screen[None]):
    """Draws the sealed runs of one corpus at a time: scores of different corpora cannot be compared."""

    TITLE = "Plots"
    HELP = (
        "● a value   ├ ┤ its 95 % interval   ▸ the point that the lines below describe\n"
        "Cost: ◆ no run is both better and cheaper   ○ some run is   2…9 that many runs in one place;\n"
        "x lets tokens or seconds go across, which tell free models apart.\n"
        "Latency: the height says how many entries took so long; ● median   ┤ 95 % took less."
    )
    CSS_PATH = "plots.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(number), f"kind('{kind}')", kind, show=False, id=f"plots.kind_{number}")
            for number, kind in enumerate(PlotKind, 1)
        ),
        Binding("tab", "turn(1)", "Plot", id="plots.next"),
        Binding("shift+tab", "turn(-1)", "Plot before", show=False, id="plots.previous"),
        Binding("m", "metric", "Metric", id="plots.metric"),
        Binding("x", "effort", "Across", tooltip="Cost, tokens or seconds", id="plots.effort"),
        Binding("s", "sort", "Order", tooltip="By time or by name", id="sort"),
        Binding("b", "corpus", "Corpus", id="plots.corpus"),
        Binding("e", "export", "Export", tooltip="Export the numbers", id="export"),
        Binding("y", "copy", "Copy the point", show=False, id="copy"),
        Binding("r", "read", "Refresh", show=False, id="refresh"),
        Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]
    view = getters.query_one(PlotView)

    def __init__(self, store_path: Path, run_ids: Sequence[str] = ()) -> None:
        """Draw these runs, or all where there are none."""
        super().__init__()
        self._path, self._run_ids = store_path, run_ids
        self._kind = PlotKind.SCORES
        self._metric = COMPOSITE
        self._effort: Effort | None = None  # across the plot of cost; None: the most telling
        self._by_name = False
        self._corpora: dict[PlotCorpus, list[RunSummary]] | None = None
        self._corpus: PlotCorpus | None = None
        self._seconds: dict[str, Sequence[float]] = {}  # latencies of runs, as far as read
        self.whole: dict[str, RunSummary] = {}  # runs with breakdowns, as far as read, by id

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield Static(id="kinds")
        yield EmptyState("Reading …")
        yield PlotView()
        yield Static(id="beside")
        yield Static(id="chosen")
        yield KeyLine(palette_from=110)

    def on_mount(self) -> None:
        self._show_plots(there=False)
        self.call_after_refresh(self.action_read)  # the first frame waits for no reading

    @property
    def runs(self) -> list[RunSummary]:
        """The runs of the corpus, the oldest first."""
        run_summaries = (self._corpora or {}).get(self._corpus) if self._corpus else None
        return sorted(run_summaries or [], key=lambda run: run.created)

    # Reading

    def action_read(self) -> None:
        wanted = set(self._run_ids)

        def read(store: sqlite3.Connection) -> dict[PlotCorpus, list[RunSummary]]:
            return by_corpus([r for r in list_runs(store, brief=True) if not wanted or r.run_id in wanted])

        background(self, self._path, "plots", read, self._take, self._cannot)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    def _cannot(self, why: str) -> None:
        self.query_one(EmptyState).say("The runs cannot be read.", show(why))
        self._show_plots(there=False)

    def _show_plots(self, *, there: bool) -> None:
        """Show the plots, or the words in their place."""
        self.query_one(EmptyState).display = not there
        for name in ("#kinds", "PlotView", "#beside", "#chosen"):
            self.query_one(name).display = there

    def _take(self, corpora: dict[PlotCorpus, list[RunSummary]]) -> None:
        self._corpora = corpora
        if self._corpus not in corpora:
            self._corpus = next(iter(corpora), None)
        self.query_one(EmptyState).say(
            "Nothing to draw yet.",
            "A finished run is a point here, several are a picture.\n\n"
            "q  goes back; on Home, n begins a run and D runs the demo",
        )
        self._show_plots(there=bool(corpora))
        if corpora:
            self.view.focus()
            self._read_latencies([run for run in self.runs if run.run_id not in self._seconds])
        self._show()

    def _read_latencies(self, runs: Sequence[RunSummary]) -> None:
        def read(store: sqlite3.Connection) -> dict[str, Sequence[float]]:
            return {run.run_id: read_latencies(store, run.number) for run in runs}

        def take(found: Mapping[str, Sequence[float]]) -> None:
            self._seconds.update(found)
            if self._kind is PlotKind.LATENCY or self.view.below:
                self._show()

        background(self, self._path, "latencies", read, take, self._cannot)

    # Showing

    def _picture(self, kind: PlotKind) -> PlotPicture:
        match kind:
            case PlotKind.SCORES:
                return scores(self.runs, self._quality, by_name=self._by_name)
            case PlotKind.COST:
                return cost(self.runs, self._quality, self._across)
            case PlotKind.LATENCY:
                return latency(self.runs, self._seconds)
            case PlotKind.DIFFICULTY:
                return difficulty(self._broken_down(), self._quality)

    @property
    def _quality(self) -> str:
        """The metric that these runs are drawn by."""
        return metric_shown(self.runs, self._metric)

    @property
    def _across(self) -> Effort:
        """Return the dimension across: as was chosen, as far as these runs have it."""
        offered = efforts_of(self.runs)
        return self._effort if self._effort in offered else offered[0]

    def _broken_down(self) -> list[RunSummary]:
        """Return the runs that are shown together, with their breakdowns; none while these are read."""
        if unread := self._unread:

            def read(store: sqlite3.Connection) -> list[RunSummary]:
                return [run._replace(card=read_card(store, run.number)) for run in unread]

            def take(runs: Sequence[RunSummary]) -> None:
                self.whole.update((run.run_id, run) for run in runs)
                if self._kind is PlotKind.DIFFICULTY or self.view.below:
                    self._show()

            background(self, self._path, "breakdowns", read, take, self._cannot)
            return []
        return [self.whole[run.run_id] for run in self.runs[-MOST_TOGETHER:]]

    @property
    def _unread(self) -> list[RunSummary]:
        return [run for run in self.runs[-MOST_TOGETHER:] if run.run_id not in self.whole]

    def _show(self) -> None:
        if not self._corpora:
            self.query_one(StatusBar).say(Content())
            return
        picture = self._picture(self._kind)
        tall = self.size.height >= TALL
        self.view.below = [self._picture(kind) for kind in PlotKind if kind is not self._kind] if tall else []
        self.view.show_picture(picture)
        kinds = [
            (f" {number} {kind} ", "bold reverse" if kind is self._kind else "$quiet")
            for number, kind in enumerate(PlotKind, 1)
        ]
        order = (" by name" if self._by_name else " by time") if self._kind is PlotKind.SCORES else ""
        self.query_one("#kinds", Static).update(Content.assemble(*kinds, ("  ", ""), show(order, "$quiet")))
        corpus, corpora = self._corpus, self._corpora or {}
        more = f" · {len(corpora)} corpora" if len(corpora) > 1 else ""
        runs = f" · {counted(len(self.runs), 'run')}{more}"
        self.query_one(StatusBar).say(Content.assemble(show(corpus.words if corpus else ""), (runs, "$quiet")))
        beside = self.query_one("#beside", Static)
        words = picture.beside
        if self._kind is PlotKind.DIFFICULTY and self._unread:
            words = "Reading …"
        elif not picture.points:
            words = ""  # the plot says it
        if self._kind is PlotKind.DIFFICULTY and len(self.runs) > MOST_TOGETHER:
            words = f"the newest {MOST_TOGETHER} of {len(self.runs)} runs · {words}".rstrip(" ·")
        drawn = self.runs[-MOST_TOGETHER:] if self._kind is PlotKind.DIFFICULTY else self.runs
        words = " · ".join(part for part in (words, over_fewer(drawn)) if part)
        beside.display = bool(words)
        beside.update(show(words, "$warn"))
        self._moved()

    @on(PlotView.PointMoved)
    def _moved(self) -> None:
        point = self.view.point
        name, numbers = ("", "")
        if point is not None:
            name, numbers = point_words(point, {run.run_id: run for run in self.runs})
        self.query_one("#chosen", Static).update(Content.assemble(show(name, "$quiet"), "\n", show(numbers)))

    # Keys

    def action_kind(self, name: str) -> None:
        self._kind = PlotKind(name)
        self._show()

    def action_turn(self, by: int) -> None:
        kinds = list(PlotKind)
        self.action_kind(kinds[(kinds.index(self._kind) + by) % len(kinds)])

    def action_sort(self) -> None:
        self._by_name = not self._by_name
        self._kind = PlotKind.SCORES
        self._show()

    def action_metric(self) -> None:
        names = metrics_of(self.runs)
        words = {name: title(name) for name in names}

        def chosen(name: str) -> None:
            self._metric = name
            self._kind = PlotKind.SCORES if self._kind is PlotKind.LATENCY else self._kind
            self._show()

        if words:
            choose(self.app, "Quality as", words, self._quality, chosen)

    def action_effort(self) -> None:
        words = {"cost": "cost per entry", "tokens": "tokens per entry", "seconds": "seconds per entry"}
        offered = {str(effort): words[effort] for effort in efforts_of(self.runs)}

        def chosen(name: str) -> None:
            self._effort = Effort(name)
            self.action_kind(PlotKind.COST)

        if self.runs:
            choose(self.app, "Across: what an entry took", offered, self._across, chosen)

    def action_corpus(self) -> None:
        corpora = list(self._corpora or {})
        words = {str(n): show(corpus.words).plain for n, corpus in enumerate(corpora)}

        def chosen(number: str) -> None:
            self._corpus = corpora[int(number)]
            self._show()
            self._read_latencies([run for run in self.runs if run.run_id not in self._seconds])

        if self._corpus is not None:
            now = str(corpora.index(self._corpus))
            choose(self.app, "Runs of", words, now, chosen)

    def _inside(self, points: Sequence[Point]) -> bool:
        """Show that the numbers of runs with secret entries stay here; return whether there is one among the points."""
        shown = {point.run_id for point in points}
        inside = [run for run in self.runs if run.run_id in shown and not run.imported and kept_inside(run.card)]
        if inside:
            self.notify(inside_words(inside[0].run_id), severity="warning", markup=False)
        return bool(inside)

    def action_export(self) -> None:
        picture = self.view.picture
        if picture is not None and self._inside(picture.points):
            return
        if picture is not None and picture.points:
            records = Listed([point.record for point in picture.points])
            name = f"plot-{self._kind.name.lower()}"
            self.post_message(ExportAsked(records, name, cleared=True))

    def action_copy(self) -> None:
        point = self.view.point
        if point is not None and self._inside([point]):
            return
        self.post_message(Copied(row_text(point.record) if point else "", "Point", cleared=True))

    @on(PlotView.PointChosen)
    def _open(self, event: PlotView.PointChosen) -> None:
        self.post_message(RunChosen(event.point.run_id, complete=True))

    def action_leave(self) -> None:
        self.post_message(BackRequested())
