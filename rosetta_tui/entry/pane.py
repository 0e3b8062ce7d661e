"""The pane of a table: all of the entry under the cursor, below the rows, or beside them where there is room."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer
from textual.visual import Visual

from corpora.model.entry import Entry
from rosetta_tui.entry import page
from rosetta_tui.entry.screen import NO_LINES
from rosetta_tui.toolkit.content import PageLine, show
from rosetta_tui.toolkit.messages import PaneToggled
from rosetta_tui.toolkit.ordered_table import FilteredScreen
from rosetta_tui.toolkit.result_table import crop
from rosetta_tui.toolkit.textual_inside import set_scroll_size, still_mounted

BESIDE = 150  # cells of a screen from which the pane is beside the rows
LEAST = 80  # cells below which there is no pane
REST_SECONDS = 0.4  # how long the cursor rests on an entry before its scores are explained
MOST_CHARACTERS = 1_500  # of one text in the pane; the entry's own screen has all of it
_LEAST_LABEL, _MOST_LABEL = 10, 14  # cells of a label; a longer one is cut


PANE = Binding("p", "pane", "Pane", tooltip="Open or close the pane of the entry", id="pane")


class EntryPage(NamedTuple):
    """The page of the entry under a cursor."""

    entry: Entry | None  # None where it cannot be read
    lines: Iterable[PageLine]  # made only where they are shown


GONE = EntryPage(None, NO_LINES)


class EntryPane(ScrollView, can_focus=True):
    """Labelled texts that wrap beside their labels; drawn by lines, because a layout for each row costs too much."""

    ALLOW_SELECT = False  # a secret text must not be copied off the screen
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "rows", "To the rows", show=False, id="pane.leave"),
        Binding("k", "scroll_up", "Up", show=False, id="table.up"),
        Binding("j", "scroll_down", "Down", show=False, id="table.down"),
    ]

    def __init__(self) -> None:
        super().__init__(id="pane")
        self.auto_links = False  # it has none, and a line is drawn in two thirds of the time
        self._lines: list[PageLine] = []
        self._below: Iterator[PageLine] | None = None  # lines that are out of sight, not made yet
        self.rows: list[Content] = []  # the texts as they wrap in the width, with their labels
        self._strips: dict[int, Strip] = {}  # rows that were drawn
        self._title = Content()
        self._width = 0  # cells in which the texts are wrapped

    def show_page(self, title: Content, lines: Iterable[PageLine], *, top: bool) -> None:
        """Show the texts of an entry; with ``top`` from the first line."""
        self.border_title = Content.assemble(" entry ", title, " ")
        whole = not top or not self._lines
        self._title, self._lines, self._below = title, [], iter(lines)
        self._wrap(whole=whole)
        if top:
            self.scroll_to(y=0, animate=False, immediate=True)

    def show_below(self) -> None:
        """Make the lines that are out of sight, too; this waits until the cursor rests, as most pages are passed by."""
        if self._below is not None:
            self._wrap(whole=True)

    def _wrap(self, *, whole: bool = False) -> None:
        in_sight = sum(map(_least_height, self._lines))
        while self._below is not None and (whole or in_sight < self.size.height):
            if (line := next(self._below, None)) is None:
                self._below = None
            else:
                self._lines.append(line)
                in_sight += _least_height(line)
        self._width = width = self.scrollable_content_region.width
        self._strips.clear()
        heading = [PageLine("Entry", self._title)] if self.styles.border_top[0] in {"", "none"} else []
        lines = [*heading, *self._lines]
        label = min(_MOST_LABEL, max(_LEAST_LABEL, *(cell_len(line.label) for line in lines), 0)) + 1
        self.rows = [row for line in lines for row in _hanging(line, label, max(1, width - label))]
        # while lines below are not made, the scrollbar stays as that of the page before, which is mostly alike
        height = max(len(self.rows), 0 if self._below is None else self.virtual_size.height)
        set_scroll_size(self, Size(width, height))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        if self._width != self.scrollable_content_region.width:
            self._wrap()  # a scrollbar came or went
        at = y + self.scroll_offset.y
        if at not in self._strips:
            row = self.rows[at] if at < len(self.rows) else Content()
            made = Visual.to_strips(self, row, self._width, 1, self.visual_style, apply_selection=False)
            self._strips[at] = made[0] if made else Strip.blank(self._width, self.rich_style)
        return self._strips[at]

    def on_mount(self) -> None:
        self.set_class(not getattr(self.app, "pane_open", True), "-closed")

    def on_resize(self) -> None:
        self._wrap()

    def on_focus(self) -> None:
        self.show_below()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_mounted:
            self._wrap()

    def action_rows(self) -> None:
        self.screen.query_one("#entries").focus()


def _least_height(line: PageLine) -> int:
    return line.text.plain.count("\n") + 1


def _hanging(line: PageLine, label: int, width: int) -> Iterator[Content]:
    """Yield a text in lines of this width, the first behind its label of ``label`` cells, the others below it."""
    text = line.text
    if len(text.plain) > MOST_CHARACTERS:
        text = Content.assemble(text[:MOST_CHARACTERS], ("… (enter shows all)", "$quiet"))
    head = Content.styled(crop(line.label, label - 1) + " ", "$quiet")
    for part in text.wrap(width):
        yield head.append(part)
        head = Content(" " * label)


class RowsAndPane(Container):
    """A table and its pane; beside each other where there is room, the pane away where there is none."""

    def on_resize(self) -> None:
        width = self.app.size.width  # its own is less while a scrollbar of the screen comes and goes
        self.set_class(width >= BESIDE, "-beside")
        self.set_class(width < LEAST, "-narrow")


class PanedScreen(FilteredScreen):
    """Has a table of entries and a pane that shows the one under the cursor; a person closes it for all screens."""

    _page_key: Hashable = None  # what the pane shows
    _rest: Timer | None = None  # runs while the cursor rests on an entry

    def entry_key(self) -> Hashable:
        """Return what the page of the entry under the cursor depends on, its place first; None without an entry."""
        raise NotImplementedError

    def entry_page(self) -> EntryPage:
        """Return the page of the entry under the cursor."""
        raise NotImplementedError

    def explain_entry(self) -> None:
        """Explain the entry on which the cursor rests, where there is something to explain."""

    @property
    def pane(self) -> EntryPane:
        return self.query_one(EntryPane)

    def on_mount(self) -> None:
        self.watch(self.table, "cursor", self._cursor_moved, init=False)

    def show_entry(self) -> None:
        """Show the entry under the cursor, unless the pane is closed or shows it as it is."""
        if not still_mounted(self) or not (self.pane.display and self.pane.region):
            return
        key = self.entry_key()
        if key == self._page_key:
            return
        before, self._page_key = self._page_key, key
        place = key[0] if isinstance(key, tuple) else None
        same = isinstance(before, tuple) and before[0] == place
        if place is None:
            self.pane.show_page(Content.styled("none", "$quiet"), (), top=True)
            return
        entry, lines = self.entry_page()
        self.pane.show_page(_title(entry), lines, top=not same)
        if not same:
            if self._rest is not None:
                self._rest.stop()
            self._rest = self.set_timer(REST_SECONDS, self._rested)

    def _rested(self) -> None:
        if self.is_current and self.pane.display:
            self.pane.show_below()
            self.explain_entry()

    def _cursor_moved(self) -> None:
        """Show the entry in the frame that shows the cursor; of keys that came faster, the last one's."""
        if getattr(self.app, "keys_wait", False):
            self.call_after_refresh(self.show_entry)
        else:
            self.show_entry()

    def on_screen_resume(self) -> None:
        self.open_pane(opened=getattr(self.app, "pane_open", True))

    def open_pane(self, *, opened: bool) -> None:
        """Show or hide the pane."""
        self._page_key = None
        for pane in self.query(EntryPane):
            pane.set_class(not opened, "-closed")
            if not opened and pane.has_focus:
                self.table.focus()
        if opened:
            self.call_after_refresh(self.show_entry)

    def action_pane(self) -> None:
        opened = self.pane.has_class("-closed")
        self.open_pane(opened=opened)
        self.post_message(PaneToggled(opened))


def _title(entry: Entry | None) -> Content:
    if entry is None:
        return Content.styled("gone", "$quiet")
    tags = page.tags(entry)
    return Content.assemble(show(str(entry.id), "bold"), "  " if tags.plain else "", tags)
