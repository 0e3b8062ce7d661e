"""Tables and JSON as people have them: columns named for languages, no header, several references."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.files.problems import CorpusError
from corpora.formats.columns import Columns
from corpora.formats.load import File, load, read
from corpora.languages.tags import same_language, tag_of
from corpora.model.corpus import Corpus, Form
from corpora.model.entry import Segment
from tests.corpora import making
from tests.corpora.making import LANGUAGES, PAIR, entry, file, json_file, only_problem, problems
from tests.review.thorough import examples

SPECIFICATION_EXAMPLE = """{
"dataset": {
"id": "edtekla-dev-v1", "version": "1.0", "language_pair": "EN→CRK", "source_language": "en",
"target_language": "crk", "created": "2026-05-01", "license": "CC-BY-NC-SA-4.0",
"provenance": ["gold_standard", "textbook"]
},
"entries": [ {
"id": 42, "source": "I see the dog", "reference": "niwâpamâw atim", "segment": "gold_standard",
"difficulty": 2, "provenance": "gold_standard", "register": "conversational", "context": "declaration",
"morphological_analysis": "ni-wâpam-âw atim | 1sg-see.TA-3sg.DIR dog.AN",
"notes": "Animate noun (atim); direct form because speaker is proximate",
"variant_class": "simple-ta-direct"
} ]
}"""


def test_example_of_the_specification_loads(tmp_path: Path) -> None:
    corpus = load(file(tmp_path, SPECIFICATION_EXAMPLE))
    assert corpus.form is Form.SPECIFICATION
    assert (corpus.warnings, corpus.dataset.provenance) == ((), ("gold_standard", "textbook"))
    (only,) = corpus.reveal_here()
    assert (only.id, only.segment, only.difficulty) == (42, Segment.GOLD_STANDARD, 2)
    assert only.register_ == "conversational"
    assert only.secret


def test_hash_is_that_of_the_bytes_and_a_bare_list_is_read(tmp_path: Path) -> None:
    path = file(tmp_path, '[{"id": 1, "source": "a", "reference": "b"}]')
    known = "be7a077d838ed29be151a1215192a38324fc1541ad33d3c9769f99b08325f0d0"  # by sha256sum
    assert load(path, dataset=LANGUAGES).sha256 == known
    corpus = load(file(tmp_path, json.dumps([entry(1)])), dataset=LANGUAGES)
    assert corpus.form is Form.SPECIFICATION
    path = json_file(tmp_path, [entry(1, domain="conv", note=None)], consent="given 2026")
    corpus = load(path)
    assert corpus.entries[0].model_extra == {"domain": "conv", "note": None}
    assert corpus.dataset.model_extra == {"consent": "given 2026"}


def test_old_names_and_words_are_read(tmp_path: Path) -> None:
    for word, tier in (("easy", 2), ("medium", 3), ("hard", 4)):
        old = [{"index": 7, "source_text": "a", "target_expected": "b", "difficulty": word}]
        corpus = load(file(tmp_path, json.dumps(old)), dataset=LANGUAGES)
        assert corpus.form is Form.LEGACY
        (only,) = corpus.entries
        assert (only.id, only.source, only.reference, only.difficulty) == (7, "a", "b", tier)
        assert (corpus.dataset.id, corpus.dataset.language_pair) == ("corpus", "EN→CRK")


def reference_shape(**more: Any) -> dict[str, Any]:
    names = {"source_name": "English", "target_name": "Northern Sámi"}
    entry = {
        "id": "made_953265", "source": "It is all right.", "reference": "Dat lea buorre.",
        "domain": "conv", "difficulty": 1, "register": "conversational",
        "provenance": {"source_name": "made", "license": "unknown"},
        "metadata": {"classification_confidence": 0.0833},
    }  # fmt: skip
    return {
        "corpus_id": "made-eng-sme-dev", "version": "0.1.0", "entry_count": 1, "domains": ["conv"],
        "language_pair": {"source": "eng", "target": "sme", **names}, "segment": "development",
        "created": "2026-06-05T10:56:56+00:00", "entries": [entry],
        "provenance": {"builder": "x", "license": "CC-BY-2.0"}, **more,
    }  # fmt: skip


def test_the_reference_implementation_s_shape_is_read(tmp_path: Path) -> None:
    corpus = load(file(tmp_path, json.dumps(reference_shape())))
    assert corpus.form is Form.REFERENCE_IMPLEMENTATION
    assert (corpus.warnings, corpus.dataset.id) == ((), "made-eng-sme-dev")
    assert (corpus.dataset.source_language, corpus.dataset.target_language) == ("eng", "sme")
    assert (corpus.dataset.language_pair, corpus.dataset.provenance) == ("ENG→SME", ())
    (only,) = corpus.entries
    assert only.id == "made_953265"
    assert only.segment is Segment.DEVELOPMENT
    assert only.provenance is None
    extra = only.model_extra or {}
    assert extra["provenance_record"] == {"source_name": "made", "license": "unknown"}
    assert extra["metadata"] == {"classification_confidence": 0.0833}

    corpus = load(file(tmp_path, json.dumps(reference_shape(entry_count=58))))
    assert [problem.field for problem in corpus.warnings] == ["entry_count"]
    shape = reference_shape()
    del shape["segment"]
    (only,) = load(file(tmp_path, json.dumps(shape))).entries
    assert only.segment is None
    assert not only.secret


def test_all_problems_come_at_once_with_their_lines(tmp_path: Path) -> None:
    text = """{"dataset": {"id": "x", "source_language": "my English", "target_language": "crk"},
"entries": [
{"id": 1, "source": "a", "reference": " ", "segment": "heldout", "difficulty": 6},
{"id": 2, "source": 5, "reference": "b", "variants": "c"},
{"id": 2, "source": "a", "reference": "b", "notes": 3},
{"id": 4.5, "source": "a", "reference": "b"},
"text"
]}"""
    found = {(p.line, p.field) for p in problems(file(tmp_path, text)) if p.severity == "error"}
    assert found == {
        (1, "dataset.source_language"), (3, "reference"), (3, "segment"), (3, "difficulty"),
        (4, "source"), (4, "variants"), (5, "id"), (5, "notes"), (6, "id"), (7, None),
    }  # fmt: skip


def test_wrong_segment_or_difficulty_is_an_error(tmp_path: Path) -> None:
    problem = only_problem(json_file(tmp_path, [entry(1, segment="held-out")]))
    assert "development, diagnostic, gold_standard, held_out" in problem.mend
    assert "Nearest: held_out" in problem.mend
    assert problem.entry == 1
    difficulty: Any
    for difficulty in (0, 6, True, 2.5, "3", "very hard", [], {}):
        path = json_file(tmp_path, [entry(1, difficulty=difficulty)])
        assert only_problem(path).field == "difficulty"


def test_a_missing_language_is_the_only_fault(tmp_path: Path) -> None:
    found = problems(file(tmp_path, json.dumps([entry(1)])))
    assert {p.field for p in found} == {"dataset.source_language", "dataset.target_language"}
    assert "--source-language" in found[0].mend
    for in_file in [True, False]:
        task = {"task": "asr"}
        records = [{"id": 1, "audio": "1.wav", "reference": "Bonan matenon!"}]
        content = {"dataset": task if in_file else {}, "entries": records}
        with pytest.raises(CorpusError) as caught:
            load(file(tmp_path, json.dumps(content)), dataset={} if in_file else task)
        fields = {problem.field for problem in caught.value.problems}
        assert "dataset.source_language" in fields
        assert "source" not in fields


def test_option_contradicts_the_file_or_gives_a_missing_id(tmp_path: Path) -> None:
    path = json_file(tmp_path, [entry(1)])
    assert only_problem(path, dataset={"target_language": "eo"}).field == "dataset.target_language"
    assert load(path, dataset={"target_language": "crk", "license": "CC0-1.0"}).dataset.license
    text = json.dumps({"dataset": LANGUAGES, "entries": [entry(1)]})
    assert only_problem(file(tmp_path, text)).field == "dataset.id"
    assert load(file(tmp_path, text), dataset={"id": "given"}).dataset.id == "given"


def test_ids_alike_are_duplicates_and_none_are_numbered(tmp_path: Path) -> None:
    problem = only_problem(json_file(tmp_path, [entry(1), entry("1", source="other")]))
    assert problem.field == "id"
    rows = [{"source": "a", "reference": "b"}, {"source": "c", "reference": "d"}]
    corpus = load(json_file(tmp_path, rows))
    assert [each.id for each in corpus.entries] == [1, 2]
    assert [problem.field for problem in corpus.warnings] == ["id"]
    rows[0]["id"] = "first"
    assert only_problem(json_file(tmp_path, rows)).field == "id"
    outputs = [{"id": number, "output": "x"} for number in range(50)]
    assert [p.field for p in problems(json_file(tmp_path, outputs))] == ["source", "reference"]


def sides(corpus: Corpus) -> list[tuple[str, str]]:
    return [(each.source, each.reference) for each in corpus.entries]


def test_header_may_name_languages() -> None:
    for header in ("mi\ten", "Māori\tEnglish", "maori\tenglish", "mri_Latn\teng_Latn", "MRI\tEN", "id\tmi\ten"):
        row = "\t".join([*["7"][: header.count("\t") - 1], "Kia ora", "Hello"])
        corpus = making.read_text(f"{header}\n{row}\n")
        assert sides(corpus) == [("Hello", "Kia ora")]
        assert not any("order" in each.message for each in corpus.warnings)


def test_languages_nobody_gave_and_of_two_scripts_the_one_asked() -> None:
    corpus = making.read_text("eng_Latn\tMāori\nHello\tKia ora\n", pair={})
    assert (corpus.dataset.source_language, corpus.dataset.target_language) == ("eng-Latn", "mi")
    assert any("in this order" in each.message for each in corpus.warnings)
    pair = {"source_language": "en", "target_language": "crk-Cans"}
    corpus = making.read_text("en\tcrk-Latn\tcrk-Cans\ndog\tatim\tᐊᑎᒼ\n", pair=pair)
    assert sides(corpus) == [("dog", "ᐊᑎᒼ")]
    assert corpus.entries[0].model_extra == {"crk-Latn": "atim"}


def test_columns_may_be_named_by_name_or_number() -> None:
    for source, reference in [("mine", "theirs"), ("MINE", "2"), ("1", "2"), ("1", "theirs")]:
        corpus = making.read_text("mine\ttheirs\tsource\na\tb\tc\n", source=source, reference=reference)
        assert sides(corpus) == [("a", "b")]
        assert corpus.entries[0].model_extra == {"other_source": "c"}
    with pytest.raises(Exception, match="no column “nowhere”") as caught:
        making.read_text("private words\tmore of them\nx\ty\n", source="nowhere", reference="2")
    assert "private" not in str(caught.value)


def test_fields_of_json_may_hold_several_references() -> None:
    row = json.dumps({"source": "Hello", "ref2": "b", "ref1": "a", "variants": ["c", "b"]})
    (entry,) = making.read_text(row, "a.jsonl").entries
    assert (entry.reference, entry.variants) == ("a", ("c", "b"))
    lists: list[dict[str, Any]] = [
        {"References": ["a", "b"]},
        {"Reference": ["a", "b"]},
        {"targets": [None, "a", "b"]},
        {"REFS": "a|b"},
    ]
    for row_lists in lists:
        (entry,) = making.read_text(json.dumps({"Source": "Hello", **row_lists}), "a.jsonl").entries
        assert (entry.source, entry.reference, entry.variants) == ("Hello", "a", ("b",))


@pytest.mark.parametrize(
    "cell", ['["a", "it\'s"]', "['a', \"it's\"]", "['a' \"it's\"]", "['a'\n \"it's\"]", "['a', 'it\\'s',]"]
)
def test_cells_may_hold_lists_as_json_and_pandas_write_them(cell: str) -> None:
    quoted = cell.replace('"', '""')
    for header in ("id,source,reference", "id,Source (en),References", "Segment ID,Source segment,Target segment"):
        (entry,) = making.read_text(f'{header}\n1,x,"{quoted}"\n', "a.csv").entries
        assert (entry.id, entry.source, entry.reference, entry.variants) == (1, "x", "a", ("it's",))
    for plain in ("[a]", "['a' b]", "[]", "[1]", "['a"):
        (entry,) = making.read_text(f"source\treference\nx\t{plain}\n", "a.tsv").entries
        assert (entry.reference, entry.variants) == (plain, ())


def test_of_two_columns_of_a_language_one_has_to_be_said(tmp_path: Path) -> None:
    pair = {"source_language": "en", "target_language": "crk"}
    path = file(tmp_path, "en_GB\tcrk-Latn\tcrk_Cans\ndog\tatim\tᐊᑎᒼ\n", "a.tsv")
    problem = only_problem(path, dataset=pair)
    assert "crk-Latn and crk-Cans may each be the language of the references, crk" in problem.message
    assert "--reference-column crk-Latn" in problem.mend
    corpus = load(path, dataset=pair, columns=Columns(reference="crk_Cans"))
    assert sides(corpus) == [("dog", "ᐊᑎᒼ")]
    assert any("en-GB was taken for en" in each.message for each in corpus.warnings)


def test_a_tsv_without_a_header_is_read_and_its_ids_are_lines() -> None:
    corpus = making.read_text("Hello\tKia ora\n\t\nThank you\tKia ora\n")
    assert [(each.id, each.source) for each in corpus.entries] == [(1, "Hello"), (3, "Thank you")]
    assert corpus.dataset.file_lines == 3
    assert [each.line for each in corpus.warnings if "No header" in each.message] == [1]


def test_numbers_read_a_wider_table_without_a_header() -> None:
    for name, sign in (("a.tsv", "\t"), ("a.csv", ","), ("a.txt", "\t")):
        text = f"x1{sign}Kia ora{sign}Hello\nx2{sign}Haere rā{sign}Goodbye\n"
        corpus = making.read_text(text, name, source="3", reference="2")
        assert sides(corpus) == [("Hello", "Kia ora"), ("Goodbye", "Haere rā")]
    with pytest.raises(CorpusError, match="segment"):
        making.read_text("text\tsplit\tother\nx\theldout\ty\n", source="1", reference="3")


def test_parts_with_windows_line_ends_are_one_finding_and_are_read() -> None:
    rows = "".join(f"Sentence {n}.\r\tRerenga {n}.\r\n" for n in range(500))
    corpus = making.read_text(f"en\r\tmi\r\n{rows}")
    assert sides(corpus)[499] == ("Sentence 499.", "Rerenga 499.")
    (finding,) = [each for each in corpus.warnings if "carriage return" in each.message]
    assert (finding.line, finding.message.split()[0]) == (1, "501")


def test_json_may_hold_translations_by_language() -> None:
    rows = [{"id": n, "translation": {"en": f"e{n}", "mi": f"m{n}"}, "domain": "x"} for n in (1, 2)]
    lines, whole = "\n".join(map(json.dumps, rows)), {"dataset": {"id": "d"}, "entries": rows}
    for text in (lines, json.dumps(whole), json.dumps(rows)):
        for pair in (PAIR, {}):
            name = "a.jsonl" if text == lines else "a.json"
            corpus = making.read_text(text, name, pair=pair)
            assert sides(corpus) == [("e1", "m1"), ("e2", "m2")]
            assert corpus.entries[0].model_extra == {"domain": "x"}
            assert corpus.dataset.target_language == "mi"


def test_of_three_languages_the_pair_is_taken_and_the_rest_kept(tmp_path: Path) -> None:
    row = json.dumps({"translation": {"fr": "f", "mi": "m", "en": "e"}})
    corpus = making.read_text(row, "a.jsonl")
    assert sides(corpus) == [("e", "m")]
    assert corpus.entries[0].model_extra == {"translations": {"fr": "f"}}
    found = problems(file(tmp_path, row, "b.jsonl"))
    assert any("--source-language" in each.mend for each in found)


def test_json_fields_may_be_named(tmp_path: Path) -> None:
    row = json.dumps({"id": 1, "english": "e", "maori_text": "m"})
    corpus = making.read_text(row, "a.jsonl", source="english", reference="maori_text")
    assert sides(corpus) == [("e", "m")]
    problem = only_problem(file(tmp_path, row, "b.jsonl"), dataset=PAIR, columns=Columns("english", "none"))
    assert problem.field == "reference"


def test_several_reference_files_are_variants(tmp_path: Path) -> None:
    parts = {"s.en": "One.\n\nTwo.\n", "r1.mi": "Tahi.\n\n\n", "r2.mi": "Kotahi.\n\nRua.\n"}
    paths = [file(tmp_path, text, name) for name, text in parts.items()]
    corpus = load(paths[0], paths[1:], dataset={"target_language": "mi"})
    assert corpus.form is Form.PARALLEL
    assert [(each.reference, each.variants) for each in corpus.entries] == [("Tahi.", ("Kotahi.",)), ("Rua.", ())]
    assert corpus.files == tuple(path.absolute() for path in paths)
    short = file(tmp_path, "Tahi.\n", "r3.mi")
    found = problems(paths[0], reference=[paths[1], short], dataset=PAIR)
    assert any("r3.mi" in each.message for each in found)


def test_tags_of_one_language_are_told_from_words() -> None:
    for one, other, same in [
        ("en", "eng_Latn", True), ("es", "spa", True), ("quy", "qu", True),
        ("crk-Cans", "crk-Latn", False), ("crk", "crk-Cans", True), ("mi", "en", False),
    ]:  # fmt: skip
        assert same_language(one, other) is same
    assert [tag_of(each) for each in ("", "text", "hello", "x" * 99, "Kia ora")] == [None] * 5


@examples(30, 300)
@given(
    st.text(max_size=60).map(str.encode) | st.binary(max_size=60),
    st.sampled_from(["a.tsv", "a.csv", "a.txt", "a.jsonl", "a.json", "a.tmx", "a.xlf", "a"]),
    st.none() | st.text(max_size=3),
    st.none() | st.text(max_size=3),
)
def test_readers_never_break(data: bytes, name: str, one: str | None, other: str | None) -> None:
    with suppress(CorpusError):
        read([File(name, data)], dataset=PAIR, columns=Columns(one, other))
