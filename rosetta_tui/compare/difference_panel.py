"""What a comparison says at the top: the sentence, the runs on one axis, every pair, and words around tables."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.message import Message

from rosetta_tui.compare.difference_axis import DifferenceAxis
from rosetta_tui.compare.sentences import (
    cached_words,
    claim_words,
    doubtful,
    ends,
    floor_lines,
    kept_words,
    name,
    number,
    repeated_words,
    reproduction_words,
    sentence,
)
from rosetta_tui.show import figures
from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.columns import WITHHELD, Cell, Column, Record, Rows, Value
from rosetta_tui.toolkit.content import DetailLine, show
from rosetta_tui.toolkit.result_table import ResultTable

if TYPE_CHECKING:
    from harness.compare.comparison import Comparison
    from harness.compare.pairs import Pair

WHY_NOW = (
    "Ordinary tests may be wrong when they are examined early; this interval stays right at every look. "
    "The tests come at the end."
)
"""Why a difference may be examined before its runs are complete."""


def said(found: Comparison, pair: Pair, metric: str, *, tested: bool, details: bool) -> Content:
    """Return the sentence about a pair and which runs do not compare; with ``details`` all that makes it safe or doubtful."""
    # Before the tests are worked out nothing is said that only they can tell.
    lines = [Content.styled(f"Testing {pair.second.letter} against {pair.first.letter} …", "$quiet")]
    if tested or pair.under_way or metric not in pair.by_metric:
        words = sentence(pair, metric)
        lines = [show(f"{words[:1].upper()}{words[1:]}.", "bold")]
    if pair.under_way:
        open_ = [run.letter for run in (pair.first, pair.second) if not run.complete]
        verb = "is" if len(open_) == 1 else "are"
        why = f" {WHY_NOW}" if details else ""
        lines.append(show(f"{' and '.join(open_)} {verb} not complete.{why}", "$quiet"))
    if pair.reproduction is not None and tested:
        repeated = found.repeated(metric)
        lines += [show(repeated_words(setup, metric, deviations=details), "$mark") for setup in repeated]
        if details or not repeated:
            lines.append(show(" · ".join(map(str.strip, reproduction_words(pair.reproduction))), "$quiet"))
        cached = (cached_words(run) for run in (pair.first, pair.second))
        lines += [show(words, "$warn") for words in cached if words]
    for run in (pair.first, pair.second):  # where little may be claimed, with a mark and the floors
        claim = claim_words(run)
        if doubtful(run):
            lines.append(show(" · ".join([f"! {claim}", *(floor_lines(run) if details else ())]), "$warn"))
        elif claim and details:
            lines.append(show(claim, "$quiet"))
    if found.refused:
        lines.insert(1, refused(found))
    return Content("\n").join(lines)


def refused(found: Comparison) -> Content:
    """Name the runs that do not compare and the metrics by which none does, with the reasons."""
    lines = [f"Run {run_id[:8]} is not compared: {why}." for run_id, why in found.refused.items()]
    if not found.metrics:
        lines += [
            f"{pair.first.letter} and {pair.second.letter}, {name(metric)}: {why}."
            for pair in found.pairs
            for metric, why in pair.left_out.items()
        ]
    return Content("\n").join([show(line, "$warn") for line in lines])


def where_words(found: Comparison, metric: str) -> str:
    """Return by what and against what is compared, how many runs, on how many entries of what."""
    first, count = found.runs[0], len(found.entries)
    against = "" if found.baseline is None else f"against {letter_of(found, found.baseline)} · "
    entries = "1 entry" if count == 1 else f"{count:,} entries"
    common = " in common" if any(run.done > count for run in found.runs) else ""
    what = f"{entries}{common} · {first.dataset_id} {first.language_pair}"
    return f"by {name(metric)} · {against}{len(found.runs)} runs · {what}"


def metric_note(asked: str, shown: str) -> str:
    """Return why entries are shown by another metric than the one that is compared by."""
    if asked == shown:
        return ""
    return f"values by {name(shown)}: {name(asked)} is of a whole corpus"


def entries_line(shown: int, total: int, order: str, note: str) -> Content:
    """Return how many entries are shown, which and in what order."""
    number = f"{total:,} entries" if shown == total else f"{shown:,} of {total:,} entries"
    parts = (number if shown else "nothing found", order, note)
    return show(" · ".join(filter(None, parts)), "$mark" if note or shown < total else "$quiet")


def command_of(runs: Sequence[str], baseline: str | None) -> str:
    """Return the command that prints the same comparison."""
    against = [] if baseline is None else ["--baseline", baseline[:8]]
    return command_line(["rosetta", "compare", *(run[:8] for run in runs), *against])


def letter_of(found: Comparison, run_id: str) -> str:
    """Return the letter of a run, or the beginning of its id where it does not compare."""
    return next((run.letter for run in found.runs if run.run_id == run_id), run_id[:8])


LINE = 21  # cells of a line around zero
BLANK = Cell(figures.NONE, "quiet")  # stands where there is no value

PAIRS = (
    Column("pair", "pair", 5),
    Column("difference", "differ.", 7, right=True),
    Column("interval", "95 % interval", 16),
    Column("line", "around zero", LINE, drop=9, exported=False),
    Column("p", "p", 6, right=True, drop=2),
    Column("holm", "p Holm", 6, right=True, drop=1),
    Column("bootstrap", "p boot.", 7, right=True, drop=6),
    Column("effect", "effect", 6, right=True, drop=5),
    Column("wins", "wins", 5, right=True, drop=3),
    Column("losses", "losses", 6, right=True, drop=3),
    Column("ties", "ties", 5, right=True, drop=4),
    Column("better", "better", 7),
)
"""What a row shows of a pair; differences are the second run minus the first, as are wins and losses."""


def pair_columns(comparison: Comparison) -> tuple[Column, ...]:
    """Omit the correction for several pairs where there is one."""
    return tuple(c for c in PAIRS if c.key != "holm" or len(comparison.pairs) > 1)


class PairRows(Rows["Pair"]):
    """One row for each pair, by one metric."""

    def __init__(self, comparison: Comparison, metric: str, *, tested: bool) -> None:
        super().__init__(comparison.pairs)
        self._metric = metric
        self._tested = tested  # false while the tests are still being worked out

    def key(self, index: int) -> Hashable:
        """Return what the row's look depends on: rows are shown again where anything changes."""
        return index

    def cells(self, index: int) -> Sequence[Cell]:
        pair = self.items[index]
        head = Cell(f"{pair.second.letter} − {pair.first.letter}")
        cells = [head, *(self._running(pair) if pair.under_way else self._complete(pair))]
        if len(self.items) == 1:
            del cells[5]
        return cells

    def record(self, index: int) -> Record:
        """Return the values of one row; of a pair under way nothing but what may be examined."""
        pair, metric = self.items[index], self._metric
        head: dict[str, Value] = {"first": pair.first.run_id, "second": pair.second.run_id, "metric": metric}
        if why := kept_words(pair):
            return {**head, WITHHELD: why}
        if pair.under_way:
            if (running := pair.running.get(metric)) is None:
                return head
            head |= {"mean_difference": running.mean, "any_time_lower": running.lower, "any_time_upper": running.upper}
            return {**head, "entries": running.entries}
        difference = pair.by_metric.get(metric)
        if difference is None:
            return {**head, "not_compared": pair.left_out.get(metric)}
        head |= {"difference": difference.difference, "effect_size": difference.effect_size}
        head |= {"wins": difference.wins, "losses": difference.losses, "ties": difference.ties}
        if not self._tested:
            return head
        better = pair.better(metric)
        return head | {
            "lower": difference.lower,
            "upper": difference.upper,
            "p_randomisation": difference.p_randomisation,
            "p_holm": pair.p_adjusted.get(metric),
            "p_bootstrap": difference.p_bootstrap,
            "better": None if better is None else better.run_id,
        }

    def _complete(self, pair: Pair) -> list[Cell]:
        change, metric = pair.by_metric.get(self._metric), self._metric
        if change is None:
            return [BLANK, Cell("not compared", "warn"), *[BLANK] * 9]
        difference = Cell(number(metric, change.difference, sign=True))
        counts = (change.wins, change.losses, change.ties)
        counted = [Cell(f"{n:,}") for n in counts] if any(counts) else [BLANK] * 3
        effect = BLANK if change.effect_size is None else Cell(figures.signed(change.effect_size, 2))
        if not self._tested:
            wait = Cell("…", "quiet")
            return [difference, Cell("testing …", "quiet"), Cell(""), wait, wait, wait, effect, *counted, wait]
        better = pair.better(metric)
        return [
            difference,
            Cell(ends(metric, change), "quiet"),
            Cell(self._line(change.difference, (change.lower, change.upper)), "mark"),
            Cell(figures.p_value(change.p_randomisation)),
            Cell(figures.p_value(pair.p_adjusted[metric])),
            Cell(figures.p_value(change.p_bootstrap)),
            effect,
            *counted,
            Cell("neither", "quiet") if better is None else Cell(better.letter, "good"),
        ]

    def _running(self, pair: Pair) -> list[Cell]:
        running, metric = pair.running.get(self._metric), self._metric
        if running is None:
            return [BLANK, Cell("when complete", "quiet"), *[BLANK] * 9]
        better = pair.better(metric)
        return [
            Cell(number(metric, running.mean, sign=True)),
            Cell(ends(metric, running), "mark"),
            Cell(self._line(running.mean, (running.lower, running.upper)), "mark"),
            *[BLANK] * 7,
            Cell("open", "quiet") if better is None else Cell(better.letter, "good"),
        ]

    def _line(self, value: float, interval: tuple[float, float]) -> str:
        differences = ((pair.running if pair.under_way else pair.by_metric).get(self._metric) for pair in self.items)
        reaches = (
            max(abs(difference.lower), abs(difference.upper)) for difference in differences if difference is not None
        )
        reach = max(reaches, default=1.0) or 1.0
        return figures.interval_bar(value, interval, low=-reach, top=reach, width=LINE)


