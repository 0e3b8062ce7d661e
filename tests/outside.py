"""What other people published and the tests read; its licences keep it out of the repository (tests/README.md)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("ROSETTA_TEST_DATA") or Path(__file__).parents[2] / "shared" / "data")
"""The folder that ``ROSETTA_TEST_DATA`` names, otherwise ``shared/data`` beside the repository."""

FST = DATA / "fst"
TEXTS = DATA / "text"
STRICT = FST / "crk-strict-analyzer.hfstol"
DESCRIPTIVE = FST / "crk-descriptive-analyzer.hfstol"
RUSSIAN = FST / "rus-analyser-gt-desc.hfstol.gz"
MLQE = DATA / "ratings" / "mlqe-pe-ne-en-test.tar.gz"
ENGLISH = TEXTS / "ntrex-newstest2019-src.eng.txt"


def published(language: str) -> Path:
    """Return the file of a language of NTREX-128, by the language's three letters."""
    return TEXTS / f"ntrex-newstest2019-ref.{language}.txt"


def _why(path: Path) -> str:
    return f"no {path.relative_to(DATA)}: ROSETTA_TEST_DATA names no folder with it (tests/README.md)"


def only_with(path: Path) -> pytest.MarkDecorator:
    """Mark a test that reads a file from outside, or all files of a folder."""
    return pytest.mark.skipif(not path.exists(), reason=_why(path))


def skip_without(path: Path) -> None:
    """Skip the test under way where a file from outside is not at hand."""
    if not path.exists():
        pytest.skip(_why(path))
