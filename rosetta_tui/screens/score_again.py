"""Scoring a run again: with which metrics, what they need, what will work here, and how far it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Button, Static
from textual.worker import Worker, get_current_worker

from rosetta_tui import suggesting
from rosetta_tui.metric_words import by_reason, short_title
from rosetta_tui.run_draft import Value
from rosetta_tui.run_fields import FIELDS, PATHS
from rosetta_tui.text import plain, show, show_lines
from rosetta_tui.widgets.form_line import FormLine

if TYPE_CHECKING:
    from harness.rescoring_prospect import Prospect
    from harness.scoring_options import ScoringOptions

FORM = (
    "metrics",
    "analyser",
    "gloss_dictionary",
    "embeddings",
    "embeddings_model",
    "comet",
    "terms",
    "language_card",
    "multi_ref",
)
"""Fields of the form, as ``rosetta score`` names them."""

PAUSE = 0.4
"""Seconds without a key after which it is looked up what would work."""


@dataclass(frozen=True, slots=True)
class ScoredAgain:
    """What came of it."""

    run_id: str
    notes: tuple[str, ...]
    """What the person should know of the new run."""


class StoppedError(Exception):
    """The person stopped the scoring; nothing was stored yet."""


class ScoreAgainScreen(ModalScreen[ScoredAgain | None]):
    """Gives the new run; None where none was made. It stays open while the outputs are scored."""

    CSS_PATH: ClassVar = ["../styles/new_run.tcss", "../styles/score_again.tcss"]

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back"),
        Binding("ctrl+s", "score", "Score", priority=True),
    ]

    def __init__(self, path: Path, number: int, run: str, before: Mapping[str, Value]) -> None:
        super().__init__()
        self._path = path
        self._number = number
        self._run = run
        self._before = before
        """What the run was scored with, by field; fields without a value may be left away."""
        self._waiting: Timer | None = None
        self._scoring: Worker[None] | None = None
        self._wrong = False
        """Whether it is said that a field is wrong."""

    def compose(self) -> ComposeResult:
        """Lay out what will happen, the answers, what would work, and the fields."""
        with VerticalScroll(classes="dialog -wide"):
            yield Static(
                Content.assemble(
                    ("Score again\n", "bold"),
                    show(self._run, "$quiet"),
                    "\nNo method is called. The result is a new run that names this one.",
                )
            )
            with Horizontal(classes="answers -first"):
                yield Button(Content("Score (^s)"), id="score")
                yield Button(Content("Back (esc)"), id="leave")
            yield Static(id="said")
            for name in FORM:
                yield FormLine(FIELDS[name], self._before.get(name, ""), suggest=_suggest(name))
            yield Static("Looking up what would work …", id="prospect")

    def on_mount(self) -> None:
        """Begin at the answer: most often all that there is by now is wanted."""
        self.query_one("#score").focus()
        self.look()

    # What would work

    @on(FormLine.Changed)
    def _changed(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
        self._waiting = self.set_timer(PAUSE, self.look)

    def look(self) -> None:
        """Look up what would work with what the form says now."""
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        self._look(self._told)

    @property
    def _told(self) -> dict[str, Value]:
        """What is other than before; an emptied field means: none."""
        now = {line.field.name: line.value for line in self.query(FormLine)}
        return {name: now[name] for name in FORM if now[name] != self._before.get(name, "")}

    @work(thread=True, exclusive=True, group="prospect")
    def _look(self, told: Mapping[str, Value]) -> None:
        from corpora.problems import CorpusError
        from harness.failures import HarnessError
        from harness.rescoring_prospect import prospect
        from harness.store.database import opened
        from harness.store.runs import read_run

        try:
            with opened(self._path) as store:
                found = prospect(store, read_run(store, self._number), options_of(told))
            said, words = "", prospect_words(found)
        except (CorpusError, HarnessError) as error:
            said, words = _wrong(error), Content()
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._say_prospect, said, words)

    def _say_prospect(self, said: str, words: Content) -> None:
        if self.is_attached and self._scoring is None:
            self.query_one("#prospect", Static).update(words)
            if said or self._wrong:
                self._say(said, "$bad")
            self._wrong = bool(said)

    # Scoring

    @on(FormLine.Agreed)
    @on(Button.Pressed, "#score")
    def action_score(self) -> None:
        """Score the outputs with what the form says."""
        if self._scoring is None:
            self._say("Scoring …")
            self._scoring = self._score(self._told)

    @work(thread=True, group="scoring")
    def _score(self, told: Mapping[str, Value]) -> None:
        from corpora.problems import CorpusError
        from harness.failures import HarnessError
        from harness.rescoring import rescore
        from harness.store.database import opened
        from harness.store.runs import read_run

        worker, notes = get_current_worker(), list[str]()

        def tell(words: str) -> None:
            if worker.is_cancelled:
                raise StoppedError
            self.app.call_from_thread(self._say, f"Scoring: {words} …")

        try:
            with opened(self._path) as store:
                run = read_run(store, self._number)
                made = rescore(store, run, options_of(told), tell, notes.append)
        except StoppedError:
            self.app.call_from_thread(self._ended, "Stopped; no run was made.", "$quiet")
        except (CorpusError, HarnessError) as error:
            self.app.call_from_thread(self._ended, _wrong(error), "$bad")
        else:
            self.app.call_from_thread(self.dismiss, ScoredAgain(made, tuple(notes)))

    def _ended(self, words: str, style: str) -> None:
        self._scoring = None
        self._say(words, style)

    def _say(self, words: str, style: str = "$foreground") -> None:
        self.query_one("#said", Static).update(show_lines(words, style))

    @on(Button.Pressed, "#leave")
    def action_leave(self) -> None:
        """Go back; while the outputs are scored, stop that first."""
        if self._scoring is None:
            self.dismiss(None)
        else:
            self._scoring.cancel()
            self._say("Stopping …")


def _wrong(error: Exception) -> str:
    """Say with its own sign what is wrong; problems of a card or corpus begin with a word for that."""
    return f"✗ {str(error).removeprefix('error: ')}"


def _suggest(name: str) -> suggesting.Suggest | None:
    if name == "metrics":
        return suggesting.metrics
    return suggesting.paths if name in PATHS else None


def options_of(told: Mapping[str, Value]) -> ScoringOptions:
    """Read the fields that are told; UsageError says what is wrong with one of them."""
    from harness.scoring_options import ScoringOptions
    from rosetta_tui.commands.scoring import read_scoring_options

    given: dict[str, Any] = {}
    for name, value in told.items():
        if name == "multi_ref":
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


def fields_of(plan: Mapping[str, Any]) -> dict[str, Value]:
    """Give what a run's plan says of the fields, but for its metrics: it is to get all that there are."""
    scoring = plan.get("scoring", {})
    found = {name: scoring.get(name) for name in FORM if name != "metrics"}
    return {
        name: "yes" if value is True else plain(str(value))
        for name, value in found.items()
        if value
    }


def prospect_words(found: Prospect) -> Content:
    """Say which metrics come new, which are taken again, and why others are not."""
    lines = [
        _line("new", found.new, "nothing: what can be computed here the run has already"),
        _line("taken again", found.again, "none"),
    ]
    lines += [_why("stays as it was", *each) for each in by_reason(found.kept)]
    lines += [_why("not here", *each) for each in by_reason(found.off)]
    return Content("\n").join(lines)


def _line(label: str, metrics: Iterable[str], otherwise: str) -> Content:
    named = ", ".join(short_title(id_) for id_ in metrics)
    return Content.assemble((f"{label:<16}", "$quiet"), named or otherwise)


def _why(label: str, reason: str, metrics: str) -> Content:
    return Content.assemble((f"{label:<16}", "$quiet"), f"{metrics}: ", show(reason, "$quiet"))
