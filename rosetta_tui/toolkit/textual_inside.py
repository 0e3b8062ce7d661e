"""What Textual keeps to itself is touched here and in the driver of the terminal, with the reason for each line."""

from __future__ import annotations

import asyncio
import gc
import re
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic
from typing import Any

from rich import _wrap  # its pattern of a word has no other door
from rich.text import Text
from textual import constants
from textual._compositor import Compositor  # what draws the widgets of a screen
from textual._context import active_message_pump  # whose message failed
from textual.app import App, ScreenStackError
from textual.css.query import QueryError
from textual.driver import Driver
from textual.events import Callback, Event, Key, Paste
from textual.geometry import Region, Size
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget, WidgetError

from rosetta_tui.show.crash import crash_text
from rosetta_tui.show.terminal_notices import TerminalNotices

PATIENCE_SECONDS = 5.0  # how long a key waits at most for what the one before set off
SLICE_SECONDS = 0.05  # how often is looked whether what is waited for was closed meanwhile
OPENS_A_SCREEN = "opens a screen"
"""Name of a worker that reads what the screen that a key asked for will show."""
OPENING_SECONDS = 1.0  # how long keys wait for such a screen
AT_ONCE = frozenset({"escape", "q", "ctrl+c", "ctrl+p", "ctrl+q"})
"""Keys that do not wait for it."""
COLLECTED_AFTER = (20_000, 50, 50)  # objects between collections, fewer so that no frame waits


