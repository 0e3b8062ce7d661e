"""Nothing of a secret entry leaves by the side doors: tags, breakdowns, and what foreign code lets fall."""

import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from corpora.model.entry import Entry
from harness.card.checking.verify import verify_card
from harness.card.exporting import ExportForm, card_bytes, export_run
from harness.card.load import load_card
from harness.core.calls import Calls
from harness.core.failures import UsageError
from harness.method.method import MethodClass, Output, Setup
from harness.store.file.database import open_store
from harness.store.runs import find_run
from tests.harness.evaluation import corpus, kept, run_corpus
from tests.harness.run.constant_runs import constant
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import first

FREE = {"context": "kept in the lodge", "register": "of the elders", "provenance": "told by N. N."}
LISTED = {"context": "greeting", "register": "formal", "provenance": "elicited"}


def exported(path: Path, form: ExportForm) -> bytes:
    with closing(open_store(path)) as connection:
        number = find_run(connection, "last").id
        if form is ExportForm.CARD:  # which stays inside where an entry is secret
            return card_bytes(load_card(connection, number))
        return export_run(connection, number, form)


@pytest.mark.parametrize(("segment", "tags", "told"), [("held_out", FREE, False), ("held_out", LISTED, True), ("development", FREE, True)])  # fmt: skip
def test_free_tags_of_secret_entries_are_withheld_everywhere(
    store_path: Path, segment: str, tags: dict[str, str], told: bool
) -> None:
    run_corpus(store_path, corpus(6, segment=segment, **tags), constant())
    for form in ExportForm:
        if segment == "held_out" and form is not ExportForm.CARD:
            refuses(UsageError, "no row of it leaves", exported, store_path, form)
            continue
        written = exported(store_path, form)
        assert {tag.encode() in written for tag in tags.values()} == {told}
        if form is ExportForm.CARD:
            assert verify_card(written).ok


class Reaching:
    """A method that tries to reach another machine without saying so."""

    endpoint = None
    setup = Setup(
        method="reaching", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1", model_slug="reaching",
        condition="plug-in",
    )  # fmt: skip

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> list[Output]:
        socket.getaddrinfo("elsewhere.example", 80)
        return [Output("x") for _ in entries]


def test_refusal_for_secret_entries_blames_no_switch(store_path: Path) -> None:
    given = corpus(2, segment="gold_standard")
    heard = run_corpus(store_path, given, constant(), method=Reaching())
    said = f"{heard.finished.reason} {[result.error for result in kept(store_path).results]}"
    assert "--offline" not in said
    assert "Secret entries were opened, and nothing may leave this machine" in said


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


@pytest.mark.costly("a program of its own, whose standard error is read")
@pytest.mark.parametrize("segment", first(1, ["held_out", "development"]))
def test_class_and_place_alone_are_printed(tmp_path: Path, segment: str) -> None:
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
