"""The version stands in one place: cards and the distribution read it there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from harness.core.version import VERSION

ROOT = Path(__file__).parents[2]


def test_the_distribution_reads_its_version_where_the_cards_do() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert "version" not in project["project"]
    source = ROOT / project["tool"]["hatch"]["version"]["path"]
    assert re.findall(r'^VERSION = "(.*)"$', source.read_text("utf-8"), re.MULTILINE) == [VERSION]
