"""Sentences that can be no secret: those of the demo, which everybody has who has this program."""

from __future__ import annotations

from collections.abc import Iterable

from corpora.formats.load import load
from corpora.model.corpus import Corpus
from corpora.model.entry import EntryId
from corpora.samples import DEMO_CORPUS, sample_path
from corpora.text.comparison import normalised


def known_of_the_demo(sources: Iterable[str]) -> frozenset[str]:
    """Return those of some sources that the bundled demo corpus has too, however they are written."""
    known = {normalised(entry.source) for entry in load(sample_path(DEMO_CORPUS)).entries}
    return frozenset(source for source in sources if normalised(source) in known)


def secrets_of_the_demo(corpus: Corpus) -> tuple[EntryId, ...]:
    """Return the ids of the secret entries whose source the bundled demo corpus has too."""
    secret = {entry.id: entry.source for entry in corpus.entries if entry.secret}
    known = known_of_the_demo(secret.values())
    return tuple(id_ for id_, source in secret.items() if source in known)
