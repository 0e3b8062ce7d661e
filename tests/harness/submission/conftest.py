"""Bundles of the sample, packed once."""

import pytest

from tests.harness.submission.made import sample_bundle


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return sample_bundle(tmp_path_factory.mktemp("data") / "sample")


@pytest.fixture(scope="session")
def code(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return sample_bundle(tmp_path_factory.mktemp("code") / "sample", "code")
