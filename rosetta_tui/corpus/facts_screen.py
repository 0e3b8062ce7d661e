"""What one corpus is made of, where it came from, and what it lacks for a benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen

from corpora.checks.requirements import NOT_GIVEN, Requirement, SideStatistics, Statistics
from corpora.tasks.task import TRANSLATION, task
from harness.store.corpora.examination import Examination
from harness.store.corpora.listing import CorpusSummary
from rosetta_tui.corpus.originals import WORDS, open_original
from rosetta_tui.corpus.table import shown_value
from rosetta_tui.show import figures
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import PageLine, StatusBar, show, show_fields
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.result_table import crop
from scoring.core.messages import counted, percent

BAR = 14
"""Cells of the longest bar."""

NAME = 22
"""Cells of a value's name."""

MOST_VALUES = 12
"""Values of one kind that are listed; the rest is counted."""


def fact_lines(summary: CorpusSummary, found: Examination) -> Iterator[PageLine]:
    """Yield the page line by line."""
    yield from _statistics(found.statistics)
    yield from _requirements(found)
    yield from _origin(summary, found)
    yield from _envelope(summary)


def _envelope(summary: CorpusSummary) -> Iterator[PageLine]:
    dataset = summary.dataset
    yield PageLine("Corpus", show(dataset.name, "bold"))
    languages = f"{dataset.language_pair} · {dataset.source_language} to {dataset.target_language}"
    yield PageLine("Languages", show(languages))
    if dataset.task != TRANSLATION:
        yield PageLine("Task", show(f"{dataset.task}: {task(dataset.task).title}"))
    yield PageLine("SHA-256", show(summary.sha256, "$quiet"))
    for label, text in (("Created", dataset.created), ("Licence", dataset.license)):
        if text:
            yield PageLine(label, show(text))
    if dataset.provenance:
        yield PageLine("Provenance", show(" · ".join(dataset.provenance)))
    for name, value in (dataset.model_extra or {}).items():
        yield PageLine(plain(name)[:14], show(str(value), "$quiet"))


def _origin(summary: CorpusSummary, found: Examination) -> Iterator[PageLine]:
    paths = [show(str(path)) for path in found.files]
    state = Content.styled(WORDS[found.original], "$quiet")
    if summary.partial:
        state = Content.styled("known only from a run card: its file was never here", "$warn")
    yield PageLine("Read from", Content("\n").join([*paths, state]))
    count = len(summary.runs)
    yield PageLine("Used by", Content("1 run" if count == 1 else f"{count:,} runs"))


def _requirements(found: Examination) -> Iterator[PageLine]:
    if not found.requirements:
        return
    met = sum(requirement.met for requirement in found.requirements)
    lines = [_requirement(requirement) for requirement in found.requirements]
    verdict = f"{met} of {len(lines)} minimum requirements of a benchmark met"
    yield PageLine("Requirements", Content("\n").join([Content(verdict), *lines]))


def _requirement(row: Requirement) -> Content:
    verdict = ("✓ met", "$good") if row.met else (f"✗ short by {row.short_by:,}", "$warn")
    note = f" ({row.note})" if row.note else ""
    return Content.assemble(
        f"{row.name:<24}{figures.count(row.found):>8} of {figures.count(row.needed):<7} ",
        verdict,
        show(note, "$quiet"),
    )


_FREE = frozenset({"Variety", "Orthography"})
"""Tags that few corpora have; without one there is no line."""


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
        yield PageLine(f"{name} script", _scripts(side))
        yield PageLine(f"{name} length", _length(side))
        yield PageLine(f"{name} form", _forms(side))


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
    return Content.assemble(
        f"{crop(name, NAME)} {number:>8} {percent(share, 1):>7}  ", (bar, "$mark")
    )


def _scripts(side: SideStatistics) -> Content:
    if not side.scripts:
        return Content.styled("no letters", "$quiet")
    shares = list(side.scripts.items())[:MOST_VALUES]
    return Content("\n").join([_bar(shown_value(name), "", share) for name, share in shares])


def _length(side: SideStatistics) -> Content:
    return Content(
        f"median {side.median_characters:g} characters, {side.median_words:g} words; "
        f"longest {side.longest:,} characters"
    )


def _forms(side: SideStatistics) -> Content:
    parts = [f"{name} {figures.count(count)}" for name, count in side.normal_forms.items()]
    return Content.styled(" · ".join(parts), "$quiet")


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
        Binding("q,escape,i", "leave", "Back", key_display="q", id="back"),
    ]

    def __init__(self, summary: CorpusSummary, found: Examination) -> None:
        super().__init__()
        self._summary = summary
        self._found = found

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
        """Open the file that the corpus was read from."""
        open_original(self.app, self._found, None)

    def action_leave(self) -> None:
        self.dismiss(None)
