"""The entry screen: the texts, how they differ, what they scored, how the output came about."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from corpora.model.entry import Entry, Segment
from harness.method.method import Result
from harness.method.options import MethodOptions
from harness.run import rescoring
from harness.run.rescoring import Explanation
from harness.setup.plan import Plan, RunOptions
from harness.store.corpora.entries import shown_entries
from harness.store.results import read_results
from harness.store.runs import Run, find_run
from harness.store.sqlite.database import open_store
from rosetta_tui.corpus.detail_screens import entry_lines
from rosetta_tui.entry.explaining import MOST_WORDS, Explaining, analyses, differences, verdicts
from rosetta_tui.entry.record import LEGEND, about, answers_in_row, field_words
from rosetta_tui.entry.screen import EntryScreen
from scoring.core.setup import Acceptance, WordAnalysis
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus
from tests.review.thorough import examples
from tests.scoring.analysed import annotation
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
from tests.tui.entry.explained import HOSTILE_WORDS, WORDS, Known, why
from tests.tui.scenes import CREE, Scene, entries_of, scene
from tests.tui.screens import App, at_rest, press, settle, text


@asynccontextmanager
async def opened(
    made: Scene, index: int, explaining: Explaining | None = None, *, watch: bool = False
) -> AsyncIterator[tuple[App, Pilot[Any]]]:
    async with at_rest(App(made, watch=watch), (120, 60)) as (app, pilot):
        app.push_screen(entry_screen(made, index, explaining))
        await settle(pilot)
        yield app, pilot


def entry_screen(made: Scene, index: int, explaining: Explaining | None = None) -> EntryScreen:
    run = find_run(made.store, made.run_id)
    explaining = explaining or Explaining(made.path, run.run_id)
    return EntryScreen(made.store, run, run.positions, index, made.missing, explaining)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Scene]:
    with closing(scene(tmp_path / "s.sqlite", total=24, stored=20)) as opened:
        yield opened


async def test_entry_says_everything_about_itself(made: Scene) -> None:
    async with opened(made, 1) as (app, pilot):
        for words in (
            "Entry 2   2 of 24   difficulty 2 · development · elicited · formal · declaration",
            "La virino, kies filo [iras→iris] al la [butiko→vendejo], estas mia [instruisto→instruistino].",
            "exact no · equivalent no · chrF++ 69.9",
            "repair: not among the metrics of this run",
            "mi vid-as la hund-o-n",
            "With two lines.",
            "1. 200 in 1.00 s",
            "202 tokens · cost $0.0002",
        ):
            assert words in text(app)
        assert "SRO" not in text(app), "other languages have no other writing"
        await press(pilot, "v")
        assert "converted" not in text(app)
        await press(pilot, "left", "left")
        assert "1 of 24" in text(app)
        app.push_screen(entry_screen(made, 22))
        await settle(pilot)
        await press(pilot, "right", "right", "right")
        assert "24 of 24" in text(app)
        assert "not yet" in text(app)


async def test_prompt_and_reply_open_and_close(made: Scene) -> None:
    prompt = "Answer with the translation only."
    async with opened(made, 3) as (app, pilot):
        assert prompt not in text(app)
        await press(pilot, "p", "r")
        for words in (prompt, '{"model": "qwen2.5-7b", "temperature": 0}', "Reply 2"):
            assert words in text(app)
        await press(pilot, "p", "r")
        assert "Reply 2" not in text(app)
        await press(pilot, "p")
        assert prompt in text(app)
        await press(pilot, "escape")
        assert isinstance(app.screen, EntryScreen)
        assert prompt not in text(app)
        await press(pilot, "escape")
        assert not isinstance(app.screen, EntryScreen)


@pytest.mark.thorough
async def test_attempts_of_outputs_made_elsewhere_are_recorded_ones(made: Scene) -> None:
    made.store.execute("UPDATE results SET trace = NULL")
    async with at_rest(App(made), (120, 60)) as (app, pilot):
        for sha256 in (None, "ab" * 32):
            change = "UPDATE runs SET setup = json_set(setup, '$.outputs_sha256', ?)"
            made.store.execute(change, (sha256,))
            app.push_screen(entry_screen(made, 1))
            await settle(pilot)
            assert ("made elsewhere" in text(app)) is (sha256 is not None)
            assert ("nothing was called" in text(app)) is (sha256 is None)


async def test_the_output_is_copied_but_not_that_of_a_secret_entry(tmp_path: Path) -> None:
    entries = entries_of(CREE, 2)
    entries[1] = entries[1].model_copy(update={"segment": Segment.GOLD_STANDARD})
    made = scene(tmp_path / "s.sqlite", entries=entries, stored=2, pairs=CREE, outputs=["ᓂᐚ\x1bᐸ", "secret"])
    async with opened(made, 0) as (app, pilot):
        await pilot.press("y")
        assert app.clipboard == "ᓂᐚ␛ᐸ"
        await press(pilot, "right")
        await pilot.press("y")
        assert app.clipboard == "ᓂᐚ␛ᐸ"


async def test_why_stands_below_the_scores_and_analyses_open(made: Scene) -> None:
    async with opened(made, 1, Known(made, why())) as (app, pilot):
        shown = text(app)
        for words in (
            "FST: Three of four words are known.",
            "↓La virino ≈kīes ✗butikoj",
            "✓ 1 accepted as written",
            "“iras”: present instead of past.",
        ):
            assert words in shown
        places = [shown.index(label) for label in ("Scores", "Why", "Words", "Word forms", "Notes")]
        assert places == sorted(places)
        assert "a Analyses" in text(app)
        assert "vir+N+Der/in+Sg+Nom" not in text(app)
        await press(pilot, "a")
        assert text(app).count("vir+N+Der/in+Sg+Nom") == 2
        assert "Reference words" in text(app)
        await press(pilot, "escape")
        assert "vir+N+Der/in+Sg+Nom" not in text(app)


async def test_entry_is_explained_once_and_a_failed_one_never(made: Scene) -> None:
    explaining = Known(made, why())
    async with opened(made, 10, explaining) as (app, pilot):
        for key in ("right", "left", "p", "p", "right"):
            await press(pilot, key)
        assert "timeout: No answer within 60 s." in text(app)
        assert "6. – in 60.0 s after 32.0 s of waiting" in text(app)
        assert "Why" not in text(app)
        assert explaining.asked == [11]


async def test_what_cannot_be_explained_is_said_once(made: Scene) -> None:
    explaining = Known(made, None, "the analyser is gone")
    async with opened(made, 1, explaining) as (app, pilot):
        assert "Not here: the analyser is gone" in text(app)
        assert "a Analyses" not in text(app)
        await press(pilot, "right")
        assert "the analyser is gone" not in text(app)
        assert explaining.asked == [2]


async def test_cree_is_shown_in_the_other_writing_and_says_so(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=2, stored=2, pairs=CREE, target="crk")
    async with opened(made, 0) as (app, pilot):
        assert "ᓂᐚᐸᒫᐤ   = reference" in text(app)
        await press(pilot, "right")
        assert "niwa\u0302pama\u0302na\u0302n atim" in text(app), "stacked marks as they are"
        assert "v SRO/syllabics" in text(app)
        await press(pilot, "v")
        assert "ᓂᐚᐸᒫᓈᐣ ᐊᑎᒼ   converted into syllabics" in text(app)
        assert "We see the dog." in text(app)
        await press(pilot, "left")
        assert "niwâpamâw   converted into roman letters (SRO)   = reference" in text(app)
        await press(pilot, "v")
        assert "ᓂᐚᐸᒫᐤ   = reference" in text(app)
        assert "converted" not in text(app)


@pytest.mark.thorough
async def test_a_difference_that_the_other_writing_hides_is_told(tmp_path: Path) -> None:
    pair = ("I see him.", "niwâpamâw", "Niwāpamāw see")
    close = ("I see him.", "niwâpamâw", "Niwāpamāw")
    made = scene(tmp_path / "s.sqlite", total=2, stored=2, pairs=(close, pair), target="crk")
    async with opened(made, 0) as (app, pilot):
        assert "the same after conversion" not in text(app)
        await press(pilot, "v")
        assert "the same after conversion" in text(app)
        await press(pilot, "right")
        assert "the same after conversion" not in text(app)
        assert "ᓂᐚᐸᒫᐤ [-see-]" in text(app)


# Words with the analyser's verdicts, readable without colour, and explanations


def test_verdicts_have_signs_and_only_those_that_occur_are_explained() -> None:
    assert verdicts(WORDS).plain.split("\n") == [
        "↓La virino ≈kīes ✗butikoj",
        (
            "✓ 1 accepted as written   ↓ 1 accepted in lower case   "
            "≈ 1 accepted in the analyser's spelling   ✗ 1 rejected"
        ),
    ]
    assert verdicts(WORDS[1:2]).plain == "virino\n✓ 1 accepted as written"


def test_analyses_stand_below_each_other_a_long_word_alone() -> None:
    assert analyses((*WORDS, WORDS[0])).plain.split("\n") == [
        "↓ La       la+Det",
        "✓ virino   virino+N+Sg+Nom",
        "           vir+N+Der/in+Sg+Nom",
        "≈ kīes     kies+Pron+Gen",
        "✗ butikoj  rejected",
    ]
    long = WordAnalysis("malsanulejestrinoj" * 2, Acceptance.AS_WRITTEN, ("x+N", "y+N"))
    indent = " " * 24
    assert analyses([long]).plain == f"✓ {long.word}\n{indent}x+N\n{indent}y+N"
    said = analyses([WordAnalysis("mun", Acceptance.AS_WRITTEN)]).plain
    assert said == "✓ mun  accepted as written; this analyser gives no analyses"


@pytest.mark.parametrize("show", [verdicts, analyses])
def test_words_are_harmless_and_very_many_are_cut(show: object) -> None:
    said = show([WordAnalysis(f"w{n}", None) for n in range(MOST_WORDS + 7)]).plain
    assert "… and 7 more words" in said
    assert f"w{MOST_WORDS - 1}" in said
    assert f"w{MOST_WORDS}" not in said
    said = show(HOSTILE_WORDS).plain
    assert not set("\x1b\u202e") & set(said)
    assert "[/foo] text" in said


def test_dialect_and_spelling_system_stand_on_the_page() -> None:
    """An entry without them has no line for them."""
    plain = Entry(id=1, source="dog", reference="kurī")
    tagged = plain.model_copy(update={"variety": "Waikato\x1b[2J", "orthography": "1994"})
    assert [line.label for line in about(plain)] == []
    assert [(line.label, line.text.plain) for line in about(tagged)] == [
        ("Variety", "Waikato␛[2J"),
        ("Orthography", "1994"),
    ]


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
        entry = shown_entries(connection, run.corpus, [0])[0]
        return entry, next(iter(read_results(connection, run.id, [0])))


def test_metrics_say_what_an_entry_lost_by(run: tuple[Path, Run]) -> None:
    explaining = Explaining(run[0], run[1].run_id)
    why = explaining.explain(*first(*run))
    explaining.close()
    assert why is not None
    assert explaining.why_not is None
    assert "{name}" in " ".join(why.sentences["compliance_index"])


def test_tools_are_made_once(run: tuple[Path, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Counted(rescoring.Explainer):
        def __init__(self, *given: object) -> None:
            made.append(threading.get_ident())
            super().__init__(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(rescoring, "Explainer", Counted)
    explaining = Explaining(run[0], run[1].run_id)
    asked = first(*run)
    told: list[object] = []
    threads = [threading.Thread(target=lambda: told.append(explaining.explain(*asked))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(told) == 4
    assert None not in told
    explaining.close()
    assert explaining.explain(*asked) is None


def test_imported_run_and_a_gone_one_say_why_nothing_is_explained(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=2, stored=2)
    gone = "ffffffff-6c1d-4a70-9a52-0123456789ab"
    for run_id, words in ((made.run_id, "the run was imported; only its numbers are here"), (gone, gone[:8])):
        explaining = Explaining(made.path, run_id)
        assert explaining.explain(made.entries[0], made.results[0]) is None
        assert words in (explaining.why_not or "")


def test_the_words_of_an_entry_are_named_once() -> None:
    """The metric says what its words lack; the word forms tell of the others only."""
    words = annotation("bonvolu la hundo xyzzy", "la hundon mi", LEXICON)
    said = ("2 of 3 expected lemmas and tags are there.", "“hundo”: base form.", "“Mi” is missing.")
    found = Explanation({"morphological_accuracy": said}, words)
    assert differences(found) == (
        "“bonvolu” has no counterpart in the reference.",
        "“xyzzy” has no counterpart in the reference, and the analyser does not know it.",
    )
    assert len(differences(Explanation({}, words))) == 4
    assert differences(Explanation({}, None)) == ()


LEXICON = {
    "bonvolu": ("bonvoli+V+Imp",), "la": ("la+Det",), "hundo": ("hundo+N+Sg+Nom",),
    "hundon": ("hundo+N+Sg+Acc",), "mi": ("mi+Pron",),
}  # fmt: skip


# Fields of records

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def test_evidence_and_turns_stand_one_after_the_other() -> None:
    evidence = [{"text": "La kato sidas.", "token_count": 4}, {"text": "Ĝi dormas."}]
    assert field_words(evidence) == '1. La kato sidas.   {"token_count": 4}\n2. Ĝi dormas.'
    turns = [{"user": "Saluton!", "assistant": "Sal."}, {"user": "Kiu?", "reference": "Mi."}]
    said = "1. user: Saluton!\n   assistant: Sal.\n2. user: Kiu?\n   reference: Mi."
    assert field_words(turns) == said
    assert field_words("a text") == "a text"
    assert field_words([{"name": "f"}, {"name": "g"}]) == '1. {"name": "f"}\n2. {"name": "g"}'
    assert field_words({"hotel": {"name": "x"}}) == '{"hotel": {"name": "x"}}'


TOOL = {
    "name": "set_alarm", "description": "Wake somebody.",
    "parameters": {"type": "object", "properties": {"hour": {}, "label": {}}, "required": ["hour"]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "piece", "words"),
    [
        ("tools", TOOL, "set_alarm(hour, label?)   Wake somebody."),
        ("tools", {"name": "stop", "parameters": {}}, "stop()"),
        ("tools", {"name": "stop", "parameters": {"type": "object"}}, "stop()"),
        ("tools", {"name": "f", "parameters": {"a": 1}}, '{"name": "f", "parameters": {"a": 1}}'),
        ("tools", {"name": "f", "parameters": [1]}, '{"name": "f", "parameters": [1]}'),
        ("tools", {"parameters": {}}, '{"parameters": {}}'), ("tools", "f", "f"),
        ("instructions", {"id": "a:b", "kwargs": {}}, "a:b"),
        (
            "instructions", {"id": "a:b", "kwargs": {"relation": "at least", "words": ["x", "ᓂᐚ"]}},
            'a:b   relation: at least, words: ["x", "ᓂᐚ"]',
        ),
        ("instructions", {"id": "a:b", "note": 1}, 'a:b   {"note": 1}'),
        ("instructions", {"id": "a:b", "kwargs": [1]}, 'a:b   {"kwargs": [1]}'),
    ],
)  # fmt: skip
def test_tools_and_instructions_are_one_line_each(field: str, piece: Any, words: str) -> None:
    entry = Entry.model_validate({"id": 1, "source": "s", "reference": "r", field: [piece, piece]})
    assert [line.text.plain for line in about(entry)] == [f"1. {words}\n2. {words}"]


def test_a_row_has_the_answers_of_a_conversation_and_other_outputs_as_they_are() -> None:
    plain = Entry.model_validate({"id": 1, "source": "s", "reference": "r"})
    chat = Entry.model_validate({"id": 1, "source": "s", "reference": "r", "turns": [{"user": "s"}]})
    assert answers_in_row(chat, '["4", "It is twelve."]') == "4\n\nIt is twelve."
    for output in ("no list", "[1]", "[]", ""):
        assert answers_in_row(chat, output) == output
    assert answers_in_row(plain, '["4"]') == '["4"]'


@given(JSON)
@examples(20, 100)
def test_whatever_a_record_holds_is_words(value: Any) -> None:
    assert isinstance(field_words(value), str)


# Where the corpus asks for something else than translations


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "data"))


def page(path: Path, run: Run, place: int = 0) -> dict[str, str]:
    """Return the whole page of an entry, label → text, as it stands when it is explained."""
    with closing(open_store(path)) as store:
        explaining = Explaining(path, run.run_id)
        screen = EntryScreen(store, run, run.positions, place, run.opening.missing, explaining)
        facts = screen._pages.facts(place)  # as its page does; no app runs here
        assert facts is not None
        assert facts.result is not None
        found = explaining.explain(facts.entry, facts.result)
        assert found is not None, explaining.why_not
        explaining.known[place] = found  # as its thread does
        explaining.close()
        shown = screen._lines(facts)  # what its page shows
        lines = [(line.label, line.text.plain) for line in shown]
    assert len(dict(lines)) == len(lines)
    return dict(lines)


@pytest.mark.parametrize(("task", "record", "wanted", "absent"), [
    ("diarization", DIARIZATION, {
        "Output": "S1: shall we begin yes please\nS2: I am very late",
        "Difference": "Anna ← S1  shall we begin [-yes-] [-please-]\nBen        [+yes+] [+please+]\n"
        f"Eve ← S2   i am [-very-] late\n{LEGEND}",
    }, {"audio", "predicted"}),
    ("chat", CHAT, {
        "Turn 1": "user: Two plus two?\nanswer: 4\nreference: 4",
        "Turn 2": "user: Times three?\nanswer:\nIt is\ntwelve.",
        "Why": "conversations:\n  The judge gave 9 of 10.\n  Turn 1: 10.\n  Turn 2: 8.",
    }, {"Source", "Output", "Difference", "turns", "predicted"}),
    ("function_call", FUNCTION_CALL, {
        "Difference": f'alarm hour  ["6"→6]\n{LEGEND}', "tools": "1. alarm(hour?)",
        "Why": "calls: alarm: the value of hour is not allowed.",
    }, {"reference_call", "predicted_call", "reference calls", "predicted calls"}),
    ("ifeval", INSTRUCTIONS, {
        "Output": "<<Trees>>\n* They grow, slowly\n* They give shade\n* They burn",
        "Why": "instructions:\n  detectable_format:title: kept.\n"
        "  detectable_format:number_bullet_lists: kept.\n  punctuation:no_comma: not kept.",
        "instructions": "1. detectable_format:title\n2. detectable_format:number_bullet_lists"
        "   num_bullets: 3\n3. punctuation:no_comma",
    }, {"Reference", "Difference", "predicted", "No value"}),
    ("multiple_choice", CHOICE, {
        "Difference": f"option  [C→B]\n{LEGEND}", "Why": "choice: Read as C.",
        "choices": "A. trout\nB. whale\nC. gull",
    }, {"predicted"}),
    ("math", MATH, {"Output": r"\boxed{\frac{3}{2}}   ✓ right", "Difference": "number  3/2"}, {"predicted"}),
    ("dialogue_state", STATE, {
        "Source": STATE["source"],
        "Difference": "hotel price    [moderate→cheap]\nhotel parking  [+yes+]\n"
        f"hotel stars    [-4-]\n{LEGEND}",
    }, {"reference state", "predicted state"}),
    ("response", RESPONSE, {}, {"Reference", "Difference", "predicted", "No value"}),
])  # fmt: skip
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
    assert refused["Why"].startswith("SQL result: The query fails: not authorized. A query may only")
    assert page(path, run, 2)["Output"].endswith("✓ right")


@pytest.mark.parametrize("said", [{"score": None, "reason": "the reply is empty"}, None])
def test_judgement_and_its_cost_are_shown(said: dict[str, Any] | None, tmp_path: Path) -> None:
    path, run = answered(tmp_path, "judged", JUDGED)
    told = "Lima is [/]meant:\x1b[2J\nCusco lies elsewhere."
    judge(path, run, "judge_binary", {"score": 0, "explanation": told}, said, cost=None)
    first, second = page(path, run), page(path, run, 1)
    assert first["Why"] == ("judged right:\n  The judge gave 0 of 1.\n  Lima is [/]meant:␛[2J\n  Cusco lies elsewhere.")
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
