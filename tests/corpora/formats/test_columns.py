"""Tables and JSON as people have them: columns named for languages, no header, several references."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.files.problems import CorpusError
from corpora.formats.columns import Columns
from corpora.formats.load import File, load, read
from corpora.languages.language_names import same_language, tag_of
from corpora.model.corpus import Corpus, Form
from tests.corpora.making import file, only_problem, problems

PAIR = {"source_language": "en", "target_language": "mi"}


def read_text(text: str, name: str = "a.tsv", pair: Any = PAIR, **columns: str) -> Corpus:
    return read([File(name, text.encode())], dataset=pair, columns=Columns(**columns))


def sides(corpus: Corpus) -> list[tuple[str, str]]:
    return [(each.source, each.reference) for each in corpus.entries]


@pytest.mark.parametrize(
    "header",
    ["mi\ten", "Māori\tEnglish", "maori\tenglish", "mri_Latn\teng_Latn", "MRI\tEN", "id\tmi\ten"],
)
def test_a_header_may_name_languages(header: str) -> None:
    width = header.count("\t")
    row = "\t".join([*["7"][: width - 1], "Kia ora", "Hello"])
    corpus = read_text(f"{header}\n{row}\n")
    assert sides(corpus) == [("Hello", "Kia ora")]
    assert not any("order" in each.message for each in corpus.warnings)


def test_languages_nobody_gave_are_taken_in_their_order_and_said() -> None:
    corpus = read_text("eng_Latn\tMāori\nHello\tKia ora\n", pair={})
    assert (corpus.dataset.source_language, corpus.dataset.target_language) == ("eng-Latn", "mi")
    assert any("in this order" in each.message for each in corpus.warnings)


def test_of_two_scripts_the_one_that_was_asked_for_is_taken() -> None:
    pair = {"source_language": "en", "target_language": "crk-Cans"}
    corpus = read_text("en\tcrk-Latn\tcrk-Cans\ndog\tatim\tᐊᑎᒼ\n", pair=pair)
    assert sides(corpus) == [("dog", "ᐊᑎᒼ")]
    assert corpus.entries[0].model_extra == {"crk-Latn": "atim"}


@pytest.mark.parametrize(
    ("source", "reference"), [("mine", "theirs"), ("MINE", "2"), ("1", "2"), ("1", "theirs")]
)
def test_a_person_may_say_which_columns_they_are(source: str, reference: str) -> None:
    corpus = read_text("mine\ttheirs\tsource\na\tb\tc\n", source=source, reference=reference)
    assert sides(corpus) == [("a", "b")]
    assert corpus.entries[0].model_extra == {"other_source": "c"}


def test_a_column_that_is_not_there_is_an_error_that_quotes_no_cell() -> None:
    with pytest.raises(Exception, match="no column “nowhere”") as caught:
        read_text("private words\tmore of them\nx\ty\n", source="nowhere", reference="2")
    assert "private" not in str(caught.value)


def test_a_tsv_without_a_header_is_read_and_its_ids_are_lines() -> None:
    corpus = read_text("Hello\tKia ora\n\t\nThank you\tKia ora\n")
    assert [(each.id, each.source) for each in corpus.entries] == [(1, "Hello"), (3, "Thank you")]
    assert corpus.dataset.file_lines == 3
    assert [each.line for each in corpus.warnings if "No header" in each.message] == [1]


@pytest.mark.parametrize(("name", "sign"), [("a.tsv", "\t"), ("a.csv", ","), ("a.txt", "\t")])
def test_numbers_read_a_wider_table_without_a_header(name: str, sign: str) -> None:
    text = f"x1{sign}Kia ora{sign}Hello\nx2{sign}Haere rā{sign}Goodbye\n"
    corpus = read_text(text, name, source="3", reference="2")
    assert sides(corpus) == [("Hello", "Kia ora"), ("Goodbye", "Haere rā")]


def test_a_mark_in_the_header_is_never_read_as_an_entry() -> None:
    with pytest.raises(Exception, match="segment"):
        read_text("text\tsplit\tother\nx\theldout\ty\n", source="1", reference="3")


def test_parts_with_windows_line_ends_are_one_finding_and_are_read() -> None:
    rows = "".join(f"Sentence {n}.\r\tRerenga {n}.\r\n" for n in range(500))
    corpus = read_text(f"en\r\tmi\r\n{rows}")
    assert sides(corpus)[499] == ("Sentence 499.", "Rerenga 499.")
    (finding,) = [each for each in corpus.warnings if "carriage return" in each.message]
    assert (finding.line, finding.message.split()[0]) == (1, "501")


@pytest.mark.parametrize("form", ["jsonl", "json", "list"])
@pytest.mark.parametrize("pair", [PAIR, {}], ids=["told", "guessed"])
def test_json_may_hold_translations_by_language(form: str, pair: dict[str, str]) -> None:
    rows = [{"id": n, "translation": {"en": f"e{n}", "mi": f"m{n}"}, "domain": "x"} for n in (1, 2)]
    texts = {
        "jsonl": "\n".join(map(json.dumps, rows)),
        "json": json.dumps({"dataset": {"id": "d"}, "entries": rows}),
        "list": json.dumps(rows),
    }
    corpus = read_text(texts[form], f"a.{'jsonl' if form == 'jsonl' else 'json'}", pair=pair)
    assert sides(corpus) == [("e1", "m1"), ("e2", "m2")]
    assert corpus.entries[0].model_extra == {"domain": "x"}
    assert corpus.dataset.target_language == "mi"


def test_of_three_languages_the_pair_is_taken_and_the_rest_kept(tmp_path: Path) -> None:
    row = json.dumps({"translation": {"fr": "f", "mi": "m", "en": "e"}})
    corpus = read_text(row, "a.jsonl")
    assert sides(corpus) == [("e", "m")]
    assert corpus.entries[0].model_extra == {"translations": {"fr": "f"}}
    found = problems(file(tmp_path, row, "b.jsonl"))
    assert any("--source-language" in each.mend for each in found)


def test_json_fields_may_be_named(tmp_path: Path) -> None:
    row = json.dumps({"id": 1, "english": "e", "maori_text": "m"})
    corpus = read_text(row, "a.jsonl", source="english", reference="maori_text")
    assert sides(corpus) == [("e", "m")]
    problem = only_problem(
        file(tmp_path, row, "b.jsonl"), dataset=PAIR, columns=Columns("english", "none")
    )
    assert problem.field == "reference"


def test_several_reference_files_are_variants(tmp_path: Path) -> None:
    parts = {"s.en": "One.\n\nTwo.\n", "r1.mi": "Tahi.\n\n\n", "r2.mi": "Kotahi.\n\nRua.\n"}
    paths = [file(tmp_path, text, name) for name, text in parts.items()]
    corpus = load(paths[0], paths[1:], dataset={"target_language": "mi"})
    assert corpus.form is Form.PARALLEL
    assert [(each.reference, each.variants) for each in corpus.entries] == [
        ("Tahi.", ("Kotahi.",)),
        ("Rua.", ()),
    ]
    assert corpus.files == tuple(path.absolute() for path in paths)
    short = file(tmp_path, "Tahi.\n", "r3.mi")
    found = problems(paths[0], reference=[paths[1], short], dataset=PAIR)
    assert any("r3.mi" in each.message for each in found)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("en", "eng_Latn", True),
        ("es", "spa", True),
        ("quy", "qu", True),
        ("crk-Cans", "crk-Latn", False),
        ("crk", "crk-Cans", True),
        ("mi", "en", False),
    ],
)
def test_tags_of_one_language(one: str, other: str, same: bool) -> None:
    assert same_language(one, other) is same


def test_words_that_are_no_languages_are_none() -> None:
    assert [tag_of(each) for each in ("", "text", "hello", "x" * 99, "Kia ora")] == [None] * 5


@settings(max_examples=300, deadline=None)
@given(
    st.text(max_size=60).map(str.encode) | st.binary(max_size=60),
    st.sampled_from(["a.tsv", "a.csv", "a.txt", "a.jsonl", "a.json", "a.tmx", "a.xlf", "a"]),
    st.none() | st.text(max_size=3),
    st.none() | st.text(max_size=3),
)
def test_nothing_breaks_a_reader(
    data: bytes, name: str, source: str | None, reference: str | None
) -> None:
    with suppress(CorpusError):
        read([File(name, data)], dataset=PAIR, columns=Columns(source, reference))
