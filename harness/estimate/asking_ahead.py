"""What a method will send, seen before anything is sent: for previews and estimates.

The method itself writes its requests; they are caught on their way out. So what is shown is what will go
over the wire, and no second copy of the prompt's rules can drift from the first.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, cast

from corpora.model.entry import Entry
from harness.core.calls import Reply, Request
from harness.method.method import Method
from harness.methods.api import Api
from harness.methods.chat import Chat
from harness.methods.pipeline import Pipeline


class _Caught(Exception):  # noqa: N818  no error: the way by which a request comes back out of a method
    def __init__(self, request: Request) -> None:
        self.request = request


class _Catching:
    """Stands in the place of whatever carries calls, and carries none."""

    async def send(self, request: Request) -> Reply:
        """Break off with the request."""
        raise _Caught(request)


def shows_requests(method: Method) -> bool:
    """Tell whether a method's requests can be seen ahead; a plug-in might do anything on the way to one."""
    return isinstance(method, Chat | Pipeline | Api)


def first_request(method: Method, entries: Sequence[Entry]) -> Request | None:
    """Return the first request that a method makes for entries of one call; None where it makes none.

    ``entries`` are at most ``setup.batch_size``. Nothing is sent, and nothing is awaited.
    """
    if not shows_requests(method):
        return None
    coroutine = cast("Coroutine[Any, Any, object]", method.translate(entries, _Catching()))
    try:
        coroutine.send(None)
    except _Caught as caught:
        return caught.request
    except StopIteration:
        return None
    coroutine.close()
    return None


def groups(entries: Sequence[Entry], size: int) -> list[Sequence[Entry]]:
    """Part entries into those that go in one call, as a run does."""
    return [entries[start : start + size] for start in range(0, len(entries), size)]
