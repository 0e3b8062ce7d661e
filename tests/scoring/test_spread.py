"""Mean and sample standard deviation, added up in groups."""

from __future__ import annotations

from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.statistics.spread import RunningSpread

VALUES = st.lists(st.none() | st.floats(-1e3, 1e3), max_size=12)


@given(st.lists(VALUES, max_size=6))
def test_groups_give_what_all_together_give(groups: list[list[float | None]]) -> None:
    running = RunningSpread()
    for group in groups:
        running.add(np.array([np.nan if each is None else each for each in group], np.float64))
    known = [each for group in groups for each in group if each is not None]
    found = running.value()
    if not known:
        assert found is None
        return
    assert found is not None
    assert found.n == len(known)
    assert found.mean == pytest.approx(fmean(known), abs=1e-9)
    assert found.std == pytest.approx(stdev(known) if len(known) > 1 else 0.0, abs=1e-6)
