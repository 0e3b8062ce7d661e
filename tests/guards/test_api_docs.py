"""The page of the package ``rosetta`` is what its generator writes, and tells every public name."""

from __future__ import annotations

import runpy
from pathlib import Path

import rosetta

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "api.md").read_text("utf-8")


def test_the_page_is_what_its_generator_writes() -> None:
    written = runpy.run_path(str(DOCS / "make_api.py"))["page"]()
    assert written == PAGE, "run: python -P docs/make_api.py"


def test_every_public_name_is_on_the_page() -> None:
    assert [name for name in rosetta.__all__ if name not in PAGE] == []
