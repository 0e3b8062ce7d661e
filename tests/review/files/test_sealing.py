"""Seals: the right key opens them, nothing else does, and every refusal has words."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.failures import UsageError
from review.sealed import passphrase
from review.sealed.passphrase import seal_with_passphrase, typed_passphrase
from review.sealed.problem import FileProblem
from review.sealed.sealing import (
    AgeIdentity,
    Lock,
    SealError,
    checked_recipient,
    lock_of,
    read_age_identities,
    seal,
    unseal,
    unseal_with_passphrase,
)

ONE, TWO, OTHER = AgeIdentity.make(), AgeIdentity.make(), AgeIdentity.make()
SEALED = seal(b"texts", [ONE.recipient, TWO.recipient])
WORDS = "kizun gorot sapos gipad"


def problem(data: bytes, *identities: AgeIdentity) -> FileProblem:
    with pytest.raises(SealError, match=r"\.$") as refused:
        unseal(data, identities)
    return refused.value.problem


def test_each_recipient_alone_opens_it_and_nobody_else() -> None:
    assert unseal(SEALED, [ONE]) == unseal(SEALED, [OTHER, TWO]) == b"texts"
    assert problem(SEALED, OTHER) is FileProblem.WRONG_KEY
    assert problem(SEALED) is FileProblem.WRONG_KEY


def test_what_is_no_seal_is_said() -> None:
    assert problem(b"", ONE) is FileProblem.CUT_SHORT
    assert problem(b"age-encryption.org", ONE) is FileProblem.CUT_SHORT
    assert problem(SEALED[:-1], ONE) is FileProblem.DAMAGED
    assert problem(b"PK\3\4", ONE) is FileProblem.NOT_OURS
    assert problem(b"-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n", ONE) is FileProblem.REPACKED
    assert problem(b"age-encryption.org/v1\n" + bytes(52 * 2**20), ONE) is FileProblem.TOO_LARGE


def test_the_lock_is_told_without_a_key() -> None:
    assert lock_of(SEALED) is Lock.KEYS
    assert lock_of(seal_with_passphrase(b"", WORDS)) is Lock.PASSPHRASE
    assert lock_of(b"PK\3\4") is None
    assert problem(seal_with_passphrase(b"", WORDS), ONE) is FileProblem.LOCKED
    with pytest.raises(SealError) as refused:
        unseal_with_passphrase(SEALED, WORDS)
    assert refused.value.problem is FileProblem.LOCKED


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000])
def test_a_passphrase_seals_any_length(size: int) -> None:
    data = bytes(size)
    assert unseal_with_passphrase(seal_with_passphrase(data, WORDS), WORDS) == data


def test_a_wrong_passphrase_and_damage_are_told_apart() -> None:
    sealed = seal_with_passphrase(b"texts", WORDS)
    with pytest.raises(SealError) as refused:
        unseal_with_passphrase(sealed, "another passphrase")
    assert refused.value.problem is FileProblem.WRONG_KEY
    with pytest.raises(SealError) as refused:
        unseal_with_passphrase(sealed[:-1] + bytes([sealed[-1] ^ 1]), WORDS)
    assert refused.value.problem is FileProblem.DAMAGED


@pytest.mark.parametrize("work", ["21", "30", "63", "99"])
def test_a_file_that_would_take_the_laptop_down_is_not_opened(work: str) -> None:
    sealed = seal_with_passphrase(b"texts", WORDS).replace(b" 16\n", f" {work}\n".encode(), 1)
    with pytest.raises(SealError, match="memory"):
        unseal_with_passphrase(sealed, WORDS)


def test_a_file_for_thousands_of_recipients_is_not_tried() -> None:
    first, stanzas = SEALED.split(b"\n", 1)
    one = b"\n".join(stanzas.split(b"\n")[:2]) + b"\n"
    assert problem(first + b"\n" + one * 200_000 + stanzas, OTHER) is FileProblem.DAMAGED


def test_twenty_recipients_can_be_had() -> None:
    many = [AgeIdentity.make() for _ in range(20)]
    sealed = seal(b"texts", [each.recipient for each in many])
    assert unseal(sealed, [many[-1]]) == b"texts"


def test_the_memory_that_our_seal_asks_for() -> None:
    assert 128 * 8 * 2**passphrase.WORK == 64 * 2**20


@pytest.mark.parametrize(
    "typed",
    ["Kizun gorot sapos gipad", " kizun-gorot,sapos  gipad\n", "KIZUN\u2011GOROT SAPOS GIPAD"],
)
def test_a_passphrase_is_read_as_people_type_it(typed: str) -> None:
    assert typed_passphrase(typed) == WORDS


def test_a_short_passphrase_is_refused() -> None:
    with pytest.raises(SealError, match="too short"):
        typed_passphrase("- house -")


def test_two_seals_of_one_text_differ() -> None:
    assert seal(b"texts", [ONE.recipient]) != seal(b"texts", [ONE.recipient])
    assert seal_with_passphrase(b"", WORDS) != seal_with_passphrase(b"", WORDS)


@pytest.mark.parametrize(
    "text",
    ["", "age1", ONE.recipient[:-1], ONE.recipient + "q", "ssh-ed25519 AAAA", "\u1401"],
    ids=["nothing", "prefix", "too short", "too long", "of ssh", "of another script"],
)
def test_no_such_recipient_is_taken(text: str) -> None:
    with pytest.raises(SealError, match="no age recipient"):
        checked_recipient(text)
    with pytest.raises(SealError):
        seal(b"texts", [text])


def test_nothing_is_sealed_for_nobody() -> None:
    with pytest.raises(SealError, match="Nobody"):
        seal(b"texts", [])


def test_identity_files_are_read_with_their_comments(tmp_path: Path) -> None:
    file = tmp_path / "keys.txt"
    file.write_text(f"# created: today\n\n{ONE.text()}\r\n  {TWO.secret}\n")
    assert read_age_identities(file) == [ONE, TWO]
    assert ONE.recipient in ONE.text()


@pytest.mark.parametrize(
    "text",
    ["", "# only words\n", f"{ONE.recipient}\n", f"\n{ONE.secret[:-1]}\n", f"x\n{ONE.secret}\n"],
    ids=["nothing", "comment", "recipient", "too short", "words before"],
)
def test_what_is_no_identity_file_is_said_without_the_secret(tmp_path: Path, text: str) -> None:
    file = tmp_path / "keys.txt"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"keys\.txt: ") as refused:
        read_age_identities(file)
    assert ONE.secret[:30] not in str(refused.value)


def test_a_secret_is_never_shown_by_accident() -> None:
    assert "SECRET" not in repr(ONE)


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused_in_words(noise: bytes) -> None:
    for data in (noise, b"age-encryption.org/v1\n" + noise):
        problem(data, ONE)
    with pytest.raises(SealError):
        unseal_with_passphrase(b"age-encryption.org/v1\n-> scrypt " + noise, WORDS)
