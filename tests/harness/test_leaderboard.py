"""What may be ranked together is, and nothing else: real runs, real cards, a real store."""

from __future__ import annotations

import json
from contextlib import closing
from functools import partial
from math import log2
from pathlib import Path

import pytest

from corpora.model.corpus import Corpus
from corpora.model.entry import Segment
from harness.card.exporting import card_bytes
from harness.card.importing import import_card
from harness.card.load import load_card
from harness.compare.against_best import method_against_best
from harness.compare.comparing import compare_runs
from harness.core.failures import UsageError
from harness.leaderboard.clusters import with_clusters
from harness.leaderboard.ranking import Board, apart, leaderboards
from harness.store.file.database import open_store
from rosetta_tui.leaderboard.rows import place_words
from tests.harness.evaluation import FEW, corpus_of, query
from tests.harness.ranked import entries, ranked_corpus, run_number
from tests.harness.ranked import play as play_whole

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
    best, near, twin = (
        play(path, corpus, right, m) for right, m in ((20, "a"), (19, "b"), (20, "d"))
    )
    worst = play(path, corpus, 3, "c")
    (board,) = boards(path)
    assert board.clusters == {best: 1, twin: 1, near: 1, worst: 4}
    assert (board.ranks[best], board.ranks[twin], board.ranks[worst]) == (1, 1, 4), "equal: shared"
    assert board.unclustered == ""
    assert board.smallest is not None
    assert 5 < board.smallest < 40
    assert board.ranked_by("composite").smallest is None  # to be worked out anew
    with closing(open_store(path)) as store:
        found = compare_runs(store, [best, near, worst], metrics=["composite"])
    told = [pair.by_metric["composite"].significant for pair in found.pairs]
    assert told == [False, True, True]


def test_other_entries_and_inputs_are_other_lists(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    whole, more = play(path, corpus, 15, "a"), play(path, corpus, 15, "b")
    half = play(path, corpus, 15, "a", positions=range(10))
    other = play(path, ranked_corpus(21), 15, "a")
    terms = "json_set(run_card, '$.scores.terminology_adherence', 1.0)"
    query(path, f"UPDATE runs SET run_card = {terms} WHERE run_id = ?", more)
    found = {ids(board)[0]: board for board in boards(path)}
    assert set(found) == {whole, more, half, other}
    for one, two, reason in (
        (whole, half, "other entries (10 of 20)"),
        (half, whole, "other entries (20 of 20)"),
        (whole, other, ""),
        (whole, more, "a composite of other inputs (only there: terminology)"),
        (more, whole, "a composite of other inputs (only here: terminology)"),
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
        path.parent.mkdir()
    own, foreign = play(here, corpus, 2, "a"), play(there, corpus, good, "b")
    with closing(open_store(there)) as store:
        card = card_bytes(load_card(store, run_number(there, foreign)))
    if forged:
        card = json.dumps(json.loads(card) | forged).encode()
    with closing(open_store(here)) as store:
        import_card(store, card, "card.json", unverified=bool(forged))
    (board,) = boards(here)
    return board, own, foreign


def test_a_card_from_elsewhere_meets_runs_made_here(tmp_path: Path) -> None:
    board, own, foreign = met(tmp_path, ranked_corpus(20), 18)
    assert ids(board) == [foreign, own]
    assert board.clusters == {foreign: 1, own: 2}


def test_a_card_that_withholds_texts_is_ranked_but_has_no_group(tmp_path: Path) -> None:
    board, own, foreign = met(tmp_path, ranked_corpus(20, Segment.GOLD_STANDARD), 18)
    assert board.ranks == {foreign: 1, own: 2}
    assert board.clusters == {}
    assert board.unclustered.startswith("1 run has no group")


def test_unverified_card_has_no_rank(tmp_path: Path) -> None:
    board, own, foreign = met(tmp_path, ranked_corpus(20), 15, timestamp="2020-01-01T00:00:00Z")
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


def test_over_other_entries_a_retried_run_keeps_its_place(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    whole = play(path, corpus, 10, "a")
    half = play(path, corpus, 10, "b", positions=range(10))
    claim(path, half, whole)
    assert sorted(map(ids, boards(path))) == sorted([[whole], [half]])


def test_unverified_or_older_cards_replace_nobody(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    older, newer = play(path, corpus, 10, "a"), play(path, corpus, 5, "b")
    claim(path, older, newer)
    claim(path, newer, older)
    unverified = "json_set(run_card, '$.unverified', 'no seal')"
    query(path, f"UPDATE runs SET run_card = {unverified} WHERE run_id = ?", newer)
    (board,) = boards(path)
    assert set(ids(board)) == {older, newer}


def test_the_pairs_are_those_of_compare_and_the_best_is_found(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    method = play(path, corpus, 19, "ours")
    good, poor = play(path, corpus, 10, "good"), play(path, corpus, 1, "poor")
    with closing(open_store(path)) as store:
        told = method_against_best(store, [method], [[poor], [good]])
        pair = compare_runs(store, [good, method], metrics=["composite"]).pairs[0]
        assert told.found.pairs[1] == pair.by_metric["composite"]
        assert [run.run_id for run in told.best.runs] == [good]
        assert told.nearest is told.best
        assert told.found.beats
        assert told.method.value == pytest.approx(told.found.difference + told.best.value)
        assert (told.entries, told.inside, told.refused) == (20, False, {})
        assert told.best.repeated is None
        behind = method_against_best(store, [poor], [[method], [good]], "chrf_plus_plus")
        assert (behind.found.p_maximum, behind.found.beats) == (1.0, False)
        assert behind.found.upper < 0


def test_repetitions_count_together_and_are_parted(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    ours = [play(path, corpus, right, "ours", replicate=n) for n, right in enumerate((15, 16, 17))]
    base = play(path, corpus, 15, "base")
    with closing(open_store(path)) as store:
        told = method_against_best(store, ours, [[base]], "exact_match_rate")
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
        told = method_against_best(store, [method], [[other], [base]])
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
            with pytest.raises(UsageError, match=words):
                method_against_best(store, mine, baselines)
        store.execute("UPDATE runs SET run_card = NULL WHERE run_id = ?", (base,))
        with pytest.raises(UsageError, match="not complete yet"):
            method_against_best(store, [method], [[base]])
