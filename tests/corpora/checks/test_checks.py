"""What the checks of a corpus find; no secret entry with a mistyped mark is public (DESIGN V1)."""

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

from corpora.checks.envelope import is_date, is_mark
from corpora.checks.requirements import ConsentStanding, requirements, statistics
from corpora.files.problems import CorpusError, Problem, Severity
from corpora.formats.load import File, load, read
from corpora.model.corpus import Corpus
from corpora.model.entry import Segment
from corpora.model.vocabularies import context_labels, find_label, is_spdx, nearest_spdx
from corpora.text.messages import fold
from tests.corpora.making import LANGUAGES, corpus_of, entry, envelope, file, json_file, only_problem
from tests.corpora.tasks.records import RECORDS
from tests.corpora.tasks.records import SECRET as ANSWER
from tests.corpora.tasks.records import corpus_of as corpus_of_task
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


HEAD = {"dataset": envelope()}
OLD = {"index": 1, "source_text": "one", "target_expected": "unu"}
IDS = {"corpus_id": "made", "language_pair": {"source": "en", "target": "crk"}}
PLACES: dict[str, Writer] = {
    "specification": lambda k, v: as_json({**HEAD, "entries": [{**entry(), k: v}]}),
    "nested": lambda k, v: as_json({**HEAD, "entries": [{**entry(), "metadata": [{k: v}]}]}),
    "old names": lambda k, v: as_json({**HEAD, "entries": [{**OLD, k: v}]}),
    "reference implementation": lambda k, v: as_json({**IDS, "entries": [{**entry(), k: v}]}),
    "jsonl": lambda k, v: as_lines(HEAD, {**entry(), k: v}),
    "csv": as_table("csv", ","),
    "tsv": as_table("tsv", "\t"),
    "top": lambda k, v: as_json({**envelope(), k: v, "entries": [entry()]}),
    "top of the reference": lambda k, v: as_json({**IDS, k: v, "entries": [entry()]}),
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
    wide = {place: place + 0xFEE0 for place in range(ord("!"), ord("~") + 1)}
    forms = [[each.lower(), each.upper(), each.translate(wide)] for each in word]
    blank = st.sampled_from(["", " ", "\t ", "_"])
    return draw(blank) + "".join(draw(st.sampled_from(form)) for form in forms) + draw(blank)


@examples(36, 1300)
@given(st.sampled_from(sorted(PLACES)), spellings(NAMES), st.sampled_from(SECRET))
def test_mark_of_any_spelling_is_understood_or_refused(place: str, name: str, value: str) -> None:
    assert secret_or_refused(PLACES[place](name, value))


@examples(36, 1300)
@given(st.sampled_from(sorted(PLACES)), st.text("abcxyz", min_size=1), spellings(SECRET))
def test_secret_segment_in_any_other_field_is_refused(place: str, name: str, value: str) -> None:
    assert secret_or_refused(PLACES[place](f"x_{name}", value))


MISSPELT = ["Segment", "segmеnt", "sègment", "segement"]  # the second with a Cyrillic е


def test_mark_under_another_name_is_refused_with_the_mend() -> None:
    for place in PLACES.values():
        for name in MISSPELT:
            assert secret_or_refused(place(name, "held_out"))
        assert secret_or_refused(place("x_a", "Held-Out "))
        for name in ("split", "Segmnt", "data.split", "heldOut"):
            with pytest.raises(CorpusError) as caught:
                read_text(place(name, "dev"))
            (told,) = (each for each in caught.value.problems if each.severity is Severity.ERROR)
            assert "segment" in told.mend
            assert told.line is not None or told.field is not None


def test_the_error_names_line_entry_field_and_mend(tmp_path: Path) -> None:
    found = only_problem(json_file(tmp_path, [entry(1), entry(2, Segments="held_out")]))
    assert (found.entry, found.field, found.line) == (2, "Segments", 1)
    assert '"segment"' in found.mend
    assert "held_out" in found.mend
    assert [one.secret for one in load(json_file(tmp_path, [entry(1), entry(2, Segment="held_out")])).entries] == [
        False,
        True,
    ]


def test_what_only_looks_a_little_like_a_mark_is_read(tmp_path: Path) -> None:
    alike = {"position": 4, "element": "x", "sentiment": "calm", "folder": "a", "sectional": 1}
    for harmless in (
        {"segment_id": 17}, {"seg_id": "17", "comment": "offset"}, alike,
        {"provenance": "gold_standard"},
        {"provenance": {"type": "gold_standard", "license": "unknown"}},
        {"variants": ["held out"], "notes": "She held out her hand."},
        {"source": "held_out", "reference": "secret"},
    ):  # fmt: skip
        (only,) = load(json_file(tmp_path, [entry(**harmless)])).entries
        assert not only.secret
    for name in ("—", "threshold-output", "gold", "standard", "out-held", "upheld"):
        load(json_file(tmp_path, [entry()], id=name))


def test_file_named_for_secret_segment_needs_marked_entries(tmp_path: Path) -> None:
    table, column, mark = "id,source,reference{}\n1,one,unu{}\n", ",segment", ",held_out"
    for name in (
        "held_out.en", "Held-Out", "news.gold_standard", "held_out_v1", "my_held_out",
        "eo_gold_standard", "gold-standard-2024", "HeldOutV2", "heldout2",
    ):  # fmt: skip
        told = only_problem(file(tmp_path, table.format("", ""), f"{name}.csv"), dataset=LANGUAGES)
        assert "segment of each entry" in told.mend
        marked = file(tmp_path, table.format(column, mark), f"{name}.csv")
        assert load(marked, dataset=LANGUAGES).entries[0].secret


def test_texts_or_corpus_named_for_secret_segment_are_refused(tmp_path: Path) -> None:
    texts = [file(tmp_path, "one\n", f"held_out.{tag}.txt") for tag in ("en", "eo")]
    assert only_problem(*texts).field == "segment"
    for name in ("held-out-v1", "eo gold standard", "my_holdout"):
        assert only_problem(json_file(tmp_path, [entry()], id=name)).field == "segment"


def test_names_of_marks_are_known_however_they_are_written() -> None:
    for name in NAMES:
        for written in (name.upper(), f" {name.title()} ", name.replace("_", "-"), f"{name}s"):
            assert is_mark(written)
    assert fold("Held-Out") == fold("ｈｅｌｄ ｏｕｔ") == "heldout"


def test_wrong_column_is_reported_once(tmp_path: Path) -> None:
    rows = "".join(f"{n},one {n},unu {n},x\n" for n in range(1, 51))
    for column in ("segement", "do_not_send"):
        path = file(tmp_path, f"id,source,reference,{column}\n{rows}", "table.csv")
        told = only_problem(path, dataset=LANGUAGES)
        assert (told.line, told.entry, told.field) == (2, 1, column)
        assert "(50 entries)" in told.message


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
        ("register", "Formal ", "formal"), ("register", "conversation", "conversational"),
        ("context", "Question", "question"), ("provenance", "text-book", "textbook"),
    ):  # fmt: skip
        (only,) = warnings(tmp_path, entry(1, **{field: tag}))
        assert only.field == field
        assert f"Nearest: {near}." in only.mend
    (only,) = warnings(tmp_path, *(entry(number, provenance="tatoeba") for number in range(500)))
    assert only.message.startswith("500 entries")
    assert "Nearest" not in only.mend
    assert "textbook" in only.mend


