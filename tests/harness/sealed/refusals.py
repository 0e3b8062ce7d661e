"""A refusal in one line: which error it is, and a word that tells it from others of its class."""

from collections.abc import Callable
from typing import Any

import pytest


def refuses(
    error: type[BaseException], words: str, act: Callable[..., object], *given: Any, **more: Any
) -> None:
    """Fail where the act is not refused with this error and these words (a pattern; empty: any)."""
    with pytest.raises(error, match=words or None):
        act(*given, **more)
