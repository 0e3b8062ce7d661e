"""A language card: facts about a language and its writing that metrics need (DESIGN L2), never texts.

Cards are TOML files; ``corpora.languages.cards`` finds them. A language with several scripts has one card with one
section for each. How a language is written in one script is ``corpora.languages.writing``.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from corpora.languages.variant_rules import VariantRules
from corpora.languages.writing import Forbidden, WritingSystem, composed, shown

__all__ = ["Forbidden", "LanguageCard", "WritingSystem"]

_LANGUAGE = re.compile(r"[a-z]{2,3}", re.ASCII)
_SCRIPT = re.compile(r"[A-Z][a-z]{3}", re.ASCII)
_FILE_NAME = re.compile(r"\w[\w.+-]{0,99}", re.ASCII)


def _language(tag: str) -> str:
    """Refuse what is not the language part of a BCP 47 tag."""
    if not _LANGUAGE.fullmatch(tag):
        raise ValueError(
            f"{shown(tag)} is no language tag: two or three small letters are wanted, without a script"
        )
    return tag


def _script(code: str) -> str:
    if not _SCRIPT.fullmatch(code):
        raise ValueError(f"{shown(code)} is no script of ISO 15924, such as Latn, Cans or Cyrl")
    return code


def _file_name(name: str) -> str:
    """Refuse a path: a card of a stranger must not name a file outside the language folders."""
    if not _FILE_NAME.fullmatch(name):
        raise ValueError(f"{shown(name)} is no plain file name, such as analyser-gt-desc.hfstol")
    return name


def _one_word(text: str) -> str:
    if len(text.split()) != 1 or text != text.strip():
        raise ValueError(f"{shown(text)} is not one word")
    return composed(text)


def _gloss(text: str) -> str:
    if not text or text != "".join(text.split()):
        raise ValueError(f"{shown(text)} is no gloss: no white space, not empty")
    return text


def _tag(text: str) -> str:
    if text != "".join(text.split()):
        raise ValueError(f"{shown(text)} is no tag of an analyser: no white space")
    return text


Language = Annotated[str, AfterValidator(_language)]
Script = Annotated[str, AfterValidator(_script)]
OneWord = Annotated[str, AfterValidator(_one_word)]
Gloss = Annotated[str, AfterValidator(_gloss)]
AnalyserTag = Annotated[str, AfterValidator(_tag)]


class LanguageCard(BaseModel):
    """Everything that is known of one language."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tag: Language
    """BCP 47 tag of the language without script: ``crk``, ``iu``, ``se``."""
    name: Annotated[str, Field(min_length=1, max_length=100)]
    """English name."""
    autonym: Annotated[str, Field(max_length=100)] = ""
    """Its name in the language itself."""
    aliases: tuple[Language, ...] = ()
    """Other tags of the same language: ``sme`` for ``se``, ``iku`` for ``iu``."""
    default_script: Script
    """ISO 15924 code, used only where neither the tag nor the references tell the script."""
    writings: Annotated[dict[Script, WritingSystem], Field(min_length=1)]
    """By ISO 15924 code."""
    loan_words: tuple[OneWord, ...] = ()
    """Words that the language has in common with likely source languages, or borrowed with their letters."""
    analysers: tuple[Annotated[str, AfterValidator(_file_name)], ...] = ()
    """File names under which analysers of this language are published, the best first."""
    glosses: dict[Gloss, AnalyserTag] = {}
    """Gloss of an interlinear line → tag of the analyser (METRICS §2); the empty tag: has none."""
    affixes: tuple[OneWord, ...] = ()
    """Endings by which a term may differ from its dictionary form where there is no analyser."""
    variants: VariantRules | None = None
    """Differences that do not change a sentence's meaning (scoring-specification, appendix B)."""
    sources: dict[str, str]
    """Where the facts come from, by field."""

    @model_validator(mode="after")
    def _consistent(self) -> LanguageCard:
        if self.default_script not in self.writings:
            listed = ", ".join(self.writings)
            raise ValueError(
                f"default_script: it is {self.default_script}, and there is no section "
                f"[writings.{self.default_script}]; there is {listed}"
            )
        known = {*LanguageCard.model_fields, *WritingSystem.model_fields}
        if unknown := [field for field in self.sources if field not in known]:
            raise ValueError(f"sources: there is no field {shown(unknown[0])}")
        return self

    @property
    def tags(self) -> tuple[str, ...]:
        """The card's own tag, then its aliases."""
        return (self.tag, *self.aliases)

    def writing(self, script: str | None) -> WritingSystem:
        """Return the facts of one script, of the default script where it has no section of its own."""
        return self.writings.get(script or "", self.writings[self.default_script])
