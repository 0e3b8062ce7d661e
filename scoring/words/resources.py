"""What metrics are made from: the setup, and what is too large to be written down with it.

A reader of stored statistics (a card, a second terminal) makes the same metrics from the setup alone: only
taking statistics needs the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property

from corpora.languages.language import LanguageCard, WritingSystem
from corpora.languages.tags import language_of
from corpora.model.entry import Entry
from corpora.text.alike import FORM
from scoring.core.setup import ScoringSetup
from scoring.core.translation import alike_entry
from scoring.words.bitext import Bitext
from scoring.words.reading import reader
from scoring.words.terminology import Terminology


@dataclass(frozen=True)
class Resources:
    """The setup with its data; what is derived from them is worked out where it is first used."""

    setup: ScoringSetup
    card: LanguageCard | None = None
    """Of the target language."""
    source_card: LanguageCard | None = None
    entries: Sequence[Entry] = ()
    """All entries that the run covers."""
    pairs: Sequence[Entry] = ()
    """Development entries of the whole corpus, from which an alignment may be learned; never secret ones."""
    terms: Terminology = field(default_factory=lambda: Terminology(()))
    gloss_dictionary: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Target lemma → glosses in the source language (Plains Cree semantic verdicts)."""

    def __post_init__(self) -> None:
        """Convert the entries into the form that metrics read."""
        if self.languages is None:
            return
        read = {id(entry): alike_entry(entry, *self.languages) for entry in self.entries}
        pairs = [read.get(id(pair)) or alike_entry(pair, *self.languages) for pair in self.pairs]
        object.__setattr__(self, "entries", [read[id(entry)] for entry in self.entries])
        object.__setattr__(self, "pairs", pairs)

    def with_setup(self, setup: ScoringSetup) -> Resources:
        """Return the resources with other metrics or annotators in their setup; tables of their texts are shared.

        ValueError where the setup is of other languages or another script.
        """
        for name in ("source_language", "target_language", "script", "text_form"):
            if getattr(setup, name) != getattr(self.setup, name):
                raise ValueError(f"the setup has another {name}")
        made = copy(self)
        object.__setattr__(made, "setup", setup)
        return made

    @property
    def languages(self) -> tuple[str, str] | None:
        """Shortest tags of source and target where look-alikes are read as one; None for a run of before."""
        if self.setup.text_form != FORM:
            return None
        return language_of(self.setup.source_language), language_of(self.setup.target_language)

    @property
    def writing(self) -> WritingSystem | None:
        """How the target is written; None without a language card."""
        return None if self.card is None else self.card.writing(self.setup.script)

    @property
    def source_writing(self) -> WritingSystem | None:
        """How the source is written; None without a language card."""
        card = self.source_card
        return None if card is None else card.writing(None)

    @cached_property
    def bitext(self) -> Bitext:
        """Return what the corpus shows of its two languages, for all metrics that need it."""
        return Bitext(reader(self.source_writing), reader(self.writing), self.entries, self.pairs)
