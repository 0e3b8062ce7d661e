"""Plays a finished run in a thread of its own: paused or not, at a speed, from any moment."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from harness.core.failures import HarnessError
from harness.events.kinds import Event, Started
from harness.store.file.database import opened
from rosetta_tui.replay.timeline import Jump, Pause, Playback

SPEEDS = (1, 10, 100, 1000)

TICK_SECONDS = 1 / 15
"""How often something may happen."""

SHORT_SECONDS = 60
"""The first speed is the least at which the run takes no longer than this."""


class Player:
    """Gives the events of a run on a clock of its own; every method may be called from any thread.

    ``jumped`` is called by ``drain`` where the picture is to begin anew.
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
        """Begin to read, then to play."""
        self._thread.start()

    def drain(self) -> list[Event]:
        """Return what is new, oldest first; what was before a jump is left out."""
        events: list[Event] = []
        while self._events:
            event = self._events.popleft()
            if isinstance(event, Jump):
                events = [each for each in events if isinstance(each, Started)]
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
        """Whether nothing moves until a key is pressed: paused, or at the end."""
        return self.paused or self.over

    def toggle(self) -> None:
        """Pause or go on; at the end, play from the beginning."""
        if self.over:
            self.paused = False
            self.seek(0.0)
        else:
            self.paused = not self.paused
            self._wake.set()

    def faster(self, by: int) -> None:
        """Take the next speed, or the one before."""
        place = SPEEDS.index(self.speed) + by
        self.speed = SPEEDS[max(0, min(len(SPEEDS) - 1, place))]

    def seek(self, moment: float) -> None:
        """Go to a moment of the run's own time."""
        self._wish = max(0.0, min(self.duration, moment))
        self._wake.set()

    def skip(self, share: float) -> None:
        """Go on or back by a share of the whole, from where somebody wanted to be last."""
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
