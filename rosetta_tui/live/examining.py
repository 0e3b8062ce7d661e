"""What is worked out beside a run, again and again: reasons, parts, and the difference to another run, which a key chooses."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import TypeVar

from textual import on
from textual.binding import Binding
from textual.content import Content

from corpora.text.messages import counted
from harness.compare.pairs import LiveComparison, LiveDifference, candidates, comparison_of
from harness.compare.parts import RunFindings, RunPart, Tags, part_field, run_findings, run_parts, run_tags, tag_groups
from harness.compare.rows import scorer_of
from harness.core.failures import StoreError
from harness.core.query import QueryTerm
from harness.run.events import EntryScored, Event
from harness.store.results import read_results
from harness.store.runs import Run
from rosetta_tui.entry.reasons import BOTH, MOST_ROWS, ReasonedScreen, ReasonRow, ReasonsTable, reason_words, reasons_of
from rosetta_tui.entry.table import EntryTable
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.show import figures
from rosetta_tui.show.columns import Cell, Column, Record, Rows
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import background, telling
from rosetta_tui.toolkit.content import DetailLine, show
from rosetta_tui.toolkit.dialogs.choose import choose
from rosetta_tui.toolkit.result_table import ResultTable
from scoring.core.inventory import row_of, short_title
from scoring.core.metric import StatisticsError
from scoring.core.specification import COMPOSITE
from scoring.findings.finding import FindingCode

# ---- The line that says how a run stands against an earlier one, and the key that chooses that one ----

MOST_OFFERED = 9  # earlier runs to choose from


class AgainstLine(DetailLine):
    """Away until the run is compared with another."""

    def show_run(self, live: LiveRun, found: LiveDifference | None) -> None:
        """Show the difference so far, and what the rest of the run would take once it is decided."""
        self.display = found is not None
        if found is not None:
            self.tell(against_words(live, found))


def against_words(live: LiveRun, found: LiveDifference) -> Content:
    """Return how the run stands against another."""
    head = Content.assemble(("Against ", "$quiet"), show(found.name), (f" ({found.run_id[:8]})  ", "$quiet"))
    so_far = found.so_far
    if so_far is None:
        return head.append(Content.styled("no entry of both runs is scored yet", "$quiet"))
    metric, digits = short_title(found.metric), figures.digits(found.metric)
    mean, lower, upper = (figures.signed(number, digits) for number in (so_far.mean, so_far.lower, so_far.upper))
    words = Content.assemble(
        head,
        ("" if live.over else "so far ", "$quiet"),
        (f"{mean} {metric}", "bold"),
        (f" ({lower} … {upper}) · ", "$quiet"),
    )
    if found.decided is None:
        return words.append(Content.styled(f"not decided on {counted(so_far.entries, 'entry', 'entries')}", "$quiet"))
    word, tone = ("better", "$good") if found.better else ("worse", "$bad")
    return Content.assemble(words, (word, f"bold {tone}"), (f" since entry {found.decided:,}{_rest(live)}", "$quiet"))


def _rest(live: LiveRun) -> str:
    """Return what the entries that are left would take; empty where none are."""
    now = live.progress
    if now is None or live.over or now.done >= now.total:
        return ""
    parts = [f"{now.total - now.done:,} more"]
    if now.expected_cost_usd and now.cost_usd is not None:
        parts.append(figures.money(max(0.0, now.expected_cost_usd - now.cost_usd)))
    if now.eta_seconds is not None:
        parts.append(figures.clock(now.eta_seconds))
    return f" · {', '.join(parts)}: d ends it"


class ChosenBaseline:
    """The earlier run that a person chose on the screen; one that the run itself names is in its events."""

    def __init__(self, screen: ReasonedScreen, live: LiveRun) -> None:
        self._screen, self._live = screen, live
        self._comparison: LiveComparison | None = None

    def hear(self, events: Iterable[Event]) -> None:
        """Count in the entries that were scored meanwhile."""
        if self._comparison is not None:
            self._comparison.add([event.result for event in events if isinstance(event, EntryScored)])

    def found(self) -> LiveDifference | None:
        """Return the difference to the chosen run, else to the one that the run names, None for neither."""
        if self._comparison is not None:
            return self._comparison.so_far(exact=self._live.over)
        return self._live.progress.against if self._live.progress else None

    def offer(self, run: Run) -> None:
        """Prompt for an earlier run, the best one first, and compare with it from then on."""

        def read(store: sqlite3.Connection) -> Sequence[tuple[str, str]]:
            scorer = scorer_of(store, run)
            metric = scorer.columns.headline
            return [
                (other.run_id, _offered(other, metric, value))
                for other, value in candidates(store, run, scorer, MOST_OFFERED)
            ]

        def chosen(offered: Sequence[tuple[str, str]]) -> None:
            if not offered:
                words = "No complete run of this corpus was scored alike, so there is none to compare with."
                self._screen.notify(words, markup=False)
                return
            now = self.found()
            ids = [run_id for run_id, _ in offered]
            first = now.run_id if now is not None and now.run_id in ids else ids[0]
            title = "Compare with, while it runs (the best is first)"
            choose(self._screen.app, title, dict(offered), first, lambda run_id: self._begin(run, run_id))

        cannot = telling(self._screen, "Not compared")
        background(self._screen, self._screen.store_path, "against", read, chosen, cannot, asks=True)

    def _begin(self, run: Run, baseline: str) -> None:
        def read(store: sqlite3.Connection) -> tuple[LiveComparison | None, set[int]]:
            comparison = comparison_of(store, run, baseline, scorer_of(store, run))
            stored = list(read_results(store, run.id))
            if comparison is not None:
                comparison.add(stored)
            return comparison, {result.position for result in stored}

        def begin(found: tuple[LiveComparison | None, set[int]]) -> None:
            comparison, stored = found
            if comparison is not None:  # with what came in while the store was read
                comparison.add([result for place, result in self._live.recent.items() if place not in stored])
            self._comparison = comparison
            self._screen.query_one(AgainstLine).show_run(self._live, self.found())

        cannot = telling(self._screen, "Not compared")
        background(self._screen, self._screen.store_path, "against", read, begin, cannot)


def _offered(run: Run, metric: str, value: float | None) -> str:
    names = dict.fromkeys((run.setup.method_name or run.setup.method, run.setup.model_slug, run.setup.condition))
    return plain(f"{run.run_id[:8]}  {short_title(metric)} {figures.value(metric, value)}  {' · '.join(names)}")


MOST_EXAMINED = 5_000  # outputs, spread evenly, that are examined during a run; at its end all are
EXAMINED_SECONDS = 4.0  # time between two examinations of the outputs, at least
SHARE = 30  # a thirtieth of the time goes into examinations at most
# a thread that examines doubles what a key takes: none begins so long after a key moved the cursor, and is put off so long
STILL_SECONDS, PUT_OFF_SECONDS = 1.0, 15.0
PANEL_LINES = 3  # reasons in the panel of a wide screen
BAR = 24  # cells of the bar of a part
AGAINST = Binding("a", "against", "Against", tooltip="Compare with an earlier run from now on", id="run.against")
PARTS = Binding("b", "parts", "Parts", tooltip="Scores by difficulty, length, punctuation …", id="run.parts")
TOO_FEW = "too few to tell"
Found = TypeVar("Found")


class WhyPanel(DetailLine):
    """The first reasons below each other, where a screen is wide enough for a panel of them."""

    reasons: Sequence[ReasonRow] | None = None

    def on_resize(self) -> None:
        if self.reasons is None:
            self.tell(Content.styled("outputs are examined every few seconds", "$quiet"), "Why")
        else:
            self.show_reasons(self.reasons)

    def show_reasons(self, reasons: Sequence[ReasonRow]) -> None:
        self.reasons = reasons
        width = max(12, self.content_size.width)
        lines = [reason_words(reason, width=width) for reason in reasons[:PANEL_LINES]]
        nothing = Content.styled("nothing that has a name so far", "$quiet")
        more = len(reasons) - len(lines)
        self.tell(Content("\n").join(lines) if lines else nothing, f"Why, {more} more: w" if more > 0 else "Why: w")


class RunPartRows(Rows[RunPart]):
    """One row for each part of a run."""

    def __init__(self, parts: Sequence[RunPart], metric: str) -> None:
        super().__init__(parts)
        self._metric = metric

    def key(self, index: int) -> Hashable:
        part = self.items[index]
        return (part.dimension, part.name, part.scores.n, part.scores.values.get(self._metric))

    def cells(self, index: int) -> Sequence[Cell]:
        part, metric = self.items[index], self._metric
        first = index == 0 or self.items[index - 1].dimension != part.dimension
        value, interval = part.scores.values.get(metric), part.scores.intervals.get(metric)
        row, bar, ends = row_of(metric), "", TOO_FEW if part.scores.n else ""
        if interval is not None and value is not None and row is not None:
            both = (interval.lower, interval.upper)
            bar = figures.interval_bar(value, both, low=row.info.low, top=row.info.high, width=BAR)
            ends = "–".join(figures.value(metric, end) for end in both)
        mixed = part.scores.values.get(COMPOSITE)
        return (
            Cell(part.dimension if first else "", "quiet"),
            Cell(plain(part.name)),
            Cell(figures.count(part.scores.n)),
            Cell(figures.value(metric, value), "plain" if ends != TOO_FEW else "quiet"),
            Cell(bar, "mark"),
            Cell(ends, "quiet"),
            Cell("" if mixed is None else figures.number(mixed, 2), "quiet"),
        )

    def record(self, index: int) -> Record:
        part, metric = self.items[index], self._metric
        interval = part.scores.intervals.get(metric)
        return {
            "dimension": part.dimension,
            "part": part.name,
            "entries": part.scores.n,
            metric: part.scores.values.get(metric),
            "lower": None if interval is None else interval.lower,
            "upper": None if interval is None else interval.upper,
            COMPOSITE: part.scores.values.get(COMPOSITE),
        }


def _columns(metric: str) -> tuple[Column, ...]:
    return (
        Column("dimension", "part by", 15),
        Column("part", "(enter: these entries)", 24),
        Column("entries", "done", 6, right=True),
        Column("value", short_title(metric), max(6, len(short_title(metric))), right=True),
        Column("bar", "", BAR, drop=2),
        Column("ends", "95 % interval", 15, drop=1),
        Column("composite", "composite", 9, right=True, drop=3),
    )


class ExaminedScreen(ReasonedScreen):
    """Examines the run's outputs in threads and shows what comes of it."""

    live: LiveRun
    _run: Run | None = None
    _findings: RunFindings | None = None
    _found_done = 0  # entries done when all outputs were examined
    _most: int | None = None  # outputs that are examined at most this time
    tags: Tags | None = None  # the parts of the run's entries, which never change
    _parts: Sequence[RunPart] = ()
    _parts_done = -1  # entries done when the parts were scored
    moved = float("-inf")  # when a person moved the cursor last (monotonic)
    _find_from = _part_from = 0.0  # when outputs are examined next (monotonic), never while they are

    @property
    def table(self) -> EntryTable:
        raise NotImplementedError

    def _examine(self) -> None:
        """Examine again what is shown, where more outputs are there."""
        run, done, now = self._run, self.live.done, time.monotonic()
        if run is None or not done:
            return
        if now - self.moved < STILL_SECONDS:
            now -= PUT_OFF_SECONDS
        if (now >= self._find_from or (self.live.over and self._find_from < float("inf"))) and done != self._found_done:
            self._find_from = float("inf")
            self._most = most = None if self.live.over else MOST_EXAMINED
            self._in_background("findings", lambda store: run_findings(store, run, most), self._found)
        wanted = self.query_one("#parts").display and done != self._parts_done
        if wanted and (now >= self._part_from or (self.live.over and self._part_from < float("inf"))):
            self._part_from = float("inf")
            self._in_background("parts", self._scored_parts, self._take_parts)

    def _in_background(
        self, group: str, work: Callable[[sqlite3.Connection], Found], then: Callable[[Found, int, float], None]
    ) -> None:
        began, done = time.monotonic(), self.live.done

        def found(result: Found) -> None:
            now = time.monotonic()
            then(result, done, now + max(EXAMINED_SECONDS, SHARE * (now - began)))

        # after a fault the line stays as it is: the screen itself says what is wrong with the store
        background(self, self.store_path, group, work, found, lambda _: None)

    # Why

    def show_reasons(self, reasons: Sequence[ReasonRow], letters: Sequence[str]) -> None:
        super().show_reasons(reasons, letters)
        self.query_one(WhyPanel).show_reasons(reasons)

    def _found(self, findings: RunFindings | None, done: int, again: float) -> None:
        if findings is None:
            return  # of another task nothing is ever found
        self._find_from, self._findings = again, findings
        sample = self._most is not None and done > self._most
        self._found_done = -1 if sample else done
        self.examined = f"in {findings.done:,} of {done:,} outputs  " if sample else ""
        self.table.set_groups(findings.groups)
        self.show_reasons(reasons_of([(self._findings, None)]), ("",))
        self.show_entry()

    def run_of(self, _: ReasonRow) -> Run | None:
        return self._run

    def found_in(self, place: int) -> tuple[FindingCode, ...]:
        """Return what was found in the output of an entry."""
        return () if self._findings is None else tuple(self._findings.of_entry(place))

    # Where

    def _scored_parts(self, store: sqlite3.Connection) -> Sequence[RunPart]:
        run, started = self._run, self.live.started
        if run is None or started is None:
            return ()
        self.tags = self.tags or run_tags(store, run, started.positions)
        try:
            return run_parts(store, run, self.tags)
        except StatisticsError:
            raise StoreError("The scores of the entries cannot be read.") from None

    def _take_parts(self, parts: Sequence[RunPart], done: int, again: float) -> None:
        self._part_from, self._parts_done, self._parts = again, done, parts
        self.table.set_groups(tag_groups(self.tags or {}))
        table = self.query_one("#parts", ResultTable)
        table.show_rows(RunPartRows(parts, self.table.kept.headline), table.cursor)
        table.styles.height = 1 + min(len(parts), MOST_ROWS, max(3, self.size.height // 5))

    def action_parts(self) -> None:
        table = self.query_one("#parts", ResultTable)
        table.display = not table.has_focus
        self.set_focus(table if table.display else self.table)
        if table.display:
            if self.app.size.height < BOTH:
                self.query_one(ReasonsTable).display = False
            table.show_columns(_columns(self.table.kept.headline))
            self._examine()

    @on(ResultTable.Chosen, "#parts")
    def _part_chosen(self, event: ResultTable.Chosen) -> None:
        part = self._parts[event.index]
        self.toggle(QueryTerm(part_field(part.dimension), ":", part.name))

    # Against an earlier run

    @cached_property
    def baseline(self) -> ChosenBaseline:
        """The earlier run that a person chose."""
        return ChosenBaseline(self, self.live)

    def action_against(self) -> None:
        if self._run is not None:
            self.baseline.offer(self._run)
