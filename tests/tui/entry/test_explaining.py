"""Explanations of stored runs, made once and by whoever asks."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest

from corpora.model.entry import Entry
from harness.method.options import MethodOptions
from harness.method.result import Result
from harness.run import explaining as harness_explaining
from harness.run.explaining import Explanation
from harness.setup.plan import Plan, RunOptions
from harness.store.corpora.entries import read_entries
from harness.store.file.database import open_store
from harness.store.results import read_results
from harness.store.runs import Run, find_run
from rosetta_tui.entry.explaining import Explaining, _differences
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus
from tests.scoring.analysed import annotation
from tests.tui.scenes import scene

OUTPUT = "The same {name} ENTRY"


@pytest.fixture
def run(tmp_path: Path) -> tuple[Path, Run]:
    path = tmp_path / "s.sqlite"
    options = MethodOptions(**LANGUAGES, text=OUTPUT)
    run_corpus(path, corpus(3), Plan(method="constant", options=options, run=RunOptions()))
    with closing(open_store(path)) as connection:
        return path, find_run(connection, "last")


def first(path: Path, run: Run) -> tuple[Entry, Result]:
    with closing(open_store(path)) as connection:
        entry = read_entries(connection, run.corpus, [0])[0]
        return entry, next(iter(read_results(connection, run.id, [0])))


def test_metrics_say_what_an_entry_lost_by(run: tuple[Path, Run]) -> None:
    explaining = Explaining(run[0], run[1].run_id)
    why = explaining.explain(*first(*run))
    explaining.close()
    assert why is not None
    assert explaining.why_not is None
    assert "{name}" in " ".join(why.sentences["compliance_index"])


def test_tools_are_made_once_whoever_asks(
    run: tuple[Path, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    class Counted(harness_explaining.Explainer):
        def __init__(self, *given: object) -> None:
            made.append(threading.get_ident())
            super().__init__(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(harness_explaining, "Explainer", Counted)
    explaining = Explaining(run[0], run[1].run_id)
    asked = first(*run)
    told: list[object] = []
    threads = [
        threading.Thread(target=lambda: told.append(explaining.explain(*asked))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(told) == 4
    assert None not in told
    explaining.close()
    assert explaining.explain(*asked) is None


def test_an_imported_run_says_why_it_explains_nothing(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=2, stored=2)
    explaining = Explaining(made.path, made.run_id)
    assert explaining.explain(made.entries[0], made.results[0]) is None
    assert explaining.why_not == "the run was imported; only its numbers are here"
    made.close()


def test_a_run_that_is_gone_is_said(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=2, stored=2)
    explaining = Explaining(made.path, "ffffffff-6c1d-4a70-9a52-0123456789ab")
    assert explaining.explain(made.entries[0], made.results[0]) is None
    assert "ffffffff" in (explaining.why_not or "")
    made.close()


def test_the_words_of_an_entry_are_named_once() -> None:
    """The metric says what its words lack; the word forms tell of the others only."""
    words = annotation("bonvolu la hundo xyzzy", "la hundon mi", LEXICON)
    said = ("2 of 3 expected lemmas and tags are there.", "“hundo”: base form.", "“Mi” is missing.")
    found = Explanation({"morphological_accuracy": said}, words)
    assert _differences(found) == (
        "“bonvolu” has no counterpart in the reference.",
        "“xyzzy” has no counterpart in the reference, and the analyser does not know it.",
    )
    assert len(_differences(Explanation({}, words))) == 4
    assert _differences(Explanation({}, None)) == ()


LEXICON = {
    "bonvolu": ("bonvoli+V+Imp",),
    "la": ("la+Det",),
    "hundo": ("hundo+N+Sg+Nom",),
    "hundon": ("hundo+N+Sg+Acc",),
    "mi": ("mi+Pron",),
}
