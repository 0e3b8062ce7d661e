"""All reviews, and one of them section by section: nothing is hidden but numbers that nobody has examined yet."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from rosetta_tui.review.organiser import service
from rosetta_tui.review.organiser.pages.agreement import DecidingScreen, agreeing, split
from rosetta_tui.review.organiser.pages.batches import ImportScreen, batches, people
from rosetta_tui.review.organiser.pages.gate import ReadAgain, ReviewActions, certificate, gate
from rosetta_tui.review.organiser.pages.parts import SIGNS, STYLES, TONES
from rosetta_tui.review.organiser.service import OrganiserService, ReviewNow, RunNow, read_review
from rosetta_tui.review.organiser.words.gate import has_numbers, verdict_name
from rosetta_tui.show import figures
from rosetta_tui.show.columns import Cell, Column, Rows
from rosetta_tui.toolkit.background import in_thread
from rosetta_tui.toolkit.content import StatusBar, show
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.reading_screen import SectionLine
from rosetta_tui.toolkit.result_table import ResultTable

SECTIONS = ("Batches", "Progress", "Agreement", "Gate", "Split", "Certificate")
OF_A_RUN = frozenset({"Agreement", "Gate", "Certificate"})  # sections about one run

_COLLECTS = (
    "This review collects translations: nothing is judged in it, so there is no verdict and no certificate. "
    "Its corpus: rosetta review export {name} --corpus FILE.jsonl"
)

_LOOKS_AGAIN = (
    "This is a second look at what split the panel of another review: what people say in it is advice for who decides "
    "there, in its section Split, and counts in no verdict."
)

_ASKS_SECOND_SPEAKERS = (
    "Here second speakers look over translations of a corpus in the making: there is no verdict and no certificate. "
    "What they said goes into the corpus: rosetta corpus gather FOLDER"
)


def _withdrawn(now: ReviewNow) -> Static:
    return Static(show(now.withdrawn, "$warn"), classes="words")


_OFFERED = {
    "look": {"Agreement", "Gate", "Split"},
    "enrol": {"Batches"},
    "issue": {"Certificate"},
    "attach": {"Certificate"},
    "write": {"Certificate"},
    "next_run": OF_A_RUN,
    "export": {*SECTIONS},
}
"""Action → sections that offer it; all others are offered everywhere."""


class ReviewScreen(ReadAgain):
    """Reads the review in a thread and shows one of its sections."""

    TITLE = "Review"
    CSS_PATH = STYLES
    HELP = (
        "Looking at the numbers of a run is written down and counts; you are asked before.\n"
        "╿ needed, chance or the panel   ├ ┤ interval   ● value or a fifth of a share   ◇ discuss"
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(number), f"section('{name}')", name, show=False, id=f"review.section_{number}")
            for number, name in enumerate(SECTIONS, 1)
        ),
        Binding("left", "turn(-1)", "Section before", show=False, id="previous"),
        Binding("right", "turn(1)", "Section after", show=False, id="next"),
        Binding("l", "look", "Look", id="review.look"),
        Binding("e", "enrol", "Enrol", id="review.enrol"),
        Binding("c", "issue", "Issue", id="review.issue"),
        Binding("t", "attach", "Attach", id="review.attach"),
        Binding("w", "write", "Write again", id="review.write"),
        Binding("n", "next_run", "Next run", id="review.next_run"),
        Binding("i", "import", "Import", id="reviews.import"),
        Binding("x", "export", "Export", id="export"),
        Binding("r", "read", "Refresh", id="refresh"),
        Binding("q,escape", "dismiss(None)", "Back", key_display="q", id="back"),
    ]

    def __init__(self, desk: OrganiserService, name: str, section: str = SECTIONS[0]) -> None:
        super().__init__()
        self._desk, self._review, self.title, self._section = desk, name, name, section
        self._place = 0  # of the run that is shown, among the review's runs
        self._now: ReviewNow | None = None
        self._filling = asyncio.Lock()
        self._acts = ReviewActions(self, desk)

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield SectionLine(id="sections")
        yield Static(id="run")
        yield VerticalScroll(id="page")
        yield KeyLine(palette_from=110)

    def on_mount(self) -> None:
        self.query_one("#run").display = False
        self.query_one("#page").focus()
        self.action_read()

    # Reading and showing

    def action_read(self) -> None:
        """Read the review again; what was hidden stays hidden."""
        # The run whose verdict and certificate are to be read, None where the section shows neither.
        run = self._run_shown if self._now is not None and self._section in OF_A_RUN else None
        read = partial(read_review, self._desk, self._review, run.key.run_id if run else None)
        in_thread(self, "review", read, self._read, self.query_one(StatusBar).cannot)

    def _read(self, now: ReviewNow) -> None:
        self._now = now
        self.query_one(StatusBar).say(
            Content.assemble(
                show(f"{now.progress.title} · made {now.review.created[:10]}", "$quiet"),
                (" · secret" if now.secret else "", "$warn"),
            )
        )
        self.call_next(self._fill)

    async def _fill(self) -> None:
        """Fill the page with the section that is open."""
        if self._now is None or not self.is_attached:
            return
        waiting = {
            "Batches": len(self._now.waiting),
            "Split": sum(case.is_open for case in self._now.cases),
            "Certificate": self._now.progress.recompute,
        }
        self.query_one(SectionLine).show_sections(SECTIONS, self._section, waiting)
        line = self.query_one("#run", Static)
        line.display = self._section in OF_A_RUN and bool(self._now.runs)
        if (run := self._run_shown) is not None:
            several = f"run {self._place + 1} of {len(self._now.runs)} (n: next)   " if len(self._now.runs) > 1 else ""
            about = f" · {run.key.dataset_id} {run.key.language_pair} · {run.key.run_id[:8]}"
            line.update(Content.assemble((several, "$quiet"), show(run.words), show(about, "$quiet")))
        page = self.query_one("#page", VerticalScroll)
        async with self._filling, self.batch():
            await page.remove_children()
            await page.mount_all(self._widgets(self._now))
        (next(iter(page.query(ResultTable)), None) or page).focus()
        self.refresh_bindings()

    def _widgets(self, now: ReviewNow) -> Iterator[Widget]:
        if self._section in OF_A_RUN:
            yield from self._of_a_run(now, self._run_shown)
            return
        match self._section:
            case "Batches":
                name = now.review.name
                yield from batches(now, [r for r in self._desk.reports if r.review in {"", name}])
            case "Progress":
                yield from people(now)
            case _ if now.withdrawn:
                yield _withdrawn(now)
            case _:
                yield from split(now)

    def _of_a_run(self, now: ReviewNow, run: RunNow | None) -> Iterator[Widget]:
        """Yield a section that is about a run; a review without a verdict has none."""
        if run is None:
            hint = _ASKS_SECOND_SPEAKERS if now.review.is_agreement else _COLLECTS
            hint = _LOOKS_AGAIN if now.review.is_second_look else hint
            yield Static(show(hint.format(name=now.review.name), "$quiet"), classes="words")
        elif now.withdrawn:
            yield _withdrawn(now)
        elif not run.opened:
            self.action_read()
            yield Static(show("Reading …", "$quiet"))
        elif self._section == "Agreement":
            yield from agreeing(now, run)
        elif self._section == "Gate":
            yield from gate(now, run)
        else:
            yield from certificate(run)

    # Keys

    @property
    def _run_shown(self) -> RunNow | None:
        runs = () if self._now is None else self._now.runs
        return runs[self._place] if runs else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        now, run = self._now, self._run_shown
        if action not in _OFFERED:
            return True
        if now is None or self._section not in _OFFERED[action]:
            return False
        if run is None or (now.withdrawn and action != "next_run"):
            return action == "enrol" and bool(now.waiting)
        # Whether the section that is open shows less until somebody looks.
        hides = bool(now.unseen) if self._section == "Split" else run.opened and run.reading is None
        return {
            "look": hides,
            "enrol": bool(now.waiting),
            "issue": run.reading is not None and has_numbers(run.reading),
            "next_run": len(now.runs) > 1,
            "export": True,
        }.get(action, run.newest is not None)

    async def action_section(self, name: str) -> None:
        self._section = name
        await self._fill()
        self.query_one("#page").scroll_home(animate=False)

    async def action_turn(self, by: int) -> None:
        place = (SECTIONS.index(self._section) + by) % len(SECTIONS)
        await self.action_section(SECTIONS[place])

    async def action_next_run(self) -> None:
        if self._now is not None and self._now.runs:
            self._place = (self._place + 1) % len(self._now.runs)
            await self._fill()

    def action_look(self) -> None:
        if self._now and self._section == "Split":
            self._acts.look_at_ratings(self._now)
        elif self._now and self._run_shown:
            self._acts.look(self._now, self._run_shown)

    def action_enrol(self) -> None:
        if self._now:
            self._acts.enrol(self._now)

    def action_issue(self) -> None:
        if self._now and self._run_shown:
            self._acts.issue(self._now, self._run_shown)

    def action_write(self) -> None:
        if self._now and self._run_shown:
            self._acts.write_again(self._now, self._run_shown)

    def action_attach(self) -> None:
        if self._now and self._run_shown:
            self._acts.attach(self._now, self._run_shown)

    def action_export(self) -> None:
        if self._now and self._run_shown:
            self._acts.export(self._now, self._run_shown)

    @on(ResultTable.Chosen)
    def _decide(self, message: ResultTable.Chosen) -> None:
        if self._now and self._now.review.vault_runs:
            name = self._now.review.name
            words = f"These sentences are from a vault: rosetta review adjudicate {name} --vault FOLDER --purpose WORDS"
            self.notify(words, title="Decide at the command line", timeout=30, markup=False)
        elif self._now:
            screen = DecidingScreen(self._desk, self._now, message.index)
            self.app.push_screen(screen, self._back)

    def _back(self, _: None) -> None:
        """Read what was changed on another screen."""
        self.action_read()

    def action_import(self) -> None:
        self.app.push_screen(ImportScreen(self._desk), self._back)


# ---- All reviews of this installation: how much is back, and what the speakers decided ----


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
