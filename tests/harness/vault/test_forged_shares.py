"""Lines about keepers and shares that somebody forges or deals wrong, with a program of their own."""

import base64
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.sealed.sealing import seal, unseal
from harness.sealed.signed_archive import signed_record
from harness.vault.corpus_files import stored_corpus
from harness.vault.data_key import DataKey
from harness.vault.folder import VaultState
from harness.vault.keepers import keeper_of
from harness.vault.log import write_line
from harness.vault.records import Act, Added, Dealt, Enrolled, Head, Revoked, SealedShare
from harness.vault.sealed_corpus import SealedCorpus
from harness.vault.shares.dealing import FORMER, HEADING, deal, own_share, proved
from harness.vault.shares.split import OpeningKey
from tests.harness.vault.made import START, corpus, refused, vault
from tests.harness.vault.together import NAMES, OFFICE, PEOPLE, at, founded, key_of

WHY = "a test"
OTHER = b"{}\n"
"""A file that was none of the vault's."""


def cheat(folder: Path, act: Act, written: dict[str, bytes], **more: Any) -> None:
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
    record = Head.model_validate(head)
    (folder / "vault" / "vault.json").write_bytes(signed_record(record, OFFICE))


Attack = tuple[Act, dict[str, bytes]]


def dealt(
    state: VaultState, key: OpeningKey, number: int = 3, keepers: int = 5, *, anew: bool = False
) -> tuple[Dealt, dict[str, bytes]]:
    """Deal shares of a key to some of the keepers; the line is not proved yet."""
    everybody = tuple(state.keepers.values())
    made, written = deal(key, number, everybody[:keepers], [] if anew else [state.split])
    return Dealt(keepers=everybody, split=made, sealed_anew=anew, purpose=WHY), written


def three(state: VaultState) -> OpeningKey:
    return key_of(state, *NAMES[:3])


def alone_with_a_key_of_their_own(state: VaultState) -> Attack:
    key = OpeningKey.make()
    act, written = dealt(state, key, 2, anew=True)
    return proved(act, state.head.log_head, key), written


def under_a_proof_of_another_line(state: VaultState) -> Attack:
    act, written = dealt(state, three(state))
    return proved(act, "0" * 64, three(state)), written


def without_a_proof(state: VaultState) -> Attack:
    act, written = dealt(state, three(state))
    return act.model_copy(update={"proof": base64.b64encode(bytes(64)).decode()}), written


def one_in_alone(state: VaultState) -> Attack:
    """With the keys of all corpora sealed for them as well, where that would help."""
    act = Enrolled(keeper=keeper_of(PEOPLE["Council"], "Council"), purpose=WHY)
    return act, {}


def all_others_out_alone(state: VaultState) -> Attack:
    """With other files for every corpus, as such a line ought to have them."""
    key, texts = seal(bytes(32), [OFFICE.age.recipient]), OTHER
    act = Revoked(keeper=PEOPLE["School"].public.signing_key, purpose=WHY)
    return act, {hashlib.sha256(each).hexdigest(): each for each in (key, texts)}


def shares_for_others(state: VaultState) -> Attack:
    """Together, but the shares go to fewer than the line names."""
    act, written = dealt(state, three(state), keepers=4)
    return proved(act, state.head.log_head, three(state)), written


def another_key_without_sealing_anew(state: VaultState) -> Attack:
    """Together, but the shares are those of a key that opens nothing that lies there."""
    act, written = dealt(state, OpeningKey.make())
    return proved(act, state.head.log_head, three(state)), written


def under_the_number_of_before(state: VaultState) -> Attack:
    """Together, but so that shares of before and of now look as if they were of one splitting."""
    act, written = dealt(state, three(state))
    split = act.split.model_copy(update={"number": state.split.number})
    return proved(
        act.model_copy(update={"split": split}), state.head.log_head, three(state)
    ), written


def other_texts_unsaid(state: VaultState) -> Attack:
    """Together, and other files of a corpus come in under a line that says nothing of them."""
    key = three(state)
    act, written = dealt(state, key)
    both = {hashlib.sha256(e).hexdigest(): e for e in (seal(bytes(32), [key.recipient]), OTHER)}
    return proved(act, state.head.log_head, key), {**both, **written}


@pytest.mark.parametrize("attack", [
    other_texts_unsaid, another_key_without_sealing_anew, under_the_number_of_before,
    alone_with_a_key_of_their_own, under_a_proof_of_another_line, without_a_proof, one_in_alone,
    all_others_out_alone, shares_for_others,
])  # fmt: skip
def test_lines_that_keepers_did_not_agree_on_so_are_refused(
    here: Path, attack: Callable[[VaultState], Attack]
) -> None:
    act, written = attack(at(here))
    stored = dict(at(here).head.corpora)
    alone = isinstance(act, Enrolled | Revoked) or OTHER in written.values()
    if OTHER in written.values():
        key, texts, *_ = written
        stored = {n: e.model_copy(update={"key": key, "texts": texts}) for n, e in stored.items()}
    cheat(here, act, written, stored=stored if alone else {})
    refused(r"log\.jsonl: line 3: ", at, here)


def test_corpus_sealed_for_a_keeper_beside_the_opening_key_is_found(tmp_path: Path) -> None:
    state = founded(tmp_path).read()
    key = DataKey.make()
    sealed = SealedCorpus.seal("0" * 16, corpus(), key)
    both = [state.split.recipient, OFFICE.age.recipient]
    stored, written = stored_corpus("greetings", sealed, key, both)
    act = Added(corpus="0" * 16, name="greetings", entries=stored.entries)
    cheat(tmp_path, act, written, stored={"0" * 16: stored})
    refused("sealed for more than the opening key", at, tmp_path)


def test_share_sealed_for_two_or_a_head_that_hides_several_is_found(here: Path) -> None:
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
    sealed = {school.public.signing_key: SealedShare(file=name, check=theirs.check)}
    split = act.split.model_copy(update={"shares": {**act.split.shares, **sealed}})
    act = proved(act.model_copy(update={"split": split}), state.head.log_head, three(state))
    cheat(here, act, {**written, name: both})
    refused("sealed for more than its keeper", at, here)


def test_key_of_before_sealed_for_a_keeper_too_is_found(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stores kept under it would open for that keeper alone."""
    made = vault(here, START.replace(year=2027))

    def for_both(before: OpeningKey, now: OpeningKey) -> bytes:
        return seal(FORMER + before.secret, [now.recipient, OFFICE.age.recipient])

    monkeypatch.setattr("harness.vault.vault.seal_former", for_both)
    made.refresh(WHY, OFFICE, three(made.read()), anew=True)
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
        shares[keeper], written[file] = SealedShare(file=file, check=check), sealed
    public = {"recipient": key.recipient, "signing_key": key.signing_key}
    wrong = act.split.model_copy(update={"shares": shares, **public})
    act = act.model_copy(update={"split": wrong})
    cheat(here, proved(act, state.head.log_head, key), written)
    after = at(here)
    for name in ("School", "recovery key", "Office"):
        refused("is not their share", own_share, after, PEOPLE[name])

    good, written = deal(other, 2, act.keepers, [wrong, state.split])
    act = act.model_copy(update={"split": good.model_copy(update=public)})
    cheat(here, proved(act, after.head.log_head, key), written)
    words = "give another key than that of this vault"
    refused(words, key_of, at(here), "Office", "Library", "Church")
