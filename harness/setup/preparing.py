"""Finding what a run can be scored with on this machine, and why the rest is off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corpora.languages.cards import FoundCard, find_card, read_card, resolve_script
from corpora.languages.tags import language_of
from corpora.languages.writing import WritingSystem
from corpora.model.corpus import Dataset
from corpora.model.entry import AnyEntry, Entry, OpenEntry, only_open, reveal_here, secrets_among
from corpora.text.comparison import FORM, scripts
from harness.annotators.annotator import Memo, NoMemo
from harness.annotators.fst import FstAnnotator
from harness.core.failures import UsageError
from harness.fst.analyser import Analyser, open_analyser
from harness.fst.model import AnalyserError, find_analyser
from harness.inputs.dictionary import (
    GlossDictionary,
    holds_coaching,
    read_coaching,
    read_dictionary,
    read_gloss_dictionary,
)
from harness.settings import read_settings
from harness.setup.scoring_options import ScoringOptions, find_annotators, require_weighed
from harness.setup.scoring_tools import ScoringTools
from harness.store.sqlite.database import home
from scoring.core.inventory import packs_of, row_of, task_metrics, unknown_metric
from scoring.metrics.inventory import choose_metrics, make_scorer, surface_setup
from scoring.words.bitext import Terminology, alignment_name, no_terms
from scoring.words.source_words import Resources, source_word_list


def language_folders() -> tuple[Path, ...]:
    """Return the folders in which users keep cards and analysers: that of the data folder, and their own choice.

    UsageError where the settings cannot be read.
    """
    folder = home()
    return (folder / "languages", *read_settings(folder).language_folders)


def prepare(
    dataset: Dataset,
    chosen: Sequence[AnyEntry],
    corpus: Sequence[AnyEntry],
    options: ScoringOptions,
    memo: Memo,
    *,
    coaching: Path | None = None,
    prices: Path | None = None,
    offline: bool = False,
    folder: Path | None = None,
    text_form: str = FORM,
) -> ScoringTools:
    """Find card, analyser, dictionaries and models for a run over ``chosen`` entries of a ``corpus`` that is in ``folder``.

    ``text_form``: the form in which its metrics read texts, as in ``ScoringSetup``.
    UsageError names what was asked for and cannot be had; what was not asked for and is not here only
    turns metrics off, with the reason in the setup. No text leaves this machine yet.
    """
    folders = language_folders()
    entries, pairs = reveal_here(chosen), only_open(corpus)
    if any(secrets_among(entries)):
        memo = NoMemo()  # floors put secret references beside public entries
    resources = _languages(dataset, entries, pairs, options, coaching, text_form, folders)
    options = options.for_task(dataset.task)
    wanted = task_metrics(options.metrics)
    # Refuse what a run was begun with and is not here any more: without it, it would be another
    # run.
    for name in sorted(wanted):
        if row_of(name) is None:
            raise UsageError(f"--metrics: {unknown_metric(name)}. Install it, or name others.")
    if options.scoring is not None:
        require_weighed(options.scoring, dataset.task, dataset.language_pair)
    complete, annotators, steps = find_annotators(
        resources, entries, options, memo, folders, offline=offline, folder=folder, prices=prices
    )
    on, off = choose_metrics(complete, wanted)
    facts = {"metrics": on, "off": off, "packs": packs_of(on), "calibration": options.scoring}
    resources = complete.with_setup(complete.setup.model_copy(update=facts))
    return ScoringTools(resources, make_scorer(resources), annotators, steps)


def _languages(
    dataset: Dataset,
    entries: Sequence[Entry],
    pairs: Sequence[OpenEntry],
    options: ScoringOptions,
    coaching: Path | None,
    text_form: str,
    folders: Sequence[Path],
) -> Resources:
    """Read the cards of both languages and the user's dictionaries."""
    path = options.terms or coaching
    terms = no_terms() if path is None else _terms(path, dataset, coaching=path == coaching)
    tag, named = dataset.target_language, options.language_card
    shares = scripts(entry.reference for entry in entries)
    target = find_card(tag, folders) if named is None else _named_card(named, tag)
    source = find_card(dataset.source_language, folders)
    glosses = GlossDictionary({}, "")
    if options.gloss_dictionary is not None:
        glosses = read_gloss_dictionary(options.gloss_dictionary, language_of(dataset.target_language))
    card = None if target is None else target.card
    script = resolve_script(tag, card, shares)
    writing = None if card is None else card.writings.get(script or "")
    draft = surface_setup(dataset.source_language, tag, entries, shares)
    facts: dict[str, str | int | None] = {
        "task": dataset.task,
        "text_form": text_form,
        "multi_ref": options.multi_ref,
        "script": script,
        "terms": len(terms),
        "terms_sha256": terms.sha256 or None,
        "word_list": source_word_list(dataset.source_language)[1],
        "alignment": alignment_name(pairs),
        "gloss_dictionary": len(glosses.glosses),
        "gloss_dictionary_sha256": glosses.sha256 or None,
    }
    if target is not None and card is not None:
        rules = card.variants
        facts |= {
            "language_card": card.tag,
            "language_card_sha256": target.sha256,
            "variant_rules": rules is not None,
            "free_word_order": rules is not None and rules.free_word_order,
        }
    if writing is not None:
        facts["bleu_tokenizer"] = writing.bleu_tokenizer
    return Resources(
        draft.model_copy(update=facts),
        card=card,
        source_card=None if source is None else source.card,
        covered=entries,
        pairs=pairs,
        terms=terms,
        gloss_dictionary=glosses.glosses,
    )


