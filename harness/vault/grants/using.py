"""A grant that is about to be used for a piece of work: what it was given for is compared before anything is used up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from corpora.model.entry import Segment
from harness.core.storage import PUBLISHED
from harness.sealed import stick
from harness.sealed.keys import Identity
from harness.sealed.sealing import AgeIdentity
from harness.sealed.strict_records import FileProblem
from harness.vault.data_key import DataKey
from harness.vault.folder import VaultState
from harness.vault.grants.files import asked_lines, at_once_lines, read_request
from harness.vault.grants.grants import OPEN_DAYS, Grants, proved
from harness.vault.key_shares import OpeningKey
from harness.vault.ledger import request_id
from harness.vault.log import STEP, VaultError
from harness.vault.records import RunTerms, SignedRequest, Used
from harness.vault.sealed_corpus import SealedCorpus


@dataclass
class GrantUse:
    """One grant, and the work that it is to be used for."""

    grants: Grants
    request: SignedRequest
    run: RunTerms
    """What is about to be done with the texts."""
    together: OpeningKey | None = None
    """What the keepers who allowed it have together; None until it is used up, and where each opens alone."""

    def opening(
        self, name: str, identity: Identity, segments: Sequence[Segment], run_id: str, despite_network: str
    ) -> tuple[VaultState, SealedCorpus, DataKey]:
        """Use it up for a corpus, by its name or number; ``segments``: those that are needed, none: what was granted.

        Gives what ``Vault.opening`` gives. Raises VaultError in words that name what differs; nothing is used up then.
        """
        asked = self.request
        if name not in (asked.name, asked.corpus):
            raise _other(f"the corpus {asked.name!r}, and this is {name!r}")
        if closed := sorted({*segments} - asked.entries.keys()):
            granted = ", ".join(sorted(asked.entries))
            raise _other(f"entries of {granted}, and these are of {', '.join(closed)} too")
        opened = self.grants.opening(request_id(asked), identity, self.run, run_id, despite_network)
        self.together = opened.together
        return opened.state, opened.sealed, opened.key


@dataclass(frozen=True)
class GrantAtOnce:
    """What the keepers who are here allow themselves: asked for, allowed, written and used up in the line of the opening."""

    grants: Grants
    run: RunTerms
    """What is about to be done with the texts."""
    tell: Callable[[Sequence[str]], None]
    """Shows what is allowed, line by line, before it is."""

    def granted(self, used: Used, state: VaultState, identity: Identity, together: OpeningKey | None) -> Used:
        """Return the line of an opening with its grant; ``together``: what keepers who open together have."""
        lasts = self.grants.vault.clock(), STEP
        request = self.grants.request(
            state, used.corpus, used.entries, identity, used.purpose, self.run, lasts, AgeIdentity.make()
        )  # fmt: skip
        self.tell([*at_once_lines(request, state)])
        return proved(used.model_copy(update={"grant": request}), state, together)


@dataclass(frozen=True)
class GrantAhead:
    """The keepers are asked for the work, in place of doing it."""

    grants: Grants
    run: RunTerms | None
    """What is to be done with the texts."""
    file: Path
    """Where the request is written."""
    asked: Callable[[Sequence[str]], NoReturn]
    """Shows what is asked for, line by line, and ends the work."""

    def ask(self, name: str, identity: Identity, segments: Sequence[Segment], purpose: str) -> NoReturn:
        """Request the opening of a corpus, by its name or number; ``segments``: those that are needed, none: all but ``held_out``."""
        content = self.grants.ask(name, purpose, OPEN_DAYS, identity, segments, self.run)
        stick.write_file(self.file, content, PUBLISHED)
        self.asked([*asked_lines(read_request(content), self.grants.vault.read(), self.file)])


def _other(words: str) -> VaultError:
    return VaultError(
        FileProblem.INVALID, f"It was granted for {words}. Nothing was used up. Ask for a new one (--ask)."
    )
