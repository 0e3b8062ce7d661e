"""What an output has to keep to besides being a translation: variables, quotation marks, letters.

The compliance index says how much of it holds, repair effectiveness how much of what did not was mended. Quotation
marks are distinguished from apostrophes, inches and letters that look like them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from unicodedata import category, normalize

import regex

from corpora.model.entry import Entry
from corpora.text.messages import shortened
from corpora.text.tokens import PlaceholderReading, read_placeholders
from scoring.words.source_words import Resources

_MARK = regex.compile("[\"“”„‟«»‹›「」『』﹁﹂﹃﹄〝〞〟＂❝❞'‘’‚‛]")
_SINGLE = frozenset("'‘’‚‛")
_CLOSING = frozenset("'’‘")
_HEBREW = regex.compile(r"\p{Hebrew}")


def quotation_marks(text: str, letters: str = "") -> frozenset[str]:
    """Return the characters that a text quotes with, see ``quoting``."""
    return frozenset(quoting(text, letters))


def quoting(text: str, letters: str = "") -> list[str]:
    """Return the marks that a text quotes with, as they come; pairs of single ones as they are closed.

    A single mark counts where it opens at the beginning of a word and another closes at the end of one,
    so that an apostrophe, a contraction and a plural's possessive do not; ``letters`` are single marks
    that the language writes words with, and never count. A straight double mark right after a number
    with no quotation open means inches, one between Hebrew letters marks an abbreviation.
    """
    quoting: list[str] = []
    opened, inside = "", False
    for match in _MARK.finditer(text):
        mark, place = match[0], match.start()
        before, after = text[place - 1 : place], text[place + 1 : place + 2]
        if mark not in _SINGLE:
            hebrew = before and after and _HEBREW.match(before) and _HEBREW.match(after)
            if mark == '"' and ((before.isdigit() and not inside) or hebrew):
                continue
            inside = not inside if mark == '"' else inside
            quoting.append(mark)
        elif mark in letters:
            continue
        elif opened and mark in _CLOSING and before.strip() and not _in_word(after):
            quoting += [opened, mark]
            opened = ""
        elif not _in_word(before) and after.strip():
            opened = mark
    return quoting


def turned_round(marks: Sequence[str], pair: str) -> bool:
    """Return whether marks that come in a text open with the closing mark of a pair and close with its opening.

    Other marks between them do not count; a pair of one mark cannot be turned round.
    """
    first, last = pair[0], pair[-1]
    own = [mark for mark in marks if mark in pair]
    return first != last and bool(own) and own == [last, first] * (len(own) // 2)


_PAIRS = frozenset(
    {'""', "“”", "„“", "„”", "””", "«»", "»«", "‹›", "「」", "『』", "﹁﹂", "﹃﹄", "〝〞", "〝〟", "＂＂", "❝❞", "''", "‘’", "‚‘"}
)  # fmt: skip
"""Opening and closing mark of a quotation."""
_BREAKS = regex.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]|<br\s*/?>|\\n")


def is_quotation_mark(character: str) -> bool:
    """Return whether a character is one that some language quotes with."""
    return bool(_MARK.fullmatch(character))


def added_outer_quotes(output: str, accepted: Sequence[str]) -> str | None:
    """Return what a pair of quotation marks around a whole output holds; None where there is no such pair.

    Nor where the pair may be one of the accepted texts' own (source, reference, variants): one of them is in a
    pair as a whole; or it quotes, and the output does not inside the pair; or the marks at both ends belong to two
    pairs, as in ``"A" and "B"``, and it begins or ends with a mark.
    """
    inside = _quoted(output)
    if inside is None:
        return None
    whole, quoting_inside = _is_one_pair(output), _DOUBLE.search(inside)
    for text in accepted:
        if whole and _quoted(text) is not None and _is_one_pair(text):
            return None
        if not quoting_inside and _DOUBLE.search(text):
            return None
        if not whole and (_MARK.match(text.strip()) or _MARK.fullmatch(_without_end(text)[-1:])):
            return None
    return inside


_DOUBLE = regex.compile('["“”„‟«»‹›「」『』﹁﹂﹃﹄〝〞〟＂❝❞]')


def _without_end(text: str) -> str:
    """Return a text without marks of punctuation behind the closing quotation mark at its end."""
    text = text.strip()
    end = text.rstrip(".!?,;:。！？।")
    return end if _MARK.fullmatch(end[-1:]) else text


def _quoted(text: str) -> str | None:
    """Return what stands between marks at both ends of a text that make a pair, with what stands behind them."""
    text = text.strip()
    whole = _without_end(text)
    if len(whole) < 3 or whole[0] + whole[-1] not in _PAIRS or not whole[1:-1].strip():
        return None
    return whole[1:-1] + text[len(whole) :]


def _is_one_pair(text: str) -> bool:
    """Return whether the first and the last mark belong together: nothing between them closes or opens otherwise."""
    whole = _without_end(text)
    first, last, depth = whole[0], whole[-1], 0
    for place in range(1, len(whole) - 1):
        character = whole[place]
        if character not in {first, last} or (character in _SINGLE and _in_word(whole[place - 1]) and _in_word(whole[place + 1])):  # fmt: skip
            continue
        if first == last or (character == last and depth == 0):
            return False
        depth += 1 if character == first else -1
    return True


def added_line_breaks(output: str, accepted: Iterable[str]) -> int:
    """Return how many line breaks a stripped output has, 0 where one of the accepted texts has any."""
    count = len(_BREAKS.findall(output.strip()))
    if not count or any(_BREAKS.search(text.strip()) for text in accepted):
        return 0
    return count


def _in_word(character: str) -> bool:
    return bool(character) and category(character)[0] in "LMN"


CASED = frozenset(
    {"Latn", "Latf", "Latg", "Cyrl", "Grek", "Armn", "Copt", "Glag", "Adlm", "Osge", "Dsrt", "Vith", "Wara"}
)  # fmt: skip
"""Scripts with capitals in use (ISO 15924), for targets whose card has no section for the script."""
_LETTER = r"[[\p{Lu}\p{Ll}\p{Lt}]&&\p{Latin}]\p{M}*"
"""A letter with its marks; signs that Unicode also calls Latin (ª, Ⅳ) are none."""
_LATIN_RUN = regex.compile(rf"(?V1)(?:{_LETTER})++")
_TOLD = 8
"""Violations of one kind that are named one by one."""
_SHOWN = 60
"""Characters of a piece of text that a sentence shows."""


class ViolationPart(StrEnum):
    """The three things that are examined (scoring-specification §2.5)."""

    VARIABLES = "variables"
    QUOTES = "quotes"
    CASING = "casing"


@dataclass(frozen=True, slots=True)
class Violations:
    """How one output breaks one part."""

    count: int
    """Missing and extra variables one by one, kinds of wrong marks, pairs of marks that are turned round, marks
    around the whole output, line breaks as one, leaked words one by one."""
    sentences: tuple[str, ...]
    """The same in plain words; they quote the output."""


class Rules:
    """What every output of a run has to keep to, as far as its language is known."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    @cached_property
    def script(self) -> str | None:
        """Script of the target (ISO 15924); None where nothing tells."""
        card = self._resources.card
        return self._resources.setup.script or (card.default_script if card else None)

    @cached_property
    def latin_leaks(self) -> bool:
        """True where the target has no capitals and is not written in Latin letters."""
        if self.script is None or self.script.startswith("Lat"):
            return False
        card = self._resources.card
        own = card.writings.get(self.script) if card else None
        return not own.cased if own else self.script not in CASED

    @cached_property
    def quotes(self) -> tuple[str, ...]:
        """Pairs of marks that the language card gives."""
        writing = self._resources.writing
        return writing.quotes if writing else ()

    @cached_property
    def word_letters(self) -> str:
        """Marks that the language writes words with."""
        writing = self._resources.writing
        return writing.word_letters if writing else ""

    @cached_property
    def loan_words(self) -> frozenset[str]:
        """Latin words of the card's loan words, folded."""
        card = self._resources.card
        return frozenset(latin_words(card.loan_words)) if card else frozenset()

    def demand(self, entry: Entry) -> Demand:
        """Return what one entry asks of its outputs."""
        return Demand(self, entry)


