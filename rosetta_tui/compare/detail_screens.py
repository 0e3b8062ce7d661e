"""Two looks into a comparison: one entry with every run's output, and the parts of the corpus where runs differ."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from corpora.model.entry import Entry
from harness.method.method import Result
from rosetta_tui.compare.difference_panel import BLANK, LINE
from rosetta_tui.compare.lines import ordered
from rosetta_tui.compare.sentences import kept_words, name, number, told_apart
from rosetta_tui.compare.table import ComparedTexts, ComparisonView
from rosetta_tui.entry.record import COMPARED_AS_TEXT, SPEECH, asked, diff_content, text_of
from rosetta_tui.entry.screen import NO_LINES, STEPS, EntryByEntryScreen
from rosetta_tui.show import figures
from rosetta_tui.show.columns import WITHHELD, Cell, Column, Record, Rows, Value
from rosetta_tui.show.output_text import converted, other_writing
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring
from rosetta_tui.toolkit.content import EmptyState, PageLine, StatusBar, show, show_fields
from rosetta_tui.toolkit.dialogs.choose import choose
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.pages import UNREADABLE
from rosetta_tui.toolkit.result_table import ResultTable
from scoring.core.inventory import short_title
from scoring.statistics.intervals import LEAST_FOR_INTERVAL

if TYPE_CHECKING:
    from harness.compare.comparison import Breakdown, Comparison, CorpusPart
    from harness.compare.pairs import Pair


# ---- One entry of several runs: every output against the reference and against each other,
# scores side by side.

SIGNS = "[left→right] changed   [-only left-]   [+only right+]"
"""What the signs of a diff mean where two texts of equal rank are held against each other."""


@dataclass(frozen=True, slots=True)
class EntryOfRuns:
    """One entry and what each run made of it."""

    comparison: Comparison
    view: ComparisonView
    place: int  # among the compared entries
    entry: Entry
    results: Sequence[Result | None]  # in the order of the runs; None where it cannot be read
    turned: bool  # true where texts are shown in the other writing of the language

    @property
    def task(self) -> str:
        return self.comparison.sides[0].rows.setup.task

    @property
    def beside_reference(self) -> bool:
        """Return whether outputs are held against the reference word by word."""
        return self.task in COMPARED_AS_TEXT | SPEECH

    @property
    def copied(self) -> str:
        """Return the outputs as lines to copy, each with the letter of its run."""
        lines = [
            f"{run.letter}: {'(failed)' if result is None or result.failed else result.output or ''}"
            for run, result in zip(self.comparison.runs, self.results, strict=True)
        ]
        return "\n".join(lines)

    def text(self, given: str) -> str:
        """Return a text of the target language in the writing that is wished for."""
        if not self.turned:
            return given
        return converted(given, other_writing(self.entry.reference), self.entry.source)

    def output(self, run: int) -> str | None:
        """Return a run's output, as it is shown; None where it failed."""
        result = self.results[run]
        return None if result is None or result.failed else self.text(result.output or "")


def entry_of_runs(
    comparison: Comparison, texts: ComparedTexts, view: ComparisonView, place: int, *, turned: bool = False
) -> EntryOfRuns | None:
    """Read one entry and what each run made of it; None where the entry cannot be read."""
    runs = range(len(comparison.runs))
    texts.load([place], runs)
    entry = texts.entry(place)
    if entry is None:
        return None
    results = [texts.result(run, place) for run in runs]
    return EntryOfRuns(comparison, view, place, entry, results, turned)


def page_lines(facts: EntryOfRuns) -> Iterator[PageLine]:
    """Yield the page of an entry: texts, outputs, how the outputs differ, and all values."""
    entry = facts.entry
    reference = text_of(facts.text(entry.reference), facts.task)
    if facts.turned:
        writing = other_writing(entry.reference)
        reference = reference.append(Content.styled(f"   converted into {writing}", "$quiet"))
    yield from asked(entry, facts.task, reference)
    if entry.variants:
        yield PageLine("Variants", Content("\n").join([show(facts.text(v)) for v in entry.variants]))
    for place in range(len(facts.results)):
        yield _output(facts, place)
    # the pair that is spoken of, then every other run against the first of it
    first, second = facts.view.first, facts.view.second
    others = [run for run in range(len(facts.results)) if run not in {first, second}]
    for other in (second, *others):
        yield _between(facts, first, other)
    yield PageLine("", show(SIGNS, "$quiet"))
    yield PageLine("Scores", _scores(facts))


