"""A plot whose points can be walked through; what has the focus is told by whoever holds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from rosetta_tui.plots.drawing import Line, Lines, plane
from rosetta_tui.plots.points import PlotPicture, Point
from rosetta_tui.toolkit.content import show

_STYLES = {"plain": "", "quiet": "$quiet", "mark": "$mark", "focus": "bold reverse"}


class PlotView(Widget, can_focus=True):
    """Draws a picture into whatever room there is, and scrolls where there are more lines than that."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Open", id="open"),
        Binding("up,left,k,h", "move(-1)", "Point before", show=False, id="plots.before"),
        Binding("down,right,j,l", "move(1)", "Next point", show=False, id="plots.after"),
        Binding("home,g", "move(-1000000)", "First point", show=False, id="table.first"),
        Binding("end,G", "move(1000000)", "Last point", show=False, id="table.last"),
    ]

    cursor: reactive[int] = reactive(0)

    @dataclass
    class Moved(Message):
        """Another point has the focus."""

    @dataclass
    class Chosen(Message):
        """A point was opened."""

        point: Point

    def __init__(self) -> None:
        super().__init__(id="plot")
        self.picture: PlotPicture | None = None
        self._here = ""
        """Run that had the focus last; it gets it back when it is drawn again."""
        self._top = 0
        self._shown: list[int | None] = []
        """Point of each line that is drawn, None where a line is of none."""

    @property
    def point(self) -> Point | None:
        """The point with the focus."""
        return self.picture.points[self.cursor] if self.picture and self.picture.points else None

    def show_picture(self, picture: PlotPicture) -> None:
        """Draw another plot; the focus stays on its run where that is there."""
        if self.point is not None:
            self._here = self.point.run_id
        self.picture = picture
        self._top = 0
        found = (i for i, point in enumerate(picture.points) if point.run_id == self._here)
        self.cursor = next(found, 0)
        self.refresh()

    def validate_cursor(self, cursor: int) -> int:
        """Keep the focus on a point."""
        return max(0, min(cursor, len(self.picture.points) - 1)) if self.picture else 0

    def render(self) -> Content:
        """Draw the plot in the room there is."""
        picture, (width, height) = self.picture, self.size
        if picture is None or not picture.points or width < 20 or height < 4:
            return Content("")
        if picture.up:
            self._shown = []
            lines = plane(picture, width, height, self.cursor)
        else:
            lines = self._lines(picture, width, height)
        return Content("\n").join([_content(line) for line in lines])

    def _lines(self, picture: PlotPicture, width: int, height: int) -> list[Line]:
        """Draw a line for each point, as many as there is room for, with the axis below."""
        layout = Lines.of(picture, width)
        foot = layout.foot()
        order = _with_headings(picture)
        room = max(1, height - len(foot))
        here = order.index(self.cursor)
        top = min(max(self._top, here - room + 1), max(0, here - 1))
        self._top = max(0, min(top, len(order) - room))
        self._shown = order[self._top : self._top + room]
        lines: list[Line] = []
        for place, index in enumerate(self._shown, self._top):
            if index is None:
                heading = picture.points[order[place + 1] or 0].heading
                lines.append([(heading, "mark")])
            else:
                lines.append(layout.line(picture.points[index], focus=index == self.cursor))
        return lines + foot

    # What happens to it

    def action_move(self, by: int) -> None:
        """Walk to another point."""
        self.cursor += by
        self.post_message(self.Moved())

    def action_choose(self) -> None:
        """Open the run of the point."""
        if self.point is not None:
            self.post_message(self.Chosen(self.point))

    def on_click(self, event: events.Click) -> None:
        """Focus the point of the line clicked; a second click opens it."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y >= len(self._shown):
            return
        index = self._shown[offset.y]
        if index is not None:
            self.action_move(index - self.cursor)
            if event.chain >= 2:
                self.action_choose()

    def on_mouse_scroll_down(self) -> None:
        """Walk on."""
        self.action_move(1)

    def on_mouse_scroll_up(self) -> None:
        """Walk back."""
        self.action_move(-1)


def _with_headings(picture: PlotPicture) -> list[int | None]:
    """Return the points in order, with None where a heading stands before the next one."""
    order: list[int | None] = []
    heading = ""
    for index, point in enumerate(picture.points):
        if point.heading != heading:
            heading = point.heading
            order.append(None)
        order.append(index)
    return order


def _content(line: Line) -> Content:
    return Content("").join([show(text, _STYLES[tone]) for text, tone in line])
