"""Why an entry has its values: sentences of the metrics, and what an analyser says of its words."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from corpora.files.problems import CorpusError
from corpora.model.entry import Entry
from corpora.text.messages import shortened
from corpora.text.tokens import folded
from harness.core.failures import HarnessError
from harness.method.method import Result
from harness.store.runs import find_run
from harness.store.sqlite.database import opened
from rosetta_tui.entry.record import LEGEND, diff_content, value_content
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import PageLine, show, show_lines
from scoring.core.inventory import short_title
from scoring.core.metric import Compared
from scoring.core.setup import Acceptance, FstAnnotation, WordAnalysis
from scoring.grammar.morpheme_difference import morpheme_differences, sentences

if TYPE_CHECKING:
    from harness.run.rescoring import Explainer, Explanation

MOST_WORDS = 300  # words shown one by one; beyond them only how many there are
_WIDEST = 20  # cells that words of a list of analyses share at most; a longer word has its own line

_SIGNS = {
    Acceptance.AS_WRITTEN: ("✓", "$good"),
    Acceptance.LOWER_CASED: ("↓", "$good"),
    Acceptance.NORMALISED: ("≈", "$warn"),
    None: ("✗", "$bad"),
}
_MEANINGS = {
    Acceptance.AS_WRITTEN: "accepted as written",
    Acceptance.LOWER_CASED: "accepted in lower case",
    Acceptance.NORMALISED: "accepted in the analyser's spelling",
    None: "rejected",
}


def verdicts(words: Sequence[WordAnalysis]) -> Content:
    """Return the words in their order, each that is not accepted as written with its sign, and the counts."""
    shown = []
    for word in words[:MOST_WORDS]:
        sign, tone = _SIGNS[word.accepted]
        plain_word = word.accepted is Acceptance.AS_WRITTEN
        shown.append(show(word.word) if plain_word else Content.assemble((sign, tone), show(word.word, tone)))
    counts = Counter(word.accepted for word in words)
    parts = [
        Content.assemble(_SIGNS[kind], (f" {counts[kind]:,} {meaning}", "$quiet"))
        for kind, meaning in _MEANINGS.items()
        if counts[kind]
    ]
    return Content.assemble(Content(" ").join([*shown, *_rest(words)]), "\n", Content("   ").join(parts))


def analyses(words: Sequence[WordAnalysis]) -> Content:
    """Return each different word with all its analyses, one a line."""
    different = list(dict.fromkeys(words))
    width = min(_WIDEST, max((cell_len(plain(word.word)) for word in different), default=0))
    lines = [line for word in different[:MOST_WORDS] for line in _analysed(word, width)]
    return Content("\n").join([*lines, *_rest(different)])


def _rest(words: Sequence[WordAnalysis]) -> list[Content]:
    more = len(words) - MOST_WORDS
    return [Content.styled(f"… and {more:,} more words", "$quiet")] if more > 0 else []


def _analysed(word: WordAnalysis, width: int) -> Iterator[Content]:
    sign, tone = _SIGNS[word.accepted]
    name = plain(word.word)
    head = Content.assemble((f"{sign} ", tone), (name, "bold" if word.accepted else tone))
    room = width - cell_len(name)
    if room < 0:
        yield head
        head, room = Content(""), width + 2
    meaning = _MEANINGS[word.accepted]
    without = meaning if word.accepted is None else f"{meaning}; this analyser gives no analyses"
    for number, analysis in enumerate(word.analyses or (without,)):
        before = head if number == 0 else Content("")
        gap = " " * (room if number == 0 else width + 2)
        yield Content.assemble(before, gap, "  ", show(analysis, "" if word.analyses else "$quiet"))


@dataclass(frozen=True, slots=True)
class EntryExplanation:
    """Why an entry has its values. All of it may quote the output: hostile text."""

    sentences: Mapping[str, tuple[str, ...]]  # by metric id; metrics that say nothing are left out
    words: FstAnnotation | None  # the analyser's verdicts; None where no analyser was asked
    differences: tuple[str, ...]  # how the words differ from the reference's, if no metric says it
    compared: tuple[Compared, ...] = ()  # what a metric compares, if not the two texts as they are


class Explaining:
    """Explains in the caller's thread, one entry after the other."""

    def __init__(self, path: Path, run_id: str) -> None:
        self.why_not: str | None = None
        """Why nothing can be explained; None where it can, or nobody has asked yet."""
        self.known: dict[int, EntryExplanation] = {}
        """What was explained, by place in the corpus; who asks puts it here, for the others that show the run."""
        self._path, self._run_id = path, run_id
        self._explainer: Explainer | None = None
        self._lock = Lock()
        self._over = False

    def explain(self, entry: Entry, result: Result) -> EntryExplanation | None:
        """Explain one stored output, None with words in ``why_not``; the first call may take seconds: use a worker."""
        with self._lock:
            try:
                if self._over or self.why_not is not None:
                    return None
                if self._explainer is None:
                    from harness.run.rescoring import Explainer  # it brings all metrics and annotators with it

                    with opened(self._path) as connection:
                        self._explainer = Explainer(connection, find_run(connection, self._run_id))
                    self.why_not = self._explainer.why_not
                if self.why_not is not None:
                    return None
                explanation = self._explainer.explain(entry, result)
                new = () if result.exact else differences(explanation)
                return EntryExplanation(explanation.sentences, explanation.words, new, explanation.compared)
            except (CorpusError, HarnessError, sqlite3.Error, OSError) as error:
                self.why_not = str(error)
                return None
            finally:
                self._let_go()

    def close(self) -> None:
        """Close the tools, after the question that is being answered."""
        self._over = True
        if self._lock.acquire(blocking=False):
            try:
                self._let_go()
            finally:
                self._lock.release()

    def _let_go(self) -> None:
        if self._over and self._explainer is not None:
            explainer, self._explainer = self._explainer, None
            explainer.close()


