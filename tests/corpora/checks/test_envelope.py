"""What a corpus says of itself: dates, licences of the SPDX list, labels, and what its entries bear out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from corpora.checks.envelope import is_date
from corpora.files.problems import Problem
from corpora.formats.load import load
from corpora.model.labels import context_labels, find_label
from corpora.model.spdx import is_spdx, nearest_spdx

ENTRY = {"id": 1, "source": "dog", "reference": "atim"}


def found(folder: Path, *entries: dict[str, Any], **said: Any) -> list[Problem]:
    dataset = {"id": "c", "source_language": "en", "target_language": "crk"} | said
    path = folder / "c.json"
    path.write_text(json.dumps({"dataset": dataset, "entries": entries or [ENTRY]}, indent=1))
    return list(load(path).warnings)


@pytest.mark.parametrize(
    "text", ["2026", "2026-11", "2024-02-29", "2026-11-22T10:00:00Z", "2026-11-22 10:00"]
)
def test_dates_of_iso_8601_are_taken(text: str) -> None:
    assert is_date(text)


@pytest.mark.parametrize(
    "text", ["2026-02-29", "2026-13", "22.11.2026", "20261122", "2026-11-22T25:00", "26", "٢٠٢٦"]
)
def test_what_is_no_date_is_named_with_its_line(tmp_path: Path, text: str) -> None:
    assert not is_date(text)
    (only,) = found(tmp_path, created=text)
    assert (only.field, only.line) == ("dataset.created", 6)
    assert "2026-11-22" in only.mend


@pytest.mark.parametrize(
    "licence",
    [
        "CC0-1.0", "cc-by-nc-sa-4.0", "MIT OR Apache-2.0", "GPL-2.0-only WITH Classpath-exception-2.0",
        "LicenseRef-council-1", "(MIT AND CC-BY-4.0)", "Apache-1.0+",
    ],
)  # fmt: skip
def test_ids_and_expressions_of_the_list_are_known(licence: str) -> None:
    assert is_spdx(licence)


@pytest.mark.parametrize(
    "licence",
    [
        "CC BY 4.0",
        "CC-BY",
        "MIT OR",
        "(MIT",
        "MIT)",
        "MIT WITH MIT",
        "OR MIT",
        "MIT MIT",
        "",
        "WITH",
    ],
)
def test_what_is_no_expression_is_not(licence: str) -> None:
    assert not is_spdx(licence)


@pytest.mark.parametrize(
    ("licence", "near"), [("CC BY 4.0", "CC-BY-4.0"), ("CC-BY-SA", "CC-BY-SA-4.0")]
)
def test_a_licence_that_is_no_id_is_told_with_the_nearest(
    tmp_path: Path, licence: str, near: str
) -> None:
    assert nearest_spdx(licence) == near
    (only,) = found(tmp_path, license=licence)
    assert (only.field, only.line) == ("dataset.license", 6)
    assert f"Write {near}," in only.mend


@pytest.mark.parametrize("licence", ["unknown", "Kaitiakitanga", "all rights reserved", "CC0-1.0"])
def test_licences_that_no_list_has_are_left_alone(tmp_path: Path, licence: str) -> None:
    assert found(tmp_path, license=licence) == []


def test_labels_are_known_by_identifier_name_and_address() -> None:
    assert len(context_labels()) == 30
    for said in (
        "TK NC",
        "tk-nc",
        "TK Non-Commercial",
        "https://localcontexts.org/label/tk-non-commercial/",
    ):
        label = find_label(said)
        assert label is not None
        assert label.words == "TK Non-Commercial (TK NC)"
    assert find_label("TK X") is None


def test_a_label_that_is_none_is_told_and_own_words_are_left_alone(tmp_path: Path) -> None:
    assert found(tmp_path, labels=["TK V", "for our schools"]) == []
    (only,) = found(tmp_path, labels=["TK Verifyed"])
    assert "Nearest: TK Verified." in only.mend
    (only,) = found(tmp_path, labels=3)
    assert only.field == "dataset.labels"


def test_provenance_is_held_against_the_envelope(tmp_path: Path) -> None:
    rows = [ENTRY | {"id": n, "source": f"s{n}", "provenance": "textbook"} for n in range(3)]
    rows[1]["provenance"] = "corpus"
    (only,) = found(tmp_path, *rows, provenance=["textbook"])
    assert (only.field, only.entry) == ("provenance", 1)
    assert only.line is not None
    assert "“corpus”" in only.message
    assert found(tmp_path, *rows, provenance=["textbook", "corpus"]) == []
    assert found(tmp_path, *rows) == []


def test_nothing_of_a_secret_entry_is_quoted(tmp_path: Path) -> None:
    row = ENTRY | {"segment": "held_out", "provenance": "the elder's own words"}
    told = found(tmp_path, row, provenance=["elicited"])
    assert {each.field for each in told} == {"provenance"}
    assert not any("elder" in str(each) for each in told)


@pytest.mark.parametrize(("middle", "warns"), [(15, False), (14, True)])
def test_the_weight_of_the_middle_tiers(tmp_path: Path, middle: int, warns: bool) -> None:
    rows = [
        ENTRY
        | {"id": n, "source": f"s{n}", "difficulty": 2 + n % 3 if n < middle else 1 + n % 2 * 4}
        for n in range(30)
    ]
    told = found(tmp_path, *rows)
    assert [each.field for each in told] == ["difficulty"] * warns
    assert found(tmp_path, *rows[middle:]) == [], "too few to tell"


def test_a_variant_class_is_a_name_and_written_in_one_way(tmp_path: Path) -> None:
    rows = [ENTRY | {"id": n, "source": f"s{n}", "variant_class": "simple-TA"} for n in range(3)]
    assert found(tmp_path, *rows) == []
    rows[1]["variant_class"] = "simple TA"
    (only,) = found(tmp_path, *rows)
    assert (only.field, "in 2 ways" in only.message) == ("variant_class", True)
    rows[1]["variant_class"] = " "
    (only,) = found(tmp_path, *rows)
    assert (only.field, "blank" in only.message) == ("variant_class", True)
