"""The words that reviewers see, from one gettext catalogue for each language.

A catalogue is named by any tag (``fr``, ``crk``, ``cr-Cans``): the standard library knows no list of
languages, so a community can add its own as a ``.mo`` file. What a catalogue lacks is said in English.
"""

from __future__ import annotations

import gettext
import io
import itertools
import os
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from corpora.languages.tags import language_name as english_name
from corpora.languages.tags import language_of
from harness.core.failures import UsageError

DOMAIN = "rosetta-review"
ENGLISH = "en"  # The language of the message ids themselves
OURS = Path(__file__).parents[1] / "locale"
MOST_BYTES = 4 * 2**20  # Bytes of a catalogue; the whole of ours is a hundredth of it

Direction = Literal["ltr", "rtl"]

_TAG = re.compile(r"[A-Za-z0-9]{1,8}(?:[-_][A-Za-z0-9]{1,8}){0,5}")
_FACT = re.compile(r"\{(\w{1,40})\}")
# What the standard library raises over a file that is no catalogue, or one with a wrong plural rule
_DAMAGES = (
    OSError,
    ValueError,
    LookupError,
    ArithmeticError,
    TypeError,
    AttributeError,
    RecursionError,
    SyntaxError,
    struct.error,
)
# Plural rules of living languages repeat within these numbers: each is tried when a catalogue is
# read
_COUNTS_TRIED = 201


def msgid(text: str) -> str:
    """Mark a text of a table for the catalogue; it is translated where it is shown."""
    return text


# Translators: "ltr", or "rtl" where your language is written from right to left; nothing else.
_DIRECTION = msgid("ltr")
# Translators: not "English", but what your language calls itself.
_NAME = msgid("English")


@dataclass(frozen=True)
class Words:
    """One language's words; missing ones come from a wider catalogue of the language, then from English."""

    language: str  # Tag of the language that was found
    direction: Direction
    name: str  # What the language calls itself
    damaged: tuple[str, ...] = ()  # Names of catalogues that could not be read and are not used
    _catalogue: gettext.NullTranslations = field(default_factory=gettext.NullTranslations)
    # Tag of the language in which the person reads what organisations wrote, where no catalogue has
    # that tag
    texts: str = ""

    @classmethod
    def load(cls, language: str, folders: Sequence[Path] = ()) -> Words:
        """Load the words of a language: from ``folders`` first, then from ours.

        An unknown language gives English, as does a tag that is none. Nothing here fails over a file.
        """
        damaged: list[str] = []
        # The tag and those it narrows, the narrowest first: fr-CA, fr
        parts = language.replace("_", "-").split("-") if _TAG.fullmatch(language) else []
        catalogues = [
            (tag, catalogue)
            for tag in ("-".join(parts[:length]) for length in range(len(parts), 0, -1))
            for folder in (*folders, OURS)
            for catalogue in _catalogues(folder, tag, damaged)
        ]
        if not catalogues:
            return cls(ENGLISH, "ltr", "English", tuple(damaged))
        for (_, narrow), (_, wide) in itertools.pairwise(catalogues):
            narrow.add_fallback(wide)
        tag, first = catalogues[0]
        direction: Direction = "rtl" if first.gettext(_DIRECTION) == "rtl" else "ltr"
        name = first.gettext(_NAME)
        named = name != _NAME or tag.partition("-")[0] == ENGLISH
        return cls(tag, direction, name if named else tag, tuple(damaged), first)

    @property
    def chosen(self) -> str:
        """The tag that the person chose."""
        return self.texts or self.language

    @property
    def reads(self) -> tuple[str, ...]:
        """Tags in which to show what an organisation wrote, the best first."""
        return (self.texts, self.language) if self.texts else (self.language,)

    def reading(self, tag: str) -> Words:
        """Return these words for one who reads the texts of organisations in another language; "" for this one."""
        return replace(self, texts=tag)

    def messages(self) -> dict[str, str | list[str]]:
        """Return each text of the catalogue → how it is said; several forms where a number is in it."""
        messages: dict[str, str | list[str]] = {}
        # gettext gives all its texts in no other way
        for key, text in getattr(self._catalogue, "_catalog", {}).items():
            if isinstance(key, str):
                messages[key] = text
            else:  # a text and the number of its form, in their order
                forms = messages.setdefault(key[0], [])
                if isinstance(forms, list):
                    forms.append(text)
        messages.pop("", None)
        return messages

    def form(self, count: int) -> int:
        """Return which form of a text a number takes."""
        rule: Callable[[int], int] | None = getattr(self._catalogue, "plural", None)
        return int(count != 1) if rule is None else int(rule(count))

    def __call__(self, text: str, **facts: object) -> str:
        """Return a text; ``{name}`` in it becomes the fact of that name, and nothing else is a directive."""
        return _filled(self._catalogue.gettext(text), **facts)

    def plural(self, one: str, many: str, n: int, **facts: object) -> str:
        """Return a text for a number of things, by the language's own rule; ``{n}`` is the number."""
        return _filled(self._catalogue.ngettext(one, many, n), n=n, **facts)


