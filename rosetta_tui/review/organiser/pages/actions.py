"""What an organiser does with a review: each act asks what it must, works in a thread, and reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from harness.core.failures import HarnessError
from rosetta_tui.review.organiser.export_files import write_export
from rosetta_tui.review.organiser.pages.parts import ask, question, typed_path
from rosetta_tui.review.organiser.words.gate import standing_lines
from rosetta_tui.review.organiser.words.imported import report_lines
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.dialogs.choose import choose, confirm

if TYPE_CHECKING:
    from review.office.results.progress import WaitingLaptop
    from rosetta_tui.review.organiser.desk import OrganiserService
    from rosetta_tui.review.organiser.facts import ReviewNow, RunNow


class ReportScreen(ModalScreen[None]):
    """Stays until it is closed: a path or a warning must not vanish on its own."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss(None)", "Back"),
    ]

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._title = title
        self._lines = lines

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog -wide"):
            yield Static(show(self._title, "bold"))
            yield Static(Content("\n").join(map(show, self._lines)), classes="about")
            yield Static(Content.styled("esc goes back", "$quiet"))


def choices(now: ReviewNow, run: RunNow) -> dict[str, str]:
    """Return what can be exported now, with words; comments of secret reviews and pages of nothing are left out."""
    offered = {
        "sealed": "Everything, sealed for the review's recipients",
        "page": "The page for the speakers, from the newest certificate",
        "csv": "The ratings as a table (CSV), people as letters",
        "comments": "The table with what people wrote",
        "mtme": "A folder as in the metrics shared tasks",
    }
    if now.secret:
        del offered["comments"]
    if run.newest is None:
        del offered["page"]
    return offered


_FOLDER = "A folder; it is made where there is none. Files that are there are not replaced."


class ReadAgain(Screen[None]):
    """A screen that can read again what it shows."""

    def action_read(self) -> None:
        """Read it again."""
        raise NotImplementedError


class ReviewActions:
    """Belongs to the screen of one review, which reads it again after each of them."""

    def __init__(self, screen: ReadAgain, desk: OrganiserService) -> None:
        self._screen = screen
        self._desk = desk

    def look(self, now: ReviewNow, run: RunNow) -> None:
        """Read the numbers of a run, after one question."""
        look = partial(self._desk.look, now.review.name, run.key.run_id)
        self._ask_look(question(now, run), look)

    def look_at_ratings(self, now: ReviewNow) -> None:
        """Read the ratings of what was flagged or split the panel, after one question."""
        asked = question(now, now.most_looked, "ratings")
        self._ask_look(asked, partial(self._desk.look_at_ratings, now.review.name))

    def _ask_look(self, asked: Content, look: Callable[[], object]) -> None:
        def looked() -> Sequence[str]:
            look()
            return ()

        confirm(self._screen.app, asked, "Look", partial(self._run, "Look", looked))

    def enrol(self, now: ReviewNow) -> None:
        """Vouch for a laptop that waits; where several do, ask which."""
        waiting = {waiting_laptop.signing_key: waiting_laptop for waiting_laptop in now.waiting}
        if len(waiting) == 1:
            self._compare(next(iter(waiting.values())))
            return
        words = {
            key: waiting_laptop.file_phrases[-1] or waiting_laptop.phrase
            for key, waiting_laptop in waiting.items()
        }
        first = next(iter(words))
        choose(
            self._screen.app, "Which laptop?", words, first, lambda key: self._compare(waiting[key])
        )

    def _compare(self, laptop: WaitingLaptop) -> None:
        last = laptop.file_phrases[-1]
        asked = Content.assemble(
            ("Did the speaker write down these six words, when the file was written?\n\n", "bold"),
            show(last or laptop.phrase, "bold $mark"),
            "\n\nThe laptop's own words do as well:\n",
            show(laptop.phrase),
            "\n\nThen its ratings are taken, and all later ones. If a word differs, somebody else made the file.",
        )
        enrol = partial(self._run, "Enrolled", partial(self._enrolled, laptop))
        confirm(self._screen.app, asked, "They are the same", enrol)

    def _enrolled(self, laptop: WaitingLaptop) -> list[str]:
        reports = list(self._desk.enrol(laptop.signing_key))
        self._desk.reports = reports
        return [line for report in reports for line in report_lines(report)]

    def issue(self, now: ReviewNow, run: RunNow) -> None:
        """Issue a certificate and write its files into a folder that is asked for."""
        self._into_folder(
            "Issue a certificate",
            "Certificate issued",
            lambda folder: _written(self._desk.issue(now.review.name, run.key.run_id, folder)),
        )

    def write_again(self, now: ReviewNow, run: RunNow) -> None:
        """Write the files of the newest certificate once more."""
        issued = run.newest
        if issued is not None:
            self._into_folder(
                "Write the certificate's files",
                "Written",
                lambda folder: _written(self._desk.write_again(now.review.name, issued, folder)),
            )

    def _into_folder(self, title: str, done: str, act: Callable[[Path], Sequence[str]]) -> None:
        def answered(folder: str) -> None:
            self._run(done, partial(act, typed_path(folder)))

        ask(self._screen.app, title, _FOLDER, answered, str(Path.cwd()))

    def attach(self, now: ReviewNow, run: RunNow) -> None:
        """Attach the newest certificate to its run."""
        if run.newest is not None:
            self._run("Attached", partial(self._attached, now.review.name, run))

    def _attached(self, review: str, run: RunNow) -> list[str]:
        return [] if run.newest is None else standing_lines(self._desk.attach(review, run.newest))

    def export(self, now: ReviewNow, run: RunNow) -> None:
        """Pass on what is chosen, into a folder that is asked for."""

        def chosen(what: str) -> None:
            act = partial(self._exported, now.review.name, what, run.key.run_id)
            self._into_folder("Export into", "Exported", act)

        offered = choices(now, run)
        choose(self._screen.app, "Export", offered, next(iter(offered)), chosen)

    def _exported(self, review: str, what: str, run_id: str, folder: Path) -> list[str]:

        export = self._desk.export(review, what, run_id)
        written = write_export(export, folder, overwrite=False)
        return [*_written(written), *export.notes]

    def _run(self, title: str, act: Callable[[], Sequence[str]]) -> None:
        """Work in a thread, then read the review again and say what came of it."""

        def work() -> None:
            try:
                lines = act()
            except HarnessError as error:
                bring(self._screen, self._done, "That did not work", [str(error)])
            else:
                bring(self._screen, self._done, title, lines)

        self._screen.run_worker(work, thread=True, group="act")

    def _done(self, title: str, lines: Sequence[str]) -> None:
        self._screen.action_read()
        if lines:
            self._screen.app.push_screen(ReportScreen(title, lines))


def _written(paths: Sequence[Path]) -> list[str]:
    return [f"Written: {path}" for path in paths]
