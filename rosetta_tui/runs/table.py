"""The runs of the store as rows of a table: read, searched, sorted, marked, the cursor kept on its run."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from corpora.text.messages import percent
from harness.card.reading import block, inside_words, number
from harness.core.failures import UsageError
from harness.core.query import Fields, holds, matches
from harness.store.run_list import RunSummary
from harness.store.runs import find_trashed
from harness.store.sqlite.database import Mark, is_read_only, mark_of, opened
from rosetta_tui.session.run_sources import resume_call
from rosetta_tui.show import figures, run_facts
from rosetta_tui.show.card_fields import caveats_in_words, claimable, kept_words, leaving, review_of, score_record
from rosetta_tui.show.columns import WITHHELD, Cell, Column, Record, Rows, Value, widest
from rosetta_tui.toolkit.ordered_table import RowOrder
from rosetta_tui.toolkit.result_table import ResultTable

if TYPE_CHECKING:
    from rosetta_tui.show.run_columns import RunColumns


class RunsFound(NamedTuple):
    runs: list[RunSummary]
    deleted: bool  # whether there is a run that can be brought back
    mark: Mark  # how the store's files looked before


class RunReader:
    """Remembers how the store's files looked when what they hold was last taken."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mark: Mark | None = None
        self.only_reads = False  # whether the store is read-only; known after the first look

    def forget(self) -> None:
        """Force the next look to read in any case."""
        self._mark = None

    def taken(self, found: RunsFound) -> None:
        """Mark what is shown, so that later looks read only what was written after it."""
        self._mark = found.mark

    def look(self, *, anyway: bool) -> RunsFound | None:
        """Return the runs as they are now; None where nothing was written since, unless ``anyway``. Raises StoreError."""
        mark = mark_of(self._path)
        if mark == self._mark and not anyway:
            return None
        with opened(self._path) as store:
            self.only_reads = is_read_only(store)
            return RunsFound(run_facts.listed_runs(store), any_deleted(store), mark)

    def purge(self) -> None:
        """Erase what was deleted too long ago to be brought back; raises StoreError."""
        from harness.store.deletion import purge

        with opened(self._path) as store:
            if not is_read_only(store):
                purge(store)


_LEAD = 16  # least cells of the lead metric; another task's name may take more
_RESULT = 17  # cells of what may be claimed of a run; of stated scores it says that too

COLUMNS = (
    Column("state", "", 3),
    Column("id", "id", 8, drop=2),
    Column("when", "when", 16, drop=4),
    Column("corpus", "corpus", 14, share=1),
    Column("pair", "pair", 5, share=1, drop=7),
    Column("method", "method · model · condition", 20, share=6),
    Column("result", "result", _RESULT),
    Column("chrf", "chrF++", _LEAD, share=1, drop=1),
    Column("composite", "composite", 9, right=True, drop=3),
    Column("cost", "cost", 9, right=True, drop=5),
    Column("failed", "failed", 6, right=True, drop=6),
    Column("notes", "tags · note", 14, share=1, drop=8, exported=False),
)

UNDER_WAY = frozenset({"running", "paused", "draining"})  # states of a run being worked on

_SYMBOLS = {
    "running": Cell("▶", "mark"),
    "paused": Cell("‖", "warn"),
    "draining": Cell("▷", "mark"),
    "stopped": Cell("■", "warn"),
    "complete": Cell("✓", "good"),
}


