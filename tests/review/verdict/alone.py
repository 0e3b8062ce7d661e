"""The program that verifies a certificate with nothing of Rosetta beside it."""

import io
from contextlib import redirect_stdout
from pathlib import Path

from review.verdict.stand_alone import rosetta_verify


def asked_alone(path: Path | str, *signers: str) -> tuple[int, str]:
    """Return its exit code for a file and what it says, with the keys that may sign where some are given."""
    said = io.StringIO()
    with redirect_stdout(said):
        code = rosetta_verify._main([str(path), *signers])  # what its command line begins with
    return code, said.getvalue()
