"""What runs stored of a vault is sealed for those who open it now: after it was sealed anew, and as keepers come and leave."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.sealed.sealing import unseal
from harness.sealed.strict_records import FileError
from harness.store.sqlite.database import open_store
from harness.store.sqlite.sealing import forget_keys, seal_for_keepers
from harness.vault.keepers import keeper_of
from harness.vault.key_shares import OpeningKey
from harness.vault.log import VaultError, splits_of
from harness.vault.opening import VaultOpening
from harness.vault.request import VaultWork
from harness.vault.sealed_corpus import recipients_of, sha256_of, under_new_keys
from harness.vault.shares import deal, former_keys, proved, seal_former
from harness.vault.vault import Vault
from harness.vault.vault_records import Dealt
from tests.harness.sealed.refusals import refuses
from tests.harness.store.killed_sealing import STORE, again, ages, stored, texts
from tests.harness.vault.killed import together as opener
from tests.harness.vault.made import MINE, OFFICE, PEOPLE, RECOVERY, THEIRS, filled, filled_together
from tests.review.thorough import times

WHY = "old pages may come together"
RUN = "0" * 8 + "-0000-4000-8000-" + "0" * 12


@pytest.fixture(autouse=True)
def no_keys() -> Iterator[None]:
    yield
    forget_keys()


@pytest.mark.costly("kills processes")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_killed_sealing_loses_and_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.harness.store.killed_sealing", tmp_path, str(times(2, 200))],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert (told["wrong"], told["readable"]) == ([], [])
    assert told["killed"] >= times(2, 300)
    assert told["between"] >= times(0, 20)


def test_newest_copy_opens_what_was_stored_before(tmp_path: Path) -> None:
    """Sealed anew twice meanwhile; then no key of before opens its store any more."""
    made = filled_together(tmp_path)
    stored(tmp_path, made)
    old = opener(made)
    whole = texts(tmp_path, [old.age])
    assert len(whole) == 6
    for _ in "12":
        made.refresh(WHY, OFFICE, opener(made))
    assert len(former_keys(made.read(), opener(made))) == 2
    assert texts(tmp_path, [opener(made).age]) == []
    again(tmp_path, made)
    assert texts(tmp_path, [opener(made).age]) == whole
    for former in former_keys(made.read(), opener(made)):
        assert texts(tmp_path, [former.age]) == []


def test_keepers_who_open_alone_come_and_leave(tmp_path: Path) -> None:
    made, new = filled(tmp_path), PEOPLE["Council"]
    stored(tmp_path, made, MINE)
    whole = texts(tmp_path, [THEIRS.age])
    assert len(whole) == 6
    made.enrol(keeper_of(new, "Council"), "came", MINE)
    state = made.revoke("School", "moved away", MINE)
    with closing(open_store(tmp_path / STORE)) as store:
        given = state.head.vault, [MINE.age], recipients_of(state)
        assert seal_for_keepers(store, *given) == (1, 0)
        assert seal_for_keepers(store, "f" * 64, *given[1:]) == (0, 0)
        assert seal_for_keepers(store, given[0], [THEIRS.age], given[2]) == (0, 1)
    assert texts(tmp_path, [THEIRS.age]) == []
    for each in (MINE, RECOVERY, new):
        assert texts(tmp_path, [each.age]) == whole


def sealed_anew(made: Vault, kept: bytes | None) -> OpeningKey:
    """Seal a vault anew as a program of somebody's own does, with other bytes for the key of before, or none."""
    before, key = opener(made), OpeningKey.make()
    with made.changing(OFFICE) as state:
        split, files = deal(key, 3, [*state.keepers.values()], splits_of(state.lines))
        corpora, sealed = under_new_keys(state, OFFICE, before, [key.recipient])
        former = {} if kept is None else {"former": sha256_of(kept)}
        act = Dealt(keepers=tuple(state.keepers.values()), split=split, sealed_anew=True, purpose=WHY, **former)
        more = {} if kept is None else {sha256_of(kept): kept}
        made.write(state, proved(act, state.head.log_head, before), OFFICE, corpora, {**files, **sealed, **more})
    return key


def test_missing_key_of_before_is_told_before_opening(tmp_path: Path) -> None:
    made = filled_together(tmp_path)
    run = VaultOpening(made, OFFICE, "a run", VaultWork.RUN, RUN, opener(made))
    came = str(run.corpus("greetings").dataset.opened_from)
    sealed_anew(made, None)
    lines = len(made.read().lines)
    with pytest.raises(VaultError, match="An earlier version of Rosetta sealed all texts"):
        VaultOpening(made, OFFICE, "on", VaultWork.RESUME, RUN, opener(made)).again(came, ())
    assert len(made.read().lines) == lines
    assert former_keys(made.read(), opener(made)) == ()


def test_other_key_in_place_of_the_one_before_opens_nothing(tmp_path: Path) -> None:
    made, other = filled_together(tmp_path), OpeningKey.make()
    stored(tmp_path, made)
    sealed_anew(made, seal_former(other, OpeningKey.make()))
    assert former_keys(made.read(), opener(made)) == ()
    again(tmp_path, made)
    assert texts(tmp_path, ages(made)) == []


def test_key_of_before_is_kept_for_the_keepers_alone(tmp_path: Path) -> None:
    made = filled_together(tmp_path)
    before = opener(made)
    made.refresh(WHY, OFFICE, before)
    state = made.read()
    [former] = [act.former for line in state.lines if isinstance(act := line.record.act, Dealt)]
    for age in (before.age, *(each.age for each in PEOPLE.values())):
        refuses(FileError, "", unseal, state.file(former), [age])
    split, files = deal(opener(made), 3, [*state.keepers.values()], splits_of(state.lines))
    act = Dealt(keepers=tuple(state.keepers.values()), split=split, sealed_anew=False, former=former, purpose=WHY)
    with made.changing(OFFICE) as state:
        made.write(state, proved(act, state.head.log_head, opener(made)), OFFICE, None, files)
    refuses(VaultError, "the key did not change", made.read)
