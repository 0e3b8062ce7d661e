"""Certificates of these tests are compared with each other alone."""

from tests.review.verdict.certified import fewer_draws

__all__ = ["fewer_draws"]
