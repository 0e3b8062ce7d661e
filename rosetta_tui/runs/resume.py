"""Resuming a run that stopped, asking again for its failed entries, and scoring a run again."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Button, Checkbox, Input, Label, Static
from textual.worker import get_current_worker

from corpora.text.messages import counted
from harness.core.failures import UsageError
from harness.method.option_table import OPTIONS, SCORING, OptionKind, asks
from harness.run.final_scores import unconnected_words
from harness.run.rescoring import prospect, rescore
from harness.setup.plan import Plan, Resumption
from harness.setup.scoring_options import ScoringOptions
from harness.store.runs import read_run
from rosetta_tui.request import suggesting
from rosetta_tui.request.draft import Value
from rosetta_tui.request.fields import FIELDS, PATHS, beside_field
from rosetta_tui.request.options import read_scoring_options
from rosetta_tui.show import figures
from rosetta_tui.show.figures import by_reason
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import AnsweringScreen, background, bring
from rosetta_tui.toolkit.content import show, show_lines
from rosetta_tui.toolkit.dialogs.choose import answers
from rosetta_tui.toolkit.form.form_line import FormLine
from scoring.core.inventory import short_title

NOT_A_NUMBER = "A budget is a number above 0, such as 0.45."
NO_LIMIT = "Empty is no limit: it may cost anything. Enter once more continues so."


@dataclass(frozen=True, slots=True)
class Stop:
    run_id: str
    name: str
    waiting: int  # entries that were not asked for, or not to the end
    failed: int
    budget_usd: float | None
    spent_usd: float
    reason: str = ""  # why it stopped, where that is known
    unconnected: int = 0  # of the failed entries those that failed because there is no connection

    @property
    def asks(self) -> bool:
        """Return whether there is anything to ask a person before it continues."""
        return self.failed > 0 or self.budget_usd is not None


class GoOnScreen(ModalScreen[Resumption | None]):
    """Gives how the run continues; None where it does not."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back")]

    def __init__(self, stop: Stop) -> None:
        super().__init__()
        self._stop = stop
        self._no_limit = False  # true once it was said that an empty budget is none at all

    def compose(self) -> ComposeResult:
        stop = self._stop
        with VerticalScroll(classes="dialog"):
            waiting = counted(stop.waiting, "entry waits", "entries wait")
            parts: list[Content | str | tuple[str, str]] = [
                ("Continue with this run?\n", "bold"),
                show(stop.name, "$quiet"),
                "\n\n",
            ]
            if stop.reason:
                parts += [show(stop.reason, "$warn"), "\n"]
            parts.append(f"{waiting}. No answer that is stored is asked for again.")
            if stop.unconnected:
                parts.append(f"\n{unconnected_words(stop.unconnected)} where they are not asked for again.")
            if stop.budget_usd is not None:
                spent = figures.money(stop.spent_usd) if stop.spent_usd else "Nothing"
                parts.append(
                    f"\n{spent} of the budget of {figures.money(stop.budget_usd)} is spent. A run stops before a "
                    "call that could pass its budget: raise it here; empty is no limit."
                )
            yield Static(Content.assemble(*parts, "\n"))
            if stop.failed:
                many = "failed entry" if stop.failed == 1 else f"{figures.count(stop.failed)} failed entries"
                yield Checkbox(Content(f"ask again for the {many} too"), True, id="failed", compact=True)
            if stop.budget_usd is not None:
                with Horizontal(classes="setting"):
                    yield Label(Content("budget in US dollars"))
                    yield Input(_shown(stop.budget_usd), id="budget", compact=True)
                yield Static(Content(""), id="wrong")
            yield from answers("Continue (enter)", "go")

    def on_mount(self) -> None:
        self.query_one("#budget" if self._stop.budget_usd is not None else "#go").focus()

    @on(Button.Pressed, "#go")
    @on(Input.Submitted)
    def _go(self) -> None:
        options: dict[str, float | None] = {}
        if self._stop.budget_usd is not None:
            typed = self.query_one("#budget", Input).value.strip()
            budget = amount(typed)
            if budget is None and (typed or not self._no_limit):
                self._no_limit = not typed
                self._say(NOT_A_NUMBER if typed else NO_LIMIT)
                return
            if typed != _shown(self._stop.budget_usd):
                options["budget_usd"] = budget
        failed = bool(self._stop.failed) and self.query_one("#failed", Checkbox).value
        resumption = Resumption(options, failed)
        self.dismiss(resumption.answered(again=failed) if self._stop.unconnected else resumption)

    @on(Input.Changed, "#budget")
    def _typed(self) -> None:
        """Clear what was said of another value."""
        self._no_limit = False
        self._say("")

    def _say(self, words: str) -> None:
        self.query_one("#wrong", Static).update(Content.styled(words, "$bad"))

    @on(Button.Pressed, "#back")
    def action_leave(self) -> None:
        self.dismiss(None)


def _shown(budget: float) -> str:
    return f"{budget:g}" if float(f"{budget:g}") == budget else repr(budget)


