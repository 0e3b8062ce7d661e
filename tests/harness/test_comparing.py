"""Comparing runs of a real store, for the first time and again: what is joined, refused, read anew and elsewhere."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import numpy as np
import pytest

from corpora.model.corpus import Corpus
from harness.card.exporting import ExportForm, card_bytes, export_run
from harness.card.importing import import_card
from harness.card.rows import load_card
from harness.compare.comparing import compare_runs
from harness.compare.comparison import Comparison, open_texts
from harness.compare.rows import RowReader
from harness.core.failures import UsageError
from harness.method.options import MethodOptions
from harness.run.rescoring import rescore
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.store.live_runs import begin_stretch
from harness.store.results import add_results, read_results, read_statistics
from harness.store.runs import find_run, forget_failed, read_run
from harness.store.sqlite.database import open_store
from scoring.statistics.significance import compare
from tests.harness.evaluation import LANGUAGES, begun, corpus, run_corpus, sealed_card
from tests.harness.sealed.refusals import refuses

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
        for number, entry in enumerate(given.reveal_here())
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
def connection(two: tuple[Path, str, str], tmp_path: Path) -> Iterator[Connection]:
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


def quick(store: Connection, names: Sequence[str], **more: Any) -> Comparison:
    """Compare with few draws: where no p value is looked at."""
    return compare_runs(store, names, draws=50, trials=50, **more)


def only_pair(found: Comparison) -> Any:
    [pair] = found.pairs
    return pair


def test_better_run_found(connection: Connection, weak: str, strong: str, tmp_path: Path) -> None:
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
    assert list(dict(read_statistics(connection, find_run(connection, weak).id))) == list(range(40))


def test_texts_and_parts_side_by_side(connection: Connection, weak: str, strong: str) -> None:
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


def test_only_common_entries_count(connection: Connection, run: Run, strong: str) -> None:
    part, other = run(range(10), positions=range(5, 25)), run(positions=range(25, 40))
    found = quick(connection, [strong, part])
    assert list(found.entries.ids) == list(range(5, 25))
    assert [r.done for r in found.runs] == [40, 20]
    assert only_pair(found).by_metric["exact_match_rate"].second == pytest.approx(5 / 20)
    found = quick(connection, [part, other])
    assert found.refused == {other: "it has no entry in common with the runs before it"}
    assert found.pairs == ()


def test_several_are_corrected(connection: Connection, run: Run, weak: str, strong: str) -> None:
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


def test_other_corpora_and_readings_are_refused(connection: Connection, run: Run) -> None:
    given = corpus(12)
    one, two, other = run(given=given), run(range(9), given), run(given=corpus(13))
    found = quick(connection, [one, other, two])
    assert [r.run_id for r in found.runs] == [one, two]
    assert "its corpus is another: made (sha256" in found.refused[other]
    sides = (e.model_copy(update={"source": e.reference, "reference": e.source}) for e in given.reveal_here())
    turned = Corpus(given.dataset, tuple(sides), given.sha256, given.form)
    connection.execute("UPDATE corpora SET dataset = replace(dataset, '\"made\"', '\"was\"')")
    found = quick(connection, [one, run(given=turned)])
    assert "other sources or references" in next(iter(found.refused.values()))
    number = find_run(connection, two).id
    damaged = "UPDATE results SET statistics = x'9101' WHERE run = ? AND position = 3"
    connection.execute(damaged, (number,))
    found = quick(connection, [one, two])
    assert "its stored statistics cannot be used" in found.refused[two]


def test_metrics_scored_otherwise_are_left_out(connection: Connection, run: Run) -> None:
    given = corpus(20, variants=["ANOTHER"])
    one = run(range(9), given, metrics=SURFACE)
    several = run(range(20), given, metrics=SURFACE, multi_ref=True)
    pair = only_pair(quick(connection, [one, several]))
    assert set(pair.left_out) == {"chrf_plus_plus", "bleu", "ter", "composite"}
    for words in ("multi_ref", "nrefs:1", "nrefs:var"):
        assert words in pair.left_out["bleu"]
    assert "case:" not in pair.left_out["bleu"], "only what differs is said of a signature"
    assert "scored otherwise: chrF++" in pair.left_out["composite"]
    assert set(pair.by_metric) == {"exact_match_rate", "length_ratio"}
    other = run(range(20), given, metrics=("chrf_plus_plus", "bleu"))
    pair = only_pair(quick(connection, [one, other]))
    assert f"only run {one[:8]} has exact)" in pair.left_out["composite"]
    assert pair.left_out["ter"].startswith(f"run {other[:8]} has no value: not among the metrics")
    assert set(pair.by_metric) == {"chrf_plus_plus", "bleu"}
    asked = only_pair(quick(connection, [one, other], metrics=["chrf_plus_plus"]))
    assert (set(asked.by_metric), asked.left_out) == ({"chrf_plus_plus"}, {})


def test_wrong_names_are_refused(connection: Connection, weak: str, strong: str) -> None:
    seven = [f"run-{n}" for n in range(7)]
    columns = [row[1] for row in connection.execute("PRAGMA table_info(runs)")]
    names = ", ".join(name for name in columns if name not in {"id", "run_id"})
    insert = f"INSERT INTO runs (run_id, {names}) SELECT ?, {names} FROM runs WHERE id = 1"
    connection.executemany(insert, [(name,) for name in seven])
    for named, metrics, words in (
        (["last"], None, "1 run is named"),
        (["last"] * 2, None, "named twice"),
        (["last", "nope"], None, "No run is named 'nope'"),
        ([weak, strong], ["Blue"], "There is no metric 'Blue'"),
        (seven, None, "7 runs are named"),
    ):
        refuses(UsageError, words, compare_runs, connection, named, metrics=metrics)


def unfinished(path: Path, connection: Connection, of: str, done: int) -> str:
    """Begin a run and give it the first rows of another, as if it were under way."""
    options = MethodOptions(**LANGUAGES, text="x")
    plan = Plan(method="constant", options=options, scoring=ScoringOptions(metrics=(*FEW, "ter")))
    number, _ = begun(path, corpus(50), plan)
    columns = [row[1] for row in connection.execute("PRAGMA table_info(results)")][1:]
    names = ", ".join(columns)
    rows = f"SELECT ?, {names} FROM results WHERE run = ? AND position < ?"
    told = (number, find_run(connection, of).id, done)
    connection.execute(f"INSERT INTO results (run, {names}) {rows}", told)
    [run_id] = connection.execute("SELECT run_id FROM runs WHERE id = ?", (number,)).fetchone()
    return str(run_id)


def test_run_under_way_is_judged(tmp_path: Path, connection: Connection, run: Run) -> None:
    path, given, metrics = tmp_path / "rosetta.sqlite", corpus(50), (*FEW, "ter")
    low = run(range(0, 50, 10), given, metrics=metrics)
    high = run(range(50), given, metrics=metrics)
    for done, decided in ((8, False), (45, True)):
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


def test_secret_texts_are_not_read(connection: Connection, run: Run, tmp_path: Path) -> None:
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


def sealed_again(connection: Connection, run_id: str, changes: str) -> None:
    """Change a run's set-up in the store, as if another method had made it."""
    sql = f"UPDATE runs SET setup = json_set(setup, {changes}) WHERE run_id = ?"
    connection.execute(sql, (run_id,))


