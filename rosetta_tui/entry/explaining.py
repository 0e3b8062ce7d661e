"""The explanations of one run's entries: the instruments behind them are made once, when first asked."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from corpora.files.problems import CorpusError
from corpora.model.entry import Entry
from corpora.text.words import folded
from harness.core.failures import HarnessError
from harness.method.result import Result
from harness.store.file.database import opened
from harness.store.runs import find_run
from scoring.core.analysis import FstAnnotation
from scoring.core.wording import shortened

if TYPE_CHECKING:
    from harness.run.explaining import Explainer, Explanation


@dataclass(frozen=True, slots=True)
class Why:
    """Why an entry has its values. All of it may quote the output: hostile text."""

    sentences: Mapping[str, tuple[str, ...]]
    """What the metrics say, by metric id; those that say nothing are left out."""
    words: FstAnnotation | None
    """The analyser's verdicts; None where no analyser was asked."""
    differences: tuple[str, ...]
    """How the output's words differ from the reference's, where no metric has said it already."""


class Explaining:
    """Explains in the thread of whoever asks, one entry after the other."""

    def __init__(self, path: Path, run_id: str) -> None:
        self.why_not: str | None = None
        """Why nothing can be explained; None where it can, or nobody has asked yet."""
        self._path = path
        self._run_id = run_id
        self._explainer: Explainer | None = None
        self._lock = Lock()
        self._over = False

    def explain(self, entry: Entry, result: Result) -> Why | None:
        """Explain one stored output; None where that cannot be done, for which ``why_not`` has words.

        The first call may take seconds, for an analyser has to be read: it belongs into a worker.
        """
        with self._lock:
            try:
                return self._explain(entry, result)
            except (CorpusError, HarnessError, sqlite3.Error, OSError) as error:
                self.why_not = str(error)
                return None
            finally:
                self._let_go()

    def close(self) -> None:
        """Let the instruments go, after the question that is being answered."""
        self._over = True
        if self._lock.acquire(blocking=False):
            try:
                self._let_go()
            finally:
                self._lock.release()

    def _explain(self, entry: Entry, result: Result) -> Why | None:
        if self._over or self.why_not is not None:
            return None
        if self._explainer is None:
            self._explainer = self._made()
            self.why_not = self._explainer.why_not
        if self.why_not is not None:
            return None
        found = self._explainer.explain(entry, result)
        new = () if result.exact else _differences(found)
        return Why(found.sentences, found.words, new)

    def _made(self) -> Explainer:
        from harness.run.explaining import Explainer  # it brings all metrics and annotators with it

        with opened(self._path) as connection:
            return Explainer(connection, find_run(connection, self._run_id))

    def _let_go(self) -> None:
        if self._over and self._explainer is not None:
            explainer, self._explainer = self._explainer, None
            explainer.close()


def _differences(found: Explanation) -> tuple[str, ...]:
    """Say how words differ, of those about which the morphology of the entry has said nothing."""
    if found.words is None or not found.words.output:
        return ()
    from scoring.grammar.morpheme_difference import morpheme_differences, sentences

    told = folded(" ".join(found.sentences.get("morphological_accuracy", ())))
    return sentences(
        difference
        for difference in morpheme_differences(found.words)
        if not any(f"“{shortened(word)}”" in told for word in difference.named)
    )
