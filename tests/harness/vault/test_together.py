"""A vault that opens for M of its N keepers together: nobody alone, shares dealt anew, and what is no right share said."""

import hashlib
import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Segment
from harness.sealed.forms import FileError, FileProblem
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity, unseal
from harness.sealed.signed_archive import signed_record
from harness.vault import folder as folders
from harness.vault import seen
from harness.vault.folder import VaultState
from harness.vault.keepers import keeper_of
from harness.vault.log import VaultError, write_line
from harness.vault.records import Founded, Head, StoredCorpus
from harness.vault.shares import dealing
from harness.vault.shares.dealing import combined, own_share, whose
from harness.vault.shares.split import KeyShare, OpeningKey, combine
from harness.vault.vault import Vault
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.made import CANARY, MINE, START, corpus, files, readable, refused, vault
from tests.harness.vault.together import (
    NAMES,
    OFFICE,
    PEOPLE,
    THRESHOLD,
    at,
    filled_together,
    founded,
    key_of,
)
from tests.review.thorough import examples, times

WHY, ALONE = "a test", "3 of its 5 keepers together"


def reopened(folder: Path) -> Vault:
    return vault(folder, START.replace(year=2027))


def test_each_subset_of_m_keepers_opens_and_none_of_one_less(here: Path) -> None:
    state = at(here)
    [stored] = state.head.corpora.values()
    shares = {each: own_share(state, PEOPLE[each]) for each in NAMES}
    for chosen in combinations(NAMES, THRESHOLD):
        key = combined(state, [shares[each] for each in chosen])
        assert len(unseal(state.file(stored.key), [key.age])) == 32
    for chosen in combinations(NAMES, THRESHOLD - 1):
        with pytest.raises(
            VaultError, match=r"2 of 3 shares are here.* 1 more are needed, of:"
        ) as caught:
            combined(state, [shares[each] for each in chosen])
        assert caught.value.problem is FileProblem.LOCKED
    for each in NAMES:  # nor does any key alone, the recovery key's neither
        refuses(FileError, "", unseal, state.file(stored.key), [PEOPLE[each].age])
    mine = shares["Office"]  # which counts once
    twice = [mine, KeyShare.read(mine.words.reveal()), mine]
    refused(r"1 of 3 shares are here \(Office\)", combined, state, twice)


def test_three_open_nobody_alone_and_the_log_has_it(here: Path) -> None:
    made = reopened(here)
    before = made.read().lines
    for each in NAMES:
        refused(ALONE, made.open, "greetings", WHY, PEOPLE[each])
    other = OpeningKey.make()
    refused("from before it was sealed again", made.open, "greetings", WHY, OFFICE, opener=other)  # fmt: skip
    assert made.read().lines == before
    key = key_of(made.read(), "School", "Church", "recovery key")
    opened = made.open("greetings", WHY, PEOPLE["Church"], opener=key)
    assert all(CANARY in each.source.reveal() for each in opened)
    assert made.read().lines[-1].record.by == PEOPLE["Church"].public.signing_key
    assert readable(here) == []


def test_second_corpus_is_compared_with_the_first_one(here: Path) -> None:
    made, more = reopened(here), corpus(name="more")
    refused(ALONE, made.add, more, "more", OFFICE)
    key = key_of(made.read(), *NAMES[:3])
    refused("are in the vault already", made.add, corpus(), "again", OFFICE, key)
    made.add(more, "more", OFFICE, key)
    assert len(made.open("more", WHY, OFFICE, opener=key)) == 6


def changed(made: Vault, how: str, key: OpeningKey | None) -> VaultState:
    if how == "enrol":
        return made.enrol(keeper_of(PEOPLE["Council"], "Council"), WHY, OFFICE, key)
    if how.startswith("revoke"):
        return made.revoke("School", WHY, OFFICE, key, anew="anew" in how)
    return made.refresh(WHY, OFFICE, key, *([2] if "anew" in how else []), anew="anew" in how)


