"""Cards out of the store and into another one."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import stat
from pathlib import Path

import pytest
import sacrebleu

from harness.card.build import seal
from harness.card.checking.verify import verify_card
from harness.card.exporting import ExportForm, export_run
from harness.card.importing import import_card
from harness.card.load import load_card
from harness.card.seal import card_hash
from harness.core.failures import HarnessError, UsageError
from harness.core.written_files import write_file
from harness.store.corpora.entries import read_entries
from harness.store.results import read_results
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from scoring.core.scorer import Scorer
from scoring.metrics.inventory import make_metrics, surface_setup
from scoring.words.resources import Resources
from tests.harness.card import factory
from tests.harness.card.older_reports import OLDER, report
from tests.harness.card.sealed_cards import add_secret_run, resealed, sealed, written


@pytest.fixture
def here(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A store with a sealed run."""
    seal(connection, factory.add_run(connection))
    return connection


NUMBER = 1


def test_card_goes_out_and_in_again(here: sqlite3.Connection, there: sqlite3.Connection) -> None:
    data = export_run(here, NUMBER, ExportForm.CARD)
    assert verify_card(data).ok
    assert import_card(here, data, "card.json").known, "our own"
    done = import_card(there, data, "card.json")
    assert (done.run_id, done.known, done.unverified) == (factory.RUN_ID, False, None)
    run = find_run(there, factory.RUN_ID)
    assert run.imported
    assert export_run(there, run.id, ExportForm.CARD) == data
    assert load_card(there, run.id).as_json() == load_card(here, NUMBER).as_json()
    (summary,) = list_runs(there)
    assert summary.card is not None
    assert summary.card["scores"] == load_card(here, NUMBER).as_json()["scores"]
    assert (summary.total, summary.done, summary.failed) == (4, 4, 1)
    assert tuple(read_entries(there, run.corpus).values()) == factory.ENTRIES
    scorer = Scorer(make_metrics(Resources(surface_setup("und", "eo", factory.ENTRIES))))
    both = zip(read_results(here, NUMBER), read_results(there, run.id), strict=True)
    for ours, theirs in both:
        assert scorer.unpack(ours.statistics) == scorer.unpack(theirs.statistics)
        for name in ("output", "headline", "error_class", "cost_usd", "cached"):
            assert getattr(ours, name) == getattr(theirs, name)


def test_unsealed_run_is_not_exported(there: sqlite3.Connection) -> None:
    number = factory.add_run(there, stored=1)
    for form in ExportForm:
        with pytest.raises(HarnessError, match="rosetta resume 6f1c3a52"):
            export_run(there, number, form)


def test_lines_and_cells_hold_texts_as_they_are(here: sqlite3.Connection) -> None:
    lines = export_run(here, NUMBER, ExportForm.JSONL).decode().split("\n")
    rows = [json.loads(line) for line in lines[:-1]]
    assert [row["predicted"] for row in rows] == list(factory.OUTPUTS)
    table = list(csv.DictReader(io.StringIO(export_run(here, NUMBER, ExportForm.CSV).decode())))
    assert [row["predicted"] for row in table] == [text or "" for text in factory.OUTPUTS]
    assert [row["source"] for row in table] == [entry.source for entry in factory.ENTRIES]
    assert [float(row["entry_chrf"]) for row in table] == [row["entry_chrf"] for row in rows]
    assert table[1]["variants"] == '["Hieraŭ mi vidis lian hundon."]'
    assert table[0]["usage.prompt_tokens"] == "20"
    assert table[2]["error_class"] == "empty"
    assert table[0]["error"] == ""


def test_card_of_one_secret_entry_does_not_leave(there: sqlite3.Connection) -> None:
    number = add_secret_run(there)
    seal(there, number)
    for form in ExportForm:
        with pytest.raises(UsageError, match="copy the data folder") as caught:
            export_run(there, number, form)
        assert not any(secret in str(caught.value) for secret in factory.SECRETS)


