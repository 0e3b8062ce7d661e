"""A data folder in trouble at the start: it is said in a window, and a second try works once it is mended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.desktop.trouble.starting import BEGINNINGS
from tests.harness.process import ROOT

SAID = {
    "newer": "A newer version of this program keeps your answers. Ask for it.",
    "theirs": "Another program uses the name of the file with your answers. Ask for help.",
    "no database": "Another program uses the name of the file with your answers. Ask for help.",
    "damaged": "The file with your answers is damaged. Ask for help. Do not delete anything.",
    "folder": "The program may not write on this computer's disk. Ask for help, then try again.",
}


def test_every_trouble_at_the_start_is_told_and_left_behind(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.desktop.trouble.starting", *BEGINNINGS],
        cwd=ROOT,
        env={**os.environ, "ROSETTA_HOME": str(tmp_path), "LC_ALL": "C.UTF-8"},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [what for what, *_ in told] == [*BEGINNINGS, ""]
    for what, *said in told[:-1]:
        assert "The file with your answers does not open" in said, what
        assert SAID[what] in said, (what, said)
        assert len(said) >= 3, "a line for whoever helps"
    assert "There is nothing to look at yet." in told[-1]
