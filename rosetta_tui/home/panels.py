"""What waits for a person: what it is, where it leads, what was put aside, and its list on Home."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from corpora.text.messages import counted
from harness.core.failures import HarnessError
from harness.core.storage import private_folder, write_file
from harness.method.option_table import asks
from harness.store.run_list import RunSummary
from rosetta_tui.session.run_sources import may_resume, may_retry
from rosetta_tui.show import figures
from rosetta_tui.show.columns import Cell, Column, Rows
from rosetta_tui.show.run_facts import run_label
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.result_table import ResultTable

if TYPE_CHECKING:
    from textual.screen import Screen

    from rosetta_tui.review.organiser.service import OrganiserService, ReviewLine
    from rosetta_tui.runs.actions import RunActions


class Lead(StrEnum):
    RESUME = "resume"
    RETRY = "retry"
    REVIEW = "review"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class WaitingItem:
    lead: Lead
    name: str  # id of the run, or name of the review; empty for ratings to take in
    words: str


LEADS = {
    Lead.RESUME: (Cell("■", "warn"), "continue"),
    Lead.RETRY: (Cell("✗", "bad"), "ask again"),
    Lead.REVIEW: (Cell("◇", "mark"), "open the review"),
    Lead.IMPORT: (Cell("↓", "mark"), "take in"),
}
COLUMNS = (
    Column("sign", "", 1),
    Column("waiting", "waiting for you", 20, share=1),
    Column("offer", "enter", 15, drop=1),
)


class WaitingRows(Rows[WaitingItem]):
    def cells(self, index: int) -> Sequence[Cell]:
        item = self.items[index]
        sign, offer = LEADS[item.lead]
        return (sign, Cell(item.words), Cell(offer, "quiet"))


def waiting_runs(runs: Sequence[RunSummary]) -> Iterator[WaitingItem]:
    """Yield the runs worth continuing: cut ones, then those with failed entries that can be and were not asked again."""
    followed = {run.retry_of for run in runs}
    for run in runs:
        if may_resume(run):
            share = f"{figures.count(run.done)} of {figures.count(run.total)} done"
            failed = f", {figures.count(run.failed)} of them failed" if run.failed else ""
            yield WaitingItem(Lead.RESUME, run.run_id, f"Stopped, {share}{failed} · {run_label(run)}")
    for run in runs:
        if may_retry(run) and run.run_id not in followed and asks(run.method):
            failed = f"{counted(run.failed, 'entry', 'entries')} failed"
            yield WaitingItem(Lead.RETRY, run.run_id, f"{failed} · {run_label(run)}")


def waiting_reviews(desk: OrganiserService) -> list[WaitingItem]:
    """Return what an organiser has to see to, without reading ratings; waits for the disk, StoreError in words."""
    if not desk.has_office:
        return []
    from review.office.results.progress import waiting
    from rosetta_tui.review.organiser.service import read_reviews

    items = list(_ratings(desk))
    with desk.office() as office:
        files = sum(laptop.files for laptop in waiting(office))
    if files:
        words = f"{counted(files, 'file')} of ratings from laptops that nobody vouched for"
        items.append(WaitingItem(Lead.REVIEW, "", words))
    for line in read_reviews(desk):
        items += _review(desk, line)
    return items


def _ratings(desk: OrganiserService) -> Iterator[WaitingItem]:
    """Yield how many files of ratings on sticks were not imported yet."""
    from harness.sealed import carried_files, stick

    hashes = carried_files.ratings_hashes(stick.mounted_sticks())
    if not hashes:
        return
    with desk.office() as office:
        known = {imported.sha256 for imported in office.imports()}
        known |= {quarantined.sha256 for quarantined in office.quarantine()}
    fresh = sum(not digest <= known for digest in hashes)
    if fresh:
        yield WaitingItem(Lead.IMPORT, "", f"{counted(fresh, 'file')} of ratings on a stick")


def _review(desk: OrganiserService, line: ReviewLine) -> Iterator[WaitingItem]:
    from review.verdict.gate.adjudication import queue

    name = line.progress.name
    with desk.office() as office:
        review = office.review(name)
        cases = sum(case.is_open for case in queue(office.state_of_any(review), review.key))
    if cases:
        yield WaitingItem(Lead.REVIEW, name, f"{counted(cases, 'flagged item')} to decide about · {name}")
    if any(verdict is not None and verdict.recompute for verdict in line.verdicts):
        yield WaitingItem(Lead.REVIEW, name, f"A certificate is to be issued again · {name}")
    back, asked = line.progress.done, line.progress.asked
    if asked and back >= asked and None in line.verdicts:
        yield WaitingItem(Lead.REVIEW, name, f"All ratings are back; the gate is to be decided · {name}")


NAME = "put-aside.json"  # in the data folder: the items put aside, by lead, name and words
MOST_ITEMS = 1_000  # items that are remembered; the oldest are forgotten first
MOST_BYTES = 2**20


def read_aside(folder: Path) -> frozenset[tuple[str, ...]]:
    """Return the items put aside; a file that cannot be read puts nothing aside."""
    try:
        with (folder / NAME).open("rb") as file:
            stated = json.loads(file.read(MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return frozenset()
    rows = [row for row in stated if isinstance(row, list)] if isinstance(stated, list) else []
    return frozenset(tuple(row) for row in rows if len(row) == 3 and all(isinstance(item, str) for item in row))


def keep_aside(folder: Path, aside: Iterable[tuple[str, ...]]) -> None:
    """Write down what is put aside; raises HarnessError where the folder cannot be written."""
    content = json.dumps([list(item) for item in aside][-MOST_ITEMS:], ensure_ascii=False)
    write_file(private_folder(folder) / NAME, content.encode(), overwrite=True)


def mark_of(item: WaitingItem) -> tuple[str, ...]:
    """Return what an item is remembered by: with other counts in its words it is another one."""
    return (item.lead.value, item.name, item.words)


def see_to(item: WaitingItem, screen: Screen[Any], acts: RunActions, desk: OrganiserService) -> None:
    """Carry out what an item offers; a dialog asks first where something is to be decided."""
    match item.lead:
        case Lead.RESUME:
            acts.resume(item.name)
        case Lead.RETRY:
            acts.retry(item.name)
        case Lead.REVIEW if item.name:
            from rosetta_tui.review.organiser.pages.review import ReviewScreen

            screen.app.push_screen(ReviewScreen(desk, item.name))
        case Lead.REVIEW:
            open_reviews(screen, desk)
        case Lead.IMPORT:
            from rosetta_tui.review.organiser.pages.batches import ImportScreen

            screen.app.push_screen(ImportScreen(desk))


def open_reviews(screen: Screen[Any], desk: OrganiserService) -> None:
    """Open the list of reviews that this installation organises."""
    from rosetta_tui.review.organiser.pages.review import ReviewsScreen

    screen.app.push_screen(ReviewsScreen(desk))


MOST_LINES = 4  # items that are seen at once where the runs need the room; the list scrolls to the others
_OTHER_LINES = 16  # of Home: titles, the lines about the chosen run, and the keys


class WaitingList(ResultTable):
    """A few lines, and none at all where nothing waits, or nothing that was not put aside."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "put_aside", "Put aside", tooltip="Hide it until something about it is new", id="waiting.aside")
    ]

    def __init__(self, folder: Path) -> None:
        super().__init__(COLUMNS, id="waiting")
        self._folder = folder
        self._aside: dict[tuple[str, ...], None] | None = None
        """What was put aside, the oldest first; None before it was read."""
        self.display = False
        self._items: Sequence[WaitingItem] = ()
        self._runs: Sequence[RunSummary] = ()
        self._reviews: Sequence[WaitingItem] = ()

    def take_runs(self, runs: Sequence[RunSummary]) -> None:
        """Show what waits of these runs."""
        self._runs = runs
        self.forget_gone((Lead.RESUME, Lead.RETRY), waiting_runs(runs))
        self._show()

    def take_reviews(self, items: Sequence[WaitingItem]) -> None:
        """Show these items of reviews above the runs."""
        self._reviews = items
        self.forget_gone((Lead.REVIEW, Lead.IMPORT), items)
        self._show()

    def item(self, index: int) -> WaitingItem:
        return self._items[index]

    def _show(self) -> None:
        every = [*self._reviews, *waiting_runs(self._runs)]
        items = [item for item in every if mark_of(item) not in self.aside]
        if items != self._items:
            self._items = items
            self.show_rows(WaitingRows(items))
            self.display = bool(items)
        self.fit()

    @property
    def aside(self) -> dict[tuple[str, ...], None]:
        if self._aside is None:
            self._aside = dict.fromkeys(read_aside(self._folder))
        return self._aside

    def action_put_aside(self) -> None:
        self._put_aside(self._items[self.cursor : self.cursor + 1])

    def put_runs_aside(self) -> None:
        """Hide every run that waits until something about it is new."""
        self._put_aside([item for item in self._items if item.lead in {Lead.RESUME, Lead.RETRY}])

    def _put_aside(self, items: Sequence[WaitingItem]) -> None:
        if items:
            self.aside.update(dict.fromkeys(map(mark_of, items)))
            self._keep()
            self._show()
            self.notify("Put aside. It comes back when something about it is new.", markup=False)

    def forget_gone(self, leads: Collection[Lead], items: Iterable[WaitingItem]) -> None:
        """Forget what waits no more, so that it counts as new when it waits again."""
        there = {mark_of(item) for item in items}
        gone = [mark for mark in self.aside if mark[0] in leads and mark not in there]
        for mark in gone:
            del self.aside[mark]
        if gone:
            self._keep()

    def _keep(self) -> None:
        """Write down what is put aside; where that cannot be, it holds until the app is closed."""
        try:
            keep_aside(self._folder, self.aside)
        except HarnessError as error:
            self.notify(plain(str(error)), severity="warning", markup=False)

    def on_click(self, event: events.Click) -> None:
        """Carry out at the first click what the end of a line offers; elsewhere a click moves the cursor."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y == 0 or event.chain > 1:
            return
        index = self.scroll_offset.y + offset.y - 1
        if index < self.rows.count and self.column_at(offset.x) == "offer":
            event.prevent_default()
            self.move_to(index)
            self.action_choose()

    def fit(self) -> None:
        """Size the list to a line for each item; of a small terminal it takes little, or what the runs leave free."""
        height = self.screen.size.height
        most = max(1, min(MOST_LINES, height // 8), height - len(self._runs) - _OTHER_LINES)
        self.styles.height = 1 + min(len(self._items), most)


# ---- From nothing to a scored run: ways to begin, each a key and a button ----

STEPS: Mapping[str, tuple[str, str]] = {
    "demo": (
        "Run the demo",
        "Watch a small Esperanto corpus being translated and scored. Under a minute; no key, no network.",
    ),
    "app.place('new_run')": (
        "New run from your corpus",
        "Choose sentences with their translations, and a method. You see what it would cost first.",
    ),
    "app.place('projects')": (
        "A corpus for a new language",
        "From an empty folder: sentences, speakers who translate them, and a community that agrees.",
    ),
    "app.place('doctor')": (
        "What is missing on this computer",
        "Which models, keys and languages are there, and what to do about those that are not.",
    ),
}
"""Action → what its button says, and what happens then, in words of a newcomer."""


class FirstSteps(VerticalScroll, can_focus=False):
    """Is instead of an empty list of runs."""

    def compose(self) -> ComposeResult:
        yield Static(
            Content.assemble(
                ("Is a machine translation good enough?\n", "bold"),
                ("Rosetta translates a corpus, scores every sentence and says how sure that is.", "$quiet"),
            ),
            classes="welcome",
        )
        for number, (title, about) in enumerate(STEPS.values()):
            yield Button(Content(title), id=f"step-{number}")
            yield Static(Content.styled(about, "$quiet"), classes="step")

    def name_keys(self, keys: Mapping[str, str]) -> None:
        """Write on each button the key that does the same; ``keys`` gives it by action."""
        for number, (action, (title, _)) in enumerate(STEPS.items()):
            key = keys.get(action, "")
            self.query_one(f"#step-{number}", Button).label = Content.assemble(
                (f"{key}  " if key else "", "bold"), title
            )

    def begin(self) -> None:
        """Focus the first way."""
        self.query_one("#step-0").focus()

    async def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        number = int((event.button.id or "step-0").removeprefix("step-"))
        await self.app.run_action(list(STEPS)[number], self.screen)


# ---- The keys of Home, and what its help says above them ----

ABOUT = (
    "▶ running   ‖ paused   ■ stopped, can continue   ✓ complete   ● marked\n"
    "! after the tier: a part of the outputs fails. "
    "No run is called more than functional before speakers have reviewed it.\n"
    "x on a line of what waits for you puts it aside until something about it is new, X all runs that wait.\n"
    "Filter: words of a run, and terms such as state:stopped, tag:baseline or chrf>40."
)

KEYS: list[BindingType] = [
    Binding("n", "app.place('new_run')", "New run", id="new_run"),
    Binding("slash,f", "search", "Filter", key_display="/", id="search"),
    Binding("space", "mark", "Mark", id="mark"),
    Binding("c", "compare", "Compare", id="compare"),
    Binding("R", "resume", "Continue", id="home.again"),
    Binding("R", "retry", "Retry", id="home.again"),
    Binding("u", "bring_back", "Undo", tooltip="Bring back the deleted run", id="home.undo"),
    Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
    Binding("q", "leave", "Quit", id="back"),
    Binding("b", "app.place('corpora')", "Corpora", id="home.corpora"),
    Binding("l", "app.place('leaderboard')", "Leaderboard", id="home.leaderboard"),
    Binding("p", "plots", "Plots", id="home.plots"),
    Binding("s", "sort", "Sort", tooltip="Columns and order", id="sort"),
    Binding("D", "demo", "Demo", id="home.demo"),
    Binding("E", "report", "Report", tooltip="Write a page of the run", id="report"),
    Binding("t", "notes", "Tags and note", show=False, id="home.notes"),
    Binding("N", "like", "New run like this one", show=False, id="home.like"),
    Binding("S", "score_again", "Score again", show=False, id="home.score_again"),
    Binding("delete,backspace", "trash", "Delete", key_display="del", show=False, id="home.delete"),
    Binding("o", "reviews", "Organise reviews", show=False, id="home.reviews"),
    Binding("v", "review", "Rate as a speaker", show=False, id="home.rate"),
    Binding("X", "put_aside", "Put waiting runs aside", show=False, id="home.aside"),
    Binding("W", "app.place('sweeps')", "Sweeps", show=False, id="home.sweeps"),
    Binding("V", "app.place('vaults')", "Vaults", show=False, id="home.vaults"),
    Binding("L", "app.place('projects')", "New languages", show=False, id="home.projects"),
    Binding("M", "app.place('submissions')", "Submissions", show=False, id="home.submissions"),
    Binding("w", "app.place('doctor')", "What is missing here", show=False, id="home.doctor"),
    Binding("r", "read", "Refresh", show=False, id="refresh"),
    Binding("escape", "end_search", "End filter", id="home.end_search"),
]
