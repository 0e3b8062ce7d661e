"""Whatever is handed in, the answer is words: never a traceback, never an entry's text."""

import json
import os
import unicodedata
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.files import decode
from corpora.files.problems import MOST, CorpusError
from corpora.formats.load import File, load, read
from corpora.model.corpus import Form
from tests.corpora.making import LANGUAGES, entry, file, json_file, only_problem, problems


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b" \r\n\t", "empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "PNG"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"SQLite format 3\x00", "SQLite"),
        ('{"entries": []}'.encode("utf-16") + b"\0", "Broken UTF-16"),
        ('{"entries": []}'.encode("utf-16-le"), "UTF-16"),
        ('{"entries": []}'.encode("utf-32"), "UTF-32"),
        (b'{"entries": [], "a": "\x00"}', "NUL"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"a":' * 100_000, "nested too deep"),
        (b'{"entries": [' + b"[" * 100_000, "nested too deep"),
        (b"[1" + b"0" * 5000 + b"]", "too many digits"),
        (b"3", "not a corpus"),
        (b'{"entries": {}}', "must be a list"),
        (b'{"run_card_hash": "x", "results": []}', "run card"),
        (b'{"dataset": {}}', "no list of entries"),
        (b"[] []", "extra data"),
    ],
)
def test_what_is_no_corpus_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    assert words in only_problem(file(tmp_path, content)).message


def test_an_empty_list_of_entries_is_an_error(tmp_path: Path) -> None:
    assert only_problem(json_file(tmp_path, [])).field == "entries"


def test_broken_utf8_is_named_by_line_and_offset(tmp_path: Path) -> None:
    content = "ligne\ncafé".encode() + b"\nna\xefve\n\xff"
    first, second = problems(file(tmp_path, content, "a.csv"))
    assert (first.line, second.line) == (3, 4)
    # "ligne\n" 6 bytes, "café\n" 6 bytes, "na" 2 bytes
    assert "0xef at offset 14 of the file (2 of the line)" in first.message


@pytest.mark.parametrize(
    ("text", "line", "column", "still_open"),
    [
        ('{"dataset": {},\n"entries": [\n{"id": 1,\n"source": "ab', 4, 11, ("1", "2", "3")),
        ('{"dataset": {},\n"entries": [\n{"id": 1}\n', 4, 1, ("1", "2")),
        ('{"dataset": {"a": 1', 1, 20, ("1", "1")),
    ],
)
def test_truncated_json_names_place_and_open_brackets(
    tmp_path: Path, text: str, line: int, column: int, still_open: tuple[str, ...]
) -> None:
    problem = only_problem(file(tmp_path, text))
    assert problem.line == line
    assert f"line {line}, column {column}" in problem.message
    assert "breaks off" in problem.message
    opened = problem.message.split("still open: ")[1].rstrip(".").split(", ")
    assert tuple(part.split(" of line ")[1] for part in opened) == still_open


def test_invalid_json_names_its_place(tmp_path: Path) -> None:
    problem = only_problem(file(tmp_path, '{"entries": [\n{"id": 1},\n{"id": 2,}]}'))
    assert problem.line == 3
    assert "Not valid JSON" in problem.message


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_refused(tmp_path: Path, number: str) -> None:
    row = f'{{"id": 1, "source": "a", "reference": "b", "weight": {number}}}'
    assert only_problem(file(tmp_path, f"[\n{row}]"), dataset=LANGUAGES).line == 2


def test_a_repeated_field_is_refused(tmp_path: Path) -> None:
    row = '{"id": 1, "source": "a", "reference": "b", "source": "c"}'
    assert "twice" in only_problem(file(tmp_path, f"[{row}]"), dataset=LANGUAGES).message
    twice = '{"dataset": {}, "dataset": {}, "entries": []}'
    assert any("twice" in p.message for p in problems(file(tmp_path, twice)))


@pytest.mark.parametrize("escape", ["\\ud800", "\\udc00 x", "a\\u0000b"])
@pytest.mark.parametrize("field", ["source", "reference", "notes", "domain", "id"])
def test_half_characters_and_nul_are_refused(tmp_path: Path, field: str, escape: str) -> None:
    row = json.dumps(entry(1, notes="n", domain="d") | {field: "@"}).replace("@", escape)
    problem = only_problem(file(tmp_path, f"[{row}]"), dataset=LANGUAGES)
    assert problem.line == 1
    str(problem).encode()


