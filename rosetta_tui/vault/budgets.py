"""How many answers about secret entries anyone who hands in a method had, and how many are left."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from harness.release.budget import Policy, pause_words
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.show.released_words import policy_words
from rosetta_tui.toolkit.section_page import Commands, Line, SectionPage, moment
from rosetta_tui.vault.budget_use import BudgetUse, uses
from rosetta_tui.vault.facts import ToldScores
from scoring.core.messages import counted
from scoring.core.metric_rows import short_title

_BUDGETS = (
    Column("submitter", "who learns scores", 12, share=2),
    Column("corpus", "about", 10, share=1),
    Column("told", "told", 11, right=True),
    Column("left", "left", 6, right=True),
    Column("next", "next answer (UTC)", 17),
    Column("best", "best told", 14, drop=3),
)


def budgets(told: ToldScores, now: datetime) -> SectionPage:
    """Return how many answers about secret entries each submitter had from this computer, and how many are left."""
    budget = ("rosetta", "vault", "budget")
    if told.history is None:
        return SectionPage([(told.trouble, "bad")], _BUDGETS, [], [], [{}])
    general = told.history.policy("", "")
    about_lines = [
        (f"Each answer tells a little of the hidden entries, so anyone who hands in a method gets {_budget_words(general, 'each corpus')}.", "plain"),
        (policy_words(general), "quiet"),
        ("These are the answers of this computer, about whatever vault.", "quiet"),
    ]  # fmt: skip
    rows, about, commands = [], [], []
    everybody: Commands = {
        "Change how many answers each submitter gets": (*budget, "--count", "NUMBER"),
        "Change the pause between two answers": (*budget, "--pause", "HOURS"),
        "Tell more or less": (*budget, "--policy", "POLICY"),
        "Say that two names are one submitter": (*budget, "--together", "NAME", "NAME"),
    }
    for use in uses(told.history, told.withdrawn):
        left = max(0, use.policy.count - use.answers)
        next_words, tone = next_answer(use, now)
        best = use.best.card if use.best else None
        rows.append(
            (
                Cell(" = ".join(use.names)),
                Cell(use.corpus),
                Cell(f"{use.answers:,} of {use.policy.count:,}"),
                Cell(f"{left:,}", "plain" if left else "bad"),
                Cell(next_words, tone),
                Cell(f"{short_title(best.headline)} {best.scores[best.headline].value:g}" if best else "withdrawn" if use.withdrawn else ""),
            )
        )  # fmt: skip
        about.append(list(_about_use(use)))
        own = {f"Change how many answers {use.names[0]} gets about {use.corpus}": (*budget, "--submitter", use.names[0], "--corpus", use.corpus, "--count", "NUMBER")}  # fmt: skip
        commands.append({**own, **everybody})
    empty = "Nobody has been told a score over secret entries yet."
    return SectionPage(about_lines, _BUDGETS, rows, about, commands or [everybody], empty)


def _budget_words(policy: Policy, corpus: str) -> str:
    pause = f", {pause_words(policy.pause_hours)} apart" if policy.pause_hours else ""
    return f"{counted(policy.count, 'answer')} about {corpus}{pause}"


def next_answer(use: BudgetUse, now: datetime) -> Line:
    """Return when the next answer may be given."""
    if use.answers >= use.policy.count:
        return "none left", "bad"
    free = datetime.fromisoformat(use.last) + timedelta(hours=use.policy.pause_hours)
    return ("now", "good") if now >= free else (f"{free:%Y-%m-%d %H:%M}", "warn")


def _about_use(use: BudgetUse) -> Iterator[Line]:
    yield f"{' = '.join(use.names)} gets {_budget_words(use.policy, use.corpus)}; the last one was given at {moment(use.last)}.", "plain"  # fmt: skip
    if use.withdrawn:
        yield "Consent to what was told last is withdrawn: nothing may be claimed by it.", "warn"
    if use.best is not None:
        card = use.best.card
        if card.smallest_difference is not None:
            yield f"Two methods that differ by less than {card.smallest_difference:g} points of chrF++ cannot be told apart on these entries.", "quiet"  # fmt: skip
        if not use.policy.climbs:
            yield f"A new score is told where it beats the best one by more than {card.beat_by:.3g} of {short_title(card.headline)}. Until then the best is told again.", "quiet"  # fmt: skip
    if use.bits:
        yield f"All answers together tell {counted(use.bits, 'bit')} about the entries at most.", "quiet"  # fmt: skip
