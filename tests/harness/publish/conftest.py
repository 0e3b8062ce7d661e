"""A card that is ready to be published, made once for a file of tests."""

from __future__ import annotations

import pytest

from harness.publish.outgoing import OutgoingCard
from tests.harness.publish.made import made_card


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> OutgoingCard:
    return made_card(tmp_path_factory.mktemp("run"))
