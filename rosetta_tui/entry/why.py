"""Why an entry has its values: the sentences of the metrics, and what the analyser says of the words."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from rosetta_tui.entry.analyses import analyses, verdicts
from rosetta_tui.entry.explaining import Why
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.page_line import PageLine
from scoring.core.metric_names import short_title


def why(found: Why) -> Iterator[PageLine]:
    """Yield the sentences metric by metric, the words of the output with their verdicts, and how they
    differ from those of the reference.
    """
    sentences = [
        Content.assemble(
            (f"{short_title(metric)}: ", "bold"), Content(" ").join([show(text) for text in said])
        )
        for metric, said in found.sentences.items()
    ]
    if sentences:
        yield PageLine("Why", Content("\n").join(sentences))
    if found.words is not None and found.words.output:
        yield PageLine("Words", verdicts(found.words.output))
    if found.differences:
        yield PageLine("Word forms", Content("\n").join([show(said) for said in found.differences]))


def analysed(found: Why | None) -> Iterator[PageLine]:
    """Yield the analyses of every word of output and reference."""
    words = None if found is None else found.words
    if words is None:
        return
    for label, group in (("Output words", words.output), ("Reference words", words.reference)):
        if group:
            yield PageLine(label, analyses(group))
