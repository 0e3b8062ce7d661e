"""Cards from stored rows, which experiment a run was, and cards out of the store and into another one."""

import csv
import io
import json
import re
import stat
from hashlib import sha256
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest
import rfc8785
import sacrebleu

from harness.card.checking.verify_card import seal, verify_card
from harness.card.exporting import ExportForm, export_run
from harness.card.importing import import_card
from harness.card.material import fingerprint
from harness.card.model import HASH_FIELD, SealForm, card_hash, seal_form
from harness.card.rows import load_card, load_head, stored_rows
from harness.core.canonical import canonical_bytes
from harness.core.failures import HarnessError, StoreError, UsageError
from harness.core.storage import write_file
from harness.method.method import MethodClass, Setup
from harness.store.corpora.entries import read_entries
from harness.store.results import read_results
from harness.store.run_list import list_runs
from harness.store.runs import find_run, read_card
from scoring.core.scorer import Scorer
from scoring.metrics.inventory import make_metrics, surface_setup
from scoring.words.source_words import Resources
from tests.harness.card import factory
from tests.harness.card.factory import OLDER, add_secret_run, build_card, report, resealed, sealed, written
from tests.harness.sealed.refusals import refuses


def setup(**changes: Any) -> Setup:
    fields: dict[str, Any] = {
        "method": "chat", "method_class": MethodClass.RAW_LLM, "method_version": "1",
        "model_slug": "example/model", "condition": "zero-shot", "temperature": 0.2,
        "system_prompt_sha256": "cd", "tools_enabled": ("lookup", "check"),
    }  # fmt: skip
    return Setup.model_validate({**fields, **changes})


_SIX = {"model_slug": "x", "condition": "x", "system_prompt_sha256": "x", "temperature": 0.7}

_BESIDE = {
    "method": "other", "method_class": MethodClass.CUSTOM_PLUGIN, "method_version": "2",
    "method_sha256": "ef", "provider": "openrouter", "max_tokens": 100,
    "prompt_version": "plain-v2", "coaching_data_sha256": "01", "outputs_sha256": "02",
    "fst_sha256": "03", "tools_enabled": ("lookup",), "batch_size": 2, "max_retries": 3,
    "replicate": 1, "options": {"a": [1, None]},
}  # fmt: skip


def test_hash_covers_exactly_the_six_components() -> None:
    # written out by hand in RFC 8785 form, so that the library is not checked against itself
    text = (
        '{"condition":"zero-shot","dataset_sha256":"ab","harness_version":"0.1.0",'
        '"model_slug":"example/model","system_prompt_sha256":"cd","temperature":0.2}'
    )
    found = fingerprint(setup(), "ab", "0.1.0")
    assert found.hash == sha256(text.encode()).hexdigest()
    assert found.components == json.loads(text)


def test_component_changes_both_hashes() -> None:
    one = fingerprint(setup(), "ab", "0.1.0")
    for name, value in _SIX.items():
        two = fingerprint(setup(**{name: value}), "ab", "0.1.0")
        assert one.hash != two.hash, name
        assert one.setup_hash != two.setup_hash, name
    for name, value in _BESIDE.items():
        two = fingerprint(setup(**{name: value}), "ab", "0.1.0")
        assert one.hash == two.hash, name
        assert one.setup_hash != two.setup_hash, name
    hashes = {fingerprint(setup(), sha, version).hash for sha in ("ab", "cd") for version in ("0.1.0", "0.2.0")}
    assert len(hashes) == 4
    one = fingerprint(setup(temperature=1.0), "ab", "0.1.0")
    two = fingerprint(setup(tools_enabled=("check", "lookup"), temperature=1), "ab", "0.1.0")
    assert (one.hash, one.setup_hash) == (two.hash, two.setup_hash)
    refuses(UsageError, r"2\^53", fingerprint, setup(options={"seed": 2**63}), "ab", "0.1.0")
    covered = set(fingerprint(setup(), "ab", "0.1.0").setup_components)
    assert set(Setup.model_fields) - covered == {"method_name", "system_prompt_used", "fst_version"}


