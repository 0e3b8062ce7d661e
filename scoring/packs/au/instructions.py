"""Instruction following: which of the instructions of a record its answer keeps (IFEval; au-harness-metrics)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from scoring.core.metric import FloatArray, Metric, Statistics, own_signature, share
from scoring.core.packs import pack_metric
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker
from scoring.packs.au.answer_language import UndecidedError, word_lists_key
from scoring.packs.au.instruction_checks import CHECKS, Asked, UnreadableError

MOST_INSTRUCTIONS = 32
"""Instructions of one record."""
MOST_LETTERS = 100_000
"""A longer answer keeps no instruction."""
_QUOTED = 60


class KeptInstruction(NamedTuple):
    """Whether an answer keeps an instruction: as it stands, and in one of its eight loose forms."""

    id: str
    strict: bool
    loose: bool

    @property
    def words(self) -> str:
        """Return whether it is kept."""
        return "kept" if self.strict else "kept only loosely" if self.loose else "not kept"


class _NoValueError(ValueError):
    """A record's instructions cannot be checked; says why."""


class InstructionFollowing(Metric):
    """Mean of four shares, 0–1, higher is better: of answers that keep all their instructions, and of instructions
    kept, each strictly and loosely.

    Loosely means that the answer keeps the instruction without its first line, its last, or both, or without
    asterisks. Statistics: (kept strictly, kept loosely, 1, instructions kept strictly, loosely, instructions, 0). An
    empty answer keeps none. Null for a record with an unknown instruction, or one that does not say what it asks: such
    records are counted in the last number, and nowhere else.
    """

    info = pack_metric("au.instruction_following")
    width = 7

    @property
    def signature(self) -> str:
        return own_signature(f"checks:{len(CHECKS)}|loose:8|languages:{word_lists_key()}")

    @property
    def why_missing(self) -> str:
        return "no record has instructions that can be checked: [{id, kwargs}]"

    def stats(self, translation: Translation) -> Statistics:
        try:
            kept_instructions = _kept(translation)
        except _NoValueError:
            return (0, 0, 0, 0, 0, 0, 1)
        strict, loose = (
            sum(kept_instruction.strict for kept_instruction in kept_instructions),
            sum(kept_instruction.loose for kept_instruction in kept_instructions),
        )
        number = len(kept_instructions)
        return (int(strict == number), int(loose == number), 1, strict, loose, number, 0)

    def values(self, totals: FloatArray) -> FloatArray:
        return np.asarray(np.mean(list(_shares(totals).values()), axis=0))

    def further(self, total: FloatArray) -> dict[str, float | int | None]:
        """Return the four shares, null over nothing, and how many records could not be checked."""
        fields: dict[str, float | int | None] = {
            f"{self.info.id}_{name}": None if np.isnan(share[0]) else float(share[0])
            for name, share in _shares(np.atleast_2d(total)).items()
        }
        return {**fields, f"{self.info.id}_unchecked": int(np.ravel(total)[6])}

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Return for each instruction whether it is kept, or why they cannot be checked."""
        try:
            kept_instructions = _kept(translation)
        except _NoValueError as error:
            return (f"{error}.",)
        return tuple(
            f"{kept_instruction.id}: {kept_instruction.words}."
            for kept_instruction in kept_instructions
        )


def _shares(totals: FloatArray) -> Mapping[str, FloatArray]:
    return {
        "strict_prompt": share(totals[:, 0], totals[:, 2]),
        "loose_prompt": share(totals[:, 1], totals[:, 2]),
        "strict_instruction": share(totals[:, 3], totals[:, 5]),
        "loose_instruction": share(totals[:, 4], totals[:, 5]),
    }


def _kept(translation: Translation) -> list[KeptInstruction]:
    """Check all instructions of a record; _NoValueError where one cannot be checked."""
    given = translation.given("instructions")
    if not isinstance(given, list) or not 0 < len(given) <= MOST_INSTRUCTIONS:
        raise _NoValueError(f"A record needs a list of 1 to {MOST_INSTRUCTIONS} instructions")
    answer = translation.output if len(translation.output) <= MOST_LETTERS else ""
    forms = [form for form in _loose_forms(answer) if form.strip()]
    return [_checked(instruction, answer, forms) for instruction in given]


def _checked(instruction: object, answer: str, forms: Sequence[str]) -> KeptInstruction:
    if not isinstance(instruction, Mapping):
        raise _NoValueError("An instruction is an object with id and kwargs")
    id_, asked = instruction.get("id"), instruction.get("kwargs") or {}
    if not isinstance(id_, str) or id_ not in CHECKS:
        raise _NoValueError(f"There is no instruction {str(id_)[:_QUOTED]!r}")
    if not isinstance(asked, Mapping):
        raise _NoValueError(f"{id_}: kwargs must be an object")
    try:
        return _held(id_, asked, answer, forms)
    except (UnreadableError, UndecidedError) as error:
        raise _NoValueError(f"{id_}: {error}") from None


def _held(id_: str, asked: Asked, answer: str, forms: Sequence[str]) -> KeptInstruction:
    check = CHECKS[id_]
    as_it_stands = check(answer, asked)  # asks what the record lacks of an empty answer too
    strict = bool(answer.strip()) and as_it_stands
    return KeptInstruction(id_, strict, strict or any(check(form, asked) for form in forms))


def _loose_forms(answer: str) -> list[str]:
    """Return the answer with and without its first line, its last, both, and asterisks."""
    lines = answer.split("\n")
    cut = [lines[1:], lines[:-1], lines[1:-1]]
    forms = [answer, *("\n".join(cut_lines).strip() for cut_lines in cut)]
    return [*forms, *(form.replace("*", "") for form in forms)]


METRICS = {"au.instruction_following": Maker(lambda _: InstructionFollowing())}
