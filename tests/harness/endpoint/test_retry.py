"""Retry-After in every form that servers send, and the waits that we choose ourselves."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.failures import CallError, ErrorClass, RateLimited, Refused, Transient
from harness.endpoint.limiter import RetryPolicy, retry_after

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("7", 7.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("1.5", 1.5),
        ("-3", None),
        ("nan", None),
        ("inf", None),
        ("-inf", None),
        ("1e400", None),
        ("soon", None),
        ("7 seconds", None),
        ("٣", 3.0),
        ("Sun, 01 Mar 2026 12:01:30 GMT", 90.0),
        ("Sunday, 01-Mar-26 12:01:30 GMT", 90.0),
        ("Sun Mar  1 12:01:30 2026", 90.0),
        ("Sun, 01 Mar 2026 12:01:30 -0000", 90.0),
        ("Sun, 01 Mar 2026 13:01:30 +0100", 90.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("Sun, 99 Mar 2026 11:00:00 GMT", None),
        ("Sun, 01 Mar 999999999999 11:00:00 GMT", None),
        ("\x00", None),
    ],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, lambda: NOW) == seconds


@pytest.fixture(autouse=True)
def far_from_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A date without a zone means GMT, wherever the program runs."""
    monkeypatch.setenv("TZ", "America/Edmonton")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@given(st.text())
def test_no_header_makes_it_raise_or_wait_for_ever(header: str) -> None:
    seconds = retry_after(header, lambda: NOW)
    assert seconds is None or 0 <= seconds < float("inf")


@given(st.integers(946_684_800, 4_102_444_800))
def test_every_http_date_is_read(seconds: int) -> None:
    moment = datetime.fromtimestamp(seconds, UTC)
    header = format_datetime(moment, usegmt=True)
    assert retry_after(header, lambda: NOW) == max(0.0, moment.timestamp() - NOW)


def test_waits_double_from_one_second_to_the_ceiling_with_jitter_between_half_and_whole() -> None:
    policy = RetryPolicy(most_attempts=100)
    failure = Transient(ErrorClass.SERVER, "HTTP 500", 500)
    longest = [policy.wait(failure, attempt, lambda: 1.0) for attempt in range(1, 10)]
    shortest = [policy.wait(failure, attempt, lambda: 0.0) for attempt in range(1, 10)]
    assert longest == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert shortest == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


@pytest.mark.parametrize("most", [1, 2, 6])
@pytest.mark.parametrize("failure", [RateLimited("429"), Transient(ErrorClass.TIMEOUT, "slow")])
def test_the_number_of_tries_is_kept(most: int, failure: CallError) -> None:
    policy = RetryPolicy(most_attempts=most)
    waits = [policy.wait(failure, attempt, lambda: 0.5) for attempt in range(1, most + 3)]
    assert all(wait is not None for wait in waits[: most - 1])
    assert waits[most - 1 :] == [None, None, None]


def test_a_refusal_is_never_tried_again() -> None:
    assert RetryPolicy().wait(Refused(ErrorClass.AUTH, "no", 401), 1, lambda: 0.5) is None


def test_a_hint_is_taken_as_it_is_up_to_the_longest_that_is_waited_for() -> None:
    policy = RetryPolicy(longest_hint=600)
    for hint in (0.0, 0.3, 599.0, 600.0):
        assert policy.wait(RateLimited("429", hint), 1, lambda: 0.0) == hint
        assert policy.wait(Transient(ErrorClass.SERVER, "", 503, hint), 1, lambda: 0.0) == hint
    assert policy.wait(RateLimited("429", 600.1), 1, lambda: 0.0) is None


def test_even_after_the_most_tries_that_can_be_asked_for_the_wait_is_the_ceiling() -> None:
    assert RetryPolicy(most_attempts=100).wait(RateLimited("429"), 99, lambda: 1.0) == 60
