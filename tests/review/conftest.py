"""What every test of the review shares."""

from tests.review.closing import all_closed

__all__ = ["all_closed"]
