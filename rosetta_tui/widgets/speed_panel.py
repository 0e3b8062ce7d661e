"""How fast the run goes, and what holds it up."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from harness.events import Progress
from rosetta_tui import figures
from rosetta_tui.live import LiveRun

BARS = 20
"""Slices of the last minute that are drawn."""


class SpeedPanel(Static):
    """Rate, latency, calls under way and what the endpoint refuses."""

    def show_run(self, live: LiveRun, *, compact: bool) -> None:
        """Show the run's speed now."""
        self.border_title = None if compact else "Speed"
        if live.progress is None:
            self.update("")
            return
        lines = [_rate(live.progress), _calls(live, compact=compact)]
        if not compact:
            spark = figures.sparkline(live.rates(BARS), BARS)
            lines.insert(1, Content.styled(spark, "$mark") if spark and not live.over else Content(" "))
        self.update(Content("   " if compact else "\n").join(lines))


def _rate(progress: Progress) -> Content:
    return Content.assemble(
        (f"{figures.number(progress.per_minute, 0)}/min", "bold"),
        ("   p50 ", "$quiet"),
        f"{figures.seconds(progress.p50_seconds)} s",
        ("   p95 ", "$quiet"),
        f"{figures.seconds(progress.p95_seconds)} s",
    )


def _calls(live: LiveRun, *, compact: bool) -> Content:
    progress = live.progress
    if progress is None:
        return Content("")
    limited = sum(waiting.reason == "429" for waiting in progress.waiting)
    trouble = Content.styled(
        f"{figures.count(progress.rate_limited)} × 429 · {figures.count(progress.retries)} retries",
        "$warn" if limited else "$quiet",
    )
    if live.over:
        return trouble
    calls = f"{live.asked} of {progress.concurrency} calls in flight"
    if compact:
        return Content.assemble((calls, "$quiet"), (f" · {limited} waiting (429)", "$warn") if limited else "")
    ceiling = f" (at most {progress.most_concurrency})"
    waiting = f" · {limited} waiting (429)" if limited else ""
    return Content.assemble((calls, ""), (ceiling, "$quiet"), (waiting, "$warn"))
