"""A refusal in one line: which error it is, and a word that tells it from others of its class."""

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

Error = TypeVar("Error", bound=BaseException)


def refuses(
    error: type[Error] | tuple[type[Error], ...], words: str, act: Callable[..., object], *given: Any, **more: Any
) -> Error:
    """Return the error by which the act is refused, with these words (a pattern; empty: any); fail where it is not."""
    with pytest.raises(error, match=words or None) as caught:
        act(*given, **more)
    try:
        return caught.value
    finally:
        del caught  # its traceback would keep this frame, and what the act left open, until a later collection
