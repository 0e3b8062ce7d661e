"""What foreign code lets fall beside secret entries is printed without its words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

CLUMSY = """
import asyncio, gc, logging, threading, warnings
from harness.method.method import MethodClass, Output, Setup

class Going:
    def __init__(self, text):
        self.text = text
    def __del__(self):
        raise RuntimeError(self.text)

async def lost(text):
    raise ValueError(text)

def fail(text):
    raise KeyError(text)

class Clumsy:
    endpoint = None
    def __init__(self, options):
        self.setup = Setup(method="clumsy", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1",
                           model_slug="clumsy", condition="x")
    async def translate(self, entries, calls):
        text = entries[0].source
        warnings.warn(text)
        logging.getLogger("clumsy").error("failed on %s", text)
        try:
            fail(text)
        except KeyError:
            logging.getLogger("clumsy").exception(text)
        thread = threading.Thread(target=fail, args=(text,))
        thread.start()
        thread.join()
        Going(text)
        task = asyncio.create_task(lost(text))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        del task
        gc.collect()
        raise LookupError(text)
"""

RUN = """
import sys
from pathlib import Path
from harness.setup.plan import Plan
from harness.method.options import MethodOptions
from harness.privacy import make_method
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus

given = corpus(2, segment=sys.argv[3], source="kanario kantas")
plan = Plan(method=sys.argv[2] + ":Clumsy", options=MethodOptions(**LANGUAGES))
heard = run_corpus(Path(sys.argv[1]), given, plan, method=make_method(plan, given.entries, given.entries))
print(heard.finished.reason)
"""


@pytest.mark.parametrize("segment", ["held_out", "development"])
def test_only_class_and_place_are_printed(tmp_path: Path, segment: str) -> None:
    plugin = tmp_path / "clumsy.py"
    plugin.write_text(CLUMSY)
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path / "data" / "r.sqlite"), str(plugin), segment],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    if segment == "development":
        assert done.stderr.count("kanario") >= 6
        return
    assert "kanario" not in done.stderr + done.stdout
    for kind in ("UserWarning", "KeyError", "ValueError", "RuntimeError", "clumsy (ERROR)"):
        assert kind in done.stderr
    assert f"{plugin}:" in done.stderr
