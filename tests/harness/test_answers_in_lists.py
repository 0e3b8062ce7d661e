"""Runs of other tasks than translation: what is stored of them, how they are ranked, and what lists say of them."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from corpora.model.corpus import Corpus
from corpora.model.entry import Entry
from harness.card.checking.verify import verify_card
from harness.card.exporting import ExportForm, export_run
from harness.card.importing import import_card
from harness.compare.comparing import compare_runs
from harness.events.kinds import Progress
from harness.leaderboard.clusters import with_clusters
from harness.leaderboard.ranking import Board, leaderboards
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.file.database import open_store
from harness.store.file.openings import Live
from harness.store.ordering import Ordering
from harness.store.results import read_results
from harness.store.run_list import list_runs
from harness.store.runs import find_run, read_card
from rosetta_tui.compare.lines import comparison_lines
from rosetta_tui.leaderboard.rows import columns, entrant_cells
from rosetta_tui.leaderboard.words import board_words
from rosetta_tui.plots.points import metrics_of
from rosetta_tui.report.unfinished import read_unfinished, unfinished_lines
from rosetta_tui.runs.query import RunQuery
from rosetta_tui.runs.table import RunRows, run_cells, run_words
from rosetta_tui.session.recorded import recorded
from rosetta_tui.show.card_fields import spread_words
from rosetta_tui.show.run_facts import headings, run_line, translates
from scoring.core.columns import TASKS
from scoring.core.metric_rows import title
from tests.harness.evaluation import corpus_of, query, run_corpus

REFERENCES = ["la kato dormas", "la hundo kuras", "la birdo kantas", "la fiŝo naĝas"] * 5


def answers_to(task: str) -> Corpus:
    made = corpus_of(
        [Entry(id=n, source=f"question {n}", reference=text) for n, text in enumerate(REFERENCES)]
    )
    dataset = type(made.dataset).model_validate({**made.dataset.model_dump(), "task": task})
    return Corpus(dataset, made.entries, made.sha256, made.form)


def answer(path: Path, corpus: Corpus, right: int) -> str:
    """Replay answers of which the first ``right`` are the references; gives the run's id."""
    outputs = path.parent / f"right-{right}.jsonl"
    lines = [
        {"id": entry.id, "output": entry.reference if n < right else f"la {n}"}
        for n, entry in enumerate(corpus.entries)
    ]
    outputs.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    options = MethodOptions(source_language="en", target_language="eo", outputs=outputs)
    scoring = ScoringOptions().said_by(corpus.dataset.task)
    plan = Plan(method="replay", options=options, run=RunOptions(offline=True), scoring=scoring)
    heard = run_corpus(path, corpus, plan)
    assert heard.finished.state == "complete", heard.events
    if right == 0:  # one answer for all, and nothing is claimed of it while it goes on
        last = [each for each in heard.events if isinstance(each, Progress)][-1]
        assert (last.claim.caveats, last.claim.limits, last.claim.at_floor) == ((), (), False)
    return heard.finished.run_id


def boards(path: Path) -> list[Board]:
    with closing(open_store(path)) as store:
        return [with_clusters(store, board) for board in leaderboards(store)]


@pytest.mark.parametrize(("task", "by"), [("qa", "lbrag.f1"), ("asr", "au.wer")])
def test_answers_are_ranked_by_their_headline(tmp_path: Path, task: str, by: str) -> None:
    path, corpus = tmp_path / "s.sqlite", answers_to(task)
    worst, best = answer(path, corpus, 2), answer(path, corpus, 20)
    (board,) = boards(path)
    assert (board.by, board.grounds.task, board.grounds.inputs) == (by, task, (by,))
    assert board.grounds.signatures[0], "runs scored otherwise stand apart"
    assert board.ranks == {best: 1, worst: 2}
    assert board.clusters == {best: 1, worst: 2}
    assert board.ranked_by("composite") == board
    cells = entrant_cells(board, board.entrants[0])
    spread = spread_words(board.entrants[1].scores, by).removeprefix("mean ")
    assert spread in [cell.text for cell in entrant_cells(board, board.entrants[1])]
    assert "±" in spread
    assert len(cells) == len(columns(board)) - 1
    assert not any(word in board_words(board)[1] for word in ("composite", "chrF++"))


