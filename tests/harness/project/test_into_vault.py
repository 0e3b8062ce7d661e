"""A finished corpus on its way into a vault: whole, once, and readable nowhere else."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from harness.core.failures import UsageError
from harness.project import into_vault
from harness.project.making import changing, whole_corpus
from harness.project.state import Project, read_project
from harness.sealed.keys import Identity, Role
from harness.vault.keepers import keeper_of
from harness.vault.records import StoredCorpus
from harness.vault.vault import Vault
from tests.harness.project.making import begun, three, took
from tests.harness.sealed.refusals import refuses


class Keeper:
    """A vault of one keeper and a recovery key, beside a project with a sentence of each kind."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder / "words", folder / "home"
        begun(folder)
        took(folder, *three())
        self.identity, recovery = Identity.make(Role.ORGANISATION), Identity.make(Role.ORGANISATION)
        self.vault = Vault(folder / "vault", self.home, lambda: datetime.now(UTC))
        keepers = [keeper_of(self.identity, "Office"), keeper_of(recovery, "Safe", recovery=True)]
        self.vault.found("Words", keepers, self.identity)

    def moves(self) -> StoredCorpus:
        with changing(self.folder, self.home) as project:
            corpus = whole_corpus(project)
            return into_vault.move_into(project, self.vault, corpus, "words", self.identity, None, {})  # fmt: skip

    def is_stopped(self, monkeypatch: pytest.MonkeyPatch, *, after: bool) -> None:
        """Move, and stop before or after the vault has it."""
        adds = Vault.add

        def stopped(*given: Any) -> None:
            if after:
                adds(*given)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Vault, "add", stopped)
            refuses(KeyboardInterrupt, "", self.moves)

    @property
    def project(self) -> Project:
        return read_project(self.folder, self.home)


def test_what_went_into_the_vault_is_out_of_the_project(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    assert sum(keeper.moves().entries.values()) == 2
    gold, later, open_ = keeper.project.state.entries
    assert (gold.sealed, open_.texts is not None, bool(later.sealed)) == ("", True, True)
    refuses(UsageError, "lie in the vault", keeper.project.texts, gold)
    refuses(UsageError, "is closed", keeper.moves)


def test_move_stopped_after_the_vault_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = Keeper(tmp_path)
    keeper.is_stopped(monkeypatch, after=True)
    assert keeper.project.texts(keeper.project.state.entries[0]).reference == "Kantis"
    keeper.moves()
    assert len(keeper.vault.read().head.corpora) == 1
    assert keeper.project.state.entries[0].sealed == ""


def test_correction_meanwhile_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = Keeper(tmp_path)
    keeper.is_stopped(monkeypatch, after=True)
    with changing(keeper.folder, keeper.home) as project:
        gold = project.state.entries[0]
        better = replace(project.texts(gold), reference="Kantis ĉi tie")
        project.put([project.with_texts(gold, better)])
    refuses(UsageError, "changed here since", keeper.moves)
    kept = keeper.project
    assert kept.texts(kept.state.entries[0]).reference == "Kantis ĉi tie"
    assert not kept.state.vault.done


def test_another_corpus_of_the_name_takes_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper, other = Keeper(tmp_path), Keeper(tmp_path / "other")
    keeper.is_stopped(monkeypatch, after=False)
    with changing(other.folder, other.home) as project:
        corpus = whole_corpus(project)
        first = corpus.entries[0].model_copy(update={"source": "Something else"})
        changed = type(corpus)(corpus.dataset, (first,), corpus.sha256, corpus.form)
        keeper.vault.add(changed, "words", keeper.identity)
    refuses(UsageError, "another corpus 'words'", keeper.moves)
    assert keeper.project.state.entries[0].sealed
