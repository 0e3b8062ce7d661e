"""What the checks of a corpus find, what metrics require of it, and its statistics."""

from pathlib import Path
from typing import Any

import pytest

from corpora.checks.requirements import ConsentStanding, requirements, statistics
from corpora.files.problems import Problem
from corpora.formats.load import load
from tests.corpora.formats.small_corpora import corpus_of
from tests.corpora.making import entry, json_file
from tests.corpora.tasks.records import RECORDS, SECRET
from tests.corpora.tasks.records import corpus_of as corpus_of_task

GIVEN = ConsentStanding(documented=True, note="")


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


def test_a_corpus_that_just_meets_everything_is_told_so() -> None:
    assert verdicts(complete(), consent="council, 2026") == {}
    assert len(requirements(corpus_of(*complete()), GIVEN)) == 7


@pytest.mark.parametrize(
    ("at", "change", "name"),
    [
        (0, {"segment": None}, "gold_standard entries"),
        (50, {"segment": None}, "development entries"),
        (80, {"segment": None}, "diagnostic entries"),
        (5, {"provenance": None}, "entries with provenance"),
        (0, {"difficulty": 2}, "difficulty tiers"),
        (0, {"register": None}, "registers"),
    ],
)
def test_one_less_is_short_by_one(at: int, change: dict[str, Any], name: str) -> None:
    rows = complete()
    rows[at] |= change
    assert verdicts(rows, consent=True) == {name: 1}


def test_consent_is_met_only_where_it_is_documented() -> None:
    standing = ConsentStanding(documented=False, note="not documented")
    (row,) = (r for r in requirements(corpus_of(*complete()), standing) if not r.met)
    assert (row.name, row.note, row.short_by) == ("community consent", "not documented", 1)


def test_held_out_has_a_size_only_where_it_is_there() -> None:
    rows = [*complete(), entry("h", segment="held_out", provenance="corpus")]
    assert verdicts(rows, consent="yes") == {"held_out entries": 9}


def test_a_provenance_record_counts_as_documented() -> None:
    rows = [*complete(), entry("r", provenance_record={"source_name": "x"})]
    assert verdicts(rows, consent="yes") == {}


def test_statistics_count_what_entries_carry() -> None:
    counted = statistics(
        corpus_of(
            entry(1, source="one two", reference="ᐊᑎᒼ", variants=["x", "y"], difficulty=3),
            entry(2, source="three", reference="ᒥᓄᐢ â", segment="diagnostic", register="formal"),
            entry(3, source="a b c", reference="b", difficulty=3, morphological_analysis="m"),
        )
    )
    assert counted.entries == 3
    assert counted.by_difficulty == {"3": 2, "not given": 1}
    assert counted.by_segment == {"diagnostic": 1, "not given": 2}
    assert (counted.with_variants, counted.variants, counted.with_analysis) == (1, 2, 1)
    assert counted.source.median_words == 2
    assert counted.source.median_characters == 5
    assert counted.source.longest == 7
    assert counted.reference.scripts == {"Canadian_Aboriginal": 0.75, "Latin": 0.25}
    assert counted.reference.normal_forms == {"either": 2, "NFC": 1}


@pytest.mark.parametrize(
    ("task", "fields"),
    [
        ("translation", {}),
        ("qa", {"baseline": 2, "evidence": 2, "judge_semantic": 2}),
        ("ifeval", {"instructions": 2}),
        ("text2sql", {"database": 2, "database_schema": 1}),
    ],
)
def test_the_fields_of_a_task_are_counted_and_no_others(task: str, fields: dict[str, int]) -> None:
    record = {**RECORDS[task], "somebody_elses": SECRET}
    less = {name: each for name, each in record.items() if name != "database_schema"}
    assert statistics(corpus_of_task(task, record, less)).fields == fields