def amount(typed: str) -> float | None:
    """Read a sum of money above 0, None where it is none."""
    if not re.fullmatch(r"[0-9]*\.?[0-9]+", typed, re.ASCII):
        return None
    value = float(typed)
    return value if 0 < value < float("inf") else None


SETTINGS = {
    "model": "model",
    "endpoint": "endpoint",
    "temperature": "temperature",
    "max_tokens": "most output tokens",
    "timeout_seconds": "seconds for a call",
    "most_attempts": "tries of an entry",
    "concurrency": "calls at once",
    "budget_usd": "budget in US dollars",
}
"""Fields of the plan that can be told otherwise here, in words; ``rosetta retry`` takes the others too."""

SAME_AGAIN = "\n\nIts method asks nobody: what comes is the same again, unless the file that it reads was changed."


def settings_of(plan: Plan) -> dict[str, str]:
    """Return the settings of a run's plan as they are in the form; none for a method that asks nobody."""
    if not asks(plan.method):
        return {}
    fields = {**dict(plan.options), **dict(plan.run)}
    given = {name: fields.get(name) for name in SETTINGS}
    return {
        name: "" if value is None else f"{value:.12g}" if isinstance(value, float) else f"{value}"
        for name, value in given.items()
    }


Check = Callable[[Mapping[str, str | None]], object]  # checks the changes; raises UsageError


