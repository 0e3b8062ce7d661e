"""Opening texts from a vault for a run: a corpus that is to begin, and what the store has of one that began.

The log of the vault has each opening first. Which keys open, and whether those of keepers who were taken out, is examined here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from corpora.model.corpus import Corpus
from harness.consent.withdrawals_in_force import Withdrawn, standing
from harness.core.failures import UsageError
from harness.run.run_terms import GRANTED_AHEAD, terms_again
from harness.store.corpora.entries import read_dataset
from harness.store.corpora.listing import segments_of
from harness.store.file.database import home, opened
from harness.store.file.openings import set_opening
from harness.store.file.sealing import also_open_with, seal_for_keepers
from harness.store.runs import Run
from harness.store.withdrawn import withdrawn_of_vault
from harness.vault.request import VaultRequest

if TYPE_CHECKING:
    from harness.sealed.keys import Identity, PublicIdentity
    from harness.vault.opening import VaultOpening
    from harness.vault.records import RunTerms
    from harness.vault.vault import Vault

_NOT_GRANTED: Final = (
    "A grant is given for a run, for scoring, or for a run of the store (resume, seal, look, review, adjudicate), and this is another work: {}. Bring the keepers "
    "together on this computer: --with FILE for the keys of each, --shares to type their printed words."
)


def out_of_vault(name: str, vault: VaultRequest, terms: RunTerms | None) -> Corpus:
    """Return a corpus of a vault, opened; this process opens with the same keys what it stores of it.

    ``terms``: what is to be run over it, where that needs a grant. UsageError where the vault does not open, and Withdrawn,
    before it does, for a corpus that the store knows and that was taken back.
    """
    opening = _opening(vault, terms, name)
    vault.opened(opening)
    corpus = opening.corpus(name, vault.segments)
    also_open_with(opening.ages)
    return corpus


def open_again(
    connection: sqlite3.Connection,
    run: Run,
    vault: VaultRequest | None,
    work: str,
    changes: Mapping[str, Any] | None = None,
    laptops: Collection[PublicIdentity] = (),
) -> None:
    """Open what the store has of a run's texts, where its corpus was opened from a vault; any other needs none.

    The log of the vault has it first, with ``work`` (of ``harness.vault.work.VaultWork``) and a hash of ``changes``: what is
    other than in the run, by name. ``laptops``: those that its sentences are sealed for. UsageError where no vault is named, another than the run's, or one that does not open.
    """
    came, named = read_dataset(connection, run.corpus).opened_from, f"Run {run.run_id[:8]}"
    if came is None and vault is not None:
        raise UsageError(f"{named} is not from a vault: leave --vault and --purpose out.")
    if came is None:
        return
    if vault is None:
        raise UsageError(
            f"{named} is from a vault, and its texts are opened with the vault only: name it with --vault FOLDER, and "
            "say what for with --purpose WORDS. Its scores can be examined without."
        )
    terms = terms_again(work, run.run_id, changes, laptops)
    opening = _opening(replace(vault, work=work, run_id=run.run_id), terms)
    opening.again(came, segments_of(connection, run.corpus, run.positions))
    also_open_with(ages := opening.ages)
    seal_for_keepers(connection, came.partition("/")[0], ages, opening.recipients)
    if work == "resume" and (reason := opening.despite_network):
        set_opening(connection, run.id, run.opening.changed(despite_network=reason))


def _opening(vault: VaultRequest, terms: RunTerms | None, name: str = "") -> VaultOpening:
    """Choose who opens a vault, for a corpus of this name; its ciphers are loaded where one is named alone."""
    from harness.vault.opening import keeper_here, opening_by, vault_at

    if name and standing(home()):
        at = vault_at(vault.folder, home(), clock_was_wrong=vault.clock_was_wrong)
        _refuse_withdrawn(name, at)
    if (vault.grant or vault.ask) is not None and (
        terms is None or vault.work not in GRANTED_AHEAD
    ):
        raise UsageError(_NOT_GRANTED.format(vault.work))
    opening = opening_by(home(), vault, terms)
    refuse_taken_out(
        opening.vault, [opening.identity, *(keeper_here(home(), path) for path in vault.others)]
    )
    return opening


def _refuse_withdrawn(name: str, vault: Vault) -> None:
    head = vault.read().head
    with opened() as connection:
        for number, stored in head.corpora.items():
            if name in {number, stored.name}:
                notice = withdrawn_of_vault(connection, head.vault, number)
                if notice is not None:
                    raise Withdrawn(f"Corpus {name}", notice)


def refuse_taken_out(vault: Vault, identities: Iterable[Identity]) -> None:
    """Raise Withdrawn where a notice that is believed here says that one of these is no keeper of a vault any more.

    A copy from before the keeper was taken out knows nothing of that.
    """
    if not (now := standing(home())):
        return
    number = vault.read().head.vault
    for key in (identity.public.signing_key for identity in identities):
        if (notice := now.of_keeper(number, key) or now.of_key(key)) is not None:
            raise Withdrawn("These keys", notice)
