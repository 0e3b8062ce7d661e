"""Metrics that only read what a judge said: an annotator asks it, or a record brings its score."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from corpora.text.messages import counted
from scoring.core.metric import FloatArray, RateMetric, Statistics, own_signature, plain_key
from scoring.core.setup import Translation
from scoring.packs.judge_replies import CONTRACTS, JudgeContract, JudgeVerdict, read_judgement
from scoring.words.source_words import Resources


class JudgeScore(RateMetric):
    """Mean of a judge's scores as a share of the highest, 0–1, higher is better.

    Statistics are (score, highest score, judgements that failed). A judge that fails, or whose reply breaks its
    contract, gives null and is counted in ``…_judge_failed``; it is never a score of 0.
    """

    judge: ClassVar[str]
    """Id of the judge's annotation, and of the field of a record that brings its score."""
    width = 3

    def __init__(self, resources: Resources) -> None:
        self._told = resources.setup.annotators.get(self.judge)
        self._off = resources.setup.off

    @property
    def contract(self) -> JudgeContract:
        """Return the contract that the judge answers by."""
        return CONTRACTS[self.judge]

    @property
    def signature(self) -> str:
        """Name who judged, as the set-up tells it; ``stated`` where the records bring the scores.

        A judge that could not be asked is not named: only scores that records bring count then.
        """
        facts = self._told
        if facts is None and self.info.id in self._off:
            return own_signature(f"judge:{self.judge}|asked:no-answer|else:stated")
        if facts is None:
            return own_signature(f"judge:{self.judge}|from:stated")
        names = ("model", "endpoint", "prompt_sha256")
        model, place, prompt = (plain_key(facts.get(name)) for name in names)
        return own_signature(f"judge:{self.judge}|model:{model}|at:{place}|prompt:{prompt}")

    @property
    def why_missing(self) -> str:
        if self._told is None:
            return f"no judge was asked, and no record brings a score (field {self.judge})"
        return "the judge gave no score that counts; it is asked when all outputs are in"

    def stats(self, translation: Translation) -> Statistics | None:
        given = self.given(translation)
        if given is None:
            return None
        score = self.judged(given).score
        return (0, 0, 1) if score is None else (score, self.contract.high, 0)

    def given(self, translation: Translation) -> Any:
        """Return what the annotator found, else what the record brings; None where there is neither.

        A record that brings an answer with its score says nothing of other answers.
        """
        verdict = translation.annotations.get(self.judge)
        if verdict is not None or _of_another_answer(translation):
            return verdict
        return translation.given(self.judge)

    def judged(self, given: Any) -> JudgeVerdict:
        """Read what was found or brought."""
        return read_judgement(self.contract, given)

    def further(self, total: FloatArray) -> dict[str, float | int | None]:
        return {f"{self.info.id}_judge_failed": int(total[2])}

    def explain(self, translation: Translation) -> tuple[str, ...]:
        given = self.given(translation)
        if given is None:
            why = "the answer is empty, has no reference to judge by, or has not one answer to each turn"
            if translation.given(self.judge) is not None:
                why = "the record's score is for another answer than this one"
            elif self._told is None:
                why = f"no judge was asked, and the record brings no score (field {self.judge})"
            return (f"Not judged: {why}.",)
        judged = self.judged(given)
        if judged.score is None:
            return (f"The judge gave no score: {judged.reason}.",)
        score = f"The judge gave {judged.score:.4g} of {self.contract.high:g}."
        return (score, judged.explanation) if judged.explanation else (score,)


class TurnsScore(JudgeScore):
    """A judge of several turns: an entry's score is the mean of its turns; null where one of them failed."""

    def judged(self, given: Any) -> JudgeVerdict:
        """Read one judgement a turn."""
        if not isinstance(given, list | tuple) or not given:
            return JudgeVerdict(None, reason="there must be a list with one score a turn")
        turns = [read_judgement(self.contract, turn) for turn in given]
        scores = [turn.score for turn in turns if turn.score is not None]
        failed = len(turns) - len(scores)
        if failed:
            reason = next(turn.reason for turn in turns if turn.score is None)
            return JudgeVerdict(None, reason=f"{counted(failed, 'turn')} of {len(turns)}: {reason}")
        sentences = [
            f"Turn {place}: {turn.score:.4g}. {turn.explanation}".strip() for place, turn in enumerate(turns, 1)
        ]
        return JudgeVerdict(sum(scores) / len(scores), "\n".join(sentences))


def _of_another_answer(translation: Translation) -> bool:
    """Return whether a record has its own answer, which is not this one; several turns are a JSON list."""
    own = translation.given("predicted")
    if own is None or isinstance(own, str):
        return own is not None and own != translation.output
    try:
        return bool(json.loads(translation.output) != own)
    except (ValueError, RecursionError):
        return True
