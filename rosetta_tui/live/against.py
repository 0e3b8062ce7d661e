"""A run under way against an earlier one: the line that says how it stands, and the key that chooses the other run."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from textual.content import Content

from corpora.text.messages import counted
from harness.compare.live import LiveComparison, LiveDifference, candidates, comparison_of
from harness.compare.rows import scorer_of
from harness.run.events import EntryScored, Event
from harness.store.results import read_results
from harness.store.runs import Run
from rosetta_tui.entry.reasons import ReasonedScreen
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.show import figures
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import background, telling
from rosetta_tui.toolkit.content import DetailLine, show
from rosetta_tui.toolkit.dialogs.choose import choose
from scoring.core.inventory import short_title

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
