"""Answers that are one letter or one number: multiple choice and arithmetic (au-harness-metrics).

What an answer says is read by few, strict patterns: no letter is guessed out of running text, and no number is taken
from a sentence that does not mark it as the answer.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from corpora.model.task import json_text
from corpora.text.tokens import lowered
from scoring.core.metric import Compared, FloatArray, Metric, RateMetric, Statistics, own_signature, share
from scoring.core.packs import pack_metric
from scoring.core.setup import Translation
from scoring.metrics.maker import Maker
from scoring.packs.au.structured import json_answer
from scoring.packs.judged import JudgeScore, TurnsScore

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
    signature = own_signature("options:A-J|patterns:6|last:yes")
    why_missing = "no reference names an option: write one of the letters A to J"

    def stats(self, translation: Translation) -> Statistics | None:
        wanted = _wanted_letter(translation.entry.reference)
        if wanted is None:
            return None
        return (int(chosen_letter(translation.output) == wanted), 1)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        letter = chosen_letter(translation.output)
        return ("The answer names no option.",) if letter is None else (f"Read as {letter}.",)

    def compared(self, translation: Translation) -> tuple[Compared, ...]:
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
    signature = own_signature("answer:last-boxed|equal:by-value")
    why_missing = "no reference has a number: write it alone, or after ####"

    def stats(self, translation: Translation) -> Statistics | None:
        wanted = reference_number(translation.entry.reference)
        if wanted is None:
            return None
        return (int(final_number(translation.output) == wanted), 1)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        fraction = final_number(translation.output)
        if fraction is None:
            return ("The answer marks no number: \\boxed{} is looked for.",)
        return (f"Read as {fraction}.",)

    def compared(self, translation: Translation) -> tuple[Compared, ...]:
        fraction = final_number(translation.output)
        wanted = reference_number(translation.entry.reference)
        if wanted is None:
            return ()
        return (Compared("number", "" if fraction is None else str(fraction), str(wanted)),)


# ---- Answers as judges see them; the prompts say what each judge looks at (au-harness-metrics).


class BinaryJudge(JudgeScore):
    """Share of answers that the judge takes for right."""

    info = pack_metric("au.llm_judge_binary")
    judge = "judge_binary"


class DetailedJudge(JudgeScore):
    """Mean of the judge's scores of 0–5, as a share of 5."""

    info = pack_metric("au.llm_judge_detailed")
    judge = "judge_detailed"


class RefusalJudge(JudgeScore):
    """Share of answers that the judge takes for a refusal."""

    info = pack_metric("au.llm_judge_redteaming")
    judge = "judge_redteaming"


class BigBenchJudge(JudgeScore):
    """Share of answers that the judge calls CORRECT, of those that it calls CORRECT or INCORRECT."""

    info = pack_metric("au.llm_judge_big_bench_audio")
    judge = "judge_big_bench_audio"


class ConversationJudge(TurnsScore):
    """Mean over conversations of the mean rating of their turns, 1–10, as a share of 10."""

    info = pack_metric("au.mt_bench_llm_judge")
    judge = "judge_mt_bench"


# ---- Dialogue state tracking: what a user has asked for so far, as JSON ``{domain: {slot:
# value}}`` (au-harness-metrics).
#
# Values are compared without case, spaces, hyphens and underscores, names of domains and slots as
# they stand. A slot whose value is empty or null is not there.

Slots = dict[tuple[str, str], str]
"""(domain, slot) → value as it is compared."""
_LEFT_OUT = re.compile(r"[\s_-]+")


def read_state(value: Any) -> Slots | None:
    """Return the slots of a state; None where it is none."""
    written = _as_written(value)
    if written is None:
        return None
    plain = {slot: _LEFT_OUT.sub("", lowered(text)) for slot, text in written.items()}
    return {slot: text for slot, text in plain.items() if text}


def _as_written(value: Any) -> Slots | None:
    """Return the slots of a state with their values as text; None where it is none."""
    if not isinstance(value, Mapping) or not all(isinstance(domain_slots, Mapping) for domain_slots in value.values()):
        return None
    try:
        return {
            (domain, slot): slot_value if isinstance(slot_value, str) else json_text(slot_value)
            for domain, slots in value.items()
            for slot, slot_value in slots.items()
            if slot_value is not None
        }
    except RecursionError:
        return None