def test_answers_are_stored_sorted_and_stated(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", answers_to("qa")
    run_id = answer(path, corpus, 5)
    with closing(open_store(path)) as store:
        run = find_run(store, run_id)
        results = list(read_results(store, run.id))
        assert [each.exact for each in results] == [True] * 5 + [False] * 15
        assert [each.headline for each in results[:6]] == [1.0] * 5 + [pytest.approx(0.4)]
        found = Ordering(run.id).positions(store, sort="headline", descending=True, narrow="exact")
        assert list(found) == [0, 1, 2, 3, 4]
        card = read_card(store, run.id)
        assert card is not None
        scores = card["scores"]
        assert scores["composite"] is None
        assert (scores["quality_tier"], scores["floors"]) == ("unscored", {})
        started, progress, _ = recorded(store, run_id)
        assert started.columns.headline == "lbrag.f1"
        assert progress.spread.n == 20
        assert progress.spread.mean == pytest.approx(scores["lbrag.f1"])
        (summary,) = list_runs(store)
        assert "F1 " in " ".join(cell.text for cell in run_cells(summary))
        _, told = run_words(summary)
        assert "F1 " in told
        assert not any(word in told for word in ("composite", "chrF++", "unscored"))
        assert " · cost unknown · " in told


def test_card_brings_values_of_answers_along(tmp_path: Path) -> None:
    here, there = tmp_path / "a.sqlite", tmp_path / "b.sqlite"
    run_id = answer(here, answers_to("qa"), 5)
    card = tmp_path / "card.json"
    with closing(open_store(here)) as store:
        run = find_run(store, run_id)
        card.write_bytes(export_run(store, run.id, ExportForm.CARD))
        ours = [(each.kept, each.output) for each in read_results(store, run.id)]
    assert set(json.loads(card.read_text("utf-8"))["results"][0]["values"]) >= {"lbrag.f1"}
    verdict = verify_card(card.read_bytes())
    assert verdict.ok, verdict.differences
    with closing(open_store(there)) as store:
        import_card(store, card.read_bytes(), card.name)
        run = find_run(store, run_id)
        assert [(each.kept, each.output) for each in read_results(store, run.id)] == ours


def test_answers_are_compared_by_their_headline(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", answers_to("qa")
    few, many = answer(path, corpus, 0), answer(path, corpus, 20)
    with closing(open_store(path)) as store:
        found = compare_runs(store, [few, many], draws=50, trials=50)
    assert not any(pair.left_out.keys() & {"composite"} for pair in found.pairs)
    told = list(comparison_lines(found))
    assert told[1].split()[2] == "F1"
    assert not any(word in "\n".join(told) for word in ("composite", "unscored", "chrF++"))


def test_headline_of_each_task_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "leaderboard.md").read_text("utf-8")
    for task, kept in TASKS.items():
        if task != "translation":
            assert f"| `{task}` | {title(kept.headline)} (`{kept.headline}`) |" in page


def test_lists_of_answers_begin_with_their_score(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", answers_to("asr")
    best, worst = answer(path, corpus, 20), answer(path, corpus, 2)
    with closing(open_store(path)) as store:
        runs = list_runs(store)
    rows = RunRows(runs)
    titles = [column.title for column in rows.columns]
    assert "score" in titles
    assert "chrF++" not in titles
    needs = dict(zip((column.key for column in rows.columns), rows.needs(), strict=True))
    assert needs["composite"] == 0, "an empty column takes no room"
    found = RunQuery(sort="chrf").apply(runs, frozenset())
    assert [run.run_id for run in found] == [best, worst], "of errors few are best"
    assert metrics_of(runs)[0] == "au.wer"


def test_score_so_far_begins_with_what_ranks(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    run_id = answer(path, answers_to("qa"), 5)
    told = [line for line in unfinished_lines(read_unfinished(path, run_id)) if line[:2] == "  "]
    assert told[0].startswith("  F1 ")
    assert "(" in told[0]
    assert " ± " in told[0]
    assert not any("chrF++" in line for line in told)
    with closing(open_store(path)) as store:
        (summary,) = list_runs(store)
    cut = replace(summary, card=None, live=Live(so_far={"lbrag.f1": 0.5}))
    assert headings([cut])[5] == "score"
    assert run_line(cut, named=True)[5:7] == ("F1 0.50 so far", "–")
    query(path, "UPDATE runs SET run_card = NULL, state = 'stopped', live = NULL")
    with closing(open_store(path)) as store:
        (stopped,) = list_runs(store)  # before its first answer: no translation either
    assert not translates(stopped)
    assert headings([stopped])[5] == "score"
    assert run_line(stopped, named=True)[5:7] == ("–", "–")
    assert not any(word in run_words(stopped)[1] for word in ("composite", "chrF++"))


def test_mixed_lists_call_scores_by_one_word(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    answer(path, answers_to("qa"), 5)
    answer(path, answers_to("translation"), 20)
    with closing(open_store(path)) as store:
        runs = list_runs(store)
    rows = RunRows(runs)
    place = [column.key for column in rows.columns].index("chrf")
    assert rows.columns[place].title == headings(runs)[5] == "score"
    shown = [rows.cells(index)[place].text for index in range(2)]
    assert shown == [run_line(run, named=True)[5] for run in runs]
    assert sorted(text.split()[0] for text in shown) == ["F1", "chrF++"]
    assert rows.needs()[place] >= max(map(len, shown))
    alone = RunRows([run for run in runs if translates(run)])
    assert alone.cells(0)[place].text == "100.0 (100.0–100.0)"
