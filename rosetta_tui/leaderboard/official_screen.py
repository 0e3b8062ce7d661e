"""The official lists: what released cards show of runs over secret entries, as ``rosetta leaderboard`` prints it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Static

from rosetta_tui.leaderboard.official import lists_lines
from rosetta_tui.toolkit.content import StatusBar, show
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import BackRequested
from scoring.core.messages import counted

if TYPE_CHECKING:
    from harness.leaderboard.official import OfficialList


class OfficialScreen(Screen[None]):
    """All official lists under each other, as wide as the terminal."""

    TITLE = "Official lists"
    HELP = (
        "Scores of runs over secret entries, from released cards: those that this computer released, and those that "
        "`rosetta runs import` took in.\n"
        "rank: by composite. group: runs that share a letter cannot be told apart.\n"
        "answer: how many scores the submitter has had of these entries, and how many there are at most."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,escape", "leave", "Back", key_display="q", id="back")
    ]

    def __init__(self, lists: Sequence[OfficialList]) -> None:
        super().__init__()
        self._lists = lists

    def compose(self) -> ComposeResult:
        yield StatusBar()
        with VerticalScroll():
            yield Static(id="official")
        yield KeyLine(palette_from=120)

    def on_mount(self) -> None:
        self.query_one(StatusBar).say(show(counted(len(self._lists), "list"), "$quiet"))
        self.query_one(VerticalScroll).focus()

    @on(Resize)
    def _fit(self) -> None:
        lines = lists_lines(self._lists, self.size.width - 2)
        self.query_one("#official", Static).update(Content("\n").join(map(show, lines)))

    def action_leave(self) -> None:
        self.post_message(BackRequested())
