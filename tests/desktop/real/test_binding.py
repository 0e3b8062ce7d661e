"""The one fault of a release of Qt's binding that ends the program, and the pin that keeps it out."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None cannot be lost from Python 3.12 on")
def test_calls_of_fonts_lose_no_reference_of_none() -> None:
    qtgui = pytest.importorskip("PySide6.QtGui")
    font = qtgui.QFont()
    before = sys.getrefcount(None)
    for size in range(1, 501):
        font.setPixelSize(size)
        font.setBold(bool(size % 2))
    assert sys.getrefcount(None) > before - 50


def test_the_release_that_loses_them_is_not_installed() -> None:
    wishes = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]["desktop"]
    packaging = pytest.importorskip("packaging.requirements")
    [wish] = [packaging.Requirement(each) for each in wishes if each.startswith("PySide6")]
    assert "6.12.0" not in wish.specifier
    assert {"6.8.3", "6.9.3", "6.11.3"} <= set(wish.specifier.filter(["6.8.3", "6.9.3", "6.11.3"]))
