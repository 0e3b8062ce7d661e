"""Asks a boxed method that never answers, for a test that kills this process meanwhile."""

import sys
from pathlib import Path

from tests.harness.box.making import SMALL, asked, boxed

CODE = """
import os, sys, time
def translate(texts):
    if os.fork() == 0:
        os.setsid()
    sys.stderr.write("begun")
    time.sleep(1000)
"""

if __name__ == "__main__":
    limits = SMALL.model_copy(update={"entry_seconds": 1000.0})
    method = boxed(Path(sys.argv[1]), CODE, limits)
    print("begins", flush=True)
    asked(method, ["text"])
