"""Entries with dialects and spelling systems, and entries whose source is blank: kept, scored in parts, never sent."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import scoring.metrics.inventory  # noqa: F401  imports every metric
from corpora.files.problems import CorpusError
from corpora.formats.load import File, load, read
from corpora.formats.write import write
from corpora.model.corpus import Corpus
from corpora.model.entry import Entry, Segment
from harness.card.checking.verify_card import verify_card
from harness.card.exporting import ExportForm, card_bytes, export_run
from harness.card.model import HASH_FIELD
from harness.card.rows import load_card
from harness.core.canonical import canonical_sha256
from harness.core.failures import ErrorClass, UsageError
from harness.inputs.outputs import read_outputs
from harness.method.options import MethodOptions
from harness.run.final_scores import retry
from harness.setup.plan import Plan
from harness.setup.scoring_tools import stored_scorer
from harness.store.corpora.entries import read_entries, save_corpus
from harness.store.sqlite.database import open_store
from harness.store.sqlite.trouble import transaction
from scoring.core.metric import Metric
from scoring.core.specification import specification
from tests.corpora.making import entry, file, json_file, only_problem
from tests.harness.evaluation import LANGUAGES, chat_plan, kept, run_corpus
from tests.harness.scripted import Scripted

TAGS = ("Waikato", "Waikato", "Ngāpuhi", "Ngāpuhi", None)


def corpus(folder: Path, **more: object) -> Corpus:
    entries = [
        entry(n, **({"variety": tag, "orthography": "1994"} if tag else {}), **more) for n, tag in enumerate(TAGS)
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
    new = load(json_file(tmp_path, [entry(1), entry(2, variety="Ngāpuhi")], variety="Waikato"))
    bare = (Entry.model_validate(entry(1)), new.entries[1])
    with closing(open_store(store_path)) as connection, transaction(connection):
        before = save_corpus(connection, replace(new, entries=bare))
        now = save_corpus(connection, new)
        assert read_entries(connection, before)[0].variety is None
        assert read_entries(connection, now)[0].variety == "Waikato"
        assert save_corpus(connection, new) == now != before
    entries = [entry(1), entry(2, variety="Ngāpuhi"), entry(3, variety="Waikato")]
    whole = load(json_file(tmp_path, entries, variety="Waikato"))
    stored = replace(whole, entries=tuple(Entry.model_validate(each) for each in entries))
    for form in ("specification", "legacy", "reference-implementation", "jsonl", "csv"):
        for number, each in enumerate((whole, stored)):
            out = tmp_path / f"{form}-{number}.out"
            write(each, out, form)
            assert out.read_text().count("Waikato") == 1
            assert load(out, form=form).reveal_here() == whole.reveal_here()


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


def test_tags_are_named_harmlessly_and_have_columns(tmp_path: Path) -> None:
    tags = ("Ngapuhi", "Ngāpuhi", "ngāpuhi")
    path = json_file(tmp_path, [entry(n, variety=tag) for n, tag in enumerate(tags)])
    (warning,) = [each for each in load(path).warnings if each.field == "variety"]
    assert all(f"“{tag}”" in warning.message for tag in tags)
    assert warning.places == (0, 1, 2)
    path = json_file(tmp_path, LITERARY, created="last spring")
    said = " ".join(each.message for each in load(path).warnings)
    assert "“literary\\u202e”" in said
    assert "“marketing”" in said
    assert "“last spring”" in said
    text = "source,reference,Dialect,orthography\na,b,Waikato,1994\n"
    pair = {"source_language": "en", "target_language": "mi"}
    (only,) = read([File("a.csv", text.encode())], dataset=pair).entries
    assert (only.variety, only.orthography) == ("Waikato", "1994")
    for tag in ("", " ", "x" * 101, "a\nb", 7, ["x"]):
        assert only_problem(json_file(tmp_path, [entry(1)], variety=tag)).field == "dataset.variety"
        problem = only_problem(json_file(tmp_path, [entry(1, variety=tag)]))
        assert (problem.field, problem.entry) == ("variety", 1)


LITERARY = [entry(1, register="literary\u202e"), entry(2, register="marketing")]


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


SOURCES = ("Good morning.", "", "The dog sleeps {name}.", "Thank you.")
REFERENCES = ("Bonan matenon.", "La kato venas.", "La hundo dormas {name}.", "Dankon.")


def blank_corpus(folder: Path) -> Corpus:
    source, reference = folder / "dev.en", folder / "dev.eo"
    source.write_text("\n".join(SOURCES) + "\n")
    reference.write_text("\n".join(REFERENCES) + "\n")
    return load(source, reference)


def replay(folder: Path, *outputs: str) -> Plan:
    path = folder / "outputs.txt"
    path.write_text("\n".join(outputs) + "\n")
    return Plan(method="replay", options=MethodOptions(outputs=path, **LANGUAGES))


def test_metrics_that_read_a_blank_source_have_no_value(tmp_path: Path, store_path: Path) -> None:
    read = blank_corpus(tmp_path)
    run_corpus(store_path, read, replay(tmp_path, *REFERENCES))
    stored = kept(store_path)
    assert all(each.exact and each.headline == pytest.approx(100) for each in stored.results)
    with closing(open_store(store_path)) as connection:
        card = load_card(connection, stored.run.id)
        scorer = stored_scorer(stored.run, "en", list(read.entries))
        rows = [scorer.unpack(each.statistics) for each in stored.results]
    assert card.scores.exact_match_rate == 1
    of_source = {each.info.id for each in scorer.metrics if each.reads_source}
    of_source &= {id_ for id_, value in rows[0].items() if value is not None}
    assert "compliance_index" in of_source
    assert all(rows[1][id_] is None for id_ in of_source)
    assert rows[1]["chrf_plus_plus"] is not None
    assert verify_card(json.dumps(card.as_json()).encode()).ok
    # by the categories of its inventory; consistency adds nothing up, and a blank source has no terms
    beyond = {"semantic", "behavioral", "compliance"}
    known = specification().metrics
    wanted = {id_ for id_, row in known.items() if row.category in beyond} - {"consistency_score"}
    found = {each.info.id for each in _all_of(Metric) if each.reads_source} & known.keys()
    assert found == wanted | {"orthographic_accuracy"}
    (warning,) = read.warnings
    assert (warning.line, warning.field, warning.places) == (2, "source", (1,))


def _all_of(parent: type[Any]) -> Iterator[type[Metric]]:
    for each in parent.__subclasses__():
        yield from _all_of(each)
        if hasattr(each, "info") and each.__module__.startswith("scoring."):
            yield each


def test_blank_source_is_not_asked(endpoint: Scripted, tmp_path: Path, store_path: Path) -> None:
    run_corpus(store_path, blank_corpus(tmp_path), chat_plan(endpoint.url))
    stored = kept(store_path)
    lacking = stored.results[1]
    assert (lacking.error_class, lacking.output) == (ErrorClass.NO_SOURCE, None)
    assert (lacking.cost_usd, lacking.latency_seconds) == (0.0, None)
    assert {asked.source for asked in endpoint.asked} == {*SOURCES} - {""}
    assert stored.card is not None
    assert stored.card["scores"]["errors_by_class"] == {"no_source": 1}
    assert stored.card["scores"]["total"] == 4
    with closing(open_store(store_path)) as store, pytest.raises(UsageError, match="nothing to a"):
        retry(store, stored.run)
    read = blank_corpus(tmp_path)
    secret = [each.model_copy(update={"segment": Segment.GOLD_STANDARD}) for each in read.reveal_here()]
    closed = replace(read, entries=tuple(secret), sha256="1" * 64)
    run_corpus(store_path, closed, replay(tmp_path, *REFERENCES))
    texts = [f"Other {each.source}" if each.source else "" for each in read.reveal_here()]
    both = zip(read.entries, texts, strict=True)
    others = tuple(each.model_copy(update={"source": text}) for each, text in both)
    run_corpus(store_path, replace(read, entries=others), replay(tmp_path, *REFERENCES))


def test_outputs_have_a_line_for_each_line_of_files(tmp_path: Path) -> None:
    source, reference = tmp_path / "all.en.txt", tmp_path / "all.eo.txt"
    source.write_text("One.\n\nTwo.\n\n\nThree.\n\n")
    reference.write_text("Unu.\n\nDu.\n \n\nTri.\n\n")
    read = load(source, reference)
    assert read.dataset.file_lines == 7
    assert [each.id for each in read.entries] == [1, 3, 6]
    of_files, of_entries = tmp_path / "files.txt", tmp_path / "entries.txt"
    of_files.write_text("unu\n\ndu\n\n\ntri\n\n")
    of_entries.write_text("unu\ndu\ntri\n")
    for path in (of_files, of_entries):
        outputs = read_outputs(path, read.reveal_here(), read.dataset.file_lines)
        assert [outputs.output(id_).text for id_ in (1, 3, 6)] == ["unu", "du", "tri"]
    of_entries.write_text("unu\ndu\ntri\nkvar\n")
    with pytest.raises(UsageError, match=r"4 lines for 3 entries.*or 7 as the corpus' files"):
        read_outputs(of_entries, read.reveal_here(), 7)
    renamed = [each.model_copy(update={"id": f"s{each.id}"}) for each in read.reveal_here()]
    with pytest.raises(UsageError, match="no longer the numbers of"):
        read_outputs(of_files, renamed, 7)
