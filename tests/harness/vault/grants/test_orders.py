"""Whatever the order in which answers are taken in, a grant is used and processes are killed: it opens once at most."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.review.thorough import times


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_never_twice_and_never_with_too_few(tmp_path: Path) -> None:
    count = times(12, 1000)
    done = subprocess.run(
        [sys.executable, "-m", "tests.harness.vault.grants.orders", tmp_path, str(count), "0"],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[4],
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["stories"] == count
    assert told["once"] >= count // 6
    assert told["never"] >= count // 6
    bad = ("oftener", "too few", "twice in the logs", "readable", "wrong")
    assert {name: told[name] for name in bad} == dict.fromkeys(bad, 0)
