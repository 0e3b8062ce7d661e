"""What one corpus is made of, where it came from, and what it lacks for a benchmark."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from corpora.checks.requirements import NOT_GIVEN, Statistics
from corpora.files.decode import Original
from corpora.files.problems import Problem, Severity
from corpora.model.corpus import Dataset
from corpora.model.entry import Entry
from corpora.model.task import TASKS, TRANSLATION
from corpora.model.task_records import own_answer
from corpora.text.messages import counted, percent
from harness.store.corpora.listing import CorpusSummary, Examination
from rosetta_tui.corpus.open_corpus import WORDS, open_original
from rosetta_tui.corpus.table import CorpusEntryRows, shown_value
from rosetta_tui.entry.record import about, asked, conversation, text_of
from rosetta_tui.entry.screen import NO_LINES, STEPS, EntryByEntryScreen
from rosetta_tui.show import figures
from rosetta_tui.show.columns import Cell, Column, Rows
from rosetta_tui.show.output_text import converted, other_writing
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import EmptyState, PageLine, StatusBar, show, show_fields
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.result_table import ResultTable, crop

BAR = 14  # cells of the longest bar
NAME = 22  # cells of a value's name
MOST_VALUES = 12  # values of one kind that are listed; the rest is counted


def fact_lines(summary: CorpusSummary, found: Examination) -> Iterator[PageLine]:
    yield from _statistics(found.statistics)
    yield from _requirements(found)
    paths = [show(str(path)) for path in found.files]
    state = Content.styled(WORDS[found.original], "$quiet")
    if summary.partial:
        state = Content.styled("known only from a run card: its file was never here", "$warn")
    yield PageLine("Read from", Content("\n").join([*paths, state]))
    count = len(summary.runs)
    yield PageLine("Used by", Content("1 run" if count == 1 else f"{count:,} runs"))
    dataset = summary.dataset
    yield PageLine("Corpus", show(dataset.name, "bold"))
    languages = f"{dataset.language_pair} · {dataset.source_language} to {dataset.target_language}"
    yield PageLine("Languages", show(languages))
    if dataset.task != TRANSLATION:
        yield PageLine("Task", show(f"{dataset.task}: {TASKS[dataset.task].title}"))
    yield PageLine("SHA-256", show(summary.sha256, "$quiet"))
    for label, text in (("Created", dataset.created), ("Licence", dataset.license)):
        if text:
            yield PageLine(label, show(text))
    if dataset.provenance:
        yield PageLine("Provenance", show(" · ".join(dataset.provenance)))
    for name, value in (dataset.model_extra or {}).items():
        yield PageLine(plain(name)[:14], show(str(value), "$quiet"))


def _requirements(found: Examination) -> Iterator[PageLine]:
    if not found.requirements:
        return
    met = sum(requirement.met for requirement in found.requirements)
    lines = []
    for row in found.requirements:
        met_words = ("✓ met", "$good") if row.met else (f"✗ short by {row.short_by:,}", "$warn")
        amount = f"{row.name:<24}{figures.count(row.found):>8} of {figures.count(row.needed):<7} "
        lines.append(Content.assemble(amount, met_words, show(f" ({row.note})" if row.note else "", "$quiet")))
    verdict = f"{met} of {len(lines)} minimum requirements of a benchmark met"
    yield PageLine("Requirements", Content("\n").join([Content(verdict), *lines]))


_FREE = frozenset({"Variety", "Orthography"})  # tags that few corpora have; no line without one


def _statistics(made: Statistics) -> Iterator[PageLine]:
    for label, counts in (
        ("Segment", made.by_segment),
        ("Difficulty", made.by_difficulty),
        ("Register", made.by_register),
        ("Provenance", made.by_provenance),
        ("Context", made.by_context),
        ("Variety", made.by_variety),
        ("Orthography", made.by_orthography),
    ):
        if label not in _FREE or set(counts) != {NOT_GIVEN}:
            yield PageLine(label, bars(counts, made.entries))
    several = f"{made.variants:,} in {counted(made.with_variants, 'entry', 'entries')}"
    yield PageLine("Variants", Content(several))
    yield PageLine("Analyses", Content(counted(made.with_analysis, "entry", "entries")))
    if made.fields:
        yield PageLine("Fields", bars(made.fields, made.entries))
    for name, side in (("Source", made.source), ("Reference", made.reference)):
        shares = list(side.scripts.items())[:MOST_VALUES]
        scripts = Content("\n").join([_bar(shown_value(script), "", share) for script, share in shares])
        yield PageLine(f"{name} script", scripts if shares else Content.styled("no letters", "$quiet"))
        length = Content(
            f"median {side.median_characters:g} characters, {side.median_words:g} words; "
            f"longest {side.longest:,} characters"
        )
        yield PageLine(f"{name} length", length)
        forms = " · ".join(f"{form} {figures.count(count)}" for form, count in side.normal_forms.items())
        yield PageLine(f"{name} form", Content.styled(forms, "$quiet"))


def bars(counts: Mapping[str, int], total: int) -> Content:
    """Return one line for each value: its name, how many entries, which share, and a bar of that share."""
    rows = list(counts.items())
    shown = [
        _bar(shown_value(name), figures.count(count), count / total if total else 0.0)
        for name, count in rows[:MOST_VALUES]
    ]
    if len(rows) > MOST_VALUES:
        rest = rows[MOST_VALUES:]
        others = counted(len(rest), "other value")
        words = f"{others}, {counted(sum(count for _, count in rest), 'entry', 'entries')}"
        shown.append(Content.styled(words, "$quiet"))
    return Content("\n").join(shown)


def _bar(name: str, number: str, share: float) -> Content:
    bar = figures.progress_bar(share, BAR).rstrip("░") or "▏"
    return Content.assemble(f"{crop(name, NAME)} {number:>8} {percent(share, 1):>7}  ", (bar, "$mark"))


class CorpusFactsScreen(Screen[None]):
    """Counts and tags only, as ``rosetta corpus show`` gives them; no text of an entry."""

    TITLE = "Statistics"
    HELP = (
        "Each line: a value, how many entries have it, which share that is, and a bar of the share.\n"
        "Shares of scripts are shares of letters. Requirements are those of a complete benchmark; "
        "a corpus that does not meet them can be used all the same."
    )
    CSS_PATH = "corpus.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "original", "Original", tooltip="Open the file itself", id="corpus.original"),
        Binding("q,escape,i", "dismiss(None)", "Back", key_display="q", id="back"),
    ]

    def __init__(self, summary: CorpusSummary, found: Examination) -> None:
        super().__init__()
        self._summary, self._found = summary, found

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield VerticalScroll(id="page")
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one(StatusBar).say(show(self._summary.dataset.id, "$quiet"))
        self.query_one("#page").focus()
        self.call_after_refresh(self._fill)

    async def _fill(self) -> None:
        """Show the lines, when the frame of the page is there."""
        await show_fields(self.query_one("#page"), fact_lines(self._summary, self._found))

    def action_original(self) -> None:
        open_original(self.app, self._found, None)


# ---- What the checks of a corpus found; a finding leads to the entries that it is about ----

COLUMNS = (
    Column("severity", "", 9),
    Column("entries", "entries", 7, right=True),
    Column("line", "line", 6, right=True, drop=2),
    Column("field", "field", 12, drop=1),
    Column("message", "what", 30, share=1),
)


class ProblemRows(Rows[Problem]):
    def key(self, index: int) -> Hashable:
        return index

    def cells(self, index: int) -> Sequence[Cell]:
        problem = self.items[index]
        error = problem.severity is Severity.ERROR
        return (
            Cell("✗ error" if error else "! warning", "bad" if error else "warn"),
            Cell(figures.count(len(problem.places)) if problem.places else figures.NONE),
            Cell(figures.count(problem.line), "quiet"),
            Cell(problem.field or figures.NONE, "quiet"),
            Cell(problem.message),
        )


class CorpusChecksScreen(Screen[int | None]):
    """Gives the number of the finding whose entries are to be shown, None where nobody chose one."""

    TITLE = "Checks"
    HELP = (
        "The same findings as `rosetta corpus check`. No message quotes the text of an entry.\n"
        "enter shows the entries that a finding is about."
    )
    CSS_PATH = "corpus.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,escape,c", "dismiss(None)", "Back", key_display="q", id="back")]
    table = getters.query_one("#problems", ResultTable)

    def __init__(self, problems: Sequence[Problem], original: Original | None) -> None:
        """Show findings; ``original`` is what became of the file, None where it could not be used."""
        super().__init__()
        self._problems, self._original = problems, original

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield EmptyState("The checks found nothing.", "Statistics say what a complete benchmark needs beyond that.")
        yield ResultTable(COLUMNS, ProblemRows(self._problems), id="problems")
        yield Static(id="finding")
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one(EmptyState).display = not self._problems
        self.table.display = self.query_one("#finding").display = bool(self._problems)
        words = Content()
        if self._original is None:
            words = show(f"cannot be used: {self._problems[0].file}", "$bad")
        elif self._original is not Original.UNCHANGED:
            words = Content.styled("without the file: what the entries alone can tell", "$quiet")
        self.query_one(StatusBar).say(words)
        self.table.focus()
        self._moved()

    @on(ResultTable.Moved)
    def _moved(self) -> None:
        if self._problems:
            problem = self._problems[self.table.cursor]
            self.query_one("#finding", Static).update(
                Content.assemble(show(problem.message), "\n", show(problem.mend, "$mark"))
            )

    @on(ResultTable.Chosen)
    def _open(self, event: ResultTable.Chosen) -> None:
        if self._problems[event.index].places:
            self.dismiss(event.index)
        else:
            self.notify("This is about the file as a whole.", markup=False)


# ---- One entry of a corpus: its texts, its tags, every other field, and what the checks say of
# it.


class CorpusEntryScreen(EntryByEntryScreen):
    """Shows the entries of a table one by one; gives the place of the last one seen."""

    HELP = (
        "Variants are other translations that count as right.\n"
        "Entries of gold_standard and held_out are shown on this machine only: they are never "
        "copied or exported."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        *STEPS,
        Binding("v", "writing", "SRO/syllabics", id="entry.writing"),
        Binding("o", "original", "Original", tooltip="Open the file itself", id="corpus.original"),
        Binding("y", "copy", "Copy", tooltip="Copy source and reference", id="copy"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]

    def __init__(self, rows: CorpusEntryRows, index: int, dataset: Dataset, found: Examination | None) -> None:
        super().__init__(rows.order, index)
        self._rows, self._dataset, self._found = rows, dataset, found

    @property
    def entry(self) -> Entry | None:
        """The entry that is shown; None where it cannot be read."""
        return self._rows.entry(self._index)

    @property
    def language(self) -> str:
        return self._dataset.target_language

    async def _show(self) -> None:
        entry = self.entry
        self.query_one(StatusBar).say(self._head("" if entry is None else entry.id, entry))
        problems = [] if self._found is None else self._found.of_entry(self.place)
        page = self.query_one("#page")
        if entry is None:
            await show_fields(page, NO_LINES)
            return
        lines = entry_lines(entry, problems, self._dataset.task, turned=self._turned)
        await show_fields(page, lines)

    def action_original(self) -> None:
        if self._found is not None:
            open_original(self.app, self._found, self.place)

    def action_copy(self) -> None:
        """Copy source and reference to the clipboard, harmless as shown; never those of a secret entry."""
        if self.entry is not None:
            texts = (self.entry.source, self.entry.reference)
            self._copy("\n".join(map(plain, texts)), "Source and reference")


TAGS = ("Segment", "Difficulty", "Provenance", "Register", "Context")  # which the title of a pane has


def entry_lines(entry: Entry, problems: Sequence[Problem], task: str, *, turned: bool) -> Iterator[PageLine]:
    """Yield the page of an entry; ``turned`` shows the target language in its other writing."""
    writing = other_writing(entry.reference) if turned else None

    def text(given: str) -> Content:
        if writing is None:
            return text_of(given, task)
        note = (f"   converted into {writing}", "$quiet")
        return Content.assemble(show(converted(given, writing, entry.source)), note)

    given = own_answer(task, entry.model_extra or {})
    turns = conversation(entry, given) if task == "chat" else []
    yield from turns or asked(entry, task, text(entry.reference))
    if entry.variants:
        yield PageLine("Variants", Content("\n").join([text(variant) for variant in entry.variants]))
    if problems:
        contents = [Content.assemble(show(p.message, "$warn"), "\n", show(p.mend)) for p in problems]
        yield PageLine("Checks", Content("\n").join(contents))
    tagged = (entry.segment.value if entry.segment else None, entry.difficulty, entry.provenance, entry.register_)
    for label, value in zip(TAGS, (*tagged, entry.context), strict=True):
        if value is not None:
            yield PageLine(label, show(str(value)))
    yield from about(entry, task, told=("turns",) if turns else ())
