"""No test here asks the keyring of the machine it runs on: keys lie in files of the data folder."""

from tests.keyring_in_memory import no_keyring

__all__ = ["no_keyring"]
