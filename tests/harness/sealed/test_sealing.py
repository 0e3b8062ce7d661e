"""Seals and check phrases: the right key opens, nothing else does; six words tell files apart."""

import contextlib
import itertools
import re
from hashlib import scrypt, sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.failures import UsageError
from harness.sealed import sealing
from harness.sealed.phrase import LIST, PhraseError, draw_words, made_up, phrase, read_words, says
from harness.sealed.sealing import (
    AgeIdentity,
    Lock,
    SealError,
    checked_recipient,
    lock_of,
    read_age_identities,
    seal,
    seal_with_passphrase,
    typed_passphrase,
    unseal,
    unseal_with_passphrase,
)
from harness.sealed.strict_records import FileProblem
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples

ONE, TWO, OTHER = AgeIdentity.make(), AgeIdentity.make(), AgeIdentity.make()
SEALED = seal(b"texts", [ONE.recipient, TWO.recipient])
WORDS = "kizun gorot sapos gipad"
WORK = sealing.WORK
"""What a passphrase costs in the program; in these tests it is cheap."""


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "WORK", 2)


def problem(data: bytes, *identities: AgeIdentity) -> FileProblem:
    return FileProblem(refuses(SealError, r"\.$", unseal, data, identities).problem)


def problem_of_words(data: bytes, words: str = WORDS) -> FileProblem:
    return FileProblem(refuses(SealError, "", unseal_with_passphrase, data, words).problem)


def test_seal_is_opened_by_each_recipient_alone_and_nobody_else() -> None:
    assert unseal(SEALED, [ONE]) == unseal(SEALED, [OTHER, TWO]) == b"texts"
    assert problem(SEALED, OTHER) is FileProblem.WRONG_KEY
    assert problem(SEALED) is FileProblem.WRONG_KEY
    many = [AgeIdentity.make() for _ in range(20)]
    assert unseal(seal(b"texts", [each.recipient for each in many]), [many[-1]]) == b"texts"
    assert seal(b"texts", [ONE.recipient]) != seal(b"texts", [ONE.recipient])
    refuses(SealError, "Nobody", seal, b"texts", [])


def test_what_is_no_seal_is_said() -> None:
    assert problem(b"", ONE) is FileProblem.CUT_SHORT
    assert problem(b"age-encryption.org", ONE) is FileProblem.CUT_SHORT
    assert problem(SEALED[:-1], ONE) is FileProblem.DAMAGED
    assert problem(b"PK\3\4", ONE) is FileProblem.NOT_OURS
    assert problem(b"-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n", ONE) is FileProblem.REPACKED
    assert problem(b"age-encryption.org/v1\n" + bytes(52 * 2**20), ONE) is FileProblem.TOO_LARGE
    head, stanzas = SEALED.split(b"\n", 1)
    one = b"\n".join(stanzas.split(b"\n")[:2]) + b"\n"  # thousands of recipients are not tried
    assert problem(head + b"\n" + one * 200_000 + stanzas, OTHER) is FileProblem.DAMAGED


def test_lock_is_told_without_a_key() -> None:
    assert lock_of(SEALED) is Lock.KEYS
    assert lock_of(seal_with_passphrase(b"", WORDS)) is Lock.PASSPHRASE
    assert lock_of(b"PK\3\4") is None
    assert problem(seal_with_passphrase(b"", WORDS), ONE) is FileProblem.LOCKED
    assert problem_of_words(SEALED) is FileProblem.LOCKED


def test_passphrase_seals_any_length() -> None:
    for size in (0, 1, 65_535, 65_536, 65_537, 131_072, 200_000):
        data = bytes(size)
        assert unseal_with_passphrase(seal_with_passphrase(data, WORDS), WORDS) == data


def test_passphrase_costs_64_mebibytes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 128 * 8 * 2**WORK == 64 * 2**20
    monkeypatch.setattr(sealing, "WORK", WORK)
    sealed = seal_with_passphrase(b"texts", WORDS)
    assert b" 16\n" in sealed[:80]
    assert unseal_with_passphrase(sealed, WORDS) == b"texts"


