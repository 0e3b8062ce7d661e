"""All reviews of this installation: how much is back, and what the speakers decided."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from rosetta_tui.review.organiser import service
from rosetta_tui.review.organiser.pages.batches import ImportScreen
from rosetta_tui.review.organiser.pages.parts import SIGNS, STYLES, TONES
from rosetta_tui.review.organiser.pages.review import ReviewScreen
from rosetta_tui.review.organiser.words.gate import verdict_name
from rosetta_tui.show import figures
from rosetta_tui.show.columns import Cell, Column, Rows
from rosetta_tui.toolkit.background import in_thread
from rosetta_tui.toolkit.content import StatusBar, show
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.result_table import ResultTable

BAR = 8

COLUMNS = (
    Column("review", "review", 14, share=1),
    Column("runs", "model · condition", 16, share=3, drop=2),
    Column("people", "people", 6, right=True),
    Column("back", "back", BAR + 14),
    Column("verdict", "verdict", 18, share=1),
    Column("made", "made", 10, drop=1),
)


class ReviewRows(Rows[service.ReviewLine]):
    """One row for each review, newest first."""

    def key(self, index: int) -> Hashable:
        return self.cells(index)

    def cells(self, index: int) -> tuple[Cell, ...]:
        line = self.items[index]
        # How much is back, as a bar and in numbers.
        done, asked = line.progress.done, line.progress.asked
        bar = figures.progress_bar(done / asked if asked else 0, BAR)
        return (
            Cell(line.progress.name),
            Cell(line.asks),
            Cell(figures.count(len(line.progress.reviewers))),
            Cell(f"{bar} {done:,} of {asked:,}"),
            Cell("withdrawn", "warn") if line.withdrawn else verdict_cell(line.verdicts),
            Cell(line.progress.created[:10], "quiet"),
        )


def verdict_cell(verdicts: Sequence[service.CertifiedVerdict | None]) -> Cell:
    """Return what the newest certificates say, run by run."""
    parts = []
    for verdict in verdicts:
        again = " (issue again)" if verdict is not None and verdict.recompute else ""
        parts.append(
            figures.NONE if verdict is None else f"{SIGNS[verdict.outcome]} {verdict_name(verdict.outcome)}{again}"
        )
    issued = [verdict for verdict in verdicts if verdict is not None]
    if not issued:
        return Cell("none yet", "quiet")
    tones = {
        "warn" if certified_verdict.recompute else TONES[certified_verdict.outcome] for certified_verdict in issued
    }
    return Cell(" / ".join(parts), tones.pop() if len(tones) == 1 else "plain")


class ReviewsScreen(Screen[None]):
    """Reads the office in a thread; opens one review, or takes ratings in."""

    TITLE = "Reviews"
    CSS_PATH = STYLES
    HELP = (
        "back: decisions that came back, of all that reviewers are asked for.\n"
        "verdict: of the newest certificate; ✓ go  ✗ no-go  ◇ discuss. With several runs, run by run."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "import", "Import", id="reviews.import"),
        Binding("r", "read", "Refresh", id="refresh"),
        Binding("q,escape", "dismiss(None)", "Back", key_display="q", id="back"),
    ]
    table = getters.query_one("#reviews", ResultTable)

    def __init__(self, desk: service.OrganiserService) -> None:
        super().__init__()
        self._desk = desk
        self._reviews: list[service.ReviewLine] = []
        self._resumed = False

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield Static(id="empty")
        yield ResultTable(COLUMNS, id="reviews")
        yield Static(id="chosen")
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one("#empty").display = False
        self.query_one("#chosen").display = False
        self.table.focus()

    def on_screen_resume(self) -> None:
        self.action_read()

    @property
    def chosen(self) -> service.ReviewLine | None:
        return self._reviews[self.table.cursor] if self._reviews else None

    def action_read(self) -> None:
        read = partial(service.read_reviews, self._desk)
        in_thread(self, "reviews", read, self._show, self.query_one(StatusBar).cannot)

    def _show(self, reviews: list[service.ReviewLine]) -> None:
        here = self.chosen
        self._reviews = reviews
        names = [review.progress.name for review in reviews]
        place = names.index(here.progress.name) if here and here.progress.name in names else None
        self.table.show_rows(ReviewRows(reviews), place)
        self.table.display = bool(reviews)
        empty = self.query_one("#empty", Static)
        empty.display = not reviews
        empty.update(
            Content.assemble(
                ("No reviews yet.\n\n", "bold"),
                "A review lets speakers judge what a run translated. Make one from a shell:\n\n",
                ("  rosetta review create last\n\n", "bold"),
                (
                    "It shows what it asks of whom, then writes the file for the sticks and the reviewers' cards.\n",
                    "$quiet",
                ),
                ("How many people and sentences are enough: ", "$quiet"),
                "rosetta review plan",
            )
        )
        count = figures.count(len(reviews)) if reviews else ""
        self.query_one(StatusBar).say(Content.styled(count, "$quiet"))
        self._moved()

    @on(ResultTable.Moved)
    def _moved(self) -> None:
        line = self.query_one("#chosen", Static)
        line.display = self.chosen is not None
        if self.chosen is not None:
            # Everything about the review under the cursor in two lines.
            progress = self.chosen.progress
            runs = f"{len(self.chosen.runs)} run{'s' * (len(self.chosen.runs) != 1)}: {', '.join(self.chosen.runs)}"
            if not self.chosen.runs:
                runs = self.chosen.asks
            words = (
                f"{len(progress.reviewers)} people · {progress.items} items · {progress.done:,} of {progress.asked:,} "
                f"decisions are here, from {progress.imports} file{'s' * (progress.imports != 1)}"
            )
            about = Content.assemble(show(f"{progress.name} · {progress.title} · {runs}", "$quiet"), "\n", show(words))
            line.update(about)

    @on(ResultTable.Chosen)
    def _open(self) -> None:
        if self.chosen is not None:
            self.app.push_screen(ReviewScreen(self._desk, self.chosen.progress.name))

    def action_import(self) -> None:
        self.app.push_screen(ImportScreen(self._desk))
