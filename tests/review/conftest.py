"""What every test of the review shares."""

import pytest

from tests.review.closing import all_closed
from tests.review.verdict.certified import worked_out_once

__all__ = ["all_closed", "worked_out_once"]


@pytest.fixture(autouse=True)
def same_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw one salt for all reviews, so that what is stretched of a code is worked out once."""
    monkeypatch.setattr("review.office.making.batches.new_salt", lambda: bytes(range(32)))