def differences(found: Explanation) -> tuple[str, ...]:
    """Return how words differ, of those about which the morphology of the entry has said nothing."""
    if found.words is None or not found.words.output:
        return ()
    faults_text = folded(" ".join(found.sentences.get("morphological_accuracy", ())))
    return sentences(
        difference
        for difference in morpheme_differences(found.words)
        if not any(f"“{shortened(word)}”" in faults_text for word in difference.named)
    )


def why(found: EntryExplanation, idle: Collection[str] = ()) -> Iterator[PageLine]:
    """Yield what metrics compare and say, except the ``idle`` ones, and how the output's words differ from the reference's."""
    if found.compared:
        yield PageLine("Difference", side_by_side(found.compared))
    metrics: dict[tuple[str, ...], list[str]] = {}
    for metric, sentence in found.sentences.items():
        if metric not in idle:
            metrics.setdefault(sentence, []).append(metric)
    contents = []
    for texts, ids in metrics.items():
        label = show(f"{', '.join(map(short_title, ids))}:", "bold")
        if "." in ids[0] and (len(texts) > 2 or any("\n" in text for text in texts)):
            # many sentences of a pack's are in lines of their own, for they are a list
            lines = [show_lines(f"  {text}".replace("\n", "\n  ")) for text in texts]
            contents.append(Content("\n").join([label, *lines]))
        else:
            contents.append(Content(" ").join([label, *map(show, texts)]))
    if contents:
        yield PageLine("Why", Content("\n").join(contents))
    if found.words is not None and found.words.output:
        yield PageLine("Words", verdicts(found.words.output))
    if found.differences:
        yield PageLine("Word forms", Content("\n").join([show(difference) for difference in found.differences]))


def side_by_side(rows: Sequence[Compared]) -> Content:
    """Return one line for each thing that is compared: its name, and how the output's side differs from the wanted."""
    width = min(_WIDEST, max(cell_len(plain(row.name)) for row in rows))
    lines = [
        Content.assemble(
            (name + " " * (max(0, width - cell_len(name)) + 2), "$quiet"),
            (diff_content if row.running else value_content)(row.given, row.wanted),
        )
        for row in rows[:MOST_WORDS]
        for name in [plain(row.name)]
    ]
    differ = any(row.given != row.wanted for row in rows)
    return Content("\n").join([*lines, *[Content.styled(LEGEND, "$quiet")] * differ])


def analysed(found: EntryExplanation | None) -> Iterator[PageLine]:
    """Yield the analyses of every word of output and reference."""
    words = None if found is None else found.words
    if words is None:
        return
    for label, group in (("Output words", words.output), ("Reference words", words.reference)):
        if group:
            yield PageLine(label, analyses(group))
