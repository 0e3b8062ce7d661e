"""``python -m tests.harness.process begin|resume STORE URL SIZE [PRICES]``: a run in a process of its own."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.harness.evaluation import Heard, chat_plan, corpus, resume, run_corpus

ROOT = Path(__file__).parents[2]


def spawn(*arguments: object, **more: object) -> subprocess.Popen[str]:
    """Start this module."""
    command = [sys.executable, "-m", "tests.harness.process", *map(str, arguments)]
    return subprocess.Popen(  # type: ignore[no-any-return]
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
    )  # type: ignore[call-overload]


def main(wish: str, store: str, url: str = "", size: str = "0", prices: str = "") -> None:
    """Begin a run, or go on with the newest."""
    heard = Heard()
    if wish == "begin":
        limits: dict[str, Any] = {"concurrency": 8, "most_attempts": 3}
        plan = chat_plan(url, run=limits)
        if prices:
            plan = chat_plan(url, prices=prices, max_tokens=40, run={**limits, "budget_usd": 50})
        run_corpus(Path(store), corpus(int(size)), plan, heard)
    else:
        resume(Path(store), heard)
    print(heard.finished.state)


if __name__ == "__main__":
    main(*sys.argv[1:])
