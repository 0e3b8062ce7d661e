"""The morphological analysis of an entry, in either of its two notations (METRICS §2).

Analyser strings say lemma and tags as an analyser does: ``wâpamêw+V+TA+Ind+1Sg+3SgO atim+N+A+Sg``; each is taken
apart into a TaggedWord. Interlinear lines give one gloss for each morpheme: ``mi vid-as | 1sg see-PRS``; the
language card's table turns glosses into the analyser's tags.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from corpora.text.tokens import folded

_BEFORE_THE_LEMMA = re.compile(r"[A-Z][A-Za-z]*/.+|IC|RdplW|RdplS|Rdpl")
"""GiellaLT's tags of prefixes and preverbs (``PV/e``), of initial change and reduplication."""
_BRACKETED = re.compile(r"([^<>]+)((?:<[^<>]+>)+)")
"""Apertium's notation, ``tlacatl<n><abs>``."""


@dataclass(frozen=True, slots=True)
class TaggedWord:
    """One analysis of one word."""

    lemma: str
    """The form in a dictionary; the parts of a compound joined by ``#``."""
    key: str
    """The lemma as lemmas are compared."""
    tags: frozenset[str]
    """Without the signs between them; those of a compound's last part."""


@lru_cache(maxsize=4096)
def tagged_word(analysis: str) -> TaggedWord:
    """Split an analysis; one without a tag is a bare lemma."""
    if bracketed := _BRACKETED.fullmatch(analysis):
        return _tagged(bracketed[1], bracketed[2][1:-1].split("><"))
    if analysis[:2] in {"++", "#+"}:  # the signs themselves, analysed
        return _tagged(analysis[0], [tag for tag in analysis[2:].split("+") if tag])
    parts: list[tuple[str, list[str]]] = []  # of a compound: lemma and tags
    for part in analysis.split("#"):
        pieces = part.split("+")
        lemmas = (at for at, piece in enumerate(pieces) if piece and not _BEFORE_THE_LEMMA.fullmatch(piece))
        at = next(lemmas, None)
        others = [] if at is None else [tag for tag in (*pieces[:at], *pieces[at + 1 :]) if tag]
        parts.append((part if at is None else pieces[at], others))
    return _tagged("#".join(lemma for lemma, _ in parts), parts[-1][1])


def _tagged(lemma: str, tags: Sequence[str]) -> TaggedWord:
    return TaggedWord(lemma, folded(lemma), frozenset(tags))


_MORPHEME_SIGNS = re.compile("[-=~‑]")
"""Signs of the Leipzig glossing rules between morphemes, clitics and reduplicated parts."""
_BETWEEN_STRINGS = re.compile(r"(?:\s|;(?!\+))+")
"""What parts analyser strings; a semicolon may also be analysed itself, ``;+CLB``."""
_GRAMMATICAL = re.compile(r"[A-Z][A-Z0-9/]+|[0-5]{1,2}'?(?:[/>.][0-5]'?)?(?:SG|PL|DU|sg|pl|du)?")
"""What a gloss of grammar looks like, if no table knows it: capitals, or a person."""


class UnreadableAnalysisError(ValueError):
    """A morphological analysis that is in neither notation; the message quotes nothing of it."""


@dataclass(frozen=True, slots=True)
class GoldWord:
    """What is expected of one word."""

    shown: str
    """The word for people: of the reference where it is known, else the lemma."""
    form: str
    """The word as it is in the reference, folded; empty in analyser strings, which do not tell."""
    lemmas: frozenset[str]
    """Folded lemmas of which any is right; none where interlinear lines do not tell and the analyser does
    not know the word."""
    stems: tuple[str, ...]
    """How the lemma begins where there is none: folded, the longest first."""
    tags: frozenset[str]
    unmapped: tuple[str, ...] = ()
    """What is left out: glosses of grammar without a tag in the language card, tags that the analyser
    does not give the word itself, and the whole where it is a number or a sign of punctuation."""

    @property
    def a_word(self) -> bool:
        """False for numbers and punctuation: nothing is expected of them, as no analyser is asked for them."""
        return _has_letter(self.shown)

    @property
    def size(self) -> int:
        """How many things are expected: the lemma and each tag."""
        return 1 + len(self.tags) if self.a_word else 0

    def has_lemma(self, word: TaggedWord) -> bool:
        """Return whether an analysis has the expected lemma.

        Where there is none, a lemma fits that begins with the root and continues by an ending no longer
        than the word's own, or by two letters after a root of three or more.
        """
        if self.lemmas:
            return word.key in self.lemmas
        for stem in self.stems:
            rest = max(len(self.form) - len(stem), 2 if len(stem) >= 3 else 0)
            if word.key.startswith(stem) and len(word.key) - len(stem) <= rest:
                return True
        return False


def joined(word: str) -> str:
    """Return a word as it is compared: folded, without the signs between its morphemes."""
    return _MORPHEME_SIGNS.sub("", folded(word))


