"""A language card: facts about a language and its writing that metrics need (DESIGN L2), never texts.

Cards are TOML files. A language with several scripts has one card with one section for each. How a language is written
in one script is ``corpora.languages.writing``.

VariantRules are the rules of one language by which two sentences say the same (scoring-specification, appendix
B). They are data of the card, so that a community changes them without touching code; what they do is
``scoring.grammar.variants``. A rule that a card leaves out is not applied.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, ValidationError, model_validator
from pydantic_core import ErrorDetails

from corpora.files.decode import open_regular
from corpora.files.problems import CardError, Problem, Severity
from corpora.files.toml_text import line_of, parse_toml, place_of, wanted_words
from corpora.languages.tags import LARGEST_CARD, SHIPPED, card_file, nearest, tag_script, texts_script
from corpora.languages.writing import Forbidden, WritingSystem, composed, shown


def _written(text: str) -> str:
    """Return a word or part of one in NFC and lower case; it must be no more than one word."""
    form = composed(text).casefold()
    if not form or len(form.split()) != 1 or form != form.strip():
        raise ValueError("one word, or a part of one, is wanted: no white space, not empty")
    return form


Written = Annotated[str, AfterValidator(_written)]
Part = Annotated[str, AfterValidator(lambda text: _written(text) if text else "")]
"""A part of a word, which may be empty."""


class ClusiveAffixes(BaseModel):
    """One way in which a word says “we”: the affixes without and with the person spoken to."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    exclusive: tuple[Part, Part]
    """Beginning and end of the word where the person spoken to is left out (“they and I”)."""
    inclusive: tuple[Part, Part]
    """Beginning and end of the word where that person belongs to it (“you and I”)."""

    @model_validator(mode="after")
    def _told_apart(self) -> ClusiveAffixes:
        for beginning, end in (self.exclusive, self.inclusive):
            if not beginning or not end:
                why = "an end alone is shared by other words"
                raise ValueError(f"both a beginning and an end are wanted: {why}")
        if self.exclusive == self.inclusive:
            raise ValueError("exclusive and inclusive are the same")
        return self


class VariantRules(BaseModel):
    """Which differences do not count, as data of a language card."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    ignore_case: StrictBool = False
    """True where the language has no capitals by convention, so that a capital means nothing."""
    ignored_marks: str = ""
    """Punctuation at the edge of a word that may differ, as one string."""
    sentence_end: str = ".?!"
    """Marks after which words belong to another sentence; words never move across one."""
    spellings: tuple[tuple[Written, Part], ...] = ()
    """Orthography: letters that may be written for each other; the first is read as the second."""
    preverbs: tuple[Written, ...] = ()
    """Orthography: parts of a verb after which a hyphen and a space are the same."""
    fused: tuple[tuple[Written, Written], ...] = ()
    """Orthography: parts that are also written as one, and the same with a hyphen."""
    separate_words: tuple[Written, ...] = ()
    """Orthography: words of their own that are also joined to the next one by a hyphen."""
    free_word_order: StrictBool = False
    """True where the same words in another order mean the same, within one clause."""
    clause_words: tuple[Written, ...] = ()
    """Words that join clauses: where one stands and no analyser tells otherwise, the order counts."""
    placed_words: tuple[Written, ...] = ()
    """Words whose place has a meaning (negation, the mark of a question): with one, the order counts."""
    verb_tag: str = "V"
    """The analyser's tag of a verb; with two verbs in a sentence the order counts."""
    optional_particles: tuple[Written, ...] = ()
    """Words that may stand or be missing; one for another is still a difference."""
    synonyms: tuple[Annotated[tuple[Written, ...], Field(min_length=2)], ...] = ()
    """Groups of words, or of dictionary forms where there is an analyser, of which each may stand for
    the others."""
    progressive: tuple[Written, ...] = ()
    """Preverbs of an action under way that an output may have where the reference does not."""
    progressive_endings: tuple[Written, ...] = ()
    """Endings of a source word that tell of an action under way (English ``ing``); without any of them
    the preverb counts as a difference. Empty: it never does."""
    clusive_affixes: tuple[ClusiveAffixes, ...] = ()
    """Inclusive and exclusive “we” in words that no analyser knows."""
    clusive_words: tuple[tuple[Written, Written], ...] = ()
    """Pairs of whole words, exclusive and inclusive."""
    clusive_tags: tuple[tuple[str, str], ...] = ()
    """Pairs of the analyser's tags, exclusive and inclusive; a tag may hold them (``Px1Pl``)."""
    clusive_told_by: tuple[Written, ...] = ()
    """Source words that tell which “we” is meant, so that the other one is a difference."""

    @model_validator(mode="after")
    def _consistent(self) -> VariantRules:
        listed = [word for group in self.synonyms for word in group]
        if twice := sorted({word for word in listed if listed.count(word) > 1}):
            raise ValueError(f"synonyms: {twice[0]!r} is in two groups; join them")
        if unknown := [preverb for preverb in self.progressive if preverb not in self.preverbs]:
            raise ValueError(f"progressive: {unknown[0]!r} is not among the preverbs; add it there")
        known = {*self.preverbs}
        if broken := [whole for whole, parts in self.fused if {*parts.split("-")} - known]:
            raise ValueError(f"fused: {broken[0]!r} is made of parts that are not preverbs")
        return self


