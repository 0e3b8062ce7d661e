"""The only way by which text from outside reaches a terminal.

Outputs of models and corpora of strangers may hold markup, escape sequences, direction overrides or
invisible characters. Here every character that would act instead of showing becomes one that shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from corpora.text.visible import plain

__all__ = ["json_text", "plain"]


def json_text(
    value: object, *, indent: int | None = 2, default: Callable[[Any], object] | None = None
) -> str:
    """Write a value as JSON that any terminal can show: ASCII alone, all other characters escaped.

    Readers get every text back as it was; ``default`` turns what JSON does not know into what it knows.
    """
    return json.dumps(value, indent=indent, default=default).replace("\x7f", "\\u007f")
