"""No test here asks the keyring of the machine it runs on."""

from collections.abc import Iterator

import pytest

from tests import keyring_in_memory
from tests.keyring_in_memory import MemoryKeyring


@pytest.fixture(autouse=True)
def memory_keyring() -> Iterator[MemoryKeyring]:
    with keyring_in_memory.memory_keyring() as ring:
        yield ring
