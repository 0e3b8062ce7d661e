"""The examples of docs/corpora.md are corpora that load without an error or warning."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from corpora.formats.load import load

PAGE = Path(__file__).parents[2] / "docs" / "corpora.md"
EXAMPLES = re.findall(r"```(json|jsonl|csv)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize(("suffix", "text"), EXAMPLES, ids=[suffix for suffix, _ in EXAMPLES])
def test_example_loads(suffix: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / f"example.{suffix}"
    path.write_text(text, "utf-8")
    corpus = load(path)
    assert corpus.dataset.id == "greetings-v1"
    assert corpus.dataset.target_language == "eo"
    assert corpus.entries[0].source == "Good morning!"
    assert not corpus.warnings


def test_there_is_an_example_of_each_form() -> None:
    assert [suffix for suffix, _ in EXAMPLES] == ["json", "jsonl", "csv"]
