"""``rosetta verify FILE --with OTHER``: each kind is held against what it names, in both directions, and a wrong one is said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from harness.sealed.keys import Identity, Role
from harness.sealed.signature import public_pem
from review.files.statements import write_laptop_card, write_statement
from review.records.use import read_use
from review.verifying.held import ANY, NAMES
from review.verifying.verifying import KINDS
from tests.tui.commands.certified_gold import ok, said, two_sides
from tests.tui.commands.every_file import every_file

TOGETHER = {
    ("card-seal", "card"),
    ("card-seal", "row-proof"),
    ("row-proof", "card"),
    ("reproduction", "card"),
    ("released-card", "release-ledger"),
    ("coarse-certificate", "release-ledger"),
    ("coarse-certificate", "released-card"),
    ("certificate", "batch"),
    ("evidence", "batch"),
    ("evidence", "certificate"),
    ("ownership", "released-card"),
    ("ownership", "coarse-certificate"),
    ("use", "released-card"),
    ("use", "coarse-certificate"),
    ("profile", "statement"),
    ("request", "vault-log"),
    ("answer", "vault-log"),
    ("vault-head", "vault-log"),
    ("answer", "request"),
    ("drill", "vault-log"),
    ("drill-answer", "drill"),
    ("register", "notice"),
    ("exchange-list", "card"),
    ("use-end", "use-begun"),
    ("saw", "laptop"),
}
"""Of the files that are written here."""


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    folder = tmp_path_factory.mktemp("every")
    with pytest.MonkeyPatch.context() as patch:
        sides = two_sides(folder, patch)
        found = every_file(sides, folder / "files")
        ok(f"run {folder}/files/corpus.json --method constant --text x --plain", sides.developer)
        ok(f"runs export last -o {folder}/other.json", sides.developer)
        begun, end = folder / "begun.rosetta-use", folder / "end.rosetta-use"
        of = (
            f"organisation used {sides.run_id} --where radio --by Bob --since 2026-01-02 -o {begun}"
        )
        ok(of, sides.organisation)
        number = read_use(begun.read_bytes()).id
        ok(f"organisation ended {number} --on 2026-02-03 --reason over -o {end}")
        witness, laptop = Identity.make(Role.COMPUTER), Identity.make(Role.LAPTOP)
        (folder / "seen.rosetta-laptop").write_bytes(write_laptop_card(laptop, "red"))
        saw = write_statement(witness, laptop.public.signing_key, "ab" * 32)
        (folder / "saw.rosetta-witness").write_bytes(saw)
        yield found | {
            "other-card": folder / "other.json",
            "use-begun": begun,
            "use-end": end,
            "saw": folder / "saw.rosetta-witness",
            "seen": folder / "seen.rosetta-laptop",
        }


def checks(file: Path, other: Path) -> tuple[int, list[bool | None]]:
    """Return the exit code, and what was said of the other file."""
    done = said(f"verify {file} --with {other} --json")
    assert done.exit_code in (0, 1), f"{done.output}{done.exception!r}"
    found = json.loads(done.stdout)["checks"]
    return done.exit_code, [each["ok"] for each in found if each not in _alone(file)]


@cache
def _alone(file: Path) -> list[dict[str, object]]:
    """Return what is said of a file beside which nothing is named."""
    found: list[dict[str, object]] = json.loads(said(f"verify {file} --json").stdout)["checks"]
    return found


def test_the_table_names_kinds_that_there_are() -> None:
    known = {each.name for each in KINDS} | {ANY}
    assert {name for pair in NAMES for name in pair} <= known


def _path(paths: dict[str, Path], name: str) -> Path:
    return paths["seen"] if name == "laptop" else paths[name]


@pytest.mark.parametrize(("one", "other"), sorted(TOGETHER))
def test_what_belongs_together_holds_both_ways(
    paths: dict[str, Path], one: str, other: str
) -> None:
    for first, second in ((one, other), (other, one)):
        code, found = checks(_path(paths, first), _path(paths, second))
        beside = (first, second) == ("certificate", "evidence")  # that is looked at without a word
        assert beside or True in found, (first, second, found)
        assert code == (first == "use-begun"), (first, second)


def test_every_other_pair_of_the_table_does_not(paths: dict[str, Path]) -> None:
    wrong = [pair for pair in NAMES if set(pair) <= paths.keys() and pair not in TOGETHER]
    wrong += [(one, "other-card") for one, other in NAMES if other == "card" and one in paths]
    wrong += [("witness", "laptop"), ("witness", "seen"), ("exchange-list", "other-card")]
    wrong += [("keeper", "vault-log"), ("use-end", "use"), ("use", "use-end")]
    for one, other in wrong:
        code, found = checks(paths[one], paths[other])
        assert (code, False in found) == (1, True), (one, other, found)


def test_a_changed_file_shows_nothing(paths: dict[str, Path], tmp_path: Path) -> None:
    """A card whose numbers were changed and whose hash was left is not the card that was signed."""
    changed = tmp_path / "card.json"
    raw = json.loads(paths["card"].read_bytes())
    raw["scores"]["composite"] = 0.99
    changed.write_text(json.dumps(raw))
    for each in ("card-seal", "row-proof", "reproduction"):
        code, found = checks(paths[each], changed)
        assert (code, False in found) == (1, True), each


def test_the_beginning_of_a_use_says_that_its_end_is_known(
    paths: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [each for each in _alone(paths["use-begun"]) if each["ok"] is False]
    assert [each["name"] for each in found] == ["standing"]
    assert "until 2026-02-03: over" in str(found[0]["words"])
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    assert said(f"verify {paths['use-begun']}").exit_code == 0


def test_a_key_is_held_against_who_signed(paths: dict[str, Path], tmp_path: Path) -> None:
    mine = tmp_path / "mine.pem"
    signer = json.loads(said(f"verify {paths['card-seal']} --json").stdout)["signers"][0]["key"]
    mine.write_text(public_pem(signer))
    assert checks(paths["card-seal"], mine) == (0, [True])
    mine.write_text(public_pem(Identity.make(Role.COMPUTER).public.signing_key))
    assert checks(paths["card-seal"], mine) == (1, [False])


def test_what_nothing_is_held_against_is_told(paths: dict[str, Path], tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("hello")
    for other in (notes, paths["laptop"]):
        assert checks(paths["card-seal"], other) == (0, [None])
