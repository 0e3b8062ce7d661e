"""A finished corpus on its way into a vault: sealed there, and its secret texts taken out of the project.

The project notes where it goes before it goes. So one that was stopped on the way is found in the vault again, and nothing is lost or put in twice.
"""

from __future__ import annotations

from collections.abc import Mapping

from corpora.model.corpus import Corpus
from corpora.model.entry import Segment
from harness.core.failures import UsageError
from harness.project.state import InVault, Project, today, write_state
from harness.sealed.keys import Identity
from harness.vault.corpus_files import corpus_named, opened_key, sealed_texts
from harness.vault.records import SmallestTold, StoredCorpus
from harness.vault.shares.split import OpeningKey
from harness.vault.vault import Vault


def move_into(
    project: Project,
    vault: Vault,
    corpus: Corpus,
    name: str,
    identity: Identity,
    opener: OpeningKey | None,
    tells: Mapping[Segment, SmallestTold],
) -> StoredCorpus:
    """Seal the whole corpus of a project in a vault, then take its secret texts out of the project; gives the vault's record of it.

    Called within ``changing``. Raises VaultError where the vault has another corpus of this name, or a text of it, and UsageError where it has
    this one as it was before a change.
    """
    state = vault.read()
    going = InVault(
        vault=state.head.vault, corpus=name, sha256=corpus.sha256, on=today(), done=False
    )
    before = project.state.vault
    noted = before is not None and (before.vault, before.corpus) == (going.vault, name)
    if (
        before is not None
        and noted
        and name in {corpus.name for corpus in state.head.corpora.values()}
    ):
        stored = _ours(vault, corpus, name, identity, opener)
        _require_unchanged(before, corpus)
    else:
        project.change(vault=going)
        write_state(project, overwrite=True)
        stored = vault.add(corpus, name, identity, opener, tells)
    _take_out(project, going)
    return stored


def _require_unchanged(before: InVault, corpus: Corpus) -> None:
    """Refuse a corpus that is not what went to the vault; UsageError says what to do."""
    if before.sha256 != corpus.sha256:
        raise UsageError(
            f"The vault holds {before.corpus!r} as it was on {before.on}, and it was changed here since. Nothing was taken out of the project. Seal it in "
            "another vault, or put back the project.json of that day and run this again."
        )


def _ours(
    vault: Vault, corpus: Corpus, name: str, identity: Identity, opener: OpeningKey | None
) -> StoredCorpus:
    """Return the record of a corpus that is there already, where every source of ours is in it; UsageError where it is another one."""
    state = vault.read()
    number, stored = corpus_named(state, name)
    key = opened_key(state, stored, identity, opener)
    known = {entry.digest for entry in sealed_texts(state, number, stored).entries}
    if not all(key.digest(entry.source).hex() in known for entry in corpus.entries):
        raise UsageError(f"The vault holds another corpus {name!r}. Choose --name.")
    return stored


def _take_out(project: Project, going: InVault) -> None:
    """Extract the secret texts of all entries that went away from the state; those that did not go along stay, sealed."""
    project.put(
        entry.model_copy(update={"sealed": ""})
        for entry in project.state.entries
        if entry.secret and entry.usable
    )
    project.change(vault=going.model_copy(update={"done": True}))
