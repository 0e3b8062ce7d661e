"""The screens of runs: of each run there is one, and it shows the run as it is now."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from harness.store.file.database import is_read_only, open_store

if TYPE_CHECKING:
    from textual.app import App

    from rosetta_tui.entry.table import Order
    from rosetta_tui.live.screen import LiveScreen
    from rosetta_tui.session.watched import PrefetchedSource, WatchedRun


class RunScreens:
    """Belongs to the app; screens of runs of this process stay while they continue, whatever is on top of them."""

    def __init__(self, app: App[Any], store_path: Callable[[], Path]) -> None:
        self._app = app
        self._path = store_path
        self._steered: list[LiveScreen] = []
        """Of runs of this process."""
        self._begun = 0

    @property
    def under_way(self) -> list[LiveScreen]:
        """Screens of runs of this process that are not over."""
        return [screen for screen in self._steered if not screen.live.over]

    async def steer(self, session: WatchedRun) -> None:
        """Show a run that this process has begun, or continues with."""
        from rosetta_tui.live.screen import LiveScreen

        order = self._order_of(session.run_id)
        store = open_store(self._path())
        known = session.run_id
        screen = LiveScreen(session.source, store, session.control, order=order, run_id=known)
        self._begun += 1
        self._app.install_screen(screen, f"run-{self._begun}")
        await self._show(screen, session.run_id)
        self._steered.append(screen)

    async def watch(self, run_id: str, source: PrefetchedSource) -> None:
        """Show a run that is over, or one of another process."""
        from rosetta_tui.live.screen import LiveScreen
        from rosetta_tui.live.steering import RemoteRunControl

        store = open_store(self._path())
        helm = None if is_read_only(store) else RemoteRunControl(self._path(), run_id)
        screen = LiveScreen(source, store, None, helm=helm, order=self._order_of(run_id))
        await self._show(screen, run_id)

    async def open_steered(self, run_id: str) -> bool:
        """Return to the screen of a run of this process; return whether there is one."""
        for screen in self._steered:
            if screen.run_id == run_id:
                while screen in self._app.screen_stack and self._app.screen is not screen:
                    await self._app.pop_screen()
                if self._app.screen is not screen:
                    self._app.push_screen(screen)
                return True
        return False

    def left(self, screen: Screen[Any]) -> None:
        """Remove a screen that was kept, where a newer one is in its place; it was just left."""
        if getattr(screen, "superseded", False) and self._app.is_screen_installed(screen):
            self._app.uninstall_screen(screen)
            screen.remove()

    def _screens_of(self, run_id: str) -> list[LiveScreen]:
        """Return the screens that show a run now, or would once what is above them is left."""
        from rosetta_tui.live.screen import LiveScreen

        there = [screen for screen in self._app.screen_stack if isinstance(screen, LiveScreen)]
        every = dict.fromkeys([*self._steered, *there])
        return [live_screen for live_screen in every if run_id and live_screen.run_id == run_id]

    def _order_of(self, run_id: str) -> Order | None:
        """Return the order in which a person looks at a run already."""
        shown = [live_screen for live_screen in self._screens_of(run_id) if live_screen.is_mounted]
        return shown[-1].table.order if shown else None

    async def _show(self, screen: LiveScreen, run_id: str) -> None:
        """Show a run's screen instead of all older ones of it."""
        for old in self._screens_of(run_id):
            old.superseded = True
            if old in self._steered:
                self._steered.remove(old)
            if old not in self._app.screen_stack:
                self.left(old)
        here = self._app.screen
        if getattr(here, "superseded", False):
            await self._app.switch_screen(screen)
            self.left(here)
        else:
            self._app.push_screen(screen)
