"""Closing what a test opened: a database that is only forgotten is a warning on newer interpreters."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from review.log.laptop import Laptop
from review.office.store.store import Office


@pytest.fixture(autouse=True)
def all_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close every laptop's and office's file that the test opened in this process."""
    opened: list[Any] = []
    for kind in (Laptop, Office):
        monkeypatch.setattr(kind, "open", classmethod(_noting(kind.open.__func__, opened)))
    yield
    for each in opened:
        with suppress(sqlite3.ProgrammingError):  # opened, and closed, in a thread of its own
            each.close()


def _noting(opening: Callable[..., Any], opened: list[Any]) -> Callable[..., Any]:
    def opens(kind: type, *arguments: Any, **wishes: Any) -> Any:
        opened.append(opening(kind, *arguments, **wishes))
        return opened[-1]

    return opens
