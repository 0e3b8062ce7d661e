"""The store's schema as numbered steps of SQL; a released step is never changed."""

from __future__ import annotations

import re
from pathlib import Path


def _read_steps() -> dict[str, str]:
    """Return the SQL of each step of ``steps.sql`` under its name, in order, without the file's remarks."""
    text = Path(__file__).with_suffix(".sql").read_text("utf-8")
    parts = re.split(r"^-- step (\w+)$", text, flags=re.MULTILINE)
    remark = re.compile(r"^--.*\n", re.MULTILINE)
    # the spaces at the end are what the steps were recorded with
    return {name: remark.sub("", sql) + "    " for name, sql in zip(parts[1::2], parts[2::2], strict=True)}


STEPS = _read_steps()
"""The SQL of each step under its name. Each brings a store from the version before it to its own."""
