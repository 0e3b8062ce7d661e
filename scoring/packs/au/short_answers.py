"""Answers that are one letter or one number: multiple choice and arithmetic (au-harness-metrics).

What an answer says is read by few, strict patterns: no letter is guessed out of running text, and no number is taken
from a sentence that does not mark it as the answer.
"""

from __future__ import annotations

import re
from fractions import Fraction

from scoring.core.metric import Compared, RateMetric, Statistics, own_signature
from scoring.core.packs import pack_metric
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker

_CAPITAL = r"(?:[B-HJ]|[AI](?!\s+[a-z]))(?![\w'’])(?!\s*+(?:/|(?:or|and)\s)\s*+[A-J]\b)"
"""A letter that stands alone; not the article or the pronoun before a word, not one of several."""
_SMALL = r"[a-j](?=[^\S\n]*+(?:[.,;)\]*]|$))"
"""A small letter that nothing follows but a mark."""
_OPENING = r"[\s(\[*\"“']*+"
_PATTERNS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        rf"(?i:\banswer)\b[*\s]*+[:：=]{_OPENING}({_CAPITAL}|{_SMALL})",
        rf"(?i:\b(?:answer|option|choice)\s++is\b)[\s:]*+{_OPENING}({_CAPITAL}|{_SMALL})",
        rf"\\boxed\{{\s*+(?:\\text\{{)?\s*+\(?({_CAPITAL}|[a-j](?=[)\s}}]))",
        r"^[^\w\n]*+([A-J])[^\w\n]*+$",
        rf"(?<![\w'’])({_CAPITAL})\)?\s++is\s++(?:the\s++)?(?:correct|right|best)\b",
        r"\A[\s(\[*]*+([A-J])[)\].:](?!\w)",
    )
)
"""Tried in this order; of the first that fits, the last place counts."""


def chosen_letter(text: str) -> str | None:
    """Return the option A–J that an answer names; None where it names none."""
    for pattern in _PATTERNS:
        letters = pattern.findall(text)
        if letters:
            return str(letters[-1]).upper()
    return None


_BOX = "\\boxed{"
_NUMBER = r"(?<![\d.])[-+]?(?:\d{1,60}(?:\.\d{0,60})?|\.\d{1,60})(?![\d.]*\d)"
_VALUE = re.compile(
    rf"(?P<sign>[-+]?)\\[dt]?frac\{{(?P<top>{_NUMBER})\}}\{{(?P<bottom>{_NUMBER})\}}"
    rf"|(?P<over>{_NUMBER})/(?P<under>{_NUMBER})|(?P<plain>{_NUMBER})"
)
_LONGEST_NUMBER = 400
"""Letters of an answer in which a number is looked for."""


def final_number(answer: str) -> Fraction | None:
    """Return the number in the last ``\\boxed{}``; without a box the whole answer must be one."""
    content = _boxed(answer)
    if content is None:
        plain = _without_marks(answer)
        return _value(plain) if _VALUE.fullmatch(plain) else None
    return _value(_without_marks(content))


def reference_number(reference: str) -> Fraction | None:
    """Return the number after the last ``####``, or that of a reference which is nothing else."""
    return final_number(reference.rpartition("####")[2])


def _boxed(answer: str) -> str | None:
    start = answer.rfind(_BOX)
    if start < 0:
        return None
    start += len(_BOX)
    depth = 1
    for place in range(start, min(len(answer), start + _LONGEST_NUMBER)):
        depth += {"{": 1, "}": -1}.get(answer[place], 0)
        if depth == 0:
            return answer[start:place]
    return answer[start : start + _LONGEST_NUMBER]


def _without_marks(text: str) -> str:
    """Omit what only groups digits or names a currency, and the full stop of the sentence."""
    text = text.strip()[: _LONGEST_NUMBER + 1].replace("−", "-")
    return re.sub(r",(?=\d)|\\[,!;:$]|[$€£¥]", "", text).strip().removesuffix(".")


def _value(text: str) -> Fraction | None:
    match = _VALUE.search(text) if len(text) <= _LONGEST_NUMBER else None
    if match is None:
        return None
    try:
        if match["top"]:
            value = Fraction(match["top"]) / Fraction(match["bottom"])
            return -value if match["sign"] == "-" else value
        if match["over"]:
            return Fraction(match["over"]) / Fraction(match["under"])
        return Fraction(match["plain"])
    except ZeroDivisionError:
        return None


class MultipleChoiceAccuracy(RateMetric):
    """Share of answers that name the right option, 0–1, higher is better.

    An answer that names no option is wrong. Null where the reference names none.
    """

    info = pack_metric("au.multiple_choice_accuracy")

    @property
    def signature(self) -> str:
        return own_signature("options:A-J|patterns:6|last:yes")

    @property
    def why_missing(self) -> str:
        return "no reference names an option: write one of the letters A to J"

    def stats(self, translation: Translation) -> Statistics | None:
        wanted = _wanted_letter(translation.entry.reference)
        if wanted is None:
            return None
        return (int(chosen_letter(translation.output) == wanted), 1)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Return which letter was read."""
        letter = chosen_letter(translation.output)
        return ("The answer names no option.",) if letter is None else (f"Read as {letter}.",)

    def compared(self, translation: Translation) -> tuple[Compared, ...]:
        """Return the letters that were read."""
        wanted = _wanted_letter(translation.entry.reference)
        if wanted is None:
            return ()
        return (Compared("option", chosen_letter(translation.output) or "", wanted),)


def _wanted_letter(reference: str) -> str | None:
    plain = reference.strip().strip("().").upper()
    return plain if re.fullmatch("[A-J]", plain) else chosen_letter(reference)


class ArithmeticMatch(RateMetric):
    """Share of answers whose number has the value of the reference's, 0–1, higher is better.

    The number is that of the last ``\\boxed{}``; an answer without one must be a number and nothing else. Null
    where the reference has no number.
    """

    info = pack_metric("au.gsm8k_exact_match")

    @property
    def signature(self) -> str:
        return own_signature("answer:last-boxed|equal:by-value")

    @property
    def why_missing(self) -> str:
        return "no reference has a number: write it alone, or after ####"

    def stats(self, translation: Translation) -> Statistics | None:
        wanted = reference_number(translation.entry.reference)
        if wanted is None:
            return None
        return (int(final_number(translation.output) == wanted), 1)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Return which number was read."""
        fraction = final_number(translation.output)
        if fraction is None:
            return ("The answer marks no number: \\boxed{} is looked for.",)
        return (f"Read as {fraction}.",)

    def compared(self, translation: Translation) -> tuple[Compared, ...]:
        """Return the numbers that were read."""
        fraction = final_number(translation.output)
        wanted = reference_number(translation.entry.reference)
        if wanted is None:
            return ()
        return (Compared("number", "" if fraction is None else str(fraction), str(wanted)),)


METRICS = {
    "au.multiple_choice_accuracy": Maker(lambda _: MultipleChoiceAccuracy()),
    "au.gsm8k_exact_match": Maker(lambda _: ArithmeticMatch()),
}