def test_control_characters_are_pointed_at(tmp_path: Path) -> None:
    for sign in "\x1b\x85\ufeff\u202e\u200f\u2068":
        text = f"a{sign}b"
        for fields in ({"source": text}, {"reference": text}, {"variants": [text]}):
            (only,) = warnings(tmp_path, entry(1, **fields))
            assert ("bidirectional" in only.message) is (sign in "\u202e\u200f\u2068")
            assert only.entry == 1
    for needed in "\t\n\u00a0\u3000":
        assert warnings(tmp_path, entry(1, source=f"a{needed}b")) == []
    assert warnings(tmp_path, entry(1, source="می\u200cخواهم क्\u200dष")) == []


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
    return {row.name: row.short_by for row in requirements(corpus_of(*rows, **more), GIVEN) if not row.met}


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
        ("translation", {}), ("qa", {"baseline": 2, "evidence": 2, "judge_semantic": 2}),
        ("ifeval", {"instructions": 2}), ("text2sql", {"database": 2, "database_schema": 1}),
    ]:  # fmt: skip
        record = {**RECORDS[task], "somebody_elses": ANSWER}
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
    for text in ["2026-02-29", "2026-13", "22.11.2026", "20261122", "2026-11-22T25:00", "٢٠٢٦"]:
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
    for licence in ["CC BY 4.0", "CC-BY", "MIT OR", "(MIT", "MIT)", "MIT WITH MIT", "OR MIT", ""]:
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


def test_the_weight_of_the_middle_tiers(tmp_path: Path) -> None:
    for middle, warned in ((15, []), (14, ["difficulty"])):
        tiers = [2 + n % 3 if n < middle else 1 + n % 2 * 4 for n in range(30)]
        rows = [ENTRY | {"id": n, "source": f"s{n}", "difficulty": tiers[n]} for n in range(30)]
        assert [each.field for each in found(tmp_path, *rows)] == warned
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
