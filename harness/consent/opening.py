"""Opening a corpus: what was taken back of it is not opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from corpora.files.problems import Problem, Severity
from corpora.model.corpus import Corpus
from harness.consent.withdrawals_in_force import CorpusFacts, Withdrawals, Withdrawn


def facts_of(corpus: Corpus) -> CorpusFacts:
    """Return by what a corpus is known."""
    dataset = corpus.dataset
    return CorpusFacts(corpus.sha256, dataset.id, dataset.source_language, dataset.target_language)


def with_consent(corpus: Corpus, now: Withdrawals) -> Corpus:
    """Return a corpus without the entries that were taken back, and a warning that says so.

    Raises Withdrawn where all of it was, or no entry is left.
    """
    if not now:
        return corpus
    facts = facts_of(corpus)
    if (notice := now.of_corpus(facts)) is not None:
        raise Withdrawn(f"Corpus {corpus.dataset.id}", notice)
    kept, warnings = list(range(len(corpus.entries))), []
    for notice, about in now.of_entries(facts):
        left = [place for place in kept if not about.has(corpus.entries[place].id)]
        if not left:
            raise Withdrawn(f"Corpus {corpus.dataset.id}, of which no entry is left", notice)
        if gone := len(kept) - len(left):
            count_words = "1 entry is" if gone == 1 else f"{gone:,} entries are"
            words = f"{count_words} left out: consent was withdrawn for {notice.said}."
            warnings.append(_warning(corpus, words))
        kept = left
    if not warnings:
        return corpus
    return replace(
        corpus,
        entries=tuple(corpus.entries[place] for place in kept),
        lines=tuple(corpus.lines[place] for place in kept) if corpus.lines else (),
        warnings=(*_moved(corpus.warnings, kept), *warnings),
    )


def refuse_withdrawn_method(setup: Mapping[str, Any], now: Withdrawals) -> None:
    """Raise Withdrawn where the method with this set-up was taken back."""
    if (notice := now.of_method(setup)) is not None:
        raise Withdrawn(f"Method {setup.get('method')}", notice)


def _moved(warnings: Sequence[Problem], kept: Sequence[int]) -> list[Problem]:
    """Return warnings with the places that their entries have among those that are kept."""
    now = {place: at for at, place in enumerate(kept)}
    return [
        replace(warning, places=tuple(now[place] for place in warning.places if place in now))
        if warning.places
        else warning
        for warning in warnings
    ]


def _warning(corpus: Corpus, words: str) -> Problem:
    mend = "`rosetta consent list` has who said so; outputs for them are not wanted any more."
    where = "store" if corpus.vault is None else "vault"
    return Problem(Severity.WARNING, str(corpus.files[0]) if corpus.files else where, words, mend)
