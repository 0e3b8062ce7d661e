"""What the checks of a corpus find, what it says of itself, and its statistics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from corpora.checks.envelope import is_date
from corpora.checks.requirements import ConsentStanding, requirements, statistics
from corpora.files.problems import Problem
from corpora.formats.load import load
from corpora.model.labels import context_labels, find_label
from corpora.model.spdx import is_spdx, nearest_spdx
from tests.corpora.formats.small_corpora import corpus_of
from tests.corpora.making import entry, json_file
from tests.corpora.tasks.records import RECORDS, SECRET
from tests.corpora.tasks.records import corpus_of as corpus_of_task

GIVEN = ConsentStanding(documented=True, note="")


def warnings(folder: Path, *entries: dict[str, Any]) -> list[Problem]:
    return list(load(json_file(folder, list(entries))).warnings)


def test_repeated_pairs_and_sources_are_one_warning_each(tmp_path: Path) -> None:
    same = {"source": "a", "reference": "â"}
    again = {"source": " a ", "reference": "a\u0302"}
    (pairs, forms) = warnings(tmp_path, entry(1, **same), entry(2, **again), entry(3, **same))
    assert pairs.message.startswith("2 entries repeat the source and reference")
    assert "2, 3" in pairs.message
    assert pairs.entry == 2
    assert "1 texts NFD" in forms.message
    (only,) = warnings(tmp_path, entry(1, source="a"), entry(2, source="a"))
    assert "One entry gives another reference" in only.message
    assert "`variants`" in only.mend


def test_unknown_tag_is_one_warning_with_the_nearest(tmp_path: Path) -> None:
    for field, tag, near in (
        ("register", "Formal ", "formal"),
        ("register", "conversation", "conversational"),
        ("context", "Question", "question"),
        ("provenance", "text-book", "textbook"),
    ):
        (only,) = warnings(tmp_path, entry(1, **{field: tag}))
        assert only.field == field
        assert f"Nearest: {near}." in only.mend
    (only,) = warnings(tmp_path, *(entry(number, provenance="tatoeba") for number in range(500)))
    assert only.message.startswith("500 entries")
    assert "Nearest" not in only.mend
    assert "textbook" in only.mend


@pytest.mark.parametrize("field", ["source", "reference", "variants"])
def test_control_characters_are_pointed_at(tmp_path: Path, field: str) -> None:
    for sign in "\x1b\x85\ufeff\u202e\u200f\u2068":
        text = f"a{sign}b"
        (only,) = warnings(tmp_path, entry(1, **{field: [text] if field == "variants" else text}))
        kind = "bidirectional" if sign in "\u202e\u200f\u2068" else ""
        assert kind in only.message
        assert only.entry == 1
    for needed in "\t\n\u200c\u200d\u00a0\u3000":
        assert warnings(tmp_path, entry(1, source=f"a{needed}b")) == []


def test_mixed_normal_forms_are_counted(tmp_path: Path) -> None:
    rows = [entry(n, source=f"â {n}") for n in range(3)] + [entry(9, reference="a\u0302")]
    (only,) = warnings(tmp_path, *rows)
    assert "3 texts NFC, 1 texts NFD" in only.message
    assert (warnings(tmp_path, *rows[:3]), warnings(tmp_path, rows[3])) == ([], [])


def complete() -> list[dict[str, Any]]:
    """Return a corpus that just meets each requirement of §11.1."""
    sizes = (("gold_standard", 50), ("development", 30), ("diagnostic", 10))
    rows = [
        entry(f"{segment}{number}", segment=segment, provenance="textbook", difficulty=2)
        for segment, size in sizes
        for number in range(size)
    ]
    rows[0]["difficulty"], rows[1]["difficulty"] = 1, 5
    rows[0]["register"], rows[1]["register"] = "formal", "technical"
    return rows


def verdicts(rows: list[dict[str, Any]], **more: Any) -> dict[str, int]:
    return {
        row.name: row.short_by
        for row in requirements(corpus_of(*rows, **more), GIVEN)
        if not row.met
    }


def test_requirements_just_met_and_one_less() -> None:
    assert verdicts(complete(), consent="council, 2026") == {}
    assert len(requirements(corpus_of(*complete()), GIVEN)) == 7
    for at, change, name in (
        (0, {"segment": None}, "gold_standard entries"),
        (50, {"segment": None}, "development entries"),
        (80, {"segment": None}, "diagnostic entries"),
        (5, {"provenance": None}, "entries with provenance"),
        (0, {"difficulty": 2}, "difficulty tiers"),
        (0, {"register": None}, "registers"),
    ):
        rows = complete()
        rows[at] |= change
        assert verdicts(rows, consent=True) == {name: 1}


def test_consent_held_out_and_provenance_records_count() -> None:
    standing = ConsentStanding(documented=False, note="not documented")
    (row,) = (r for r in requirements(corpus_of(*complete()), standing) if not r.met)
    assert (row.name, row.note, row.short_by) == ("community consent", "not documented", 1)
    rows = [*complete(), entry("h", segment="held_out", provenance="corpus")]
    assert verdicts(rows, consent="yes") == {"held_out entries": 9}
    rows = [*complete(), entry("r", provenance_record={"source_name": "x"})]
    assert verdicts(rows, consent="yes") == {}


def test_statistics_count_what_entries_and_tasks_carry() -> None:
    counted = statistics(
        corpus_of(
            entry(1, source="one two", reference="ᐊᑎᒼ", variants=["x", "y"], difficulty=3),
            entry(2, source="three", reference="ᒥᓄᐢ â", segment="diagnostic", register="formal"),
            entry(3, source="a b c", reference="b", difficulty=3, morphological_analysis="m"),
        )
    )
    assert (counted.entries, counted.by_difficulty) == (3, {"3": 2, "not given": 1})
    assert counted.by_segment == {"diagnostic": 1, "not given": 2}
    assert (counted.with_variants, counted.variants, counted.with_analysis) == (1, 2, 1)
    assert (counted.source.median_words, counted.source.median_characters) == (2, 5)
    assert counted.source.longest == 7
    assert counted.reference.scripts == {"Canadian_Aboriginal": 0.75, "Latin": 0.25}
    assert counted.reference.normal_forms == {"either": 2, "NFC": 1}
    for task, fields in [
        ("translation", {}),
        ("qa", {"baseline": 2, "evidence": 2, "judge_semantic": 2}),
        ("ifeval", {"instructions": 2}),
        ("text2sql", {"database": 2, "database_schema": 1}),
    ]:
        record = {**RECORDS[task], "somebody_elses": SECRET}
        less = {name: each for name, each in record.items() if name != "database_schema"}
        assert statistics(corpus_of_task(task, record, less)).fields == fields


ENTRY = {"id": 1, "source": "dog", "reference": "atim"}


def found(folder: Path, *entries: dict[str, Any], **said: Any) -> list[Problem]:
    dataset = {"id": "c", "source_language": "en", "target_language": "crk"} | said
    path = folder / "c.json"
    path.write_text(json.dumps({"dataset": dataset, "entries": entries or [ENTRY]}, indent=1))
    return list(load(path).warnings)


def test_date_is_iso_8601_or_named_with_its_line(tmp_path: Path) -> None:
    for text in ("2026", "2026-11", "2024-02-29", "2026-11-22T10:00:00Z", "2026-11-22 10:00"):
        assert is_date(text)
    for text in [
        "2026-02-29", "2026-13", "22.11.2026", "20261122", "2026-11-22T25:00", "26", "٢٠٢٦",
    ]:  # fmt: skip
        assert not is_date(text)
        (only,) = found(tmp_path, created=text)
        assert (only.field, only.line) == ("dataset.created", 6)
        assert "2026-11-22" in only.mend


def test_spdx_expressions_are_told_from_others() -> None:
    for licence in (
        "CC0-1.0", "cc-by-nc-sa-4.0", "MIT OR Apache-2.0", "LicenseRef-council-1", "Apache-1.0+",
        "GPL-2.0-only WITH Classpath-exception-2.0", "(MIT AND CC-BY-4.0)",
    ):  # fmt: skip
        assert is_spdx(licence)
    for licence in [
        "CC BY 4.0", "CC-BY", "MIT OR", "(MIT", "MIT)", "MIT WITH MIT", "OR MIT", "MIT MIT", "",
        "WITH",
    ]:  # fmt: skip
        assert not is_spdx(licence)


def test_licence_that_is_no_id_is_told_with_the_nearest(tmp_path: Path) -> None:
    for licence, near in (("CC BY 4.0", "CC-BY-4.0"), ("CC-BY-SA", "CC-BY-SA-4.0")):
        assert nearest_spdx(licence) == near
        (only,) = found(tmp_path, license=licence)
        assert (only.field, only.line) == ("dataset.license", 6)
        assert f"Write {near}," in only.mend
    for licence in ("unknown", "Kaitiakitanga", "all rights reserved", "CC0-1.0"):
        assert found(tmp_path, license=licence) == []


def test_labels_are_known_or_told_with_the_nearest(tmp_path: Path) -> None:
    assert len(context_labels()) == 30
    address = "https://localcontexts.org/label/tk-non-commercial/"
    for said in ("TK NC", "tk-nc", "TK Non-Commercial", address):
        label = find_label(said)
        assert label.words == "TK Non-Commercial (TK NC)"
    assert find_label("TK X") is None
    assert found(tmp_path, labels=["TK V", "for our schools"]) == []
    (only,) = found(tmp_path, labels=["TK Verifyed"])
    assert "Nearest: TK Verified." in only.mend
    (only,) = found(tmp_path, labels=3)
    assert only.field == "dataset.labels"


def test_provenance_is_compared_and_nothing_secret_quoted(tmp_path: Path) -> None:
    rows = [ENTRY | {"id": n, "source": f"s{n}", "provenance": "textbook"} for n in range(3)]
    rows[1]["provenance"] = "corpus"
    (only,) = found(tmp_path, *rows, provenance=["textbook"])
    assert (only.field, only.entry) == ("provenance", 1)
    assert only.line is not None
    assert "“corpus”" in only.message
    assert found(tmp_path, *rows, provenance=["textbook", "corpus"]) == []
    assert found(tmp_path, *rows) == []
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