__all__ = ["Forbidden", "LanguageCard", "WritingSystem"]


def _matching(pattern: str, wrong: str, flags: re.RegexFlag = re.ASCII) -> AfterValidator:
    """Refuse every text that a pattern does not match as a whole; ``wrong`` says so after the text."""
    whole = re.compile(pattern, flags)

    def check(text: str) -> str:
        if not whole.fullmatch(text):
            raise ValueError(f"{shown(text)} {wrong}")
        return text

    return AfterValidator(check)


def _one_word(text: str) -> str:
    if len(text.split()) != 1 or text != text.strip():
        raise ValueError(f"{shown(text)} is not one word")
    return composed(text)


Language = Annotated[
    str, _matching("[a-z]{2,3}", "is no language tag: two or three small letters are wanted, without a script")
]
Script = Annotated[str, _matching("[A-Z][a-z]{3}", "is no script of ISO 15924, such as Latn, Cans or Cyrl")]
FileName = Annotated[str, _matching(r"\w[\w.+-]{0,99}", "is no plain file name, such as analyser-gt-desc.hfstol")]
"""A name without a folder: a card of a stranger must not name a file outside the language folders."""
OneWord = Annotated[str, AfterValidator(_one_word)]
Gloss = Annotated[str, _matching(r"\S+", "is no gloss: no white space, not empty", re.UNICODE)]
AnalyserTag = Annotated[str, _matching(r"\S*", "is no tag of an analyser: no white space", re.UNICODE)]


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
    analysers: tuple[FileName, ...] = ()
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
        """Return the facts of one script, of the default script if it has no own section."""
        return self.writings.get(script or "", self.writings[self.default_script])


def resolve_script(tag: str, card: LanguageCard | None, shares: Mapping[str, float]) -> str | None:
    """Return the script of a target: from its tag, else the shares of scripts in its references, else the card's default."""
    script = tag_script(tag) or texts_script(shares)
    return script or (card.default_script if card else None)


# ---- Finding and reading language cards: those that ship with the program, and a user's own. The file of a card
# is named for its tag, so that a card is found without reading the others; only a tag that no file is named for is
# looked for among the aliases.

_LANGUAGE = re.compile(r"[a-z]{2,3}", re.ASCII)
_PLACE = re.compile(r" \(at line (\d+), column \d+\)$")
_FIELD = re.compile(r"([a-z_]+): ")
"""How the check of a whole section names the field that is wrong."""
_DOCS = "docs/languages.md lists every field."


@dataclass(frozen=True, slots=True)
class FoundCard:
    """A card and where it is from."""

    card: LanguageCard
    sha256: str
    """Over the bytes of the file."""
    path: Path

    @property
    def shipped(self) -> bool:
        """True where it came with the program, and is not a user's own."""
        return self.path.parent == SHIPPED


