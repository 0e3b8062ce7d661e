"""Small vaults for tests, whose every text is a canary: one of single keepers, one whose five keepers open in threes."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path

from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry, Segment
from harness.sealed.keys import Identity, Role
from harness.vault.folder import VaultState, read_state
from harness.vault.keepers import keeper_of
from harness.vault.key_shares import OpeningKey
from harness.vault.log import VaultError
from harness.vault.shares import combined, own_share
from harness.vault.vault import Vault
from harness.vault.vault_records import Keeper
from tests.harness.sealed.refusals import refuses

CANARY = "kanariobirdo"
"""Stands in every text of the corpus, and in no word of ours."""
refused = partial(refuses, VaultError)
"""As ``refuses``, by a vault."""
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

MINE, THEIRS, RECOVERY = (Identity.make(Role.KEEPER) for _ in range(3))
KEEPERS = [
    Keeper(
        name=name, signing_key=each.public.signing_key, recipient=each.public.recipient,
        recovery=each is RECOVERY,
    )
    for name, each in (("Office", MINE), ("School", THEIRS), ("Recovery", RECOVERY))
]  # fmt: skip

SEGMENTS = (Segment.GOLD_STANDARD, Segment.GOLD_STANDARD, Segment.HELD_OUT, Segment.DEVELOPMENT)


def corpus(entries: int = 8, name: str = "greetings") -> Corpus:
    """A corpus of which half is gold_standard, a quarter held_out and a quarter development."""
    made = [
        Entry(
            id=f"{CANARY}-{name}-{n}", source=f"{CANARY} source {name} {n}", reference=f"{CANARY} reference {n}",
            variants=(f"{CANARY} variant {n}",), notes=f"{CANARY} note", segment=SEGMENTS[n % len(SEGMENTS)],
        )
        for n in range(entries)
    ]  # fmt: skip
    dataset = Dataset(id=name, language_pair="EN→EO", source_language="en", target_language="eo", created=CANARY)
    return Corpus(dataset, tuple(made), "0" * 64, Form.JSONL)


def ticking(start: datetime = START) -> Callable[[], datetime]:
    """A clock that goes on a minute each time it is asked."""
    minutes = count()
    return lambda: start + timedelta(minutes=next(minutes))


def vault(folder: Path, start: datetime = START, **more: bool) -> Vault:
    """A vault in a folder, with this computer's memory beside it."""
    return Vault(folder / "vault", folder / "memory", ticking(start), **more)


def filled(folder: Path) -> Vault:
    """A vault with one corpus."""
    made = vault(folder)
    made.found("Words of the elders", KEEPERS, MINE)
    made.add(corpus(), "greetings", MINE)
    return made


def readable(folder: Path) -> list[str]:
    """Return the files of a folder in which a canary stands, whatever they are called."""
    return [
        str(each)
        for each in folder.rglob("*")
        if CANARY in each.name or (each.is_file() and CANARY.encode() in each.read_bytes())
    ]


def files(folder: Path) -> list[str]:
    """Return the names in a vault's folder, without its lock."""
    return sorted(each.name for each in folder.iterdir() if each.name != "vault.lock")


NAMES = ("Office", "School", "Library", "Church", "recovery key")
PEOPLE = {name: Identity.make(Role.KEEPER) for name in (*NAMES, "Council", "<b>Ofis & co\u202e</b>")}
OFFICE = PEOPLE["Office"]
THRESHOLD = 3


def founded(folder: Path, threshold: int = THRESHOLD, names: Sequence[str] = NAMES) -> Vault:
    """A vault without a corpus, each of whose keepers has a share."""
    made = vault(folder)
    keepers = [keeper_of(PEOPLE[each], each, recovery=each == names[-1]) for each in names]
    made.found("Words of the elders", keepers, PEOPLE[names[0]], threshold)
    return made


def filled_together(folder: Path) -> Vault:
    """The vault with one corpus, for which nobody had to come together."""
    made = founded(folder)
    made.add(corpus(), "greetings", OFFICE)
    return made


def key_of(state: VaultState, *names: str) -> OpeningKey:
    """What these keepers have together; VaultError where they are too few."""
    return combined(state, [own_share(state, PEOPLE[each]) for each in names])


def at(folder: Path) -> VaultState:
    """Return the vault of a folder as it stands there."""
    return read_state(folder / "vault")