def test_repetition_reproduces_within_two_percent(connection: Connection, run: Run) -> None:
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


# Looking again at runs that were compared before: only what is new is read, and the numbers are the same

ONE, OTHER = RUNS = (1, 2)
"""The store's numbers of the runs of ``store``."""


@pytest.fixture(scope="module")
def going(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a finished run, and one that is only begun."""
    path = tmp_path_factory.mktemp("going") / "rosetta.sqlite"
    options = MethodOptions(**LANGUAGES, text="x")
    plan = Plan(method="constant", options=options, scoring=ScoringOptions(metrics=FEW))
    run_corpus(path, corpus(40), plan)
    begun(path, corpus(40), plan)
    return path


@pytest.fixture
def store(going: Path, tmp_path: Path) -> Iterator[Connection]:
    with closing(open_store(Path(shutil.copy(going, tmp_path)))) as opened:
        yield opened


def give(store: Connection, places: Sequence[int]) -> None:
    """Let the run that is under way finish some entries."""
    results = read_results(store, ONE, places)
    add_results(store, OTHER, list(results))


def compared(store: Connection, earlier: Comparison | None = None) -> Comparison:
    ids = [read_run(store, number).run_id for number in RUNS]
    return compare_runs(store, ids, metrics=FEW, draws=100, trials=100, earlier=earlier)


def numbers(found: Comparison) -> object:
    told = [(dict(pair.by_metric), dict(pair.running)) for pair in found.pairs]
    return told, found.entries.ids, found.entries.positions.tolist()


def test_new_entries_are_put_in_place(store: Connection) -> None:
    give(store, [30, 2, 17])
    first = compared(store)
    give(store, [1, 39, 18])
    again = compared(store, first)
    assert again.entries.positions.tolist() == [[1, 2, 17, 18, 30, 39]] * 2
    assert numbers(again) == numbers(compared(store))
    for old, new in zip(first.sides, again.sides, strict=True):
        known = {id(row) for row in old.rows.rows}
        read = [row.entry.position for row in new.rows.rows if id(row) not in known]
        assert sorted(read) == ([] if new.rows.sealed else [1, 18, 39])


def test_retried_entries_read_again(store: Connection) -> None:
    give(store, range(10))
    late = "SET error_class = 'timeout', error = 'late' WHERE run = 2 AND position > 6"
    store.execute(f"UPDATE results {late}")
    first = compared(store)
    assert sum(row.failed for row in first.sides[1].used) == 3
    forget_failed(store, OTHER)
    assert len(compared(store, first).entries) == 7
    begin_stretch(store, OTHER)
    give(store, [7, 8, 9, 10])
    again = compared(store, first)
    assert sum(row.failed for row in again.sides[1].used) == 0
    assert numbers(again) == numbers(compared(store))


def test_run_sealed_since_is_reread(store: Connection) -> None:
    give(store, range(40))
    first = compared(store)
    third = "SELECT statistics FROM results WHERE run = 1 AND position = 3"
    store.execute(f"UPDATE results SET statistics = ({third}) WHERE run = 2")
    store.execute("UPDATE runs SET run_card = '{}', state = 'complete' WHERE id = 2")
    again = compared(store, first)
    assert not again.running
    assert numbers(again) == numbers(compared(store))
    assert numbers(again) != numbers(first)


def test_runs_share_entries(store: Connection) -> None:
    give(store, range(5))
    whole, some = (read_run(store, number) for number in RUNS)
    reader = RowReader(store)
    few = reader.read(some._replace(positions=(3, 4)))
    assert set(few.corpus) == {3, 4}
    every = reader.read(whole)
    assert len(every.rows) == 40
    assert [row.entry for row in few.rows] == [every.corpus[3], every.corpus[4]]
    assert few.rows[0].entry is every.rows[3].entry
