"""Whoever only looks for batches does not wait for libraries that encrypt."""

import subprocess
import sys

LOOK = """
import sys
import review.files.batch, review.files.finding, review.files.laptop_card, review.files.ratings
print(*sorted({"cryptography", "filelock", "keyring", "numpy", "pyrage"} & set(sys.modules)))
"""


def test_heavy_libraries_wait_until_they_are_needed() -> None:
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
