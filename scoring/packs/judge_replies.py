"""What a judge's reply says: a score within its contract, or null and the reason (research on metric packs, §3).

A judge answers with one JSON object ``{"score": …, "explanation": …}``, with a rating ``[[n]]``, or with the one word
CORRECT or INCORRECT. Its reasoning and the fences of code blocks do not count (``corpora.text.model_reply``). A reply
that keeps to nothing of this is no score of 0: nobody knows what it would have said.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from corpora.text.model_reply import answer_text, mended_json

LONGEST_REPLY = 1_000_000
"""Characters; a judge that writes more has lost its way."""
_MOST_OBJECTS = 200
"""Curly brackets that are tried as the beginning of an object."""


class ReplyForm(StrEnum):
    """How a judge is asked to answer."""

    OBJECT = "a JSON object with score and explanation"
    RATING = "a rating such as [[7]]"
    WORD = "CORRECT or INCORRECT"


@dataclass(frozen=True, slots=True)
class JudgeContract:
    """What a judge is asked for."""

    form: ReplyForm
    low: float
    high: float
    whole: bool = True
    """Whether only whole numbers are scores."""

    @property
    def scores(self) -> str:
        """The scores in words: ``a whole number of 0 to 5``."""
        return f"a {'whole ' if self.whole else ''}number of {self.low:g} to {self.high:g}"


CONTRACTS: Final = {
    "judge_semantic": JudgeContract(ReplyForm.OBJECT, 0, 1, whole=False),
    "judge_binary": JudgeContract(ReplyForm.OBJECT, 0, 1),
    "judge_detailed": JudgeContract(ReplyForm.OBJECT, 0, 5),
    "judge_redteaming": JudgeContract(ReplyForm.OBJECT, 0, 1),
    "judge_big_bench_audio": JudgeContract(ReplyForm.WORD, 0, 1),
    "judge_mt_bench": JudgeContract(ReplyForm.RATING, 1, 10, whole=False),
}
"""By the id of the judge: its annotation, and the field of a record that brings its score."""


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """What a judge says of one answer."""

    score: float | None
    """On the judge's own scale; None where the reply breaks the contract."""
    explanation: str = ""
    """In the judge's words, which are hostile until shown through the one display function."""
    reason: str | None = None
    """Why there is no score; it quotes nothing."""


def parse_reply(contract: JudgeContract, reply: str) -> JudgeVerdict:
    """Read a judge's reply; never raises, whatever the judge wrote."""
    if len(reply) > LONGEST_REPLY:
        return _failed(f"the reply is longer than {LONGEST_REPLY:,} characters")
    answer = answer_text(reply)
    if answer is None:
        return _failed("the reply ends within the judge's thoughts")
    text = _FENCE.sub("", answer).strip()
    if not text:
        return _failed("the reply is empty")
    match contract.form:
        case ReplyForm.OBJECT:
            return _from_objects(contract, _objects(text) or _objects(mended_json(text)))
        case ReplyForm.RATING:
            return _from_ratings(contract, text)
        case ReplyForm.WORD:
            score = _WORDS.get(_word(text))
            wrong = "the reply is neither CORRECT nor INCORRECT"
            return JudgeVerdict(score, reason=wrong if score is None else None)


def read_judgement(contract: JudgeContract, given: Any) -> JudgeVerdict:
    """Read a judgement that an annotator or a record states: a score, or an object of score and explanation.

    An object without a score may say the ``reason``.
    """
    if isinstance(given, Mapping):
        judged = _judged(contract, given.get("score"), given.get("explanation"))
        why = _text(given.get("reason"))
        return replace(judged, reason=why) if judged.score is None and why else judged
    score, reason = _score(contract, given)
    return JudgeVerdict(score, reason=reason)


def _judged(contract: JudgeContract, score: object, explanation: object) -> JudgeVerdict:
    number, reason = _score(contract, score)
    return JudgeVerdict(number, _text(explanation), reason)


