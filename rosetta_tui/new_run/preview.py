"""What is next to the form of a new run: estimate, command line, metrics, and the first prompt as it will go.

Of the metrics it says which ones the run would have, and why it would not have the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from corpora.model.corpus import Corpus
from rosetta_tui.report.estimate import cost_words, estimate_rows, time_words
from rosetta_tui.request.corpus import READING, SELECTING
from rosetta_tui.request.draft import RunDraft
from rosetta_tui.request.fields import SECTIONS
from rosetta_tui.show.metric_words import by_reason
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import show, show_lines
from scoring.core.messages import counted
from scoring.core.metric_rows import short_title

if TYPE_CHECKING:
    from harness.core.calls import Request
    from rosetta_tui.request.look import DraftLook, FormCache, Metrics


_MEASURING = ("coaching", "offline", *(field.name for field in SECTIONS[-1].fields))
"""Options that decide which metrics there are."""


def measured(store_path: Path, draft: RunDraft, corpus: Corpus, known: FormCache) -> Metrics:
    """Return which metrics the run would have, and why it would not have the others; raises what keeps one off.

    It looks for cards, analysers and models as the beginning of a run does, so it may take a while. The
    draft is one that nothing is wrong with, the corpus the one that ``look`` read: its file may be another
    by now.
    """
    from harness import api

    names = (*READING, *SELECTING, *_MEASURING)
    key = (corpus.sha256, *(draft.values.get(name) for name in names))
    metrics = known.metrics.get(key)
    if metrics is None:
        metrics = api.metrics(store_path, draft.request(corpus))
        known.metrics = {key: metrics}
    return metrics


MOST_SHOWN = 20_000
"""Characters of one message that are shown; coaching may be a book."""

MOST_COMMAND = 2_000
"""Characters of the command line that are shown; copying gives all of it."""

PLUGIN_COST = "What a plug-in costs and takes is seen in the run"
"""Instead of an estimate, for its code is not loaded before."""

VAULT_COST = "What it costs is known once the vault is open: rosetta run --estimate"
"""The same for a corpus of a vault."""


def _unpriced(look: DraftLook) -> str:
    """Return why there is no estimate of a draft that nothing is wrong with."""
    return VAULT_COST if look.corpus is not None and look.corpus.sealed else PLUGIN_COST


@dataclass(frozen=True, slots=True)
class Measured:
    """Which metrics a run would have."""

    on: tuple[str, ...] = ()
    off: Mapping[str, str] | None = None
    """Id → why not."""
    trouble: str = ""
    """Why it cannot be told."""


def beside(draft: RunDraft, look: DraftLook, measured: Measured | None) -> Content:
    """Return everything that is next to the form."""
    parts = [*_estimate(look), *_command(draft), *_metrics(measured), *_prompt(look)]
    return Content("\n").join(parts)


def in_a_line(look: DraftLook) -> Content:
    """Return the estimate on one line, for a terminal that has no room beside the form."""
    wrong = sum(not trouble.missing for trouble in look.troubles)
    if wrong:
        return Content.styled(
            f"✗ {'one thing is' if wrong == 1 else f'{wrong} things are'} not right yet", "$bad"
        )
    if look.estimate is None and look.silent:
        words = _unpriced(look)
        return Content.styled(f"{words[0].lower()}{words[1:]}", "$quiet")
    if look.estimate is None:
        return Content.styled("the estimate comes when the form is whole", "$quiet")
    count = f"{counted(look.estimate.entries, 'entry', 'entries')} · "
    return show(f"{count}cost {cost_words(look.estimate)} · time {time_words(look.estimate)}")


def _title(words: str, more: str = "") -> Content:
    return Content.assemble((words, "bold $mark"), (f"  {more}" if more else "", "$quiet"))


def _estimate(look: DraftLook) -> Iterator[Content]:
    yield _title("Estimate")
    if look.estimate is None:
        words = f"{_unpriced(look)}." if look.silent else "It comes when the form is whole."
        yield Content.styled(f"{words}\n", "$quiet")
        return
    for label, words in estimate_rows(look.estimate):
        yield Content.assemble((f"{label:<9}", "$quiet"), show(words))
    yield Content()


def _command(draft: RunDraft) -> Iterator[Content]:
    yield _title("The same in a shell", "^y copies")
    command = draft.command()
    cut = len(command) - MOST_COMMAND
    yield show(command[:MOST_COMMAND])
    if cut > 0:
        yield Content.styled(f"… and {cut:,} more characters", "$quiet")
    yield Content()


def _metrics(measured: Measured | None) -> Iterator[Content]:
    yield _title("Metrics")
    if measured is None:
        yield Content.styled("They are known when the form is whole.\n", "$quiet")
    elif measured.trouble:
        yield show(measured.trouble, "$bad") + "\n"
    else:
        yield show("✓ " + " · ".join(map(short_title, measured.on)))
        for reason, titles in by_reason(measured.off or {}):
            yield Content.assemble(show(f"– {titles}: ", "$quiet"), show(reason, "$quiet"))
        yield Content()


def _prompt(look: DraftLook) -> Iterator[Content]:
    if look.request is None:
        yield _title("First prompt")
        yield Content.styled(plain(look.silent or "It is seen when the form is whole."), "$quiet")
        return
    more = (
        "shown on this machine only: its entry is secret" if look.secret else "as it will be sent"
    )
    yield _title("First prompt", more)
    yield from request_lines(look.request)


def request_lines(request: Request) -> Iterator[Content]:
    """Write out the body of a call: its messages with their line breaks, and all the rest as JSON."""
    yield show(f"POST {request.url}", "$quiet")
    body = request.body
    messages = body.get("messages", []) if isinstance(body, Mapping) else []
    rest = (
        {name: value for name, value in body.items() if name != "messages"}
        if isinstance(body, Mapping)
        else body
    )
    for message in messages:
        yield Content.styled(f"\n{plain(str(message.get('role')))}", "$quiet")
        text = str(message.get("content"))
        yield show_lines(text[:MOST_SHOWN])
        if len(text) > MOST_SHOWN:
            yield Content.styled(f"… and {len(text) - MOST_SHOWN:,} more characters", "$quiet")
    yield Content.styled("\nwith", "$quiet")
    yield show_lines(json.dumps(rest, ensure_ascii=False, indent=2))