def _output(facts: EntryOfRuns, place: int) -> PageLine:
    run, result, output = facts.comparison.runs[place], facts.results[place], facts.output(place)
    what = Content.assemble("\n", show(told_apart(facts.comparison.runs)[place], "$quiet"))
    content = output_content(result, output, facts.text(facts.entry.reference), facts.task)
    label = f"{run.letter} → reference" if facts.beside_reference else f"Output of {run.letter}"
    return PageLine(label, content.append(what))


def output_content(result: Result | None, output: str | None, reference: str, task: str) -> Content:
    """Return an output against its reference, or why there is none; ``output`` and ``reference`` as they are shown."""
    if output is None:
        kind = result.error_class if result is not None else None
        message = UNREADABLE if kind is None else f"{kind.value.replace('_', ' ')}: "
        words = show(result.error or "" if result is not None else "")
        return Content.assemble((f"✗ failed: {message}", "bold $bad"), words)
    if not output.strip():
        return Content.styled("(empty)", "$warn")
    if output == reference:
        return Content.assemble(text_of(output, task), ("   = reference", "$good"))
    return diff_content(output, reference) if task in COMPARED_AS_TEXT | SPEECH else text_of(output, task)


def _between(facts: EntryOfRuns, first: int, second: int) -> PageLine:
    """Compare two outputs with each other."""
    letters = [facts.comparison.runs[place].letter for place in (first, second)]
    return outputs_between(letters, (facts.output(first), facts.output(second)))


def outputs_between(names: Sequence[str], outputs: tuple[str | None, str | None]) -> PageLine:
    """Compare two outputs, None where one failed."""
    one, other = outputs
    if one is None or other is None:
        failed = [side for side, output in zip(names, outputs, strict=True) if output is None]
        content = Content.styled(f"{' and '.join(failed)} failed", "$quiet")
    else:
        content = Content.styled("the same", "$quiet") if one == other else diff_content(one, other)
    return PageLine(" → ".join(names), content)


def _scores(facts: EntryOfRuns) -> Content:
    """Return each metric in a line: the value of every run, the difference of the pair, who is better."""
    runs, view = facts.comparison.runs, facts.view
    one, other = runs[view.first].letter, runs[view.second].letter
    entries = facts.comparison.entries
    metrics = ordered(list(entries.values))
    rows = [["", *(run.letter for run in runs), f"{other} − {one}", ""]]  # at last the letter of the better run
    for metric in metrics:
        own = entries.values[metric][:, facts.place]
        outcome = ComparisonView(metric, view.first, view.second).outcome(entries, facts.place)
        better = {1: other, -1: one, 0: "="}.get(outcome, figures.NONE)
        difference = _number(metric, own[view.second] - own[view.first], sign=True)
        rows.append([short_title(metric), *(_number(metric, v) for v in own), difference, better])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for place, row in enumerate(rows):
        cells = "  ".join(f"{c:>{w}}" for c, w in zip(row[1:], widths[1:], strict=True))
        head = show(f"{row[0]:<{widths[0]}}  ", "$quiet")
        lines.append(Content.assemble(head, show(cells, "" if place else "bold $quiet")))
    return Content("\n").join(lines)


def _number(metric: str, value: np.float64, *, sign: bool = False) -> str:
    return figures.NONE if np.isnan(value) else number(metric, float(value), sign=sign)


