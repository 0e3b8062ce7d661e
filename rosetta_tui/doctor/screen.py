"""Doctor: what works on this computer, what is missing, and what to do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.worker import get_current_worker

from harness.doctor.examination import examine, looked_at
from harness.doctor.finding import Finding, Health
from rosetta_tui.doctor.findings import SIGNS, summary, terminal
from rosetta_tui.own_files import own_files
from rosetta_tui.settings.findings import chosen
from rosetta_tui.show.columns import Cell, Column, Rows
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import DetailLine, StatusBar, show
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import BackRequested
from rosetta_tui.toolkit.result_table import ResultTable

_TONES = {Health.OK: "good", Health.MISSING: "warn", Health.BROKEN: "bad", Health.UNKNOWN: "quiet"}

COLUMNS = (
    Column("state", "state", 9),
    Column("area", "about", 9, drop=1),
    Column("name", "what", 13, share=1),
    Column("words", "found", 20, share=9),
)


class FindingRows(Rows[Finding]):
    def cells(self, index: int) -> Sequence[Cell]:
        """Return the cells of one row; what its words lead on to stands below the table."""
        finding = self.items[index]
        return (
            Cell(f"{SIGNS[finding.health]} {finding.health}", _TONES[finding.health]),
            Cell(finding.area, "quiet"),
            Cell(finding.name),
            Cell(f"{finding.words.removesuffix(':')} …" if finding.words.endswith(":") else finding.words),
        )


class DoctorScreen(Screen[None]):
    """A row for each thing that was examined; findings appear as they are made, in a thread."""

    TITLE = "Doctor"
    HELP = (
        "✓ ok   ○ missing: something would be better with it   ✗ broken   ? cannot be known\n"
        "Nothing is changed, and nothing is sent anywhere. `rosetta doctor` says the same in a shell."
    )
    CSS_PATH = "doctor.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "copy_mend", "Copy what to do", id="doctor.copy"),
        Binding("f", "filter", "Problems", id="filter"),
        Binding("r", "look_again", "Look again", id="refresh"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]
    table = getters.query_one("#findings", ResultTable)

    def __init__(self, store_path: Path) -> None:
        super().__init__()
        self._home = store_path.parent
        self._found: list[Finding] = []
        self._only_bad = False
        self._looking = True
        self._can_copy = False

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield ResultTable(COLUMNS, id="findings")
        yield DetailLine(id="fix")
        yield KeyLine()

    def on_mount(self) -> None:
        self.table.focus()
        self.action_look_again()

    @property
    def chosen(self) -> Finding | None:
        rows = self.table.rows
        return rows.items[self.table.cursor] if isinstance(rows, FindingRows) and rows.count else None

    def action_look_again(self) -> None:
        self._found, self._looking = [], True
        self._show()
        self._look(self.app.size.width, self.app.size.height)

    @work(thread=True, exclusive=True, group="doctor")
    def _look(self, columns: int, rows: int) -> None:
        worker = get_current_worker()

        def take(finding: Finding) -> None:
            self._found.append(finding)
            self._show()

        def done() -> None:
            self._looking = False
            self._show()

        around = partial(terminal, (columns, rows), os.environ)
        mine = looked_at("App", partial(chosen, self._home))
        ours = looked_at("Program", own_files)
        for findings in (ours, examine(self._home), mine, looked_at("Terminal", around)):
            for finding in findings:
                if worker.is_cancelled:
                    return
                bring(self, take, finding)
        bring(self, done)

    def _show(self) -> None:
        if not self.is_attached:
            return
        shown = [finding for finding in self._found if not self._only_bad or finding.health is not Health.OK]
        self.table.show_rows(FindingRows(shown))
        words = "looking …" if self._looking else summary(self._found)
        broken = any(finding.health is Health.BROKEN for finding in self._found)
        self.query_one(StatusBar).say(show(words, "$bad" if broken else "$quiet"))
        self._moved()

    @on(ResultTable.Moved, "#findings")
    def _moved(self) -> None:
        finding, panel = self.chosen, self.query_one("#fix", DetailLine)
        panel.display = finding is not None
        if finding is not None:
            lines = [show(f"  {line}", "bold $mark") for line in finding.mend]
            panel.tell(Content("\n").join([show(f"{finding.name}: {finding.words}"), *lines]))
        can = finding is not None and bool(finding.mend)
        if can != self._can_copy:  # the footer is redrawn only then
            self._can_copy = can
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "copy_mend":
            return self.chosen is not None and bool(self.chosen.mend)
        return super().check_action(action, parameters)

    @on(ResultTable.Chosen, "#findings")
    def _chosen(self) -> None:
        if self.check_action("copy_mend", ()):
            self.action_copy_mend()

    def action_copy_mend(self) -> None:
        if self.chosen is not None:
            self.app.copy_to_clipboard("\n".join(map(plain, self.chosen.mend)))
            self.notify("Copied: paste it into a shell.", timeout=2, markup=False)

    def action_filter(self) -> None:
        self._only_bad = not self._only_bad
        self._show()

    def action_leave(self) -> None:
        self.post_message(BackRequested())
