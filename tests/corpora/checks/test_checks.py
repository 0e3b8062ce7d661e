from pathlib import Path
from typing import Any

import pytest

from corpora.files.problems import Problem
from corpora.formats.load import load
from tests.corpora.making import entry, json_file


def warnings(folder: Path, *entries: dict[str, Any]) -> list[Problem]:
    return list(load(json_file(folder, list(entries))).warnings)


def test_repeated_pairs_are_one_warning_with_a_count(tmp_path: Path) -> None:
    same = {"source": "a", "reference": "â"}
    again = {"source": " a ", "reference": "a\u0302"}
    (pairs, forms) = warnings(tmp_path, entry(1, **same), entry(2, **again), entry(3, **same))
    assert pairs.message.startswith("2 entries repeat the source and reference")
    assert "2, 3" in pairs.message
    assert pairs.entry == 2
    assert "1 texts NFD" in forms.message


def test_several_references_for_one_source_point_to_variants(tmp_path: Path) -> None:
    (only,) = warnings(tmp_path, entry(1, source="a"), entry(2, source="a"))
    assert "One entry gives another reference" in only.message
    assert "`variants`" in only.mend


@pytest.mark.parametrize(
    ("field", "tag", "near"),
    [
        ("register", "Formal ", "formal"),
        ("register", "conversation", "conversational"),
        ("context", "Question", "question"),
        ("provenance", "text-book", "textbook"),
    ],
)
def test_an_unknown_tag_is_a_warning_with_the_nearest(
    tmp_path: Path, field: str, tag: str, near: str
) -> None:
    (only,) = warnings(tmp_path, entry(1, **{field: tag}))
    assert only.field == field
    assert f"Nearest: {near}." in only.mend


def test_many_unknown_tags_are_one_warning(tmp_path: Path) -> None:
    (only,) = warnings(tmp_path, *(entry(number, provenance="tatoeba") for number in range(500)))
    assert only.message.startswith("500 entries")
    assert "Nearest" not in only.mend
    assert "textbook" in only.mend


@pytest.mark.parametrize(
    ("sign", "words"),
    [
        ("\x1b", "hold"),
        ("\x85", "control characters"),
        ("\ufeff", "control characters"),
        ("\u202e", "bidirectional"),
        ("\u200f", "bidirectional"),
        ("\u2068", "bidirectional"),
    ],
)
@pytest.mark.parametrize("field", ["source", "reference", "variants"])
def test_control_characters_are_pointed_at(
    tmp_path: Path, field: str, sign: str, words: str
) -> None:
    text = f"a{sign}b"
    (only,) = warnings(tmp_path, entry(1, **{field: [text] if field == "variants" else text}))
    assert words.removeprefix("hold") in only.message
    assert only.entry == 1


@pytest.mark.parametrize("sign", ["\t", "\n", "\u200c", "\u200d", "\u00a0", "\u3000"])
def test_characters_that_texts_need_are_not(tmp_path: Path, sign: str) -> None:
    assert warnings(tmp_path, entry(1, source=f"a{sign}b")) == []


def test_mixed_normal_forms_are_counted(tmp_path: Path) -> None:
    rows = [entry(n, source=f"â {n}") for n in range(3)] + [entry(9, reference="a\u0302")]
    (only,) = warnings(tmp_path, *rows)
    assert "3 texts NFC, 1 texts NFD" in only.message
    assert warnings(tmp_path, *rows[:3]) == []
    assert warnings(tmp_path, rows[3]) == []
