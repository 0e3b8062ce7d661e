"""A finished run as it happened: the picture of a live run, on a clock that a person sets."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input

from harness.core.failures import HarnessError
from harness.events.kinds import Event, Started
from harness.store.file.database import open_store, opened
from rosetta_tui.live.panels import RunHeader
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.replay.timeline import Jump, Pause, Playback
from rosetta_tui.show import figures
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import DetailLine
from rosetta_tui.toolkit.messages import BackRequested
from scoring.core.messages import percent

SPEEDS = (1, 10, 100, 1000)

TICK_SECONDS = 1 / 15
"""How often something may happen."""

SHORT_SECONDS = 60
"""The first speed is the least at which the run takes no longer than this."""


class Player:
    """Gives the events of a run on its own clock; every method may be called from any thread.

    ``jumped`` is called by ``drain`` where the picture is to begin again.
    """

    def __init__(self, store_path: Path, run_id: str, jumped: Callable[[Jump], None]) -> None:
        self._path = store_path
        self._run_id = run_id
        self._jumped = jumped
        self._events: deque[Event | Jump] = deque()
        self._wake = threading.Event()
        self._closed = False
        self._wish: float | None = None
        self.now = 0.0
        """Seconds of the run's own time."""
        self.duration = 0.0
        """0 until the run was read."""
        self.pauses: list[Pause] = []
        self.speed = SPEEDS[0]
        self.paused = False
        self.trouble = ""
        """Why the run cannot be played."""
        self._thread = threading.Thread(target=self._run, name="replay", daemon=True)

    def start(self) -> None:
        """Start to read, then to play."""
        self._thread.start()

    def drain(self) -> list[Event]:
        """Return what is new, oldest first; what was before a jump is left out."""
        events: list[Event] = []
        while self._events:
            event = self._events.popleft()
            if isinstance(event, Jump):
                events = [event for event in events if isinstance(event, Started)]
                self._jumped(event)
            else:
                events.append(event)
        return events

    def close(self) -> None:
        """Stop, and let the store go."""
        self._closed = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    # What a person does

    @property
    def over(self) -> bool:
        """True at the end."""
        return self.duration > 0 and self.now >= self.duration

    @property
    def rests(self) -> bool:
        """Return whether nothing moves until a key is pressed: paused, or at the end."""
        return self.paused or self.over

    def toggle(self) -> None:
        """Pause or continue; at the end, play from the beginning."""
        if self.over:
            self.paused = False
            self.seek(0.0)
        else:
            self.paused = not self.paused
            self._wake.set()

    def faster(self, by: int) -> None:
        """Set the next speed, or the one before."""
        place = SPEEDS.index(self.speed) + by
        self.speed = SPEEDS[max(0, min(len(SPEEDS) - 1, place))]

    def seek(self, moment: float) -> None:
        """Seek a moment of the run's own time."""
        self._wish = max(0.0, min(self.duration, moment))
        self._wake.set()

    def skip(self, share: float) -> None:
        """Continue or back by a share of the whole, from where somebody wanted to be last."""
        here = self.now if self._wish is None else self._wish
        self.seek(here + share * self.duration)

    # In the thread

    def _run(self) -> None:
        try:
            with opened(self._path) as store:
                playback = Playback(store, self._run_id, self._cancelled)
                self._events.extend(playback.begin())
                self.pauses, self.duration = playback.pauses, playback.duration
                fitting = (s for s in SPEEDS if playback.duration / s <= SHORT_SECONDS)
                self.speed = next(fitting, SPEEDS[-1])
                self._play(playback)
        except HarnessError as error:
            self.trouble = str(error)

    def _cancelled(self) -> bool:
        return self._closed or self._wish is not None

    def _play(self, playback: Playback) -> None:
        before = monotonic()
        while not self._closed:
            self._wake.wait(TICK_SECONDS)
            self._wake.clear()
            wish, self._wish = self._wish, None
            passed, before = monotonic() - before, monotonic()
            if wish is None:
                if self.paused or playback.over:
                    continue
                wish = min(self.duration, playback.now + passed * self.speed)
            self.now = wish
            # one by one: a jump is seen while the rest is worked out
            for event in playback.move_to(wish):
                self._events.append(event)
            before = monotonic()  # what was worked out meanwhile is no time of the run


MOST_BAR = 40


class ReplayLine(DetailLine):
    """One line below the header."""

    def show(self, player: Player) -> None:
        """Show where the replay is now."""
        if not player.duration:
            self.tell(Content.styled("reading …", "$quiet"))
            return
        sign, word = ("■", "at the end") if player.over else ("▶", "replay")
        if player.paused and not player.over:
            sign, word = "‖", "paused"
        share = player.now / player.duration
        times = f"{figures.clock(player.now)} of {figures.clock(player.duration)}"
        left = Content.assemble(
            (f"{sign} {word}", "bold $mark"), f"  ×{player.speed:,}", (f"  {times}  ", "$quiet")
        )
        right = _pauses(player)
        room = self.size.width - left.cell_length - right.cell_length - 9
        bar = figures.progress_bar(share, min(MOST_BAR, room)) if room >= 8 else ""
        self.tell(Content.assemble(left, (bar, "$mark"), f" {percent(share):>5}  ", right))


def _pauses(player: Player) -> Content:
    """Return which pause was skipped last, else how many there are."""
    passed = [pause for pause in player.pauses if pause.at <= player.now]
    if passed:
        last = passed[-1]
        words = f"‖ {figures.clock(last.seconds)} skipped at {figures.clock(last.at)}"
        return Content.styled(words, "$warn")
    many = len(player.pauses)
    words = f"{many} pause{'s' * (many != 1)} will be skipped" if many else ""
    return Content.styled(words, "$quiet")


SEEKS = {"skip", "seek"}
"""Actions whose keys move the cursor of a line that somebody types in."""

STEP = 0.05
"""Share of the whole that a key continues or back."""


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
        for widget in super().compose():
            yield widget
            if isinstance(widget, RunHeader):
                yield ReplayLine()

    def on_mount(self) -> None:
        self.player.start()

    def look(self) -> None:
        """Process what happened since the last look, and show it."""
        if self.player.trouble:
            why, self.player.trouble = self.player.trouble, ""
            self.app.notify(plain(why), title="No replay", severity="warning", markup=False)
            self.post_message(BackRequested())
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
        """Disable the keys of a typed line; there is nothing to steer."""
        if action in SEEKS and isinstance(self.focused, Input):
            return False
        if action in {"steer", "end"}:
            return False
        if action == "play":
            return self.player.rests is bool(parameters[0])
        return super().check_action(action, parameters)

    def why_not_steered(self) -> str:
        """Nothing is said of keys that play."""
        return ""

    def action_play(self, _play: bool) -> None:
        """Pause or continue; at the end, play again."""
        self.player.toggle()

    def action_faster(self, by: int) -> None:
        """Play faster or slower."""
        self.player.faster(by)

    def action_skip(self, share: float) -> None:
        self.player.skip(share)

    def action_seek(self, share: float) -> None:
        self.player.seek(share * self.player.duration)

    def on_unmount(self) -> None:
        """Stop playing."""
        self.player.close()
