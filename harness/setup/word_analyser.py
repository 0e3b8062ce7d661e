"""The analyser of a language, ready to be asked about the words of texts outside a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpora.languages.cards import find_card
from corpora.languages.tags import resolve_script
from corpora.languages.writing import WritingSystem
from harness.annotators.fst import FstAnnotator
from harness.fst.analyser import Analyser, open_analyser
from harness.fst.find import find_analyser
from harness.fst.model import AnalyserError
from harness.setup.preparing import language_folders


@dataclass(frozen=True)
class WordAnalyser:
    """An analyser that gives analyses, and how its language is written."""

    analyser: Analyser
    writing: WritingSystem | None
    annotator: FstAnnotator
    """It keeps nothing of what it is asked."""


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
    script = resolve_script(tag, card, texts)
    writing = None if card is None else card.writing(script)
    return WordAnalyser(analyser, writing, FstAnnotator(analyser, writing))
