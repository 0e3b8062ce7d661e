"""A finished run as it happened: the picture of a live run, on a clock that a person sets."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from harness.store.file.database import open_store
from rosetta_tui.live.run_header import RunHeader
from rosetta_tui.live.screen import STEERS, LiveScreen
from rosetta_tui.replay.player import Player
from rosetta_tui.replay.replay_line import ReplayLine
from rosetta_tui.replay.timeline import Jump
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.messages import Left

SEEKS = {"skip", "seek"}
"""Actions whose keys move the cursor of a line that somebody types in."""

STEP = 0.05
"""Share of the whole that a key goes on or back."""


class ReplayScreen(LiveScreen):
    """Plays a run of the store; nothing is asked and nothing is changed."""

    TITLE = "Replay"
    HELP = (
        "✓ done   ✗ failed   ↻ waits for its next try   ● asked   … waiting for its turn\n"
        "The run plays as it happened, from the times that are stored of its entries; pauses between its "
        "stretches are skipped.\n"
        "At the end stand the numbers of its sealed card. Sorting and filters look at the finished run."
    )
    CSS_PATH = "replay.tcss"

    replays = True

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "play(False)", "Pause", id="replay.pause"),
        Binding("space", "play(True)", "Play", id="replay.pause"),
        Binding("plus,equals_sign", "faster(1)", "Faster", key_display="+", id="replay.faster"),
        Binding("minus", "faster(-1)", "Slower", key_display="-", id="replay.slower"),
        Binding("left", f"skip(-{STEP})", "Back 5 %", show=False, id="replay.back"),
        Binding("right", f"skip({STEP})", "On 5 %", show=False, id="replay.on"),
        Binding(
            "home", "seek(0)", "To the beginning", show=False, priority=True, id="replay.first"
        ),
        Binding("end", "seek(1)", "To the end", show=False, priority=True, id="replay.last"),
    ]

    def __init__(self, store_path: Path, run_id: str) -> None:
        self.player = Player(store_path, run_id, self._jumped)
        self._rested = False
        super().__init__(self.player, open_store(store_path), None)

    def compose(self) -> ComposeResult:
        """Lay out a live run, with where the replay is below its name."""
        for widget in super().compose():
            yield widget
            if isinstance(widget, RunHeader):
                yield ReplayLine()

    def on_mount(self) -> None:
        """Begin to play."""
        self.player.start()

    def look(self) -> None:
        """Take in what happened since the last look, and show it."""
        if self.player.trouble:
            why, self.player.trouble = self.player.trouble, ""
            self.app.notify(plain(why), title="No replay", severity="warning", markup=False)
            self.post_message(Left())
        else:
            super().look()
            self.query_one(ReplayLine).show(self.player)
            if self._rested is not self.player.rests:
                self._rested = self.player.rests
                self.refresh_bindings()

    def _jumped(self, jump: Jump) -> None:
        if jump.back:
            self.live.rewind()
        self.live.remember(jump.states)

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys of a typed line to it; there is nothing to steer."""
        if action in SEEKS and isinstance(self.focused, Input):
            return False
        if action in STEERS or action == "end":
            return False
        if action == "play":
            return self.player.rests is bool(parameters[0])
        return super().check_action(action, parameters)

    def why_not_steered(self) -> str:
        """Nothing is said of keys that play."""
        return ""

    def action_play(self, _play: bool) -> None:
        """Pause or go on; at the end, play again."""
        self.player.toggle()

    def action_faster(self, by: int) -> None:
        """Play faster or slower."""
        self.player.faster(by)

    def action_skip(self, share: float) -> None:
        """Go on or back."""
        self.player.skip(share)

    def action_seek(self, share: float) -> None:
        """Go to the beginning or to the end."""
        self.player.seek(share * self.player.duration)

    def on_unmount(self) -> None:
        """Stop playing."""
        self.player.close()
