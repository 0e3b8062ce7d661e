"""How far the run is: entries by state, and a bar."""

from __future__ import annotations

from textual.content import Content

from rosetta_tui.session.picture import LiveRun
from rosetta_tui.show import figures
from rosetta_tui.toolkit.telling import Telling
from scoring.core.wording import percent

LEAST_BAR = 10
"""Below this the bar is left out and the share alone stands."""


class CountLine(Telling):
    """Counts by state with the symbols of the table, and the share done."""

    def show_run(self, live: LiveRun, *, notes: str = "") -> None:
        """Show the counts now; ``notes`` says how the table is narrowed."""
        counts = _counts(live)
        share = live.done / live.total if live.total else 0.0
        tail = f" {percent(share):>5}"
        note = Content.styled(f"   {notes}" if notes else "", "$mark")
        room = self.size.width - counts.cell_length - note.cell_length - len(tail) - 3
        bar = figures.progress_bar(share, min(40, room)) if room >= LEAST_BAR else ""
        self.tell(Content.assemble(counts, note, "   ", (bar, "$mark"), tail))


def _counts(live: LiveRun) -> Content:
    parts = [
        ("✓", live.done - live.errors, "done", "$good"),
        ("✗", live.errors, "failed", "$bad" if live.errors else "$quiet"),
        ("↻", live.retrying, "retrying", "$warn" if live.retrying else "$quiet"),
        ("●", live.asked, "asked", "$mark"),
        ("…", live.queued, "waiting", "$quiet"),
    ]
    shown = [part for part in parts if not live.over or part[1] or part[2] in {"done", "failed"}]
    return Content("  ").join(
        [
            Content.assemble((f"{s} {figures.count(n)}", tone), (f" {word}", "$quiet"))
            for s, n, word, tone in shown
        ]
    )
