"""What every test of the review shares."""

from tests.review.closing import all_closed
from tests.review.verdict.certified import worked_out_once

__all__ = ["all_closed", "worked_out_once"]
