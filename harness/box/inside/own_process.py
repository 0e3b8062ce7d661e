"""The first program of a process of this program's own: it goes on as the first program in a box.

Its arguments: the folders that packages are imported from where the standard library has none of the name.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path


def main() -> None:
    """Take the folders, then do what the first program in a box does."""
    sys.path += sys.argv[1:]
    runpy.run_path(str(Path(__file__).with_name("runner.py")), run_name="__main__")


if __name__ == "__main__":
    main()
