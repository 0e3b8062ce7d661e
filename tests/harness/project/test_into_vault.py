"""A finished corpus on its way into a vault: whole, once, and readable nowhere else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Segment
from harness.core.failures import UsageError
from harness.project import into_vault
from harness.project.making import changing, whole_corpus
from harness.project.state import Project, read_project
from harness.sealed.keys import Identity, Role
from harness.vault.keepers import keeper_of
from harness.vault.records import StoredCorpus
from harness.vault.vault import Vault
from tests.harness.project.making import begun, candidate, took
from tests.keyring_in_memory import no_keyring

__all__ = ["no_keyring"]
pytestmark = pytest.mark.usefixtures("no_keyring")


class Keeper:
    """A vault of one keeper and a recovery key, beside a project with a sentence of each kind."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder / "words", folder / "home"
        begun(folder)
        took(
            folder,
            candidate("The elders sang here", reference="Kantis", segment=Segment.GOLD_STANDARD),
            candidate("Nobody came back yet", segment=Segment.HELD_OUT),
            candidate("An open sentence too", reference="Malferma", segment=Segment.DEVELOPMENT),
        )
        self.identity, recovery = Identity.make(Role.ORGANISATION), Identity.make(Role.ORGANISATION)
        self.vault = Vault(folder / "vault", self.home, lambda: datetime.now(UTC))
        keepers = [keeper_of(self.identity, "Office"), keeper_of(recovery, "Safe", recovery=True)]
        self.vault.found("Words", keepers, self.identity)

    def moves(self) -> StoredCorpus:
        with changing(self.folder, self.home) as project:
            corpus = whole_corpus(project)
            return into_vault.move_into(
                project, self.vault, corpus, "words", self.identity, None, {}
            )

    @property
    def project(self) -> Project:
        return read_project(self.folder, self.home)


def test_what_went_into_the_vault_is_out_of_the_project(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    assert sum(keeper.moves().entries.values()) == 2
    gold, later, open_ = keeper.project.state.entries
    assert (gold.sealed, open_.texts is not None, bool(later.sealed)) == ("", True, True)
    with pytest.raises(UsageError, match="lie in the vault"):
        keeper.project.texts(gold)
    with pytest.raises(UsageError, match="is closed"):
        keeper.moves()


def test_one_that_was_stopped_after_the_vault_had_it_is_found_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper, adds = Keeper(tmp_path), Vault.add

    def stopped(*given: Any) -> None:
        adds(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Vault, "add", stopped)
        with pytest.raises(KeyboardInterrupt):
            keeper.moves()
    assert keeper.project.texts(keeper.project.state.entries[0]).reference == "Kantis"
    keeper.moves()
    assert len(keeper.vault.read().head.corpora) == 1
    assert keeper.project.state.entries[0].sealed == ""


def test_a_correction_after_the_vault_had_it_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper, adds = Keeper(tmp_path), Vault.add

    def stopped(*given: Any) -> None:
        adds(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Vault, "add", stopped)
        with pytest.raises(KeyboardInterrupt):
            keeper.moves()
    with changing(keeper.folder, keeper.home) as project:
        gold = project.state.entries[0]
        better = replace(project.texts(gold), reference="Kantis ĉi tie")
        project.put([project.with_texts(gold, better)])
    with pytest.raises(UsageError, match="changed here since"):
        keeper.moves()
    kept = keeper.project
    assert kept.texts(kept.state.entries[0]).reference == "Kantis ĉi tie"
    assert kept.state.vault is not None
    assert not kept.state.vault.done


def test_another_corpus_of_the_name_takes_no_text_from_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = Keeper(tmp_path)

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Vault, "add", stopped)
        with pytest.raises(KeyboardInterrupt):
            keeper.moves()
    other = Keeper(tmp_path / "other")
    with changing(other.folder, other.home) as project:
        corpus = whole_corpus(project)
        first = corpus.entries[0].model_copy(update={"source": "Something else"})
        changed = type(corpus)(corpus.dataset, (first,), corpus.sha256, corpus.form)
        keeper.vault.add(changed, "words", keeper.identity)
    with pytest.raises(UsageError, match="another corpus 'words'"):
        keeper.moves()
    assert keeper.project.state.entries[0].sealed
