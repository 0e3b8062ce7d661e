"""Which laptops speak for whom, at the command line: told each time, decided by the organiser, undone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from review.files.reviewer_codes import printed
from review.log.payloads import Rate
from review.rating import Rating
from tests.review.office import made
from tests.tui.review.creating import home, refused, rosetta, sent

__all__ = ["home"]


def rating(person: made.Person, of: made.Person) -> Rate:
    """Let one person's laptop speak in the name of another one."""
    return Rate(
        wall=made.WALL, reviewer=of.code, batch=of.batch.manifest.batch, item=of.order[0], position=0,
        active_ms=1, face="lines", version="0", rating=Rating.EXCELLENT,
    )  # fmt: skip


@pytest.fixture
def stick(home: Path, tmp_path: Path) -> tuple[Path, list[made.Person]]:
    """Return ratings of three people; the laptop of the third speaks for the first too."""
    folder = tmp_path / "stick"
    folder.mkdir()
    people = sent(home, tmp_path / "out", "--reviewers", "3")
    for number, person in enumerate(people):
        person.rate(made.random_ratings(5, number))
        if number == 2:
            person.laptop.append(rating(person, people[0]))
        rosetta_file = folder / f"{number}.rosetta-ratings"
        rosetta_file.write_bytes(person.handed_over())
        rosetta("enrol", person.identity.public.signing_key, "--name", f"box {number}")
    return folder, people


def test_two_laptops_for_one_person_are_told_decided_and_taken_out(
    stick: tuple[Path, list[made.Person]],
) -> None:
    folder, people = stick
    code = printed(people[0].card)
    for _ in range(2):
        told = rosetta("import", str(folder)).output
        assert told.count(f"LOOK: {code} is heard from box 0 and box 2. None of these ratings") >= 1
        assert "LOOK: its laptop speaks for 2 people" in told
        assert "keep this laptop out" not in told
    shown = rosetta("status", "spring").output
    assert f"LOOK: {code} is heard from box 0 and box 2." in shown
    assert f'rosetta review enrol "box 0" --speaks-for {code}' in shown
    assert "LOOK: box 2 speaks for 2 people" in shown
    assert "That is fine where they share this computer." in shown
    [found] = json.loads(rosetta("status", "spring", "--json").output)["reviews"]
    assert [(each["code"], each["counted"]) for each in found["several"]] == [(people[0].card, [])]
    assert [len(each["people"]) for each in found["laptops"]] == [1, 1, 2]
    assert [each["rated"] for each in found["reviewers"] if each["reviewer"] == people[0].card] == [
        0
    ]

    said = rosetta("enrol", "box", "0", "--speaks-for", code).output
    assert said == (
        f"Noted in spring: box 0 speaks for {code}. What other laptops say in this name does not count.\n"
    )
    shown = rosetta("status", "spring").output
    assert (
        f"NOTE: {code} is heard from box 0 and box 2. You said who speaks for this person: box 0."
        in shown
    )
    assert shown.count(" 5 of 100") == 3
    both = rosetta("enrol", "box 2", "--with", "box 0", "--speaks-for", code, "--json").output
    assert json.loads(both)["laptops"] == ["box 2", "box 0"]

    out = rosetta("enrol", "--remove", "box 2", "--reason", "nobody's").output
    assert out.startswith(
        "Taken out: box 2. Nothing that it says counts; its files are refused. Noted in spring."
    )
    refusal = rosetta("import", str(folder), code=1).output
    assert "NOT TAKEN  2.rosetta-ratings: its laptop, box 2, was taken out on" in refusal
    assert "(nobody's)" in refusal
    shown = rosetta("status", "spring").output
    assert "NOTE: box 2 is taken out (nobody's)" in shown
    assert shown.count(" 5 of 100") == 2
    assert rosetta("enrol", "--remove", "--undo", "box 2").output == (
        "Heard again: box 2. Noted in spring.\n"
    )
    assert rosetta("status", "spring").output.count(" 5 of 100") == 3


def test_what_says_nothing_together_is_refused(stick: tuple[Path, list[made.Person]]) -> None:
    folder, people = stick
    code = people[0].card
    assert "each alone" in refused("enrol", "box 0", "--speaks-for", code, "--remove")
    assert "each alone" in refused("enrol", "box 0", "--remove", "--name", "blue")
    assert "--speaks-for CODE" in refused("enrol", "box 0", "--with", "box 1")
    assert "belong to --remove" in refused("enrol", "box 0", "--undo")
    assert "Name one" in refused("enrol", "box 0", "--remove", "--undo", "--reason", "x")
    assert "at most 200" in refused("enrol", "box 0", "--remove", "--reason", "x" * 201)
    assert "no laptop 'box 9'" in refused("enrol", "box 9", "--remove", "--reason", "x")
    assert "handed nothing over" in refused("enrol", "box 0", "--speaks-for", code)
    rosetta("import", str(folder))
    said = refused("enrol", "box 1", "--speaks-for", code)
    assert (
        f"box 1 has no answer of {printed(code)}; box 0 and box 2 have. Nothing is changed." in said
    )
    assert "no review has the code" in refused("enrol", "box 0", "--speaks-for", "YBKC-TGFM")
    assert "Name one laptop" in refused("enrol", "--remove", "--reason", "x")
    for reason in ((), ("--reason", " ")):
        assert "Say why with --reason" in refused("enrol", "box 2", "--remove", *reason)
    assert "taken out" not in rosetta("status", "spring").output.replace("is taken out with", "")
