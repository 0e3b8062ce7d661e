"""Home: all runs, what came out of them, and what to do first."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Static

from rosetta_tui import figures
from rosetta_tui.messages import DemoAsked, Left, RunChosen
from rosetta_tui.run_rows import COLUMNS, UNDER_WAY, RunRows, run_words
from rosetta_tui.screens.confirm import ConfirmScreen
from rosetta_tui.text import show
from rosetta_tui.widgets.empty_state import EmptyState
from rosetta_tui.widgets.result_table import ResultTable

if TYPE_CHECKING:
    from harness.store.runs import RunSummary

REFRESH_SECONDS = 2.0
"""How often the list is read again, so that runs of other processes are seen moving."""


class HomeScreen(Screen[None]):
    """The list of runs; reads the store in a thread, so that the first frame waits for nothing."""

    TITLE = "Runs"
    HELP = (
        "▶ running   ‖ paused   ■ stopped, can be resumed   ✓ complete\n"
        "A run is never called more than functional before speakers have reviewed it."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d,D", "demo", "Demo", key_display="D"),
        Binding("v", "review", "Review"),
        Binding("delete,backspace", "delete", "Delete", key_display="del"),
        Binding("o", "reviews", "Organise"),
        Binding("r", "read", "Refresh"),
        Binding("q", "leave", "Quit"),
    ]

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._runs: list[RunSummary] | None = None
        self._back = False
        """True from coming back until the list is read: a run begun meanwhile gets the cursor."""

    def compose(self) -> ComposeResult:
        """Lay out where am I, the runs, and the keys."""
        yield Static(id="where")
        yield EmptyState()
        yield ResultTable(COLUMNS, id="runs")
        yield Static(id="chosen")
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Read the runs, now and again."""
        self.query_one(EmptyState).display = False
        self.query_one("#chosen").display = False
        self.query_one("#where", Static).update(Content.styled("Rosetta", "bold $mark"))
        self.table.focus()
        self.set_interval(REFRESH_SECONDS, self.action_read)
        self.call_after_refresh(self.action_read)

    def on_screen_resume(self) -> None:
        """Read the runs again when coming back."""
        if self._runs is not None:
            self._back = True
            self.action_read()

    @property
    def table(self) -> ResultTable:
        """The runs."""
        return self.query_one("#runs", ResultTable)

    @property
    def chosen(self) -> RunSummary | None:
        """The run under the cursor."""
        return self._runs[self.table.cursor] if self._runs else None

    def action_read(self) -> None:
        """Read the list again."""
        if self.is_current or self._runs is None:
            self._read()

    @work(thread=True, exclusive=True, group="runs")
    def _read(self) -> None:
        from harness.failures import StoreError
        from harness.store.database import open_store
        from harness.store.runs import list_runs
        from rosetta_tui.run_facts import runs_now

        try:
            with closing(open_store(self._path)) as store:
                runs = runs_now(list_runs(store))
        except StoreError as error:
            self.app.call_from_thread(self._cannot, str(error))
        else:
            self.app.call_from_thread(self._show, runs)

    def _cannot(self, why: str) -> None:
        self.query_one("#where", Static).update(show(why, "$bad"))

    def _show(self, runs: list[RunSummary]) -> None:
        back, self._back = self._back, False
        if runs == self._runs:
            return
        here, known = self.chosen, {run.run_id for run in self._runs or ()}
        if back and runs and runs[0].run_id not in known:
            here = runs[0]
        self._runs = runs
        rows = RunRows(runs)
        self.table.show_rows(rows, None if here is None else rows.find(here.run_id))
        self.query_one(EmptyState).display = not runs
        self.table.display = bool(runs)
        if runs and not self.focused:
            self.table.focus()
        self._title(runs)
        self._moved()

    @on(ResultTable.Moved)
    def _moved(self) -> None:
        line = self.query_one("#chosen", Static)
        line.display = self.chosen is not None
        if self.chosen is not None:
            name, numbers = run_words(self.chosen)
            line.update(Content.assemble(show(name, "$quiet"), "\n", show(numbers)))

    def _title(self, runs: list[RunSummary]) -> None:
        going = sum(run.state in UNDER_WAY for run in runs)
        counts = f"   {figures.count(len(runs))} runs" if len(runs) != 1 else "   1 run"
        self.query_one("#where", Static).update(
            Content.assemble(
                ("Rosetta", "bold $mark"),
                (counts if runs else "", "$quiet"),
                (f" · {going} under way" if going else "", "$mark"),
            )
        )

    @on(ResultTable.Chosen)
    def _open(self) -> None:
        run = self.chosen
        if run is not None:
            self.post_message(RunChosen(run.run_id, run.state == "complete"))

    def action_demo(self) -> None:
        """Run the bundled demo."""
        self.post_message(DemoAsked())

    def action_review(self) -> None:
        """Rate sentences of a review batch, as a speaker does."""
        from rosetta_tui.review.sit import sit_from_home

        self.app.run_worker(
            sit_from_home(self.app, self._path.parent), group="review", exclusive=True
        )

    def action_reviews(self) -> None:
        """Open the reviews that this installation organises."""
        from rosetta_tui.review.organiser.desk import Desk
        from rosetta_tui.review.organiser.reviews import ReviewsScreen

        self.app.push_screen(ReviewsScreen(Desk(self._path.parent, self._path)))

    def action_leave(self) -> None:
        """Quit."""
        self.post_message(Left())

    def action_delete(self) -> None:
        """Delete the run under the cursor, after a question."""
        run = self.chosen
        if run is None:
            return
        if run.state in UNDER_WAY:
            self.notify("This run is under way. Stop it first.", severity="warning", markup=False)
            return

        def answered(agreed: bool | None) -> None:
            if agreed:
                self._delete(run.number)

        question = Content.assemble(
            ("Delete this run for good?\n\n", "bold"),
            show(
                f"{run.dataset_id} · {run.method} · {run.model_slug} · {run.condition}\n".rstrip(
                    "\n"
                )
            ),
            f"\n{figures.count(run.done)} outputs, their scores",
            " and the sealed card" if run.card is not None else "",
            " go. Keep a copy with: ",
            show(f"rosetta runs export {run.run_id[:8]}", "bold"),
        )
        self.app.push_screen(ConfirmScreen(question, "Delete"), answered)

    @work(thread=True, group="delete")
    def _delete(self, number: int) -> None:
        from harness.store.database import open_store
        from harness.store.deletion import delete_run
        from harness.store.runs import read_run, under_way

        with closing(open_store(self._path)) as store:
            if not under_way(read_run(store, number)):  # another process may have resumed it
                delete_run(store, number)
        self.app.call_from_thread(self.action_read)