def test_a_deep_extra_field_is_refused_before_it_can_hurt(tmp_path: Path) -> None:
    deep = "[" * 400 + "]" * 400
    row = f'{{"id": 1, "source": "a", "reference": "b", "x": {deep}}}'
    assert "too many levels" in only_problem(file(tmp_path, f"[{row}]"), dataset=LANGUAGES).message


def test_ids_that_act_on_terminals_come_out_harmless(tmp_path: Path) -> None:
    hostile = "\x1b[2J\u202eevil" + "x" * 500
    problem = only_problem(json_file(tmp_path, [entry(hostile, segment="no")]))
    assert str(problem).isprintable()
    assert len(str(problem.entry)) <= 60


def test_a_number_too_large_for_json_is_no_id(tmp_path: Path) -> None:
    assert only_problem(json_file(tmp_path, [entry(2**53)])).field == "id"
    assert load(json_file(tmp_path, [entry(2**53 - 1)])).entries[0].id == 2**53 - 1


def test_no_message_quotes_an_entry(tmp_path: Path) -> None:
    word = "KONFIDENCA"
    rows = [
        {"id": 1, "source": word, "reference": word, "segment": word, "difficulty": word},
        {"id": 2, "source": [word], "reference": {word: word}, "provenance": word},
        {"id": 3, "source": word, "reference": word, "register": word, "context": word},
        {"id": 4, "source": word, "reference": word + "\x07", "variants": word, "notes": [word]},
        {"id": [word], word: word},
        word,
    ]
    assert not any(word in str(problem) for problem in problems(json_file(tmp_path, rows)))


def test_a_file_above_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode, "LARGEST", 100)
    path = json_file(tmp_path, [entry(number) for number in range(10)])
    assert "larger than" in only_problem(path).message


@pytest.mark.parametrize("name", ["missing.json", "", "\0"])
def test_what_cannot_be_opened_is_said(tmp_path: Path, name: str) -> None:
    assert "cannot be read" in only_problem(Path(os.path.join(tmp_path, name))).message  # noqa: PTH118


def test_reading_stops_when_everything_is_wrong(tmp_path: Path) -> None:
    path = file(tmp_path, "x\n" * (MOST + 50), "a.jsonl")
    assert len(problems(path)) == MOST + 1


@given(data=st.binary(max_size=300), form=st.sampled_from([None, *Form]))
@settings(deadline=None)
def test_bytes_of_any_kind_give_a_corpus_or_words(data: bytes, form: Form | None) -> None:
    _read_or_words(data, form)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "dataset", "entries", "id", "source", "reference", "variants", "difficulty",
                    "language_pair", "corpus_id", "provenance", "segment", "index", "register_",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)  # fmt: skip


@settings(deadline=None)
@given(value=_JSON, form=st.sampled_from([None, *Form]))
def test_json_of_any_shape_gives_a_corpus_or_words(value: object, form: Form | None) -> None:
    _read_or_words(json.dumps(value).encode(), form)
    _read_or_words(json.dumps({"dataset": value, "entries": [value]}).encode(), form)
    _read_or_words(json.dumps({"entries": value, "language_pair": value}).encode(), form)


def _read_or_words(data: bytes, form: Form | None) -> None:
    with suppress(CorpusError):
        assert read([File("any", data)], form=form, dataset={"id": "x", **LANGUAGES}).entries


TOWER = "a" + "\u0301\u0316" * 150_000


@pytest.mark.parametrize("field", ["source", "reference", "id", "note"])
def test_a_tower_of_marks_is_refused_before_it_is_brought_into_a_normal_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    asked: list[int] = []
    normalize = unicodedata.normalize
    monkeypatch.setattr(
        unicodedata,
        "normalize",
        lambda form, text: asked.append(len(text)) or normalize(form, text),  # type: ignore[func-returns-value]
    )
    path = json_file(tmp_path, [entry(1), entry(2, **({field: TOWER}))])
    problem = only_problem(path)
    assert (problem.field, problem.severity) == (field, "error")
    assert problem.entry == (TOWER if field == "id" else 2) or len(str(problem.entry)) < 100
    assert "More than 30 combining marks stand in a row" in problem.message
    assert problem.mend == "Take them out."
    assert max(asked, default=0) < 1000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "corpus.tsv")
    with pytest.raises(CorpusError, match="a pipe or a device, not a file"):
        load(tmp_path / "corpus.tsv")
