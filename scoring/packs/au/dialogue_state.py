"""Dialogue state tracking: what a user has asked for so far, as JSON ``{domain: {slot: value}}`` (au-harness-metrics).

Values are compared without case, spaces, hyphens and underscores, names of domains and slots as they stand. A slot
whose value is empty or null is not there.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from corpora.tasks.task import json_text
from scoring.core.metric import (
    Compared,
    FloatArray,
    Metric,
    RateMetric,
    Statistics,
    own_signature,
    share,
)
from scoring.core.packs import pack_metric
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker
from scoring.packs.au.structured import json_answer
from scoring.packs.bare_text import lowered

Slots = dict[tuple[str, str], str]
"""(domain, slot) → value as it is compared."""

_LEFT_OUT = re.compile(r"[\s_-]+")


def read_state(value: Any) -> Slots | None:
    """Return the slots of a state; None where it is none."""
    written = _as_written(value)
    if written is None:
        return None
    return {slot: plain for slot, text in written.items() if (plain := _plain(text))}


def _as_written(value: Any) -> Slots | None:
    """Return the slots of a state with their values as text; None where it is none."""
    if not isinstance(value, Mapping) or not all(
        isinstance(domain_slots, Mapping) for domain_slots in value.values()
    ):
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


def _plain(text: str) -> str:
    """Return a value as it is compared."""
    return _LEFT_OUT.sub("", lowered(text))


class _DialogueState(Metric):
    """What the three metrics share: the slots of both sides."""

    @property
    def signature(self) -> str:
        return own_signature(
            f"values:lower-case|space-hyphen-underscore:no|names:exact{self._denominator}"
        )

    _denominator = ""

    @property
    def why_missing(self) -> str:
        return "no record has a reference_state {domain: {slot: value}}"

    def _sides(self, translation: Translation) -> tuple[Slots | None, Slots] | None:
        """Return the slots of the answer (None: it is no state) and of the reference; None without one."""
        reference = read_state(_wanted(translation))
        return (
            None if reference is None else (read_state(json_answer(translation.output)), reference)
        )

    def stats(self, translation: Translation) -> Statistics | None:
        sides = self._sides(translation)
        return None if sides is None else self._counted(*sides)

    @abstractmethod
    def _counted(self, found: Slots | None, wanted: Slots) -> Statistics:
        """Return the statistics of an answer's slots (None: it is no state) and the reference's."""

    def compared(self, translation: Translation) -> tuple[Compared, ...]:
        """Return each slot of both sides with its values, those of the reference first."""
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
        """Name the slots that are wrong."""
        sides = self._sides(translation)
        if sides is None:
            return ()
        actual, wanted = sides
        if actual is None:
            return ("The answer is no JSON object of domains with their slots.",)
        kinds = {
            "missing": wanted.keys() - actual.keys(),
            "not asked for": actual.keys() - wanted.keys(),
            "with another value": {
                key for key in wanted.keys() & actual.keys() if wanted[key] != actual[key]
            },
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

    def _counted(self, found: Slots | None, wanted: Slots) -> Statistics:
        return (int(found == wanted), 1)


class SlotAccuracy(_DialogueState):
    """Right slots over the slots of the reference, 0–1; 1 where neither side has any.

    Slots that nobody asked for do not count, as published: F1 and joint goal accuracy see them. Where none is wanted,
    an answer with slots, or one that is no state, is one wrong slot.
    """

    info = pack_metric("au.slot_accuracy")
    width = 2
    _denominator = "|of:reference"

    def _counted(self, found: Slots | None, wanted: Slots) -> Statistics:
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

    def _counted(self, found: Slots | None, wanted: Slots) -> Statistics:
        if found is None:
            return (0, int(not wanted), len(wanted))
        return (len(found.items() & wanted.items()), len(found), len(wanted))

    def values(self, totals: FloatArray) -> FloatArray:
        both = totals[:, 1] + totals[:, 2]
        return np.where(both > 0, share(2 * totals[:, 0], both), 1.0)


METRICS = {
    "au.joint_goal_accuracy": Maker(lambda _: JointGoalAccuracy()),
    "au.slot_accuracy": Maker(lambda _: SlotAccuracy()),
    "au.slot_f1": Maker(lambda _: SlotF1()),
}