def test_wrong_passphrase_and_damage_are_told_apart() -> None:
    sealed = seal_with_passphrase(b"texts", WORDS)
    assert problem_of_words(sealed, "another passphrase") is FileProblem.WRONG_KEY
    assert problem_of_words(sealed[:-1] + bytes([sealed[-1] ^ 1])) is FileProblem.DAMAGED
    assert seal_with_passphrase(b"", WORDS) != seal_with_passphrase(b"", WORDS)


def test_passphrase_takes_no_laptop_down_and_is_read_as_typed() -> None:
    for work in (b"21", b"30", b"63", b"99"):
        sealed = seal_with_passphrase(b"texts", WORDS).replace(b" 2\n", b" %s\n" % work, 1)
        refuses(SealError, "memory", unseal_with_passphrase, sealed, WORDS)
    for typed in ("Kizun gorot sapos gipad", " kizun-gorot,sapos  gipad\n", "KIZUN\u2011GOROT SAPOS GIPAD"):
        assert typed_passphrase(typed) == WORDS
    refuses(SealError, "too short", typed_passphrase, "- house -")


def test_recipient_that_is_none_is_refused() -> None:
    for text in ("", "age1", ONE.recipient[:-1], ONE.recipient + "q", "ssh-ed25519 AAAA", "\u1401"):
        refuses(SealError, "no age recipient", checked_recipient, text)
        refuses(SealError, "", seal, b"texts", [text])


def test_identity_file_is_read_with_comments_and_shows_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "keys.txt"
    file.write_text(f"# created: today\n\n{ONE.text()}\r\n  {TWO.secret}\n")
    assert read_age_identities(file) == [ONE, TWO]
    assert ONE.recipient in ONE.text()
    assert "SECRET" not in repr(ONE)
    for text in ("", "# only words\n", f"{ONE.recipient}\n", f"\n{ONE.secret[:-1]}\n", f"x\n{ONE.secret}\n"):
        file.write_text(text)
        error = refuses(UsageError, r"keys\.txt: ", read_age_identities, file)
        assert ONE.secret[:30] not in str(error)


@examples(50, 200)
@given(st.binary(max_size=200))
def test_seal_of_any_bytes_is_refused_in_words(noise: bytes) -> None:
    for data in (noise, b"age-encryption.org/v1\n" + noise):
        problem(data, ONE)
    problem_of_words(b"age-encryption.org/v1\n-> scrypt " + noise)


DIGEST = sha256(b"Rosetta").hexdigest()
SIX, EARLIER = phrase(DIGEST), phrase(DIGEST, earlier=True)

NOT_TOGETHER = (
    "These six words do not belong together: one of them is another word, or two are swapped. Compare them one by one."
)


def changed_once(word: str) -> set[str]:
    """Return what a word becomes when one letter is left out, added, another, or swapped with the next."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    parts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    return {
        *(a + b[1:] for a, b in parts if b),
        *(a + letter + b for a, b in parts for letter in alphabet),
        *(a + letter + b[1:] for a, b in parts if b for letter in alphabet),
        *(a + b[1] + b[0] + b[2:] for a, b in parts if len(b) > 1),
    } - {word}


def test_word_list_can_be_copied_and_never_changes() -> None:
    listed = set(LIST)
    assert len(LIST) == len(listed) == 2**11
    assert list(LIST) == sorted(LIST)
    assert all(re.fullmatch(r"[a-z]{4,8}", word) for word in LIST)
    assert len({word[:4] for word in LIST}) == len(LIST)
    assert [word for word in LIST[::8] if changed_once(word) & listed] == []
    assert sha256("\n".join(LIST).encode()).hexdigest() == "b8322117e57f930d2d2d17f8fbd2f7cbe537586e9d67d1efea89bbef65b28875"  # fmt: skip


def test_six_words_are_a_stretched_digest_and_six_check_bits() -> None:
    """The same by other means: another library's scrypt, and bits as text."""
    salt = b"rosetta-check-phrase"
    stretched = scrypt(bytes.fromhex(DIGEST), salt=salt, n=2**11, r=8, p=1, dklen=8)
    bits = "".join(f"{byte:08b}" for byte in stretched)[:60]
    checks = f"{sha256(int(bits, 2).to_bytes(8, 'big')).digest()[0]:08b}"[:6]
    eleven = re.findall("." * 11, bits + checks)
    assert SIX.split() == [LIST[int(each, 2)] for each in eleven]
    assert made_up(bytes.fromhex("000000010010ffff")) == "babab babad babib zuzuz"
    assert made_up(bytes.fromhex(DIGEST[:24])) == EARLIER
    assert len({made_up(number.to_bytes(2, "big")) for number in range(2**16)}) == 2**16


