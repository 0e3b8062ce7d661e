"""The analyser of a review's language, asked for wrong forms of right words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from corpora.languages.cards import find_card
from corpora.languages.scripts import resolve_script
from corpora.model.corpus import Dataset
from corpora.text.words import JOINERS, words
from harness.annotators.fst import FstAnnotator
from harness.fst.analyser import open_analyser
from harness.fst.find import find_analyser
from harness.fst.model import AnalyserError
from harness.setup.preparing import language_folders
from review.office.items.inflected_controls import Inflected, OtherForms, inflected


@dataclass(frozen=True)
class KnownForms:
    """What changes a word of a text into another of its forms, if anything here can."""

    make: Callable[[str], Sequence[Inflected]] | None
    why_not: str
    """Why nothing can, in words; empty where something can."""


def known_forms(dataset: Dataset, texts: Iterable[str]) -> KnownForms:
    """Open the analyser of the target language; ``texts`` are those whose words are attested.

    What is looked up is kept nowhere: the texts may be secret.
    """

    tag = dataset.target_language
    folders = language_folders()
    found = find_card(tag, folders)
    card = None if found is None else found.card
    path = find_analyser(card, tag, folders)
    if path is None:
        return KnownForms(None, f"no analyser for {tag} is here (`rosetta language check {tag}`)")
    try:
        analyser = open_analyser(path)
    except AnalyserError as error:
        return KnownForms(None, str(error))
    if analyser.acceptor:
        return KnownForms(None, f"{analyser.name} only says yes or no; it has no analyses")
    sentences = list(texts)
    script = resolve_script(tag, card, sentences)
    writing = None if card is None else card.writing(script)
    annotator = FstAnnotator(analyser, writing)
    attested = {word for text in sentences for word in annotator.split(text)}
    forms = OtherForms(attested, lambda found: annotator.analyse_words(found, secret=True))
    joiners = writing.joiners if writing else JOINERS
    letters = writing.word_letters if writing else ""

    def make(text: str) -> Sequence[Inflected]:
        return inflected(text, list(words(text, joiners, letters)), forms)

    return KnownForms(make, "")
