"""Kill a process at random instants while it seals a vault anew, and what runs stored of it; look at what is left.

Run as a program of one thread, because it forks: ``python killed_sealing.py FOLDER KILLS`` prints how often it was
killed in the middle, what was lost, in which files a text could be read, and where a key of before still opened.
"""

import json
import os
import random
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from harness.sealed.keys import Identity
from harness.sealed.sealing import AgeIdentity
from harness.store.corpora.entries import save_corpus, shown_entries
from harness.store.sqlite.database import open_store
from harness.store.sqlite.sealing import also_open_with, forget_keys, seal_for_keepers
from harness.store.sqlite.trouble import transaction
from harness.vault.key_shares import OpeningKey
from harness.vault.opening import VaultOpening
from harness.vault.request import VaultWork
from harness.vault.sealed_corpus import recipients_of
from harness.vault.shares import former_keys
from harness.vault.vault import Vault
from tests.harness.vault.killed import together as opener
from tests.harness.vault.made import OFFICE, filled_together, readable, vault

STORE = "rosetta.sqlite"


def ages(made: Vault) -> list[AgeIdentity]:
    """What opens the store by the vault as it stands."""
    key = opener(made)
    return [each.age for each in (key, *former_keys(made.read(), key))]


def stored(folder: Path, made: Vault, by: Identity = OFFICE) -> None:
    """Store the corpus as a run out of the vault does."""
    key = None if made.read().split is None else opener(made)
    found = VaultOpening(made, by, "a run", VaultWork.RUN, together=key).corpus("greetings")
    entries = tuple(each.model_copy(update={"id": n}) for n, each in enumerate(found.reveal_here()))
    told = found.dataset.model_copy(update={"created": None})  # no secret, and a canary here
    with closing(open_store(folder / STORE)) as store, transaction(store):
        save_corpus(store, replace(found, dataset=told, entries=entries))


def texts(folder: Path, identities: list[AgeIdentity]) -> list[str]:
    """Return the sources that these keys open in the store."""
    forget_keys()
    also_open_with(identities)
    with closing(open_store(folder / STORE)) as store:
        found = shown_entries(store, 1).values()
    return sorted(each.source for each in found if each.source)


def anew(folder: Path, made: Vault) -> None:
    """Do what ``rosetta vault check-up --do shares`` does."""
    before = opener(made)
    known = [each.age for each in (before, *former_keys(made.read(), before))]
    state = made.refresh("old shares may come together", OFFICE, before)
    with closing(open_store(folder / STORE)) as store:
        seal_for_keepers(store, state.head.vault, known, recipients_of(state))


def again(folder: Path, made: Vault) -> None:
    """Do what the next opening of a run does."""
    state = made.read()
    with closing(open_store(folder / STORE)) as store:
        seal_for_keepers(store, state.head.vault, ages(made), recipients_of(state))


def events(act: Callable[[], None], place: int = -1) -> int:
    """Do an act in a process that ends at the ``place``-th of its calls; gives how many it made, or -1 where it was ended."""
    back, out = os.pipe()
    child = os.fork()
    if child == 0:
        seen = [0]

        def count(_: FrameType, event: str, __: Any) -> None:
            seen[0] += 1
            if seen[0] == place:
                os._exit(9)

        sys.setprofile(count)
        act()
        sys.setprofile(None)
        os.write(out, str(seen[0]).encode())
        os._exit(0)
    os.close(out)
    with os.fdopen(back) as told:
        said = told.read()
    return int(said) if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 else -1


def sealed_key(folder: Path) -> bytes:
    """Return the one data key of the store, as it is sealed."""
    with closing(sqlite3.connect(folder / STORE)) as store:
        return bytes(store.execute("SELECT sealed FROM corpus_keys").fetchone()[0])


def wrong(here: Path, made: Vault, whole: list[str], old: OpeningKey, before: bytes) -> Iterator[str]:
    """Yield what is wrong once all was done."""
    if texts(here, ages(made)[:1]) != whole:
        yield "texts are lost"
    if opener(made).recipient != old.recipient:
        if texts(here, [old.age]):
            yield "the key of before opens them"
        if before in b"".join(each.read_bytes() for each in here.glob(f"{STORE}*")):
            yield "the form that it opens is left in a file"
    elif texts(here, [old.age]) != whole:
        yield "nothing was changed, and yet it is closed"


def main(folder: Path, kills: int, seed: int = 17) -> dict[str, Any]:
    """Kill and look; gives how often, how often between vault and store, and all that is wrong."""
    told: dict[str, Any] = {"killed": 0, "between": 0, "wrong": [], "readable": []}
    first, draw = folder / "first", random.Random(seed)
    stored(first, filled_together(first))
    old = opener(vault(first))
    whole, before = texts(first, [old.age]), sealed_key(first)
    totals: dict[Callable[[Path, Vault], None], int] = {}
    for act in (anew, again):
        shutil.copytree(first, folder / act.__name__)
        totals[act] = events(partial(act, folder / act.__name__, vault(folder / act.__name__)))
    assert len(whole) == 6
    assert -1 not in totals.values()
    for number in range(kills):
        here = folder / str(number)
        shutil.copytree(first, here)
        made = vault(here)
        try:
            for act in (anew, again):  # what goes on with it is killed too
                last = totals[act]
                place = draw.randint(draw.choice((1, last * 2 // 3)), last)  # the store comes last
                told["killed"] += events(partial(act, here, made), place) < 0
                told["readable"] += readable(here)
                done = opener(made).recipient != old.recipient
                told["between"] += done and sealed_key(here) == before
            again(here, made)
            told["wrong"] += [f"{number}: {each}" for each in wrong(here, made, whole, old, before)]
        except Exception as error:  # noqa: BLE001  told with its place
            told["wrong"].append(f"{number}: {error!r}")
        shutil.rmtree(here)
    return told


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
