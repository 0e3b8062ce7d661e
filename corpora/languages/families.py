"""The family of a language, as Glottolog groups them: languages of one family are alike in much that metrics look at."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from corpora.languages.tags import language_of


def family_of(tag: str) -> str | None:
    """Return the name of a language's family, such as ``Algic`` for ``crk-Cans``; None where the table has none."""
    return _families().get(language_of(tag))


@cache
def _families() -> dict[str, str]:
    text = Path(__file__).with_name("families.txt").read_text(encoding="utf-8")
    lines = (line.partition(": ") for line in text.splitlines() if not line.startswith("#"))
    return {tag: family for family, _, tags in lines for tag in tags.split()}
