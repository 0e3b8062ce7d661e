"""The honest part of an organiser's review, which attacks on it begin with."""

import pytest

from tests.review.attacks.ground import ground
from tests.review.verdict.certified import fewer_draws

__all__ = ["fewer_draws"]


@pytest.fixture
def honest_part(worked_out_once: None, fewer_draws: None) -> None:
    """Play the honest part of an organiser's review before the test that is the first to need it."""
    ground()
