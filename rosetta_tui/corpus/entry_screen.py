"""One entry of a corpus: its texts, its tags, every other field, and what the checks say of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from corpora.files.problems import Problem
from corpora.model.corpus import Dataset
from corpora.model.entry import Entry
from corpora.tasks.records import own_answer
from harness.store.corpora.examination import Examination
from rosetta_tui.corpus.originals import open_original
from rosetta_tui.corpus.table import CorpusEntryRows
from rosetta_tui.entry.record import about, asked, conversation, text_of
from rosetta_tui.entry.screen import NO_LINES, STEPS, EntryByEntryScreen
from rosetta_tui.show.cree import converted, other_writing
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import PageLine, StatusBar, show, show_fields


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

    def __init__(
        self, rows: CorpusEntryRows, index: int, dataset: Dataset, found: Examination | None
    ) -> None:
        super().__init__(rows.order, index)
        self._rows = rows
        self._dataset = dataset
        self._found = found

    @property
    def entry(self) -> Entry | None:
        """The entry that is shown; None where it cannot be read."""
        return self._rows.entry(self._index)

    @property
    def language(self) -> str:
        """The target language."""
        return self._dataset.target_language

    @property
    def holds_secret(self) -> bool:
        """Return whether text of a secret entry is shown, which no selection may take to the clipboard."""
        return self._rows.secret(self._index)

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
        """Open the file that the corpus was read from, at this entry."""
        if self._found is not None:
            open_original(self.app, self._found, self.place)

    def action_copy(self) -> None:
        """Copy source and reference to the clipboard, harmless as shown; never those of a secret entry."""
        if self.entry is not None:
            texts = (self.entry.source, self.entry.reference)
            self._copy("\n".join(map(plain, texts)), "Source and reference")


def entry_lines(
    entry: Entry, problems: Sequence[Problem], task: str, *, turned: bool
) -> Iterator[PageLine]:
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
        yield PageLine(
            "Variants", Content("\n").join([text(variant) for variant in entry.variants])
        )
    if problems:
        contents = [
            Content.assemble(show(p.message, "$warn"), "\n", show(p.mend)) for p in problems
        ]
        yield PageLine("Checks", Content("\n").join(contents))
    for label, value in (
        ("Segment", entry.segment.value if entry.segment else None),
        ("Difficulty", entry.difficulty),
        ("Provenance", entry.provenance),
        ("Register", entry.register_),
        ("Context", entry.context),
    ):
        if value is not None:
            yield PageLine(label, show(str(value)))
    yield from about(entry, task, told=("turns",) if turns else ())
