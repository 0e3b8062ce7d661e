"""Files of the reference implementation 0.4, cards without composite and tiers, and runs with metrics unknown here."""

import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import msgpack
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.formats.load import load
from corpora.model.corpus import Form
from corpora.model.entry import Segment
from harness.card.checking.verify_card import verify_card, verify_object
from harness.card.exporting import ExportForm, export_run
from harness.card.foreign_cards import adopt
from harness.card.importing import import_card
from harness.card.material import fingerprint
from harness.card.model import card_hash
from harness.card.reading import read_card_file
from harness.card.rows import load_card, raw_card
from harness.core.canonical import sorted_key_sha256
from harness.core.failures import HarnessError, UsageError
from harness.inputs.outputs import read_outputs
from harness.leaderboard.ranking import leaderboards
from harness.run.beginning import begun_with
from harness.setup.scoring_tools import stored_scorer
from harness.store.run_list import list_runs
from harness.store.runs import find_run, read_run
from harness.store.sqlite.database import open_store
from rosetta_tui.commands import rosetta
from rosetta_tui.report.card import card_text
from tests.corpora.making import file, only_problem
from tests.harness.card import factory
from tests.harness.card.factory import OLDER, report, sealed
from tests.harness.ranked import play, ranked_corpus
from tests.harness.sealed.refusals import refuses

PAIRS = [("Good morning!", "Bonan matenon!"), ("Thanks!", "Dankon!"), ("Go home.", "Iru hejmen.")]


def contest_set(segment: str = "dev") -> dict[str, Any]:
    pair = {"source": "eng", "target": "epo", "source_name": "English"}
    rows = [
        {"id": f"g_{n}", "source": one, "reference": other, "segment": segment} for n, (one, other) in enumerate(PAIRS)
    ]
    dataset = {"corpus_id": "greetings-contest", "version": "2", "language_pair": pair,
               "license": "CC0-1.0", "do_not_train": True, "entry_count": 3}  # fmt: skip
    return {"dataset": dataset, "entries": rows}


def log(rows: str = "results", **changes: Any) -> dict[str, Any]:
    return {
        "harness_version": "0.4.0",
        "run_id": "run_20261102_101112_example_model_naive_greetings_b25_0a1b2c",
        "config": {"model": "example/model", "prompt_version": "naive", "batch_size": 25,
                   "method_path": None, "temperature": 0.0, "source_lang": "English",
                   "target_lang": "Esperanto", "target_lang_code": "epo",
                   "corpus_path": "/tmp/corpus500.json"},
        "provenance": {"dataset_meta": {"corpus_id": "greetings-contest"}},
        rows: [
            {"id": f"g_{n}", "source": one, "expected": other, "raw_predicted": f" {out}",
             "predicted": out, "latency_s": 0.5, "cost_usd": 0.001, "cached": False,
             "usage": {"prompt_tokens": 9, "completion_tokens": 4}, "segment": "dev",
             "error": None if out else "timeout", "metadata": {}}
            for n, ((one, other), out) in enumerate(zip(PAIRS, OUTPUTS, strict=True))
        ],
        **changes,
    }  # fmt: skip


OUTPUTS = ("Bonan matenon!", "Dankegon!", "")


