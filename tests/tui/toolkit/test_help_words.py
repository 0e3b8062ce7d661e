"""Help is read in windows of any width, by people who know none of the words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from textual.screen import Screen

from rosetta_tui.show.key_names import key_name
from rosetta_tui.toolkit.keyboard import keyboard


def screens(kind: type[Screen[Any]] = Screen) -> Iterator[type[Screen[Any]]]:
    """Every screen of the program that has a help of its own."""
    keyboard()
    for each in kind.__subclasses__():
        if each.__module__.startswith("rosetta_tui.") and "HELP" in vars(each):
            yield each
        yield from screens(each)


def test_no_line_of_help_breaks_within_a_sentence() -> None:
    told = {each.__qualname__: str(vars(each)["HELP"]) for each in screens()}
    assert len(told) > 10
    broken = {
        (name, line)
        for name, words in told.items()
        for line in words.splitlines()
        if line and "   " not in line and not line.endswith((".", ":", ";"))
    }
    assert not broken


@pytest.mark.parametrize(
    ("key", "name"), [("plus", "+"), ("minus", "-"), ("equals_sign", "="), ("ctrl+p", "^p")]
)
def test_keys_are_called_by_what_stands_on_them(key: str, name: str) -> None:
    assert key_name(key) == name
