"""Runs in the forms of other programs: typed columns, sacreBLEU's own words, and folders of MT Metrics Eval."""

import io
import json
import math
import subprocess
import sys
from pathlib import Path
from sqlite3 import Connection

import pytest
from pyarrow import parquet

from corpora.formats.load import load
from harness.card import exporting
from harness.card.checking.verify_card import seal
from harness.card.exporting import ExportForm, export_mtme, export_run, form_of, read_exported, sacrebleu_json
from harness.card.importing import import_card
from harness.card.rows import load_card
from harness.core.failures import UsageError
from harness.inputs.outputs import read_outputs
from harness.store.runs import find_run
from scoring.core.inventory import row_of
from tests.harness.card import factory
from tests.harness.card.factory import add_secret_run, resealed, sealed, written
from tests.harness.sealed.refusals import refuses


@pytest.fixture
def run(connection: Connection) -> int:
    number = factory.add_run(connection)
    seal(connection, number)
    return number


def test_parquet_holds_what_the_lines_hold(connection: Connection, run: int) -> None:
    rows = [json.loads(line) for line in export_run(connection, run, ExportForm.JSONL).splitlines()]
    table = parquet.read_table(io.BytesIO(export_run(connection, run, ExportForm.PARQUET)))
    assert table.column("predicted").to_pylist() == list(factory.OUTPUTS)
    assert table.column("entry_id").to_pylist() == ["1", "b", "3", "4"]
    assert table.column("variants").to_pylist()[1] == rows[1]["variants"]
    for name in (name for name in rows[0] if row_of(name) or name == "composite"):
        assert str(table.schema.field(name).type) == "double"
        assert table.column(name).to_pylist() == [row[name] for row in rows]
    types = {"exact_match": "bool", "usage.prompt_tokens": "int64", "cost_usd": "double", "lint_verdict": "string"}
    assert {name: str(table.schema.field(name).type) for name in types} == types
    assert table.column("usage.prompt_tokens").to_pylist() == [row["usage"]["prompt_tokens"] for row in rows]


def test_parquet_of_a_foreign_card_keeps_odd_values(there: Connection) -> None:
    card = json.loads(written(sealed()))
    for row, odd in zip(card["results"], ("text", {"deep": True}, 2**52, None), strict=True):
        row["new"] = odd
    import_card(there, resealed(card), "card.json")
    number = find_run(there, factory.RUN_ID).id
    table = parquet.read_table(io.BytesIO(export_run(there, number, ExportForm.PARQUET)))
    assert table.column("new").to_pylist() == ["text", '{"deep": true}', str(2**52), None]


