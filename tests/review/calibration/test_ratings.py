"""Ratings made elsewhere: every form, every scale, and words for what is wrong in a file."""

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.failures import UsageError
from review.calibration.ratings import OURS, Scale, from_review, read_ratings, read_scale
from review.office.results.results import rating_rows, ratings_csv
from review.rating import Rating
from tests.harness.sealed.refusals import refuses
from tests.review.office.reviewed import RUN, key, said, state
from tests.review.thorough import examples

ROWS: list[dict[str, object]] = [
    {"entry_id": "e1", "rating": "excellent", "reviewer": "R1", "run": "a"},
    {"entry_id": "e1", "rating": "gist", "reviewer": "R2", "run": "a"},
    {"entry_id": "2", "rating": "0", "reviewer": "R1", "run": "a"},
]


def written(folder: Path, suffix: str, rows: list[dict[str, object]]) -> Path:
    path = folder / f"ratings{suffix}"
    if suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
        return path
    file = io.StringIO()
    table = csv.DictWriter(file, list(rows[0]), delimiter="," if suffix == ".csv" else "\t")
    table.writeheader()
    table.writerows(rows)
    path.write_text(file.getvalue(), "utf-8")
    return path


def test_every_form_says_the_same(tmp_path: Path) -> None:
    for suffix in (".csv", ".tsv", ".jsonl"):
        found = read_ratings(written(tmp_path, suffix, ROWS), OURS)
        assert [(row.entry_id, row.run, row.reviewer) for row in found.rows] == [
            ("e1", "a", "R1"), ("e1", "a", "R2"), ("2", "a", "R1")
        ]  # fmt: skip
        assert [row.place for row in found.rows] == pytest.approx([1, 1 / 3, 0])
        assert [row.acceptable for row in found.rows] == [True, False, False]
        assert (found.source["kind"], len(str(found.source["sha256"]))) == ("file", 64)


def test_other_column_names_and_whole_number_ids_will_do(tmp_path: Path) -> None:
    path = written(tmp_path, ".jsonl", [{"id": 7.0, "score": 2.5, "rater": 1, "note": "x"}])
    [row] = read_ratings(path, OURS).rows
    assert (row.entry_id, row.reviewer, row.run, row.acceptable) == ("7", "1", None, True)
    assert row.place == pytest.approx(2.5 / 3)


def test_rows_without_a_rating_and_controls_are_left_out(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"person": "A", "run_id": "r", "entry_id": "1", "control": "", "rating": "gist"},
        {"person": "A", "run_id": "r", "entry_id": "2", "control": "", "rating": ""},
        {"person": "A", "run_id": "", "entry_id": "3", "control": "bad", "rating": "reject"},
    ]
    found = read_ratings(written(tmp_path, ".csv", rows), OURS)
    assert (len(found.rows), found.empty, found.controls) == (1, 1, 1)
    several = written(tmp_path, ".jsonl", [{"id": "1", "rating": 3}] * 2)  # without a reviewer
    assert len(read_ratings(several, OURS).rows) == 2


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"entry_id": "1", "rating": "fine"}, "field 'rating': one of reject, gist, acceptable, excellent"),
        ({"entry_id": "1", "rating": 4}, "a number from 0 to 3 is wanted; --scale WORST:BEST"),
        ({"entry_id": "1", "rating": True}, "a number from 0 to 3"),
        ({"entry_id": "1", "rating": "nan"}, "a number from 0 to 3"),
        ({"entry_id": "1", "rating": [2]}, "a number from 0 to 3"),
        ({"entry_id": "1", "rating": "9" * 5000}, "a number from 0 to 3"),
        ({"entry_id": " ", "rating": 1}, "field 'entry_id' is empty"),
        ({"entry_id": 1.5, "rating": 1}, "field 'entry_id': a text or a whole number"),
        ({"entry_id": {}, "rating": 1}, "field 'entry_id': a text or a whole number"),
        ({"rating": 1}, "a field 'entry_id' is wanted (entry or id will do)"),
        ({"entry_id": "1"}, "a field 'rating' is wanted"),
        ({"entry_id": "1", "rating": 1, "reviewer": False}, "field 'reviewer': a text"),
    ],
    ids=lambda given: None if isinstance(given, str) else "row",
)  # fmt: skip
def test_wrong_row_is_refused_with_line(tmp_path: Path, row: dict[str, object], words: str) -> None:
    path = written(tmp_path, ".jsonl", [{"entry_id": "0", "rating": 1}, row])
    refused = refuses(UsageError, "", read_ratings, path, OURS)
    assert str(refused).startswith(f"{path}: line 2: ")
    assert words in str(refused)
    assert len(str(refused)) < len(str(path)) + 200


