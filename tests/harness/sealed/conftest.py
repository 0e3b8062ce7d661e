"""No test here asks the keyring of the machine it runs on."""

from tests.review.files.conftest import memory_keyring

__all__ = ["memory_keyring"]