class RetryScreen(ModalScreen[dict[str, str | None] | None]):
    """Gives what is to be other than before, by field of the plan; None where nothing is to be asked."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back")]

    def __init__(self, run: str, failed: int, kept: int, before: Mapping[str, str], check: Check) -> None:
        super().__init__()
        self._check, self._run, self._failed, self._kept = check, run, failed, kept
        self._before = {name: plain(value) for name, value in before.items()}

    def compose(self) -> ComposeResult:
        entries = "entry" if self._failed == 1 else "entries"
        with VerticalScroll(classes="dialog"):
            yield Static(
                Content.assemble(
                    (f"Ask again for {figures.count(self._failed)} failed {entries}\n", "bold"),
                    show(self._run, "$quiet"),
                    f"\n\nA new run, marked as a second try, keeps {figures.count(self._kept)} other outputs.",
                    "" if self._before else SAME_AGAIN,
                )
            )
            yield from answers("Ask again (enter)", "ask", first=True)
            yield Static(id="said")
            for name in self._before:
                with Horizontal(classes="setting"):
                    yield Label(Content(SETTINGS[name]))
                    yield Input(self._before[name], id=name, compact=True)

    def on_mount(self) -> None:
        self.query_one("#said").display = False
        self.query_one("#ask").focus()

    @property
    def changes(self) -> dict[str, str | None]:
        """Return what is other than before; an emptied field means: none."""
        now = {name: self.query_one(f"#{name}", Input).value.strip() for name in self._before}
        return {name: value or None for name, value in now.items() if value != self._before[name]}

    @on(Input.Changed)
    def _typed(self) -> None:
        """Clear what was said of another value."""
        self.query_one("#said").display = False

    @on(Button.Pressed, "#ask")
    @on(Input.Submitted)
    def _ask(self) -> None:
        """Continue; what cannot be is said here, where it can be mended."""
        changes = self.changes
        try:
            self._check(changes)
        except UsageError as error:
            static = self.query_one("#said", Static)
            static.display = True
            # Name a setting as the form does.
            words = str(error)
            name = words.removeprefix("Options: field '").partition("'")[0].partition(".")[0]
            beside = f"{SETTINGS[name]}: {beside_field(words)}" if name in SETTINGS else words
            static.update(show(beside, "$warn"))
        else:
            self.dismiss(changes)

    @on(Button.Pressed, "#back")
    def action_leave(self) -> None:
        self.dismiss(None)


# ---- Scoring a run again: with which metrics, what they need, what will work here, and how far it is ----

FORM = tuple(name for name in SCORING.names if name != "scoring")
"""Fields of the form, in the table's order; weights of one's own are chosen by the command alone."""

PAUSE = 0.4  # seconds without a key after which it is looked up what would work


@dataclass(frozen=True, slots=True)
class ScoredAgain:
    run_id: str
    notes: Sequence[str]  # what the person should know of the new run


class StoppedError(Exception):
    """The person stopped the scoring; nothing was stored yet."""


class ScoreAgainScreen(AnsweringScreen[ScoredAgain | None]):
    """Gives the new run; None where none was made. It stays open while the outputs are scored."""

    CSS_PATH: ClassVar = ["../toolkit/form/form.tcss", "score_again.tcss"]

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back"),
        Binding("ctrl+s", "score", "Score", priority=True),
    ]

    def __init__(self, path: Path, number: int, run: str, before: Mapping[str, Value]) -> None:
        super().__init__()
        self._path, self._number, self._run = path, number, run
        self._before = before  # what it was scored with, by field; empty fields may lack
        self._waiting: Timer | None = None
        self._scoring = self._stopping = False
        self._wrong = False  # whether it is said that a field is wrong

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog -wide"):
            yield Static(
                Content.assemble(
                    ("Score again\n", "bold"),
                    show(self._run, "$quiet"),
                    "\nNo method is called. The result is a new run that names this one.",
                )
            )
            yield from answers("Score (^s)", "score", "leave", first=True)
            yield Static(id="said")
            for name in FORM:
                suggest = suggesting.metrics if name == "metrics" else suggesting.paths if name in PATHS else None
                yield FormLine(FIELDS[name], self._before.get(name, ""), suggest=suggest)
            yield Static("Looking up what would work …", id="prospect")

    def on_mount(self) -> None:
        self.query_one("#score").focus()
        self.look()

    # What would work

    @on(FormLine.Changed)
    def _changed(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
        self._waiting = self.set_timer(PAUSE, self.look)

    def look(self) -> None:
        """Find what would work with what the form says now."""
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        options = self._told

        def read(store: sqlite3.Connection) -> Content:
            # Which metrics come new, which are taken again, and why others are not.
            forecast = prospect(store, read_run(store, self._number), options_of(options))
            lines = [
                _line("new", forecast.new, "nothing: what can be computed here the run has already"),
                _line("taken again", forecast.again, "none"),
                *(_why("stays as it was", *group) for group in by_reason(forecast.kept)),
                *(_why("not here", *group) for group in by_reason(forecast.off)),
            ]
            return Content("\n").join(lines)

        def cannot(why: str) -> None:
            self._expect(Content(), _wrong(why))

        background(self, self._path, "prospect", read, self._expect, cannot)

    @property
    def _told(self) -> dict[str, Value]:
        """Return what is other than before; an emptied field means: none."""
        now = {line.field.name: line.value for line in self.query(FormLine)}
        return {name: now[name] for name in FORM if now[name] != self._before.get(name, "")}

    def _expect(self, words: Content, wrong: str = "") -> None:
        if not self._scoring:
            self.query_one("#prospect", Static).update(words)
            if wrong or self._wrong:
                self._say(wrong, "$bad")
            self._wrong = bool(wrong)

    # Scoring

    @on(FormLine.Agreed)
    @on(Button.Pressed, "#score")
    def action_score(self) -> None:
        if not self._scoring:
            self._scoring, self._stopping = True, False
            self._say("Scoring …")
            score = partial(self._score, self._told)

            def scored(made: ScoredAgain | None) -> None:
                if made is None:
                    self._ended("Stopped; no run was made.", "$quiet")
                else:
                    self.answer(made)

            background(self, self._path, "scoring", score, scored, lambda why: self._ended(_wrong(why), "$bad"))

    def _score(self, told: Mapping[str, Value], store: sqlite3.Connection) -> ScoredAgain | None:
        """Return the new run; None where the person stopped it."""
        worker, notes = get_current_worker(), list[str]()

        def tell(words: str) -> None:
            if self._stopping or worker.is_cancelled:
                raise StoppedError
            bring(self, self._say, f"Scoring: {words} …")

        try:
            run = read_run(store, self._number)
            return ScoredAgain(rescore(store, run, options_of(told), tell, notes.append), notes)
        except StoppedError:
            return None

    def _ended(self, words: str, style: str) -> None:
        self._scoring = False
        self._say(words, style)

    def _say(self, words: str, style: str = "$foreground") -> None:
        self.query_one("#said", Static).update(show_lines(words, style))

    @on(Button.Pressed, "#leave")
    def action_leave(self) -> None:
        if self._scoring:
            self._stopping = True
            self._say("Stopping …")
        else:
            self.dismiss(None)


def _wrong(why: str) -> str:
    """Return with its own sign what is wrong; problems of a card or corpus begin with a word for that."""
    return f"✗ {why.removeprefix('error: ')}"


def options_of(told: Mapping[str, Value]) -> ScoringOptions:
    """Read the fields that are given; UsageError says what is wrong with one of them."""
    given: dict[str, Value | Path | bool | None] = {}
    for name, value in told.items():
        if OPTIONS[name].kind is OptionKind.SWITCH:
            given[name] = bool(value)
        elif name in PATHS - {"embeddings"}:
            given[name] = Path(str(value)) if value else None
        else:
            given[name] = value or None
    emptied = {name: None for name, value in given.items() if value is None and name != "metrics"}
    options = read_scoring_options(given)
    return ScoringOptions.model_validate(
        {**{name: getattr(options, name) for name in options.model_fields_set}, **emptied}
    )


def fields_of(scoring: ScoringOptions) -> dict[str, Value]:
    """Return a run's options in the fields, but for its metrics: it is to get all that there are."""
    values = {name: getattr(scoring, name) for name in FORM if name != "metrics"}
    return {name: "yes" if value is True else plain(str(value)) for name, value in values.items() if value}


def _line(label: str, metrics: Iterable[str], otherwise: str) -> Content:
    named = ", ".join(short_title(id_) for id_ in metrics)
    return Content.assemble((f"{label:<16}", "$quiet"), named or otherwise)


def _why(label: str, reason: str, metrics: str) -> Content:
    return Content.assemble((f"{label:<16}", "$quiet"), f"{metrics}: ", show(reason, "$quiet"))
