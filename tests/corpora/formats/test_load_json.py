import json
from pathlib import Path
from typing import Any

import pytest

from corpora.formats.load import load
from corpora.model.corpus import Form
from corpora.model.entry import Segment
from tests.corpora.making import LANGUAGES, entry, file, json_file, only_problem, problems

SPECIFICATION_EXAMPLE = """{
"dataset": {
"id": "edtekla-dev-v1",
"version": "1.0",
"language_pair": "EN→CRK",
"source_language": "en",
"target_language": "crk",
"created": "2026-05-01",
"license": "CC-BY-NC-SA-4.0",
"provenance": ["gold_standard", "textbook"]
},
"entries": [ {
"id": 42,
"source": "I see the dog",
"reference": "niwâpamâw atim",
"segment": "gold_standard",
"difficulty": 2,
"provenance": "gold_standard",
"register": "conversational",
"context": "declaration",
"morphological_analysis": "ni-wâpam-âw atim | 1sg-see.TA-3sg.DIR dog.AN",
"notes": "Animate noun (atim); direct form because speaker is proximate",
"variant_class": "simple-ta-direct"
} ]
}"""


def test_the_specification_s_own_example_loads_without_a_word(tmp_path: Path) -> None:
    corpus = load(file(tmp_path, SPECIFICATION_EXAMPLE))
    assert corpus.form is Form.SPECIFICATION
    assert corpus.warnings == ()
    assert corpus.dataset.provenance == ("gold_standard", "textbook")
    (only,) = corpus.entries
    assert (only.id, only.segment, only.difficulty) == (42, Segment.GOLD_STANDARD, 2)
    assert only.register_ == "conversational"
    assert only.secret


def test_the_hash_is_that_of_the_bytes_on_disk(tmp_path: Path) -> None:
    path = file(tmp_path, '[{"id": 1, "source": "a", "reference": "b"}]')
    known = "be7a077d838ed29be151a1215192a38324fc1541ad33d3c9769f99b08325f0d0"  # by sha256sum
    assert load(path, dataset=LANGUAGES).sha256 == known


@pytest.mark.parametrize(("word", "tier"), [("easy", 2), ("medium", 3), ("hard", 4)])
def test_the_old_names_and_words_are_read(tmp_path: Path, word: str, tier: int) -> None:
    old = [{"index": 7, "source_text": "a", "target_expected": "b", "difficulty": word}]
    corpus = load(file(tmp_path, json.dumps(old)), dataset=LANGUAGES)
    assert corpus.form is Form.LEGACY
    (only,) = corpus.entries
    assert (only.id, only.source, only.reference, only.difficulty) == (7, "a", "b", tier)
    assert corpus.dataset.id == "corpus"
    assert corpus.dataset.language_pair == "EN→CRK"


def test_a_bare_list_in_the_new_names_is_read(tmp_path: Path) -> None:
    corpus = load(file(tmp_path, json.dumps([entry(1)])), dataset=LANGUAGES)
    assert corpus.form is Form.SPECIFICATION


def reference_shape(**more: Any) -> dict[str, Any]:
    return {
        "corpus_id": "made-eng-sme-dev",
        "version": "0.1.0",
        "language_pair": {
            "source": "eng",
            "target": "sme",
            "source_name": "English",
            "target_name": "Northern Sámi",
        },
        "segment": "development",
        "created": "2026-06-05T10:56:56+00:00",
        "entry_count": 1,
        "domains": ["conv"],
        "provenance": {"builder": "x", "license": "CC-BY-2.0"},
        "entries": [
            {
                "id": "made_953265",
                "source": "It is all right.",
                "reference": "Dat lea buorre.",
                "domain": "conv",
                "difficulty": 1,
                "register": "conversational",
                "provenance": {"source_name": "made", "license": "unknown"},
                "metadata": {"classification_confidence": 0.0833},
            }
        ],
        **more,
    }


def test_the_reference_implementation_s_shape_is_read(tmp_path: Path) -> None:
    corpus = load(file(tmp_path, json.dumps(reference_shape())))
    assert corpus.form is Form.REFERENCE_IMPLEMENTATION
    assert corpus.warnings == ()
    assert corpus.dataset.id == "made-eng-sme-dev"
    assert (corpus.dataset.source_language, corpus.dataset.target_language) == ("eng", "sme")
    assert corpus.dataset.language_pair == "ENG→SME"
    assert corpus.dataset.provenance == ()
    (only,) = corpus.entries
    assert only.id == "made_953265"
    assert only.segment is Segment.DEVELOPMENT
    assert only.provenance is None
    extra = only.model_extra or {}
    assert extra["provenance_record"] == {"source_name": "made", "license": "unknown"}
    assert extra["metadata"] == {"classification_confidence": 0.0833}