def gold_words(text: str, glosses: Mapping[str, str]) -> tuple[GoldWord, ...]:
    """Read the analysis of an entry; UnreadableAnalysisError says what is wrong with it."""
    if "|" in text:
        return tuple(_interlinear(text, glosses))
    return tuple(_analyser_strings(text))


def _analyser_strings(text: str) -> Iterator[GoldWord]:
    """Read ``lemma+Tag+Tag`` words between spaces, semicolons or line ends."""
    analyses = [analysis for analysis in _BETWEEN_STRINGS.split(text) if analysis]
    words = {analysis: tagged_word(analysis) for analysis in analyses}
    if not any(word.tags for word in words.values()):
        what = "neither analyser strings (lemma+Tag+Tag) nor “segments | glosses”"
        raise UnreadableAnalysisError(f"it is {what}")
    for analysis in analyses:
        word = words[analysis]
        if _has_letter(word.lemma):
            yield GoldWord(word.lemma, "", frozenset({word.key}), (), word.tags)
        else:
            yield _left_out(word.lemma, analysis)


def _has_letter(text: str) -> bool:
    return any(map(str.isalpha, text))


def _left_out(shown: str, written: str) -> GoldWord:
    """Return what stands for a number or a sign: texts are looked up without them."""
    return GoldWord(shown, "", frozenset(), (), frozenset(), (written,))


def _interlinear(text: str, glosses: Mapping[str, str]) -> Iterator[GoldWord]:
    if not glosses:
        raise UnreadableAnalysisError(
            "it is interlinear, and the language card has no table `glosses` that turns glosses into tags"
        )
    for line in filter(None, map(str.strip, text.splitlines())):
        left, bar, right = line.partition("|")
        if not bar or "|" in right:
            raise UnreadableAnalysisError("a line of it is not of the form “segments | glosses”")
        words, glossed = left.split(), right.split()
        if len(words) != len(glossed):
            raise UnreadableAnalysisError(f"it has {len(words)} words and {len(glossed)} glosses")
        for place, (word, gloss) in enumerate(zip(words, glossed, strict=True), 1):
            if _has_letter(word):
                yield _glossed_word(place, word, gloss, glosses)
            else:
                yield _left_out(word, word)


def _glossed_word(place: int, word: str, gloss: str, table: Mapping[str, str]) -> GoldWord:
    segments = [folded(segment) for segment in _MORPHEME_SIGNS.split(word)]
    glosses = [gloss] if len(segments) == 1 else _MORPHEME_SIGNS.split(gloss)
    parts = [_gloss(part, table) for part in glosses]
    if len(parts) != len(segments):
        sizes = f"{len(segments)} segments and {len(parts)} glosses"
        raise UnreadableAnalysisError(f"its word {place} has {sizes}")
    roots = [at for at, part in enumerate(parts) if part.lexical] or [0]
    stems = {
        "".join(segments[: roots[-1] + 1]),
        "".join(segments[roots[0] : roots[-1] + 1]),
        "".join(segments[at] for at in roots),
    }
    return GoldWord(
        shown="".join(segments),
        form="".join(segments),
        lemmas=frozenset(),
        stems=tuple(sorted(stems - {""}, key=lambda stem: (-len(stem), stem))),
        tags=frozenset(tag for part in parts for tag in part.tags),
        unmapped=tuple(name for part in parts for name in part.unmapped),
    )


@dataclass(frozen=True, slots=True)
class _Gloss:
    """What the gloss of one morpheme says."""

    lexical: bool
    """True where it gives a meaning, so that the morpheme is a root."""
    tags: tuple[str, ...]
    unmapped: tuple[str, ...]


def _gloss(gloss: str, table: Mapping[str, str]) -> _Gloss:
    """Find a gloss as a whole, else by its parts between dots: ``see.TA`` is a meaning and a tag."""
    whole = _entry(gloss, table)
    if whole is not None:
        return _Gloss(lexical=False, tags=_tags(whole), unmapped=())
    entries = [(part, _entry(part, table)) for part in gloss.split(".") if part]
    unmapped = [part for part, entry in entries if entry is None and _grammatical(part)]
    return _Gloss(
        lexical=any(entry is None and not _grammatical(part) for part, entry in entries),
        tags=tuple(tag for _, entry in entries if entry is not None for tag in _tags(entry)),
        unmapped=tuple(unmapped),
    )


def _entry(gloss: str, table: Mapping[str, str]) -> str | None:
    """Find one gloss; a gloss of grammar also in capitals, as ``1sg`` and ``1SG`` are both in use."""
    if gloss in table:
        return table[gloss]
    if all(_grammatical(part) for part in gloss.split(".")):
        return table.get(gloss.upper())
    return None


def _grammatical(gloss: str) -> bool:
    return _GRAMMATICAL.fullmatch(gloss) is not None


@lru_cache(maxsize=1024)
def _tags(entry: str) -> tuple[str, ...]:
    """Split what the table gives for a gloss: one tag, several joined by ``+``, or none."""
    return tuple(tag for tag in entry.split("+") if tag)


# ---- What differs between the tags of two words, in words that people without the tags
# understand.

