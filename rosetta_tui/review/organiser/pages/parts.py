"""Parts of the organiser's pages: signs, a table to read, a line to type, a look written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from corpora.text.messages import percent
from review.verdict.gate.policy import read_policy
from rosetta_tui.review.organiser.words.imported import waiting_words
from rosetta_tui.show.columns import GAP, Cell, Column, fit
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.result_table import crop

if TYPE_CHECKING:
    from rosetta_tui.review.organiser.service import ReviewNow, RunNow

STYLES = Path(__file__).parent / "organiser.tcss"

SIGNS = {"go": "✓", "no_go": "✗", "discuss": "◇", "insufficient": "…"}
"""Outcome → its shape, so that no colour is needed."""

TONES = {"go": "good", "no_go": "bad", "discuss": "warn", "insufficient": "quiet"}
_TONES = {"plain": "", "header": "bold $quiet"}


class PlainTable(Widget):
    """As high as its rows; the page around it scrolls."""

    def __init__(self, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> None:
        super().__init__(classes="table")
        self._columns, self._rows = columns, rows

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  Textual's form
        return len(self._rows) + 1

    def render(self) -> Content:
        titles = [Cell(column.title, "header") for column in self._columns]
        lines = []
        for row in (titles, *self._rows):
            cells = []
            for placed in fit(self._columns, self.content_size.width):
                cell, column = row[placed.index], self._columns[placed.index]
                text = crop(cell.text, placed.width, right=column.right)
                cells.append(Content.styled(text, _TONES.get(cell.tone, f"${cell.tone}")))
            lines.append(Content(" " * GAP).join(cells))
        return Content("\n").join(lines)


MOST_TYPED = 4000


class AskScreen(ModalScreen[str | None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    def __init__(self, title: str, about: str, answer: str = "") -> None:
        super().__init__()
        self._title, self._about, self._answer = title, about, answer

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(show(self._title, "bold"))
            yield Input(self._answer, max_length=MOST_TYPED, select_on_focus=True)
            yield Static(show(self._about, "$quiet"))
            yield Static(Content.styled("\nenter continues · esc goes back", "$quiet"))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self.dismiss(message.value.strip())


def ask(app: App[Any], title: str, about: str, then: Callable[[str], object], answer: str = "") -> None:
    """Prompt for a line of text, and act where one was given; ``answer`` is there already."""

    def typed(text: str | None) -> None:
        if text is not None:
            then(text)

    app.push_screen(AskScreen(title, about, answer), typed)


def typed_path(text: str) -> Path:
    """Read a path as people type it."""
    return Path(text or ".").expanduser()


def hidden(now: ReviewNow, run: RunNow, what: str = "The numbers of this run") -> Iterator[Static]:
    """Yield that numbers or ratings are hidden, why, and which key shows them."""
    before = "Nobody has looked yet." if not run.looks else f"Looks so far: {run.looks}."
    later = " Ratings have changed since the last one." if run.looks else ""
    yield Static(
        Content.assemble(
            (f"{what} are hidden until you look.\n\n", "bold"),
            f"{rule(now, run)}\n\n",
            f"{before}{later} ",
            f"{now.progress.done:,} of {now.progress.asked:,} decisions are here.\n\n",
            _waiting(now, "", "\n\n"),
            ("l", "bold $mark"),
            "  look now",
        ),
        classes="words",
    )


def question(now: ReviewNow, run: RunNow, what: str = "numbers") -> Content:
    """Return the question before the look."""
    return Content.assemble(
        (f"Look at the {what}? This is look {run.looks + 1}.\n\n", "bold"),
        f"{rule(now, run)}\n\n",
        f"{now.progress.done:,} of {now.progress.asked:,} decisions are here.",
        _waiting(now, "\n\n", ""),
    )


def _waiting(now: ReviewNow, before: str, after: str) -> Content:
    """Return who would not be counted in this look; empty where everybody would be."""
    words = not_counted(now)
    return Content.assemble(before, (words, "$warn"), after) if words else Content()


def not_counted(now: ReviewNow) -> str:
    """Return of how many people nothing counts because several laptops speak for them, and where it is decided."""
    waiting = sum(duplicate_laptops.waits for duplicate_laptops in now.speaking.several)
    return waiting_words(waiting, len(now.review.key.orders), now.review.name)


def rule(now: ReviewNow, run: RunNow) -> str:
    """Return what a look costs, by the review's own policy."""
    policy = read_policy(now.review.policy, "policy.toml")
    sure, later = (f"{percent(float(policy.confidence(look)), 1)}" for look in (1, 2))
    first = f"the first asks each bound to be {sure} sure, every later one {later}"
    held = f"This one asks for {sure if not run.looks else later}."
    return (
        f"Every look at new ratings is written down and counts: {first}. {held} "
        "So look when the ratings are in, not while they come."
    )
