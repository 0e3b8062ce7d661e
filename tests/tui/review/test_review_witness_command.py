"""``rosetta review enrol --witness``: from the witness's laptop to the organisation's desk and into a certificate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.core.failures import UsageError
from harness.sealed.forms import FileError
from harness.sealed.keys import Identity, Role
from review.files.statements import write_laptop_card
from review.office.store.store import Office
from tests.review.office.made import Desk, Person, desk
from tests.tui.review.gated import invoke
from tests.tui.review.organising import keep_keys


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.chdir(tmp_path)
    opened = desk(tmp_path / "office", reviewers=2, items=20)
    keep_keys(opened.folder, opened.identity)
    opened.office.close()
    return opened


def at(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(folder))


def elder(tmp_path: Path) -> Identity:
    """Return the keys of the witness's own laptop."""
    identity = Identity.make(Role.LAPTOP)
    folder = tmp_path / "elder"
    folder.mkdir(mode=0o700)
    (folder / "laptop.key").write_text(identity.text())
    (folder / "laptop.key").chmod(0o600)
    return identity


def test_a_second_person_signs_and_the_organisation_keeps_it(
    made: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, witness = Person(tmp_path / "laptop", made.batch, made.codes[0]), elder(tmp_path)
    Path("blue.rosetta-laptop").write_bytes(write_laptop_card(person.identity, "blue"))
    Path("kept.rosetta-batch").write_bytes(made.batch.archive)
    at(monkeypatch, tmp_path / "elder")
    said = invoke("enrol", "blue.rosetta-laptop", "--witness", "kept.rosetta-batch").stdout
    assert person.identity.public.phrase in said
    assert witness.public.phrase in said
    at(monkeypatch, made.folder)
    with pytest.raises(UsageError, match="not enrolled here"):
        invoke("enrol", "blue.rosetta-witness")
    invoke("enrol", "blue.rosetta-laptop")
    told = json.loads(invoke("enrol", "blue.rosetta-witness", "--json").stdout)
    assert (told["name"], told["witness"]) == ("blue", witness.public.phrase)
    key = person.identity.public.signing_key
    with Office.open(made.folder) as office:
        assert office.statements({key}) == [Path("blue.rosetta-witness").read_bytes()]
        assert office.statements({"0" * 64}) == []


def test_what_is_no_statement_for_this_organisation_is_refused(
    made: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(tmp_path / "laptop", made.batch, made.codes[0])
    elder(tmp_path)
    key = person.identity.public.signing_key
    at(monkeypatch, tmp_path / "elder")
    invoke("enrol", key, "--witness", "0" * 64)
    with pytest.raises(UsageError, match="neither a laptop's file nor its key"):
        invoke("enrol", "nothing", "--witness", "0" * 64)
    with pytest.raises(UsageError, match="by a batch file of it"):
        invoke("enrol", key, "--witness", "nothing")
    at(monkeypatch, made.folder)
    with pytest.raises(UsageError, match="another organisation"):
        invoke("enrol", f"{key[:8]}.rosetta-witness")
    Path("bad.rosetta-witness").write_bytes(b"{}")
    with pytest.raises(FileError, match="not the statement of a witness"):
        invoke("enrol", "bad.rosetta-witness")
