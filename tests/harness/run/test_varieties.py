"""Dialects and spelling systems: kept with the entry, a part of the scores, and never of secret entries."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from corpora.files.problems import CorpusError
from corpora.formats.load import File, load, read
from corpora.formats.write import write
from corpora.model.corpus import Corpus
from corpora.model.entry import Entry
from harness.card.checking.verify import verify_card
from harness.card.exporting import ExportForm, card_bytes, export_run
from harness.card.load import load_card
from harness.card.seal import HASH_FIELD
from harness.core.canonical import canonical_sha256
from harness.core.failures import UsageError
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.store.corpora.entries import read_entries, save_corpus
from harness.store.file.database import open_store
from harness.store.file.transaction import transaction
from tests.corpora.making import entry, file, json_file, only_problem
from tests.harness.evaluation import kept, run_corpus

TAGS = ("Waikato", "Waikato", "Ngāpuhi", "Ngāpuhi", None)


def corpus(folder: Path, **more: object) -> Corpus:
    entries = [
        entry(n, **({"variety": tag, "orthography": "1994"} if tag else {}), **more)
        for n, tag in enumerate(TAGS)
    ]
    return load(json_file(folder, entries, variety="several", license="CC0-1.0"))


def scored(folder: Path, store_path: Path, read: Corpus) -> None:
    outputs = folder / "outputs.txt"
    outputs.write_text("".join(f"reference {n}\n" if n != 2 else "x\n" for n in range(len(TAGS))))
    options = MethodOptions(outputs=outputs, source_language="en", target_language="crk")
    run_corpus(store_path, read, Plan(method="replay", options=options))


def test_tags_part_the_scores_and_are_verified(tmp_path: Path, store_path: Path) -> None:
    scored(tmp_path, store_path, corpus(tmp_path))
    with closing(open_store(store_path)) as connection:
        data = export_run(connection, kept(store_path).run.id, ExportForm.CARD)
    card = json.loads(data)
    parts = card["scores"]["by_variety"]
    counts = {tag: part["n"] for tag, part in parts.items()}
    assert counts == {"Ngāpuhi": 2, "Waikato": 2, "several": 1}
    assert parts["Waikato"]["exact_match_rate"] == 1
    assert parts["Ngāpuhi"]["exact_match_rate"] == 0.5
    assert list(card["scores"]["by_orthography"]) == ["1994"]
    assert [row.get("variety") for row in card["results"]] == [*TAGS[:4], "several"]
    assert card["dataset"]["variety"] == "several"
    assert verify_card(data).ok
    parts["Waikato"]["exact_match_rate"] = 0.5
    forged = verify_card(json.dumps(card).encode())
    assert any("by_variety" in each.path for each in forged.differences)


def test_untagged_entry_counts_under_its_corpus(tmp_path: Path, store_path: Path) -> None:
    entries = [entry(n, **({"variety": tag} if tag else {})) for n, tag in enumerate(TAGS)]
    read = load(json_file(tmp_path, entries, variety="Waikato", orthography="1994"))
    assert [each.variety for each in read.entries] == [tag or "Waikato" for tag in TAGS]
    scored(tmp_path, store_path, read)
    with closing(open_store(store_path)) as connection:
        data = export_run(connection, kept(store_path).run.id, ExportForm.CARD)
    scores = json.loads(data)["scores"]
    for name, counts in (("variety", {"Ngāpuhi": 2, "Waikato": 3}), ("orthography", {"1994": 5})):
        assert {tag: part["n"] for tag, part in scores[f"by_{name}"].items()} == counts
    assert verify_card(data).ok


def test_tag_of_the_envelope_is_written_once(tmp_path: Path) -> None:
    entries = [entry(1), entry(2, variety="Ngāpuhi"), entry(3, variety="Waikato")]
    whole = load(json_file(tmp_path, entries, variety="Waikato"))
    stored = replace(whole, entries=tuple(Entry.model_validate(each) for each in entries))
    for form in ("specification", "legacy", "reference-implementation", "jsonl", "csv"):
        for number, each in enumerate((whole, stored)):
            out = tmp_path / f"{form}-{number}.out"
            write(each, out, form)
            assert out.read_text().count("Waikato") == 1
            assert load(out, form=form).entries == whole.entries


def test_corpus_stored_without_tags_is_another_one(tmp_path: Path, store_path: Path) -> None:
    new = load(json_file(tmp_path, [entry(1), entry(2, variety="Ngāpuhi")], variety="Waikato"))
    bare = (Entry.model_validate(entry(1)), new.entries[1])
    with closing(open_store(store_path)) as connection, transaction(connection):
        stored = save_corpus(connection, replace(new, entries=bare))
        now = save_corpus(connection, new)
        assert read_entries(connection, stored)[0].variety is None
        assert read_entries(connection, now)[0].variety == "Waikato"
        assert save_corpus(connection, new) == now != stored


def test_card_sealed_before_parts_is_still_whole(tmp_path: Path, store_path: Path) -> None:
    scored(tmp_path, store_path, corpus(tmp_path))
    run = kept(store_path).run
    with closing(open_store(store_path)) as connection:
        card = load_card(connection, run.id).as_json()
        for name in ("by_variety", "by_orthography"):
            del card["scores"][name]
        for row in card["results"]:
            row.pop("variety", None)
            row.pop("orthography", None)
        card[HASH_FIELD] = ""
        card[HASH_FIELD] = canonical_sha256(card)
        head = json.dumps({name: value for name, value in card.items() if name != "results"})
        connection.execute("UPDATE runs SET run_card = ? WHERE id = ?", (head, run.id))
        again = load_card(connection, run.id)
        assert again.as_json()["results"] == card["results"]
        assert verify_card(export_run(connection, run.id, ExportForm.CARD)).ok


def test_tags_of_secret_entries_do_not_leave(tmp_path: Path, store_path: Path) -> None:
    secret = corpus(tmp_path, segment="gold_standard")
    scored(tmp_path, store_path, secret)
    with closing(open_store(store_path)) as connection:
        number = kept(store_path).run.id
        with pytest.raises(UsageError, match="but as a released card") as refused:
            export_run(connection, number, ExportForm.CARD)
        data = card_bytes(load_card(connection, number)) + str(refused.value).encode()
    assert b"Waikato" not in data
    assert "Ngāpuhi".encode() not in data


@pytest.mark.parametrize("tag", ["", " ", "x" * 101, "a\nb", 7, ["x"]])
def test_tag_is_a_short_text(tmp_path: Path, tag: object) -> None:
    assert only_problem(json_file(tmp_path, [entry(1)], variety=tag)).field == "dataset.variety"
    problem = only_problem(json_file(tmp_path, [entry(1, variety=tag)]))
    assert (problem.field, problem.entry) == ("variety", 1)


def test_tables_have_a_column_for_them() -> None:
    text = "source,reference,Dialect,orthography\na,b,Waikato,1994\n"
    pair = {"source_language": "en", "target_language": "mi"}
    (only,) = read([File("a.csv", text.encode())], dataset=pair).entries
    assert (only.variety, only.orthography) == ("Waikato", "1994")


def test_name_written_in_two_ways_is_named_with_both(tmp_path: Path) -> None:
    tags = ("Ngapuhi", "Ngāpuhi", "ngāpuhi")
    path = json_file(tmp_path, [entry(n, variety=tag) for n, tag in enumerate(tags)])
    (warning,) = [each for each in load(path).warnings if each.field == "variety"]
    assert all(f"“{tag}”" in warning.message for tag in tags)
    assert warning.places == (0, 1, 2)


LITERARY = [entry(1, register="literary\u202e"), entry(2, register="marketing")]


def test_tag_or_date_is_quoted_harmlessly(tmp_path: Path) -> None:
    path = json_file(tmp_path, LITERARY, created="last spring")
    said = " ".join(each.message for each in load(path).warnings)
    assert "“literary\\u202e”" in said
    assert "“marketing”" in said
    assert "“last spring”" in said


@pytest.mark.parametrize("how", ["segment", "terms"])
def test_tag_of_a_secret_entry_is_not_quoted(tmp_path: Path, how: str) -> None:
    secret = {"segment": "held_out"} if how == "segment" else {}
    rows = [each | secret | {"variety": "canary here"} for each in LITERARY]
    rows.append(entry(3, variety="Canary Here", **secret))
    terms = {} if how == "segment" else {"transmission": "local-only"}
    corpus = load(json_file(tmp_path, rows, **terms))
    assert {"register", "variety"} <= {each.field for each in corpus.warnings}
    said = " ".join(str(each) for each in corpus.warnings)
    assert not any(word in said for word in ("literary", "marketing", "anary"))
    text = json.dumps({"dataset": {"id": "x", "transmission": "local-only"}, "entries": LITERARY})
    with pytest.raises(CorpusError) as caught:  # nor where the envelope cannot be read
        load(file(tmp_path, text))
    assert "marketing" not in str(caught.value)
