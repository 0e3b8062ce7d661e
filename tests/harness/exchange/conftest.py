"""Two computers and a stick; no test here asks the keyring of the machine it runs on."""

from pathlib import Path

import pytest

from tests.harness.exchange.computers import Computer, computers
from tests.review.files.conftest import memory_keyring

__all__ = ["memory_keyring"]

Three = tuple[Computer, Computer, Path]


@pytest.fixture
def three(tmp_path: Path) -> Three:
    """The office, the school and a stick."""
    return computers(tmp_path)


@pytest.fixture
def made(three: Three) -> Three:
    """Two computers, and a stick with two cards of the office."""
    office, school, stick = three
    office.out(stick, office.card("Ana"), office.card("Bo"))
    return office, school, stick
