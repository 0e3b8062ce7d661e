"""Comparing runs of a real store: what is joined, what is refused and why, what elsewhere gives the same."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpora.model.corpus import Corpus
from harness.card.exporting import ExportForm, card_bytes, export_run
from harness.card.importing import import_card
from harness.card.load import load_card
from harness.compare.comparing import compare_runs
from harness.compare.comparison import Comparison, open_texts
from harness.core.failures import UsageError
from harness.method.options import MethodOptions
from harness.run.rescoring import rescore
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.store.file.database import open_store
from harness.store.results import read_statistics
from harness.store.runs import find_run
from scoring.statistics.significance import compare
from tests.harness.evaluation import LANGUAGES, begun, corpus, run_corpus

SURFACE = ("exact_match_rate", "chrf_plus_plus", "bleu", "ter", "length_ratio")

Run = Callable[..., str]


@pytest.fixture
def run(store_path: Path, tmp_path: Path) -> Run:
    """Make a finished run whose outputs are right on some entries; gives its id."""

    def made(
        right: Sequence[int] = (),
        given: Corpus | None = None,
        positions: Sequence[int] | None = None,
        label: str = "made",
        **scoring: Any,
    ) -> str:
        given = given or corpus(40)
        place = tmp_path / f"{label}-{len(list(tmp_path.iterdir()))}.txt"
        lines = [
            entry.reference if number in set(right) else f"WRONG NUMBER {number}"
            for number, entry in enumerate(given.entries)
        ]
        place.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        options = MethodOptions(**LANGUAGES, outputs=place, condition=label)
        told = ScoringOptions(**{"metrics": SURFACE, **scoring})
        plan = Plan(method="replay", options=options, scoring=told)
        run_corpus(store_path, given, plan, positions=positions)
        with closing(open_store(store_path)) as opened:
            return find_run(opened, "last").run_id

    return made


def only_pair(found: Comparison) -> Any:
    [pair] = found.pairs
    return pair


def test_the_better_run_is_found_and_its_numbers_are_those_of_the_statistics(
    connection: sqlite3.Connection, run: Run
) -> None:
    weak, strong = run(range(5)), run(range(30))
    found = compare_runs(connection, [weak, "last"])
    pair = only_pair(found)
    assert [r.run_id for r in found.runs] == [weak, strong]
    assert [r.letter for r in found.runs] == ["A", "B"]
    assert found.metrics == (*SURFACE[:1], *SURFACE[1:], "composite")
    assert pair.better("chrf_plus_plus").run_id == pair.better("ter").run_id == strong
    assert pair.by_metric["exact_match_rate"].difference == pytest.approx(25 / 40)
    assert (pair.by_metric["exact_match_rate"].wins, pair.by_metric["exact_match_rate"].losses) == (
        25,
        0,
    )
    tables = [side.table for side in found.sides]
    assert pair.by_metric == compare(*tables)
    assert pair.p_adjusted == {id_: d.p_randomisation for id_, d in pair.by_metric.items()}
    assert not found.refused
    assert not found.running


def test_interval_and_value_of_each_run_are_those_of_its_card(
    connection: sqlite3.Connection, run: Run
) -> None:
    names = [run(range(5)), run(range(30))]
    for compared in compare_runs(connection, names).runs:
        card = json.loads(
            connection.execute(
                "SELECT run_card FROM runs WHERE run_id = ?", (compared.run_id,)
            ).fetchone()[0]
        )
        for id_, value in compared.values.items():
            assert value == pytest.approx(card["scores"][id_]), id_
            stated = card["scores"]["confidence_intervals"][id_]
            assert compared.intervals[id_].lower == pytest.approx(stated["ci_lower"]), id_


def test_only_common_entries_count(connection: sqlite3.Connection, run: Run) -> None:
    whole, part = run(range(40)), run(range(10), positions=range(5, 25))
    found = compare_runs(connection, [whole, part])
    assert len(found.entries) == 20
    assert list(found.entries.ids) == list(range(5, 25))
    assert [r.done for r in found.runs] == [40, 20]
    assert only_pair(found).by_metric["exact_match_rate"].second == pytest.approx(5 / 20)


def test_several_runs_are_corrected_and_a_baseline_takes_fewer_pairs(
    connection: sqlite3.Connection, run: Run
) -> None:
    names = [run(range(count)) for count in (10, 13, 30)]
    found = compare_runs(connection, names)
    assert [(p.first.letter, p.second.letter) for p in found.pairs] == [
        ("A", "B"),
        ("A", "C"),
        ("B", "C"),
    ]
    ps = [p.by_metric["chrf_plus_plus"].p_randomisation for p in found.pairs]
    assert found.pairs[1].p_adjusted["chrf_plus_plus"] == pytest.approx(3 * min(ps[1:]), rel=0.6)
    assert all(
        p.p_adjusted["chrf_plus_plus"] >= p.by_metric["chrf_plus_plus"].p_randomisation
        for p in found.pairs
    )
    based = compare_runs(connection, names, baseline=names[2])
    assert [(p.first.letter, p.second.letter) for p in based.pairs] == [("C", "A"), ("C", "B")]
    assert compare_runs(connection, names[:2], baseline=names[2]).pairs[0].first.run_id == names[2]


def test_what_three_comparisons_show_by_chance_is_no_finding(
    connection: sqlite3.Connection, run: Run
) -> None:
    """Six entries of forty: p 0.03 alone, more than 0.05 among three."""
    names = [run(range(10)), run(range(16)), run(range(10), label="other")]
    alone = only_pair(compare_runs(connection, names[:2], metrics=["exact_match_rate"]))
    assert 0.02 < alone.p_adjusted["exact_match_rate"] < 0.05
    assert alone.better("exact_match_rate") is not None
    among = compare_runs(connection, names, metrics=["exact_match_rate"]).pairs[0]
    assert among.p_adjusted["exact_match_rate"] > 0.05
    assert among.by_metric["exact_match_rate"].significant
    assert among.better("exact_match_rate") is None


def test_another_corpus_is_refused_by_name(connection: sqlite3.Connection, run: Run) -> None:
    one, two, other = run(), run(range(9)), run(given=corpus(41))
    found = compare_runs(connection, [one, other, two])
    assert [r.run_id for r in found.runs] == [one, two]
    assert "its corpus is another: made (sha256" in found.refused[other]


def test_no_common_entry_is_refused(connection: sqlite3.Connection, run: Run) -> None:
    one, other = run(positions=range(10)), run(positions=range(10, 20))
    found = compare_runs(connection, [one, other])
    assert found.refused == {other: "it has no entry in common with the runs before it"}
    assert found.pairs == ()


def test_the_same_file_read_otherwise_is_refused(connection: sqlite3.Connection, run: Run) -> None:
    given = corpus(12)
    turned = Corpus(
        given.dataset,
        tuple(
            e.model_copy(update={"source": e.reference, "reference": e.source})
            for e in given.entries
        ),
        given.sha256,
        given.form,
    )
    one = run(given=given)
    connection.execute("UPDATE corpora SET dataset = replace(dataset, '\"made\"', '\"was\"')")
    found = compare_runs(connection, [one, run(given=turned)])
    assert "other sources or references" in next(iter(found.refused.values()))


def test_metrics_scored_otherwise_are_left_out_with_both_signatures(
    connection: sqlite3.Connection, run: Run
) -> None:
    given = corpus(30, variants=["ANOTHER"])
    one, several = run(range(9), given), run(range(20), given, multi_ref=True)
    pair = only_pair(compare_runs(connection, [one, several]))
    assert set(pair.left_out) == {"chrf_plus_plus", "bleu", "ter", "composite"}
    assert "multi_ref" in pair.left_out["bleu"]
    assert "nrefs:1" in pair.left_out["bleu"]
    assert "nrefs:var" in pair.left_out["bleu"]
    assert "scored otherwise: chrF++" in pair.left_out["composite"]
    assert set(pair.by_metric) == {"exact_match_rate", "length_ratio"}


def test_composites_of_other_inputs_are_left_out_with_the_weights_that_differ(
    connection: sqlite3.Connection, run: Run
) -> None:
    one, other = run(range(9)), run(range(20), metrics=("chrf_plus_plus", "bleu"))
    pair = only_pair(compare_runs(connection, [one, other]))
    assert f"only run {one[:8]} has exact)" in pair.left_out["composite"]
    assert pair.left_out["ter"].startswith(f"run {other[:8]} has no value: not among the metrics")
    assert set(pair.by_metric) == {"chrf_plus_plus", "bleu"}
    asked = only_pair(compare_runs(connection, [one, other], metrics=["chrf_plus_plus"]))
    assert (set(asked.by_metric), asked.left_out) == ({"chrf_plus_plus"}, {})


def test_damaged_statistics_are_refused(connection: sqlite3.Connection, run: Run) -> None:
    one, other = run(), run(range(3))
    number = find_run(connection, other).id
    connection.execute(
        "UPDATE results SET statistics = x'9101' WHERE run = ? AND position = 3", (number,)
    )
    found = compare_runs(connection, [one, other])
    assert "its stored statistics cannot be used" in found.refused[other]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["last"], "1 run is named"),
        (["last"] * 2, "named twice"),
        (["last", "nope"], "no run 'nope'"),
    ],
)
def test_wrong_names_are_refused(
    connection: sqlite3.Connection, run: Run, names: list[str], message: str
) -> None:
    run()
    with pytest.raises(UsageError, match=message):
        compare_runs(connection, names)


def test_more_than_six_runs_and_unknown_metrics_are_refused(
    connection: sqlite3.Connection, run: Run
) -> None:
    names = [run(range(count), corpus(3)) for count in range(4)]
    rows = connection.execute("SELECT * FROM runs").fetchall()
    assert len(rows) == len(names)
    with pytest.raises(UsageError, match="There is no metric 'Blue'"):
        compare_runs(connection, names[:2], metrics=["Blue"])
    more = [run(range(2), corpus(3), label=f"x{n}") for n in range(3)]
    with pytest.raises(UsageError, match="7 runs are named"):
        compare_runs(connection, [*names, *more])


def unfinished(store_path: Path, connection: sqlite3.Connection, of: str, done: int) -> str:
    """Begin a run and give it the first rows of another, as if it were under way."""
    options = MethodOptions(**LANGUAGES, text="x")
    plan = Plan(method="constant", options=options, scoring=ScoringOptions(metrics=SURFACE))
    number, _ = begun(store_path, corpus(400), plan)
    columns = [row[1] for row in connection.execute("PRAGMA table_info(results)")][1:]
    names = ", ".join(columns)
    connection.execute(
        f"INSERT INTO results (run, {names}) SELECT ?, {names} FROM results WHERE run = ? AND position < ?",
        (number, find_run(connection, of).id, done),
    )
    run_id: str = connection.execute("SELECT run_id FROM runs WHERE id = ?", (number,)).fetchone()[
        0
    ]
    return run_id


def test_a_run_under_way_is_judged_by_what_holds_at_any_time(
    store_path: Path, connection: sqlite3.Connection, run: Run
) -> None:
    weak, strong = run(range(0, 400, 4), corpus(400)), run(range(400), corpus(400))
    for done, decided in ((8, False), (300, True)):
        going = unfinished(store_path, connection, strong, done)
        found = compare_runs(connection, [weak, going])
        pair = only_pair(found)
        assert found.running
        assert pair.under_way
        assert len(found.entries) == done
        assert "ter" not in pair.running
        so_far = pair.running["chrf_plus_plus"]
        assert so_far.lower <= so_far.mean <= so_far.upper
        own = found.entries.values["chrf_plus_plus"]
        assert so_far.mean == pytest.approx(float(np.mean(own[1] - own[0])))
        better = pair.better("chrf_plus_plus")
        assert (better is not None and better.run_id == going) == decided
        assert pair.better("ter") is None
        assert pair.reproduction is None


def test_a_run_without_an_entry_is_refused(
    store_path: Path, connection: sqlite3.Connection, run: Run
) -> None:
    done = run(range(9), corpus(400))
    empty = unfinished(store_path, connection, done, 0)
    assert compare_runs(connection, [empty, done]).refused == {
        empty: "none of its entries is done yet"
    }


def test_elsewhere_the_cards_give_the_same(
    connection: sqlite3.Connection, run: Run, tmp_path: Path
) -> None:
    names = [run(range(5)), run(range(30))]
    here = only_pair(compare_runs(connection, names))
    with closing(open_store(tmp_path / "elsewhere" / "rosetta.sqlite")) as elsewhere:
        for name in names:
            data = export_run(connection, find_run(connection, name).id, ExportForm.CARD)
            import_card(elsewhere, data, "card.json")
        there = only_pair(compare_runs(elsewhere, names))
    assert there.by_metric == here.by_metric
    assert there.first.imported


def test_texts_of_secret_entries_are_not_read_and_their_cards_do_not_compare(
    connection: sqlite3.Connection, run: Run, tmp_path: Path
) -> None:
    given = corpus(20, segment="held_out")
    names = [run(range(3), given), run(range(12), given)]
    found = compare_runs(connection, names)
    assert found.entries.secret.all()
    assert only_pair(found).by_metric["exact_match_rate"].wins == 9
    texts = open_texts(connection, found.entries, found.sides, range(20))
    assert all(t.source is t.reference is None and t.outputs == (None, None) for t in texts)
    with closing(open_store(tmp_path / "elsewhere" / "rosetta.sqlite")) as elsewhere:
        for name in names:
            data = card_bytes(
                load_card(connection, find_run(connection, name).id)
            )  # as older versions did
            import_card(elsewhere, data, "card.json")
        refused = compare_runs(elsewhere, names).refused
    assert set(refused) == set(names)
    assert "without the texts of its 20 secret entries" in refused[names[0]]


def test_texts_of_open_entries_stand_beside_each_other(
    connection: sqlite3.Connection, run: Run
) -> None:
    found = compare_runs(connection, [run(range(5)), run(range(30))])
    places = found.entries.spread_first("chrf_plus_plus")
    assert len(places) == 25
    [text] = open_texts(connection, found.entries, found.sides, [found.entries.ids.index(7)])
    assert text.source == "entry number 7"
    assert text.outputs == ("WRONG NUMBER 7", "ENTRY NUMBER 7")
    sizes = np.abs(found.entries.differences("chrf_plus_plus", 0, 1))[places]
    assert (np.diff(sizes) <= 0).all()
    assert set(places) == set(found.entries.spread_first("chrf_plus_plus"))


def test_parts_sum_up_to_the_whole(connection: sqlite3.Connection, run: Run) -> None:
    found = compare_runs(connection, [run(range(5)), run(range(30))])
    parts = found.breakdowns["difficulty"]
    assert [(tag, part.n) for tag, part in parts.items()] == [(str(n), 8) for n in range(1, 6)]
    differences = [p.differences["A", "B"]["exact_match_rate"].difference for p in parts.values()]
    assert np.mean(differences) == pytest.approx(25 / 40)
    assert parts["1"].differences["A", "B"]["exact_match_rate"].interval is None
    [whole] = found.breakdowns["segment"].values()
    told = whole.differences["A", "B"]["composite"]
    pair = only_pair(found).by_metric["composite"]
    assert told.difference == pytest.approx(pair.difference)
    assert told.interval == pytest.approx((pair.lower, pair.upper))


def sealed_again(connection: sqlite3.Connection, run_id: str, changes: str) -> None:
    """Change a run's set-up in the store, as if another method had made it."""
    connection.execute(
        f"UPDATE runs SET setup = json_set(setup, {changes}) WHERE run_id = ?", (run_id,)
    )