def test_wrong_file_is_refused(tmp_path: Path) -> None:
    for name, text, words in (
        ("r.txt", "x", "read from .csv, .tsv, .jsonl files"),
        ("r.jsonl", "", "there is no row"),
        ("r.csv", "entry_id,rating\n1,\n", "no rating in its 1 rows"),
        ("r.jsonl", "[1]\n", "line 1: one JSON object a line"),
        ("r.jsonl", "[" * 100_000, "line 1: one JSON object a line"),
        ("r.csv", 'entry_id,rating\n"1,2\n', "Close every quote"),
        ("r.csv", "entry_id,rating\n1,2,3\n", "the row does not have as many fields as the header"),
        ("r.csv", "rating,rating\n1,2\n", "two columns have the same name"),
    ):
        (tmp_path / name).write_text(text, "utf-8")
        refused = refuses(UsageError, "^.*" + name, read_ratings, tmp_path / name, OURS)
        assert words in str(refused)


def test_two_ratings_of_one_output_by_one_person_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, ".csv", [*ROWS, {**ROWS[0], "rating": "gist"}])
    refuses(UsageError, "line 5: this person rated the same output at line 2", read_ratings, path, OURS)


def test_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, ".csv", ROWS)
    monkeypatch.setattr("review.calibration.ratings.MOST_RATINGS", 2)
    refuses(UsageError, "more than 2 ratings", read_ratings, path, OURS)
    monkeypatch.setattr("review.calibration.ratings.MOST_BYTES", 10)
    refuses(UsageError, "larger than 10 bytes", read_ratings, path, OURS)


@examples(30, 100)
@given(st.lists(st.dictionaries(st.sampled_from(["id", "rating", "reviewer", "run", "x"]),
       st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers())), max_size=4))  # fmt: skip
def test_any_rows_are_read_or_refused_in_words(rows: list[dict[str, object]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
        try:
            found = read_ratings(path, OURS)
        except UsageError as error:
            assert str(error).startswith(str(path))  # noqa: PT017  either outcome is right
        else:
            assert all(0 <= row.place <= 1 for row in found.rows)


def test_scales_are_read_run_both_ways_or_are_refused() -> None:
    for text, from_, scale in (
        (None, None, OURS), (None, 3.0, Scale(0, 3, 3, words=True)),
        ("0:100", None, Scale(0, 100, 50)), ("5:1", None, Scale(5, 1, 3)), ("-3:3", 1.0, Scale(-3, 3, 1)),
    ):  # fmt: skip
        assert read_scale(text, from_) == scale, text
    scale = read_scale("5:1")
    assert [scale.place(number) for number in (5, 3, 1)] == [0, 0.5, 1]
    assert [scale.acceptable(number) for number in (4, 3, 2)] == [False, True, True]
    refuses(ValueError, r"^a number from 5 to 1 is wanted$", scale.number, "excellent")
    for text in ("", "1", "1:1", "a:b", "0:inf", "nan:1", "1:2:3"):
        refuses(UsageError, "--scale: two numbers are wanted", read_scale, text)
    for from_ in (-1.0, 3.5, float("nan")):
        refuses(UsageError, "--acceptable-from", read_scale, None, from_)


@dataclass(frozen=True)
class Item:
    run_id: str
    entry_id: int | str
    reviewer: str
    rating: int


def test_ratings_of_a_review_are_our_ranks() -> None:
    found = from_review("spring", [Item("r", 7, "AB", rating.rank) for rating in Rating])
    assert [row.place for row in found.rows] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert [row.acceptable for row in found.rows] == [False, False, True, True]
    assert (found.rows[0].entry_id, found.source["review"]) == ("7", "spring")
    refuses(UsageError, "Review 'spring' has no ratings yet", from_review, "spring", [])


def test_the_table_that_a_review_exports_is_read_as_it_is(tmp_path: Path) -> None:
    people = state(said(Rating.REJECT, None, Rating.EXCELLENT, Rating.GIST), said(Rating.ACCEPTABLE, Rating.GIST))
    (tmp_path / "r.csv").write_bytes(ratings_csv(rating_rows(key(), people, free_text=False)))
    found = read_ratings(tmp_path / "r.csv", OURS)
    assert (len(found.rows), found.empty, {row.run for row in found.rows}) == (5, 1, {RUN})
    assert len({row.reviewer for row in found.rows}) == 2
    assert sorted(round(3 * row.place) for row in found.rows) == [0, 1, 1, 2, 3]
