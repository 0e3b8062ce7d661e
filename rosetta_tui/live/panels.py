"""The panels of a live run: where one is, how far, what it costs, how fast, what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from textual.app import App
from textual.content import Content
from textual.screen import Screen

from corpora.text.messages import counted, percent
from harness.core.failures import RunState
from harness.method.method_names import submission_number
from harness.run.events import Progress
from harness.store.sqlite.openings import ScoringSoFar
from rosetta_tui.report.run import sentence
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.session.run_sources import resume_call
from rosetta_tui.show import figures
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import DetailLine, show
from rosetta_tui.toolkit.key_line import key_of
from rosetta_tui.toolkit.textual_inside import TerminalApp

_PRODUCT = "Rosetta   "
_TONES = {"running": "$mark", "complete": "$good", "failed": "$bad"}


class RunHeader(DetailLine):
    """One line at the top: what runs at the left, how it stands at the right."""

    def show_run(self, live: LiveRun, *, notes: str = "") -> None:
        """Show the run's name and state now, and what a person wrote next to it."""
        word = live.state_word
        progress = live.progress
        parts = [Content.styled(word, f"bold {_TONES.get(word, '$warn')}")]
        if progress is not None:
            parts.append(Content.styled(f" {figures.clock(progress.elapsed_seconds)}", ""))
            if progress.doing is not None and not live.over:
                parts.append(Content.styled(f" · {plain(progress.doing)}", "$quiet"))
            elif live.next_try is not None and not live.over:
                when = figures.clock(live.next_try)
                parts.append(Content.styled(f" · next try in {when}", "$warn"))
            elif live.state_word == RunState.RUNNING and progress.eta_seconds is not None:
                parts.append(Content.styled(f" · eta {figures.clock(progress.eta_seconds)}", "$quiet"))
        left, right = _name(live), Content("").join(parts)
        if notes:
            left = Content.assemble(left, "   ", show(notes, "$quiet"))
        room = self.size.width - right.cell_length - 1
        if left.cell_length + len(_PRODUCT) <= room:
            left = Content.assemble((_PRODUCT, "bold $mark"), left)
        left = left.truncate(max(0, room), ellipsis=True, pad=True)
        self.tell(Content.assemble(left, " ", right))


def _name(live: LiveRun) -> Content:
    started = live.started
    if started is None:
        words = "The run could not begin" if live.failed else "Preparing: texts and metrics are read …"
        return Content.styled(words, "$quiet")
    setup, dataset = started.setup, started.dataset
    rest = [dataset.language_pair, *dict.fromkeys((setup.method, setup.model_slug, setup.condition))]
    parts = [show(dataset.id, "bold"), *(show(part) for part in rest if part)]
    return Content.styled(" · ", "$quiet").join(parts)


class CostPanel(DetailLine):
    def show_run(self, live: LiveRun, *, compact: bool) -> None:
        """Show what the run costs now."""
        title = None if compact else "Cost"
        if live.progress is None:
            self.tell(Content(""), title)
            return
        if live.progress.scoring is None:
            more = 0.0 if live.over else live.progress.expected_cost_usd
            expected = Content.styled(f"expected {figures.money(more)}" if more else "", "$quiet")
            lines = [_so_far(live.progress), expected, _tokens(live.progress)]
        else:
            lines = [*_judged(live.progress, live.progress.scoring), _tokens(live.progress)]
        shown = [line for line in lines if line.plain]
        self.tell(Content("   ").join(shown) if compact else Content("\n").join(shown[:3]), title)


def _so_far(progress: Progress) -> Content:
    if progress.cost_usd == 0 and progress.done == progress.failed and not progress.spent_usd:
        # That nothing was charged yet, which does not make a run free.
        nothing = (
            "nothing spent yet"
            if progress.budget_usd is None
            else f"none of {figures.money(progress.budget_usd)} spent yet"
        )
        return Content.styled(nothing, "$quiet")
    cost = figures.cost(progress.cost_usd, progress.known_cost_usd)
    parts = Content.assemble((cost, "bold"))
    if progress.cost_usd is None and not progress.known_cost_usd:
        parts = parts.append(Content.styled(" price", "$quiet"))
    if progress.budget_usd is None:
        return parts
    differs = progress.cost_usd is None or abs(progress.cost_usd - progress.spent_usd) > 0.00005
    paid = f" · paid {figures.money(progress.spent_usd)}" if differs else ""
    return Content.assemble(
        parts, (f"{paid} of {figures.money(progress.budget_usd)} budget", "$warn" if _near(progress) else "$quiet")
    )