def test_parquet_without_pyarrow_says_what_to_install(
    connection: Connection, run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    refuses(UsageError, r"rosetta-tui\[parquet\].*\.csv", export_run, connection, run, ExportForm.PARQUET)


@pytest.mark.costly("asks the real sacreBLEU in a process of its own")
def test_sacrebleu_json_is_what_sacrebleu_prints(connection: Connection, run: int, tmp_path: Path) -> None:
    texts = {"ref": [entry.reference for entry in factory.ENTRIES], "hyp": [text or "" for text in factory.OUTPUTS]}
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    command = ("-m", "sacrebleu", "ref", "-i", "hyp", "-m", "bleu", "chrf", "ter", "--chrf-word-order", "2")
    done = subprocess.run((sys.executable, *command), cwd=tmp_path, capture_output=True, check=True)
    assert export_run(connection, run, ExportForm.SACREBLEU) == done.stdout
    names = [score["name"] for score in json.loads(done.stdout)]
    assert names == ["BLEU", "chrF2++", "TER"]


def test_sacrebleu_takes_variants_and_tokenizer_of_the_run(connection: Connection, run: int) -> None:
    exported = read_exported(connection, run)
    raw = exported.card.as_json()
    changed = {"bleu": "nrefs:var|case:mixed|eff:no|tok:char|smooth:exp|version:2"}
    raw["scores"]["signatures"] = changed
    several = exporting.ExportedRun(type(exported.card).model_validate(raw), exported.rows)
    score = json.loads(sacrebleu_json(several))
    assert (score["name"], score["nrefs"], score["tok"]) == ("BLEU", "var", "char")
    raw["scores"]["signatures"] = {"bleu": "nrefs:1|tok:flores200|version:2"}
    absent = exporting.ExportedRun(type(exported.card).model_validate(raw), exported.rows)
    refuses(UsageError, "flores200", sacrebleu_json, absent)
    raw["scores"]["signatures"] = {}
    none = exporting.ExportedRun(type(exported.card).model_validate(raw), exported.rows)
    refuses(UsageError, "neither BLEU", sacrebleu_json, none)


def test_folder_reads_back_as_corpus_outputs_and_scores(connection: Connection, run: int, tmp_path: Path) -> None:
    other = factory.add_run(
        connection, outputs=("Mi vidas.", "a  b\nc", "Dankon!", "x"), run_id="7" + factory.RUN_ID[1:]
    )
    seal(connection, other)
    files = export_mtme(connection, [run, other])
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    texts = (tmp_path / "sources" / "en-eo.txt", tmp_path / "references" / "en-eo.refA.txt")
    corpus = load(*texts, dataset={"id": "back", "source_language": "en", "target_language": "eo"})
    assert [(entry.source, entry.reference) for entry in corpus.entries] == [
        (entry.source, entry.reference) for entry in factory.ENTRIES
    ]
    first, second = sorted((tmp_path / "system-outputs" / "en-eo").iterdir(), key=lambda path: len(path.stem))
    outputs = read_outputs(second, corpus.entries)
    assert [outputs.output(entry.id).text for entry in corpus.entries] == ["Mi vidas.", "a b c", "Dankon!", "x"]
    # as data.py of mt-metrics-eval reads a file of scores: blocks by system, none of them empty
    rows = [json.loads(line) for line in export_run(connection, run, ExportForm.JSONL).splitlines()]
    lines = files["metric-scores/en-eo/chrf_plus_plus-refA.seg.score"].decode().split()
    assert lines[: 2 * len(rows) : 2] == [first.stem] * len(rows)
    assert [float(text) for text in lines[1 : 2 * len(rows) : 2]] == pytest.approx(
        [row["chrf_plus_plus"] for row in rows], abs=1e-6
    )
    whole = dict(
        line.split() for line in files["metric-scores/en-eo/chrf_plus_plus-refA.sys.score"].decode().splitlines()
    )
    assert float(whole[first.stem]) == pytest.approx(load_card(connection, run).scores.chrf_plus_plus, abs=1e-6)
    assert set(whole) == {first.stem, second.stem}
    for path, content in files.items():
        if path.startswith("metric-scores"):
            assert all(math.isfinite(float(line.split("\t")[1])) for line in content.decode().splitlines())


def test_runs_of_other_texts_make_no_folder(connection: Connection, run: int) -> None:
    one = read_exported(connection, run)
    card = one.card.model_copy(update={"run_id": "8" + factory.RUN_ID[1:]})
    other = exporting.ExportedRun(card, [{**row, "reference": "x"} for row in one.rows])
    refuses(UsageError, "same corpus", exporting.MtmeSet, [one, other])
    refuses(UsageError, "same corpus", exporting.MtmeSet, [one], asked={"none"})


def test_secret_runs_leave_in_no_folder(connection: Connection) -> None:
    number = add_secret_run(connection)
    seal(connection, number)
    said = str(refuses(UsageError, "no row of it leaves", export_mtme, connection, [number]))
    assert not any(secret in said for secret in factory.SECRETS)


def test_ending_of_the_name_chooses_the_form() -> None:
    names = {"a.json": "card", "a.CSV": "csv", "a.ndjson": "jsonl", "a.parquet": "parquet", "a.b.sacrebleu.json": "sacrebleu", "x.mtme": "mtme", "-": "card"}  # fmt: skip
    assert {name: form_of(name) for name in names} == names
    refuses(UsageError, r"not written as \.xlsx.*\.parquet", form_of, "a.xlsx")
