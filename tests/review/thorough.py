"""How often a repeated test repeats itself: seldom by default, as often as is claimed on demand."""

import os
from collections.abc import Iterable
from itertools import islice
from typing import Any

import pytest
from hypothesis import settings


def times(quick: int, thorough: int) -> int:
    """Return ``quick``, or ``thorough`` where the environment says ROSETTA_THOROUGH=1."""
    return thorough if os.environ.get("ROSETTA_THOROUGH") == "1" else quick


def examples(quick: int, thorough: int, **options: Any) -> settings:
    """Return the setting of a property test that tries as many examples as ``times`` says."""
    return settings(max_examples=times(quick, thorough), deadline=None, **options)


def first(count: int, cases: Iterable[Any]) -> list[Any]:
    """Return the cases of a parametrised test; those after the first few run in `make check-thorough` alone."""
    rest = iter(cases)
    return [
        *islice(rest, count),
        *(pytest.param(*(each if isinstance(each, tuple) else [each]), marks=pytest.mark.thorough) for each in rest),
    ]
