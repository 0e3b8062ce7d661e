"""What may be ranked together is, and nothing else; runs of other tasks than translation in boards, lists and stores."""

import json
from contextlib import closing
from functools import partial
from math import log2
from pathlib import Path
from typing import Any

import pytest

from corpora.model.corpus import Corpus
from corpora.model.entry import Entry, Segment
from harness.card.checking.verify_card import verify_card
from harness.card.exporting import ExportForm, card_bytes, export_run
from harness.card.importing import import_card
from harness.card.rows import load_card
from harness.compare.against_best import SharedRuns
from harness.compare.comparing import compare_runs
from harness.core.failures import UsageError
from harness.core.query import parse
from harness.leaderboard.board_clusters import with_clusters
from harness.leaderboard.ranking import Board, apart, leaderboards
from harness.method.options import MethodOptions
from harness.run.events import Progress
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.ordering import Ordering
from harness.store.results import read_results
from harness.store.run_list import list_runs
from harness.store.runs import find_run, read_card
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import Live
from rosetta_tui.compare.lines import comparison_lines
from rosetta_tui.leaderboard.rows import board_words, columns, entrant_cells, place_words
from rosetta_tui.report.run import read_unfinished, unfinished_lines
from rosetta_tui.runs.table import RunRows, run_cells, run_words, shown_runs
from rosetta_tui.session.recorded import recorded
from rosetta_tui.show.card_fields import spread_words
from rosetta_tui.show.run_facts import headings, run_line, translates
from rosetta_tui.toolkit.ordered_table import RowOrder
from scoring.core.inventory import title
from scoring.core.specification import TASKS
from tests.harness.evaluation import FEW, corpus_of, query, run_corpus
from tests.harness.ranked import entries, ranked_corpus, run_number
from tests.harness.ranked import play as play_whole
from tests.harness.sealed.refusals import refuses

play = partial(play_whole, metrics=FEW)


def boards(path: Path, dataset: str | None = None) -> list[Board]:
    with closing(open_store(path)) as store:
        return [with_clusters(store, board) for board in leaderboards(store, dataset)]


def ids(board: Board) -> list[str]:
    return [each.run.run_id for each in board.entrants]


