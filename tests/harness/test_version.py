"""The version on cards is the distribution's."""

from __future__ import annotations

import tomllib
from pathlib import Path

from harness.core.version import VERSION


def test_version_is_the_distribution_s() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["version"] == VERSION
