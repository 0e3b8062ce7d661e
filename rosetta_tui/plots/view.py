"""A plot whose points can be walked through; its owner shows what has the focus.

Every shape says what it is without its colour: ● a value, ├ ┤ its interval, ◆ ○ on the front or not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from rosetta_tui.plots.points import BINS, Axis, PlotPicture, Point
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.result_table import crop

Piece = tuple[str, str]  # text, and the tone it is drawn in: `plain`, `quiet`, `mark` or `good`

Line = list[Piece]

_BLOCKS = " ▁▂▃▄▅▆▇█"
LEAST_BAR = 24  # cells that a line's picture takes at least


def axis_lines(picture: PlotPicture, axis: Axis, before: int, width: int) -> list[Line]:
    """Return the axis that goes across: its line, its numbers, and what it measures."""
    line, labels = ["─"] * width, [" "] * width
    taken = -1
    free = [(0.0, picture.tick(0.0))] if axis.logarithmic and any(not p.across for p in picture.points) else []
    for number, words in free + axis.labels(max(2, width // 12), picture.tick):
        place = axis.place(number, width)
        start = max(0, min(width - len(words), place - len(words) // 2))
        line[place] = "┴"
        if start > taken:
            labels[start : start + len(words)] = words
            taken = start + len(words)
    pad = " " * before
    return [
        [(pad + "".join(line), "quiet")],
        [(pad + "".join(labels), "quiet")],
        [(pad + crop(picture.across, width), "quiet")],
    ]


# A line for each point


@dataclass(frozen=True, slots=True)
class Lines:
    """How a plot with a line for each point is arranged in a width."""

    picture: PlotPicture
    axis: Axis
    name: int  # cells for the name
    bar: int
    number: int  # cells for the number at the right

    @classmethod
    def of(cls, picture: PlotPicture, width: int) -> Lines:
        """Share out the width."""
        bounds = picture.bounds
        axis = (
            Axis.of([n for p in picture.points for n in (p.across, *(p.ends or ()))])
            if bounds is None
            else Axis(*bounds, logarithmic=picture.logarithmic)
        )
        number = max((len(_number(picture, point)) for point in picture.points), default=0)
        widest = max((cell_len(plain(point.name)) for point in picture.points), default=0)
        name = max(8, min(widest, (width - number) * 2 // 5, width - number - LEAST_BAR - 6))
        return cls(picture, axis, name, max(8, width - name - number - 5), number)

    def line(self, point: Point, *, focus: bool) -> Line:
        sign = "▸ " if focus else "  "
        return [
            (sign + crop(point.name, self.name) + " ", "plain"),
            *(self._spread(point) if point.counts else self._value(point)),
            (f" {_number(self.picture, point):>{self.number}}", "plain"),
        ]

    def _value(self, point: Point) -> Line:
        cells = ["·"] * self.bar
        if point.ends is not None:
            low, high = (self.axis.place(end, self.bar) for end in point.ends)
            cells[low : high + 1] = ["─"] * (high + 1 - low)
            cells[low], cells[high] = "├", "┤"
        place = self.axis.place(point.across, self.bar)
        cells[place] = "●"
        return [("".join(cells[:place]), "quiet"), ("●", "mark"), ("".join(cells[place + 1 :]), "quiet")]

    def _spread(self, point: Point) -> Line:
        parts = [place * BINS // self.bar for place in range(self.bar)]
        top = max(point.counts)
        cells = [_BLOCKS[min(8, math.ceil((point.counts[part] / top) * 8))] for part in parts]
        pieces: Line = [("".join(cells), "quiet")]
        for number, sign in zip(reversed(point.ends or ()), "┤●", strict=False):
            place = self.axis.place(number, self.bar)
            head = pieces.pop(0)[0]
            if place < len(head):
                pieces = [(head[:place], "quiet"), (sign, "mark"), (head[place + 1 :], "quiet"), *pieces]
            else:
                pieces.insert(0, (head, "quiet"))
        return pieces

    def foot(self) -> list[Line]:
        """Return the axis below."""
        picture = self.picture
        if any(point.counts for point in picture.points):
            picture = replace(picture, across=f"{picture.across}   p50 / p95")
        return axis_lines(picture, self.axis, self.name + 3, self.bar)


def _number(picture: PlotPicture, point: Point) -> str:
    if point.counts and point.ends is not None:
        return " / ".join(picture.tick(end) for end in point.ends)
    return picture.tick(point.across)


# Points on a plane


def plane(picture: PlotPicture, width: int, height: int, focus: int) -> list[Line]:
    """Draw points by both axes; a figure stands where several are in one cell."""
    across = Axis.of([p.across for p in picture.points], logarithmic=picture.logarithmic)
    up = Axis.of([p.up or 0.0 for p in picture.points])
    rows = max(3, height - 5)
    labels = [""] * rows
    for number, words in up.labels(max(2, rows // 3), picture.up_tick):
        labels[rows - 1 - up.place(number, rows)] = words
    before = max(map(len, labels)) + 1
    cells = max(10, width - before - 2)
    grid: list[list[Piece]] = [[(" ", "plain")] * cells for _ in range(rows)]
    for point in picture.points[focus : focus + 1]:
        if point.up_ends is not None:
            low, high = (rows - 1 - up.place(end, rows) for end in point.up_ends)
            for place in range(high, low + 1):
                grid[place][across.place(point.across, cells)] = ("│", "quiet")
    _draw_points(grid, picture.points, across, up, focus)
    lines: list[Line] = [[(crop(picture.up, width), "quiet")]]
    for label, row in zip(labels, grid, strict=True):
        side = "┤" if label else "│"
        # Assemble neighbours of one tone.
        line: Line = []
        for text, tone in row:
            if line and line[-1][1] == tone:
                line[-1] = (line[-1][0] + text, tone)
            else:
                line.append((text, tone))
        lines.append([(f"{label:>{before}}{side}", "quiet"), *line])
    return lines + axis_lines(picture, across, before + 1, cells)


def _draw_points(grid: list[list[Piece]], points: Sequence[Point], across: Axis, up: Axis, focus: int) -> None:
    rows, cells = len(grid), len(grid[0])
    points_at: dict[tuple[int, int], list[int]] = {}
    for index, point in enumerate(points):
        place = (rows - 1 - up.place(point.up or 0.0, rows), across.place(point.across, cells))
        points_at.setdefault(place, []).append(index)
    for (row, column), here in points_at.items():
        front = any(points[index].front for index in here)
        sign = str(min(9, len(here))) if len(here) > 1 else "◆" if front else "○"
        grid[row][column] = (sign, "mark" if front else "plain")
        if focus in here:
            grid[row][column] = (sign, "focus")
            for beside, bracket in ((column - 1, "▸"), (column + 1, "◂")):
                if 0 <= beside < cells and (row, beside) not in points_at:
                    grid[row][beside] = (bracket, "plain")


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
    class PointMoved(Message):
        """Another point has the focus."""

    @dataclass
    class PointChosen(Message):
        point: Point

    def __init__(self) -> None:
        super().__init__(id="plot")
        self.picture: PlotPicture | None = None
        self.below: Sequence[PlotPicture] = ()  # drawn where the first leaves room, to look at only
        self._here = ""  # run that had the focus last; it gets it back when it is drawn again
        self._top = 0
        self._shown: list[int | None] = []  # point of each line, None for a line of none

    @property
    def point(self) -> Point | None:
        return self.picture.points[self.cursor] if self.picture and self.picture.points else None

    def show_picture(self, picture: PlotPicture) -> None:
        """Draw another plot; the focus stays on its run where that is there."""
        if self.point is not None:
            self._here = self.point.run_id
        self.picture = picture
        self._top = 0
        own_places = (i for i, point in enumerate(picture.points) if point.run_id == self._here)
        self.cursor = next(own_places, 0)
        self.refresh()

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self.picture.points) - 1)) if self.picture else 0

    def render(self) -> Content:
        picture, (width, height) = self.picture, self.size
        if picture is None or width < 20 or height < 4:
            return Content("")
        self._shown = []
        if not picture.points:
            lines: list[Line] = [[], [(picture.beside, "plain")]]
        elif picture.up:
            lines = plane(picture, width, height, self.cursor)
        else:
            lines = self._lines(picture, width, height)
        for other in self.below if not (picture.up and picture.points) else ():
            lines += _beneath(other, width, height - len(lines) - 1)
        return Content("\n").join(
            [Content("").join([show(text, _STYLES[tone]) for text, tone in line]) for line in lines]
        )

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
        self.cursor += by
        self.post_message(self.PointMoved())

    def action_choose(self) -> None:
        if self.point is not None:
            self.post_message(self.PointChosen(self.point))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or offset.y >= len(self._shown):
            return
        index = self._shown[offset.y]
        if index is not None:
            self.action_move(index - self.cursor)
            if event.chain >= 2:
                self.action_choose()

    def on_mouse_scroll_down(self) -> None:
        self.action_move(1)

    def on_mouse_scroll_up(self) -> None:
        self.action_move(-1)


LEAST_BELOW = 9  # lines that another plot needs with its heading
MOST_BELOW = 16


def _beneath(picture: PlotPicture, width: int, room: int) -> list[Line]:
    """Return another plot under an empty line and its name; nothing where there is no room for it."""
    if room < LEAST_BELOW or not picture.points:
        return []
    head: list[Line] = [[], [(str(picture.kind), "mark")]]
    if picture.up:
        return head + plane(picture, width, min(room, MOST_BELOW) - 1, -1)
    layout = Lines.of(picture, width)
    order = _with_headings(picture)[: room - 4]
    rows = [
        [(picture.points[order[at + 1] or 0].heading, "quiet")]
        if index is None
        else layout.line(picture.points[index], focus=False)
        for at, index in enumerate(order)
        if index is not None or at + 1 < len(order)
    ]
    return head + rows + layout.foot()


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
