"""The page on security names every adversary that is played; the examples of the page on the box run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from harness.box.seccomp import DENIED
from tests.harness.box.adversaries import NAMES, UNRULY
from tests.harness.box.making import asked, boxed, needs_engine

DOCS = Path(__file__).parents[3] / "docs"
PAGE = DOCS / "security.md"


def test_every_adversary_is_named() -> None:
    page = PAGE.read_text("utf-8")
    played = [*(name.replace("_", " ") for name in NAMES), *UNRULY]
    assert [name for name in played if name not in page] == []
    assert f"plays {len(played)} adversaries" in page


def test_the_number_of_refused_calls() -> None:
    here = [sum(numbers[place] is not None for numbers in DENIED.values()) for place in (0, 1)]
    page = (DOCS / "box.md").read_text("utf-8")
    assert f"{here[0]} refused (x86_64), {here[1]} (aarch64)" in page


@needs_engine
@pytest.mark.parametrize(
    ("file", "name", "options", "given"),
    [
        ("translator.py", "translate", {}, "SALUTON"),
        ("with_options.py", "Translator", {"ending": "!"}, "saluton!"),
    ],
)
def test_examples(
    tmp_path: Path, file: str, name: str, options: dict[str, Any], given: str
) -> None:
    found = re.search(
        rf"```python\n# {file}\n(.*?)```", (DOCS / "box.md").read_text("utf-8"), re.DOTALL
    )
    assert found
    [[output]] = asked(
        boxed(tmp_path, found[1], entry=f"method:{name}", options=options), ["saluton"]
    )
    assert output.text == given
