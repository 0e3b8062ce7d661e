"""A refusal in one line: which error it is, and a word that tells it from others of its class."""

from collections.abc import Callable
from typing import Any

import pytest


def refuses(
    error: type[BaseException] | tuple[type[BaseException], ...],
    words: str,
    act: Callable[..., object],
    *given: Any,
    **more: Any,
) -> Any:
    """Return the error by which the act is refused, with these words (a pattern; empty: any); fail where it is not."""
    with pytest.raises(error, match=words or None) as caught:
        act(*given, **more)
    return caught.value
