"""One line of a page of text: a name, and what there is to say of it."""

from __future__ import annotations

from rosetta_tui.show.text import plain


def line(name: str, *parts: object) -> str:
    """Return one line of a page: a name, and what there is to say in parts."""
    said = " · ".join(plain(str(part)) for part in parts if part not in (None, ""))
    return f"{plain(name):<26} {said}".rstrip()
