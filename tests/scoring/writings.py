"""Resources for a target language of which only its writing matters."""

from __future__ import annotations

from corpora.languages.language import LanguageCard, WritingSystem
from corpora.model.entry import Entry
from scoring.core.setup import ScoringSetup
from scoring.core.translation import Translation
from scoring.words.resources import Resources


def target(
    script: str | None = None,
    quotes: tuple[str, ...] = (),
    *,
    card: bool = True,
    word_letters: str = "",
    loan_words: tuple[str, ...] = (),
) -> Resources:
    """Return the resources of a target in one script, with a card unless told otherwise."""
    made = LanguageCard(
        tag="xx",
        name="Test",
        default_script=script or "Latn",
        writings={
            script or "Latn": WritingSystem(
                letters="a",
                cased=script in {"Latn", "Cyrl", None},
                quotes=quotes,
                word_letters=word_letters,
            )
        },
        loan_words=loan_words,
        sources={},
    )
    setup = ScoringSetup(
        metrics=(),
        source_language="en",
        target_language="xx",
        script=script,
        language_card="xx" if card else None,
        language_card_sha256="0" * 64 if card else None,
    )
    return Resources(setup, made if card else None)


def translated(
    source: str, output: str, reference: str = "", raw: str | None = None
) -> Translation:
    """Return one translation."""
    return Translation(Entry(id=1, source=source, reference=reference), output, raw=raw)
