"""The morphological analysis of an entry, in either of its two notations (METRICS §2).

Analyser strings say lemma and tags as an analyser does: ``wâpamêw+V+TA+Ind+1Sg+3SgO atim+N+A+Sg``; each is taken
apart into a TaggedWord. Interlinear lines give one gloss for each morpheme: ``mi vid-as | 1sg see-PRS``; the
language card's table turns glosses into the analyser's tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

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


@lru_cache(maxsize=65_536)
def tagged_word(analysis: str) -> TaggedWord:
    """Split an analysis; one without a tag is a bare lemma."""
    if bracketed := _BRACKETED.fullmatch(analysis):
        return _tagged(bracketed[1], bracketed[2][1:-1].split("><"))
    if analysis[:2] in {"++", "#+"}:  # the signs themselves, analysed
        return _tagged(analysis[0], [tag for tag in analysis[2:].split("+") if tag])
    parts = [_part(part) for part in analysis.split("#")]
    return _tagged("#".join(lemma for lemma, _ in parts), parts[-1][1])


def _tagged(lemma: str, tags: Sequence[str]) -> TaggedWord:
    return TaggedWord(lemma, folded(lemma), frozenset(tags))


def _part(part: str) -> tuple[str, list[str]]:
    """Split one part of a compound into its lemma and its tags."""
    pieces = part.split("+")
    for place, piece in enumerate(pieces):
        if piece and not _BEFORE_THE_LEMMA.fullmatch(piece):
            return piece, [tag for tag in (*pieces[:place], *pieces[place + 1 :]) if tag]
    return part, []


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
        return any(self._begins(word.key, stem) for stem in self.stems)

    def _begins(self, lemma: str, stem: str) -> bool:
        rest = max(len(self.form) - len(stem), 2 if len(stem) >= 3 else 0)
        return lemma.startswith(stem) and len(lemma) - len(stem) <= rest


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
        raise UnreadableAnalysisError(
            "it is neither analyser strings (lemma+Tag+Tag) nor “segments | glosses”"
        )
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
    parts = [_gloss(part, table) for part in _morphemes(gloss, len(segments))]
    if len(parts) != len(segments):
        raise UnreadableAnalysisError(
            f"its word {place} has {len(segments)} segments and {len(parts)} glosses"
        )
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


def _morphemes(gloss: str, segments: int) -> list[str]:
    """Split a word's gloss; one for a word of one segment may hold a hyphen itself."""
    return [gloss] if segments == 1 else _MORPHEME_SIGNS.split(gloss)


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