def _judged(progress: Progress, scoring: ScoringSoFar) -> Iterator[Content]:
    """Yield what the run paid of its budget, and apart what the outputs cost and what asking judges about them."""
    outputs = figures.cost(progress.cost_usd, progress.known_cost_usd)
    if progress.budget_usd is None:
        yield _so_far(progress)
    else:
        of = f" of {figures.money(progress.budget_usd)}"
        tone = "$warn" if _near(progress) else "$quiet"
        yield Content.assemble(("paid ", "$quiet"), (figures.money(progress.spent_usd), "bold"), (of, tone))
        yield Content.assemble(("outputs ", "$quiet"), outputs)
    cost = figures.cost(scoring.cost_usd, scoring.known_cost_usd)
    yield Content.assemble(("scoring ", "$quiet"), cost)


def _near(progress: Progress) -> bool:
    """Return whether the budget is nearly spent."""
    return progress.budget_usd is not None and progress.spent_usd >= 0.9 * progress.budget_usd


def _tokens(progress: Progress) -> Content:
    if progress.tokens is None:
        return Content.styled("tokens unknown", "$quiet")
    least = "at least " if progress.tokens_untold else ""
    return Content.styled(f"{least}{counted(progress.tokens, 'token')}", "$quiet")


class RunBanner(DetailLine):
    """Hidden until there is something to say."""

    def show_run(self, live: LiveRun) -> None:
        """Show how the run ended, and what next."""
        words = banner_words(live, key_of(self.screen, "end('resume')") if live.over else "")
        wide = self.screen.size.width >= WIDE
        parts = [] if words is None or _told_by_counts(self.screen, live) else [words]
        if live.complete and live.looks:
            looks = [show(look) for look in live.looks[: None if wide else _NARROW_LOOKS]]
            looked = Content.styled(" · ", "$quiet").join(looks)
            parts.append(Content.assemble(("Look first  ", "bold $mark"), looked))
        # The line of reasons would say the same again
        self.screen.set_class(live.complete and bool(live.looks), "-looked")
        words = Content("\n").join(parts) if parts else None
        self.display = words is not None
        if words is not None:
            self.set_class(live.failed is not None, "-failed")
            self.tell(words)


def banner_words(live: LiveRun, key: str = "") -> Content | None:
    """Return what to say about a run that is over or draining, else None; ``key`` lets it continue from here."""
    setup = live.started.setup if live.started else None
    number = "" if setup is None else submission_number(setup.method, setup.method_sha256)
    key = "" if number else key
    if live.failed is not None:
        return Content.assemble(
            ("The run stopped. ", "bold $bad"),
            "What is done is stored. ",
            _go_on(key, resume_call(live.failed.run_id, live.errors, number)),
            "\n",
            show(live.failed.message),
        )
    if live.draining:
        return Content.assemble(
            ("Draining. ", "bold $warn"),
            "No further entry is begun. What is under way is finished, then the run stops; it can continue later.",
        )
    if live.finished is None:
        return None if live.trouble is None else _trouble_words(live, live.trouble)
    if live.complete:
        return Content.assemble(
            ("Complete. ", "bold $good"),
            "The run card is sealed: ",
            show(f"rosetta runs show {live.finished.run_id[:8]}", "bold"),
        )
    end = live.finished
    return Content.assemble(
        ("Stopped. ", "bold $warn"),
        show(f"{sentence(end.reason)} " if end.reason else ""),
        "Nothing is lost. ",
        _go_on(key, resume_call(end.run_id, end.failed, number, more_money=end.budget_reached)),
    )


_TROUBLES = {
    "429": ("asks for fewer calls", "The run asks more slowly; fewer calls at once (c) may help."),
    "timeout": ("does not answer in time", "Fewer calls at once (c) or a longer --timeout may help."),
    "connection": ("cannot be reached", "Check that it runs, and the network."),
    "server": ("reports a server error", "Its log says more."),
    "": ("sends no usable answer", "Its log says more."),
}
"""What an endpoint does, and what to do, by the reason of a try; a status from 500 on is `server`."""


def _trouble_words(live: LiveRun, reason: str) -> Content:
    """Return what the endpoint does while most calls fail, and what to do."""
    name = live.started.setup.provider if live.started else None
    kind = "server" if reason.isdecimal() and int(reason) >= 500 else reason
    does, hint = _TROUBLES.get(kind, _TROUBLES[""])
    tries = f": {counted(live.retrying, 'entry waits', 'entries wait')} for another try" if live.retrying else ""
    return Content.assemble(show(f"{name or 'The endpoint'} {does}", "bold $warn"), show(f" ({reason}){tries}. {hint}"))


def _go_on(key: str, call: str) -> Content:
    here = Content.assemble((key, "bold"), " continues here, or ") if key else Content("Continue with: ")
    return here + show(call, "bold")