class RunRows(Rows["RunSummary"]):
    """One row for each run, in the order given."""

    def __init__(self, runs: Sequence[RunSummary], marked: frozenset[str] = frozenset()) -> None:
        super().__init__(runs)
        self._marked = marked
        self._named = not all(map(run_facts.translates, runs))  # whether chrF++ bears its name
        self.others = run_facts.other_inputs(runs)  # runs with other composite inputs than most

    @property
    def columns(self) -> Sequence[Column]:
        """The columns; where no run translates, the first score is another and takes the room of the tiers."""
        translated = sum(map(run_facts.translates, self.items))
        stated = [len(_result(run).text) for run in self.items if run.stated]
        titles = {} if translated and translated == len(self.items) else {"chrf": "score"}
        widths = {} if translated else {"chrf": _LEAD + 3, "result": 13}
        if stated:
            widths["result"] = max(_RESULT, *stated)
        return [
            replace(column, title=titles.get(column.key, column.title), width=widths.get(column.key, column.width))
            for column in COLUMNS
        ]

    def find(self, run_id: str) -> int | None:
        """Return the row of a run, None where it is gone."""
        return next((i for i, run in enumerate(self.items) if run.run_id == run_id), None)

    def key(self, index: int) -> Hashable:
        """Return what the row's look depends on; a sealed card never changes."""
        run = self.items[index]
        beside = tuple(certificate.sha256 for certificate in run.certificates)
        words = (run.tags, run.note, run.run_id in self._marked, run.stated)
        name = (run.run_id, run.distinction, run.run_id in self.others, self._named)
        now = tuple(run.so_far.values())
        return (name, run.state, run.done, run.failed, run.card is None, beside, words, now)

    def cells(self, index: int) -> Sequence[Cell]:
        run = self.items[index]
        state, *cells = run_cells(run, other=run.run_id in self.others, named=self._named)
        mark = "●" if run.run_id in self._marked else " "
        return (Cell(f"{mark} {state.text}", state.tone), *cells)

    def record(self, index: int) -> Record:
        """Return the values of one row; tags and notes stay on this computer."""
        return run_record(self.items[index])

    def needs(self) -> Sequence[int]:
        """Return the cells that the widest text of each column takes, 0 where no run has one."""
        texts = {
            "corpus": (run.dataset_id for run in self.items),
            "pair": (run.language_pair for run in self.items),
            "method": (run_facts.setup_words(run) for run in self.items),
            "chrf": (f"{run_facts.lead_words(run, named=self._named)[0]:{_LEAD}}" for run in self.items),
            "composite": ("–" for run in self.items if run_facts.translates(run)),
            "notes": (beside_words(run) for run in self.items),
        }
        return widest(COLUMNS, texts)


def run_record(run: RunSummary) -> dict[str, Value]:
    """Return everything that the list knows about a run and that may leave this computer."""
    inside, run = run, leaving(run)
    card = run.card or {}
    record: dict[str, Value] = {
        "run_id": run.run_id,
        "created": run_facts.iso(run.created),
        "state": run.state,
        "dataset_id": run.dataset_id,
        "language_pair": run.language_pair,
        "method": run.method,
        "model": run.model_slug,
        "condition": run.condition,
        "entries": run.total,
        "done": run.done,
        "failed": run.failed,
        "failures": ", ".join(f"{name} {count}" for name, count in run.failures.items()) or None,
        "retry_of": run.retry_of or None,
        "rescore_of": run.rescore_of or None,
    }
    record |= score_record(block(card, "scores"))
    record["cost_usd"] = number(block(card, "cost").get("total_cost_usd"))
    if run is not inside:
        return {**record, WITHHELD: inside_words(run.run_id)}
    if run.card is not None and run_facts.tiered(run):
        record["claimable_tier"] = claimable(card, review_of(card, run.certificates))
        record["caveats"] = caveats_in_words(card) or None
    return record


def run_cells(run: RunSummary, *, other: bool = False, named: bool = False) -> tuple[Cell, ...]:
    """Return in one row what a run is and what came out; ``other`` and ``named`` as in ``run_facts.lead_words``."""
    tone = "quiet" if run.card is None and run.so_far else "plain"
    return (
        _SYMBOLS[run.state],
        Cell(run.run_id[:8], "quiet"),
        Cell(run_facts.when(run.created), "quiet"),
        Cell(run.dataset_id),
        Cell(run.language_pair, "quiet"),
        Cell(run_facts.setup_words(run)),
        _result(run),
        *(Cell(words, tone) for words in run_facts.lead_words(run, other=other, named=named)),
        Cell(figures.in_column(run_facts.line_of(run).cost), "quiet"),
        Cell(figures.count(run.failed), "bad" if run.failed else "quiet"),
        Cell(beside_words(run), "quiet"),
    )


def beside_words(run: RunSummary) -> str:
    """Return what a person wrote beside a run: its tags, then the note."""
    tags = " ".join(f"#{tag}" for tag in run.tags)
    return " · ".join(part for part in (tags, run.note) if part)