FEW_PAIRS = (0, 1), (28, 3), (36, 4)  # from so many lines of the screen on, so many pairs are seen at once
"""Without details; with them all are."""


class DifferencePanel(Vertical):
    """Holds which pair is spoken of."""

    @dataclass
    class PairChanged(Message):
        panel: DifferencePanel

    pairs = getters.query_one("#pairs", ResultTable)

    def __init__(self) -> None:
        super().__init__(id="differences")
        self._comparison: Comparison | None = None
        self._metric = ""
        self._tested = False
        self._chosen: tuple[str, str] | None = None  # ids of the pair that is spoken of

    def compose(self) -> ComposeResult:
        yield DetailLine(id="said")
        with Container(id="top"):
            with Vertical(id="runs"):
                yield DifferenceAxis()
            yield ResultTable((), id="pairs")

    @property
    def pair(self) -> Pair | None:
        if self._comparison is None or not self._comparison.pairs:
            return None
        return self._comparison.pairs[min(self.pairs.cursor, len(self._comparison.pairs) - 1)]

    @property
    def has_details(self) -> bool:
        """Return whether all that is known is shown, and not only what decides."""
        return self.screen.has_class("-details")

    def show_again(self) -> None:
        """Show all that is known, or only what decides, as the screen asks now."""
        self.share_height()
        self._tell()

    @property
    def letters(self) -> tuple[str, str]:
        """Letters of the pair that is spoken of."""
        pair = self.pair
        return ("A", "B") if pair is None else (pair.first.letter, pair.second.letter)

    def show_runs(self, comparison: Comparison, metric: str, *, tested: bool) -> None:
        """Show runs by a metric; the same pair is spoken of as before, where it is among them."""
        self._comparison, self._metric, self._tested = comparison, metric, tested
        ids = [(pair.first.run_id, pair.second.run_id) for pair in comparison.pairs]
        cursor = ids.index(self._chosen) if self._chosen in ids else 0
        self.share_height()
        self.pairs.show_columns(pair_columns(comparison))
        self.pairs.show_rows(PairRows(comparison, metric, tested=tested), cursor)
        self.pairs.can_focus = bool(ids)
        self._tell()

    def share_height(self) -> None:
        """Show as many pairs at once as the screen has room for."""
        if self._comparison is not None:
            pairs, height = len(self._comparison.pairs), self.app.size.height
            few = max(count for lines, count in FEW_PAIRS if lines <= height)
            self.pairs.styles.height = 1 + (pairs if self.has_details else min(pairs, few))
            self.query_one(DifferenceAxis).refresh(layout=True)

    def _tell(self) -> None:
        """Show everything about the pair under the cursor."""
        comparison, pair = self._comparison, self.pair
        if comparison is None or pair is None:
            return
        self._chosen = (pair.first.run_id, pair.second.run_id)
        axis, line = self.query_one(DifferenceAxis), self.query_one("#said", DetailLine)
        letters, details = frozenset(self.letters), self.has_details
        axis.show_runs(comparison, self._metric, letters, tested=self._tested, details=details)
        line.tell(said(comparison, pair, self._metric, tested=self._tested, details=details))

    def turn(self, by: int) -> None:
        """Move to the pair before or after."""
        if self._comparison is not None and len(self._comparison.pairs) > 1:
            self.pairs.move_to((self.pairs.cursor + by) % len(self._comparison.pairs))
            self._moved()

    @on(ResultTable.Moved, "#pairs")
    def _moved(self) -> None:
        self._tell()
        self.post_message(self.PairChanged(self))