class Demand:
    """What one entry asks of its outputs."""

    def __init__(self, rules: Rules, entry: Entry) -> None:
        self._rules = rules
        self._entry = entry
        self._source = read_placeholders(entry.source)

    @cached_property
    def known(self) -> frozenset[ViolationPart]:
        """The parts of which a rule is known.

        A part that asks nothing of this entry is known and kept. Casing is not where the target's script
        is unknown, quotes are not where marks are asked for and neither card nor reference shows which.
        """
        unknown = {ViolationPart.CASING} if self._rules.script is None else set()
        if self._source_quotes and not self._marks:
            unknown.add(ViolationPart.QUOTES)
        return frozenset(ViolationPart) - unknown

    def violations(self, output: str) -> dict[ViolationPart, Violations]:
        """Find what one output breaks; parts that it keeps to are left out."""
        reading = read_placeholders(output)
        broken = {
            ViolationPart.VARIABLES: self._variables(reading),
            ViolationPart.QUOTES: self._framing(output) or self._quotes(reading.prose),
            ViolationPart.CASING: self._casing(reading.prose),
        }
        return {part: how for part, how in broken.items() if how and part in self.known}

    def _variables(self, reading: PlaceholderReading) -> Violations | None:
        asked, there = self._source.variables, reading.variables
        if asked == there:
            return None
        missing, extra = asked - there, there - asked
        sentences = []
        for name in (*missing, *extra):
            variable = f"The variable {_short(name)}"
            if not there[name]:
                sentences.append(f"{variable} is missing.")
            elif not asked[name]:
                sentences.append(f"{variable} is not in the source.")
            else:
                times = f"{_times(there[name])}, in the source {_times(asked[name])}"
                sentences.append(f"{variable} stands {times}.")
        if len(sentences) > _TOLD:
            more = f"{len(sentences) - _TOLD:,} more variables are wrong."
            sentences = [*sentences[:_TOLD], more]
        return Violations(missing.total() + extra.total(), tuple(sentences))

    def _framing(self, output: str) -> Violations | None:
        """Find a pair of marks around the whole output and line breaks that no text of the entry has."""
        accepted = (self._entry.source, self._entry.reference, *self._entry.variants)
        breaks = added_line_breaks(output, accepted)
        sentences = []
        if added_outer_quotes(output, accepted) is not None:
            sentences.append(f"Quotation marks {output.strip()[0]} stand around the whole output.")
        if breaks:
            times = "a line break" if breaks == 1 else f"{breaks:,} line breaks"
            sentences.append(f"The output has {times}, source and reference have none.")
        return Violations(len(sentences), tuple(sentences)) if sentences else None

    def _quotes(self, prose: str) -> Violations | None:
        if not (self._source_quotes or self._reference_marks):
            return None
        marks = quoting(prose, self._rules.word_letters)
        # A reference that does not quote lets the output leave the marks out too.
        if not marks and self._source_quotes and (self._reference_marks or not self._entry.reference):
            return Violations(1, ("The source has quotation marks, the output has none.",))
        wrong = sorted(set(marks) - self._marks)
        sentences = [
            f"{pair[1]} {pair[0]} stands where {pair[0]} {pair[1]} is used." for pair in self._turned_round(marks)
        ]
        if wrong:
            usual = self._rules.quotes[0] if self._rules.quotes else ""
            others = "".join(sorted(self._reference_marks - set(usual)))
            right = " or ".join(part for part in (usual, others) if part)
            sentences.insert(0, f"The output quotes with {' '.join(wrong)}; right is {right}.")
        count = len(wrong) + len(sentences) - bool(wrong)
        return Violations(count, tuple(sentences)) if count else None

    def _turned_round(self, marks: Sequence[str]) -> list[str]:
        """Return the pairs of card and reference that open with what closes, where neither has them so."""
        of_references = ("".join(quoting[:2]) for quoting in self._reference_quoting if quoting)
        pairs = dict.fromkeys((*self._rules.quotes, *of_references))
        return [
            pair
            for pair in pairs
            if turned_round(marks, pair)
            and pair[::-1] not in pairs
            and not any(turned_round(quoting, pair) for quoting in self._reference_quoting)
        ]

    def _casing(self, prose: str) -> Violations | None:
        if not self._rules.latin_leaks:
            return None
        leaks = []
        for word in _latin_runs(prose):
            # A word may stand where it, or one that begins with it, is of the source or of a human translation.
            form = folded_latin(word)
            place = bisect_left(self._latin, form)
            next_ = self._latin[place] if place < len(self._latin) else ""
            if next_ != form and not (len(form) > 2 and next_.startswith(form)):
                leaks.append(word)
        if not leaks:
            return None
        distinct = tuple(dict.fromkeys(leaks))
        listed = ", ".join(_short(word) for word in distinct[:_TOLD])
        more = f" and {len(distinct) - _TOLD:,} more" if len(distinct) > _TOLD else ""
        words = f"In Latin letters, and not in the source: {listed}{more}."
        return Violations(len(leaks), (words,))

    @cached_property
    def _source_quotes(self) -> bool:
        return bool(quotation_marks(self._source.prose))

    @cached_property
    def _reference_quoting(self) -> list[list[str]]:
        """Marks of the reference and of each variant, as they come."""
        letters = self._rules.word_letters
        texts = (self._entry.reference, *self._entry.variants)
        return [quoting(read_placeholders(text).prose, letters) for text in texts]

    @cached_property
    def _reference_marks(self) -> frozenset[str]:
        return frozenset[str]().union(*self._reference_quoting)

    @cached_property
    def _marks(self) -> frozenset[str]:
        return self._reference_marks.union(*self._rules.quotes)

    @cached_property
    def _latin(self) -> list[str]:
        texts = (self._entry.source, self._entry.reference, *self._entry.variants)
        return sorted(self._rules.loan_words | latin_words(texts))


def latin_words(texts: Iterable[str]) -> set[str]:
    """Return the runs of Latin letters of some texts, folded."""
    return {folded_latin(word) for text in texts for word in _latin_runs(text)}


def _latin_runs(text: str) -> list[str]:
    return _LATIN_RUN.findall(text)


def folded_latin(word: str) -> str:
    """Return a word without case and width, as Japanese writes Latin letters in two widths."""
    return normalize("NFKC", word).casefold()


def total(found: dict[ViolationPart, Violations], part: ViolationPart) -> int:
    """Count the violations of one part."""
    return found[part].count if part in found else 0


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _short(text: str) -> str:
    return shortened(text, _SHOWN)
