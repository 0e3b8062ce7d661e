"""The list of screens and keys in the docs is that of the program."""

from __future__ import annotations

import runpy
from collections import defaultdict
from pathlib import Path

from textual.screen import Screen

DOCS = Path(__file__).parents[2] / "docs"
MADE = runpy.run_path(str(DOCS / "make_keys.py"))


def test_the_docs_list_every_screen_and_key() -> None:
    written = (DOCS / "app.md").read_text("utf-8").partition(MADE["BEGIN"])[2]
    assert written == f"\n{MADE['page']()}", "run: python -P docs/make_keys.py"


def test_every_key_of_a_screen_has_a_name_and_can_be_chosen_anew() -> None:
    nameless = [
        f"{kind.__name__}: {binding.key}"
        for kind in MADE["screens"]()
        for binding in MADE["bindings"](kind)
        if binding.id is None
    ]
    assert not nameless


def test_no_key_means_two_things_on_one_screen() -> None:
    """Two actions may share a key only where they share its name: one of them works at a time."""
    for kind in MADE["screens"]():
        names = defaultdict(set)
        for binding in MADE["bindings"](kind):
            for key in binding.key.split(","):
                names[key.strip()].add(binding.id)
        assert all(len(found) == 1 for found in names.values()), (kind, dict(names))


def test_every_screen_has_a_title_and_says_what_its_signs_mean() -> None:
    kinds: list[type[Screen[object]]] = MADE["screens"]()
    assert not [kind.__name__ for kind in kinds if not kind.TITLE]
    assert not [kind.__name__ for kind in kinds if not getattr(kind, "HELP", "")]