def _result(run: RunSummary) -> Cell:
    """Return how far a run is, or what may be claimed of it, in words that no list cuts."""
    if run.card is not None and not run_facts.tiered(run):
        return Cell("complete", "quiet")
    if run.card is not None:
        return Cell(f"{run_facts.line_of(run).result}{run_facts.stated_mark(run)}")
    share = f" {percent(run.done / run.total)}" if run.total else ""
    return Cell(f"{run.state}{share}", "mark" if run.state in UNDER_WAY else "warn")


def _result_words(run: RunSummary) -> str:
    """Return the result whole: the numbers behind it, the review, the caveats."""
    if run.card is not None and not run_facts.tiered(run):
        return "complete"
    if run.card is not None:
        line = run_facts.line_of(run)
        return f"{line.result.partition(' ')[0]} {line.whole_tier}{run_facts.stated_mark(run)}"
    return f"{_result(run).text} · {figures.count(run.done)} of {figures.count(run.total)}"


def run_words(run: RunSummary, *, other: bool = False) -> tuple[str, str]:
    """Return everything about one run in two lines, for the place below the list; ``other`` as in ``run_cells``."""
    cells = dict(zip((column.key for column in COLUMNS), run_cells(run, other=other), strict=True))
    parts = [cells[name].text for name in ("corpus", "pair", "method", "id", "notes")]
    name = " · ".join(part for part in parts if part)
    failed = run_facts.failed_told(run.failed, run.failures)
    result = _result_words(run)
    numbers = [f"chrF++ {cells['chrf'].text}", f"composite {cells['composite'].text}"]
    if not run_facts.translates(run):
        numbers = [cells["chrf"].text] if run.card is None else kept_words(run)
    if run.card is None:
        stopped = run.state == "stopped" and not run.imported
        again = f" · {resume_call(run.run_id, run.failed, run.submission)}" if stopped else ""
        now = numbers if run.so_far else []
        return name, " · ".join([result, *now, failed]) + again
    price = run_facts.line_of(run).cost  # one that is no amount is named: no column does it here
    parts = [result, *numbers, price if any(letter.isdigit() for letter in price) else f"cost {price}", failed]
    return name, " · ".join([*parts, run_facts.OTHER_INPUTS_WORDS] if other else parts)


# ---- Which runs of the list are shown, and in which order


def _best(run: RunSummary) -> float | None:
    """Return what a run is shown by first, higher where it is better."""
    value = run_facts.headline(run)
    less = figures.better_arrow(run_facts.headline_id(run)) == "↓"
    return -value if less and value is not None else value


_SORTS: Mapping[str, tuple[str, bool, Callable[[RunSummary], float | str | None]]] = {
    "when": ("newest", True, lambda run: run.created),
    "corpus": ("corpus", False, lambda run: run.dataset_id.casefold()),
    "method": ("method and model", False, lambda run: run_facts.setup_words(run).casefold()),
    "result": ("tier", True, run_facts.composite_of),
    "chrf": ("chrF++, or the task's score", True, _best),
    "composite": ("composite", True, run_facts.composite_of),
    "cost": ("cost", False, lambda run: run_facts.line_of(run).total_cost_usd),
    "failed": ("failed entries", True, lambda run: run.failed),
    "notes": ("tags", False, lambda run: " ".join(run.tags).casefold() or None),
}
"""Name → in words, whether the highest comes first, and what is compared; None comes last."""

SORT_WORDS = {name: words for name, (words, _, _) in _SORTS.items()}


def shown_runs(runs: Sequence[RunSummary], order: RowOrder) -> list[RunSummary]:
    """Return the runs that fit, sorted; those under way are on top where nothing else is asked."""
    kept = list(runs)
    if order.where:
        columns = _columns_of(runs)
        fits = matches(order.where, columns.every, partial(holds, rows=columns))
        kept = [run for run, own in zip(runs, fits, strict=True) if own]
    _, falling, value = _SORTS[order.sort]
    known = [run for run in kept if value(run) is not None]
    known.sort(key=value, reverse=falling is not order.turned)  # type: ignore[arg-type]  # None was left out
    ordered = known + [run for run in kept if value(run) is None]
    if order.sort == "when" and not order.turned:
        ordered.sort(key=lambda run: run.state.value not in UNDER_WAY)
    return ordered


