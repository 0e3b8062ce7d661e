"""Finding what a run can be scored with on this machine, and why the rest is off."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from corpora.cards import FoundCard, find_card, read_card
from corpora.corpus import Dataset
from corpora.entry import Entry
from harness.annotators.annotator import Annotator, Memo
from harness.instruments import Instruments
from harness.methods.coaching import read_coaching
from harness.methods.dictionary import Dictionary, read_dictionary
from harness.scoring_options import ScoringOptions
from harness.store.database import home
from scoring.inventory import choose, make_scorer, surface_setup
from scoring.resources import Resources
from scoring.terminology import Terminology


def language_folders() -> tuple[Path, ...]:
    """Give the folders in which users keep cards and analysers of their languages."""
    return (home() / "languages",)


def prepare(
    dataset: Dataset,
    entries: Sequence[Entry],
    corpus: Sequence[Entry],
    options: ScoringOptions,
    memo: Memo,
    coaching: Path | None = None,
) -> Instruments:
    """Find card, analyser, dictionaries and models for a run over ``entries`` of a ``corpus``.

    UsageError names what was asked for and cannot be had; what was not asked for and is not here only
    turns metrics off, with the reason in the setup.
    """
    folders = language_folders()
    target = _target_card(dataset, options, folders)
    source = find_card(dataset.source_language, folders)
    terms = _terms(options, coaching)
    draft = surface_setup(dataset.source_language, dataset.target_language, entries)
    setup = draft.model_copy(
        update={
            "language_card": None if target is None else target.card.tag,
            "language_card_sha256": None if target is None else target.sha256,
            "terms": len(terms),
            "terms_sha256": terms.sha256 or None,
        }
    )
    resources = Resources(
        setup,
        card=None if target is None else target.card,
        source_card=None if source is None else source.card,
        entries=entries,
        pairs=[entry for entry in corpus if not entry.secret],
        terms=terms,
    )
    annotators: tuple[Annotator, ...] = ()
    on, off = choose(resources, options.wanted)
    chosen = Resources(
        setup.model_copy(update={"metrics": on, "off": off}),
        card=resources.card,
        source_card=resources.source_card,
        entries=entries,
        pairs=resources.pairs,
        terms=terms,
    )
    return Instruments(chosen, make_scorer(chosen), annotators)


def _target_card(
    dataset: Dataset, options: ScoringOptions, folders: Sequence[Path]
) -> FoundCard | None:
    if options.language_card is not None:
        return read_card(options.language_card)
    return find_card(dataset.target_language, folders)


def _terms(options: ScoringOptions, coaching: Path | None) -> Terminology:
    """Read the prescribed terms: those asked for, else those that the run is coached with."""
    path = options.terms or coaching
    if path is None:
        return Terminology(())
    if path.suffix in {".json", ".toml"} and (path == coaching or path.suffix == ".toml"):
        found = read_coaching(path)
        return _terminology(found.dictionary, found.sha256)
    dictionary = read_dictionary(path)
    return _terminology(dictionary, dictionary.sha256 or "")


def _terminology(dictionary: Dictionary, sha256: str) -> Terminology:
    return Terminology(dictionary.pairs(), sha256)