def written(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def test_a_contest_set_is_read(tmp_path: Path) -> None:
    corpus = load(file(tmp_path, written(contest_set())))
    assert (corpus.form, corpus.dataset.id) == (Form.REFERENCE_IMPLEMENTATION, "greetings-contest")
    assert (corpus.dataset.source_language, corpus.dataset.target_language) == ("eng", "epo")
    assert {each.segment for each in corpus.entries} == {Segment.DEVELOPMENT}
    assert (corpus.dataset.model_extra or {})["do_not_train"] is True
    assert not corpus.warnings


@pytest.mark.parametrize("segment", ["sealed", "holdout"])
def test_secret_segments_are_secret(tmp_path: Path, there: Connection, segment: str) -> None:
    corpus = load(file(tmp_path, written(contest_set(segment))))
    assert all(each.secret for each in corpus.entries)
    rows = [{**row, "segment": segment} for row in log()["results"]]
    done = import_card(there, written(log(results=rows)), "log.json")
    card = load_card(there, find_run(there, done.run_id).id)
    assert (card.results, card.scores.total) == ([], 3)
    assert not any("matenon" in line for line in there.iterdump())


UNCLEAR: tuple[Callable[[dict[str, Any]], Any], ...] = (
    lambda raw: [row.update(segment="Gold-Standard") for row in raw["results"]],
    lambda raw: [row.update(segment=None, split="held_out") for row in raw["results"]],
    lambda raw: [row.update(segment=None, metadata={"segment": "sealed"}) for row in raw["results"]],
    lambda raw: ([row.update(segment=None) for row in raw["results"]], raw["config"].update(segment="held_out")),
)
"""By its spelling, in another field, inside one, and in the set-up."""


def test_log_of_a_possibly_secret_segment_is_refused(there: Connection) -> None:
    for mark in UNCLEAR:
        raw = log()
        mark(raw)
        told = refuses(UsageError, "secret segment", import_card, there, written(raw), "log.json", unverified=True)
        assert "matenon" not in str(told)
    assert not any("matenon" in line for line in there.iterdump())


def test_published_row_brings_no_texts_of_entries(there: Connection) -> None:
    entry = {"segment": "gold_standard", "reference": "Bonan matenon!"}
    for field in ({"results": [entry]}, {"more": {"deep": [[entry]]}}):
        with pytest.raises(UsageError, match="holds texts of entries") as told:
            import_card(there, written(published(**field)), "row.json", unverified=True)
        assert "matenon" not in str(told.value)
    assert not any("matenon" in line for line in there.iterdump())


def test_another_segment_is_still_an_error_there(tmp_path: Path) -> None:
    rows = contest_set("deev")
    rows["entries"] = rows["entries"][:1]
    assert only_problem(file(tmp_path, written(rows))).field == "segment"


@pytest.mark.parametrize("rows", ["results", "entries"])
def test_run_log_is_read_imported_and_scored(tmp_path: Path, there: Connection, rows: str) -> None:
    corpus = load(file(tmp_path, written(contest_set())))
    outputs = read_outputs(file(tmp_path, written(log(rows)), "log.json"), corpus.reveal_here())
    first, second, third = (outputs.output(f"g_{n}") for n in range(3))
    assert (first.text, second.text, third.text) == ("Bonan matenon!", "Dankegon!", None)
    assert outputs.models() == ["example/model"]
    assert first.recorded is not None
    assert (first.recorded.latency_seconds, first.recorded.cost_usd) == (0.5, 0.001)
    assert first.recorded.usage is not None
    done = import_card(there, written(log(rows)), "log.json")
    card = load_card(there, find_run(there, done.run_id).id)
    assert card.dataset.id == "greetings-contest"
    assert (card.scores.exact_match_rate, card.scores.errors) == (pytest.approx(1 / 3), 1)
    assert card.model_slug == "example/model"
    assert {row.segment for row in card.results} == {"development"}
    assert import_card(there, written(log(rows)), "log.json").known
    assert verify_card(written(log(rows))).ok


def test_caveats_of_a_report_are_kept_and_shown(there: Connection) -> None:
    caveats = [{"kind": "near_constant", "message": "Half of the outputs\x1b[2J are one text."}]
    gone = {"comet": "not installed", "corpus_bleu": "no tokenizer", "their own": "?"}
    raw = report(score_caveats=caveats, metric_availability=gone)
    done = import_card(there, written(raw), "report.json")
    card: dict[str, Any] = load_card(there, find_run(there, done.run_id).id).as_json()
    assert card["source_report"]["metric_availability"] == gone
    reasons = card["scores"]["reasons"]
    assert reasons["comet_score"] == "the report says: not installed"
    assert "bleu" not in reasons  # computed here from the texts
    shown = card_text(card)
    assert "Half of the outputs" in shown
    assert "\x1b" not in shown


def published(**changes: Any) -> dict[str, Any]:
    return {
        "id": "5b0e7b3e-0000-4000-8000-000000000001", "corpus_id": "greetings-contest",
        "language_pair": "eng→epo", "model_slug": "example/model", "condition": "naive",
        "created_at": "2026-11-02T10:11:12Z", "chrf_plus_plus": 48.25, "chrf_ci_lower": 44.0,
        "chrf_ci_upper": 52.5, "entry_count": 3, "fingerprint_hash": "ab" * 32,
        "trust": "self-reported", **changes,
    }  # fmt: skip


def test_published_row_with_its_card_is_that_card(there: Connection) -> None:
    inner = json.loads(OLDER.read_text("utf-8"))
    done = import_card(there, written(published(run_card=inner)), "row.json")
    assert done.unverified is None
    assert load_card(there, find_run(there, done.run_id).id).run_id == inner["run_id"]
    forged = {**inner, "model_slug": "better/model"}
    refuses(UsageError, "seal is broken", import_card, there, written(published(run_card=forged)), "row.json")
    assert sorted_key_sha256({**inner, "run_card_hash": ""}) == inner["run_card_hash"]


def test_published_row_alone_is_unverified(there: Connection) -> None:
    refuses(UsageError, "cannot be checked", import_card, there, written(published()), "row.json")
    done = import_card(there, written(published()), "row.json", unverified=True)
    assert done.unverified is not None
    card = load_card(there, find_run(there, done.run_id).id)
    assert card.scores.chrf_plus_plus == 48.25
    assert card.scores.confidence_intervals["chrf_plus_plus"].ci_upper == 52.5
    assert card.fingerprint.hash == "ab" * 32
    row: Any = card.as_json()["published_row"]
    assert row["trust"] == "self-reported"
    assert import_card(there, written(published()), "row.json", unverified=True).known
    verdict = verify_card(written(published()))
    assert all(each.ok is None for each in verdict.checks)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(st.sampled_from([log(), published(), published(run_card={}), report(score_caveats=[])]), st.data())
def test_whatever_stands_in_a_field_ends_in_words(value: dict[str, Any], data: Any) -> None:
    with tempfile.TemporaryDirectory() as folder, factory.store(Path(folder)) as connection:
        for name in data.draw(st.lists(st.sampled_from(sorted(value)), min_size=1, max_size=2)):
            value = {**value, name: data.draw(JSON)}
        with suppress(UsageError):
            import_card(connection, written(value), "file.json", unverified=True)


def test_published_row_explains_no_value(there: Connection) -> None:
    for number, (said, why) in enumerate(
        (
            ("not installed", "says: not installed"),
            (False, "says: not available"),
            ({"available": False, "reason": "no model\x1b[2J"}, "says: no model\x1b[2J"),
            ({"available": True}, "has no value for it"),
            ("available", "has no value for it"),
            (7, "has no value for it"),
            ("x" * 10_000, f"says: {'x' * 276}"),
        )
    ):
        told = {"comet": said, "corpus_chrf": "has a value all the same"}
        row = published(overall={"metric_availability": told}, id=f"{number}" * 8)
        done = import_card(there, written(row), "row.json", unverified=True)
        card: dict[str, Any] = load_card(there, find_run(there, done.run_id).id).as_json()
        reasons = card["scores"]["reasons"]
        assert reasons["comet_score"] == f"the published row {why}"
        assert "chrf_plus_plus" not in reasons
        assert all(card["scores"].get(metric) is None for metric in reasons)
        assert "\x1b" not in card_text(card)


NEWER = Path(__file__).parent / "newer-card.json"


def without_composite(**changes: Any) -> dict[str, Any]:
    """Return a card of our layout, with its rows, as a harness would seal it that has neither composite nor tier."""
    card = deepcopy(sealed())
    gone = [each for each in card["scores"] if "composite" in each]
    for name in (*gone, "claim", "at_floor", "claimable_tier", "quality_tier", "cost_adjusted"):
        card["scores"].pop(name, None)
    for name in ("claimable_tier", "floors", "floors_version"):
        card.pop(name, None)
    card |= {"scoring_standard": "standard/1", **changes}
    return {**card, "run_card_hash": card_hash(card)}


def test_newer_layout_comes_out_unchanged(there: Connection) -> None:
    done = import_card(there, NEWER.read_bytes(), "newer.json")
    assert done.unverified is None
    run = find_run(there, done.run_id)
    assert export_run(there, run.id, ExportForm.CARD) == NEWER.read_bytes()
    card = load_card(there, run.id)
    assert (card.scores.composite, card.scores.quality_tier) == (None, "unscored")
    assert card.claimable_tier == "unscored"
    kept: dict[str, Any] = card.as_json()
    assert (kept["scoring_standard"], kept["trust"]) == ("standard/1", "self-reported")
    assert kept["scores"]["chrf_signature"].endswith("version:2.5.1")
    assert import_card(there, NEWER.read_bytes(), "newer.json").known
    text = card_text(kept)
    assert "no composite stated: harness 0.4.0 gives none, and none is worked out here" in text
    assert "61.5 (55.1–67.2)" in text
    assert "unscored" in text
    import_card(there, written(without_composite()), "newer.json")
    assert len(list_runs(there)) == 2
    assert leaderboards(there) == [], "in no list by composite"


def test_card_without_composite_is_verified_by_its_rows(there: Connection, tmp_path: Path) -> None:
    card = without_composite()
    import_card(there, written(card), "newer.json")
    verdict = verify_card(written(card), there, "newer.json")
    assert verdict.first_difference is None
    path = tmp_path / "newer.json"
    path.write_bytes(written(card))
    assert verify_object(read_card_file(path), there, "newer.json").checks == verdict.checks
    assert export_run(there, find_run(there, card["run_id"]).id, ExportForm.CARD) == written(card)
    card["scores"]["chrf_plus_plus"] += 1
    card["run_card_hash"] = card_hash(card)
    assert not verify_card(written(card), None, "newer.json").ok
    card = without_composite()
    card["scores"].setdefault("reasons", {})["composite"] = "retired by standard/1"
    assert "no composite stated: retired by standard/1" in card_text(card)
    card["scores"]["composite"] = 0.5
    refuses(UsageError, r"\$\.scores\.quality_tier: Field required", adopt, card, "newer.json")


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


def scored_elsewhere(home: Home, metrics: Sequence[str], rows: Rows, packed: Any, scores: dict[str, Any]) -> None:
    """Make the run one of a program with other metrics: set-up, rows, scores and seal."""
    with closing(open_store(home.path)) as store:
        number = find_run(store, home.other).id
        opening: dict[str, Any] = {**read_run(store, number).opening.as_json()}
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
        card: dict[str, Any] = {**raw_card(store, read_run(store, number))}
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
        refuses(Exception, "statistics of an entry are damaged", load_card, store, find_run(store, home.other).id)


def test_run_begun_with_other_metrics_is_not_resumed(home: Home) -> None:
    with_wider(home)
    with closing(open_store(home.path)) as store:
        refuses(HarnessError, "other versions of its metrics", begun_with, store, find_run(store, home.other))
        ours = find_run(store, home.ours)
        begun_with(store, ours).close()
        scorer = stored_scorer(ours, "eo", ())
    assert ours.opening.packed == tuple(scorer.packed)
    assert [id_ for id_, _ in scorer.packed] == scorer.ids