def languages(folders: Iterable[Path] = ()) -> dict[str, str]:
    """Return the tags for which there are words → what each language calls itself, by name."""
    tags = {ENGLISH} | {tag for folder in (*folders, OURS) for tag in _tags(folder)}
    names = {tag: Words.load(tag, tuple(folders)).name for tag in tags}
    return dict(sorted(names.items(), key=lambda pair: pair[1].casefold()))


def language_name(tag: str) -> str:
    """Return what a language calls itself, where our words are there in it; else its English name, or its tag."""
    words = Words.load(tag)
    return words.name if same_language(words.language, tag) else english_name(tag)


def same_language(one: str, other: str) -> bool:
    """Return whether two tags are of one language, whatever script or region they name."""
    return language_of(one) == language_of(other)


def words_of_system(tags: Sequence[str] = (), folders: Sequence[Path] = ()) -> Words:
    """Load the words of the first language of the system that has any; its variables tell where ``tags`` do not."""
    variables = filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG")))
    for tag in tags or (next(variables, ENGLISH).partition(".")[0].partition("@")[0],):
        words = Words.load(tag, folders)
        if words.language != ENGLISH or same_language(tag, ENGLISH):
            return words
    return Words.load(ENGLISH, folders)


def checked_tag(typed: str) -> str:
    """Return a language tag in its one spelling, ``fr-CA``; raises UsageError where it is none."""
    if not _TAG.fullmatch(typed.strip()):
        raise UsageError(f"{typed[:40]!r} is no language tag. Write one such as en, fr, crk or cr-Cans.")
    return typed.strip().replace("_", "-")


def is_tag(typed: str) -> bool:
    """Return whether something has the form of a language tag."""
    return _TAG.fullmatch(typed) is not None


def _tags(folder: Path) -> Iterator[str]:
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:
        return
    for name in names:
        if _TAG.fullmatch(name) and (folder / name / "LC_MESSAGES" / f"{DOMAIN}.mo").is_file():
            yield name.replace("_", "-")


def _catalogues(folder: Path, tag: str, damaged: list[str]) -> Iterator[gettext.GNUTranslations]:
    for name in dict.fromkeys((tag, tag.replace("-", "_"))):
        path = folder / name / "LC_MESSAGES" / f"{DOMAIN}.mo"
        try:
            if not path.is_file():
                continue
            with path.open("rb") as file:
                content = file.read(MOST_BYTES + 1)
            if len(content) > MOST_BYTES:
                raise ValueError("larger than any catalogue")
            catalogue = gettext.GNUTranslations(io.BytesIO(content))
            for count in range(_COUNTS_TRIED):
                catalogue.ngettext("", "", count)
            yield catalogue
        except _DAMAGES:
            damaged.append(f"{name}/LC_MESSAGES/{path.name}")


def _filled(text: str, /, **facts: object) -> str:
    return _FACT.sub(lambda match: str(facts.get(match[1], match[0])), text)
