"""A vault of which two of four open together, asked for from one computer; each part of a grant, whole."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from corpora.model.entry import Segment
from harness.sealed.keys import Identity, Role
from harness.vault.folder import LOG
from harness.vault.grant_log import request_id
from harness.vault.grants.files import read_request
from harness.vault.grants.grants import Grants
from harness.vault.grants.using import AwaitedGrant
from harness.vault.keepers import keeper_of
from harness.vault.key_shares import OpeningKey
from harness.vault.log import read_lines, write_line
from harness.vault.shares import combined, own_share
from harness.vault.vault import Vault
from harness.vault.vault_records import Act, RunTerms
from tests.harness.vault.made import corpus, refused, ticking

NAMES = ("Office", "School", "Library", "Church")
OFFICE, SCHOOL, LIBRARY, CHURCH = IDENTITIES = tuple(Identity.make(Role.KEEPER) for _ in NAMES)
STRANGER = Identity.make(Role.KEEPER)
MACHINE, OTHER_MACHINE = (Identity.make(Role.COMPUTER) for _ in range(2))
KEEPERS = [keeper_of(each, name) for each, name in zip(IDENTITIES, NAMES, strict=True)]
RUN = RunTerms(method="copy-source", options="ab" * 32, scorer="0.1.0")
ASKED_AT = datetime(2026, 2, 1, tzinfo=UTC)


def founded(folder: Path) -> Vault:
    """A vault that opens for two of its four keepers, with one corpus."""
    made = Vault(folder / "vault", folder / "memory", ticking())
    made.found("Words of the elders", KEEPERS, OFFICE, threshold=2)
    made.add(corpus(), "greetings", OFFICE)
    return made


def at(folder: Path, clock: Callable[[], datetime] | None = None) -> Grants:
    """The grants of the vault in a folder, as the computer has them whose memory lies beside it."""
    return Grants(Vault(folder / "vault", folder / "memory", clock or later(0)), MACHINE)


def asked(grants: Grants, days: int = 14, run: RunTerms | None = RUN) -> tuple[bytes, str]:
    """Ask for one run; gives the request and its number."""
    data = grants.ask("greetings", "run of the chat method", days, OFFICE, run=run)
    return data, request_id(read_request(data))


def opening_key(grants: Grants) -> OpeningKey:
    """What two keepers have together, at one table."""
    state = grants.vault.read()
    return combined(state, [own_share(state, each) for each in (OFFICE, SCHOOL)])


def allowed(grants: Grants, data: bytes, *identities: Identity) -> list[bytes]:
    """Return the answers of some keepers who allow a request, as their own computers write them."""
    return [grants.answer(data, each, allowed=True) for each in identities]


def copied(grants: Grants, folder: Path) -> Grants:
    """The same vault once more in another folder of the same computer."""
    shutil.copytree(grants.vault.folder, folder)
    return Grants(Vault(folder, grants.vault.memory, grants.vault.clock), grants.machine)


def later(days: float) -> Callable[[], datetime]:
    """A clock so many days after the request was made."""
    return ticking(ASKED_AT + timedelta(days=days))


def acts(grants: Grants) -> list[str]:
    return [line.record.act.what for line in grants.vault.read().lines]


def ready(grants: Grants, run: RunTerms | None = RUN) -> tuple[bytes, str]:
    """A request that two keepers allowed."""
    data, number = asked(grants, run=run)
    for answer in allowed(grants, data, SCHOOL, LIBRARY):
        grants.take(answer, OFFICE)
    return data, number


SOON = ASKED_AT + timedelta(hours=9)


def with_line(grants: Grants, act: Act, by: Identity = OFFICE, when: datetime = SOON) -> bytes:
    """The log with a line that a keeper's own program may write."""
    line = write_line(grants.vault.read().lines, act, by, when)
    return (grants.vault.folder / LOG).read_bytes() + line.content + b"\n"


def unread(grants: Grants, act: Act, words: str, by: Identity = OFFICE, when: datetime = SOON) -> None:
    """Nobody reads the log with such a line."""
    refused(words, read_lines, with_line(grants, act, by, when))


class StillWaitingError(Exception):
    """Nobody comes with a stick."""


def awaited(grants: Grants, folder: Path, run: RunTerms | None = RUN, wait: Callable[[Path], None] | None = None) -> AwaitedGrant:  # fmt: skip
    def nobody(_request: Path) -> None:
        raise StillWaitingError

    return AwaitedGrant(grants, run, folder / "one.rosetta-request", len, wait or nobody)  # type: ignore[arg-type]


WORK = ("greetings", OFFICE, (Segment.DEVELOPMENT,), "a look")