def test_card_tells_what_the_rows_hold(connection: Connection) -> None:
    card = build_card(connection, factory.add_run(connection))
    assert (card.run_id, card.timestamp) == (factory.RUN_ID, "2026-11-18T11:06:40.250Z")
    assert card.elapsed_seconds == pytest.approx(2.25)
    assert card.model_id == "example/model-2026-10"
    assert card.dataset.entry_count == card.dataset.corpus_entry_count == 4
    assert card.method.prompt_version == "plain-v1"
    assert card.verification_tier == "self-benchmarked"
    assert card.budget is not None
    assert card.retries is not None
    assert card.budget.budget_usd == 0.05
    assert card.budget.spent_usd == pytest.approx(0.0001 + 0.0003 + 0.0004)
    assert card.cost.total_cost_usd == pytest.approx(0.001)
    assert card.totals.total_cost_usd == card.cost.total_cost_usd
    assert card.totals.cost_per_entry_usd == card.cost.cost_per_entry_usd
    assert card.tokens.prompt_tokens == card.totals.prompt_tokens == 86
    assert card.tokens.total_tokens == 86 + 28
    retries = card.retries
    assert (retries.attempts, retries.retried_entries, retries.rate_limited) == (6, 1, 2)
    assert retries.waited_seconds == 1.25
    scores = card.scores
    assert card.speed.avg_latency_seconds == pytest.approx((0.25 + 0.625 + 0.5) / 3), "failed ones too"
    assert card.speed.entries_per_minute == pytest.approx(4 / (2.25 / 60)), "of all entries"
    assert scores.avg_latency_seconds == card.speed.avg_latency_seconds
    assert scores.p95_latency_seconds == card.speed.p95_latency_seconds
    outputs = [output or "" for output in factory.OUTPUTS]
    references = [entry.reference for entry in factory.ENTRIES]
    chrf = sacrebleu.corpus_chrf(outputs, [references], word_order=2).score
    assert scores.chrf_plus_plus == pytest.approx(chrf, abs=1e-9)
    assert (scores.total, scores.errors, scores.exact_matches) == (4, 1, 1)
    assert (scores.exact_match_rate, scores.equivalent_matches) == (0.25, 2)
    assert scores.fst_acceptance_rate is None
    assert scores.reasons["fst_acceptance_rate"]
    for row, output, reference in zip(card.results, outputs, references, strict=True):
        sentence = sacrebleu.sentence_chrf(output, [reference], word_order=2).score
        assert row.entry_chrf == pytest.approx(sentence, abs=1e-9)


def test_unknown_price_is_null_everywhere(connection: Connection) -> None:
    card = build_card(connection, factory.add_run(connection, priced=False))
    assert (card.cost.total_cost_usd, card.totals.total_cost_usd) == (None, None)
    assert card.budget is not None
    assert (card.budget.spent_usd, card.scores.cost_adjusted) == (None, None)


def test_same_rows_give_the_same_bytes(connection: Connection, there: Connection) -> None:
    one, two = (build_card(store, factory.add_run(store)) for store in (connection, there))
    assert canonical_bytes(one.as_json()) == canonical_bytes(two.as_json())
    assert seal_form(one.as_json()) is SealForm.JCS


