"""The keys that work here, in the last line of a screen: one widget that draws them all.

Textual's own footer is a widget for each key, made again whenever one of them changes; on most screens that
takes longer than everything else together.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, chain
from typing import Any, ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import App
from textual.binding import Binding
from textual.reactive import reactive
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from rosetta_tui.show.key_names import key_name
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import show

EDGE = "▏"  # what stands before the key of the palette
_MORE = " …"  # stands after the last key that has room, where there are more
WHEEL_CELLS = 4  # how far a turn of the wheel goes where the keys have not all room


class Key(NamedTuple):
    """One key: what is drawn for it and what a click presses."""

    key: str
    shown: str
    words: str
    enabled: bool
    tooltip: str

    @property
    def width(self) -> int:
        return cell_len(self.shown) + cell_len(self.words) + bool(self.words)


class KeyLine(Widget):
    """Every shown binding of the screen with its key; a click presses the key."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-line--key", "key-line--words", "key-line--edge"}
    DEFAULT_CSS = """
    KeyLine {
        dock: bottom;
        height: 1;
        color: $footer-foreground;
        background: $footer-background;
    }
    KeyLine:hover { pointer: pointer; }
    KeyLine > .key-line--key {
        color: $footer-key-foreground;
        background: $footer-key-background;
        text-style: bold;
    }
    KeyLine > .key-line--words {
        color: $footer-description-foreground;
        background: $footer-description-background;
    }
    KeyLine > .key-line--edge {
        color: $foreground 20%;
        background: $footer-background;
    }
    """

    show_command_palette: reactive[bool] = reactive(True)  # the palette's key at the right end

    def __init__(self, *, palette_from: int = 0) -> None:
        super().__init__()
        self._palette_from = palette_from  # least width with room for the palette's key
        self.keys: tuple[Key, ...] = ()  # from left to right
        self.palette: Key | None = None  # the key at the right end, where the app has a palette
        self._told = ""  # what the tooltip says
        self._skipped = 0  # cells to the left of what is seen

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._look)

    def on_unmount(self) -> None:
        self.screen.bindings_updated_signal.unsubscribe(self)

    def _look(self, screen: Screen[Any]) -> None:
        """Update the keys; draw only where they are others than before."""
        if not (screen.app.app_focus and self.is_attached):
            return
        app, active = screen.app, screen.active_bindings
        shown: dict[str, Key] = {}  # the first of each action
        typing = isinstance(app.focused, Input)  # there a letter is text, and Esc leads back
        for _, binding, enabled, tooltip in active.values():
            if binding.show and binding.action not in shown and not (typing and len(key_name(binding.key)) == 1):
                display = None if typing and len(binding.key_display or "") == 1 else binding.key_display
                shown[binding.action] = _key(app, replace(binding, key_display=display), tooltip, enabled=enabled)
        keys, palette = tuple(shown.values()), None
        opens = active.get(app.COMMAND_PALETTE_BINDING)
        if opens is not None and app.ENABLE_COMMAND_PALETTE:
            tooltip = opens.binding.tooltip or opens.binding.description
            palette = _key(app, opens.binding, tooltip, enabled=opens.enabled)
        if (keys, palette) != (self.keys, self.palette):
            self.keys, self.palette = keys, palette
            self._skip(self._skipped)
            self.refresh()

    # Drawing

    @property
    def _right(self) -> Key | None:
        wide = self.size.width >= self._palette_from
        return self.palette if self.show_command_palette and wide else None

    @property
    def _room(self) -> int:
        """Cells for the keys at the left."""
        return self.size.width - (0 if self._right is None else self._right.width + 2)

    @property
    def _needed(self) -> int:
        """Cells of all keys at the left, the first of which is drawn at cell 0 where none are skipped."""
        return sum(key.width + 1 for key in self.keys) - bool(self.keys)

    @property
    def _end(self) -> int:
        """Cell after the last whole key that has room."""
        last = self._skipped + self._room
        if self._needed <= last:
            return self._needed
        ends = accumulate((key.width + 1 for key in self.keys), initial=-1)
        last -= len(_MORE)
        return max((end for end in ends if self._skipped < end <= last), default=last)

    def render_line(self, y: int) -> Strip:
        if y:
            return Strip.blank(self.size.width, self.rich_style)
        gap = Segment(" ", self.rich_style)
        left = Strip(chain.from_iterable((*self._drawn(key), gap) for key in self.keys))
        left = left.crop(self._skipped, self._end)
        if self._end < self._needed:
            left = Strip([*left, Segment(_MORE, self._style("words"))])
        left = left.adjust_cell_length(self._room, self.rich_style)
        if self._right is None:
            return left
        edge = Segment(EDGE, self._style("edge"))
        return Strip([*left, edge, *self._drawn(self._right), gap]).crop(0, self.size.width)

    def _drawn(self, key: Key) -> list[Segment]:
        """Draw a key and what it does."""
        dim = None if key.enabled else Style(dim=True)
        words = f" {key.words}" if key.words else ""
        return [Segment(key.shown, self._style("key") + dim), Segment(words, self._style("words") + dim)]

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"key-line--{name}")

    # The mouse

    def _at(self, x: int) -> Key | None:
        right = self._right
        if x >= self._room:
            return right if right is not None and x < self.size.width - 1 else None
        if x >= self._end - self._skipped:
            return None
        start = -self._skipped
        for key in self.keys:
            if start <= x < start + key.width:
                return key
            start += key.width + 1
        return None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        key = self._at(event.x)
        if key is not None and key.enabled:
            self.app.simulate_key(key.key)
        elif key is not None:
            self.app.bell()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        key = self._at(event.x)
        tooltip = "" if key is None else key.tooltip
        if tooltip != self._told:
            self._told = tooltip
            self.tooltip = show(tooltip) if tooltip else None

    def _skip(self, cells: int) -> bool:
        """Show what lies that many cells to the right; gives whether that is something else than before."""
        most = max(0, self._needed - self._room)
        before, self._skipped = self._skipped, max(0, min(cells, most))
        if self._skipped != before:
            self.refresh()
        return self._skipped != before

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        if self._skip(self._skipped + WHEEL_CELLS):
            event.stop()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        if self._skip(self._skipped - WHEEL_CELLS):
            event.stop()

    def on_resize(self) -> None:
        self._skip(self._skipped)


def _key(app: App[Any], binding: Binding, tooltip: str, *, enabled: bool) -> Key:
    shown = plain(app.get_key_display(binding))
    return Key(binding.key, shown, plain(binding.description), enabled, tooltip)


def key_of(screen: Screen[Any], action: str, *, typing: bool = False) -> str:
    """Return the key that leads to an action of a screen or of the app, also while ``typing``; empty where none does."""
    for active in screen.active_bindings.values():
        if active.binding.action == action and not (typing and len(active.binding.key) == 1):
            return key_name(active.binding.key)
    return ""
