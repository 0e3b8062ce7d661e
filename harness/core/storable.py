"""Text as files and databases can hold it."""

from __future__ import annotations

import re

_SURROGATES = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """Return the text with each lone surrogate as U+FFFD, and each pair as the character that it stands for.

    JSON and Python's strings may hold them, UTF-8 and databases cannot.
    """
    if _SURROGATES.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
