"""One public class, one name in the whole program."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("corpora", "scoring", "harness", "review", "rosetta_tui", "rosetta", "packaging")
ALONE = "review/verdict/stand_alone/rosetta_verify.py"
"""Runs on its own with nothing of the program beside it."""

WINDOW = "review/desktop/"
TERMINAL = "rosetta_tui/review/rating/"
TWINS = {
    "Choices": "several answers with their digits, drawn by Qt and by Textual",
    "LessonBox": "the lesson after an answer",
    "Page": "what all pages of a face share",
    "PausePage": "what all pages without an item share",
    "Writing": "the box for a corrected translation",
    **dict.fromkeys(
        [
            *("ChoosePage", "ConsentPage", "EndPage", "HandOverPage", "HelpPage", "ItemPage"),
            *("LaterPage", "OrganisationPage", "RelationPage", "RestPage", "SharingPage"),
            *("WithdrawPage", "WithdrawnPage"),
        ],
        "one page of a rating, with the same texts and keys in the window and in the terminal",
    ),
}
"""The window and the terminal may each have a class of this name, because it is the same thing."""


@cache
def classes(root: Path) -> dict[str, list[str]]:
    """Return the modules of each public class, those inside another class or a function too."""
    found: dict[str, list[str]] = defaultdict(list)
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if name == ALONE:
                continue
            text = path.read_text(encoding="utf-8")
            for kind in re.findall(r"^ *class ([A-Z]\w*)[(:]", text, re.MULTILINE):
                found[kind].append(name)
    return found


def faulty(found: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the names that more than one thing has."""
    return {
        name: places
        for name, places in found.items()
        if len(places) > 1 and not (name in TWINS and _one_each(places))
    }


def _one_each(places: list[str]) -> bool:
    return len(places) == 2 and all(
        any(place.startswith(face) for place in places) for face in (WINDOW, TERMINAL)
    )


def test_no_public_class_has_the_name_of_another() -> None:
    found = classes(ROOT)
    assert len(found) > 500
    assert faulty(found) == {}


def test_the_table_of_twins_names_only_twins() -> None:
    found = classes(ROOT)
    assert [name for name in TWINS if not _one_each(found.get(name, []))] == []


@pytest.mark.parametrize(
    ("places", "good"),
    [
        ({"Page": [WINDOW + "frame/page.py", TERMINAL + "parts/page.py"]}, True),
        ({"Page": [WINDOW + "frame/page.py", WINDOW + "pages/page.py"]}, False),
        ({"Page": [WINDOW + "a.py", TERMINAL + "b.py", "harness/c.py"]}, False),
        ({"Verdict": [WINDOW + "a.py", TERMINAL + "b.py"]}, False),
    ],
)
def test_a_second_name_is_seen(places: dict[str, list[str]], good: bool) -> None:
    assert (faulty(places) == {}) == good
