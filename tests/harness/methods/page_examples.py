"""The examples of the page of plug-ins."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "plugins.md"


def example(name: str) -> str:
    """The code block of the page that begins with the file's name."""
    [code] = re.findall(rf"```\w+\n(# {re.escape(name)}.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return str(code)
