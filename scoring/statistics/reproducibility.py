"""Whether a repeated run confirms the first: scores within ±2 % (benchmark-specification §1.3).

The tolerance is relative to the score that was claimed. The composite and chrF++ decide, by which runs are
ranked and which always stand together (DESIGN T3); the other scores are shown next to them. A claimed composite of 0.70
is confirmed by 0.686 to 0.714.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

TOLERANCE = 0.02
DECIDING = ("composite", "chrf_plus_plus")
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Deviation:
    """One score of the first run and of its repetition."""

    claimed: float
    repeated: float
    share: float | None
    """How far the repeated score is from the claimed one, as a share of it, signed; None: the claim is 0."""
    within: bool


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What a repetition says of a run."""

    reproduced: bool | None
    """None where neither deciding score has a value in both runs."""
    deviations: Mapping[str, Deviation]
    """By metric id, of every score that both have."""
    missing: tuple[str, ...]
    """Scores that only one of the two has, which decide against it where they are deciding ones."""

    @property
    def outside(self) -> tuple[str, ...]:
        """Scores further away than the tolerance."""
        return tuple(id_ for id_, deviation in self.deviations.items() if not deviation.within)


def verdict(
    claimed: Mapping[str, float | None], repeated: Mapping[str, float | None], *, tolerance: float = TOLERANCE
) -> Reproduction:
    """Compare the scores of a repetition, by metric id and ``composite``, with those of the first run.

    It is for two runs of one set-up on the same entries; whether they are, the caller knows.
    """
    both, missing = {}, []
    for id_ in dict.fromkeys([*claimed, *repeated]):
        first, second = claimed.get(id_), repeated.get(id_)
        if first is not None and second is not None:
            away = second - first
            within = abs(away) <= tolerance * abs(first) * (1 + _ROUNDING)
            both[id_] = Deviation(first, second, away / first if first else None, within)
        elif first is not None or second is not None:
            missing.append(id_)
    deciding = [both[id_].within for id_ in DECIDING if id_ in both]
    lacking = any(id_ in missing for id_ in DECIDING)
    reproduced = all(deciding) and not lacking if deciding or lacking else None
    return Reproduction(reproduced, both, tuple(missing))
