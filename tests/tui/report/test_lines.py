"""A run as lines: complete for machines, harmless for terminals, silent about secrets."""

from __future__ import annotations

import dataclasses
import json
import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.corpus import Dataset
from harness.core.failures import ErrorClass
from harness.core.run_state import RunState
from harness.events.kinds import (
    EntryScored,
    Event,
    Failed,
    Finished,
    Progress,
    Started,
    Waiting,
)
from harness.method.method import MethodClass, Result, Setup
from harness.store.file.openings import Floor, ScoringSoFar
from rosetta_tui.report.run import JsonLines, PlainLines, entry_line, finished_line
from tests.review.thorough import examples

HOSTILE = "[red]x[/] \x1b[2J\x1b]0;title\x07 \x9b31m \u202eevil\u2066 \r\n\x00 \u2028 ᓀᐦᐃᔭᐍᐏᐣ"

SETUP = Setup(
    method="chat", method_class=MethodClass.RAW_LLM, method_version="1", model_slug=HOSTILE,
    condition="baseline",
)  # fmt: skip
DATASET = Dataset.model_validate(
    {"id": HOSTILE, "language_pair": "EN→CRK", "source_language": "en", "target_language": "crk",
     "theirs": [HOSTILE]}
)  # fmt: skip


def result(position: int = 0, **more: Any) -> Result:
    fields: dict[str, Any] = {
        "entry_id": HOSTILE, "output": HOSTILE, "statistics": b"\xff\x00", "headline": 51.25,
        "exact": False, "second": 0.5,
    }  # fmt: skip
    return Result(position=position, **(fields | more))


STARTED = Started("r", SETUP, DATASET, (0, 2), 1, (Floor("empty", 0.1, None),), {"bleu": HOSTILE},
                  2.5, 1e9)  # fmt: skip
PROGRESS = Progress(
    "r", RunState.PAUSED, 12.5, 10, 4, 1, (5, 6), (Waiting(7, 2, 6, 1.5, "429"),), 4, 8, 3, 2,
    values={"chrf_plus_plus": 50.0, "bleu": None}, intervals={"chrf_plus_plus": (40.0, 60.0)},
    cost_usd=None, tokens=7, eta_seconds=3.0,
)  # fmt: skip
FAILED_ENTRY = result(1, output=None, error_class=ErrorClass.SERVER, error=HOSTILE, headline=0.0)
EVENTS: list[Event] = [
    STARTED, EntryScored("r", result()), EntryScored("r", FAILED_ENTRY), PROGRESS,
    Finished("r", RunState.STOPPED, 4, 1, 10, 12.5, None, HOSTILE),
    Finished("r", RunState.COMPLETE, 10, 1, 10, 12.5, "ab" * 32), Failed("r", HOSTILE),
]  # fmt: skip


def written(listener: type[PlainLines] | type[JsonLines], *events: Event, **more: Any) -> list[str]:
    lines: list[str] = []
    told = listener(lines.append, **more)
    for event in events:
        told(event)
    return lines