@examples(10, 25)
@given(st.binary(min_size=32, max_size=32), st.integers(0, 255), st.booleans())
def test_one_changed_bit_changes_the_phrase(digest: bytes, bit: int, earlier: bool) -> None:
    changed = bytearray(digest)
    changed[bit % (96 if earlier else 256) // 8] ^= 1 << bit % 8
    assert phrase(digest.hex(), earlier=earlier) != phrase(changed.hex(), earlier=earlier)


@pytest.mark.parametrize("said", [SIX, EARLIER])
@pytest.mark.parametrize("between", [" ", "  ", "-", ", ", "\n", "\u2011", "."])
def test_words_are_read_as_people_type_them(said: str, between: str) -> None:
    assert read_words(f"  {said.upper().replace(' ', between)}\n") == said
    assert says(read_words(said), DIGEST)
    assert not says(read_words(said), sha256(b"another").hexdigest())


def why_not(typed: str) -> str:
    try:
        read_words(typed)
    except PhraseError as error:
        return str(error)
    return ""


def test_another_word_and_swapped_words_are_told() -> None:
    """Six bits check sixty: of all ways to get one word wrong, about one in 64 is not told."""
    words = SIX.split()
    wrong = [" ".join([*words[:at], w, *words[at + 1 :]]) for at in range(6) for w in LIST if w != words[at]]
    told = sum(why_not(each) == NOT_TOGETHER for each in wrong)
    assert 0.98 < told / len(wrong) < 0.99
    for one, other in itertools.combinations(range(6), 2):
        swapped = list(words)
        swapped[one], swapped[other] = swapped[other], swapped[one]
        assert why_not(" ".join(swapped)) == NOT_TOGETHER


@pytest.mark.parametrize(("typed", "said"), [
    ("", "No word"), ("gardn dog cat house tree bird", "Word 1, 'gardn', .* Is it 'garden'"),
    ("garden lettuse", "Word 2, 'lettuse', .* 'lettuce'"), ("garden \u1401", "Word 2"),
    ("garden lettuce zebra", "There are 6 words, and 3 were typed"),
    ("kizun gorot sapox babab dabab vabab", "Word 3 cannot be right"),
])  # fmt: skip
def test_word_that_is_none_is_named_with_the_nearest(typed: str, said: str) -> None:
    refuses(PhraseError, said, read_words, typed)


@examples(15, 50)
@given(st.sampled_from(LIST), st.data())
def test_one_slip_is_no_word_and_the_right_one_is_offered(word: str, data: st.DataObject) -> None:
    slip = data.draw(st.sampled_from(sorted(changed_once(word))))
    assert repr(word) in why_not(" ".join([*SIX.split()[:5], slip]))


@examples(25, 100)
@given(st.text(max_size=80))
def test_anything_typed_is_read_or_refused_in_words(typed: str) -> None:
    with contextlib.suppress(PhraseError):
        assert read_words(read_words(typed)) == read_words(typed)


def test_drawn_words_differ() -> None:
    assert len({draw_words() for _ in range(50)}) == 50
    assert len(draw_words(4).split()) == 4