class TerminalApp(App[None]):
    """Keys act one after the other; leaves when the terminal vanishes, and prints no data when it fails."""

    table_columns = ""  # columns of tables that a person chose, as the settings have them
    pane_open = True  # whether tables of entries show the one under the cursor beside them

    def __init__(self, *, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        gc.set_threshold(*COLLECTED_AFTER)
        _wrap.re_word = _WORD
        self._ahead: deque[Key | Paste] = deque()
        self._giving: asyncio.Task[None] | None = None
        self._held_from: float | None = None  # when a key began to wait for rows (monotonic)
        self.notices = TerminalNotices(self._write_around, on=sys.__stdout__ is not None and sys.__stdout__.isatty())

    def _write_around(self, text: str) -> None:
        """Write to the terminal what is no part of the screen; after the app's end, too."""
        if self._driver is not None and self.is_running:
            self._driver.write(text)
        elif sys.__stdout__ is not None:
            sys.__stdout__.write(text)
            sys.__stdout__.flush()

    @property
    def typed_ahead(self) -> bool:
        """Return whether something typed has not acted yet, or not to its end."""
        return self._giving is not None

    @property
    def keys_wait(self) -> bool:
        """Return whether more was typed than could act so far, as where a key is held down."""
        return bool(self._ahead)

    async def on_event(self, event: Event) -> None:
        """Dispatch what is typed one by one: each goes where the focus is when all before it has acted.

        Textual would hand a key to what has the focus when it is read, although keys before it are still to move
        the focus, open a screen or close a list: the key would act elsewhere, or nowhere.
        """
        if not isinstance(event, Key | Paste) or event.is_forwarded:
            await super().on_event(event)
        elif self._giving is not None:
            self._ahead.append(event)
        else:
            await self._give(event)

    async def _give(self, event: Key | Paste) -> None:
        if self._waits_for_rows(event):
            self._ahead.appendleft(event)
            self._giving = asyncio.create_task(self._until_rows(event))
            return
        started = self.focused
        await super().on_event(event)
        self._giving = asyncio.create_task(self._until_done(started))

    def _waits_for_rows(self, event: Key | Paste) -> bool:
        """Return whether a key waits, at most ``PATIENCE_SECONDS`` from the first, for rows of a list being read."""
        reading = any(getattr(screen, "awaits_rows", False) for screen in self.screen_stack[-1:])
        if not reading:
            self._held_from = None
            return False
        if isinstance(event, Paste) or event.key in self.screen.active_bindings:
            return False
        if self._held_from is None:
            self._held_from = monotonic()
        return monotonic() - self._held_from < PATIENCE_SECONDS

    async def _until_rows(self, event: Key | Paste) -> None:
        try:
            while self.is_running and self._waits_for_rows(event):
                await asyncio.sleep(SLICE_SECONDS)
            await _at_rest(self, self.focused)  # the list gets the focus
        finally:
            self.call_later(self._give_next)

    async def _until_done(self, started: Widget | None) -> None:
        try:
            await _at_rest(self, started)
            if await self._until_opened():
                await _at_rest(self, self.focused)
        finally:  # whatever came of it, the next key is not held for ever
            self.call_later(self._give_next)

    async def _until_opened(self) -> bool:
        """Wait for the screen that is being read for a key; return whether there was one to wait for."""
        until, before, waited = monotonic() + OPENING_SECONDS, self.screen_stack[-1:], False
        while self.screen_stack[-1:] == before and monotonic() < until:
            reading = any(worker.name == OPENS_A_SCREEN and not worker.is_finished for worker in self.workers)
            if not reading or any(isinstance(event, Key) and event.key in AT_ONCE for event in self._ahead):
                break
            waited = True
            await asyncio.sleep(SLICE_SECONDS)
        return waited

    async def _give_next(self) -> None:
        self._giving = None
        if self._ahead:
            await self._give(self._ahead.popleft())

    def get_driver_class(self) -> type[Driver]:
        """Watch the terminal where the system has signals; elsewhere Textual's own driver does."""
        if constants.DRIVER is not None or sys.platform == "win32":
            return super().get_driver_class()
        from rosetta_tui.toolkit.terminal_driver import TerminalDriver

        return TerminalDriver

    async def leave_at_once(self, code: int) -> None:
        """End without asking: there is nobody any more who could answer."""
        self.exit(return_code=code)

    def _handle_exception(self, error: Exception) -> None:
        """Ignore that a widget lacks parts where it is removed before it has them, as all are when the app ends.

        Textual adds none to it then, yet calls its ``on_mount``.
        """
        node = active_message_pump.get(self)
        ends = self._exit or not self._running or (isinstance(node, Widget) and (node._pruning or node._closing))  # noqa: SLF001  Textual says it nowhere else
        if not (ends and isinstance(error, QueryError | WidgetError)):
            super()._handle_exception(error)

    def _fatal_error(self) -> None:
        # Textual's own prints every local variable, and there is no public way to turn that off.
        self.bell()
        self.panic(Text(crash_text(sys.exception())))


async def built(node: Widget | App[Any]) -> None:
    """Wait until a widget that was added has all that it is made of."""
    if isinstance(node, Widget) and node.is_attached:
        # no public way to wait for it from outside of the widget's own handlers
        await node._mounted_event.wait()  # noqa: SLF001


def still_mounted(node: Widget | App[Any]) -> bool:
    """Return whether the app, or a widget with all its parts, is there: composed, and not about to be removed."""
    if isinstance(node, App):
        return node.is_running and not node._exit  # noqa: SLF001  no public way to ask whether it is to end
    # no public way to ask for a removal that has begun: parts may be gone while the whole is attached
    return node.is_attached and node.is_mounted and not node._pruning  # noqa: SLF001


async def _at_rest(app: App[None], started: Widget | None) -> None:
    """Wait until nothing is left of what a key set off, which may climb to the app and open screens; threads excepted."""
    until, quiet = monotonic() + PATIENCE_SECONDS, False
    while app.is_running and monotonic() < until:
        try:
            screen = app.screen
        except ScreenStackError:  # no screen any more: the app ends
            return
        first = (started, app.focused) if started is not app.focused else (started,)
        climbs = [node for w in first if w is not None for node in w.ancestors_with_self]
        for node in dict.fromkeys((*climbs, screen, app)):
            if isinstance(node, MessagePump):
                await _caught_up(node, until)
        was_quiet, quiet = quiet, not busy(app, screen)
        if was_quiet and quiet:
            return


async def _caught_up(pump: MessagePump, until: float) -> None:
    """Wait until a widget, a screen or the app has handled all messages that wait for it by now."""
    done = asyncio.Event()
    # a message, because each call_later reads the signature of what it calls, which takes 0.1 ms
    if not pump.is_running or not pump.post_message(Callback(callback=done.set)):
        return
    while not done.is_set() and pump.is_running and monotonic() < until:
        with suppress(TimeoutError):
            await asyncio.wait_for(done.wait(), SLICE_SECONDS)


def busy(app: App[Any], screen: Screen[Any]) -> bool:
    """Return whether something of a screen is still to come: a message, a widget, what waits for the refresh."""
    # no public way to ask what waits for the next refresh: forms give the focus there, and tab goes by the layout
    put_off = screen._callbacks or screen._layout_required  # noqa: SLF001
    if app.message_queue_size or put_off or not screen.is_mounted:
        return True
    there = (child for child in screen.walk_children(with_self=True) if isinstance(child, Widget))
    return any(widget.message_queue_size or not widget.is_mounted for widget in there)


_WORD = re.compile(r"[^\S\u00a0\u202f]*(?:\S|[\u00a0\u202f]|(?<=\d) (?=%))+[^\S\u00a0\u202f]*")
"""A word of Rich, by which Textual breaks lines, that also holds no-break spaces, and ``97.5 %``."""


def forget_size(widget: Widget) -> None:
    """Make the next layout measure a widget again.

    Textual keeps a measured size if a layout that was asked for before the text changed is still to come.
    """
    widget._layout_updates += 1  # noqa: SLF001  part of the key under which the size is kept


def set_scroll_size(view: ScrollView, size: Size) -> None:
    """Set how much there is to scroll in a view whose scrollbar always stands.

    Textual lays the whole screen out again for each other size, which takes 10 ms.
    """
    if size == view.virtual_size:
        return
    view.set_reactive(Widget.virtual_size, size)
    view._scroll_update(size)  # noqa: SLF001  it moves the scrollbar, as a layout would


def _visible(self: Compositor, crop: Region | None = None) -> Iterator[tuple[Region, Region, list[Strip]]]:
    """Draw of each widget the rows within a crop, and none of a widget that those in front of it cover.

    Textual draws every widget whole, containers too, which is half of what a key costs.
    """
    covered = [0] * self.size.height  # a bit a column
    for widget, (region, clip) in self.visible_widgets.items():
        shown = region.intersection(clip)
        rows = shown if crop is None else shown.intersection(Region(shown.x, crop.y, shown.width, crop.height))
        columns = ((1 << rows.width) - 1) << rows.x
        if not rows or all(covered[y] & columns == columns for y in rows.line_range):
            continue
        for y in rows.line_range:
            covered[y] |= columns
        yield region, rows, widget.render_lines(rows.translate(-region.offset))


Compositor._get_renders = _visible  # type: ignore[method-assign]  # noqa: SLF001
