"""One review, section by section: nothing is hidden but numbers that nobody has examined yet."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from rosetta_tui.review.organiser.pages.agreement import DecidingScreen, agreeing, split
from rosetta_tui.review.organiser.pages.batches import ImportScreen, batches, people
from rosetta_tui.review.organiser.pages.gate import ReadAgain, ReviewActions, certificate, gate
from rosetta_tui.review.organiser.pages.parts import STYLES
from rosetta_tui.review.organiser.service import OrganiserService, ReviewNow, RunNow, read_review
from rosetta_tui.review.organiser.words.gate import has_numbers
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
