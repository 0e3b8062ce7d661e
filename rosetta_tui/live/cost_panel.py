"""What the run costs: so far, in the end, and of what budget."""

from __future__ import annotations

from textual.content import Content

from harness.events.kinds import Progress
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.show import figures
from rosetta_tui.toolkit.telling import Telling
from scoring.core.wording import counted


class CostPanel(Telling):
    """Money and tokens."""

    def show_run(self, live: LiveRun, *, compact: bool) -> None:
        """Show what the run costs now."""
        title = None if compact else "Cost"
        if live.progress is None:
            self.tell(Content(""), title)
            return
        lines = [_so_far(live.progress), _expected(live), _tokens(live.progress)]
        self.tell(
            Content("   " if compact else "\n").join([line for line in lines if line.plain]), title
        )


def _so_far(progress: Progress) -> Content:
    if progress.cost_usd == 0 and progress.done == progress.failed and not progress.spent_usd:
        return Content.styled(_nothing(progress.budget_usd), "$quiet")
    told = figures.cost(progress.cost_usd, progress.known_cost_usd)
    parts = Content.assemble((told, "bold"))
    if progress.cost_usd is None and not progress.known_cost_usd:
        parts = parts.append(Content.styled(" price", "$quiet"))
    if progress.budget_usd is None:
        return parts
    near = progress.spent_usd >= 0.9 * progress.budget_usd
    paid = f" · paid {figures.money(progress.spent_usd)}" if _differs(progress) else ""
    return Content.assemble(
        parts,
        (f"{paid} of {figures.money(progress.budget_usd)} budget", "$warn" if near else "$quiet"),
    )


def _nothing(budget: float | None) -> str:
    """Say that nothing was charged yet, which does not make a run free."""
    return "nothing spent yet" if budget is None else f"none of {figures.money(budget)} spent yet"


def _differs(progress: Progress) -> bool:
    return progress.cost_usd is None or abs(progress.cost_usd - progress.spent_usd) > 0.00005


def _expected(live: LiveRun) -> Content:
    progress = live.progress
    if progress is None or live.over or not progress.expected_cost_usd:
        return Content("")
    return Content.styled(f"expected {figures.money(progress.expected_cost_usd)}", "$quiet")


def _tokens(progress: Progress) -> Content:
    if progress.tokens is None:
        return Content.styled("tokens unknown", "$quiet")
    least = "at least " if progress.tokens_untold else ""
    return Content.styled(f"{least}{counted(progress.tokens, 'token')}", "$quiet")
