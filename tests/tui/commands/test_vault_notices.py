"""A keeper who was taken out, or whose key was revoked, is none on computers that have an older copy and heard of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
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
    for work in ("run words --method copy-source", "score words words.tsv", "corpus check words"):
        asked = f"{work} --vault stick --purpose look"
        assert "These keys: consent was withdrawn" in at(asked, at="school")
        assert "These keys: consent was withdrawn" not in at(asked, at="library")
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


PEOPLE = """\
id\tsource\treference\tsegment\tspeaker
1\tfirst\tunu\tgold_standard\tAna
2\ttwo\tdu\tgold_standard\tBen
3\tthree\ttri\theld_out\tAna
"""
OPENED = ("--vault", "v", "--purpose", "the council's wish")
WITHDRAWN = ("--reason", "as asked", "--by", "Council")


@pytest.fixture
def ran(at: Keepers) -> str:
    """A run over a corpus of the vault; gives the corpus's name in the store."""
    (at.folder / "people.tsv").write_text(PEOPLE)
    at("vault add v people.tsv --source-language en --target-language eo --name people")
    at("run people --method copy-source --plain --despite-network test", *OPENED)
    return f"store:{sha256((at.folder / 'people.tsv').read_bytes()).hexdigest()[:12]}"


def test_consent_for_a_corpus_of_a_vault_is_taken_back_without_opening_it(
    at: Keepers, ran: str
) -> None:
    lines = len((at.folder / "v" / "log.jsonl").read_text().splitlines())
    told = at(f"consent withdraw --corpus {ran} --given-by speaker=Ana", *WITHDRAWN)
    assert "sealed. Name its vault (--vault FOLDER" in told
    assert "1 entry of" in at(f"consent withdraw --corpus {ran} --entries 2", *WITHDRAWN)
    assert "No run can be used" in at("runs list")
    assert "Withdrawn: the corpus people" in at(f"consent withdraw --corpus {ran}", *WITHDRAWN)
    assert len((at.folder / "v" / "log.jsonl").read_text().splitlines()) == lines
    assert "consent was withdrawn" in at("corpus check people", *OPENED)
    assert "WITHDRAWN: the corpus people" in at("vault list v")


def test_what_was_taken_back_out_of_a_vault_is_not_opened_again_to_see_that(at: Keepers) -> None:
    """No run was made over it, so the store does not know it."""
    log = at.folder / "v" / "log.jsonl"
    assert "Withdrawn: the corpus words" in at(
        "consent withdraw --corpus words", *OPENED, *WITHDRAWN
    )
    lines = len(log.read_text().splitlines())
    for work in ("corpus check words", "run words --method copy-source --despite-network test"):
        assert "consent was withdrawn for the corpus words" in at(work, *OPENED)
    assert len(log.read_text().splitlines()) == lines
    assert "WITHDRAWN: the corpus words" in at("vault list v")
    (at.folder / "office" / "vault-corpora.json").write_text("damaged")
    assert "consent was withdrawn" in at("corpus check words", *OPENED)
    assert len(log.read_text().splitlines()) == lines + 1, "what is damaged is learned once more"
    assert "consent was withdrawn" in at("corpus check words", *OPENED)
    assert len(log.read_text().splitlines()) == lines + 1


def test_what_one_person_gave_to_a_vault_is_taken_back_with_it(at: Keepers, ran: str) -> None:
    command = "consent withdraw --corpus people --given-by speaker=Ana -o ana.rosetta-notice"
    told = at(command, *OPENED, *WITHDRAWN)
    assert "Withdrawn: 1 entry that one person gave of the corpus people" in told
    assert "1 entry of held_out stayed closed" in told
    assert at.words_of("office", Role.ORGANISATION) in told
    assert "No run can be used" in at("runs list")
    done = at("community export out --corpus people --open-secrets", *OPENED)
    assert "it lies in a vault" in done
    assert "vault, corpus 'people': 1 entries for which consent was withdrawn" in done
    assert done.count("Left out: run ") == 1
    told = "".join(each.read_text() for each in (at.folder / "out" / "corpora").glob("vault-*"))
    assert "Ana" not in told
    assert "Ben" in told


def test_trying_the_keys_says_what_was_taken_back(at: Keepers, ran: str) -> None:
    look = "vault open v people --purpose look"
    assert at(look).count("\n") == 1
    assert "Withdrawn" in at(f"consent withdraw --corpus {ran} --entries 2", *WITHDRAWN)
    told = at(look)
    assert "people: 2 entries opened with your keys" in told
    assert "For a run, 1 entry is left out: consent was withdrawn for 1 entry of the corpus" in told
    assert "warning: vault: 1 entry is left out" in at("corpus check people", *OPENED)
    at(f"consent withdraw --corpus {ran}", *WITHDRAWN)
    assert "None of it is opened for a run: consent was withdrawn for the corpus" in at(look)


def test_a_community_takes_runs_out_of_its_vault_along(at: Keepers, ran: str) -> None:
    """As its page has the command: by the corpus's name, sealed, and openly on explicit wish."""
    assert "out holds" in at("community export out --corpus people --vault v")
    assert not (at.folder / "out" / "runs").exists()
    at("community export open --corpus people --open-secrets", *OPENED)
    (rows,) = (at.folder / "open" / "runs").rglob("secret-rows.jsonl")
    assert [json.loads(row)["reference"] for row in rows.read_text().splitlines()] == ["unu", "du"]