def test_a_repetition_is_held_against_two_percent(connection: sqlite3.Connection, run: Run) -> None:
    names = [run(range(30)), run(range(30), label="again"), run(range(20), label="worse")]
    for number, name in enumerate(names):
        same = "'$.outputs_sha256', NULL, '$.condition', 'c', '$.model_slug', 'm'"
        sealed_again(connection, name, f"{same}, '$.replicate', {number}")
    found = compare_runs(connection, names)
    told = [pair.reproduction.reproduced if pair.reproduction else None for pair in found.pairs]
    assert told == [True, False, False]
    sealed_again(connection, names[1], "'$.temperature', 0.5")
    assert compare_runs(connection, names[:2]).pairs[0].reproduction is None


def test_outputs_of_a_file_and_outputs_scored_again_repeat_nothing(
    connection: sqlite3.Connection, run: Run
) -> None:
    one = run(range(30))
    assert only_pair(compare_runs(connection, [one, run(range(30))])).reproduction is None
    scored = rescore(
        connection,
        find_run(connection, one),
        ScoringOptions(metrics=("compliance_index",)),
        lambda _: None,
    )
    for name in (one, scored):
        sealed_again(connection, name, "'$.outputs_sha256', NULL")
    pair = only_pair(compare_runs(connection, [one, scored]))
    assert pair.reproduction is None
    assert pair.by_metric["chrf_plus_plus"].difference == 0


def test_the_order_of_rows_in_the_store_does_not_matter(
    connection: sqlite3.Connection, run: Run
) -> None:
    names = [run(range(5)), run(range(30))]
    before = only_pair(compare_runs(connection, names)).by_metric
    connection.execute("UPDATE results SET rowid = -rowid")
    assert only_pair(compare_runs(connection, names)).by_metric == before
    assert list(read_statistics(connection, find_run(connection, names[0]).id)) == list(range(40))
