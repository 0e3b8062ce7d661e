"""Why an entry has the values it has: what the metrics say of one translation in words."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from corpora.model.entry import Entry
from corpora.text.comparison import is_blank
from harness.core.failures import HarnessError
from harness.method.result import Result
from harness.run.beginning import tools_of
from harness.run.final_scores import translation
from harness.setup.scoring_tools import ScoringTools, changes, stored_setup
from harness.store.runs import Run
from scoring.core.translation import FstAnnotation


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is known of one translation beyond its numbers. Its words may quote the output: hostile text."""

    sentences: Mapping[str, tuple[str, ...]]
    """By metric id, in the order of the inventory; metrics that say nothing are left out."""
    words: FstAnnotation | None
    """The analyser's verdicts; None where none is here."""


_NO_SOURCE = "The corpus has no source text for this entry, and this compares with the source."


class Explainer:
    """Explains the entries of one run; costs what the run's tools cost, so it is made in a thread."""

    def __init__(self, connection: sqlite3.Connection, run: Run) -> None:
        self._tools, self.why_not = _tools(connection, run)
        """``why_not`` says why nothing can be explained, None where it can."""

    def explain(self, entry: Entry, result: Result) -> Explanation:
        """Explain one stored output."""
        if self._tools is None or result.failed:
            return Explanation({}, None)
        given = [translation(entry, result)]
        (annotated,) = self._tools.annotated(given)
        said = {
            metric.info.id: (_NO_SOURCE,)
            if metric.reads_source and is_blank(entry.source)
            else metric.explain(annotated)
            for metric in self._tools.scorer.metrics
        }
        words = annotated.annotations.get("fst")
        return Explanation(
            {id_: sentences for id_, sentences in said.items() if sentences},
            words if isinstance(words, FstAnnotation) else None,
        )

    def close(self) -> None:
        """Let the annotators go."""
        if self._tools is not None:
            self._tools.close()


def _tools(connection: sqlite3.Connection, run: Run) -> tuple[ScoringTools | None, str | None]:
    """Find what the run was scored with; another analyser or card would explain other numbers."""
    if "scoring" not in run.plan:
        return None, "the run was imported; only its numbers are here"
    try:
        found = tools_of(connection, run)
    except HarnessError as error:
        return None, str(error)
    setup = stored_setup(run, found.setup.target_language, found.resources.entries)
    if changed := changes(setup, found.setup):
        return None, f"the run was scored with something else: {', '.join(changed)} changed since"
    return found, None
