"""A data folder of the test's own, and the bundled corpus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from corpora.formats.load import load
from corpora.model.corpus import Corpus
from corpora.samples import DEMO_CORPUS, sample_path
from tests.harness.scripted import Scripted, serving


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("ROSETTA_HOME", str(folder))
    return folder


@pytest.fixture
def endpoint() -> Iterator[Scripted]:
    with serving() as scripted:
        yield scripted


@pytest.fixture(scope="session")
def demo() -> Corpus:
    return load(sample_path(DEMO_CORPUS))