class ComparedEntryScreen(EntryByEntryScreen):
    """Shows the entries of a table one by one; gives the place of the last one seen."""

    HELP = (
        "Each output is held against the reference, then the outputs of two runs against each other:\n"
        "[A→B] changed   [-only the first has it-]   [+only the second has it+].\n"
        "Entries of gold_standard and held_out are shown on this machine only, and never copied."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        *STEPS,
        Binding("v", "writing", "SRO/syllabics", id="entry.writing"),
        Binding("y", "copy", "Copy", tooltip="Copy the outputs", id="copy"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]

    def __init__(
        self, comparison: Comparison, texts: ComparedTexts, places: Sequence[int], index: int, view: ComparisonView
    ) -> None:
        super().__init__(places, index)
        self._comparison, self._texts, self._view = comparison, texts, view

    @property
    def facts(self) -> EntryOfRuns | None:
        """Everything about the entry that is shown; None where it cannot be read."""
        return entry_of_runs(self._comparison, self._texts, self._view, self.place, turned=self._turned)

    @property
    def language(self) -> str:
        return self._comparison.sides[0].rows.setup.target_language

    @property
    def holds_secret(self) -> bool:
        return bool(self._comparison.entries.secret[self.place])

    async def _show(self) -> None:
        facts = self.facts
        id_ = self._comparison.entries.ids[self.place]
        self.query_one(StatusBar).say(self._head(id_, None if facts is None else facts.entry))
        lines = NO_LINES if facts is None else page_lines(facts)
        await show_fields(self.query_one("#page"), lines)

    def action_copy(self) -> None:
        """Copy the outputs to the clipboard, harmless as shown; never those of a secret entry."""
        facts = self.facts
        if facts is None:
            self.notify("There is nothing to copy: it cannot be read.", markup=False)
        else:
            self._copy(facts.copied, "Outputs")


# ---- Where the difference of two runs lies: parts of the corpus, each with an interval where it
# is large enough.

PARTS = (
    Column("part", "part", 22),
    Column("n", "entries", 7, right=True),
    Column("first", "A", 7, right=True, drop=2),
    Column("second", "B", 7, right=True, drop=2),
    Column("difference", "differ.", 7, right=True),
    Column("interval", "95 % interval", 16),
    Column("line", "around zero", LINE, drop=3),
)


@dataclass(frozen=True, slots=True)
class PartRow:
    """One line: the name of a dimension, or one of its parts."""

    dimension: str
    tag: str | None  # none: the line is the dimension's title
    part: CorpusPart | None = None


class PartRows(Rows[PartRow]):
    """Parts of the corpus under the dimension that they belong to, for one pair and metric."""

    def __init__(self, breakdowns: Mapping[str, Breakdown], pair: Pair, metric: str) -> None:
        super().__init__(
            [
                row
                for dimension, parts in breakdowns.items()
                for row in (PartRow(dimension, None), *(PartRow(dimension, tag, part) for tag, part in parts.items()))
            ]
        )
        self._pair, self._metric = pair, metric
        self._reach = max((abs(e) for row in self.items for e in self._ends(row)), default=1.0) or 1.0

    def key(self, index: int) -> Hashable:
        """Return what the row's look depends on: rows are shown again where anything changes."""
        return index

    def _ends(self, row: PartRow) -> tuple[float, ...]:
        if row.part is None:
            return ()
        change = row.part.differences[self._letters].get(self._metric)
        if change is None:
            return ()
        return (change.difference, *(change.interval or ()))

    def record(self, index: int) -> Record:
        """Return the values of one row; a dimension's title has none."""
        row, metric = self.items[index], self._metric
        record: dict[str, Value] = {"dimension": row.dimension, "part": row.tag, "metric": metric}
        if row.part is None:
            return record
        if why := kept_words(self._pair):
            return {**record, WITHHELD: why}
        change = row.part.differences[self._letters].get(metric)
        low, high = (None, None) if change is None or change.interval is None else change.interval
        return {
            **record,
            "entries": row.part.n,
            **{letter: row.part.values[letter].get(metric) for letter in self._letters},
            "difference": None if change is None else change.difference,
            "lower": low,
            "upper": high,
        }

    @property
    def _letters(self) -> tuple[str, str]:
        return (self._pair.first.letter, self._pair.second.letter)

    def cells(self, index: int) -> Sequence[Cell]:
        row, metric = self.items[index], self._metric
        if row.part is None:
            return (Cell(f"by {row.dimension}", "quiet"), *[Cell("")] * 6)
        head = (Cell(f"  {row.tag}"), Cell(f"{row.part.n:,}"))
        values = (row.part.values[letter].get(metric) for letter in self._letters)
        shown = [BLANK if value is None else Cell(number(metric, value)) for value in values]
        change = row.part.differences[self._letters].get(metric)
        if change is None:
            return (*head, *shown, BLANK, BLANK, Cell(""))
        difference = Cell(number(metric, change.difference, sign=True))
        if change.interval is None:
            few = Cell(f"n<{LEAST_FOR_INTERVAL}, too few", "quiet")
            return (*head, *shown, difference, few, Cell(""))
        low, high = (number(metric, end, sign=True) for end in change.interval)
        reach, value = self._reach, change.difference
        line = figures.interval_bar(value, change.interval, low=-reach, top=reach, width=LINE)
        return (*head, *shown, difference, Cell(f"{low} … {high}", "quiet"), Cell(line, "mark"))


class ComparedPartsScreen(Screen[tuple[str, str] | None]):
    """Gives the dimension and tag of the part whose entries a person wants to see, None for none."""

    TITLE = "Parts"
    HELP = (
        "Each part is compared on its own entries. Parts are not tested: of twenty parts one differs "
        "by chance. Too few entries: no interval says more than it hides."
    )
    CSS_PATH = "compare.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "metric", "Metric", id="compare.metric"),
        Binding("left,h", "turn(-1)", "Pair before", show=False, id="previous"),
        Binding("right,l", "turn(1)", "Pair after", show=False, id="next"),
        Binding("q,escape", "dismiss(None)", "Back", key_display="q", id="back"),
    ]

    def __init__(self, comparison: Comparison, pair: Pair, metric: str) -> None:
        super().__init__()
        self._comparison = comparison
        self._index = comparison.pairs.index(pair)
        self._metric = metric
        self._read = False
        self.rows: PartRows | None = None

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield Static(id="notes")
        yield EmptyState("Comparing the parts …")
        yield ResultTable((), id="parts")
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one("#parts").display = False
        self._work()

    @work(thread=True, exclusive=True, group="parts")
    def _work(self) -> None:
        _ = self._comparison.breakdowns  # worked out once, then kept
        bring(self, self._show)

    def _show(self) -> None:
        self._read = True
        pair, table = self._comparison.pairs[self._index], self.query_one("#parts", ResultTable)
        parted = {name_: p for name_, p in self._comparison.breakdowns.items() if len(p) > 1}
        if not parted:
            self.query_one(EmptyState).say(
                "There are no parts to compare.",
                "The entries have no difficulty, provenance, register or context that divides them.\n"
                "On the screen of one run b shows its parts by length, punctuation and numbers.",
            )
            return
        self.query_one(EmptyState).display = False
        table.display = True
        self.rows = PartRows(parted, pair, self._metric)
        # Name the columns of values after the runs.
        letters = {"first": pair.first.letter, "second": pair.second.letter}
        part_columns = [replace(c, title=letters.get(c.key, c.title)) for c in PARTS]
        table.show_columns(part_columns)
        table.show_rows(self.rows)
        table.focus()
        head = f"{pair.second.letter} − {pair.first.letter} by {name(self._metric)}"
        message = "parts are not tested: of twenty one differs by chance"
        self.query_one("#notes", Static).update(Content.assemble(show(head, "bold"), show(f" · {message}", "$quiet")))

    def action_metric(self) -> None:
        words = {id_: plain(name(id_)) for id_ in ordered(self._comparison.metrics)}

        def chosen(metric: str) -> None:
            self._metric = metric
            self._show()

        if self._read:
            choose(self.app, "Compare by", words, self._metric, chosen)

    def action_turn(self, by: int) -> None:
        if self._read:
            self._index = (self._index + by) % len(self._comparison.pairs)
            self._show()

    @on(ResultTable.Chosen)
    def _chosen(self, event: ResultTable.Chosen) -> None:
        row = None if self.rows is None else self.rows.items[event.index]
        if row is not None and row.tag is not None:
            self.dismiss((row.dimension, row.tag))
