"""Scoring a run again: with which metrics, what they need, what will work here, and how far it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Button, Static
from textual.worker import get_current_worker

from harness.method.option_table import OPTIONS, SCORING, OptionKind
from harness.run.rescoring import prospect, rescore
from harness.setup.scoring_options import ScoringOptions
from harness.store.runs import read_run
from rosetta_tui.request import suggesting
from rosetta_tui.request.draft import Value
from rosetta_tui.request.fields import FIELDS, PATHS
from rosetta_tui.request.options import read_scoring_options
from rosetta_tui.show.figures import by_reason
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import AnsweringScreen, background, bring
from rosetta_tui.toolkit.content import show, show_lines
from rosetta_tui.toolkit.dialogs.choose import answers
from rosetta_tui.toolkit.form.form_line import FormLine
from scoring.core.inventory import short_title

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
