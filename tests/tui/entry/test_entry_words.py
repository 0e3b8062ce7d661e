"""Words with the analyser's verdicts, readable without colour, and explanations, made once by whoever asks."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from harness.method.method import Result
from harness.method.options import MethodOptions
from harness.run import rescoring
from harness.run.rescoring import Explanation
from harness.setup.plan import Plan, RunOptions
from harness.store.corpora.entries import read_entries
from harness.store.file.database import open_store
from harness.store.results import read_results
from harness.store.runs import Run, find_run
from rosetta_tui.entry.explaining import MOST_WORDS, Explaining, analyses, differences, verdicts
from rosetta_tui.entry.record import about, answers_in_row, field_words
from scoring.core.translation import Acceptance, WordAnalysis
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus
from tests.review.thorough import examples
from tests.scoring.analysed import annotation
from tests.tui.entry.explained import HOSTILE_WORDS, WORDS
from tests.tui.scenes import scene


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
        entry = read_entries(connection, run.corpus, [0])[0]
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


def test_imported_run_and_a_gone_one_say_why_nothing_is_explained(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=2, stored=2)
    gone = "ffffffff-6c1d-4a70-9a52-0123456789ab"
    for run_id, words in (
        (made.run_id, "the run was imported; only its numbers are here"),
        (gone, gone[:8]),
    ):
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
    "name": "set_alarm",
    "description": "Wake somebody.",
    "parameters": {"type": "object", "properties": {"hour": {}, "label": {}}, "required": ["hour"]},
}


@pytest.mark.parametrize(
    ("field", "piece", "words"),
    [
        ("tools", TOOL, "set_alarm(hour, label?)   Wake somebody."),
        ("tools", {"name": "stop", "parameters": {}}, "stop()"),
        ("tools", {"name": "stop", "parameters": {"type": "object"}}, "stop()"),
        ("tools", {"name": "f", "parameters": {"a": 1}}, '{"name": "f", "parameters": {"a": 1}}'),
        ("tools", {"name": "f", "parameters": [1]}, '{"name": "f", "parameters": [1]}'),
        ("tools", {"parameters": {}}, '{"parameters": {}}'),
        ("tools", "f", "f"),
        ("instructions", {"id": "a:b", "kwargs": {}}, "a:b"),
        (
            "instructions",
            {"id": "a:b", "kwargs": {"relation": "at least", "words": ["x", "ᓂᐚ"]}},
            'a:b   relation: at least, words: ["x", "ᓂᐚ"]',
        ),
        ("instructions", {"id": "a:b", "note": 1}, 'a:b   {"note": 1}'),
        ("instructions", {"id": "a:b", "kwargs": [1]}, 'a:b   {"kwargs": [1]}'),
    ],
)
def test_tools_and_instructions_are_one_line_each(field: str, piece: Any, words: str) -> None:
    entry = Entry.model_validate({"id": 1, "source": "s", "reference": "r", field: [piece, piece]})
    assert [line.text.plain for line in about(entry)] == [f"1. {words}\n2. {words}"]


def test_a_row_has_the_answers_of_a_conversation_and_other_outputs_as_they_are() -> None:
    plain = Entry.model_validate({"id": 1, "source": "s", "reference": "r"})
    chat = Entry.model_validate(
        {"id": 1, "source": "s", "reference": "r", "turns": [{"user": "s"}]}
    )
    assert answers_in_row(chat, '["4", "It is twelve."]') == "4\n\nIt is twelve."
    for output in ("no list", "[1]", "[]", ""):
        assert answers_in_row(chat, output) == output
    assert answers_in_row(plain, '["4"]') == '["4"]'


@given(JSON)
@examples(20, 100)
def test_whatever_a_record_holds_is_words(value: Any) -> None:
    assert isinstance(field_words(value), str)
