"""Before a review goes out its organiser knows which letters reviewers lack, and can send a font along."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from review.files.batch import Batch, open_batch
from review.office.store.store import Office
from rosetta_tui.commands.review import review
from tests.review.files.made_font import CHEROKEE, OFL, drawn_font
from tests.review.office import made
from tests.tui.review.creating import CREATE, refused, rosetta

SENTENCES = ("The dog sleeps 😀.", "A house", CHEROKEE)


@pytest.fixture
def home(home: Path) -> Path:
    """Seal a run with outputs as bad ones are: a stray sign in one, another script in two."""
    entries = made.demo_entries()
    outputs = [made.demo_outputs()[entry.id] or "x" for entry in entries]
    outputs[0] += " ▁中"
    outputs[1] = outputs[2] = CHEROKEE
    made.store_runs(home, entries, [outputs])
    return home


@pytest.fixture
def font(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "Letters.ttf").write_bytes(drawn_font())
    (tmp_path / "OFL.txt").write_bytes(OFL)
    return "--font", str(tmp_path / "Letters.ttf"), "--font-licence", str(tmp_path / "OFL.txt")


def _asked(home: Path, *more: str) -> tuple[str, ...]:
    """Ask for all sentences, so that these are among them; nothing is repeated or spoilt."""
    controls = ("--bad", "0", "--repeats", "0", "--anchors", "0")
    return (*CREATE, "--items", "96", *controls, "-o", str(home / "out"), *more)


def test_what_cannot_be_read_is_told_and_refused_before_anything_is_written(home: Path) -> None:
    plan = rosetta(*_asked(home, "--dry-run")).output
    first, *others = (str(entry.id) for entry in made.demo_entries()[:3])
    assert "letters      not all can be shown: the reviewer's window brings Latin" in plan
    for said in ("1 sign", "1 Han letter", "LOWER ONE EIGHTH BLOCK", "CJK UNIFIED IDEOGRAPH-4E2D"):
        assert said in plan
    assert f"in 1 item, entry {first}" in plan
    assert (
        "LEFT OUT where the computer has no font for them: 2 items with 9 Cherokee letters" in plan
    )
    said = refused(*_asked(home))
    assert said.startswith("2 items cannot be read (9 Cherokee letters")
    assert "--font FILE.ttf --font-licence OFL.txt" in said
    assert "--anyway" in said
    assert not (home / "out").exists()
    with Office.open(home) as office:
        assert not office.reviews()
    told = json.loads(rosetta(*_asked(home, "--anyway", "--json")).stdout)
    assert sorted(map(str, told["letters"]["left_out"])) == sorted(others)
    assert [str(each) for each in told["letters"]["shown_by_name"]] == [first]


def test_a_font_goes_along_signed_and_cut(home: Path, font: tuple[str, ...]) -> None:
    said = rosetta(*_asked(home, *font)).output
    assert "LEFT OUT" not in said
    assert "the batch 1 font (" in said
    (file,) = (home / "out").glob("*.rosetta-batch")
    (carried,) = open_batch(file.read_bytes()).fonts
    assert set(map(ord, CHEROKEE)) <= carried.read().characters
    assert carried.licence == OFL


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--font", "Letters.ttf"], "belong together"),
        (["--font-licence", "OFL.txt"], "belong together"),
        (["--font", "Letters.ttf", "--font-licence", "none.txt"], "none.txt cannot be read"),
        (["--font", "OFL.txt", "--font-licence", "OFL.txt"], "OFL.txt: This font is not used"),
        (["--font", "Letters.ttf", "--font-licence", "Letters.ttf"], "the text of its licence"),
        (["--font", "Latin.ttf", "--font-licence", "OFL.txt"], "none of the letters"),
    ],
)
def test_a_font_that_cannot_go_along_is_refused_in_words(
    home: Path, tmp_path: Path, font: tuple[str, ...], more: list[str], why: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("Latin.ttf").write_bytes(drawn_font("abc"))
    assert why in refused(*_asked(home, *more))
    assert not (home / "out").exists()


def test_what_no_laptop_could_show_is_told_with_the_progress_and_with_the_verdict(
    home: Path, tmp_path: Path
) -> None:
    rosetta(*_asked(home, "--anyway"))
    (file,) = (home / "out").glob("*.rosetta-batch")
    batch = open_batch(file.read_bytes())
    person = made.Person(tmp_path / "laptop", batch, next(iter(made.codes_of(home))))
    left = next(n for n, item in enumerate(person.order) if _shown(batch, item) == CHEROKEE)
    person.leave_out(left)
    (home / "out" / "back.rosetta-ratings").write_bytes(person.handed_over())
    rosetta("import", str(home / "out"), "--enrol", "--yes")
    for command in ("status", "gate"):
        said = rosetta(command, "last").output
        assert "NOT SHOWN: 1 sentence could not be shown on a laptop" in said


def _shown(batch: Batch, item: str) -> str:
    return next(each.candidate for each in batch.items if each.id == item)


def test_sentences_to_translate_are_looked_at_too(
    home: Path, tmp_path: Path, font: tuple[str, ...]
) -> None:
    file = tmp_path / "sentences.txt"
    file.write_text("\n".join(SENTENCES), "utf-8")
    asked = (
        "create", "--translate", str(file), "--source-language", "en", "--target-language", "chr",
        "--organisation", "The council", "-o", str(home / "out"),
    )  # fmt: skip
    assert "1 item cannot be read (9 Cherokee letters" in refused(*asked)
    assert "LEFT OUT" in rosetta(*asked, "--anyway").output
    assert "SHOWN BY NAME" in rosetta(*asked, *font).output


def test_no_letter_of_a_secret_sentence_is_named(home: Path) -> None:
    from tests.review.office.secret_entries import secret_entries

    entries = secret_entries()
    outputs = [(made.demo_outputs().get(entry.id) or "x") + " ▁" for entry in entries]
    folder = home.parent / "secret"
    made.store_runs(folder, entries, [outputs])
    result = CliRunner().invoke(
        review, _asked(home, "--dry-run", "--anyway"), env={"ROSETTA_HOME": str(folder)}
    )
    assert "SHOWN BY NAME, such as ‹GRINNING FACE›: 1 sign in" in result.output
    assert "EIGHTH BLOCK" not in result.output


def test_without_font_tools_it_says_how_to_get_them(
    home: Path, font: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fontTools", None)
    assert 'pip install ".[fonts]"' in refused(*_asked(home, *font))
