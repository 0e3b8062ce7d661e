"""Entries whose source is blank: kept, scored by their reference, and never put to a method."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import scoring.metrics.inventory  # noqa: F401  imports every metric
from corpora.formats.load import load
from corpora.model.corpus import Corpus
from corpora.model.entry import Segment
from harness.card.checking.verify import verify_card
from harness.card.load import load_card
from harness.core.failures import ErrorClass, UsageError
from harness.inputs.outputs import read_outputs
from harness.method.options import MethodOptions
from harness.run.retrying import retry
from harness.setup.plan import Plan
from harness.setup.scoring_tools import stored_scorer
from harness.store.file.database import open_store
from scoring.core.metric import Metric
from scoring.core.specification import specification
from tests.harness.evaluation import LANGUAGES, chat_plan, kept, run_corpus
from tests.harness.scripted import Scripted

SOURCES = ("Good morning.", "", "The dog sleeps {name}.", "Thank you.")
REFERENCES = ("Bonan matenon.", "La kato venas.", "La hundo dormas {name}.", "Dankon.")


def files(folder: Path) -> tuple[Path, Path]:
    source, reference = folder / "dev.en", folder / "dev.eo"
    source.write_text("\n".join(SOURCES) + "\n")
    reference.write_text("\n".join(REFERENCES) + "\n")
    return source, reference


def corpus(folder: Path) -> Corpus:
    return load(*files(folder))


def replay(folder: Path, *outputs: str) -> Plan:
    path = folder / "outputs.txt"
    path.write_text("\n".join(outputs) + "\n")
    return Plan(method="replay", options=MethodOptions(outputs=path, **LANGUAGES))


def test_blank_source_is_a_warning(tmp_path: Path) -> None:
    read = corpus(tmp_path)
    assert [each.source for each in read.entries] == list(SOURCES)
    (warning,) = read.warnings
    assert (warning.line, warning.field, warning.places) == (2, "source", (1,))


def test_metrics_that_read_a_blank_source_have_no_value(tmp_path: Path, store_path: Path) -> None:
    read = corpus(tmp_path)
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


def test_metrics_beyond_the_reference_read_the_source() -> None:
    """By the categories of its inventory; consistency adds nothing up, and a blank source has no terms."""
    beyond = {"semantic", "behavioral", "compliance"}
    rows = specification().metrics
    wanted = {id_ for id_, row in rows.items() if row.category in beyond} - {"consistency_score"}
    found = {each.info.id for each in _all_of(Metric) if each.reads_source} & rows.keys()
    assert found == wanted | {"orthographic_accuracy"}


def _all_of(parent: type[Any]) -> Iterator[type[Metric]]:
    for each in parent.__subclasses__():
        yield from _all_of(each)
        if hasattr(each, "info") and each.__module__.startswith("scoring."):
            yield each


def test_method_is_not_asked_and_the_entry_counts(
    endpoint: Scripted, tmp_path: Path, store_path: Path
) -> None:
    run_corpus(store_path, corpus(tmp_path), chat_plan(endpoint.url))
    stored = kept(store_path)
    lacking = stored.results[1]
    assert (lacking.error_class, lacking.output) == (ErrorClass.NO_SOURCE, None)
    assert (lacking.cost_usd, lacking.latency_seconds) == (0.0, None)
    assert {asked.source for asked in endpoint.asked} == {*SOURCES} - {""}
    assert stored.card is not None
    assert stored.card["scores"]["errors_by_class"] == {"no_source": 1}
    assert stored.card["scores"]["total"] == 4
    with (
        closing(open_store(store_path)) as connection,
        pytest.raises(UsageError, match="nothing to ask"),
    ):
        retry(connection, stored.run)


def test_blank_secret_sources_condemn_no_open_ones(tmp_path: Path, store_path: Path) -> None:
    read = corpus(tmp_path)
    secret = [each.model_copy(update={"segment": Segment.GOLD_STANDARD}) for each in read.entries]
    closed = replace(read, entries=tuple(secret), sha256="1" * 64)
    run_corpus(store_path, closed, replay(tmp_path, *REFERENCES))
    others = [
        each.model_copy(update={"source": f"Other {each.source}" if each.source else ""})
        for each in read.entries
    ]
    run_corpus(store_path, replace(read, entries=tuple(others)), replay(tmp_path, *REFERENCES))


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
        outputs = read_outputs(path, read.entries, read.dataset.file_lines)
        assert [outputs.output(id_).text for id_ in (1, 3, 6)] == ["unu", "du", "tri"]
    of_entries.write_text("unu\ndu\ntri\nkvar\n")
    with pytest.raises(UsageError, match=r"4 lines for 3 entries.*or 7 as the corpus' files"):
        read_outputs(of_entries, read.entries, 7)
    renamed = [each.model_copy(update={"id": f"s{each.id}"}) for each in read.entries]
    with pytest.raises(UsageError, match="no longer the numbers of"):
        read_outputs(of_files, renamed, 7)