Features = dict[str, tuple[str, ...]]
"""Category (``person``) → what a word has there (``1st``), in the order of the table's categories."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One category in which a word is not as it should be."""

    category: str
    found: str | None
    """None: the word has nothing where something is expected."""
    expected: str | None
    """None: the word has something where nothing is expected."""
    words: str
    """``1st person instead of 3rd``."""


@dataclass(frozen=True, slots=True)
class _Category:
    """How a fault of one category is said; ``{found}`` and ``{expected}`` are filled in."""

    instead: str
    missing: str
    surplus: str


@dataclass(frozen=True, slots=True)
class _TagWords:
    """The table ``tag_words.toml``."""

    categories: Mapping[str, _Category]
    tags: Mapping[str, Mapping[str, str]]
    """Tag → category → words."""
    beside: Mapping[str, Mapping[str, Mapping[str, str]]]
    """Tag → the other tags next to it that mean something else there."""
    beginnings: Mapping[str, str]
    """Beginning of tags such as ``PV/`` → category; what follows it is said as it is."""
    one_slot: tuple[str, ...]
    """Categories of which a verb fills one."""
    ignored: tuple[str, ...]
    """Beginnings of tags that say nothing about the form of a word."""


_EITHER = "either number"
"""What a tag says that leaves singular and plural open: no fault, whatever the other word has."""


def inflection_faults(found: Collection[str], expected: Collection[str]) -> list[Fault]:
    """Return category by category how the actual tags differ from the expected ones.

    Of a word of another class only the class is said: its other categories are not to be compared.
    """
    has, wanted = features(found), features(expected)
    faults = []
    for name, category in _tag_words().categories.items():
        surplus = _without(has.get(name, ()), wanted.get(name, ()))
        missing = _without(wanted.get(name, ()), has.get(name, ()))
        if (surplus or missing) and _EITHER not in {*surplus, *missing}:
            has_too, lacks = " and ".join(surplus), " and ".join(missing)
            pattern = category.instead if has_too and lacks else category.missing if lacks else category.surplus
            # Tags come from files, so that a brace in one must not be taken for a place to fill in.
            words = pattern.replace("{found}", has_too, 1).replace("{expected}", lacks, 1)
            faults.append(Fault(name, has_too or None, lacks or None, words))
    classes = [fault for fault in faults if fault.category == "word class"]
    return [fault for fault in classes if fault.found and fault.expected] or _merged(faults)


def _merged(faults: list[Fault]) -> list[Fault]:
    """Merge into one fault that a verb has one thing for another in the slot that several categories share."""
    slot = [fault for fault in faults if fault.category in _tag_words().one_slot]
    missing = [fault for fault in slot if fault.expected and not fault.found]
    surplus = [fault for fault in slot if fault.found and not fault.expected]
    if not missing or not surplus:
        return faults
    actual = " and ".join(fault.found or "" for fault in surplus)
    expected = " and ".join(fault.expected or "" for fault in missing)
    one = Fault(missing[0].category, actual, expected, f"{actual} instead of {expected}")
    others = [fault for fault in faults if fault not in missing and fault not in surplus]
    return [*others, one]


def features(tags: Collection[str]) -> Features:
    """Convert the tags of one analysis into features; those that are in no table are kept as they are."""
    words_by_category: dict[str, list[str]] = {}
    for tag in sorted(tags):
        for category, words in _meaning(tag, tags):
            words_by_category.setdefault(category, []).append(words)
    order = [name for name in _tag_words().categories if name in words_by_category]
    return {name: tuple(dict.fromkeys(words_by_category[name])) for name in order}


def _meaning(tag: str, tags: Collection[str]) -> Iterable[tuple[str, str]]:
    table = _tag_words()
    for other, meanings in table.beside.items():
        if other in tags and tag in meanings:
            return meanings[tag].items()
    if tag in table.tags:
        return table.tags[tag].items()
    if tag.startswith(table.ignored):
        return ()
    for beginning, category in table.beginnings.items():
        if tag.startswith(beginning):
            return ((category, tag.removeprefix(beginning)),)
    return (("other", tag),)


def _without(values: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value for value in values if value not in others)


@cache
def _tag_words() -> _TagWords:
    """Read the table once."""
    content = files("scoring.grammar").joinpath("tag_words.toml").read_text(encoding="utf-8")
    data = tomllib.loads(content)
    return _TagWords(
        categories={
            name: _Category(
                instead=row.get("instead", "{found} instead of {expected}"),
                missing=row.get("missing", f"{{expected}} ({name}) missing"),
                surplus=row.get("surplus", f"{{found}} ({name}) where none is expected"),
            )
            for name, row in data["categories"].items()
        },
        tags=_split(data["tags"]),
        beside={tag: _split(rows) for tag, rows in data["beside"].items()},
        beginnings=data["beginnings"],
        one_slot=tuple(data["one_slot"]),
        ignored=tuple(data["ignored"]["beginnings"]),
    )


def _split(rows: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Read ``"1Sg" = "person: 1st; number: singular"``."""
    return {tag: dict(re.findall(r"(.*?): (.*?)(?:; |$)", text)) for tag, text in rows.items()}