def test_written_file_is_private_and_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    write_file(path, b"one", overwrite=False)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(UsageError, match=r"card\.json is there already.*--overwrite"):
        write_file(path, b"two", overwrite=False)
    assert path.read_bytes() == b"one"
    write_file(path, b"two", overwrite=True)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"two", 0o600)
    with pytest.raises(UsageError, match="cannot be written"):
        write_file(tmp_path / "absent" / "card.json", b"", overwrite=False)
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        write_file(path, b"", overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == ["card.json"]


def test_importing_twice_is_once(there: sqlite3.Connection) -> None:
    data = written(sealed())
    assert not import_card(there, data, "card.json").known
    assert import_card(there, json.dumps(sealed()).encode(), "copy.json").known
    assert len(list_runs(there)) == 1


def test_another_card_of_the_same_run_is_refused(there: sqlite3.Connection) -> None:
    import_card(there, written(sealed()), "card.json")
    with pytest.raises(UsageError, match="different card of run 6f1c3a52"):
        import_card(there, resealed({**sealed(), "condition": "other"}), "other.json")


def test_broken_seal_is_refused_or_marked(there: sqlite3.Connection) -> None:
    forged = {**sealed(), "timestamp": "2026-01-01T00:00:00Z"}
    with pytest.raises(UsageError, match=r"seal is broken.*--unverified"):
        import_card(there, written(forged), "card.json")
    assert list_runs(there) == []
    assert import_card(there, written(forged), "card.json", unverified=True).unverified is not None
    (summary,) = list_runs(there)
    assert summary.card is not None
    assert "seal is broken" in summary.card["unverified"]


def test_card_without_seal_is_refused_or_marked(there: sqlite3.Connection) -> None:
    without = {name: value for name, value in sealed().items() if name != "run_card_hash"}
    for card in ({**without, "run_card_hash": ""}, without):
        with pytest.raises(UsageError, match="has no seal"):
            import_card(there, written(card), "card.json")
    done = import_card(there, written(without), "card.json", unverified=True)
    assert "no seal" in (done.unverified or "")


def test_unknown_fields_are_kept_at_every_level(there: sqlite3.Connection) -> None:
    card = json.loads(written(sealed()))
    card["new"] = {"a": [1, None, "ê"]}
    card["scores"]["new"] = 1.5
    card["dataset"]["new"] = "x"
    card["method"]["new"] = "x"
    card["results"][0]["new"] = {"deep": True}
    card["results"][0]["usage"]["new"] = 3
    card["fingerprint"]["new"] = "x"
    card["run_card_hash"] = card_hash(card)
    import_card(there, written(card), "card.json")
    run = find_run(there, factory.RUN_ID)
    assert load_card(there, run.id).as_json() == card
    line = export_run(there, run.id, ExportForm.JSONL).decode().split("\n")[0]
    assert json.loads(line)["new"] == {"deep": True}
    table = csv.DictReader(io.StringIO(export_run(there, run.id, ExportForm.CSV).decode()))
    assert next(iter(table))["new"] == '{"deep": true}'


def test_older_layout_comes_out_unchanged(there: sqlite3.Connection) -> None:
    done = import_card(there, OLDER.read_bytes(), "older.json")
    assert done.unverified is None
    run = find_run(there, done.run_id)
    assert export_run(there, run.id, ExportForm.CARD) == OLDER.read_bytes()
    card = load_card(there, run.id)
    assert card.run_id == "run_20260601_120000_example_model_naive_x_ab12cd"
    assert card.cost.total_cost_usd == 0.0123
    assert card.tokens.prompt_tokens == 4000
    assert card.speed.p95_latency_seconds == 0.05
    assert card.speed.elapsed_seconds == 12.5
    assert card.scores.bleu == 33.3
    assert card.scores.confidence_intervals["chrf_plus_plus"].ci_lower == 55.1
    assert card.claimable_tier == "functional"
    assert import_card(there, OLDER.read_bytes(), "older.json").known


def test_withheld_rows_come_in_as_numbers(there: sqlite3.Connection) -> None:
    import_card(there, written(sealed(secret=True)), "card.json")
    run = find_run(there, factory.RUN_ID)
    *_, result = read_results(there, run.id)
    assert result.output is None
    assert result.headline == sealed(secret=True)["results"][4]["entry_chrf"]
    assert read_entries(there, run.corpus)[4].secret


def test_texts_of_a_secret_segment_are_refused(there: sqlite3.Connection) -> None:
    card = json.loads(written(sealed()))
    card["results"][0]["segment"] = "held_out"
    card["run_card_hash"] = card_hash(card)
    with pytest.raises(UsageError, match="1 entries of a secret segment") as raised:
        import_card(there, written(card), "card.json")
    assert "hundo" not in str(raised.value)


def test_what_cannot_be_stored_is_refused(there: sqlite3.Connection) -> None:
    for name in ("entry_id", "prompt_tokens"):
        card = json.loads(written(sealed()))
        row = card["results"][0]
        (row if name == "entry_id" else row["usage"])[name] = 2**70
        with pytest.raises(UsageError, match="cannot be"):
            import_card(there, json.dumps(card).encode(), "card.json", unverified=True)
    with pytest.raises(UsageError, match="leaderboard row"):
        import_card(there, b'{"modelSlug": "m", "chrF": 1}', "row.json")
    broken = report(entries=[{"id": "x", "source": "a"}])
    with pytest.raises(UsageError, match=r"report\.json: \$\.entries\[0\]\.expected"):
        import_card(there, written(broken), "report.json")
    assert list_runs(there) == []


def test_report_is_scored_anew_and_kept(there: sqlite3.Connection) -> None:
    done = import_card(there, written(report()), "report.json")
    assert done.note is not None
    run = find_run(there, done.run_id)
    card = load_card(there, run.id)
    outputs = [entry["predicted"] for entry in report()["entries"]]
    references = [[entry["expected"] for entry in report()["entries"]]]
    assert card.scores.chrf_plus_plus == pytest.approx(
        sacrebleu.corpus_chrf(outputs, references, word_order=2).score, abs=1e-9
    )
    assert card.scores.errors == 1
    assert card.scores.exact_match_rate == 0.25  # case counts, and so does the failure
    assert card.timestamp == "2026-06-12T13:12:16.000Z"
    assert card.dataset.id == "eng-epo-dev-v1"
    assert card.model_slug == "example/model"
    assert card.condition == "naive"
    assert card.temperature == 0.0
    assert card.elapsed_seconds is None
    assert card.cost.total_cost_usd == pytest.approx(0.0008)
    assert card.as_json()["source_report"]["overall"]["exact_match_rate"] == 0.6667
    assert verify_card(export_run(there, run.id, ExportForm.CARD)).ok
    assert import_card(there, written(report()), "report.json").known


def test_report_is_verified_by_its_own_rules() -> None:
    assert verify_card(written(report())).ok
    overall, row = report(), report()
    overall["overall"]["corpus_chrf"] += 0.5
    row["entries"][3]["chrf_score"] += 0.001
    for forged, path in ((overall, "$.overall.corpus_chrf"), (row, "$.entries[3].chrf_score")):
        first = verify_card(written(forged)).first_difference
        assert first is not None
        assert first.path == path


def test_reports_on_other_data_are_other_experiments(there: sqlite3.Connection) -> None:
    one = import_card(there, written(report()), "one.json")
    entries = report()["entries"][:3]
    two = import_card(there, written(report(run_id="other", entries=entries)), "two.json")
    hashes = {find_run(there, done.run_id).setup_hash for done in (one, two)}
    assert len(hashes) == 2