def harmless(line: str) -> bool:
    """Nothing in it can move a cursor, break the line, or turn the direction of writing."""
    kinds = {"Cc", "Cs", "Zl", "Zp"}
    directions = set("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    return not any(unicodedata.category(char) in kinds or char in directions for char in line)


def strict(line: str) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(line, parse_constant=refuse)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_every_event_is_one_line_of_json_that_lacks_nothing(event: Event) -> None:
    [line] = written(JsonLines, event, secret=set())
    assert harmless(line)
    fields = strict(line)
    assert fields["event"] == type(event).__name__
    wanted = {field.name for field in dataclasses.fields(event)}
    if isinstance(event, EntryScored):
        wanted = {field.name for field in dataclasses.fields(Result)} - {"statistics"} | {"run_id"}
        wanted = wanted - {"headline", "second", "third"} | {"chrf", "composite", "equivalent"}
    if isinstance(event, Started):
        wanted -= {"columns"}  # said of other tasks than translations only
    if isinstance(event, Progress):
        wanted -= {"spread", "scoring"}  # where there is something to say
    assert wanted <= fields.keys()


def test_the_figures_come_through_unchanged() -> None:
    fields = strict(written(JsonLines, PROGRESS, secret=set())[0])
    assert (fields.pop("event"), fields.pop("version")) == ("Progress", 1)
    fields["waiting"] = tuple(Waiting(**waiting) for waiting in fields["waiting"])
    fields["intervals"] = {name: tuple(pair) for name, pair in fields["intervals"].items()}
    fields["in_flight"] = tuple(fields["in_flight"])
    assert Progress(**fields) == PROGRESS
    row = strict(written(JsonLines, EntryScored("r", result()), secret=set())[0])
    assert row["output"] == HOSTILE
    assert row["quality_tier"] == "functional"
    started = strict(written(JsonLines, STARTED, secret=set())[0])
    assert started["dataset"]["theirs"] == [HOSTILE]
    assert Setup.model_validate(started["setup"]) == SETUP


@given(st.text())
@examples(50, 200)
def test_any_output_survives_json_and_harms_no_terminal(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    [line] = written(JsonLines, EntryScored("r", result(output=text)), secret=set())
    assert strict(line)["output"] == text
    assert harmless(line)


def test_a_secret_output_is_withheld_and_says_so() -> None:
    scored = EntryScored("r", result(5, output="the medicine bundle"))
    [line] = written(JsonLines, scored, secret={5})
    assert "medicine" not in line
    assert (strict(line)["output"], strict(line)["withheld"]) == (None, True)
    assert "withheld" not in strict(written(JsonLines, scored, secret={4})[0])


def test_plain_lines_are_harmless_and_hold_no_text_of_an_entry() -> None:
    lines = written(PlainLines, *EVENTS)
    assert all(map(harmless, lines))
    assert any("ᓀᐦᐃᔭᐍᐏᐣ" in line for line in lines)
    assert any("[red]x[/]" in line for line in lines)
    entry = result(entry_id=1, output="the medicine bundle")
    assert "medicine" not in "".join(written(PlainLines, EntryScored("r", entry)))


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
@examples(50, 200)
def test_no_message_of_an_endpoint_breaks_out_of_its_line(message: str) -> None:
    entry = EntryScored("r", result(output=None, error_class=ErrorClass.SERVER, error=message))
    stopped = Finished("r", RunState.STOPPED, 0, 1, 1, 1.0, None, message)
    [line] = written(PlainLines, entry, Failed("r", message), stopped)
    assert harmless(line)
    assert harmless(finished_line(stopped))


@pytest.mark.parametrize(
    ("row", "line"),
    [
        (
            result(entry_id=7, headline=51.25, latency_seconds=1.234, cost_usd=0.0005,
                   prompt_tokens=20, completion_tokens=10),
            "done    7  chrF++  51.2  not exact  functional      30 tokens  cost $0.0005    1.23 s",
        ),
        (
            result(entry_id="a", exact=True, second=0.95, cached=True, cost_usd=0.0),
            "done    a  chrF++  51.2  exact      fluent      cost free     from the cache",
        ),
        (
            result(entry_id=8, output=None, error_class=ErrorClass.TIMEOUT, error="No reply."),
            "failed  8  timeout: No reply.",
        ),
    ],
)  # fmt: skip
def test_an_entrys_line(row: Result, line: str) -> None:
    assert entry_line(row) == line


def test_unknown_cost_is_not_free_and_little_is_not_nothing() -> None:
    known = replace(PROGRESS, known_cost_usd=0.036)
    assert "cost at least $0.0360" in written(PlainLines, known)[-1]
    assert "cost unknown" in written(PlainLines, PROGRESS)[-1]
    assert json.loads(written(JsonLines, known, secret=())[-1])["known_cost_usd"] == 0.036
    costs = {None: "cost unknown", 0.0: "cost free", 0.000012: "cost $0.000012"}
    assert all(entry_line(result(cost_usd=cost)).endswith(words) for cost, words in costs.items())


def test_entries_read_as_a_table() -> None:
    rows = [
        result(0, entry_id=7, headline=100.0, exact=True, second=1.0),
        result(1, entry_id=1234, headline=5.04, second=0.01),
        result(2, entry_id="long-name", headline=None, second=None),
        result(3, entry_id="x" * 4000),
        result(4, entry_id=8),
    ]
    started = replace(STARTED, positions=tuple(range(5000)), done=0)
    lines = written(PlainLines, started, *(EntryScored("r", row) for row in rows))[2:]
    assert [line.index("chrF++") for line in lines] == [14, 14, 19, 4010, 34]
    assert len({line.index("cost") - line.index("chrF++") for line in lines}) == 1


def test_a_stopped_run_says_why_and_how_it_goes_on() -> None:
    line = finished_line(Finished("abcdefgh-1", RunState.STOPPED, 4, 1, 10, 1.0, None, "Why."))
    assert line == (
        "stopped: 4 of 10 entries are stored, 1 failed. Why. "
        "`rosetta resume abcdefgh --retry-failed` goes on."
    )
    spent = Finished("abcdefgh-1", RunState.STOPPED, 4, 0, 10, 1.0, budget_reached=True)
    assert finished_line(spent).endswith("`rosetta resume abcdefgh --budget USD` goes on.")


def test_progress_is_told_now_and_then_and_a_last_step_once() -> None:
    times = [0.0, 1.0, 4.9, 5.1, 6.0, 10.2, 11.0]
    events = [replace(PROGRESS, elapsed_seconds=time) for time in times]
    assert len(written(PlainLines, *events)) == 2
    steps = ["asking embeddings", "asking embeddings", "scoring the whole\x1b", None]
    events = [replace(PROGRESS, doing=doing, elapsed_seconds=0.1) for doing in steps]
    assert written(PlainLines, *events) == ["-- asking embeddings", "-- scoring the whole␛"]


def test_what_scoring_asked_for_is_an_object_and_absent_before() -> None:
    asked = ScoringSoFar(calls=3, cost_usd=None, known_cost_usd=0.5, failed=1)
    fields = strict(written(JsonLines, replace(PROGRESS, scoring=asked), secret=set())[0])
    told = {"calls": 3, "cost_usd": None, "known_cost_usd": 0.5, "failed": 1}
    assert fields["scoring"] == told
    assert "scoring" not in strict(written(JsonLines, PROGRESS, secret=set())[0])
