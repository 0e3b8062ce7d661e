"""What may be ranked together is, and nothing else: real runs, real cards, a real store."""

from __future__ import annotations

import json
from contextlib import closing
from math import log2
from pathlib import Path

import pytest

from corpora.model.corpus import Corpus
from corpora.model.entry import Segment
from harness.card.exporting import ExportForm, card_bytes, export_run
from harness.card.importing import import_card
from harness.card.load import load_card
from harness.compare.comparing import compare_runs
from harness.leaderboard.clusters import with_clusters
from harness.leaderboard.ranking import Board, apart, leaderboards
from harness.store.file.database import open_store
from rosetta_tui.leaderboard.rows import place_words
from tests.harness.ranked import play, ranked_corpus, run_number


def boards(path: Path, dataset: str | None = None) -> list[Board]:
    with closing(open_store(path)) as store:
        return [with_clusters(store, board) for board in leaderboards(store, dataset)]


def ids(board: Board) -> list[str]:
    return [each.run.run_id for each in board.entrants]


def test_runs_over_the_same_entries_are_one_list_by_composite(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus()
    middle = play(path, corpus, 20, "b", cost=0.001)
    worst = play(path, corpus, 0, "c", cost=0.0)
    best = play(path, corpus, 40, "a", cost=None)
    (board,) = boards(path)
    assert ids(board) == [best, middle, worst]
    assert board.ranks == {best: 1, middle: 2, worst: 3}
    assert (board.entries, board.corpus_entries) == (40, 40)
    assert board.segments == ("development",)
    assert not board.official
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


def test_groups_are_cut_where_a_comparison_tells_runs_apart(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus()
    best, near = play(path, corpus, 40, "a"), play(path, corpus, 39, "b")
    worst = play(path, corpus, 5, "c")
    (board,) = boards(path)
    assert board.clusters == {best: 1, near: 1, worst: 3}
    assert board.unclustered == ""
    assert board.smallest is not None
    assert 5 < board.smallest < 30
    assert board.ranked_by("composite").smallest is None  # to be worked out anew
    with closing(open_store(path)) as store:
        pairs = {
            frozenset((pair.first.run_id, pair.second.run_id)): pair
            for pair in compare_runs(store, [best, near, worst], metrics=["composite"]).pairs
        }
    assert not pairs[frozenset((best, near))].by_metric["composite"].significant
    assert pairs[frozenset((best, worst))].by_metric["composite"].significant
    assert pairs[frozenset((near, worst))].by_metric["composite"].significant


def test_other_entries_inputs_and_corpora_are_other_lists_with_the_reason(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus()
    whole = play(path, corpus, 30, "a")
    half = play(path, corpus, 30, "a", positions=range(20))
    other = play(path, ranked_corpus(41), 30, "a")
    found = {ids(board)[0]: board for board in boards(path)}
    assert set(found) == {whole, half, other}
    assert apart(found[whole], found[half]) == "other entries (20 of 40)"
    assert apart(found[half], found[whole]) == "other entries (40 of 40)"
    assert apart(found[whole], found[other]) == ""
    assert found[whole].unclustered == "a group needs two runs"


def test_a_composite_of_other_inputs_is_never_in_the_same_list(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus()
    plain = play(path, corpus, 30, "a")
    with_more = play(path, corpus, 30, "b")
    with closing(open_store(path)) as store:
        number = run_number(path, with_more)
        card = json.loads(
            store.execute("SELECT run_card FROM runs WHERE id = ?", (number,)).fetchone()[0]
        )
        card["scores"]["terminology_adherence"] = 1.0
        store.execute("UPDATE runs SET run_card = ? WHERE id = ?", (json.dumps(card), number))
    found = {ids(board)[0]: board for board in boards(path)}
    assert apart(found[plain], found[with_more]) == (
        "a composite of other inputs (only there: terminology)"
    )
    assert apart(found[with_more], found[plain]) == (
        "a composite of other inputs (only here: terminology)"
    )


@pytest.mark.parametrize(
    "scored",
    [
        "run_card = json_set(run_card, '$.scores.signatures.chrf_plus_plus', 'nrefs:var|nc:6|nw:2')",
        'imported = x\'78\', opening = json_patch(opening, \'{"scoring": {"multi_ref": true, "has_variants": true}}\')',
    ],
    ids=["by its sealed card", "by the set-up of a card from elsewhere"],
)
def test_runs_scored_otherwise_are_another_list(tmp_path: Path, scored: str) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus()
    one, other = play(path, corpus, 30, "a"), play(path, corpus, 30, "b")
    with closing(open_store(path)) as store:
        store.execute(f"UPDATE runs SET {scored} WHERE run_id = ?", (other,))
    found = {ids(board)[0]: board for board in boards(path)}
    assert apart(found[one], found[other]).startswith("scored otherwise (")
    assert "chrF++" in apart(found[one], found[other])


def test_gold_standard_alone_is_official_and_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    for model in "ab":
        play(path, ranked_corpus(), 30, model)
    gold = play(path, ranked_corpus(30, Segment.GOLD_STANDARD), 20, "a")
    first, second = boards(path)
    assert ids(first) == [gold]
    assert (first.official, second.official) == (True, False)
    assert first.segments == ("gold_standard",)


def test_gold_standard_with_entries_of_no_segment_is_not_official(tmp_path: Path) -> None:
    from tests.harness.evaluation import corpus_of
    from tests.harness.ranked import entries

    mixed = [*entries(20, Segment.GOLD_STANDARD), *entries(21, None)[20:]]
    path = tmp_path / "s.sqlite"
    play(path, corpus_of(mixed), 10, "a")
    (board,) = boards(path)
    assert board.segments == ("gold_standard", "no segment")
    assert not board.official


def test_the_best_run_of_each_set_up(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus()
    runs = [play(path, corpus, right, "a") for right in (10, 30)]
    (board,) = boards(path)
    hashes = {each.setup_hash for each in board.entrants}
    assert ids(board) == runs[::-1]
    assert len(board.best_of_setups.entrants) == len(hashes)
    with closing(open_store(path)) as store:
        store.execute("UPDATE runs SET setup_hash = 'same'")
    (board,) = boards(path)
    assert ids(board.best_of_setups) == [runs[1]]


def test_equal_composites_share_a_rank(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus()
    twins = [play(path, corpus, 40, model) for model in "ab"]
    last = play(path, corpus, 3, "c")
    (board,) = boards(path)
    assert {board.ranks[twin] for twin in twins} == {1}
    assert board.ranks[last] == 3


def met(folder: Path, corpus: Corpus, good: int) -> tuple[Board, str, str]:
    """Import a card from another store; gives the list, the run made here and that one with its good outputs."""
    here, there = folder / "here" / "s.sqlite", folder / "there" / "s.sqlite"
    for path in (here, there):
        path.parent.mkdir()
    own, foreign = play(here, corpus, 10, "a"), play(there, corpus, good, "b")
    with closing(open_store(there)) as store:
        card = card_bytes(load_card(store, run_number(there, foreign)))
    with closing(open_store(here)) as store:
        import_card(store, card, "card.json")
    (board,) = boards(here)
    return board, own, foreign


def test_a_card_from_elsewhere_meets_runs_made_here(tmp_path: Path) -> None:
    board, own, foreign = met(tmp_path, ranked_corpus(), 35)
    assert ids(board) == [foreign, own]
    assert board.clusters == {foreign: 1, own: 2}


def test_a_card_that_withholds_texts_is_ranked_but_has_no_group(tmp_path: Path) -> None:
    board, own, foreign = met(tmp_path, ranked_corpus(30, Segment.GOLD_STANDARD), 25)
    assert board.ranks == {foreign: 1, own: 2}
    assert board.clusters == {}
    assert board.unclustered.startswith("1 run has no group")


def test_an_unverified_card_has_no_rank(tmp_path: Path) -> None:
    here, there = tmp_path / "here" / "s.sqlite", tmp_path / "there" / "s.sqlite"
    corpus = ranked_corpus()
    for path in (here, there):
        path.parent.mkdir()
    own, foreign = play(here, corpus, 10, "a"), play(there, corpus, 35, "b")
    with closing(open_store(there)) as store:
        raw = json.loads(export_run(store, run_number(there, foreign), ExportForm.CARD))
    raw["timestamp"] = "2020-01-01T00:00:00Z"
    with closing(open_store(here)) as store:
        import_card(store, json.dumps(raw).encode(), "card.json", unverified=True)
    (board,) = boards(here)
    assert ids(board) == [own, foreign]
    assert board.ranks == {own: 1}
    assert board.clusters == {}


def test_runs_that_are_not_finished_or_put_away_are_in_no_list(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus()
    play(path, corpus, 10, "a")
    assert len(boards(path)) == 1
    assert boards(path, "made") != []
    assert boards(path, "another") == []
    with closing(open_store(path)) as store:
        store.execute("UPDATE runs SET put_away = 1.0")
    assert boards(path) == []


def claim(path: Path, run_id: str, of: str, name: str = "retry_of", **more: object) -> None:
    """Let a run say of itself that it retried another, or scored it again."""
    with closing(open_store(path)) as store:
        store.execute(
            "UPDATE runs SET opening = json_set(opening, ?, ?) WHERE run_id = ?",
            (f"$.{name}.run_id", of, run_id),
        )
        for field, value in more.items():
            store.execute(
                "UPDATE runs SET run_card = json_set(run_card, ?, ?) WHERE run_id = ?",
                (f"$.{field}", value, run_id),
            )


def test_a_retry_and_its_rescoring_stand_in_place_of_the_runs_they_name(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus()
    first, alone = play(path, corpus, 20, "a"), play(path, corpus, 10, "b")
    second, third = play(path, corpus, 30, "c"), play(path, corpus, 31, "d")
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
    path, corpus = tmp_path / "s.sqlite", ranked_corpus()
    whole = play(path, corpus, 20, "a")
    half = play(path, corpus, 20, "b", positions=range(20))
    claim(path, half, whole)
    assert sorted(map(ids, boards(path))) == sorted([[whole], [half]])


def test_cards_push_nobody_away_that_are_unverified_or_older(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus()
    older, newer = play(path, corpus, 20, "a"), play(path, corpus, 10, "b")
    claim(path, older, newer)
    claim(path, newer, older, unverified="no seal")
    (board,) = boards(path)
    assert set(ids(board)) == {older, newer}
