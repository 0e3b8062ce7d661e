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
from harness.vault.log import VaultError, write_line
from harness.vault.records import (
    Act,
    Added,
    Dealt,
    Enrolled,
    Head,
    Revoked,
    SealedShare,
)
from harness.vault.sealed_corpus import SealedCorpus
from harness.vault.shares.dealing import FORMER, HEADING, deal, own_share, proved
from harness.vault.shares.split import OpeningKey
from tests.harness.vault.made import START, corpus
from tests.harness.vault.together import (
    NAMES,
    OFFICE,
    PEOPLE,
    at,
    filled_together,
    founded,
    key_of,
)

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


def alone_with_a_key_of_their_own(state: VaultState) -> tuple[Act, dict[str, bytes]]:
    key = OpeningKey.make()
    keepers = tuple(state.keepers.values())
    made, written = deal(key, 2, keepers)
    act = Dealt(keepers=keepers, split=made, sealed_anew=True, purpose=WHY)
    return proved(act, state.head.log_head, key), written


def under_a_proof_of_another_line(state: VaultState) -> tuple[Act, dict[str, bytes]]:
    key = key_of(state, *NAMES[:3])
    keepers = tuple(state.keepers.values())
    made, written = deal(key, 3, keepers, [state.split] if state.split else [])
    act = Dealt(keepers=keepers, split=made, sealed_anew=False, purpose=WHY)
    return proved(act, "0" * 64, key), written


def without_a_proof(state: VaultState) -> tuple[Act, dict[str, bytes]]:
    act, written = under_a_proof_of_another_line(state)
    assert isinstance(act, Dealt)
    return act.model_copy(update={"proof": base64.b64encode(bytes(64)).decode()}), written


def one_in_alone(state: VaultState) -> tuple[Act, dict[str, bytes]]:
    """With the keys of all corpora sealed for them as well, where that would help."""
    act = Enrolled(keeper=keeper_of(PEOPLE["Council"], "Council"), purpose=WHY)
    return act, {}


def all_others_out_alone(state: VaultState) -> tuple[Act, dict[str, bytes]]:
    """With other files for every corpus, as such a line ought to have them."""
    key, texts = seal(bytes(32), [OFFICE.age.recipient]), OTHER
    act = Revoked(keeper=PEOPLE["School"].public.signing_key, purpose=WHY)
    return act, {hashlib.sha256(each).hexdigest(): each for each in (key, texts)}


def shares_for_others(state: VaultState) -> tuple[Act, dict[str, bytes]]:
    """Together, but the shares go to fewer than the line names."""
    key = key_of(state, *NAMES[:3])
    keepers = tuple(state.keepers.values())
    made, written = deal(key, 3, keepers[:4], [state.split] if state.split else [])
    act = Dealt(keepers=keepers, split=made, sealed_anew=False, purpose=WHY)
    return proved(act, state.head.log_head, key), written


def another_key_without_sealing_anew(state: VaultState) -> tuple[Act, dict[str, bytes]]:
    """Together, but the shares are those of a key that opens nothing that lies there."""
    keepers = tuple(state.keepers.values())
    made, written = deal(OpeningKey.make(), 3, keepers, [state.split] if state.split else [])
    act = Dealt(keepers=keepers, split=made, sealed_anew=False, purpose=WHY)
    return proved(act, state.head.log_head, key_of(state, *NAMES[:3])), written


def under_the_number_of_before(state: VaultState) -> tuple[Act, dict[str, bytes]]:
    """Together, but so that shares of before and of now look as if they were of one splitting."""
    key, keepers = key_of(state, *NAMES[:3]), tuple(state.keepers.values())
    made, written = deal(key, 3, keepers)
    assert state.split is not None
    made = made.model_copy(update={"number": state.split.number})
    act = Dealt(keepers=keepers, split=made, sealed_anew=False, purpose=WHY)
    return proved(act, state.head.log_head, key), written


def other_texts_unsaid(state: VaultState) -> tuple[Act, dict[str, bytes]]:
    """Together, and other files of a corpus come in under a line that says nothing of them."""
    key, keepers = key_of(state, *NAMES[:3]), tuple(state.keepers.values())
    made, written = deal(key, 3, keepers, [state.split] if state.split else [])
    act = Dealt(keepers=keepers, split=made, sealed_anew=False, purpose=WHY)
    both = {hashlib.sha256(e).hexdigest(): e for e in (seal(bytes(32), [key.recipient]), OTHER)}
    return proved(act, state.head.log_head, key), {**both, **written}


@pytest.mark.parametrize(
    "attack",
    [
        other_texts_unsaid,
        another_key_without_sealing_anew,
        under_the_number_of_before,
        alone_with_a_key_of_their_own,
        under_a_proof_of_another_line,
        without_a_proof,
        one_in_alone,
        all_others_out_alone,
        shares_for_others,
    ],
)
def test_lines_that_keepers_did_not_agree_on_so_are_refused(
    here: Path, attack: Callable[[VaultState], tuple[Act, dict[str, bytes]]]
) -> None:
    act, written = attack(at(here))
    stored = dict(at(here).head.corpora)
    alone = isinstance(act, Enrolled | Revoked) or OTHER in written.values()
    if OTHER in written.values():
        key, texts, *_ = written
        stored = {n: e.model_copy(update={"key": key, "texts": texts}) for n, e in stored.items()}
    cheat(here, act, written, stored=stored if alone else {})
    with pytest.raises(VaultError, match=r"log\.jsonl: line 3: "):
        at(here)