def _named_card(path: Path, tag: str) -> FoundCard:
    """Read the user's card of the target language; UsageError for one of another: its letters and rules would mean nothing."""
    named = read_card(path)
    language = tag.replace("_", "-").split("-")[0].lower()
    shipped = find_card(tag)
    names = {language, *(shipped.card.tags if shipped else ())}
    if language != "und" and not names & set(named.card.tags):
        raise UsageError(
            f"--language-card is of {named.card.tag} ({named.card.name}), and the corpus is translated into {tag}. "
            f"Name a card of {tag}, list {language!r} among the card's aliases, or leave it out."
        )
    return named


def _terms(path: Path, dataset: Dataset, *, coaching: bool) -> Terminology:
    """Read the prescribed terms: those asked for, else those that the run is coached with."""
    languages = language_of(dataset.source_language), language_of(dataset.target_language)
    if coaching or holds_coaching(path):
        coaching_data = read_coaching(path)
        return Terminology(coaching_data.dictionary.pairs(), coaching_data.sha256, languages)
    dictionary = read_dictionary(path)
    return Terminology(dictionary.pairs(), dictionary.sha256 or "", languages)


# ---- The analyser of a language, ready to be asked about the words of texts outside a run.


@dataclass(frozen=True)
class WordAnalyser:
    """An analyser that gives analyses, and how its language is written."""

    analyser: Analyser
    writing: WritingSystem | None
    annotator: FstAnnotator  # It keeps nothing of what it is asked


def word_analyser(tag: str, texts: Sequence[str]) -> WordAnalyser | str:
    """Open the analyser of a language; in words, why there is none that gives analyses.

    ``texts`` tell in which script it is written, where the tag does not.
    """
    folders = language_folders()
    found_card = find_card(tag, folders)
    card = None if found_card is None else found_card.card
    path = find_analyser(card, tag, folders)
    if path is None:
        return f"no analyser for {tag} is here (`rosetta language check {tag}`)"
    try:
        analyser = open_analyser(path)
    except AnalyserError as error:
        return str(error)
    if analyser.acceptor:
        return f"{analyser.name} only says yes or no; it has no analyses"
    script = resolve_script(tag, card, scripts(texts))
    writing = None if card is None else card.writing(script)
    return WordAnalyser(analyser, writing, FstAnnotator(analyser, writing))
