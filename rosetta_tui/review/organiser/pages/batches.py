"""Batches out and back, and progress by pseudonym: never how anybody rated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import SelectionList, Static
from textual.widgets.selection_list import Selection
from textual.worker import get_current_worker

from harness.core.failures import HarnessError
from harness.sealed.carried_files import FileSearch, FoundFile, ReviewFile, find_files
from harness.sealed.stick import BATCH_SUFFIX, RATINGS_SUFFIX, mounted_sticks
from review.files.identities import printed
from review.log.payloads import Scope
from review.office.intake.speaking import Assignments, FileReport
from review.office.results.progress import ReviewerProgress, WaitingLaptop
from review.office.store.arrivals import Delivery
from review.verdict.gate.verdict import alike_words
from rosetta_tui.review.organiser.pages.parts import STYLES, PlainTable, ask, typed_path
from rosetta_tui.review.organiser.service import OrganiserService, ReviewNow
from rosetta_tui.review.organiser.words.imported import (
    codes,
    kept_back_words,
    laptop_findings,
    may_be_used,
    report_lines,
    skipped_lines,
    voice_lines,
)
from rosetta_tui.review.organiser.words.plan import not_shown_words
from rosetta_tui.show import figures
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import StatusBar, show
from rosetta_tui.toolkit.key_line import KeyLine

_OUT = (
    Column("file", "file", 20, share=2),
    Column("who", "for", 14, share=1),
    Column("items", "items each", 10, right=True, drop=1),
    Column("last", "last came back", 16),
)
_BACK = (
    Column("laptop", "laptop", 12, share=1),
    Column("words", "its six words", 35, share=3),
    Column("speaks", "speaks for", 14, share=1),
    Column("files", "files", 5, right=True),
    Column("events", "events", 6, right=True, drop=1),
    Column("last", "last imported", 16, drop=2),
)


def batches(now: ReviewNow, reports: Sequence[FileReport]) -> Iterator[Widget]:
    """Yield the section; ``reports`` are those of the last import of this sitting."""
    if now.waiting:
        yield title("Set aside: laptops that nobody has vouched for", first=True)
        yield Static(Content("\n\n").join(map(_waiting, now.waiting)), classes="words")
    yield title("Out", first=not now.waiting)
    yield PlainTable(_OUT, list(_out(now)))
    yield title("Back")
    if now.deliveries:
        yield PlainTable(_BACK, [_back(delivery, now.speaking) for delivery in now.deliveries])
    else:
        yield _quiet("Nothing came back yet. i takes files in, from sticks or a folder.")
    yield title("To look into")
    lines = [*voice_lines(now.speaking)]
    for delivery in now.deliveries:
        if findings := list(laptop_findings(delivery.copied, delivery.gaps, delivery.clocks)):
            lines += [f"{delivery.name} ({delivery.phrase})", *findings]
    yield _lines(lines) if lines else _quiet("Nothing: each laptop speaks for one person and each person from one; no copy, no gap, no wild clock.")  # fmt: skip
    if reports:
        yield title("The last import")
        yield _lines([line for report in reports for line in report_lines(report)])


def title(words: str, *, first: bool = False) -> Static:
    """Return the title of a part of a section."""
    return Static(Content.styled(words, "$mark"), classes="title first" if first else "title")


def _quiet(words: str) -> Static:
    return Static(show(words, "$quiet"))


def _lines(lines: Sequence[str]) -> Static:
    return Static(Content("\n").join(map(show, lines)))


def minute(time: str | None) -> str:
    """Return a time of the office as date and minute, UTC."""
    return "nothing yet" if time is None else time[:16].replace("T", " ")


def _waiting(laptop: WaitingLaptop) -> Content:
    files = f"{laptop.files} file{'s' * (laptop.files > 1)} since {laptop.since[:10]}"
    return Content.assemble(
        show(f"  {laptop.file_phrases[-1] or laptop.phrase}", "bold"),
        "\n",
        show(f"  {files}. Compare these words with those that the speaker wrote down. ", "$quiet"),
        ("If they are these: e", "$quiet"),
    )


def _out(now: ReviewNow) -> Iterator[tuple[Cell, ...]]:
    several = len(now.review.manifests) > 1  # then there is a file for each person
    for number, batch in enumerate(now.review.manifests, 1):
        people = [reviewer for reviewer in now.progress.reviewers if reviewer.batch == batch]
        came = max((person.last_import for person in people if person.last_import), default=None)
        sizes = sorted({person.asked for person in people})
        yield (
            Cell(f"{now.review.name}{f'-{number}' if several else ''}{BATCH_SUFFIX}"),
            Cell(printed(people[0].reviewer) if len(people) == 1 else f"{len(people)} people"),
            Cell("–".join(str(size) for size in dict.fromkeys((sizes[0], sizes[-1])))),
            Cell(minute(came), "plain" if came else "quiet"),
        )


def _back(laptop: Delivery, found: Assignments) -> tuple[Cell, ...]:
    people = [code for speaker in found.laptops if speaker.phrase == laptop.phrase for code in speaker.people]
    return (
        Cell(laptop.name),
        Cell(laptop.phrase),
        Cell(codes(people) or "nobody", "plain" if len(people) == 1 else "warn"),
        Cell(figures.count(laptop.different_files)),
        Cell(figures.count(sum(file.added for file in laptop.files))),
        Cell(minute(max((file.received for file in laptop.files), default=None)), "quiet"),
    )


BAR = 16

_COLUMNS = (
    Column("who", "reviewer", 9),
    Column("bar", "", BAR),
    Column("done", "done", 12),
    Column("unjudged", "cannot judge", 12, right=True),
    Column("later", "later", 5, right=True, drop=4),
    Column("trained", "trained", 7, right=True, drop=2),
    Column("agreed", "agreed", 7, drop=3),
    Column("shares", "may be used", 11, drop=1),
    Column("harmful", "harmful", 7, right=True, drop=5),
    Column("seen", "last seen", 16, drop=1),
)


def people(now: ReviewNow) -> Iterator[Widget]:
    progress = now.progress
    yield Static(
        Content.assemble(
            (f"{progress.done:,} of {progress.asked:,}", "bold"),
            f" decisions are here, from {figures.count(progress.imports)} file{'s' * (progress.imports != 1)}.",
        ),
        classes="words",
    )
    # Row for each person; only translations are put to a use that each decides about.
    shown = [n for n, column in enumerate(_COLUMNS) if column.key != "shares" or not progress.runs]
    rows = [_row(reviewer) for reviewer in progress.reviewers]
    table = PlainTable([_COLUMNS[n] for n in shown], [[row[n] for n in shown] for row in rows])
    yield table
    for line in (*kept_back_words(progress), *not_shown_words(progress), *map(alike_words, progress.alike)):
        yield Static(show(line, "$warn"), classes="after")
    yield Static(
        show("In the order of the batches. The table says how far people are, never how they rated.", "$quiet"),
        classes="after",
    )


def _row(each: ReviewerProgress) -> tuple[Cell, ...]:
    seen = Cell(minute(each.last_import), "quiet")
    if each.withdrawn - {Scope.COMMENTS}:
        gone = (Cell("took it back", "quiet"), *(Cell("") for _ in range(6)))
        return (Cell(printed(each.reviewer)), Cell("·" * BAR, "quiet"), *gone, seen)
    share = each.done / each.asked if each.asked else 0
    return (
        Cell(printed(each.reviewer)),
        Cell(figures.progress_bar(share, BAR), "mark"),
        Cell(f"{each.done:,} of {each.asked:,}"),
        Cell(figures.count(each.cannot_judge)),
        Cell(figures.count(each.skipped)),
        Cell(figures.count(each.trained)),
        Cell("yes" if each.consented else "not yet", "plain" if each.consented else "quiet"),
        Cell(may_be_used(each), "warn" if each.kept_back else "plain"),
        Cell(figures.count(each.flagged), "warn" if each.flagged else "plain"),
        seen,
    )


# ---- Taking ratings in: the files on the sticks that are plugged in, or in a folder, each whole
# or not at all.


class ImportScreen(Screen[None]):
    """First which files, then what became of each; leaving stops between two files."""

    TITLE = "Take ratings in"
    CSS_PATH = STYLES
    HELP = (
        "The same file may be imported any number of times, in any order: nothing is taken twice.\n"
        "Files of laptops that nobody has vouched for are set aside until their six words were compared."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "import", "Take in", id="importing.take_in"),
        Binding("f", "folder", "Folder or file", id="importing.folder"),
        Binding("k", "recovery", "Recovery key", id="importing.recovery"),
        Binding("r", "read", "Look again", id="refresh"),
        Binding("q,escape", "dismiss(None)", "Back", key_display="q", id="back"),
    ]

    def __init__(self, desk: OrganiserService) -> None:
        super().__init__()
        self._desk = desk
        self._added: list[Path] = []  # folders and files that were named
        self._recovery: Path | None = None
        self._lines: list[Content] = []
        self._busy = False

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield Static(id="about")
        yield SelectionList[FoundFile](id="files")
        with VerticalScroll(id="page"):
            yield Static(id="report")
        yield KeyLine()

    def on_mount(self) -> None:
        self.files.focus()
        self.action_read()

    @property
    def files(self) -> SelectionList[FoundFile]:
        return self.query_one("#files", SelectionList)

    # Looking for files

    def action_read(self) -> None:
        if not self._busy:
            self._look()

    @work(thread=True, exclusive=True, group="look")
    def _look(self) -> None:
        folders = [path for path in self._added if path.is_dir()]
        search = find_files([*mounted_sticks(), *folders], ReviewFile.RATINGS)
        named = [path for path in self._added if not path.is_dir()]
        bring(self, self._show, search, named)

    def _show(self, search: FileSearch, named: Sequence[Path]) -> None:
        self.files.clear_options()
        # Each file once, marked; with when it was written, by the clock of anyone who wrote it.
        files = {file.path: file for file in reversed(search.files)}
        listed = [
            Selection(_importing_file(file.path, datetime.fromtimestamp(file.modified, UTC).astimezone()), file, True)
            for file in reversed(files.values())
        ]
        added = (path for path in named if path not in files)
        selections = [
            *listed,
            *(Selection(_importing_file(path, None), FoundFile(path, 0, 0.0), True) for path in added),
        ]
        self.files.add_options(selections)
        self.query_one("#report", Static).update(Content("\n").join(map(_line, skipped_lines(search.skipped))))
        many = self.files.option_count
        self.files.display = bool(many)
        self.files.highlighted = 0 if many else None
        (self.files if many else self.query_one("#page")).focus()
        recovery = f"   recovery key: {self._recovery}" if self._recovery else ""
        words = (
            f"{many} file{'s' * (many != 1)} of ratings. space marks, i takes the marked ones in."
            if many
            else "No file of ratings on the sticks that are plugged in. Plug one in and press r, or f names a folder."
        )
        self.query_one("#about", Static).update(Content.assemble(words, show(recovery, "$quiet")))

    def action_folder(self) -> None:
        def typed(text: str) -> None:
            path = typed_path(text)
            if text and path.exists():
                self._added.append(path)
                self.action_read()
            elif text:
                self.notify(f"{path} is not there.", severity="warning", markup=False)

        about = f"Files NAME{RATINGS_SUFFIX}, also renamed or in a zip; of a folder, those in it and below."
        ask(self.app, "Folder or file", about, typed, str(Path.cwd()))

    def action_recovery(self) -> None:
        def typed(text: str) -> None:
            self._recovery = typed_path(text) if text else None
            self.action_read()

        about = "A file with an age identity, for files that this installation cannot open itself."
        ask(self.app, "Recovery key", about, typed)

    # Taking in

    def action_import(self) -> None:
        chosen = list(self.files.selected)
        if not chosen:
            self.notify("No file is marked.", severity="warning", markup=False)
        elif not self._busy:
            self._busy = True
            self._lines = []
            self._desk.reports = []
            self._import(chosen)

    @work(thread=True, group="import")
    def _import(self, files: Sequence[FoundFile]) -> None:
        worker = get_current_worker()
        try:
            for report in self._desk.import_files(files, self._recovery):
                self._desk.reports.append(report)
                bring(self, self._tell, report_lines(report), len(files))
                if worker.is_cancelled:
                    break
        except HarnessError as error:
            bring(self, self._tell, [f"NOT TAKEN  {error}"], len(files))
        finally:
            self._busy = False

    def _tell(self, lines: Iterable[str], of: int) -> None:
        if not self.is_attached:
            return
        self._lines += [_line(line) for line in lines]
        done = len(self._desk.reports)
        self.query_one("#about", Static).update(
            Content.assemble((f"{done} of {of}", "bold"), " imported." if done == of else " …")
        )
        self.query_one("#report", Static).update(Content("\n").join(self._lines))
        self.query_one("#page").scroll_end(animate=False)


def _importing_file(path: Path, written: datetime | None) -> Content:
    when = "" if written is None else f"  {written:%Y-%m-%d %H:%M}"
    return Content.assemble(show(path.name), show(f"{when}  {path.parent}", "$quiet"))


def _line(line: str) -> Content:
    """Return a line of a report; what an organiser must see stands out by its first word already."""
    attention = line.lstrip().split(" ")[0].rstrip(":")
    return show(line, "$warn" if attention.isupper() and len(attention) > 2 else "")
