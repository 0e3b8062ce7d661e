"""Comparing runs of a real store: what is joined, what is refused and why, what elsewhere gives the same."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
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
from tests.harness.evaluation import LANGUAGES, begun, corpus, run_corpus, sealed_card

SURFACE = ("exact_match_rate", "chrf_plus_plus", "bleu", "ter", "length_ratio")
FEW = ("exact_match_rate", "chrf_plus_plus")

Run = Callable[..., str]


def made(
    path: Path,
    right: Sequence[int] = (),
    given: Corpus | None = None,
    positions: Sequence[int] | None = None,
    label: str = "made",
    metrics: Sequence[str] = FEW,
    **scoring: Any,
) -> str:
    """Make a finished run whose outputs are right on some entries; gives its id."""
    given, folder = given or corpus(40), path.parent
    place = folder / f"{label}-{len(list(folder.iterdir()))}.txt"
    lines = [
        entry.reference if number in set(right) else f"WRONG NUMBER {number}"
        for number, entry in enumerate(given.entries)
    ]
    place.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    options = MethodOptions(**LANGUAGES, outputs=place, condition=label)
    told = ScoringOptions(metrics=tuple(metrics), **scoring)
    plan = Plan(method="replay", options=options, scoring=told)
    return run_corpus(path, given, plan, positions=positions).finished.run_id


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A store with a weak run and a strong one, right on 5 and on 30 of 40 entries."""
    path = tmp_path_factory.mktemp("two") / "rosetta.sqlite"
    return (path, *(made(path, range(right), metrics=SURFACE) for right in (5, 30)))  # type: ignore[return-value]


