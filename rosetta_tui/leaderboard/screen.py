"""The leaderboard: runs that may be ranked together, list by list."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Static

from corpora.text.messages import counted
from harness.compare import MOST_RUNS
from harness.leaderboard.entrant import Entrant
from harness.leaderboard.ranking import Board, BoardGrounds, leaderboards
from harness.release import FOLDER
from rosetta_tui.leaderboard import rows
from rosetta_tui.show.card_fields import TALL, absent_packs, score_bars
from rosetta_tui.show.columns import sorted_by
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import background
from rosetta_tui.toolkit.content import EmptyState, StatusBar, show, show_lines
from rosetta_tui.toolkit.dialogs.choose import choose
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import BackRequested, ReportAsked, RunChosen, RunsCompared
from rosetta_tui.toolkit.result_table import ResultTable
from scoring.core.inventory import typed_name

if TYPE_CHECKING:
    from harness.leaderboard.official import OfficialList

# ---- The official lists: what released cards show of runs over secret entries, as ``rosetta
# leaderboard`` prints it.


class OfficialScreen(Screen[None]):
    """All official lists under each other, as wide as the terminal."""

    TITLE = "Official lists"
    HELP = (
        "Scores of runs over secret entries, from released cards: those that this computer released, and those that "
        "`rosetta runs import` took in.\n"
        "rank: by composite. group: runs that share a letter cannot be told apart.\n"
        "answer: how many scores the submitter has had of these entries, and how many there are at most."
    )
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,escape", "leave", "Back", key_display="q", id="back")]

    def __init__(self, lists: Sequence[OfficialList]) -> None:
        super().__init__()
        self._lists = lists

    def compose(self) -> ComposeResult:
        yield StatusBar()
        with VerticalScroll():
            yield Static(id="official")
        yield KeyLine(palette_from=120)

    def on_mount(self) -> None:
        self.query_one(StatusBar).say(show(counted(len(self._lists), "list"), "$quiet"))
        self.query_one(VerticalScroll).focus()

    @on(Resize)
    def _fit(self) -> None:
        from rosetta_tui.leaderboard.official import lists_lines

        lines = lists_lines(self._lists, self.size.width - 2)
        self.query_one("#official", Static).update(Content("\n").join(map(show, lines)))

    def action_leave(self) -> None:
        self.post_message(BackRequested())


class LeaderboardScreen(Screen[None]):
    """One list at a time: runs of different lists never stand under each other."""

    TITLE = "Leaderboard"
    HELP = (
        "A list holds runs over the same entries of the same corpus whose composites weigh the same "
        "inputs, scored alike.\n"
        "rank: by composite; by chrF++ where the list is sorted by it. group: each of its runs is better by that "
        "metric than every run of the groups below (paired bootstrap); inside, the order may be chance.\n"
        "no rank: the seal does not hold, or more than 5 % of the entries failed because there is no connection.\n"
        "OFFICIAL: scores on the entries of gold_standard alone.\n"
        "self-benchmarked: scored by anyone who made the run, validated by nobody else.\n"
        "ownership: what organisation and developer signed about the method (rosetta community owners).\n"
        "profile: how the composite weighs its metrics, A with FST acceptance, B without.\n"
        "cost-adj.: composite / log2(1 + 1000 × cost per entry)."
    )
    CSS_PATH = "leaderboard.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "turn(-1)", "List before", show=False, id="previous"),
        Binding("right,l", "turn(1)", "List after", show=False, id="next"),
        Binding("L", "lists", "Lists", id="leaderboard.lists"),
        Binding("O", "official", "Official", tooltip="Official lists", id="leaderboard.official"),
        Binding("s", "sort", "Sort", id="sort"),
        Binding("a", "every", "Best/all", tooltip="Best run of each set-up, or all", id="leaderboard.all"),
        Binding("space", "mark", "Mark", id="mark"),
        Binding("c", "compare", "Compare", id="compare"),
        Binding("E", "report", "Report", tooltip="Write a page of the list", id="report"),
        Binding("r", "read", "Refresh", show=False, id="refresh"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]
    table = getters.query_one("#leaderboard", ResultTable)

    def __init__(self, store_path: Path) -> None:
        super().__init__()
        self._path = store_path
        self._boards: list[Board] | None = None
        self._official: Sequence[OfficialList] = ()
        self._index = 0
        self._grouped: dict[tuple[BoardGrounds, str, str], Board] = {}
        """Lists with their groups, by what parts them and what they are ranked by."""
        self._sort, self._turned = "composite", False
        self._best = False  # true where only the best run of each set-up is shown
        self.marked: dict[str, None] = {}  # ids, in the order of marking
        self.rows: rows.LeaderboardRows | None = None

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield Static(id="board")
        yield EmptyState("Reading …")
        yield ResultTable(rows.columns(), id="leaderboard")
        yield Static(id="chosen")
        yield Static(id="signature")
        yield Static(id="smallest")
        yield KeyLine(palette_from=120)

    def on_mount(self) -> None:
        self._show_list(there=False)
        self.call_after_refresh(self.action_read)  # the first frame waits for no reading

    @property
    def board(self) -> Board | None:
        """The list that is shown, with all its runs, ranked as it is sorted."""
        if not self._boards:
            return None
        board = rows.ranked_for(self._boards[self._index], self._sort)
        return self._grouped.get((board.grounds, board.language_pair, board.by), board)

    @property
    def chosen(self) -> Entrant | None:
        return self.rows.items[self.table.cursor] if self.rows and self.rows.count else None

    # Reading

    def action_read(self) -> None:
        home = self._path.parent

        def read(store: sqlite3.Connection) -> tuple[list[Board], Sequence[OfficialList]]:
            if not (home / FOLDER).is_dir():
                return leaderboards(store), []
            from harness.leaderboard.official import cards_here, official_lists

            return leaderboards(store), official_lists(cards_here(home, store))

        def cannot(why: str) -> None:
            self.query_one(EmptyState).say("The leaderboard cannot be read.", show(why))
            self._show_list(there=False)

        background(self, self._path, "boards", read, self._show, cannot)

    def _show_list(self, *, there: bool) -> None:
        """Show the list, or the words in its place."""
        self.query_one(EmptyState).display = not there
        for name in ("#board", "#leaderboard", "#chosen", "#signature", "#smallest"):
            self.query_one(name).display = there

    def _show(self, found: tuple[list[Board], Sequence[OfficialList]]) -> None:
        here = self.board
        boards, self._official = found
        self._boards = boards
        self.refresh_bindings()
        self._grouped = {}
        same = (i for i, board in enumerate(boards) if here is not None and board.is_same(here))
        self._index = next(same, 0)
        self.query_one(EmptyState).say(
            "Nothing to rank yet.",
            "A finished run with a composite stands here, beside others over the same entries.\n\n"
            f"{'O  opens the official lists' + chr(10) if self._official else ''}"
            "q  goes back; on Home, n begins a run and D runs the demo",
        )
        self._show_list(there=bool(boards))
        if boards:
            self.table.focus()
            self._fill()
        else:
            self.query_one(StatusBar).say(Content())

    def _fill(self, *, top: bool = False) -> None:
        """Show the list as it is wished for, and have its groups worked out where they are not yet."""
        board, here = self.board, self.chosen
        if board is None:
            return
        shown = board.best_of_setups if self._best else board
        self.rows = rows.LeaderboardRows(
            shown, rows.ordered(shown, self._sort, turned=self._turned), frozenset(self.marked)
        )
        sort = self._sort if self.board is None else rows.sort_on(self.board, self._sort)
        best_first = rows.dimension(sort).high_first is not self._turned
        self.table.show_columns(sorted_by(rows.columns(self.board), sort, falling=best_first))
        row = None if here is None or top else self.rows.find(here.run.run_id)
        self.table.show_rows(self.rows, 0 if top else row)
        boards = self._boards or []
        which = f"list {self._index + 1} of {len(boards)} ←→" if len(boards) > 1 else ""
        count = counted(len(shown.entrants), "run")
        best = "best of each set-up" if self._best else ""
        self.query_one(StatusBar).say(show(" · ".join(part for part in (which, count, best) if part), "$quiet"))
        name, made = rows.board_words(shown)
        absent = absent_packs(entrant.run.card or {} for entrant in shown.entrants)
        notes = [rows.others_words(boards, self._index), shown.unclustered, *absent]
        if not shown.clusters and not shown.unclustered:
            notes.append("working out the groups …")
        lines = [show(name, "bold"), show(made, "$quiet")]
        lines.append(show(" · ".join(note for note in notes if note) or " ", "$warn"))
        self.query_one("#board", Static).update(Content("\n").join(lines))
        words = " · ".join(filter(None, (rows.smallest_words(shown), rows.disagreeing_words(shown))))
        foot = self.query_one("#smallest", Static)
        foot.display = bool(words)
        foot.update(show(words, "$quiet"))
        self._moved()
        if not board.clusters and not board.unclustered:

            def cannot(why: str) -> None:
                self._clustered(replace(board, unclustered=why))

            def group(store: sqlite3.Connection) -> Board:
                from harness.leaderboard.board_clusters import (
                    with_clusters,  # its libraries, once the ranks stand there
                )

                return with_clusters(store, board)

            background(self, self._path, "clusters", group, self._clustered, cannot)

    def _clustered(self, found: Board) -> None:
        if self._boards is None:
            return
        self._grouped[found.grounds, found.language_pair, found.by] = found
        self._fill()

    @on(ResultTable.Moved)
    def _moved(self) -> None:
        board, entrant = self.board, self.chosen
        line = self.query_one("#chosen", Static)
        if board is not None and entrant is not None:
            name, numbers = rows.entrant_words(board, entrant)
            bars = score_bars(entrant.run.card or {}, self.size.width - 2) if self.size.height >= TALL else ""
            parts = [show(name, "$quiet"), show(numbers), *([show_lines(bars, "$quiet")] if bars else [])]
            line.update(Content("\n").join(parts))
            stated, words = self.query_one("#signature", Static), rows.signature_words(entrant)
            stated.display = bool(words)
            stated.update(show(words, "$quiet"))

    # Keys

    def action_turn(self, by: int) -> None:
        if self._boards and len(self._boards) > 1:
            self._go((self._index + by) % len(self._boards))

    def _go(self, index: int) -> None:
        self._index = index
        self.marked.clear()
        self._fill(top=True)

    def action_lists(self) -> None:
        words = {
            str(i): plain(f"{rows.board_words(board)[0]} · {counted(len(board.entrants), 'run')}")
            for i, board in enumerate(self._boards or [])
        }
        if words:
            choose(self.app, "Lists", words, str(self._index), lambda key: self._go(int(key)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "official":
            return bool(self._official)
        return self._boards != [] or action in {"leave", "read"}

    def action_official(self) -> None:
        self.app.push_screen(OfficialScreen(self._official))

    def action_sort(self) -> None:
        words = {name: by.words for name, by in self._dimensions().items()}
        title = "Sort by (the same again turns it round)"
        choose(self.app, title, words, self._sort, self._sort_by)

    @on(ResultTable.TitleChosen)
    def _title_chosen(self, event: ResultTable.TitleChosen) -> None:
        key = {"rank": "composite", "cluster": "composite", "tier": "composite", "chrf_group": "chrf"}.get(event.key, event.key)  # fmt: skip
        if self.board is not None and key == self.board.by:
            key = "composite"
        key = typed_name(key) if "." in key else key
        if key in self._dimensions():
            self._sort_by(key)

    def _dimensions(self) -> dict[str, rows.Dimension]:
        return rows.dimensions(() if self.board is None else self.board.entrants)

    def _sort_by(self, sort: str) -> None:
        self._turned = sort == self._sort and not self._turned
        self._sort = sort
        self._fill(top=True)

    def action_every(self) -> None:
        self._best = not self._best
        self._fill()

    def action_mark(self) -> None:
        entrant = self.chosen
        if entrant is None:
            return
        run_id = entrant.run.run_id
        if run_id in self.marked:
            del self.marked[run_id]
        else:
            self.marked[run_id] = None
        self._fill()
        self.table.action_move(1)

    def action_compare(self) -> None:
        """Compare the marked runs; where fewer than two are marked, the chosen one with the next."""
        runs = tuple(self.marked) if len(self.marked) > 1 else self._neighbours()
        if len(runs) < 2:
            self.notify("A comparison needs two runs of one list.", markup=False)
        elif len(runs) > MOST_RUNS:
            self.notify(f"At most {MOST_RUNS} runs are compared.", markup=False)
        else:
            self.post_message(RunsCompared(runs))

    def _neighbours(self) -> tuple[str, ...]:
        if self.rows is None or self.chosen is None:
            return ()
        here = self.chosen.run.run_id
        if self.marked and here not in self.marked:
            return (*self.marked, here)
        ids = [item.run.run_id for item in self.rows.items]
        at = min(self.table.cursor, len(ids) - 2)
        return tuple(ids[max(0, at) : at + 2])

    @on(ResultTable.Chosen)
    def _open(self) -> None:
        if self.chosen is not None:
            self.post_message(RunChosen(self.chosen.run.run_id, True))

    def action_report(self) -> None:
        best = self._best
        self.post_message(ReportAsked("leaderboard", self._sort, "leaderboard", best=best))

    def action_leave(self) -> None:
        self.post_message(BackRequested())