@pytest.mark.parametrize("how", ["enrol", "revoke", "revoke anew", "refresh", "refresh anew"])
def test_shares_dealt_anew_do_not_mix_with_those_of_before(here: Path, how: str) -> None:
    made = reopened(here)
    before = made.read()
    old = {each: own_share(before, PEOPLE[each]) for each in NAMES}
    refused(ALONE, changed, made, how, None)
    assert made.read().lines == before.lines

    key = key_of(before, *NAMES[:THRESHOLD])
    state = changed(made, how, key)
    anew, threshold = "anew" in how, 2 if how == "refresh anew" else THRESHOLD
    texts = [each.texts for each in before.head.corpora.values()]
    assert ([each.texts for each in state.head.corpora.values()] == texts) is not anew
    assert state.split.threshold == threshold
    names = [each.name for each in state.keepers.values()]
    assert ("School" in names) is not how.startswith("revoke")
    assert ("Council" in names) is (how == "enrol")
    shares = [own_share(state, PEOPLE[each]) for each in names]
    for chosen in [*combinations(shares, threshold)][:: times(4, 1)]:
        now = combined(state, chosen)
        assert (now.secret == key.secret) is not anew
    opened = made.open("greetings", WHY, OFFICE, opener=now)
    assert len(opened) == 6

    mixed = [*shares[: threshold - 1], old["Church"]]
    refused("before the keepers got new ones", combined, state, mixed)
    refused("", combine, mixed)  # below the vault as well
    if anew:  # as many shares of before as were needed open nothing of now
        refused("from before it was sealed again", made.open, "greetings", WHY, OFFICE, opener=key)  # fmt: skip
        [stored] = state.head.corpora.values()
        refuses(FileError, "", unseal, state.file(stored.key), [key.age])
    if how.startswith("revoke"):
        refused("no share for them", own_share, state, PEOPLE["School"])
    assert readable(here) == []
    assert state.left_over == ()
    assert len(files(here / "vault")) == 3 + 2 + len(names) + anew  # and the key of before


def test_keepers_together_write_with_the_key_of_now_only(here: Path) -> None:
    made = reopened(here)
    before = key_of(made.read(), *NAMES[:3])
    assert len(made.open("greetings", WHY, before.identity, opener=before)) == 6
    made.refresh(WHY, before.identity, before, anew=True)
    now = key_of(made.read(), *NAMES[:3])
    refused("not those of a present", made.open, "greetings", WHY, before.identity, opener=now)  # fmt: skip
    assert len(made.open("greetings", WHY, now.identity, opener=now)) == 6
    assert made.read().lines[-1].record.by == now.signing_key


def test_what_is_no_share_of_this_vault_is_said(here: Path, single: Path) -> None:
    state, alone = at(here), vault(single)
    other = founded(here / "other").read()
    refused("share of another vault", whose, state, own_share(other, OFFICE))
    refused("no share for them", own_share, state, MINE)
    refused("opens this vault alone", own_share, at(single), MINE)
    refused("opens this vault alone", alone.refresh, WHY, MINE, None)


def test_vault_of_single_keepers_is_written_as_before(single: Path) -> None:
    """Golden values: hashes that the program gave before several keepers could open together."""
    people = [Identity(Role.KEEPER, bytes([n]) * 32, AgeIdentity.of(bytes([n]) * 32)) for n in (1, 2)]  # fmt: skip
    keepers = keeper_of(people[0], "Office"), keeper_of(people[1], "Recovery", recovery=True)
    act = Founded(name="Words of the elders", keepers=keepers, salt="ab" * 32)
    line = write_line((), act, people[0], START)
    assert line.id == "c0f6d67552d9599fe7a242439b847ec9a36fe681eaef1df3e6bf9a3522d3243b"
    stored = StoredCorpus(name="x", entries={Segment.GOLD_STANDARD: 3}, key="1" * 64, texts="2" * 64)  # fmt: skip
    head = Head(
        vault=line.id, lines=1, log_bytes=len(line.content) + 1, log_head=line.id,
        corpora={"0" * 16: stored}, readme="3" * 64, by=keepers[0].signing_key,
    )  # fmt: skip
    signed = hashlib.sha256(signed_record(head, people[0])).hexdigest()
    assert signed == "6ac92002fe88d8985bc0a39b60f6db9a2a636ef56fe964fea9f02a94a1df470d"

    assert at(single).head.format == "rosetta-vault/1"
    first = (single / "vault" / "log.jsonl").read_bytes().splitlines()[0]
    assert set(json.loads(first)["act"]) == {"what", "name", "keepers", "salt"}