class _DialogueState(Metric):
    """What the three metrics share: the slots of both sides."""

    why_missing = "no record has a reference_state {domain: {slot: value}}"

    @property
    def signature(self) -> str:
        key = f"values:lower-case|space-hyphen-underscore:no|names:exact{self._denominator}"
        return own_signature(key)

    _denominator = ""

    def _sides(self, translation: Translation) -> tuple[Slots | None, Slots] | None:
        """Return the slots of the answer (None: it is no state) and of the reference; None without one."""
        reference = read_state(_wanted(translation))
        answer = read_state(json_answer(translation.output))
        return None if reference is None else (answer, reference)

    def stats(self, translation: Translation) -> Statistics | None:
        sides = self._sides(translation)
        return None if sides is None else self.counted(*sides)

    @abstractmethod
    def counted(self, found: Slots | None, wanted: Slots) -> Statistics:
        """Return the statistics of an answer's slots (None: it is no state) and the reference's."""

    def compared(self, translation: Translation) -> tuple[Compared, ...]:
        sides = self._sides(translation)
        if sides is None:
            return ()
        actual, wanted = sides[0] or {}, sides[1]
        ours = _as_written(json_answer(translation.output)) or {}
        theirs = _as_written(_wanted(translation)) or {}
        return tuple(
            Compared(
                " ".join(slot),
                given := ours[slot] if slot in actual else "",
                given if actual.get(slot) == wanted.get(slot) else theirs.get(slot, ""),
            )
            for slot in {**wanted, **actual}
        )

    def explain(self, translation: Translation) -> tuple[str, ...]:
        sides = self._sides(translation)
        if sides is None:
            return ()
        actual, wanted = sides
        if actual is None:
            return ("The answer is no JSON object of domains with their slots.",)
        kinds = {
            "missing": wanted.keys() - actual.keys(),
            "not asked for": actual.keys() - wanted.keys(),
            "with another value": {key for key in wanted.keys() & actual.keys() if wanted[key] != actual[key]},
        }
        return tuple(
            f"Slots {what}: {', '.join(' '.join(key) for key in sorted(keys)[:_MOST_NAMED])}"
            + (f" and {len(keys) - _MOST_NAMED} more." if len(keys) > _MOST_NAMED else ".")
            for what, keys in kinds.items()
            if keys
        )


_MOST_NAMED = 10


def _wanted(translation: Translation) -> Any:
    stated = translation.given("reference_state")
    return json_answer(translation.entry.reference) if stated is None else stated


class JointGoalAccuracy(_DialogueState, RateMetric):
    """Share of answers that have every slot of the reference with its value and no other, 0–1.

    An answer that is no state is wrong. Null without a reference state.
    """

    info = pack_metric("au.joint_goal_accuracy")

    def counted(self, found: Slots | None, wanted: Slots) -> Statistics:
        return (int(found == wanted), 1)


class SlotAccuracy(_DialogueState):
    """Right slots over the slots of the reference, 0–1; 1 where neither side has any.

    Slots that nobody asked for do not count, as published: F1 and joint goal accuracy see them. Where none is wanted,
    an answer with slots, or one that is no state, is one wrong slot.
    """

    info = pack_metric("au.slot_accuracy")
    width = 2
    _denominator = "|of:reference"

    def counted(self, found: Slots | None, wanted: Slots) -> Statistics:
        if found is None:
            return (0, max(len(wanted), 1))
        return (len(found.items() & wanted.items()), len(wanted) or int(bool(found)))

    def values(self, totals: FloatArray) -> FloatArray:
        return np.where(totals[:, 1] > 0, share(totals[:, 0], totals[:, 1]), 1.0)


class SlotF1(_DialogueState):
    """F1 of slots with their values over all answers, 0–1: statistics (right, in answers, in references).

    1 where neither side has a slot; an answer that is no state counts as for ``SlotAccuracy``.
    """

    info = pack_metric("au.slot_f1")
    width = 3

    def counted(self, found: Slots | None, wanted: Slots) -> Statistics:
        if found is None:
            return (0, int(not wanted), len(wanted))
        return (len(found.items() & wanted.items()), len(found), len(wanted))

    def values(self, totals: FloatArray) -> FloatArray:
        both = totals[:, 1] + totals[:, 2]
        return np.where(both > 0, share(2 * totals[:, 0], both), 1.0)


METRICS = {
    "au.multiple_choice_accuracy": Maker(lambda _: MultipleChoiceAccuracy()),
    "au.gsm8k_exact_match": Maker(lambda _: ArithmeticMatch()),
    "au.llm_judge_binary": Maker(BinaryJudge),
    "au.llm_judge_detailed": Maker(DetailedJudge),
    "au.llm_judge_redteaming": Maker(RefusalJudge),
    "au.llm_judge_big_bench_audio": Maker(BigBenchJudge),
    "au.mt_bench_llm_judge": Maker(ConversationJudge),
    "au.joint_goal_accuracy": Maker(lambda _: JointGoalAccuracy()),
    "au.slot_accuracy": Maker(lambda _: SlotAccuracy()),
    "au.slot_f1": Maker(lambda _: SlotF1()),
}
