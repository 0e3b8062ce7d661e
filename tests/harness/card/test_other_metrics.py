"""Runs scored with a metric that this version does not know, or knows otherwise: all but that is as ever."""

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
import pytest
from click.testing import CliRunner

from harness.card.material import fingerprint
from harness.card.model import card_hash
from harness.card.rows import load_card, raw_card
from harness.core.failures import HarnessError
from harness.run.beginning import begun_with
from harness.setup.scoring_tools import stored_scorer
from harness.store.file.database import open_store
from harness.store.runs import find_run, read_run
from rosetta_tui.commands import rosetta
from tests.harness.ranked import play, ranked_corpus

OTHER = "glossiness"


@dataclass(frozen=True)
class Home:
    """A store with a run of another version and one of this, over the same entries."""

    path: Path
    other: str
    ours: str


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Home:
    path = tmp_path_factory.mktemp("other") / "rosetta.sqlite"
    corpus = ranked_corpus(8)
    return Home(path, play(path, corpus, 7, "alpha"), play(path, corpus, 3, "beta"))


@pytest.fixture
def home(played: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    return Home(Path(shutil.copy(played.path, tmp_path)), played.other, played.ours)


Rows = Callable[[list[Any]], list[Any]]


def scored_elsewhere(home: Home, metrics: Sequence[str], rows: Rows, packed: Any, scores: dict[str, Any]) -> None:  # fmt: skip
    """Make the run one of a program with other metrics: set-up, rows, scores and seal."""
    with closing(open_store(home.path)) as store:
        number = find_run(store, home.other).id
        opening = read_run(store, number).opening.as_json()
        opening["scoring"] = {**opening["scoring"], "metrics": list(metrics)}
        opening.pop("packed", None)
        if packed is not None:
            opening["packed"] = packed
        store.execute("UPDATE runs SET opening = ? WHERE id = ?", (json.dumps(opening), number))
        for position, data in store.execute(
            "SELECT position, statistics FROM results WHERE run = ?", (number,)
        ).fetchall():
            changed = msgpack.packb(rows(msgpack.unpackb(data)))
            sql = "UPDATE results SET statistics = ? WHERE run = ? AND position = ?"
            store.execute(sql, (changed, number, position))
        card = raw_card(store, read_run(store, number))
        card["harness_version"] = "9.9.9"
        card["scoring"] = opening["scoring"]
        card["scores"] |= scores
        run = read_run(store, number)
        print_ = fingerprint(run.setup, card["dataset"]["sha256"], card["harness_version"])
        card["fingerprint"] = print_.model_dump(mode="json")
        card["run_card_hash"] = card_hash(card)
        head = {name: value for name, value in card.items() if name != "results"}
        store.execute("UPDATE runs SET run_card = ? WHERE id = ?", (json.dumps(head), number))


def columns(home: Home) -> list[tuple[str, int]]:
    with closing(open_store(home.path)) as store:
        return list(stored_scorer(find_run(store, home.other), "eo", ()).packed)  # type: ignore[arg-type]


def setup_metrics(home: Home) -> list[str]:
    with closing(open_store(home.path)) as store:
        return list(find_run(store, home.other).opening.scoring["metrics"])


def with_one_more(home: Home, *, recorded: bool) -> None:
    """Insert a metric in the middle of the set-up that this version does not know."""
    before = columns(home)
    place = len(before) // 2
    metrics = setup_metrics(home)
    metrics.insert(metrics.index(before[place][0]), OTHER)
    packed = [*before[:place], (OTHER, 3), *before[place:]] if recorded else None

    def rows(row: list[Any]) -> list[Any]:
        return [*row[:place], [1, 2, 0.5], *row[place:]]

    scored_elsewhere(home, metrics, rows, packed, {OTHER: 0.53})


def with_wider(home: Home) -> None:
    """Let a metric that is known here have taken one number more."""
    before = columns(home)
    place = next(i for i, (id_, _) in enumerate(before) if id_ == "compliance_index")
    packed = [(id_, width + (i == place)) for i, (id_, width) in enumerate(before)]

    def rows(row: list[Any]) -> list[Any]:
        return [*row[:place], [*row[place], 7], *row[place + 1 :]]

    scored_elsewhere(home, setup_metrics(home), rows, packed, {})


MAKERS: dict[str, Callable[[Home], None]] = {
    "unknown": lambda home: with_one_more(home, recorded=True),
    "known otherwise": with_wider,
}


@pytest.fixture(params=list(MAKERS.values()), ids=list(MAKERS))
def mixed(home: Home, request: pytest.FixtureRequest) -> Home:
    request.param(home)
    return home


def said(*arguments: object) -> str:
    done = CliRunner().invoke(rosetta, [str(each) for each in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_every_command_reads_it(mixed: Home, tmp_path: Path) -> None:
    with closing(open_store(mixed.path)) as store:
        load_card(store, find_run(store, mixed.other).id)
    assert "does not compute" in said("runs", "verify", mixed.other)
    ranked = json.loads(said("leaderboard", "--json"))
    listed = [each["run_id"] for board in ranked for each in board["runs"]]
    assert sorted(listed) == sorted([mixed.other, mixed.ours])
    said("runs", "export", mixed.other, "-o", tmp_path / "card.json")
    said("runs", "export", mixed.other, "--form", "csv", "-o", tmp_path / "rows.csv")
    said("runs", "delete", "--now", "--yes", mixed.other)
    assert json.loads((tmp_path / "card.json").read_text("utf-8"))["run_id"] == mixed.other
    said("runs", "import", tmp_path / "card.json")
    assert "chrF++" in said("compare", mixed.other, mixed.ours)
    assert mixed.other[:8] in said("runs", "list")


def test_known_metrics_keep_their_values(home: Home) -> None:
    def values() -> dict[str, float | None]:
        with closing(open_store(home.path)) as store:
            run = find_run(store, home.other)
            sql = "SELECT statistics FROM results WHERE run = ?"
            rows = [row[0] for row in store.execute(sql, (run.id,))]
            return stored_scorer(run, "eo", ()).unpack_table(rows).corpus_values()

    before = values()
    with_one_more(home, recorded=False)
    assert values() == before


def test_unknown_value_is_repeated_as_stated(home: Home) -> None:
    with_one_more(home, recorded=True)
    shown = said("runs", "show", home.other)
    assert "as stated: this version does not know these metrics" in shown
    assert f"{OTHER}  " in shown
    with closing(open_store(home.path)) as store:
        card = load_card(store, find_run(store, home.other).id)
    assert all((row.statistics or {})[OTHER] == [1, 2, 0.5] for row in card.results)
    assert "glossiness, which this version does not compute" in said("runs", "verify", home.other)
    with closing(open_store(home.path)) as store:
        store.execute("UPDATE results SET statistics = ? WHERE position = 3", (msgpack.packb([]),))
        with pytest.raises(Exception, match="statistics of an entry are damaged"):
            load_card(store, find_run(store, home.other).id)


def test_run_begun_with_other_metrics_is_not_resumed(home: Home) -> None:
    with_wider(home)
    with closing(open_store(home.path)) as store:
        with pytest.raises(HarnessError, match="other versions of its metrics"):
            begun_with(store, find_run(store, home.other))
        ours = find_run(store, home.ours)
        begun_with(store, ours).close()
        scorer = stored_scorer(ours, "eo", ())
    assert ours.opening.packed == tuple(scorer.packed)
    assert [id_ for id_, _ in scorer.packed] == scorer.ids
