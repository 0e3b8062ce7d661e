"""A secret entry whose mark is mistyped or misplaced is never a public one (DESIGN V1)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.checks.marks import is_mark
from corpora.files.problems import CorpusError, Severity
from corpora.formats.load import File, load, read
from corpora.model.corpus import Corpus
from corpora.model.entry import Segment
from corpora.text.near_names import fold
from tests.corpora.making import LANGUAGES, entry, envelope, file, json_file, only_problem
from tests.review.thorough import examples

SECRET = [each.value for each in Segment if each.secret]
NAMES = ["segment", "split", "subset", "partition", "fold", "secret", "held_out", "data_split"]

Writer = Callable[[str, str], tuple[str, str]]
"""From a field's name and value to a file's name and text with one entry."""


def as_json(whole: Any) -> tuple[str, str]:
    return "c.json", json.dumps(whole)


def as_lines(*rows: dict[str, Any]) -> tuple[str, str]:
    return "c.jsonl", "\n".join(map(json.dumps, rows))


def as_table(suffix: str, delimiter: str) -> Writer:
    def write(name: str, value: str) -> tuple[str, str]:
        text = io.StringIO()
        rows = csv.writer(text, delimiter=delimiter)
        rows.writerows([["id", "source", "reference", name], ["1", "one", "unu", value]])
        return f"c.{suffix}", text.getvalue()

    return write


OLD = {"index": 1, "source_text": "one", "target_expected": "unu"}
IDS = {"corpus_id": "made", "language_pair": {"source": "en", "target": "crk"}}
PLACES: dict[str, Writer] = {
    "specification": lambda k, v: as_json({"dataset": envelope(), "entries": [{**entry(), k: v}]}),
    "nested": lambda k, v: as_json(
        {"dataset": envelope(), "entries": [{**entry(), "metadata": [{k: v}]}]}
    ),
    "old names": lambda k, v: as_json({"dataset": envelope(), "entries": [{**OLD, k: v}]}),
    "reference implementation": lambda k, v: as_json({**IDS, "entries": [{**entry(), k: v}]}),
    "jsonl": lambda k, v: as_lines({"dataset": envelope()}, {**entry(), k: v}),
    "csv": as_table("csv", ","),
    "tsv": as_table("tsv", "\t"),
    "top": lambda k, v: as_json({**envelope(), k: v, "entries": [entry()]}),
    "top of the reference implementation": lambda k, v: as_json(
        {**IDS, k: v, "entries": [entry()]}
    ),
    "dataset": lambda k, v: as_json({"dataset": envelope(**{k: v}), "entries": [entry()]}),
    "first line": lambda k, v: as_lines({"dataset": envelope(**{k: v})}, entry()),
    "comment": lambda k, v: ("c.csv", f"# {k}: {v}\nid,source,reference\n1,one,unu\n"),
    "later comment": lambda k, v: ("c.csv", f"id,source,reference\n# {k}: {v}\n1,one,unu\n"),
}


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


@examples(36, 1300)
@given(st.sampled_from(sorted(PLACES)), spellings(NAMES), st.sampled_from(SECRET))
def test_mark_of_any_spelling_is_understood_or_refused(place: str, name: str, value: str) -> None:
    assert secret_or_refused(PLACES[place](name, value))


@examples(36, 1300)
@given(
    st.sampled_from(sorted(PLACES)), st.text("abcxyz", min_size=1, max_size=8), spellings(SECRET)
)
def test_secret_segment_in_any_other_field_is_refused(place: str, name: str, value: str) -> None:
    assert secret_or_refused(PLACES[place](f"x_{name}", value))


MISSPELT = ["Segment", "segmеnt", "sègment", "segement"]  # the second with a Cyrillic е


@pytest.mark.parametrize("place", PLACES)
def test_mark_under_another_name_is_refused_with_the_mend(place: str) -> None:
    for name in MISSPELT:
        assert secret_or_refused(PLACES[place](name, "held_out"))
    assert secret_or_refused(PLACES[place]("x_a", "Held-Out "))
    for name in ("split", "Segmnt", "subset", "data.split", "heldOut"):
        with pytest.raises(CorpusError) as caught:
            read_text(PLACES[place](name, "dev"))
        (told,) = (each for each in caught.value.problems if each.severity is Severity.ERROR)
        assert "segment" in told.mend
        assert told.line is not None or told.field is not None


def test_the_error_names_line_entry_field_and_mend(tmp_path: Path) -> None:
    found = only_problem(json_file(tmp_path, [entry(1), entry(2, Segment="held_out")]))
    assert (found.entry, found.field, found.line) == (2, "Segment", 1)
    assert '"segment"' in found.mend
    assert "held_out" in found.mend


def test_what_only_looks_a_little_like_a_mark_is_read(tmp_path: Path) -> None:
    alike = {"position": 4, "element": "x", "sentiment": "calm", "folder": "a", "sectional": 1}
    for harmless in (
        {"segment_id": 17},
        {"seg_id": "17", "comment": "offset"},
        alike,
        {"provenance": "gold_standard"},
        {"provenance": {"type": "gold_standard", "license": "unknown"}},
        {"variants": ["held out"], "notes": "She held out her hand."},
        {"source": "held_out", "reference": "secret"},
    ):
        (only,) = load(json_file(tmp_path, [entry(**harmless)])).entries
        assert not only.secret
    for name in ("—", "threshold-output", "gold", "standard", "out-held", "upheld"):
        load(json_file(tmp_path, [entry()], id=name))


@pytest.mark.parametrize(
    "name",
    [
        "held_out.en", "Held-Out", "news.gold_standard", "held_out_v1", "my_held_out",
        "eo_gold_standard", "gold-standard-2024", "HeldOutV2", "heldout2",
    ],
)  # fmt: skip
def test_file_named_for_secret_segment_needs_marked_entries(tmp_path: Path, name: str) -> None:
    table = "id,source,reference\n1,one,unu\n"
    found = only_problem(file(tmp_path, table, f"{name}.csv"), dataset=LANGUAGES)
    assert "segment of each entry" in found.mend
    marked = "id,source,reference,segment\n1,one,unu,held_out\n"
    assert load(file(tmp_path, marked, f"{name}.csv"), dataset=LANGUAGES).entries[0].secret


def test_texts_or_corpus_named_for_secret_segment_are_refused(tmp_path: Path) -> None:
    texts = [file(tmp_path, "one\n", f"held_out.{tag}.txt") for tag in ("en", "eo")]
    assert only_problem(*texts).field == "segment"
    for name in ("held-out-v1", "eo gold standard", "my_holdout"):
        assert only_problem(json_file(tmp_path, [entry()], id=name)).field == "segment"


def test_names_of_marks_are_known_however_they_are_written() -> None:
    for name in NAMES:
        for written in (
            name.upper(),
            name.title(),
            f" {name} ",
            name.replace("_", "-"),
            f"{name}s",
        ):
            assert is_mark(written)
    assert fold("Held-Out") == fold("ｈｅｌｄ ｏｕｔ") == "heldout"


def test_wrong_column_is_reported_once(tmp_path: Path) -> None:
    rows = "".join(f"{n},one {n},unu {n},x\n" for n in range(1, 1501))
    for column in ("segement", "split", "do_not_send"):
        path = file(tmp_path, f"id,source,reference,{column}\n{rows}", "table.csv")
        found = only_problem(path, dataset=LANGUAGES)
        assert (found.line, found.entry, found.field) == (2, 1, column)
        assert "(1,500 entries)" in found.message
