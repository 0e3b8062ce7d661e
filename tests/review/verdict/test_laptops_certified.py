"""What a certificate's page says of laptops: counts and reasons, nobody's name; nothing in one of the first form."""

from __future__ import annotations

from review.verdict.certificate.certificate import CertifiedLaptops
from review.verdict.certificate.certificate_text import certificate_text
from tests.review.verdict.certified import certificate_of, issue, review_of


def test_decisions_about_laptops_are_told_in_numbers_and_reasons() -> None:
    certificate = certificate_of(issue(review_of(1)))
    for words in ("laptops out", "replaced", "who speaks", "not counted"):
        assert words not in certificate_text(certificate)
    laptops = CertifiedLaptops(removed=("", "lost \x1b[2J"), replaced=1, decided=1, waiting=2)
    told = " ".join(certificate_text(certificate.model_copy(update={"laptops": laptops})).split())
    assert "laptops out 2 taken out by the organisation: no reason given; lost" in told
    assert "replaced 1 laptop came instead of another one, by the organisation's word" in told
    assert "who speaks for 1 person the organisation named the laptops that count" in told
    assert (
        "not counted 2 people: several laptops spoke for them, and the organisation has not" in told
    )
    assert "\x1b" not in told
    assert "not counted" not in certificate_text(certificate.model_copy(update={"laptops": None}))
