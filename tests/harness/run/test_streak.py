"""A run stops by itself when nothing can come of it, and only then."""

import pytest

from harness.core.failures import ErrorClass
from harness.run.streak import HOPELESS_FAILURES, SAME_FAILURES, Streak


def first_stop(outcomes: list[tuple[ErrorClass | None, str | None]]) -> int | None:
    streak = Streak()
    for number, outcome in enumerate(outcomes, 1):
        if streak.note(*outcome) is not None:
            return number
    return None


@pytest.mark.parametrize("kind", [ErrorClass.AUTH, ErrorClass.OFFLINE])
def test_hopeless_failures_stop_after_three(kind: ErrorClass) -> None:
    assert HOPELESS_FAILURES == 3
    assert first_stop([(kind, "HTTP 401")] * 20) == 3


@pytest.mark.parametrize("kind", [ErrorClass.SERVER, ErrorClass.TIMEOUT, ErrorClass.METHOD])
def test_the_same_failure_stops_after_ten(kind: ErrorClass) -> None:
    assert SAME_FAILURES == 10
    assert first_stop([(kind, "the same")] * 20) == 10


def test_a_success_in_between_begins_anew() -> None:
    failures = [(ErrorClass.SERVER, "HTTP 500")] * 9
    assert first_stop([*failures, (None, None), *failures]) is None
    assert first_stop([*failures, (None, None), *failures, failures[0]]) == 20


def test_different_failures_are_no_streak() -> None:
    mixed = [(ErrorClass.SERVER, "HTTP 500"), (ErrorClass.TIMEOUT, "slow")] * 20
    assert first_stop(list(mixed)) is None


def test_request_numbers_and_times_do_not_hide_that_it_is_the_same_failure() -> None:
    """Providers put an id or a time into each message."""
    said = [
        (ErrorClass.SERVER, f"HTTP 500: Internal error. Request req_{n * 7919:x} at 12:00:{n:02}")
        for n in range(20)
    ]
    assert first_stop(list(said)) == 10


@pytest.mark.parametrize("kind", [ErrorClass.MISSING, ErrorClass.EMPTY, ErrorClass.NUMBERING])
def test_what_says_something_about_one_entry_only_never_stops_the_run(kind: ErrorClass) -> None:
    assert first_stop([(kind, "the same")] * 100) is None
    failures = [(ErrorClass.SERVER, "HTTP 500")] * 9
    assert first_stop([*failures, (kind, "empty"), failures[0]]) == 11


def test_the_reason_names_count_and_failure() -> None:
    streak = Streak()
    reasons = [streak.note(ErrorClass.AUTH, "HTTP 401: wrong key") for _ in range(3)]
    assert reasons[-1] == "3 entries in a row failed the same way (auth): HTTP 401: wrong key"
