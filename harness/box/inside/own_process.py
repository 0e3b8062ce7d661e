"""The first program of a process of this program's own: tied to the program, it continues as the first program in a box.

Its arguments: the number of the program's process, and the folders that packages are imported from where the standard
library has none of the name.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import sys
from pathlib import Path

_END_WITH_PARENT = 1
"""``PR_SET_PDEATHSIG`` of Linux."""


def main() -> None:
    """End with the program from now on, then do what the first program in a box does."""
    program, *folders = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the program's to handle
    if sys.platform == "linux":  # ends at once where the program is killed, or is gone already
        ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != int(program):
            sys.exit("The program that asks is gone.")
    runner = str(Path(__file__).with_name("runner.py"))
    sys.argv = [runner, *folders]
    runpy.run_path(runner, run_name="__main__")


if __name__ == "__main__":
    main()
