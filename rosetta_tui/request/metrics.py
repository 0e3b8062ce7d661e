"""The metrics of a draft: which ones its run would have, and why it would not have the others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from corpora.model.corpus import Corpus
from rosetta_tui.request.corpus import READING, SELECTING
from rosetta_tui.request.draft import RunDraft
from rosetta_tui.request.fields import SECTIONS

if TYPE_CHECKING:
    from rosetta_tui.request.look import Known, Metrics

_MEASURING = ("coaching", "offline", *(field.name for field in SECTIONS[-1].fields))
"""Options that decide which metrics there are."""


def measured(store_path: Path, draft: RunDraft, corpus: Corpus, known: Known) -> Metrics:
    """Tell which metrics the run would have, and why it would not have the others; raises what keeps one off.

    It looks for cards, analysers and models as the beginning of a run does, so it may take a while. The
    draft is one that nothing is wrong with, the corpus the one that ``look`` read: its file may be another
    by now.
    """
    from harness import api

    names = (*READING, *SELECTING, *_MEASURING)
    key = (corpus.sha256, *(draft.values.get(name) for name in names))
    found = known.metrics.get(key)
    if found is None:
        found = api.metrics(store_path, draft.request(corpus))
        known.metrics = {key: found}
    return found