def test_a_corpus_that_is_sealed_for_a_keeper_beside_the_opening_key_is_found(
    tmp_path: Path,
) -> None:
    state = founded(tmp_path).read()
    key = DataKey.make()
    sealed = SealedCorpus.seal("0" * 16, corpus(), key)
    both = [state.split.recipient, OFFICE.age.recipient] if state.split else []
    stored, written = stored_corpus("greetings", sealed, key, both)
    act = Added(corpus="0" * 16, name="greetings", entries=stored.entries)
    cheat(tmp_path, act, written, stored={"0" * 16: stored})
    with pytest.raises(VaultError, match="sealed for more than the opening key"):
        at(tmp_path)


def test_a_head_that_hides_that_several_open_is_found(here: Path) -> None:
    head = at(here).head.model_copy(update={"format": "rosetta-vault/1"})
    (here / "vault" / "vault.json").write_bytes(signed_record(head, OFFICE))
    with pytest.raises(VaultError, match="another form than the log says"):
        at(here)


def test_a_share_that_is_sealed_for_two_is_found(here: Path, tmp_path: Path) -> None:
    """Whoever makes the vault could seal somebody's share for themselves too."""
    state = at(here)
    key = key_of(state, *NAMES[:3])
    keepers = tuple(state.keepers.values())
    made, written = deal(key, 3, keepers, [state.split] if state.split else [])
    theirs = made.shares[PEOPLE["School"].public.signing_key]
    words = unseal(written.pop(theirs.file), [PEOPLE["School"].age])
    both = seal(words, [PEOPLE["School"].age.recipient, OFFICE.age.recipient])
    name = hashlib.sha256(both).hexdigest()
    shares = {
        **made.shares,
        PEOPLE["School"].public.signing_key: SealedShare(file=name, check=theirs.check),
    }
    act = Dealt(
        keepers=keepers, split=made.model_copy(update={"shares": shares}), sealed_anew=False, purpose=WHY
    )  # fmt: skip
    cheat(here, proved(act, state.head.log_head, key), {**written, name: both})
    with pytest.raises(VaultError, match="sealed for more than its keeper"):
        at(here)


def test_a_key_of_before_that_is_sealed_for_a_keeper_too_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stores kept under it would open for that keeper alone."""
    made = filled_together(tmp_path)

    def for_both(before: OpeningKey, now: OpeningKey) -> bytes:
        return seal(FORMER + before.secret, [now.recipient, OFFICE.age.recipient])

    monkeypatch.setattr("harness.vault.vault.seal_former", for_both)
    key = key_of(made.read(), *NAMES[:3])
    made.refresh(WHY, OFFICE, key, anew=True)
    with pytest.raises(VaultError, match="sealed for more than the opening key"):
        at(tmp_path)


def test_shares_that_were_dealt_wrong_are_said(here: Path) -> None:
    """Three come together for a change on a computer whose program cheats: shares of another key, or no shares."""
    state = at(here)
    key, other = key_of(state, *NAMES[:3]), OpeningKey.make()
    keepers = tuple(state.keepers.values())
    made, written = deal(other, 3, keepers, [state.split] if state.split else [])
    shares = dict(made.shares)
    for name, words, known in (
        ("School", b"nothing", False),
        ("recovery key", b"nothing", True),
        ("Office", b"\xff" * 40, True),
    ):
        sealed = seal(HEADING + words, [PEOPLE[name].age.recipient])
        keeper, file = PEOPLE[name].public.signing_key, hashlib.sha256(sealed).hexdigest()
        check = hashlib.sha256(words).hexdigest() if known else shares[keeper].check
        shares[keeper], written[file] = SealedShare(file=file, check=check), sealed
    public = {"recipient": key.recipient, "signing_key": key.signing_key}
    wrong = made.model_copy(update={"shares": shares, **public})
    act = Dealt(keepers=keepers, split=wrong, sealed_anew=False, purpose=WHY)
    cheat(here, proved(act, state.head.log_head, key), written)
    after = at(here)
    for name in ("School", "recovery key", "Office"):
        with pytest.raises(VaultError, match="is not their share"):
            own_share(after, PEOPLE[name])

    good, written = deal(other, 2, keepers, [wrong, *([state.split] if state.split else [])])
    wrong = good.model_copy(update=public)
    act = Dealt(keepers=keepers, split=wrong, sealed_anew=False, purpose=WHY)
    cheat(here, proved(act, after.head.log_head, key), written)
    with pytest.raises(VaultError, match="give another key than that of this vault"):
        key_of(at(here), "Office", "Library", "Church")