def test_a_wrong_entry_count_is_a_warning(tmp_path: Path) -> None:
    corpus = load(file(tmp_path, json.dumps(reference_shape(entry_count=58))))
    assert [problem.field for problem in corpus.warnings] == ["entry_count"]


def test_without_any_segment_an_entry_is_public(tmp_path: Path) -> None:
    shape = reference_shape()
    del shape["segment"]
    (only,) = load(file(tmp_path, json.dumps(shape))).entries
    assert only.segment is None
    assert not only.secret


def test_unknown_fields_are_kept(tmp_path: Path) -> None:
    path = json_file(tmp_path, [entry(1, domain="conv", note=None)], consent="given 2026")
    corpus = load(path)
    assert corpus.entries[0].model_extra == {"domain": "conv", "note": None}
    assert corpus.dataset.model_extra == {"consent": "given 2026"}


def test_all_problems_of_a_file_come_in_one_go_with_their_lines(tmp_path: Path) -> None:
    text = """{"dataset": {"id": "x", "source_language": "English", "target_language": "crk"},
"entries": [
{"id": 1, "source": "a", "reference": " ", "segment": "heldout", "difficulty": 6},
{"id": 2, "source": 5, "reference": "b", "variants": "c"},
{"id": 2, "source": "a", "reference": "b", "notes": 3},
{"id": 4.5, "source": "a", "reference": "b"},
"text"
]}"""
    found = {(p.line, p.field) for p in problems(file(tmp_path, text)) if p.severity == "error"}
    assert found == {
        (None, "dataset.source_language"),
        (3, "reference"),
        (3, "segment"),
        (3, "difficulty"),
        (4, "source"),
        (4, "variants"),
        (5, "id"),
        (5, "notes"),
        (6, "id"),
        (7, None),
    }


def test_a_wrong_segment_names_the_permitted_and_the_nearest(tmp_path: Path) -> None:
    problem = only_problem(json_file(tmp_path, [entry(1, segment="held-out")]))
    assert "development, diagnostic, gold_standard, held_out" in problem.mend
    assert "Nearest: held_out" in problem.mend
    assert problem.entry == 1


@pytest.mark.parametrize("difficulty", [0, 6, True, 2.5, "3", "very hard", [], {}])
def test_a_wrong_difficulty_is_an_error(tmp_path: Path, difficulty: Any) -> None:
    problem = only_problem(json_file(tmp_path, [entry(1, difficulty=difficulty)]))
    assert problem.field == "difficulty"


def test_a_missing_language_names_the_options(tmp_path: Path) -> None:
    found = problems(file(tmp_path, json.dumps([entry(1)])))
    assert {p.field for p in found} == {"dataset.source_language", "dataset.target_language"}
    mends = " ".join(p.mend for p in found)
    assert "--source-language" in mends
    assert "--target-language" in mends


def test_an_option_that_contradicts_the_file_is_an_error(tmp_path: Path) -> None:
    path = json_file(tmp_path, [entry(1)])
    assert only_problem(path, dataset={"target_language": "eo"}).field == "dataset.target_language"
    assert load(path, dataset={"target_language": "crk", "license": "CC0-1.0"}).dataset.license


def test_an_envelope_without_id_does_not_get_one_by_chance(tmp_path: Path) -> None:
    text = json.dumps({"dataset": LANGUAGES, "entries": [entry(1)]})
    assert only_problem(file(tmp_path, text)).field == "dataset.id"
    assert load(file(tmp_path, text), dataset={"id": "given"}).dataset.id == "given"


def test_integer_and_text_ids_that_look_alike_are_duplicates(tmp_path: Path) -> None:
    problem = only_problem(json_file(tmp_path, [entry(1), entry("1", source="other")]))
    assert problem.field == "id"


def test_entries_without_any_id_are_numbered_with_a_warning(tmp_path: Path) -> None:
    rows = [{"source": "a", "reference": "b"}, {"source": "c", "reference": "d"}]
    corpus = load(json_file(tmp_path, rows))
    assert [each.id for each in corpus.entries] == [1, 2]
    assert [problem.field for problem in corpus.warnings] == ["id"]
    rows[0]["id"] = "first"
    assert only_problem(json_file(tmp_path, rows)).field == "id"


def test_a_file_of_outputs_is_told_apart_in_one_sentence(tmp_path: Path) -> None:
    rows = [{"id": number, "output": "x"} for number in range(50)]
    found = problems(json_file(tmp_path, rows))
    assert [p.field for p in found] == ["source", "reference"]
