"""What screens tell the app. Each is past tense: it says what a person did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from textual.message import Message

if TYPE_CHECKING:
    from pathlib import Path

    from harness.setup.plan import PlanChanges
    from rosetta_tui.request.draft import RunDraft
    from rosetta_tui.session.engine import Engine
    from rosetta_tui.show.columns import Records, ShownRecords


@dataclass
class RunChosen(Message):
    run_id: str
    complete: bool  # true where the run has a sealed card and nothing will happen to it any more


@dataclass
class RunWentOn(Message):
    """A run that stood here as stopped continues, or came to its end: it is to be shown as it is now."""

    run_id: str
    complete: bool


@dataclass
class RunsCompared(Message):
    run_ids: tuple[str, ...]  # two to six in order; differences are seen from the first


@dataclass
class RunsPlotted(Message):
    run_ids: tuple[str, ...]


@dataclass
class NewRunAsked(Message):
    draft: RunDraft | None = None  # what is in it already; None: the form is empty


@dataclass
class RunBegun(Message):
    """A form was filled in and agreed to: the run is to begin."""

    draft: RunDraft


@dataclass
class RunPrepared(Message):
    """A run that a screen prepared itself is to begin."""

    what: str  # what it is called, as the beginning of a sentence
    begin: Callable[[Path], Engine]  # makes it ready in the store at a path, in a thread


@dataclass
class RunResumed(Message):
    """A run that was cut is to continue."""

    run_id: str
    options: PlanChanges = field(default_factory=dict)
    retry_failed: bool = False  # whether entries that failed are asked for again too


@dataclass
class RunRetried(Message):
    run_id: str
    changes: PlanChanges


@dataclass
class BenchAsked(Message):
    """Entries of a run are to be asked again in another way."""

    run_id: str
    places: list[int]  # in the corpus
    worst: bool = False  # whether only the worst of them are meant


@dataclass
class CorpusChosen(Message):
    sha256: str


@dataclass
class PlaceChosen(Message):
    """A screen that stands for itself is to be opened."""

    name: str  # its name in `rosetta_tui.toolkit.places.places()`


@dataclass
class Copied(Message):
    """A text is to go to the clipboard; the app refuses too much of it, and says what it did."""

    text: str
    what: str  # beginning of a sentence, such as `Output`
    cleared: bool = False  # true where texts of secret segments were left out of it already


@dataclass
class ExportAsked(Message):
    """Rows are to be written to a file, in the order and selection in which they are shown."""

    records: Records
    name: str  # beginning of the name that is proposed for the file
    cleared: bool = False  # true where texts of secret segments are left out of the records
    page: ShownRecords | None = None  # the rows for a page that people read; None: the records


@dataclass
class ReportAsked(Message):
    """A page is to be written of what a screen shows."""

    of: Literal["run", "sweep", "leaderboard"]
    name: str  # id of the run or sweep; of the leaderboard what it is sorted by
    file: str  # name that is proposed for the file, without its ending
    best: bool = False  # of the leaderboard: only the best run of each set-up


class DemoAsked(Message):
    """The bundled demo is to be run."""


@dataclass
class PaneToggled(Message):
    """A person opened or closed the pane of the entry under the cursor, for all screens from now on."""

    opened: bool


@dataclass
class ColumnsChosen(Message):
    """A person chose the columns of a table, for all of its kind from now on."""

    kind: str  # "" for the entries of runs
    columns: str  # words as the settings have them: +ter -tokens, those of other kinds such as -runs.cost


class BackRequested(Message):
    """The person wants to go back from the screen that says so."""