def test_no_file_ever_holds_the_key_or_a_share_openly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Looked for in every file, at each step at which one is written."""
    secret: set[bytes] = set()
    looked: list[Path] = []
    splitting = dealing.split

    def look(function: Callable[..., Any]) -> Callable[..., Any]:
        def looking(path: Path, *arguments: Any, **more: Any) -> Any:
            done = function(path, *arguments, **more)
            for each in tmp_path.rglob("*"):
                if each.is_file():
                    looked.append(each)
                    assert not [s for s in secret if s in each.read_bytes()]
            return done

        return looking

    def splitting_known(key: OpeningKey, *rest: Any) -> Any:
        shares = splitting(key, *rest)
        secret.update({key.secret, key.secret.hex().encode(), key.age.secret.encode()})
        words = [each.words.reveal() for each in shares]
        secret.update(" ".join(each.split()[4:8]).encode() for each in words)
        return shares

    monkeypatch.setattr(dealing, "split", splitting_known)
    for place in (folders, seen):
        monkeypatch.setattr(place, "write_file", look(place.write_file))
    made, three = filled_together(tmp_path), ("Office", "Library", "Church")
    assert len(secret) == 3 + 5
    for how in ("enrol", "revoke anew", "refresh"):
        changed(made, how, key_of(made.read(), *three))
        made.open("greetings", WHY, OFFICE, opener=key_of(made.read(), *three))
    assert len(secret) == 3 + 3 + 5 + 6 + 5 + 5
    assert len(looked) > 100
    assert made.read().split.threshold == 3


@examples(3, 40)
@given(data=st.data())
def test_whatever_keepers_do_together_any_m_open_and_no_fewer(data: st.DataObject) -> None:
    def drawn(most: int) -> int:
        return data.draw(st.integers(2, most))

    with TemporaryDirectory() as folder:
        names = [*NAMES]
        made = founded(Path(folder), drawn(5))
        made.add(corpus(4), "greetings", OFFICE)
        old: list[KeyShare] = []
        for step in range(data.draw(st.integers(1, 4))):
            state = made.read()
            who = data.draw(st.permutations(names))[: state.split.threshold]
            key = key_of(state, *who)
            old += [own_share(state, PEOPLE[each]) for each in names]
            how = data.draw(st.sampled_from(["refresh", "enrol", "revoke"]))
            if how == "enrol" and "Council" not in names:
                names.append("Council")
                threshold = data.draw(st.none() | st.integers(2, len(names)))
                made.enrol(keeper_of(PEOPLE["Council"], "Council"), WHY, OFFICE, key, threshold)
            elif how == "revoke" and len(names) > 3:
                gone, anew = data.draw(st.sampled_from(names[1:])), data.draw(st.booleans())
                names.remove(gone)
                made.revoke(gone, WHY, OFFICE, key, drawn(len(names)), anew=anew)
            else:
                made.refresh(WHY, OFFICE, key, anew=step % 2 == 0)
        state = made.read()
        shares = [own_share(state, PEOPLE[each]) for each in data.draw(st.permutations(names))]
        needed = state.split.threshold
        opened = made.open("greetings", WHY, OFFICE, opener=combined(state, shares[:needed]))
        assert len(opened) == 3
        refused("", combined, state, shares[: needed - 1])
        for each in old:
            refused("before the keepers got new ones", whose, state, each)


@pytest.mark.parametrize("threshold", [0, 4, 17])
def test_threshold_that_makes_no_sense_makes_no_vault(tmp_path: Path, threshold: int) -> None:
    words = "no number of keepers who open together"
    refused(words, founded, tmp_path, threshold, NAMES[:3])
    assert not (tmp_path / "vault").exists()
