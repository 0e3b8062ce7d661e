"""Words with the analyser's verdicts, readable without colour, and explanations, made once by whoever asks."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest

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
from rosetta_tui.entry.record import about
from scoring.core.translation import Acceptance, WordAnalysis
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus
from tests.scoring.analysed import annotation
from tests.tui.entry.explained import HOSTILE_WORDS, WORDS
from tests.tui.scenes import scene


def test_each_verdict_has_its_sign_and_its_words() -> None:
    assert verdicts(WORDS).plain.split("\n") == [
        "↓La virino ≈kīes ✗butikoj",
        (
            "✓ 1 accepted as written   ↓ 1 accepted in lower case   "
            "≈ 1 accepted in the analyser's spelling   ✗ 1 rejected"
        ),
    ]


def test_verdicts_that_do_not_occur_are_not_explained() -> None:
    assert verdicts(WORDS[1:2]).plain == "virino\n✓ 1 accepted as written"


def test_analyses_stand_below_each_other() -> None:
    assert analyses((*WORDS, WORDS[0])).plain.split("\n") == [
        "↓ La       la+Det",
        "✓ virino   virino+N+Sg+Nom",
        "           vir+N+Der/in+Sg+Nom",
        "≈ kīes     kies+Pron+Gen",
        "✗ butikoj  rejected",
    ]


def test_a_word_wider_than_its_column_has_a_line_of_its_own() -> None:
    long = WordAnalysis("malsanulejestrinoj" * 2, Acceptance.AS_WRITTEN, ("x+N", "y+N"))
    assert analyses([long]).plain.split("\n") == [
        "✓ " + long.word,
        " " * 24 + "x+N",
        " " * 24 + "y+N",
    ]


def test_an_acceptor_says_only_that_it_accepts() -> None:
    said = analyses([WordAnalysis("mun", Acceptance.AS_WRITTEN)]).plain
    assert said == "✓ mun  accepted as written; this analyser gives no analyses"


@pytest.mark.parametrize("show", [verdicts, analyses])
def test_of_very_many_words_only_the_first_are_shown(show: object) -> None:
    words = [WordAnalysis(f"w{n}", None) for n in range(MOST_WORDS + 7)]
    said = show(words).plain
    assert "… and 7 more words" in said
    assert f"w{MOST_WORDS - 1}" in said
    assert f"w{MOST_WORDS}" not in said


@pytest.mark.parametrize("show", [verdicts, analyses])
def test_hostile_words_are_harmless(show: object) -> None:
    said = show(HOSTILE_WORDS).plain
    assert "\x1b" not in said
    assert "\u202e" not in said
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


def test_tools_are_made_once_whoever_asks(
    run: tuple[Path, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_an_imported_run_says_why_it_explains_nothing(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=2, stored=2)
    explaining = Explaining(made.path, made.run_id)
    assert explaining.explain(made.entries[0], made.results[0]) is None
    assert explaining.why_not == "the run was imported; only its numbers are here"


def test_a_run_that_is_gone_is_said(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=2, stored=2)
    explaining = Explaining(made.path, "ffffffff-6c1d-4a70-9a52-0123456789ab")
    assert explaining.explain(made.entries[0], made.results[0]) is None
    assert "ffffffff" in (explaining.why_not or "")


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
    "bonvolu": ("bonvoli+V+Imp",),
    "la": ("la+Det",),
    "hundo": ("hundo+N+Sg+Nom",),
    "hundon": ("hundo+N+Sg+Acc",),
    "mi": ("mi+Pron",),
}
