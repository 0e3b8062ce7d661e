"""What the screen of a comparison says around its tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from rosetta_tui.compare.sentences import (
    cached_words,
    claim_words,
    doubtful,
    floor_lines,
    name,
    reproduction_words,
    sentence,
)
from rosetta_tui.show.shell_words import command_line
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.diff_text import diff_content
from rosetta_tui.toolkit.pages import UNREADABLE

if TYPE_CHECKING:
    from corpora.model.entry import Entry
    from harness.compare.comparison import Comparison
    from harness.compare.pairs import ComparedRun, Pair
    from harness.method.result import Result

WHY_NOW = (
    "Ordinary tests may be wrong when they are looked at early; this interval stays right at every look. "
    "The tests come at the end."
)
"""Why a difference may be looked at before its runs are complete."""


def said(found: Comparison, pair: Pair, metric: str, *, tested: bool) -> Content:
    """Say the sentence about a pair, what makes it safe or doubtful, and which runs do not compare."""
    lines = [_sentence(pair, metric, tested=tested)]
    if pair.under_way:
        open_ = [run.letter for run in (pair.first, pair.second) if not run.complete]
        verb = "is" if len(open_) == 1 else "are"
        lines.append(show(f"{' and '.join(open_)} {verb} not complete. {WHY_NOW}", "$quiet"))
    if pair.reproduction is not None and tested:
        lines += [show(line, "$quiet") for line in reproduction_words(pair.reproduction)]
        cached = (cached_words(run) for run in (pair.first, pair.second))
        lines += [show(words, "$warn") for words in cached if words]
    lines += [line for run in (pair.first, pair.second) for line in _claim(run)]
    if found.refused:
        lines.append(refused(found))
    return Content("\n").join(lines)


def _claim(run: ComparedRun) -> Iterator[Content]:
    """Say what may be claimed of a run; where that is little, with a mark and the floors."""
    words = claim_words(run)
    if not doubtful(run):
        yield from [show(words, "$quiet")] if words else []
        return
    yield show(" · ".join([f"! {words}", *floor_lines(run)]), "$warn")


def _sentence(pair: Pair, metric: str, *, tested: bool) -> Content:
    """Say who is better; before the tests are worked out nothing is said that only they can tell."""
    if tested or pair.under_way or metric not in pair.by_metric:
        words = sentence(pair, metric)
        return show(f"{words[:1].upper()}{words[1:]}.", "bold")
    return Content.styled(f"Testing {pair.second.letter} against {pair.first.letter} …", "$quiet")


def refused(found: Comparison) -> Content:
    """Name the runs that do not compare and the metrics by which none does, with the reasons."""
    return Content("\n").join([show(line, "$warn") for line in _reasons(found)])


def _reasons(found: Comparison) -> Iterator[str]:
    for run_id, why in found.refused.items():
        yield f"Run {run_id[:8]} is not compared: {why}."
    if found.metrics:
        return
    for pair in found.pairs:
        for metric, why in pair.left_out.items():
            yield f"{pair.first.letter} and {pair.second.letter}, {name(metric)}: {why}."


def where_words(found: Comparison, metric: str) -> str:
    """Say by what and against what is compared, how many runs, on how many entries of what."""
    first, count = found.runs[0], len(found.entries)
    against = "" if found.baseline is None else f"against {letter_of(found, found.baseline)} · "
    entries = "1 entry" if count == 1 else f"{count:,} entries"
    common = " in common" if any(run.done > count for run in found.runs) else ""
    what = f"{entries}{common} · {first.dataset_id} {first.language_pair}"
    return f"by {name(metric)} · {against}{len(found.runs)} runs · {what}"


def metric_note(asked: str, shown: str) -> str:
    """Say why entries are shown by another metric than the one that is compared by."""
    if asked == shown:
        return ""
    return f"values by {name(shown)}: {name(asked)} is of a whole corpus"


def entries_line(shown: int, total: int, order: str, note: str) -> Content:
    """Say how many entries are shown, which and in what order."""
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


"""Stands in the place of texts that were there when the comparison was read."""


def two_outputs(
    entry: Entry | None, letters: tuple[str, str], results: Sequence[Result | None]
) -> Content:
    """Show the source of an entry, and how two outputs differ from each other."""
    if entry is None:
        return show(f"This entry {UNREADABLE}.", "$bad")
    outputs = [None if each is None or each.failed else each.output or "" for each in results]
    one, other = outputs
    if one is None or other is None:
        words = ("failed" if output is None else output for output in outputs)
        said = " · ".join(f"{a} {b}" for a, b in zip(letters, words, strict=True))
        differs = show(said)
    elif one == other:
        differs = Content.assemble(show(one), ("   the same output", "$quiet"))
    else:
        head = (f"{letters[0]}→{letters[1]} ", "$quiet")
        differs = Content.assemble(head, diff_content(one, other))
    return Content.assemble(show(entry.source, "$quiet"), "\n", differs)