def _columns_of(runs: Sequence[RunSummary]) -> RunColumns:
    from rosetta_tui.show.run_columns import RunColumns  # numpy is loaded only for who filters

    return RunColumns(runs)


def order_words(order: RowOrder) -> str:
    """Return how runs are sorted; empty for the newest first."""
    words, falling, _ = _SORTS[order.sort]
    usual = (order.sort, order.turned) == ("when", False)
    return "" if usual else f"by {words} {'▼' if falling is not order.turned else '▲'}"


class RunTable(ResultTable):
    """Holds every run and shows those that are wished for."""

    KIND = "runs"

    def __init__(self) -> None:
        super().__init__(COLUMNS, id="runs")
        self.every: Sequence[RunSummary] | None = None  # all runs; None before the first read
        self.runs: Sequence[RunSummary] = ()  # those that are shown, as they are shown
        self.order = RowOrder("when")
        self.others: frozenset[str] = frozenset()
        """Ids of runs whose composite does not compare with most of the same corpus."""
        self.marked: dict[str, None] = {}  # ids of marked runs, in the order of marking

    @property
    def chosen(self) -> RunSummary | None:
        return self.runs[self.cursor] if self.runs else None

    def take(self, runs: Sequence[RunSummary], *, newest: bool = False) -> None:
        """Show these runs from now on; with ``newest`` the cursor goes to the newest that was not there before."""
        known = {run.run_id for run in self.every or ()}
        new = (run.run_id for run in runs if run.run_id not in known)
        wanted = next(new, None) if newest else None
        self.every = runs
        self.marked = {id_: None for id_ in self.marked if any(r.run_id == id_ for r in runs)}
        self._show(wanted)

    @property
    def fields(self) -> Fields:
        """The fields that runs can be asked for."""
        return _columns_of(self.every or ()).fields

    def wish(self, order: RowOrder) -> None:
        """Show other runs, or in another order."""
        self.order = order
        self._show()

    def _show(self, wanted: str | None = None) -> None:
        here = self.chosen
        self.runs = shown_runs(self.every or (), self.order)
        rows = RunRows(self.runs, frozenset(self.marked))
        self.others = rows.others
        if (columns := tuple(rows.columns)) != self.columns:
            self.show_columns(columns)
        target = wanted or (here.run_id if here else None)
        self.show_rows(rows, None if target is None else rows.find(target))

    def go_to(self, run_id: str) -> None:
        """Move the cursor to a run, where it is shown."""
        place = next((i for i, run in enumerate(self.runs) if run.run_id == run_id), None)
        if place is not None:
            self._move(place)

    def mark(self) -> None:
        """Mark the run under the cursor, or take its mark away, and continue to the next."""
        if self.chosen is not None:
            run_id = self.chosen.run_id
            if run_id in self.marked:
                del self.marked[run_id]
            else:
                self.marked[run_id] = None
            self._show()
            self.action_move(1)

    @property
    def listed(self) -> tuple[str, ...]:
        """Ids of the marked runs, or of all that are shown where none is marked."""
        return tuple(self.marked) or tuple(run.run_id for run in self.runs)

    def pair(self) -> tuple[str, ...]:
        """Return what a comparison means here: the marked runs, else the chosen one and its neighbour.

        The neighbour is the next run of the same corpus, else the one before, and stands first: the
        list begins with the newest, and a difference is seen from the first. One marked run is compared
        with the chosen one. A run over fewer entries, such as a try of the bench, is a neighbour only where there is
        no other. Fewer than two ids where there is nothing to compare with.
        """
        if len(self.marked) > 1 or self.chosen is None:
            return tuple(self.marked)
        chosen = self.chosen
        if self.marked and chosen.run_id not in self.marked:
            return (*self.marked, chosen.run_id)
        after, before = self.runs[self.cursor + 1 :], self.runs[: self.cursor][::-1]
        corpus = (chosen.dataset_id, chosen.language_pair)
        neighbours = [run for run in (*after, *before) if (run.dataset_id, run.language_pair) == corpus]
        neighbours.sort(key=lambda run: run.total < chosen.total)
        return (*(run.run_id for run in neighbours[:1]), chosen.run_id)


def any_deleted(store: sqlite3.Connection) -> bool:
    """Return whether there is a run that can be brought back."""
    try:
        find_trashed(store, "last")
    except UsageError:
        return False
    return True
