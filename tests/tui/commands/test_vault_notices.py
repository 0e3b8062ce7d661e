"""A keeper who was taken out, or whose key was revoked, is none on computers that have an older copy and heard of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from harness.core.failures import HarnessError
from harness.sealed.keys import Identity, Role
from rosetta_tui.commands import rosetta
from tests import keyring_in_memory


class Keepers:
    """Computers of keepers that share a folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch
        rows = ["id\tsource\treference\tsegment", "1\tone\tunu\tgold_standard"]
        (folder / "words.tsv").write_text("\n".join(rows) + "\n")
        monkeypatch.chdir(folder)

    def __call__(self, line: str, *more: str, at: str = "office") -> str:
        self.monkeypatch.setenv("ROSETTA_HOME", str(self.folder / at))
        result = CliRunner().invoke(rosetta, [*line.split(), *more])
        if isinstance(result.exception, HarnessError | click.ClickException):
            return f"error: {result.exception}"
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.output

    def words_of(self, at: str, role: Role) -> str:
        return Identity.load(self.folder / at, role).public.phrase


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Keepers]:
    """A vault of two keepers, and a copy of it on a stick from before the one was taken out, with a notice of that."""
    with keyring_in_memory.memory_keyring():
        made = Keepers(tmp_path, monkeypatch)
        made("vault card School.rosetta-keeper", at="school")
        made("vault init v --as Office --recovery rec.txt --keeper School.rosetta-keeper --name x")
        made("vault add v words.tsv --source-language en --target-language eo --name words")
        made("vault export v stick --purpose copy")
        made("vault revoke v School --purpose left --notice school.rosetta-notice")
        yield made


def test_an_older_copy_says_who_was_taken_out_since(at: Keepers) -> None:
    assert "OLDER COPY" not in at("vault list stick", at="library")
    assert "opened with your keys" in at("vault open stick words --purpose look", at="school")
    words = at.words_of("office", Role.ORGANISATION)
    for place in ("library", "school"):
        assert "NOT taken in" in at("consent take school.rosetta-notice", at=place)
        at("consent take school.rosetta-notice --words", words, at=place)
    shown = at("vault list stick", at="library")
    assert "OLDER COPY: School is no keeper any more, by a notice" in shown
    key = json.loads(at("vault list stick --json", at="library"))["taken_out_since"]
    assert key == [Identity.load(at.folder / "school", Role.KEEPER).public.signing_key]
    refused = at("vault open stick words --purpose look", at="school")
    assert "These keys: consent was withdrawn for School as a keeper" in refused
    assert "opened with your keys" in at("vault open v words --purpose look")
    assert "OLDER COPY" not in at("vault list v")


def test_the_card_of_a_revoked_key_is_not_enrolled(at: Keepers) -> None:
    at("vault card Library.rosetta-keeper", at="library")
    key = Identity.load(at.folder / "library", Role.KEEPER).public.signing_key
    at("consent withdraw --signing-key", key, "--reason", "stolen", "--by", "Library")
    told = at(
        "vault enrol v Library.rosetta-keeper --purpose new --words",
        at.words_of("library", Role.KEEPER),
    )
    assert "The card of Library: consent was withdrawn for the key" in told
