"""The types of JSON values, as they are read from files and written to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""Any JSON value; tuples are written as lists."""

JsonObject: TypeAlias = "Mapping[str, Json]"
"""A JSON object whose keys and values nobody has examined yet, or that is about to be written."""