def test_a_sealed_card_comes_back_as_it_was(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    number = factory.add_run(connection)
    whole = build_card(connection, number).as_json()
    monkeypatch.setattr("harness.card.rows.BLOCK", 3)
    sealed = seal(connection, number)
    loaded = load_card(connection, number)
    assert canonical_bytes(loaded.as_json()) == canonical_bytes(whole)
    assert (sealed.results, load_head(connection, number)) == ([], sealed), "its rows stay in the store"
    assert sha256(rfc8785.dumps({**whole, HASH_FIELD: ""})).hexdigest() == sealed.run_card_hash
    head = read_card(connection, number)
    assert head is not None
    assert "results" not in head
    summary = list_runs(connection)[0]
    assert summary.card == head
    columns = connection.execute(
        "SELECT composite_score, quality_tier, chrf_plus_plus, corpus_bleu, ter, total_cost_usd,"
        " avg_latency_seconds, dataset_id, lbrag_f1 FROM run_scores"
    ).fetchone()
    assert columns == (
        sealed.scores.composite, sealed.scores.quality_tier, sealed.scores.chrf_plus_plus,
        sealed.scores.bleu, sealed.scores.ter, sealed.cost.total_cost_usd, sealed.speed.avg_latency_seconds,
        sealed.dataset.id, None,
    )  # fmt: skip
    refuses(StoreError, "never changes", seal, connection, number)
    for change in (
        "UPDATE results SET headline = headline + 0.001 WHERE position = 0",
        "UPDATE results SET output = (SELECT max(id) FROM texts) WHERE position = 0",
        "UPDATE results SET cost_usd = 0 WHERE position = 3",
        "UPDATE runs SET run_card = json_set(run_card, '$.scores.composite', 0.9)",
        "UPDATE runs SET run_card = json_set(run_card, '$.totals.total', 9007199254740993)",
        "DELETE FROM results WHERE position = 3",
    ):
        connection.execute("BEGIN")
        connection.execute(change)
        for read in (load_card, load_head):
            refuses(StoreError, "seal", read, connection, number)
        connection.execute("ROLLBACK")
        load_card(connection, number)


def test_an_unfinished_run_has_no_card(connection: Connection) -> None:
    number = factory.add_run(connection, stored=2)
    refuses(HarnessError, r"2 of 4 entries are missing.*rosetta resume 6f1c3a52", build_card, connection, number)
    refuses(HarnessError, "rosetta resume 6f1c3a52", load_card, connection, number)
    for form in ExportForm:
        refuses(HarnessError, "rosetta resume 6f1c3a52", export_run, connection, number, form)


def test_nothing_of_a_secret_entry_is_on_the_card(connection: Connection) -> None:
    number = add_secret_run(connection)
    text = json.dumps(seal(connection, number).as_json(), ensure_ascii=False)
    for secret in factory.SECRETS:
        assert secret not in text
    card = load_card(connection, number)
    assert card.results == []
    assert card.withheld is not None
    assert (card.withheld.entries, card.withheld.secret) == (5, 1)
    for form in ExportForm:
        words = "copy the data folder"
        said = str(refuses(UsageError, words, export_run, connection, number, form))
        assert not any(secret in said for secret in factory.SECRETS)


def test_words_of_a_secret_failure_are_withheld(connection: Connection) -> None:
    told = f"cannot translate {factory.SECRETS[0]}"
    number = factory.add_run(connection, (factory.SECRET_ENTRY,), (None,), error=told)
    for whole in (True, False):
        card = build_card(connection, number, whole=whole)
        assert factory.SECRETS[0] not in json.dumps(card.as_json(), ensure_ascii=False)
        assert card.scores.errors == 1


def test_an_id_too_large_for_json_numbers_is_a_string(connection: Connection) -> None:
    entry = factory.ENTRIES[0].model_copy(update={"id": 2**60 + 1})
    number = factory.add_run(connection, (entry,), ("Mi vidas",))
    seal(connection, number)
    assert load_card(connection, number).results[0].entry_id == "1152921504606846977"


@pytest.fixture
def here(connection: Connection) -> Connection:
    """A store with a sealed run."""
    seal(connection, factory.add_run(connection))
    return connection


NUMBER = 1


def test_card_goes_out_and_in_again(here: Connection, there: Connection) -> None:
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


def test_lines_and_cells_hold_texts_as_they_are(here: Connection) -> None:
    lines = export_run(here, NUMBER, ExportForm.JSONL).decode().split("\n")
    rows = [json.loads(line) for line in lines[:-1]]
    assert [row["predicted"] for row in rows] == list(factory.OUTPUTS)
    table = list(csv.DictReader(io.StringIO(export_run(here, NUMBER, ExportForm.CSV).decode())))
    assert [row["predicted"] for row in table] == [text or "" for text in factory.OUTPUTS]
    assert [row["source"] for row in table] == [entry.source for entry in factory.ENTRIES]
    assert [float(row["entry_chrf"]) for row in table] == [row["entry_chrf"] for row in rows]
    assert table[1]["variants"] == '["Hieraŭ mi vidis lian hundon."]'
    assert (table[0]["usage.prompt_tokens"], table[2]["error_class"]) == ("20", "empty")
    assert table[0]["error"] == ""


def test_written_file_is_private_and_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    write_file(path, b"one", overwrite=False)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    refuses(UsageError, r"card\.json is there already.*--overwrite", write_file, path, b"two", overwrite=False)
    assert path.read_bytes() == b"one"
    write_file(path, b"two", overwrite=True)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"two", 0o600)
    refuses(UsageError, "cannot be written", write_file, tmp_path / "absent" / "card.json", b"", overwrite=False)
    path.unlink()
    path.mkdir()
    refuses(UsageError, "is a folder", write_file, path, b"", overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == ["card.json"]


def test_importing_twice_is_once(there: Connection) -> None:
    data = written(sealed())
    assert not import_card(there, data, "card.json").known
    assert import_card(there, json.dumps(sealed()).encode(), "copy.json").known
    assert len(list_runs(there)) == 1
    with pytest.raises(UsageError, match="different card of run 6f1c3a52"):
        import_card(there, resealed({**sealed(), "condition": "other"}), "other.json")


def test_broken_seal_is_refused_or_marked(there: Connection) -> None:
    forged = {**sealed(), "timestamp": "2026-01-01T00:00:00Z"}
    refuses(UsageError, r"seal is broken.*--unverified", import_card, there, written(forged), "card.json")
    assert list_runs(there) == []
    assert import_card(there, written(forged), "card.json", unverified=True).unverified is not None
    (summary,) = list_runs(there)
    assert summary.card is not None
    assert "seal is broken" in summary.card["unverified"]


def test_card_without_seal_is_refused_or_marked(there: Connection) -> None:
    without = {name: value for name, value in sealed().items() if name != "run_card_hash"}
    for card in ({**without, "run_card_hash": ""}, without):
        refuses(UsageError, "has no seal", import_card, there, written(card), "card.json")
    done = import_card(there, written(without), "card.json", unverified=True)
    assert "no seal" in (done.unverified or "")


def test_unknown_fields_are_kept_at_every_level(there: Connection) -> None:
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


def test_tokens_that_a_row_does_not_state_stay_unknown(there: Connection) -> None:
    card = json.loads(written(sealed()))
    card["results"][0]["usage"] = {"prompt_tokens": 9}
    card["results"][1]["usage"] = {"prompt_tokens": 9, "completion_tokens": 4}
    card["run_card_hash"] = card_hash(card)
    import_card(there, written(card), "card.json")
    run = find_run(there, factory.RUN_ID)
    assert [result.total_tokens for result in read_results(there, run.id)][:2] == [None, 13]
    made = [row["usage"] for row in stored_rows(there, run.id)][:2]  # what the card of a run that scores it again has
    unknown = {"reasoning_tokens": None, "cached_tokens": None}
    assert made == [
        {"prompt_tokens": 9, "completion_tokens": None, **unknown},
        {"prompt_tokens": 9, "completion_tokens": 4, **unknown},
    ]


def test_older_layout_comes_out_unchanged(there: Connection) -> None:
    done = import_card(there, OLDER.read_bytes(), "older.json")
    assert done.unverified is None
    run = find_run(there, done.run_id)
    assert export_run(there, run.id, ExportForm.CARD) == OLDER.read_bytes()
    card = load_card(there, run.id)
    assert card.run_id == "run_20260601_120000_example_model_naive_x_ab12cd"
    assert (card.cost.total_cost_usd, card.tokens.prompt_tokens) == (0.0123, 4000)
    assert (card.speed.p95_latency_seconds, card.speed.elapsed_seconds) == (0.05, 12.5)
    assert card.scores.bleu == 33.3
    assert card.scores.confidence_intervals["chrf_plus_plus"].ci_lower == 55.1
    assert card.claimable_tier == "functional"
    assert import_card(there, OLDER.read_bytes(), "older.json").known


def test_withheld_rows_come_in_as_numbers(there: Connection) -> None:
    import_card(there, written(sealed(secret=True)), "card.json")
    run = find_run(there, factory.RUN_ID)
    *_, result = read_results(there, run.id)
    assert result.output is None
    assert result.headline == sealed(secret=True)["results"][4]["entry_chrf"]
    assert read_entries(there, run.corpus)[4].secret


def test_texts_of_a_secret_segment_are_refused(there: Connection) -> None:
    card = json.loads(written(sealed()))
    card["results"][0]["segment"] = "held_out"
    card["run_card_hash"] = card_hash(card)
    raised = refuses(UsageError, "1 entries of a secret segment", import_card, there, written(card), "card.json")
    assert "hundo" not in str(raised)
    for name in ("entry_id", "prompt_tokens"):
        card = json.loads(written(sealed()))
        row = card["results"][0]
        (row if name == "entry_id" else row["usage"])[name] = 2**70
        refuses(UsageError, "cannot be", import_card, there, json.dumps(card).encode(), "card.json", unverified=True)
    refuses(UsageError, "leaderboard row", import_card, there, b'{"modelSlug": "m", "chrF": 1}', "row.json")
    broken = report(entries=[{"id": "x", "source": "a"}])
    refuses(UsageError, r"report\.json: \$\.entries\[0\]\.expected", import_card, there, written(broken), "report.json")
    assert list_runs(there) == []


def test_report_is_scored_anew_and_kept(there: Connection) -> None:
    done = import_card(there, written(report()), "report.json")
    assert done.note is not None
    run = find_run(there, done.run_id)
    card = load_card(there, run.id)
    outputs = [entry["predicted"] for entry in report()["entries"]]
    references = [[entry["expected"] for entry in report()["entries"]]]
    chrf = sacrebleu.corpus_chrf(outputs, references, word_order=2).score
    assert card.scores.chrf_plus_plus == pytest.approx(chrf, abs=1e-9)
    assert card.scores.errors == 1
    assert card.scores.exact_match_rate == 0.25  # case counts, and so does the failure
    assert card.timestamp == "2026-06-12T13:12:16.000Z"
    assert (card.dataset.id, card.model_slug) == ("eng-epo-dev-v1", "example/model")
    assert (card.condition, card.temperature, card.elapsed_seconds) == ("naive", 0.0, None)
    assert card.cost.total_cost_usd == pytest.approx(0.0008)
    source: Any = card.as_json()["source_report"]
    assert source["overall"]["exact_match_rate"] == 0.6667
    assert verify_card(export_run(there, run.id, ExportForm.CARD)).ok
    assert import_card(there, written(report()), "report.json").known
    assert verify_card(written(report())).ok
    overall, row = report(), report()
    overall["overall"]["corpus_chrf"] += 0.5
    row["entries"][3]["chrf_score"] += 0.001
    for forged, path in ((overall, "$.overall.corpus_chrf"), (row, "$.entries[3].chrf_score")):
        first = verify_card(written(forged)).first_difference
        assert first is not None
        assert first.path == path
    one = import_card(there, written(report()), "one.json")
    entries = report()["entries"][:3]
    two = import_card(there, written(report(run_id="other", entries=entries)), "two.json")
    hashes = {find_run(there, done.run_id).setup_hash for done in (one, two)}
    assert len(hashes) == 2


@pytest.mark.parametrize(("change", "path"), [
    ("UPDATE stretches SET last = started + 1e13", "$.speed.elapsed_seconds"),
    ("UPDATE results SET latency_seconds = -5", "$.speed.avg_latency_seconds"),
    ("UPDATE results SET cost_usd = -1", "$.cost.total_cost_usd"),
])  # fmt: skip
def test_card_that_verify_refuses_is_not_sealed(connection: Connection, change: str, path: str) -> None:
    number = factory.add_run(connection)
    connection.execute(change)
    refuses(HarnessError, re.escape(f"{path} is "), seal, connection, number)
    assert read_card(connection, number) is None
    connection.execute("UPDATE stretches SET last = started - 1e6")  # as stored by a clock set back
    connection.execute("UPDATE results SET latency_seconds = 1, cost_usd = 0")
    assert seal(connection, number).elapsed_seconds == 0