def find_card(tag: str, folders: Sequence[Path] = ()) -> FoundCard | None:
    """Find the card of a language tag by its language part or an alias; None where there is none.

    A user's ``folders`` come before the shipped one. CardError names file, field and fix.
    """
    language = tag.replace("_", "-").split("-")[0].lower()
    if not _LANGUAGE.fullmatch(language):
        return None
    shipped = card_file(language, SHIPPED)
    names = [language, *([shipped.stem] if shipped else [])]
    for folder in folders:
        for name in dict.fromkeys(names):
            if (path := card_file(name, folder)) is not None:
                # Read a card that its file's name led to; the name must be true.
                card = read_card(path)
                if path.stem not in card.card.tags:
                    message = f"The file is named for {path.stem!r}, and its card is of {card.card.tag!r}."
                    mend = f"Rename it to {card.card.tag}.toml, or correct the tag."
                    raise _error(path, message, mend, field="tag")
                return card
    return None if shipped is None else shipped_card(shipped)


def read_card(path: Path) -> FoundCard:
    """Read one card; CardError with everything that is wrong in it."""
    try:
        with open_regular(path) as file:
            content = file.read(LARGEST_CARD + 1)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise _error(path, f"It cannot be read: {why}.", "Check name and permissions.") from None
    if len(content) > LARGEST_CARD:
        raise _error(path, "It is larger than 1 MB.", "A card holds facts, no texts: shorten it.")
    return _card(path, content)


shipped_card = lru_cache(maxsize=8)(read_card)
"""Cards that came with the program do not change while it runs."""


@lru_cache(maxsize=8)
def _card(path: Path, content: bytes) -> FoundCard:
    """Read a card's bytes; every run of a sweep asks for the same."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _error(path, "It is not UTF-8 text.", "Save it as UTF-8.", line) from None
    data = parsed(path, text)
    try:
        card = LanguageCard.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        raise CardError([_problem(path, text, detail) for detail in errors]) from None
    return FoundCard(card, hashlib.sha256(content).hexdigest(), path)


def parsed(path: Path, text: str) -> dict[str, Any]:
    """Read a card's TOML; raises CardError with the line and the fix."""
    try:
        return parse_toml(text)
    except ValueError as error:
        message = str(error)
        place = _PLACE.search(message)
        line = int(place[1]) if place else None
        what = _PLACE.sub("", message).replace(" (at end of document)", " at the end")
        raise _error(path, f"It is no TOML: {what}.", "Correct this line.", line) from None


def _error(path: Path, message: str, mend: str, line: int | None = None, field: str | None = None) -> CardError:
    return CardError([Problem(Severity.ERROR, str(path), message, mend, line, field=field)])


def _problem(path: Path, text: str, found: ErrorDetails) -> Problem:
    """Return the problem for one thing that the model refuses, with field, line and fix."""
    place = place_of(found)
    message, mend = _words(found, place)
    match = _FIELD.match(message)
    if (
        found["type"] == "value_error"
        and match
        and (not place or place[-1] == "variants" or (len(place) == 2 and place[0] == "writings"))
    ):
        place, message = (*place, match[1]), message[match.end() :]
    field = ".".join(str(part) for part in place) or None
    where = line_of(text, place)
    return Problem(Severity.ERROR, str(path), f"{message[:1].upper()}{message[1:]}.", mend, where, field=field)


def _words(found: ErrorDetails, place: tuple[int | str, ...]) -> tuple[str, str]:
    """Return what is wrong, without its full stop, and the fix."""
    kind, last = found["type"], place[-1] if place else ""
    if kind == "extra_forbidden":
        model: type[BaseModel] = WritingSystem if place[0] == "writings" else LanguageCard
        model = Forbidden if "forbidden" in place[:-1] else model
        near = nearest(str(last), model.model_fields)
        mend = f"Is {near!r} meant?" if near else "Remove it, or correct its name."
        return "this field is not known", f"{mend} {_DOCS}"
    if kind == "value_error":
        return wanted_words(found), "Correct it."
    missing = kind == "missing" and isinstance(last, str)
    return wanted_words(found), f"{'Add' if missing else 'Correct'} it. {_DOCS}"
