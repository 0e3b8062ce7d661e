"""A language card: facts about a language and its writing that metrics need (DESIGN L2), never texts.

Cards are TOML files; ``corpora.cards`` finds them. A language with several scripts has one card with one
section for each.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from corpora.variant_rules import VariantRules
from corpora.words import JOINERS


class Forbidden(BaseModel):
    """A sequence of letters that the orthography does not have."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pattern: str
    """Regular expression, searched in a lower-cased word in NFC."""
    why: str
    """In words, for the entry screen: “long e is written ê”."""


class Writing(BaseModel):
    """How a language is written in one script."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    letters: str
    """Letters of the language's own words, in lower case, separated by spaces; several characters make
    one letter where the alphabet says so (``sh``). Ranges of single characters are written ``ᐁ-ᕽ``."""
    foreign_letters: str = ""
    """Letters of names and loan words, written likewise; they break no rule."""
    word_letters: str = ""
    """Characters that Unicode calls no letters and the language does (``'`` as a glottal stop)."""
    joiners: str = JOINERS
    """Characters that belong to a word where letters stand on both sides."""
    cased: bool
    """True where capitals are in use by convention."""
    quotes: tuple[Annotated[str, Field(min_length=2, max_length=2)], ...] = ()
    """Pairs of opening and closing marks, the usual one first."""
    direction: Literal["ltr", "rtl"] = "ltr"
    sentence_end: str = ".?!"
    bleu_tokenizer: str = "13a"
    """sacreBLEU's tokenizer for this writing."""
    normalisation: tuple[tuple[str, str], ...] = ()
    """Replacements that turn accepted spellings into the analyser's, tried where a word is rejected
    as written: ``["ā", "â"]``."""
    suspended_hyphen: bool = False
    """True where a hyphen may end a word that shares its rest with a later one (“Vor- und Nachteile”)."""
    vowel_marks: tuple[str, ...] = ()
    """Sets of letters of which a text uses only one, such as ``["âêîô", "āēīō"]``."""
    forbidden: tuple[Forbidden, ...] = ()


class LanguageCard(BaseModel):
    """Everything that is known of one language."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tag: str
    """BCP 47 tag of the language without script: ``crk``, ``iu``, ``se``."""
    name: str
    """English name."""
    autonym: str = ""
    aliases: tuple[str, ...] = ()
    """Other tags of the same language: ``sme`` for ``se``, ``iku`` for ``iu``."""
    default_script: str
    """ISO 15924 code, used only where neither the tag nor the references tell the script."""
    writings: dict[str, Writing]
    """By ISO 15924 code."""
    loan_words: tuple[str, ...] = ()
    """Words that the language has in common with likely source languages."""
    analysers: tuple[str, ...] = ()
    """File names under which analysers of this language are published, the best first."""
    glosses: dict[str, str] = {}
    """Gloss of an interlinear line → tag of the analyser (METRICS §2); the empty tag: has none."""
    affixes: tuple[str, ...] = ()
    """Endings by which a term may differ from its dictionary form where there is no analyser."""
    variants: VariantRules | None = None
    """Differences that do not change a sentence's meaning (scoring-specification, appendix B)."""
    sources: dict[str, str]
    """Where the facts come from, by field."""

    def writing(self, script: str | None) -> Writing:
        """Give the facts of one script, of the default script where it has no section of its own."""
        return self.writings.get(script or "", self.writings[self.default_script])
