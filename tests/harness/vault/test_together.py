"""A vault that opens for M of its N keepers together: nobody alone, shares dealt anew or wrong, and what is no right share said."""

import base64
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
from harness.sealed.archive import signed_record
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity, seal, unseal
from harness.sealed.strict_records import FileError, FileProblem
from harness.vault import folder as folders
from harness.vault import keepers as seen
from harness.vault import shares as dealing
from harness.vault import vault_records
from harness.vault.data_key import DataKey
from harness.vault.folder import VaultState
from harness.vault.keepers import keeper_of
from harness.vault.key_shares import KeyShare, OpeningKey, combine, split
from harness.vault.log import write_line
from harness.vault.sealed_corpus import SealedCorpus, stored_corpus
from harness.vault.shares import FORMER, HEADING, combined, deal, own_share, proved, whose
from harness.vault.vault import Vault
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.made import (
    CANARY,
    MINE,
    NAMES,
    OFFICE,
    PEOPLE,
    START,
    THRESHOLD,
    at,
    corpus,
    files,
    filled_together,
    founded,
    key_of,
    readable,
    refused,
    vault,
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
        words = r"2 of 3 shares are here.* 1 more are needed, of:"
        error = refused(words, combined, state, [shares[each] for each in chosen])
        assert error.problem is FileProblem.LOCKED
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
    refused("from before it was sealed again", made.open, "greetings", WHY, OFFICE, opener=other)
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
        return made.revoke("School", WHY, OFFICE, key)
    return made.refresh(WHY, OFFICE, key, *([2] if "other" in how else []))


@pytest.mark.parametrize("how", ["enrol", "revoke", "refresh", "refresh for others"])
def test_shares_dealt_anew_do_not_mix_with_those_of_before(here: Path, how: str) -> None:
    made = reopened(here)
    before = made.read()
    old = {each: own_share(before, PEOPLE[each]) for each in NAMES}
    refused(ALONE, changed, made, how, None)
    assert made.read().lines == before.lines

    key = key_of(before, *NAMES[:THRESHOLD])
    state = changed(made, how, key)
    threshold = 2 if "other" in how else THRESHOLD
    texts = [each.texts for each in before.head.corpora.values()]
    assert [each.texts for each in state.head.corpora.values()] != texts
    assert state.split.threshold == threshold
    names = [each.name for each in state.keepers.values()]
    assert ("School" in names) is not how.startswith("revoke")
    assert ("Council" in names) is (how == "enrol")
    shares = [own_share(state, PEOPLE[each]) for each in names]
    for chosen in [*combinations(shares, threshold)][:: times(4, 1)]:
        now = combined(state, chosen)
        assert now.secret != key.secret
    opened = made.open("greetings", WHY, OFFICE, opener=now)
    assert len(opened) == 6

    mixed = [*shares[: threshold - 1], old["Church"]]
    refused("before the keepers got new ones", combined, state, mixed)
    refused("", combine, mixed)  # below the vault as well
    # as many shares of before as were needed open nothing of now
    refused("from before it was sealed again", made.open, "greetings", WHY, OFFICE, opener=key)
    [stored] = state.head.corpora.values()
    refuses(FileError, "", unseal, state.file(stored.key), [key.age])
    if how.startswith("revoke"):
        refused("no share for them", own_share, state, PEOPLE["School"])
    assert readable(here) == []
    assert state.left_over == ()
    assert len(files(here / "vault")) == 3 + 2 + len(names) + 1  # and the key of before


def test_keepers_together_write_with_the_key_of_now_only(here: Path) -> None:
    made = reopened(here)
    before = key_of(made.read(), *NAMES[:3])
    assert len(made.open("greetings", WHY, before.identity, opener=before)) == 6
    made.refresh(WHY, before.identity, before)
    now = key_of(made.read(), *NAMES[:3])
    refused("not those of a present", made.open, "greetings", WHY, before.identity, opener=now)
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
    people = [Identity(Role.KEEPER, bytes([n]) * 32, AgeIdentity.of(bytes([n]) * 32)) for n in (1, 2)]
    keepers = keeper_of(people[0], "Office"), keeper_of(people[1], "Recovery", recovery=True)
    act = vault_records.Founded(name="Words of the elders", keepers=keepers, salt="ab" * 32)
    line = write_line((), act, people[0], START)
    assert line.id == "c0f6d67552d9599fe7a242439b847ec9a36fe681eaef1df3e6bf9a3522d3243b"
    stored = vault_records.StoredCorpus(name="x", entries={Segment.GOLD_STANDARD: 3}, key="1" * 64, texts="2" * 64)
    head = vault_records.Head(
        vault=line.id, lines=1, log_bytes=len(line.content) + 1, log_head=line.id,
        corpora={"0" * 16: stored}, readme="3" * 64, by=keepers[0].signing_key,
    )  # fmt: skip
    signed = hashlib.sha256(signed_record(head, people[0])).hexdigest()
    assert signed == "6ac92002fe88d8985bc0a39b60f6db9a2a636ef56fe964fea9f02a94a1df470d"

    assert at(single).head.format == "rosetta-vault/1"
    first = (single / "vault" / "log.jsonl").read_bytes().splitlines()[0]
    assert set(json.loads(first)["act"]) == {"what", "name", "keepers", "salt"}


def test_no_file_shows_the_key_or_a_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looked for in every file, at each step at which one is written."""
    secret: set[bytes] = set()
    looked: list[Path] = []
    splitting = split

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
    for how in ("enrol", "revoke", "refresh"):
        changed(made, how, key_of(made.read(), *three))
        made.open("greetings", WHY, OFFICE, opener=key_of(made.read(), *three))
    assert len(secret) == 4 * 3 + 5 + 6 + 5 + 5
    assert len(looked) > 100
    assert made.read().split.threshold == 3


@examples(2, 40)
@given(data=st.data())
def test_whatever_keepers_do_together_any_m_open_and_no_fewer(data: st.DataObject) -> None:
    def drawn(most: int) -> int:
        return data.draw(st.integers(2, most))

    with TemporaryDirectory() as folder:
        names = [*NAMES]
        made = founded(Path(folder), drawn(5))
        made.add(corpus(4), "greetings", OFFICE)
        old: list[KeyShare] = []
        for _ in range(data.draw(st.integers(1, 4))):
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
                gone = data.draw(st.sampled_from(names[1:]))
                names.remove(gone)
                made.revoke(gone, WHY, OFFICE, key, drawn(len(names)))
            else:
                made.refresh(WHY, OFFICE, key)
        state = made.read()
        shares = [own_share(state, PEOPLE[each]) for each in data.draw(st.permutations(names))]
        needed = state.split.threshold
        opened = made.open("greetings", WHY, OFFICE, opener=combined(state, shares[:needed]))
        assert len(opened) == 3
        refused("", combined, state, shares[: needed - 1])
        for each in old:
            refused("before the keepers got new ones", whose, state, each)


def test_threshold_that_makes_no_sense_makes_no_vault(tmp_path: Path) -> None:
    for threshold in (0, 4, 17):
        refused("not a number of keepers who open", founded, tmp_path, threshold, NAMES[:3])
    assert not (tmp_path / "vault").exists()


# Lines about keepers and shares that somebody forges or deals wrong, with a program of their own

OTHER = b"{}\n"
"""A file that was none of the vault's."""


def cheat(folder: Path, act: vault_records.Act, written: dict[str, bytes], **more: Any) -> None:
    """Write a line and head that one keeper signs with a program of their own."""
    state = at(folder)
    line = write_line(state.lines, act, OFFICE, START.replace(year=2028), **more)
    with (folder / "vault" / "log.jsonl").open("ab") as log:
        log.write(line.content + b"\n")
    for name, content in written.items():
        (folder / "vault" / name).write_bytes(content)
    head = state.head.model_dump(mode="json")
    head |= {"lines": len(state.lines) + 1, "log_head": line.id, "by": OFFICE.public.signing_key}
    head["log_bytes"] += len(line.content) + 1
    head["corpora"] |= {n: e.model_dump(mode="json") for n, e in more.get("stored", {}).items()}
    record = vault_records.Head.model_validate(head)
    (folder / "vault" / "vault.json").write_bytes(signed_record(record, OFFICE))


Attack = tuple[vault_records.Act, dict[str, bytes]]


def dealt(
    state: VaultState, key: OpeningKey, number: int = 3, keepers: int = 5, *, anew: bool = False
) -> tuple[vault_records.Dealt, dict[str, bytes]]:
    """Deal shares of a key to some of the keepers; the line is not proved yet."""
    everybody = tuple(state.keepers.values())
    before = [] if anew else [e for e in [state.split] if e]
    made, written = deal(key, number, everybody[:keepers], before)
    return vault_records.Dealt(keepers=everybody, split=made, sealed_anew=anew, purpose=WHY), written


def three(state: VaultState) -> OpeningKey:
    return key_of(state, *NAMES[:3])


def signed(
    state: VaultState, key: OpeningKey | None = None, by: OpeningKey | None = None, *, prev: str = "", same: bool = False, **how: Any
) -> Attack:  # fmt: skip
    """Deal shares of a key, proved by one under a line; by default all of it as it should be. ``same``: under the number of before."""
    act, written = dealt(state, key or three(state), **how)
    if same:
        split = act.split.model_copy(update={"number": state.split.number})
        act = act.model_copy(update={"split": split})
    return proved(act, prev or state.head.log_head, by or three(state)), written


def without_a_proof(state: VaultState) -> Attack:
    act, written = dealt(state, three(state))
    return act.model_copy(update={"proof": base64.b64encode(bytes(64)).decode()}), written


def with_other_texts(act: vault_records.Act, written: dict[str, bytes], recipient: str) -> Attack:
    """Other files of every corpus come in."""
    files = (seal(bytes(32), [recipient]), OTHER)
    return act, {**{hashlib.sha256(each).hexdigest(): each for each in files}, **written}


OWN = OpeningKey.make()
SCHOOL_OUT = vault_records.Revoked(keeper=PEOPLE["School"].public.signing_key, purpose=WHY)
ATTACKS: dict[str, Callable[[VaultState], Attack]] = {
    "alone with a key of their own": lambda state: signed(state, OWN, OWN, number=2, anew=True),
    "under a proof of another line": lambda state: signed(state, prev="0" * 64),
    "without a proof": without_a_proof,
    "one in, alone": lambda _: (vault_records.Enrolled(keeper=keeper_of(PEOPLE["Council"], "Council"), purpose=WHY), {}),
    "one out, alone": lambda _: with_other_texts(SCHOOL_OUT, {}, OFFICE.age.recipient),
    "together, for fewer than the line names": lambda state: signed(state, keepers=4),
    "together, of a key that opens nothing": lambda state: signed(state, OWN),
    "together, under the number of before": lambda state: signed(state, same=True),
    "together, with other texts unsaid": lambda state: with_other_texts(*signed(state), three(state).recipient),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_line_that_keepers_did_not_agree_on_so_is_refused(here: Path, attack: str) -> None:
    act, written = ATTACKS[attack](at(here))
    stored = dict(at(here).head.corpora)
    alone = isinstance(act, vault_records.Enrolled | vault_records.Revoked) or OTHER in written.values()
    if OTHER in written.values():
        key, texts, *_ = written
        stored = {n: e.model_copy(update={"key": key, "texts": texts}) for n, e in stored.items()}
    cheat(here, act, written, stored=stored if alone else {})
    refused(r"log\.jsonl: line 3: ", at, here)


def test_corpus_sealed_for_a_keeper_as_well_is_found(tmp_path: Path) -> None:
    state = founded(tmp_path).read()
    key = DataKey.make()
    sealed = SealedCorpus.seal("0" * 16, corpus(), key)
    both = [state.split.recipient, OFFICE.age.recipient]
    stored, written = stored_corpus("greetings", sealed, key, both)
    act = vault_records.Added(corpus="0" * 16, name="greetings", entries=stored.entries)
    cheat(tmp_path, act, written, stored={"0" * 16: stored})
    refused("sealed for more than the opening key", at, tmp_path)


def test_share_for_two_or_head_that_hides_several_is_found(here: Path) -> None:
    """Whoever makes the vault could seal somebody's share for themselves too."""
    state, school = at(here), PEOPLE["School"]
    head = (here / "vault" / "vault.json").read_bytes()
    hiding = state.head.model_copy(update={"format": "rosetta-vault/1"})
    (here / "vault" / "vault.json").write_bytes(signed_record(hiding, OFFICE))
    refused("another form than the log says", at, here)
    (here / "vault" / "vault.json").write_bytes(head)
    act, written = dealt(state, three(state))
    theirs = act.split.shares[school.public.signing_key]
    words = unseal(written.pop(theirs.file), [school.age])
    both = seal(words, [school.age.recipient, OFFICE.age.recipient])
    name = hashlib.sha256(both).hexdigest()
    sealed = {school.public.signing_key: vault_records.SealedShare(file=name, check=theirs.check)}
    split = act.split.model_copy(update={"shares": {**act.split.shares, **sealed}})
    act = proved(act.model_copy(update={"split": split}), state.head.log_head, three(state))
    cheat(here, act, {**written, name: both})
    refused("sealed for more than its keeper", at, here)


def test_former_key_sealed_for_one_is_found(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stores kept under it would open for that keeper alone."""
    made = vault(here, START.replace(year=2027))

    def for_both(before: OpeningKey, now: OpeningKey) -> bytes:
        return seal(FORMER + before.secret, [now.recipient, OFFICE.age.recipient])

    monkeypatch.setattr("harness.vault.vault.seal_former", for_both)
    made.refresh(WHY, OFFICE, three(made.read()))
    refused("sealed for more than the opening key", at, here)


def test_shares_that_were_dealt_wrong_are_said(here: Path) -> None:
    """Three come together for a change on a computer whose program cheats: shares of another key, or no shares."""
    state = at(here)
    key, other = three(state), OpeningKey.make()
    act, written = dealt(state, other)
    shares = dict(act.split.shares)
    for name, words, known in (("School", b"nothing", False), ("recovery key", b"nothing", True), ("Office", b"\xff" * 40, True)):  # fmt: skip
        sealed = seal(HEADING + words, [PEOPLE[name].age.recipient])
        keeper, file = PEOPLE[name].public.signing_key, hashlib.sha256(sealed).hexdigest()
        check = hashlib.sha256(words).hexdigest() if known else shares[keeper].check
        shares[keeper], written[file] = vault_records.SealedShare(file=file, check=check), sealed
    public = {"recipient": key.recipient, "signing_key": key.signing_key}
    wrong = act.split.model_copy(update={"shares": shares, **public})
    act = act.model_copy(update={"split": wrong})
    cheat(here, proved(act, state.head.log_head, key), written)
    after = at(here)
    for name in ("School", "recovery key", "Office"):
        refused("is not their share", own_share, after, PEOPLE[name])

    good, written = deal(other, 2, act.keepers, [e for e in (wrong, state.split) if e])
    act = act.model_copy(update={"split": good.model_copy(update=public)})
    cheat(here, proved(act, after.head.log_head, key), written)
    said = "give another key than that of this vault"
    refused(said, key_of, at(here), "Office", "Library", "Church")