def _failed(reason: str) -> JudgeVerdict:
    return JudgeVerdict(None, reason=reason)


@dataclass(frozen=True, slots=True)
class _Object:
    value: dict[str, Any]
    repeats: bool
    """Whether a field stands twice."""


_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE)


def _objects(text: str) -> list[_Object]:
    """Return the JSON objects of a reply that have a score, each outermost one of the first 200 brackets.

    A raw line break within a text is read as one.
    """
    objects: list[_Object] = []
    place = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if place < 0:
            break
        try:
            read, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if "score" in read.value:
                objects.append(read)
        place = text.find("{", end)
    return objects


def _from_objects(contract: JudgeContract, objects: Sequence[_Object]) -> JudgeVerdict:
    """Read the objects of a reply that have a score; several may be there as long as they agree."""
    if not objects:
        return _failed("the reply has no JSON object with a score")
    if any(stated.repeats for stated in objects):
        return _failed("the reply names a field of its object twice")
    judged = [_judged(contract, stated.value["score"], stated.value.get("explanation")) for stated in objects]
    if len({verdict.score for verdict in judged}) > 1:
        return _failed("the reply gives several scores that differ")
    return judged[0]


def _object(pairs: Sequence[tuple[str, Any]]) -> _Object:
    """Read a JSON object whose names may be in any case."""
    value = {name.strip().casefold(): item for name, item in pairs}
    return _Object(value, len(value) < len(pairs))


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, strict=False)
_RATING: Final = re.compile(r"\[\[([^\[\]]{1,40})\]\]")
_LABELLED: Final = re.compile(
    r"\*{0,2}\b(?:(?:final|overall) )?(?:rating|score)\*{0,2} ?:\*{0,2}\s{0,2}"
    rf"\*{{0,2}}{_RATING.pattern}\*{{0,2}}\.?",
    re.IGNORECASE,
)
"""A rating with the word before it, ``**Rating:** [[7]]``, which says nothing without its number."""


def _from_ratings(contract: JudgeContract, text: str) -> JudgeVerdict:
    """Read the rating in double brackets; several may be there as long as they agree."""
    read = [_score(contract, rating) for rating in _RATING.findall(text)]
    if not read:
        return _failed("the reply has no rating in double brackets")
    if len({score for score, _ in read}) > 1:
        return _failed("the reply gives several ratings that differ")
    score, reason = read[0]
    return JudgeVerdict(score, _text(_RATING.sub("", _LABELLED.sub("", text))).strip(), reason)


_WORDS: Final = {"correct": 1.0, "incorrect": 0.0}


def _word(text: str) -> str:
    """Return the one word of a reply, whatever marks and emphasis stand around it."""
    return text.strip(" \t\r\n.!:*_`'\"“”").lower() if len(text) <= _LONGEST_WORD else ""


_LONGEST_WORD = 40
_NUMBER: Final = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,20})?", re.ASCII)


def _score(contract: JudgeContract, given: Any) -> tuple[float | None, str | None]:
    """Return a score that keeps to the contract, else None and why it does not."""
    if contract.form is ReplyForm.WORD and isinstance(given, str):
        score = _WORDS.get(_word(given))
        return (score, None) if score is not None else (None, f"it is not {contract.form}")
    number = float(given) if isinstance(given, str) and _NUMBER.fullmatch(given.strip()) else given
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None, f"the score is not a number; it must be {contract.scores}"
    if not contract.low <= number <= contract.high:
        return None, f"the score lies outside its scale; it must be {contract.scores}"
    if contract.whole and math.floor(number) != number:
        return None, f"the score is a fraction; it must be {contract.scores}"
    return float(number), None


def _text(given: Any) -> str:
    """Return an explanation that can be stored; empty where it is no text."""
    return given.encode("utf-8", "replace").decode("utf-8") if isinstance(given, str) else ""
