"""A secret entry whose mark is mistyped or misplaced is never a public one (DESIGN V1)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpora.checks.marks import is_mark
from corpora.files.problems import CorpusError, Severity
from corpora.formats.load import File, load, read
from corpora.model.corpus import Corpus
from corpora.model.entry import Segment
from corpora.text.near_names import fold
from tests.corpora.making import LANGUAGES, entry, envelope, file, json_file, only_problem

SECRET = [each.value for each in Segment if each.secret]
NAMES = ["segment", "split", "subset", "partition", "fold", "secret", "held_out", "data_split"]

Writer = Callable[[str, str], tuple[str, str]]
"""From a field's name and value to a file's name and text with one entry."""


def _json(name: str, value: str) -> tuple[str, str]:
    whole = {"dataset": envelope(), "entries": [{**entry(), name: value}]}
    return "c.json", json.dumps(whole)


def _nested(name: str, value: str) -> tuple[str, str]:
    whole = {"dataset": envelope(), "entries": [{**entry(), "metadata": [{name: value}]}]}
    return "c.json", json.dumps(whole)


def _old_names(name: str, value: str) -> tuple[str, str]:
    old = {"index": 1, "source_text": "one", "target_expected": "unu", name: value}
    return "c.json", json.dumps({"dataset": envelope(), "entries": [old]})


def _reference(name: str, value: str) -> tuple[str, str]:
    pair = {"source": "en", "target": "crk"}
    top = {"corpus_id": "made", "language_pair": pair, "entries": [{**entry(), name: value}]}
    return "c.json", json.dumps(top)


def _at_top(name: str, value: str) -> tuple[str, str]:
    return "c.json", json.dumps({**envelope(), name: value, "entries": [entry()]})


def _at_top_of_reference(name: str, value: str) -> tuple[str, str]:
    pair = {"source": "en", "target": "crk"}
    top = {"corpus_id": "made", "language_pair": pair, name: value, "entries": [entry()]}
    return "c.json", json.dumps(top)


def _in_dataset(name: str, value: str) -> tuple[str, str]:
    return "c.json", json.dumps({"dataset": envelope(**{name: value}), "entries": [entry()]})


def _lines(name: str, value: str) -> tuple[str, str]:
    rows: list[dict[str, Any]] = [{"dataset": envelope()}, {**entry(), name: value}]
    return "c.jsonl", "\n".join(map(json.dumps, rows))


def _first_line(name: str, value: str) -> tuple[str, str]:
    rows: list[dict[str, Any]] = [{"dataset": envelope(**{name: value})}, entry()]
    return "c.jsonl", "\n".join(map(json.dumps, rows))


def _table(suffix: str, delimiter: str) -> Writer:
    def write(name: str, value: str) -> tuple[str, str]:
        text = io.StringIO()
        rows = csv.writer(text, delimiter=delimiter)
        rows.writerows([["id", "source", "reference", name], ["1", "one", "unu", value]])
        return f"c.{suffix}", text.getvalue()

    return write


def _comment(name: str, value: str) -> tuple[str, str]:
    return "c.csv", f"# {name}: {value}\nid,source,reference\n1,one,unu\n"


def _later_comment(name: str, value: str) -> tuple[str, str]:
    return "c.csv", f"id,source,reference\n# {name}: {value}\n1,one,unu\n"


IN_ENTRIES: dict[str, Writer] = {
    "specification": _json,
    "nested": _nested,
    "old names": _old_names,
    "reference implementation": _reference,
    "jsonl": _lines,
    "csv": _table("csv", ","),
    "tsv": _table("tsv", "\t"),
}
FOR_ALL: dict[str, Writer] = {
    "top": _at_top,
    "top of the reference implementation": _at_top_of_reference,
    "dataset": _in_dataset,
    "first line": _first_line,
    "comment": _comment,
    "later comment": _later_comment,
}
EVERYWHERE = IN_ENTRIES | FOR_ALL


def read_text(named: tuple[str, str]) -> Corpus:
    name, text = named
    return read([File(name, text.encode())], dataset=LANGUAGES)


def secret_or_refused(named: tuple[str, str]) -> bool:
    try:
        corpus = read_text(named)
    except CorpusError:
        return True
    return all(each.secret for each in corpus.entries)


@st.composite
def spellings(draw: st.DrawFn, words: list[str]) -> str:
    """Write a name as people do: case, signs between words, blanks, wide letters, an accent."""
    word = draw(st.sampled_from(words))
    word = word.replace("_", draw(st.sampled_from(["_", "-", " ", ""])))
    word = "".join(
        draw(st.sampled_from([letter.lower(), letter.upper(), _wide(letter)])) for letter in word
    )
    blank = st.sampled_from(["", " ", "\t ", "_"])
    return f"{draw(blank)}{word}{draw(blank)}"


def _wide(letter: str) -> str:
    return chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter


@pytest.mark.parametrize("place", EVERYWHERE)
@given(name=spellings(NAMES), value=st.sampled_from(SECRET))
@example(name="Segment", value="held_out")
@example(name="segmеnt", value="held_out")  # with a Cyrillic е
@example(name="sègment", value="gold_standard")
@example(name="segement", value="gold_standard")
def test_a_mark_of_any_spelling_is_understood_or_refused(place: str, name: str, value: str) -> None:
    assert secret_or_refused(EVERYWHERE[place](name, value))


@pytest.mark.parametrize("place", EVERYWHERE)
@given(name=st.text("abcxyz", min_size=1, max_size=8), value=spellings(SECRET))
def test_the_name_of_a_secret_segment_in_any_other_field_is_refused(
    place: str, name: str, value: str
) -> None:
    assert secret_or_refused(EVERYWHERE[place](f"x_{name}", value))


@pytest.mark.parametrize("place", EVERYWHERE)
@pytest.mark.parametrize("name", ["split", "Segmnt", "subset", "data.split", "heldOut"])
def test_an_open_value_under_such_a_name_is_refused_with_the_mend(place: str, name: str) -> None:
    with pytest.raises(CorpusError) as caught:
        read_text(EVERYWHERE[place](name, "dev"))
    told = [each for each in caught.value.problems if each.severity is Severity.ERROR]
    assert len(told) == 1
    assert "segment" in told[0].mend
    assert told[0].line is not None or told[0].field is not None


def test_the_error_names_line_entry_field_and_mend(tmp_path: Path) -> None:
    found = only_problem(json_file(tmp_path, [entry(1), entry(2, Segment="held_out")]))
    assert found.entry == 2
    assert found.field == "Segment"
    assert found.line == 1
    assert '"segment"' in found.mend
    assert "held_out" in found.mend


@pytest.mark.parametrize(
    "harmless",
    [
        {"segment_id": 17},
        {"seg_id": "17"},
        {"comment": "offset"},
        {"position": 4, "element": "x", "sentiment": "calm", "folder": "a", "sectional": 1},
        {"provenance": "gold_standard"},
        {"provenance": {"type": "gold_standard", "license": "unknown"}},
        {"variants": ["held out"]},
        {"notes": "She held out her hand."},
    ],
)
def test_what_only_looks_a_little_like_it_is_read(tmp_path: Path, harmless: Any) -> None:
    assert len(load(json_file(tmp_path, [entry(**harmless)])).entries) == 1


def test_texts_may_say_anything(tmp_path: Path) -> None:
    corpus = load(json_file(tmp_path, [{"id": 1, "source": "held_out", "reference": "secret"}]))
    assert not corpus.entries[0].secret


@pytest.mark.parametrize(
    "name",
    [
        "held_out.en.csv", "Held-Out.csv", "news.gold_standard.csv", "held_out_v1.csv",
        "my_held_out.csv", "eo_gold_standard.csv", "gold-standard-2024.csv", "HeldOutV2.csv",
        "heldout2.csv",
    ],
)  # fmt: skip
def test_a_file_named_for_a_secret_segment_says_the_segment_of_each_entry(
    tmp_path: Path, name: str
) -> None:
    table = "id,source,reference\n1,one,unu\n"
    found = only_problem(file(tmp_path, table, name), dataset=LANGUAGES)
    assert "segment of each entry" in found.mend
    marked = "id,source,reference,segment\n1,one,unu,held_out\n"
    assert load(file(tmp_path, marked, name), dataset=LANGUAGES).entries[0].secret


def test_two_aligned_files_named_so_are_refused(tmp_path: Path) -> None:
    texts = [file(tmp_path, "one\n", f"held_out.{tag}.txt") for tag in ("en", "eo")]
    assert only_problem(*texts).field == "segment"


@pytest.mark.parametrize("name", NAMES)
def test_the_names_are_known_however_they_are_written(name: str) -> None:
    for written in (name.upper(), name.title(), f" {name} ", name.replace("_", "-"), f"{name}s"):
        assert is_mark(written)
    assert fold("Held-Out") == fold("ｈｅｌｄ ｏｕｔ") == "heldout"


@pytest.mark.parametrize("name", ["held-out-v1", "eo gold standard", "my_holdout"])
def test_a_corpus_named_for_a_secret_segment_is_refused(tmp_path: Path, name: str) -> None:
    assert only_problem(json_file(tmp_path, [entry()], id=name)).field == "segment"


@pytest.mark.parametrize(
    "name", ["—", "threshold-output", "gold", "standard", "out-held", "upheld"]
)
def test_a_name_of_other_words_is_none(tmp_path: Path, name: str) -> None:
    load(json_file(tmp_path, [entry()], id=name))


@pytest.mark.parametrize("column", ["segement", "split", "do_not_send"])
def test_a_wrong_column_is_said_once(tmp_path: Path, column: str) -> None:
    rows = "".join(f"{n},one {n},unu {n},x\n" for n in range(1, 1501))
    path = file(tmp_path, f"id,source,reference,{column}\n{rows}", "table.csv")
    found = only_problem(path, dataset=LANGUAGES)
    assert (found.line, found.entry, found.field) == (2, 1, column)
    assert "(1,500 entries)" in found.message