@pytest.fixture
def connection(two: tuple[Path, str, str], tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A copy of it."""
    with closing(open_store(Path(shutil.copy(two[0], tmp_path)))) as opened:
        yield opened


@pytest.fixture
def weak(two: tuple[Path, str, str]) -> str:
    return two[1]


@pytest.fixture
def strong(two: tuple[Path, str, str]) -> str:
    return two[2]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Make a further run in the store of ``connection``."""
    return lambda *args, **named: made(tmp_path / "rosetta.sqlite", *args, **named)


def quick(store: sqlite3.Connection, names: Sequence[str], **more: Any) -> Comparison:
    """Compare with few draws: where no p value is looked at."""
    return compare_runs(store, names, draws=50, trials=50, **more)


def only_pair(found: Comparison) -> Any:
    [pair] = found.pairs
    return pair


def test_better_run_is_found_by_the_statistics(
    connection: sqlite3.Connection, weak: str, strong: str, tmp_path: Path
) -> None:
    found = compare_runs(connection, [weak, "last"])
    pair, exact = only_pair(found), only_pair(found).by_metric["exact_match_rate"]
    assert [(r.run_id, r.letter) for r in found.runs] == [(weak, "A"), (strong, "B")]
    assert found.metrics == (*SURFACE, "composite")
    assert pair.better("chrf_plus_plus").run_id == pair.better("ter").run_id == strong
    assert (exact.difference, exact.wins, exact.losses) == (pytest.approx(25 / 40), 25, 0)
    assert pair.by_metric == compare(*(side.table for side in found.sides))
    assert pair.p_adjusted == {id_: d.p_randomisation for id_, d in pair.by_metric.items()}
    assert (found.refused, found.running) == ({}, False)
    for compared in found.runs:  # as their cards have them
        card = sealed_card(tmp_path / "rosetta.sqlite", compared.run_id)["scores"]
        for id_, value in compared.values.items():
            stated = card["confidence_intervals"][id_]["ci_lower"]
            assert value == pytest.approx(card[id_]), id_
            assert compared.intervals[id_].lower == pytest.approx(stated), id_
    with closing(open_store(tmp_path / "elsewhere" / "rosetta.sqlite")) as elsewhere:
        for name in (weak, strong):
            data = export_run(connection, find_run(connection, name).id, ExportForm.CARD)
            import_card(elsewhere, data, "card.json")
        there = only_pair(compare_runs(elsewhere, [weak, strong]))
    assert (there.by_metric, there.first.imported) == (pair.by_metric, True)
    connection.execute("UPDATE results SET rowid = -rowid")  # their order does not matter
    assert only_pair(compare_runs(connection, [weak, strong])).by_metric == pair.by_metric
    assert list(read_statistics(connection, find_run(connection, weak).id)) == list(range(40))


def test_texts_and_parts_side_by_side(
    connection: sqlite3.Connection, weak: str, strong: str
) -> None:
    found = quick(connection, [weak, strong])
    places = found.entries.spread_first("chrf_plus_plus")
    assert len(places) == 25
    [text] = open_texts(connection, found.entries, found.sides, [found.entries.ids.index(7)])
    assert (text.source, text.outputs) == ("entry number 7", ("WRONG NUMBER 7", "ENTRY NUMBER 7"))
    sizes = np.abs(found.entries.differences("chrf_plus_plus", 0, 1))[places]
    assert (np.diff(sizes) <= 0).all()
    parts = found.breakdowns["difficulty"]
    assert [(tag, part.n) for tag, part in parts.items()] == [(str(n), 8) for n in range(1, 6)]
    differences = [p.differences["A", "B"]["exact_match_rate"].difference for p in parts.values()]
    assert np.mean(differences) == pytest.approx(25 / 40)
    assert parts["1"].differences["A", "B"]["exact_match_rate"].interval is None
    [whole] = found.breakdowns["segment"].values()
    told, pair = whole.differences["A", "B"]["composite"], only_pair(found).by_metric["composite"]
    assert told.difference == pytest.approx(pair.difference)
    assert told.interval == pytest.approx((pair.lower, pair.upper))


def test_only_common_entries_count(connection: sqlite3.Connection, run: Run, strong: str) -> None:
    part, other = run(range(10), positions=range(5, 25)), run(positions=range(25, 40))
    found = quick(connection, [strong, part])
    assert list(found.entries.ids) == list(range(5, 25))
    assert [r.done for r in found.runs] == [40, 20]
    assert only_pair(found).by_metric["exact_match_rate"].second == pytest.approx(5 / 20)
    found = quick(connection, [part, other])
    assert found.refused == {other: "it has no entry in common with the runs before it"}
    assert found.pairs == ()


def test_several_runs_are_corrected_for(
    connection: sqlite3.Connection, run: Run, weak: str, strong: str
) -> None:
    """Six entries of forty: p 0.03 alone, more than 0.05 among three."""
    id_ = "exact_match_rate"
    names = [run(range(10)), run(range(16)), run(range(10), label="other")]
    alone = only_pair(compare_runs(connection, names[:2], metrics=[id_]))
    assert 0.02 < alone.p_adjusted[id_] < 0.05
    assert alone.better(id_) is not None
    found = compare_runs(connection, names, metrics=[id_])
    among = found.pairs[0]
    assert among.p_adjusted[id_] > 0.05
    assert (among.by_metric[id_].significant, among.better(id_)) == (True, None)
    assert [p.first.letter + p.second.letter for p in found.pairs] == ["AB", "AC", "BC"]
    ps = [pair.by_metric[id_].p_randomisation for pair in found.pairs]
    assert among.p_adjusted[id_] == pytest.approx(3 * min(ps), rel=0.6)
    assert all(p.p_adjusted[id_] >= p.by_metric[id_].p_randomisation for p in found.pairs)
    based = quick(connection, names, baseline=names[2])
    assert [p.first.letter + p.second.letter for p in based.pairs] == ["CA", "CB"]
    assert only_pair(quick(connection, [weak], baseline=strong)).first.run_id == strong


def test_other_corpora_and_readings_are_refused(connection: sqlite3.Connection, run: Run) -> None:
    given = corpus(12)
    one, two, other = run(given=given), run(range(9), given), run(given=corpus(13))
    found = quick(connection, [one, other, two])
    assert [r.run_id for r in found.runs] == [one, two]
    assert "its corpus is another: made (sha256" in found.refused[other]
    sides = (
        e.model_copy(update={"source": e.reference, "reference": e.source}) for e in given.entries
    )
    turned = Corpus(given.dataset, tuple(sides), given.sha256, given.form)
    connection.execute("UPDATE corpora SET dataset = replace(dataset, '\"made\"', '\"was\"')")
    found = quick(connection, [one, run(given=turned)])
    assert "other sources or references" in next(iter(found.refused.values()))
    number = find_run(connection, two).id
    damaged = "UPDATE results SET statistics = x'9101' WHERE run = ? AND position = 3"
    connection.execute(damaged, (number,))
    found = quick(connection, [one, two])
    assert "its stored statistics cannot be used" in found.refused[two]


def test_metrics_scored_otherwise_are_left_out(connection: sqlite3.Connection, run: Run) -> None:
    given = corpus(20, variants=["ANOTHER"])
    one = run(range(9), given, metrics=SURFACE)
    several = run(range(20), given, metrics=SURFACE, multi_ref=True)
    pair = only_pair(quick(connection, [one, several]))
    assert set(pair.left_out) == {"chrf_plus_plus", "bleu", "ter", "composite"}
    for words in ("multi_ref", "nrefs:1", "nrefs:var"):
        assert words in pair.left_out["bleu"]
    assert "scored otherwise: chrF++" in pair.left_out["composite"]
    assert set(pair.by_metric) == {"exact_match_rate", "length_ratio"}
    other = run(range(20), given, metrics=("chrf_plus_plus", "bleu"))
    pair = only_pair(quick(connection, [one, other]))
    assert f"only run {one[:8]} has exact)" in pair.left_out["composite"]
    assert pair.left_out["ter"].startswith(f"run {other[:8]} has no value: not among the metrics")
    assert set(pair.by_metric) == {"chrf_plus_plus", "bleu"}
    asked = only_pair(quick(connection, [one, other], metrics=["chrf_plus_plus"]))
    assert (set(asked.by_metric), asked.left_out) == ({"chrf_plus_plus"}, {})


def test_wrong_names_are_refused(connection: sqlite3.Connection, weak: str, strong: str) -> None:
    seven = [f"run-{n}" for n in range(7)]
    columns = [row[1] for row in connection.execute("PRAGMA table_info(runs)")]
    names = ", ".join(name for name in columns if name not in {"id", "run_id"})
    insert = f"INSERT INTO runs (run_id, {names}) SELECT ?, {names} FROM runs WHERE id = 1"
    connection.executemany(insert, [(name,) for name in seven])
    for named, metrics, words in (
        (["last"], None, "1 run is named"),
        (["last"] * 2, None, "named twice"),
        (["last", "nope"], None, "no run 'nope'"),
        ([weak, strong], ["Blue"], "There is no metric 'Blue'"),
        (seven, None, "7 runs are named"),
    ):
        with pytest.raises(UsageError, match=words):
            compare_runs(connection, named, metrics=metrics)


def unfinished(path: Path, connection: sqlite3.Connection, of: str, done: int) -> str:
    """Begin a run and give it the first rows of another, as if it were under way."""
    options = MethodOptions(**LANGUAGES, text="x")
    plan = Plan(method="constant", options=options, scoring=ScoringOptions(metrics=(*FEW, "ter")))
    number, _ = begun(path, corpus(100), plan)
    columns = [row[1] for row in connection.execute("PRAGMA table_info(results)")][1:]
    names = ", ".join(columns)
    connection.execute(
        f"INSERT INTO results (run, {names}) SELECT ?, {names} FROM results WHERE run = ? AND position < ?",
        (number, find_run(connection, of).id, done),
    )
    [run_id] = connection.execute("SELECT run_id FROM runs WHERE id = ?", (number,)).fetchone()
    return str(run_id)


def test_run_under_way_is_judged(tmp_path: Path, connection: sqlite3.Connection, run: Run) -> None:
    path, given, metrics = tmp_path / "rosetta.sqlite", corpus(100), (*FEW, "ter")
    low = run(range(0, 100, 10), given, metrics=metrics)
    high = run(range(100), given, metrics=metrics)
    for done, decided in ((8, False), (90, True)):
        going = unfinished(path, connection, high, done)
        found = quick(connection, [low, going])
        pair = only_pair(found)
        assert (found.running, pair.under_way, len(found.entries)) == (True, True, done)
        assert "ter" not in pair.running
        so_far = pair.running["chrf_plus_plus"]
        assert so_far.lower <= so_far.mean <= so_far.upper
        own = found.entries.values["chrf_plus_plus"]
        assert so_far.mean == pytest.approx(float(np.mean(own[1] - own[0])))
        better = pair.better("chrf_plus_plus")
        assert (better is not None and better.run_id == going) == decided
        assert (pair.better("ter"), pair.reproduction) == (None, None)
    empty = unfinished(path, connection, high, 0)
    refused = quick(connection, [empty, high]).refused
    assert refused == {empty: "none of its entries is done yet"}


def test_secret_texts_are_not_read(
    connection: sqlite3.Connection, run: Run, tmp_path: Path
) -> None:
    given = corpus(20, segment="held_out")
    names = [run(range(3), given), run(range(12), given)]
    found = quick(connection, names)
    assert found.entries.secret.all()
    assert only_pair(found).by_metric["exact_match_rate"].wins == 9
    texts = open_texts(connection, found.entries, found.sides, range(20))
    assert all(t.source is t.reference is None and t.outputs == (None, None) for t in texts)
    with closing(open_store(tmp_path / "elsewhere" / "rosetta.sqlite")) as elsewhere:
        for name in names:
            card = load_card(connection, find_run(connection, name).id)
            import_card(elsewhere, card_bytes(card), "card.json")  # as older versions let it leave
        refused = quick(elsewhere, names).refused
    assert set(refused) == set(names)
    assert "without the texts of its 20 secret entries" in refused[names[0]]


def sealed_again(connection: sqlite3.Connection, run_id: str, changes: str) -> None:
    """Change a run's set-up in the store, as if another method had made it."""
    sql = f"UPDATE runs SET setup = json_set(setup, {changes}) WHERE run_id = ?"
    connection.execute(sql, (run_id,))


def test_repetition_reproduces_within_two_percent(connection: sqlite3.Connection, run: Run) -> None:
    names = [run(range(30)), run(range(30), label="again"), run(range(20), label="worse")]
    alike = only_pair(quick(connection, names[:2]))
    assert alike.reproduction is None, "outputs of a file repeat nothing"
    for number, name in enumerate(names):
        same = "'$.outputs_sha256', NULL, '$.condition', 'c', '$.model_slug', 'm'"
        sealed_again(connection, name, f"{same}, '$.replicate', {number}")
    found = quick(connection, names)
    told = [pair.reproduction.reproduced if pair.reproduction else None for pair in found.pairs]
    assert told == [True, False, False]
    sealed_again(connection, names[1], "'$.temperature', 0.5")
    assert only_pair(quick(connection, names[:2])).reproduction is None
    first, options = find_run(connection, names[0]), ScoringOptions(metrics=("compliance_index",))
    again = rescore(connection, first, options, lambda _: None)
    pair = only_pair(quick(connection, [names[0], again]))
    assert pair.reproduction is None, "nor do outputs that are scored again"
    assert pair.by_metric["chrf_plus_plus"].difference == 0