def test_runs_over_the_same_entries_are_one_list(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    middle = play(path, corpus, 10, "b", cost=0.001)
    worst = play(path, corpus, 0, "c", cost=0.0)
    best = play(path, corpus, 20, "a", cost=None)
    (board,) = boards(path)
    assert ids(board) == [best, middle, worst]
    assert board.ranks == {best: 1, middle: 2, worst: 3}
    assert (board.entries, board.corpus_entries) == (20, 20)
    assert (board.segments, board.official) == (("development",), False)
    assert board.grounds.sha256 == corpus.sha256
    by_id = {each.run.run_id: each for each in board.entrants}
    paid, free, unknown = by_id[middle], by_id[worst], by_id[best]
    assert paid.composite is not None
    assert paid.cost_per_entry_usd == pytest.approx(0.001)
    assert paid.cost_adjusted == pytest.approx(paid.composite / log2(1 + 0.001 * 1000))
    assert (free.cost_per_entry_usd, free.cost_adjusted) == (0.0, None)
    assert (unknown.cost_per_entry_usd, unknown.cost_adjusted) == (None, None)
    assert "version:" in paid.chrf_signature
    assert paid.avg_latency_seconds == pytest.approx(0.5)
    assert (boards(path, "made") != [], boards(path, "another")) == (True, [])
    query(path, "UPDATE runs SET setup_hash = 'same' WHERE run_id IN (?, ?)", worst, best)
    (board,) = boards(path)
    assert ids(board.best_of_setups) == [best, middle]
    query(path, "UPDATE runs SET put_away = 1.0")
    assert boards(path) == []


def test_groups_are_cut_where_runs_differ(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    best, near, twin = (play(path, corpus, n, m) for n, m in ((20, "a"), (19, "b"), (20, "d")))
    worst = play(path, corpus, 3, "c")
    (board,) = boards(path)
    assert board.clusters == {best: 1, twin: 1, near: 1, worst: 4}
    assert (board.ranks[best], board.ranks[twin], board.ranks[worst]) == (1, 1, 4), "equal: shared"
    assert board.unclustered == ""
    assert board.smallest is not None
    assert 0.05 < board.smallest < 0.4
    assert board.ranked_by("chrf_plus_plus").smallest is None  # to be worked out anew
    assert board.chrf_clusters == {best: 1, twin: 1, near: 1, worst: 4}
    assert board.disagreeing == (0, 6)
    with closing(open_store(path)) as store:
        found = compare_runs(store, [best, near, worst], metrics=["composite"])
    told = [pair.by_metric["composite"].significant for pair in found.pairs]
    assert told == [False, True, True]


def test_other_entries_and_inputs_are_other_lists(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    whole, more = play(path, corpus, 15, "a"), play(path, corpus, 15, "b")
    half = play(path, corpus, 15, "a", positions=range(10))
    other = play(path, ranked_corpus(21), 15, "a")
    terms = f"json_set(run_card, '$.scores.terminology_adherence', 1.0, '$.scoring.terms_sha256', '{'ab' * 32}')"
    query(path, f"UPDATE runs SET run_card = {terms} WHERE run_id = ?", more)
    found = {ids(board)[0]: board for board in boards(path)}
    assert set(found) == {whole, more, half, other}
    remedy = f"; `rosetta score --rescore {whole[:8]} --terms FILE`, with the terms or coaching of run {more[:8]}, makes them comparable"
    for one, two, reason in (
        (whole, half, "other entries (10 of 20)"),
        (half, whole, "other entries (20 of 20)"),
        (whole, other, ""),
        (whole, more, f"a composite of other inputs (only there: terminology){remedy}"),
        (more, whole, f"a composite of other inputs (only here: terminology){remedy}"),
    ):
        assert apart(found[one], found[two]) == reason
    assert found[whole].unclustered == "a group needs two runs"


def test_runs_scored_otherwise_are_another_list(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    one, sealed, foreign = (play(path, corpus, 15, model) for model in "abc")
    signature = "json_set(run_card, '$.scores.signatures.chrf_plus_plus', 'nrefs:var|nc:6|nw:2')"
    query(path, f"UPDATE runs SET run_card = {signature} WHERE run_id = ?", sealed)
    setup = '{"scoring": {"multi_ref": true, "has_variants": true}}'  # of a card from elsewhere
    told = f"imported = x'78', opening = json_patch(opening, '{setup}')"
    query(path, f"UPDATE runs SET {told} WHERE run_id = ?", foreign)
    found = {ids(board)[0]: board for board in boards(path)}
    for other in (sealed, foreign):
        assert apart(found[one], found[other]).startswith("scored otherwise (")
        assert "chrF++" in apart(found[one], found[other])


def test_gold_standard_alone_is_official(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    for model in "ab":
        play(path, ranked_corpus(20), 15, model)
    gold = play(path, ranked_corpus(15, Segment.GOLD_STANDARD), 10, "a")
    mixed = corpus_of([*entries(10, Segment.GOLD_STANDARD), *entries(11, None)[10:]])
    first, second = boards(path)
    assert (ids(first), first.segments) == ([gold], ("gold_standard",)), "it comes first"
    assert (first.official, second.official) == (True, False)
    play(tmp_path / "mixed.sqlite", mixed, 5, "a")
    (board,) = boards(tmp_path / "mixed.sqlite")
    assert (board.segments, board.official) == (("gold_standard", "no segment"), False)


def met(folder: Path, corpus: Corpus, good: int, **forged: str) -> tuple[Board, str, str]:
    """Import a card from another store; gives the list, the run made here and that one with its good outputs."""
    here, there = folder / "here" / "s.sqlite", folder / "there" / "s.sqlite"
    for path in (here, there):
        path.parent.mkdir(parents=True)
    own, foreign = play(here, corpus, 2, "a"), play(there, corpus, good, "b")
    with closing(open_store(there)) as store:
        card = card_bytes(load_card(store, run_number(there, foreign)))
    if forged:
        card = json.dumps(json.loads(card) | forged).encode()
    with closing(open_store(here)) as store:
        import_card(store, card, "card.json", unverified=bool(forged))
    (board,) = boards(here)
    return board, own, foreign


def test_card_from_elsewhere_meets_runs_made_here(tmp_path: Path) -> None:
    board, own, foreign = met(tmp_path / "open", ranked_corpus(20), 18)
    assert ids(board) == [foreign, own], [each.unranked for each in board.entrants]
    assert board.clusters == {foreign: 1, own: 2}
    board, own, foreign = met(tmp_path / "secret", ranked_corpus(20, Segment.GOLD_STANDARD), 18)
    assert (board.ranks, board.clusters) == ({foreign: 1, own: 2}, {})
    assert board.unclustered.startswith("1 run has no group")
    forged = {"timestamp": "2020-01-01T00:00:00Z"}
    board, own, foreign = met(tmp_path / "unverified", ranked_corpus(20), 15, **forged)
    assert ids(board) == [own, foreign]
    assert (board.ranks, board.clusters) == ({own: 1}, {})


def claim(path: Path, run_id: str, of: str, name: str = "retry_of") -> None:
    """Let a run say of itself that it retried another, or scored it again."""
    sql = "UPDATE runs SET opening = json_set(opening, ?, ?) WHERE run_id = ?"
    query(path, sql, f"$.{name}.run_id", of, run_id)


def test_retry_and_rescoring_replace_the_runs_they_name(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    first, alone = play(path, corpus, 10, "a"), play(path, corpus, 5, "b")
    second, third = play(path, corpus, 15, "c"), play(path, corpus, 16, "d")
    claim(path, second, first)
    claim(path, third, second, "rescore_of")
    (board,) = boards(path)
    assert ids(board) == [third, alone]
    stands = board.entrants[0]
    assert set(stands.in_place_of) == {first, second}
    assert board.entrants[1].in_place_of == ()
    assert place_words(stands).endswith("(scored again)")
    assert first[:8] in place_words(stands)


def test_other_unverified_or_older_runs_replace_nobody(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    older, newer = play(path, corpus, 10, "a"), play(path, corpus, 5, "b")
    claim(path, older, newer)
    claim(path, newer, older)
    unverified = "json_set(run_card, '$.unverified', 'no seal')"
    query(path, f"UPDATE runs SET run_card = {unverified} WHERE run_id = ?", newer)
    half = play(path, corpus, 10, "c", positions=range(10))
    claim(path, half, older)
    assert {frozenset(ids(board)) for board in boards(path)} == {frozenset({older, newer}), frozenset({half})}


def test_the_pairs_are_those_of_compare_and_the_best_is_found(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    method = play(path, corpus, 19, "ours")
    good, poor = play(path, corpus, 10, "good"), play(path, corpus, 1, "poor")
    with closing(open_store(path)) as store:
        told = SharedRuns(store).against_best([method], [[poor], [good]])
        pair = compare_runs(store, [good, method], metrics=["composite"]).pairs[0]
        assert told.found.pairs[1] == pair.by_metric["composite"]
        assert [run.run_id for run in told.best.runs] == [good]
        assert told.nearest is told.best
        assert told.found.beats
        assert told.method.value == pytest.approx(told.found.difference + told.best.value)
        assert (told.entries, told.inside, told.refused) == (20, False, {})
        assert told.best.repeated is None
        behind = SharedRuns(store, "chrf_plus_plus").against_best([poor], [[method], [good]])
        assert (behind.found.p_maximum, behind.found.beats) == (1.0, False)
        assert behind.found.upper < 0


def test_repetitions_count_together_and_are_parted(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    ours = [play(path, corpus, right, "ours", replicate=n) for n, right in enumerate((15, 16, 17))]
    base = play(path, corpus, 15, "base")
    with closing(open_store(path)) as store:
        told = SharedRuns(store, "exact_match_rate").against_best(ours, [[base]])
    assert told.method.value == pytest.approx(16 / 20)
    assert told.method.repeated is not None
    assert (told.method.repeated.repetitions, told.method.repeated.entries) == (3, 20)
    assert told.method.repeated.mean == pytest.approx(16 / 20)
    assert told.found.difference == pytest.approx(1 / 20)
    assert not told.found.beats


def test_runs_that_do_not_compare_are_named_and_the_method_must(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    method, base = play(path, corpus, 19, "ours"), play(path, corpus, 2, "base")
    other = play(path, ranked_corpus(21), 15, "base")
    with closing(open_store(path)) as store:
        told = SharedRuns(store).against_best([method], [[other], [base]])
        assert list(told.refused) == [other]
        assert "its corpus is another" in told.refused[other]
        assert len(told.baselines) == len(told.found.pairs) == 1
        for mine, baselines, words in (
            ([method], [[other]], "its corpus is another"),
            ([method, other], [[base]], "its corpus is another"),
            ([method], [[method]], "named twice"),
            ([method], [], "cannot be held"),
            (["nothing"], [[base]], "nothing"),
        ):
            refuses(UsageError, words, SharedRuns(store).against_best, mine, baselines)
        store.execute("UPDATE runs SET run_card = NULL WHERE run_id = ?", (base,))
        refuses(UsageError, "not complete yet", SharedRuns(store).against_best, [method], [[base]])


REFERENCES = ["la kato dormas", "la hundo kuras", "la birdo kantas", "la fiŝo naĝas"] * 5


def answers_to(task: str) -> Corpus:
    rows = enumerate(REFERENCES)
    made = corpus_of([Entry(id=n, source=f"question {n}", reference=text) for n, text in rows])
    dataset = type(made.dataset).model_validate({**made.dataset.model_dump(), "task": task})
    return Corpus(dataset, made.entries, made.sha256, made.form)


def answer(path: Path, corpus: Corpus, right: int) -> str:
    """Replay answers of which the first ``right`` are the references; gives the run's id."""
    outputs = path.parent / f"right-{right}.jsonl"
    lines = [
        {"id": entry.id, "output": entry.reference if n < right else f"la {n}"}
        for n, entry in enumerate(corpus.reveal_here())
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
    with closing(open_store(path)) as store:
        found = shown_runs(list_runs(store), RowOrder("chrf"))
    assert [run.run_id for run in found] == [best, worst], "of errors few are best"


def test_answers_are_stored_sorted_and_stated(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", answers_to("qa")
    run_id = answer(path, corpus, 5)
    with closing(open_store(path)) as store:
        run = find_run(store, run_id)
        results = list(read_results(store, run.id))
        assert [each.exact for each in results] == [True] * 5 + [False] * 15
        assert [each.headline for each in results[:6]] == [1.0] * 5 + [pytest.approx(0.4)]
        found = Ordering(run.id, kept=TASKS["qa"]).positions(
            store, sort="lbrag.f1", descending=True, where=parse("match:exact")
        )
        assert list(found) == [0, 1, 2, 3, 4]
        card: Any = read_card(store, run.id)
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
    cut = summary._replace(card=None, live=Live(so_far={"lbrag.f1": 0.5}))
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