def _told_by_counts(screen: Screen[Any], live: LiveRun) -> bool:
    """Return whether the line of counts says that the run is complete, in place of a bar that is full."""
    return live.complete and screen.size.width >= WIDE


WIDE = 100  # cells of a screen that has room for that
_NARROW_LOOKS = 2  # things to look at first that a narrower one names
LEAST_BAR = 10  # below this the bar is left out and the share alone stands


class CountLine(DetailLine):
    """Counts by state with the symbols of the table, and the share done."""

    def show_run(self, live: LiveRun, *, notes: str = "") -> None:
        """Show the counts now; ``notes`` says how the table is narrowed."""
        parts = [
            ("✓", live.done - live.errors, "done", "$good"),
            ("✗", live.errors, "failed", "$bad" if live.errors else "$quiet"),
            ("↻", live.retrying, "retrying", "$warn" if live.retrying else "$quiet"),
            ("●", live.asked, "asked", "$mark"),
            ("…", live.queued, "waiting", "$quiet"),
        ]
        shown = [p for p in parts if not live.over or p[1] or p[2] in {"done", "failed"}]
        counts = Content("  ").join(
            [Content.assemble((f"{s} {figures.count(n)}", tone), (f" {word}", "$quiet")) for s, n, word, tone in shown]
        )
        if _told_by_counts(self.screen, live):
            end = banner_words(live) or Content("")
            self.tell(Content.assemble(counts, "   ", end, Content.styled(f"   {notes}" if notes else "", "$mark")))
            return
        share = live.done / live.total if live.total else 0.0
        tail = f" {percent(share):>5}"
        note = Content.styled(f"   {notes}" if notes else "", "$mark")
        room = self.size.width - counts.cell_length - note.cell_length - len(tail) - 3
        bar = figures.progress_bar(share, min(40, room)) if room >= LEAST_BAR else ""
        self.tell(Content.assemble(counts, note, "   ", (bar, "$mark"), tail))


FAST = 6_000  # entries a minute from which on their number a second is shown: the panel has no room for more digits
BARS = 14  # slices of the last minute that are drawn


class SpeedPanel(DetailLine):
    """Rate, latency, calls under way and what the endpoint refuses."""

    def show_run(self, live: LiveRun, *, compact: bool) -> None:
        """Show the run's speed now."""
        title = None if compact else "Speed"
        if live.progress is None:
            self.tell(Content(""), title)
            return
        # Answers were made at another time where the rate is more than their latencies allow.
        elsewhere = live.started is not None and live.started.setup.outputs_sha256 is not None
        per_minute, middle, p95 = live.progress.per_minute, live.progress.p50_seconds, live.progress.p95_seconds
        faster = (
            per_minute is not None
            and middle is not None
            and per_minute / 60 * middle > 2 * live.progress.most_concurrency
        )
        limited = sum(waiting.reason == "429" for waiting in live.progress.waiting)
        waiting = Content.styled(f"{limited} waiting (429)" if limited and not live.over else "", "$warn")
        is_fast = (per_minute or 0) >= FAST
        many = figures.number((per_minute or 0) / 60 if is_fast else per_minute, 0)
        rate = Content.assemble(
            (f"{many}/{'s' if is_fast else 'min'}", "bold"),
            *(() if middle is None else (("  p50 ", "$quiet"), f"{figures.seconds(middle)} s")),
            *(() if p95 is None else (("  p95 ", "$quiet"), f"{figures.seconds(p95)} s")),
        )
        recorded = Content.styled("as recorded" if elsewhere and faster else "", "$quiet")
        lines = [rate, _calls(live.progress, live, compact=compact), waiting.append(recorded)]
        if not compact and not live.over:
            spark = figures.sparkline(live.rates(BARS), BARS)
            lines[2] = Content.assemble((spark, "$mark"), "  " if spark else "", lines[2])
        self.tell(Content("  " if compact else "\n").join([line for line in lines if line.plain]), title)


def _calls(progress: Progress, live: LiveRun, *, compact: bool) -> Content:
    if live.over:
        refused = f"{figures.count(progress.rate_limited)} × 429"
        return Content.styled(f"{refused} · {counted(progress.retries, 'retry', 'retries')}", "$quiet")
    limit = f" · limit {progress.concurrency}"
    limit += "" if compact else f" of {progress.most_concurrency}"
    return Content.assemble(f"{live.asked} in flight", (limit, "$quiet"))


def notify_terminal(app: App[Any], run_id: str, live: LiveRun) -> None:
    """Show around the screen how far a run is, and call the person at its end."""
    if isinstance(app, TerminalApp) and live.over:
        app.notices.over(run_id, live.finished)
    elif isinstance(app, TerminalApp) and live.total:
        app.notices.progress(run_id, live.done, live.total, live.errors)
