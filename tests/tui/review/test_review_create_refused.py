"""A review that is refused leaves nothing: no laptop that is trusted, no recovery key, no file."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.core.failures import UsageError
from harness.core.storage_problems import StorageProblem
from harness.sealed import stick
from harness.sealed.keys import Identity, Role
from review.files.statements import write_laptop_card
from review.office.making import publishing
from review.office.making.publishing import keep_recipient, recovery_key
from review.office.store.store import Office
from rosetta_tui.commands.review import review
from tests.review.office import made
from tests.tui.review.creating import CREATE, refused, rosetta


@pytest.fixture
def home(home: Path) -> Path:
    """Seal a run in the store."""
    made.store_runs(home)
    return home


@pytest.mark.parametrize(
    "options",
    [
        ["--name", "../up"],
        ["--title", "Is example/model good?"],
        ["--title", "x" * 201],
        ["--cards", "taken/spring-cards.txt"],
        ["-o", "file/below"],
        ["--for", "broken.rosetta-laptop"],
    ],
    ids=["name", "model", "long", "taken", "no folder", "card"],
)
def test_a_refused_review_leaves_no_laptop_and_no_recovery_key(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("blue.rosetta-laptop").write_bytes(write_laptop_card(Identity.make(Role.LAPTOP), "blue"))
    Path("broken.rosetta-laptop").write_bytes(b"{}")
    Path("file").touch()
    Path("taken").mkdir()
    Path("taken/spring-cards.txt").touch()
    refused(*CREATE, "-o", "out", "--name", "spring", "--for", "blue.rosetta-laptop", *options)
    assert_nothing_stays(home, tmp_path)


def assert_nothing_stays(home: Path, place: Path) -> None:
    with Office.open(home) as office:
        assert not office.laptops()
        assert not office.reviews()
        assert not office.connection.execute("SELECT * FROM recovery").fetchall()
    assert not (home / "review-recovery-key.txt").exists()
    assert not list(place.glob("*/*.rosetta-batch"))


@pytest.mark.parametrize("fails", [1, 2, 3], ids=["batch", "cards", "recovery key"])
def test_a_stick_that_breaks_leaves_nothing_behind(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: int
) -> None:
    """A full stick lets files be written only up to some place."""
    card = tmp_path / "blue.rosetta-laptop"
    card.write_bytes(write_laptop_card(Identity.make(Role.LAPTOP), "blue"))
    written: list[Path] = []

    def broken(path: Path, data: bytes, mode: int) -> None:
        written.append(path)
        if len(written) == fails:
            raise stick.StickError(path, StorageProblem.DISK_FULL)
        stick.write_file(path, data, mode)

    monkeypatch.setattr(publishing, "write_file", broken)
    out = tmp_path / "out"
    assert "not enough room" in refused(*CREATE, "-o", str(out), "--for", str(card))
    assert_nothing_stays(home, tmp_path)
    assert not list(out.iterdir())
    monkeypatch.setattr(publishing, "write_file", stick.write_file)
    rosetta(*CREATE, "-o", str(out), "--for", str(card))
    with Office.open(home) as office:
        assert [laptop.name for laptop in office.laptops()] == ["blue"]


def test_of_two_windows_one_makes_the_recovery_key(home: Path) -> None:
    with Office.open(home) as office:
        first, second = (recovery_key(office, home / "key.txt") for _ in range(2))
        keep_recipient(office, first)
        with pytest.raises(UsageError, match="once more"):
            keep_recipient(office, second)
        known = recovery_key(office, home / "key.txt")
        assert (known.recipient, known.new, known.text) == (first.recipient, None, "")


def test_who_asks_is_wanted_before_any_plan(home: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(review, ["create", "last", "-o", str(tmp_path / "out")])
    assert isinstance(done.exception, UsageError)
    assert "add --organisation" in str(done.exception)
    assert not done.output
