"""How fast the run goes, and what holds it up."""

from __future__ import annotations

from textual.content import Content

from harness.events.kinds import Progress
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.show import figures
from rosetta_tui.toolkit.telling import Telling
from scoring.core.wording import counted

BARS = 14
"""Slices of the last minute that are drawn."""


class SpeedPanel(Telling):
    """Rate, latency, calls under way and what the endpoint refuses."""

    def show_run(self, live: LiveRun, *, compact: bool) -> None:
        """Show the run's speed now."""
        title = None if compact else "Speed"
        if live.progress is None:
            self.tell(Content(""), title)
            return
        lines = [
            _rate(live.progress, live),
            _calls(live.progress, live, compact=compact),
            _waiting(live.progress, live),
        ]
        if not compact and not live.over:
            spark = figures.sparkline(live.rates(BARS), BARS)
            lines[2] = Content.assemble((spark, "$mark"), "  " if spark else "", lines[2])
        self.tell(
            Content("  " if compact else "\n").join([line for line in lines if line.plain]), title
        )


def _rate(progress: Progress, live: LiveRun) -> Content:
    elsewhere = live.started is not None and live.started.setup.outputs_sha256 is not None
    return Content.assemble(
        (f"{figures.number(progress.per_minute, 0)}/min", "bold"),
        ("  p50 ", "$quiet"),
        f"{figures.seconds(progress.p50_seconds)} s",
        ("  p95 ", "$quiet"),
        f"{figures.seconds(progress.p95_seconds)} s",
        (" recorded" if elsewhere and _faster_than_calls(progress) else "", "$quiet"),
    )


def _faster_than_calls(progress: Progress) -> bool:
    """Tell whether the rate is more than such latencies allow: the answers were made at another time."""
    if progress.per_minute is None or progress.p50_seconds is None:
        return False
    return progress.per_minute / 60 * progress.p50_seconds > 2 * progress.most_concurrency


def _calls(progress: Progress, live: LiveRun, *, compact: bool) -> Content:
    if live.over:
        refused = f"{figures.count(progress.rate_limited)} × 429"
        return Content.styled(
            f"{refused} · {counted(progress.retries, 'retry', 'retries')}", "$quiet"
        )
    limit = f" · limit {progress.concurrency}"
    limit += "" if compact else f" of {progress.most_concurrency}"
    return Content.assemble(f"{live.asked} in flight", (limit, "$quiet"))


def _waiting(progress: Progress, live: LiveRun) -> Content:
    limited = sum(waiting.reason == "429" for waiting in progress.waiting)
    return Content.styled(f"{limited} waiting (429)" if limited and not live.over else "", "$warn")
