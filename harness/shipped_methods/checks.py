"""Checks that a pipeline makes on an output, without a reference: what it rejects is asked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import regex

from corpora.languages.tags import tag_script
from corpora.text.tokens import folded, read_placeholders, words
from harness.core.failures import UsageError

if TYPE_CHECKING:  # loaded only where an analyser is given
    from harness.annotators.fst import FstAnnotator


@dataclass(frozen=True, slots=True)
class Rejection:
    """One thing that a check finds wrong."""

    reason: str  # In words, for the model and for the entry screen
    word: str | None = None  # The word that is rejected; None where it is the whole output

    def __str__(self) -> str:
        return f"{self.word}: {self.reason}" if self.word else self.reason


class Check(Protocol):
    """Looks at a source and its output, never at a reference: a method must not know it."""

    name: str

    def rejections(self, source: str, output: str) -> list[Rejection]:
        """List what is wrong; empty where the check accepts the output."""
        ...


def carried(source: str) -> set[str]:
    """Return what of a source may be in an output as it is: names and numbers, folded."""
    return {folded(word.text) for word in words(source) if word.number or word.text[0].isupper()}


class GlossaryCheck:
    """Accepts the words of a vocabulary, and the names and numbers of the source."""

    name = "glossary"

    def __init__(self, vocabulary: frozenset[str]) -> None:
        self._vocabulary = vocabulary

    def rejections(self, source: str, output: str) -> list[Rejection]:
        """Reject each word once that is in none of them."""
        known = self._vocabulary | carried(source)
        unknown = {
            folded(word.text): word.text for word in words(output) if not word.number and folded(word.text) not in known
        }
        return [Rejection("not in the word list", word) for word in unknown.values()]


class FstCheck:
    """Accepts the words that the analyser of the language accepts, and the names and numbers of the source."""

    name = "fst"

    def __init__(self, annotator: FstAnnotator) -> None:
        self._annotator = annotator

    def rejections(self, source: str, output: str) -> list[Rejection]:
        """Reject each word once that is none; placeholders and addresses are no words."""
        given = carried(source)
        open_words = {
            folded(word): word
            for word in self._annotator.split(output)
            if folded(word) not in given and not any(map(str.isnumeric, word))
        }
        word_analyses = self._annotator.analyse_words(list(open_words.values()))
        return [
            Rejection("no word that the language's analyser accepts", word_analysis.word)
            for word_analysis in word_analyses
            if word_analysis.accepted is None
        ]


class ScriptCheck:
    """Accepts the letters of one script, and whatever the source has too (names, units)."""

    name = "script"

    def __init__(self, script: str) -> None:
        names = _SEVERAL_SCRIPTS.get(script, (script,))
        inside = "".join(rf"\p{{Script={name}}}" for name in (*names, "Zyyy", "Zinh"))
        try:
            self._foreign = regex.compile(rf"[\p{{L}}&&[^{inside}]]", regex.V1)
        except regex.error:
            raise UsageError(f"Script {script!r} of the target language is not known.") from None

    def rejections(self, source: str, output: str) -> list[Rejection]:
        """Reject each word once that has a letter of another script."""
        given = {folded(word.text) for word in words(source)}
        unknown_words = dict.fromkeys(
            word.text for word in words(output) if self._foreign.search(word.text) and folded(word.text) not in given
        )
        return [Rejection("written in another script", word) for word in unknown_words]


_SEVERAL_SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "Jpan": ("Hira", "Kana", "Hani"),
    "Kore": ("Hang", "Hani"),
    "Hans": ("Hani",),
    "Hant": ("Hani",),
}


class LengthCheck:
    """Accepts outputs of a likely length, so that a lost half or an added explanation is seen."""

    name = "length"

    def rejections(self, source: str, output: str) -> list[Rejection]:
        """Reject an output beyond four times the source (plus 40 letters), or under a tenth of it."""
        if len(output) > 4 * len(source) + 40:
            return [Rejection("The translation is much longer than the text.")]
        if len(output) * 10 < len(source):
            return [Rejection("The translation is much shorter than the text.")]
        return []


class SourceCopyCheck:
    """Accepts whatever is not the source itself."""

    name = "source-copy"

    def rejections(self, source: str, output: str) -> list[Rejection]:
        """Reject a copy, where the source has a word that is no name or number."""
        given = [word for word in words(source) if not word.number]
        ordinary = any(not word.text[0].isupper() for word in given) or len(given) > 2
        if ordinary and [folded(w.text) for w in words(source)] == [folded(w.text) for w in words(output)]:
            return [Rejection("The answer is the text itself, not translated.")]
        return []


class PlaceholderCheck:
    """Accepts an output with the same placeholders and tags as the source, each as often."""

    name = "placeholders"

    def rejections(self, source: str, output: str) -> list[Rejection]:
        """Reject each placeholder that is missing, and each that the source does not have."""
        wanted, counts = read_placeholders(source).variables, read_placeholders(output).variables
        missing = [Rejection("missing: keep it as it is", name) for name in wanted - counts]
        invented = [Rejection("not in the text: leave it out", name) for name in counts - wanted]
        return [*missing, *invented]


def make_checks(
    wanted: tuple[str, ...], vocabulary: frozenset[str], target: str, annotator: FstAnnotator | None = None
) -> list[Check]:
    """Make the checks that were asked for; all that can be made where none was.

    UsageError names a check that is not known, or lacks what it needs.
    """
    script = tag_script(target)
    makers: dict[str, Callable[[], Check] | str] = {
        "source-copy": SourceCopyCheck,
        "length": LengthCheck,
        "placeholders": PlaceholderCheck,
        "script": (lambda: ScriptCheck(script))
        if script
        else f"name the script in the language tag, such as {target}-Latn",
        "glossary": (lambda: GlossaryCheck(vocabulary)) if vocabulary else "give --glossary FILE or --word-list FILE",
        "fst": (lambda: FstCheck(annotator)) if annotator else "give --analyser FILE",
    }
    if unknown := [name for name in wanted if name not in makers]:
        raise UsageError(f"Check {unknown[0]!r} is not known. Use of {', '.join(makers)}.")
    checks: list[Check] = []
    for name, maker in makers.items():
        if wanted and name not in wanted:
            continue
        if not isinstance(maker, str):
            checks.append(maker())
        elif wanted:
            raise UsageError(f"Check {name!r} cannot be made: {maker}.")
    return checks
