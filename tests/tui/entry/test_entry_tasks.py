"""The page of one entry where the corpus asks for something else than translations."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Entry
from harness.compare.comparing import compare_runs
from harness.store.corpora.entries import read_entries
from harness.store.file.database import open_store
from harness.store.results import read_results
from harness.store.runs import Run
from rosetta_tui.compare.entry_screen import EntryOfRuns, page_lines
from rosetta_tui.compare.order import ComparisonView
from rosetta_tui.corpus.entry_screen import entry_lines
from rosetta_tui.entry.explaining import Explaining
from rosetta_tui.entry.screen import EntryScreen
from rosetta_tui.toolkit.diff_text import LEGEND
from tests.tui.answered import (
    CHAT,
    CHOICE,
    DIARIZATION,
    FUNCTION_CALL,
    INSTRUCTIONS,
    JUDGED,
    MATH,
    RESPONSE,
    STATE,
    answered,
    judge,
    text2sql,
)


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "data"))


def page(path: Path, run: Run, place: int = 0) -> dict[str, str]:
    """Return the whole page of an entry, label → text, as it stands when it is explained."""
    with closing(open_store(path)) as store:
        explaining = Explaining(path, run.run_id)
        screen = EntryScreen(store, run, run.positions, place, run.opening.missing, explaining)
        facts = screen._read()  # as its page does; no app runs here
        assert facts is not None
        assert facts.result is not None
        found = explaining.explain(facts.entry, facts.result)
        assert found is not None, explaining.why_not
        screen._explained[place] = found  # as its thread does
        explaining.close()
        shown = screen._lines(facts)  # what its page shows
        lines = [(line.label, line.text.plain) for line in shown]
    assert len(dict(lines)) == len(lines)
    return dict(lines)


@pytest.mark.parametrize(
    ("task", "record", "wanted", "absent"),
    [
        (
            "diarization",
            DIARIZATION,
            {
                "Output": "S1: shall we begin yes please\nS2: I am very late",
                "Difference": "Anna ← S1  shall we begin [-yes-] [-please-]\n"
                "Ben        [+yes+] [+please+]\n"
                f"Eve ← S2   i am [-very-] late\n{LEGEND}",
            },
            {"audio", "predicted"},
        ),
        (
            "chat",
            CHAT,
            {
                "Turn 1": "user: Two plus two?\nanswer: 4\nreference: 4",
                "Turn 2": "user: Times three?\nanswer:\nIt is\ntwelve.",
                "Why": "conversations:\n  The judge gave 9 of 10.\n  Turn 1: 10.\n  Turn 2: 8.",
            },
            {"Source", "Output", "Difference", "turns", "predicted"},
        ),
        (
            "function_call",
            FUNCTION_CALL,
            {
                "Difference": f'alarm hour  ["6"→6]\n{LEGEND}',
                "Why": "calls: alarm: the value of hour is not allowed.",
                "tools": "1. alarm(hour?)",
            },
            {"reference_call", "predicted_call", "reference calls", "predicted calls"},
        ),
        (
            "ifeval",
            INSTRUCTIONS,
            {
                "Output": "<<Trees>>\n* They grow, slowly\n* They give shade\n* They burn",
                "Why": "instructions:\n  detectable_format:title: kept.\n"
                "  detectable_format:number_bullet_lists: kept.\n  punctuation:no_comma: not kept.",
                "instructions": "1. detectable_format:title\n2. detectable_format:number_bullet_lists"
                "   num_bullets: 3\n3. punctuation:no_comma",
            },
            {"Reference", "Difference", "predicted", "No value"},
        ),
        (
            "multiple_choice",
            CHOICE,
            {
                "Difference": f"option  [C→B]\n{LEGEND}",
                "Why": "choice: Read as C.",
                "choices": "A. trout\nB. whale\nC. gull",
            },
            {"predicted"},
        ),
        (
            "math",
            MATH,
            {"Output": r"\boxed{\frac{3}{2}}   ✓ right", "Difference": "number  3/2"},
            {"predicted"},
        ),
        (
            "dialogue_state",
            STATE,
            {
                "Source": STATE["source"],
                "Difference": "hotel price    [moderate→cheap]\nhotel parking  [+yes+]\n"
                f"hotel stars    [-4-]\n{LEGEND}",
            },
            {"reference state", "predicted state"},
        ),
        ("response", RESPONSE, {}, {"Reference", "Difference", "predicted", "No value"}),
    ],
)
def test_entry_is_shown_in_the_words_of_its_task(
    task: str, record: Any, wanted: Any, absent: set[str], tmp_path: Path
) -> None:
    shown = page(*answered(tmp_path, task, [record]))
    assert {label: shown[label] for label in wanted} == dict(wanted)
    assert absent.isdisjoint(shown)
    assert "chrF++" not in " ".join([*shown, *shown.values()])


def test_empty_answer_and_a_changed_output_stand_once(tmp_path: Path) -> None:
    shown = page(*answered(tmp_path, "response", [{**RESPONSE, "predicted": ""}]))
    assert shown["Failed"].startswith("empty")
    assert "predicted" not in shown
    path, run = answered(tmp_path, "judged", JUDGED)
    with closing(open_store(path)) as store, store:
        change = "UPDATE results SET output = 'Lima it is' WHERE position = 0 AND run = ?"
        store.execute(change, (run.id,))
    assert page(path, run)["predicted"] == "Cusco", "the field says something else"


def test_queries_are_shown_with_their_rows_or_why_they_were_refused(tmp_path: Path) -> None:
    path, run = answered(tmp_path, "text2sql", text2sql(tmp_path), metrics=("au.text2sql_score",))
    assert page(path, run)["Why"] == (
        "SQL result:\n  3 rows; the reference query has 2.\n  Its first rows:\n    pen\n    ink\n"
        "    desk\n  Those of the reference query:\n    pen\n    ink"
    )
    refused = page(path, run, 1)
    assert refused["Why"].startswith(
        "SQL result: The query fails: not authorized. A query may only"
    )
    assert page(path, run, 2)["Output"].endswith("✓ right")


@pytest.mark.parametrize("said", [{"score": None, "reason": "the reply is empty"}, None])
def test_judgement_and_its_cost_are_shown(said: dict[str, Any] | None, tmp_path: Path) -> None:
    path, run = answered(tmp_path, "judged", JUDGED)
    told = "Lima is [/]meant:\x1b[2J\nCusco lies elsewhere."
    judge(path, run, "judge_binary", {"score": 0, "explanation": told}, said, cost=None)
    first, second = page(path, run), page(path, run, 1)
    assert first["Why"] == (
        "judged right:\n  The judge gave 0 of 1.\n  Lima is [/]meant:␛[2J\n  Cusco lies elsewhere."
    )
    assert first["Scoring"] == "1 call · cost unknown · judge_binary"
    assert "predicted" not in first
    failed = "The judge gave no score: the reply is empty."
    assert (failed in second["Why"]) == (said is not None)


def test_an_answer_that_nobody_judged_says_so_and_why(tmp_path: Path) -> None:
    """Once for the answer; of metrics that are off in the whole run the reason stands below alone."""
    records = [*JUDGED, {"source": "The largest lake?", "predicted": "Baikal"}]
    told = page(*answered(tmp_path, "judged", records), 2)
    assert told["Scores"] == "no value for this entry: judged right"
    assert told["Why"] == (
        "judged right: Not judged: no judge was asked, and the record brings no score (field judge_binary)."
    )
    assert "field judge_detailed" in told["No value"]


def test_a_corpus_shows_the_answers_that_its_records_bring() -> None:
    entry = Entry.model_validate({"id": 1, "source": "x", "reference": "", **CHAT})
    shown = {line.label: line.text.plain for line in entry_lines(entry, (), "chat", turned=False)}
    assert shown["Turn 2"] == "user: Times three?\nanswer:\nIt is\ntwelve."
    assert {"Source", "Reference", "turns"}.isdisjoint(shown)
    call = Entry.model_validate({"id": 1, "reference": "x\ny", **FUNCTION_CALL})
    labels = [line.label for line in entry_lines(call, (), "function_call", turned=False)]
    assert labels == ["Source", "Reference", "tools", "reference calls", "predicted calls"]


def test_answers_that_are_no_text_are_compared_alone(
    tmp_path: Path,
) -> None:
    path, one = answered(tmp_path, "function_call", [FUNCTION_CALL])
    outputs = tmp_path / "other.txt"
    outputs.write_text("I will wake you.", "utf-8")
    _, other = answered(tmp_path, "function_call", [FUNCTION_CALL], outputs=outputs)
    with closing(open_store(path)) as store:
        found = compare_runs(store, [one.run_id, other.run_id])
        entry = read_entries(store, one.corpus, [0])[0]
        results = [next(iter(read_results(store, run.id))) for run in (one, other)]
    view = ComparisonView("au.bfcl_match_score", 0, 1)
    facts = EntryOfRuns(found, view, 0, entry, results, turned=False)
    labels = [line.label for line in page_lines(facts)]
    assert labels == ["Source", "Reference", "Output of A", "Output of B", "A → B", "", "Scores"]
