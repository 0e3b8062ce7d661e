"""An opening key split M of N: each M shares give it back, fewer tell nothing, and what was typed wrong is named."""

import json
import pickle
from itertools import combinations
from pathlib import Path

import pytest
import shamir_mnemonic
from hypothesis import given
from hypothesis import strategies as st

from harness.sealed.forms import FileProblem
from harness.sealed.sealing import AgeIdentity, seal, unseal
from harness.sealed.signature import verify
from harness.vault.log import VaultError
from harness.vault.shares.split import NUMBERS, WORDS, KeyShare, OpeningKey, combine, split
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.made import refused
from tests.review.thorough import examples

VECTORS = Path(__file__).parents[2] / "data" / "slip39.json"
"""Those of the standard with 33 words a share, as its authors publish them; their passphrase is TREZOR."""


@pytest.mark.parametrize(("count", "threshold"), [(5, 3), (7, 4)])
def test_each_subset_of_m_opens_and_none_of_one_less(count: int, threshold: int) -> None:
    key = OpeningKey.make()
    sealed = seal(b"a data key", [key.recipient])
    shares = split(key, threshold, count, number=7)
    for chosen in combinations(shares, threshold):
        assert unseal(sealed, [combine(chosen).age]) == b"a data key"
    for chosen in combinations(shares, threshold - 1):
        refused(f"{threshold - 1} of {threshold} shares", combine, chosen)


@examples(8, 25)
@given(
    secret=st.binary(min_size=32, max_size=32),
    counts=st.integers(2, 16).flatmap(lambda n: st.tuples(st.just(n), st.integers(2, n))),
    number=st.integers(0, NUMBERS - 1),
    draw=st.data(),
)
def test_shares_that_went_over_paper_give_the_key_back(
    secret: bytes, counts: tuple[int, int], number: int, draw: st.DataObject
) -> None:
    count, threshold = counts
    shares = split(OpeningKey(secret), threshold, count, number)
    told = [(each.number, each.threshold, each.place) for each in shares]
    assert told == [(number, threshold, place) for place in range(count)]
    chosen = draw.draw(st.permutations(shares))[: draw.draw(st.integers(threshold, count))]
    typed = [
        ", ".join(f"{n} {word.upper()}\n" for n, word in enumerate(each.words.reveal().split(), 1))
        for each in chosen
    ]
    key = combine([*map(KeyShare.read, typed), chosen[0]])  # one that is there twice is no matter
    assert key.secret == secret
    assert [KeyShare.read(each).check for each in typed] == [each.check for each in chosen]


def test_fewer_shares_that_call_themselves_enough_give_no_key() -> None:
    """Who changes the threshold in the words, and their check with it, gets another key or none."""
    key = OpeningKey.make()
    sealed = seal(b"a data key", [key.recipient])
    for number in range(8):
        forged = []
        for each in split(key, 3, 5, number)[:2]:
            share = shamir_mnemonic.Share.from_mnemonic(each.words.reveal())
            fields = {**share.__dict__, "member_threshold": 2}
            forged.append(KeyShare.read(shamir_mnemonic.Share(**fields).mnemonic()))
        refused("", lambda shares: unseal(sealed, [combine(shares).age]), forged)


def test_shares_of_two_splittings_do_not_mix() -> None:
    key = OpeningKey.make()
    old, new, other = (split(k, 2, 3, n) for k, n in ((key, 1), (key, 2), (OpeningKey.make(), 2)))
    refused("not of one splitting", combine, [old[0], new[1]])
    refused("do not belong together", combine, [new[0], other[1]])
    assert combine(old[:2]).secret == combine(new[1:]).secret  # as the page says


@pytest.mark.parametrize("case", json.loads(VECTORS.read_text()), ids=lambda case: case["what"])
def test_vectors_of_the_standard(case: dict[str, str | list[str]]) -> None:
    if not case["secret"]:
        refused("", combine, map(KeyShare.read, case["shares"]))
        return
    key = combine(map(KeyShare.read, case["shares"]))
    known = shamir_mnemonic.Share.from_mnemonic(case["shares"][0])
    more = known.iteration_exponent, known.identifier, known.extendable
    hidden = shamir_mnemonic.encrypt(key.secret, b"", *more)
    assert shamir_mnemonic.decrypt(hidden, b"TREZOR", *more).hex() == case["secret"]


def test_what_was_typed_wrong_is_named() -> None:
    words = split(OpeningKey(bytes(range(32))), 2, 3, 5)[0].words.reveal().split()
    listed = shamir_mnemonic.wordlist.WORDLIST

    def said(typed: list[str]) -> str:
        with pytest.raises(VaultError) as caught:
            KeyShare.read(" ".join(typed))
        return str(caught.value)

    other = next(each for each in listed if each not in words)
    assert len(words) == WORDS
    for place in (0, 1, 2, 4, 15, 29, 30, 31, 32):
        typed = [*words[:place], other, *words[place + 1 :]]
        assert f"Word {place + 1}, {other!r}, is a different one" in said(typed)
    swapped = [*words[:20], words[21], words[20], *words[22:]]
    assert "Words 21 and 22 are swapped" in said(swapped)
    slipped = [*words[:2], words[2] + "x", *words[3:]]
    assert f"Word 3, {words[2] + 'x'!r}" in said(slipped)
    assert f"Is it {words[2]}?" in said(slipped)
    assert "there are 32 here" in said(words[1:])
    assert "there are 0 here" in said([])
    assert "Word 1, 'мова'" in said(["мова", *words[1:]])
    assert "More than one" in said([other, *words[1:11], other, *words[12:]])


def test_words_of_other_kinds_are_said() -> None:
    """SLIP-39 knows shares of one and groups of groups; none of them is of a vault."""
    [[alone]] = shamir_mnemonic.generate_mnemonics(1, [(1, 1)], bytes(32))
    groups = shamir_mnemonic.generate_mnemonics(2, [(2, 2), (2, 3)], bytes(32))
    for words in (alone, groups[0][0], groups[1][0]):
        with pytest.raises(VaultError) as caught:
            KeyShare.read(words)
        assert caught.value.problem is FileProblem.NOT_OURS


@pytest.mark.parametrize(("threshold", "count"), [(1, 3), (0, 3), (4, 3), (2, 17), (17, 17)])
def test_numbers_of_which_no_splitting_can_be_made(threshold: int, count: int) -> None:
    refused("", split, OpeningKey.make(), threshold, count, 0)


def test_nothing_shows_or_copies_a_key_or_a_share() -> None:
    key = OpeningKey(b"kanariobirdo" + bytes(20))
    share = split(key, 2, 2, 0)[0]
    assert "kanario" not in repr(key)
    assert not {*share.words.reveal().split()} & {*repr(share).split()}
    for each in (key, share):
        refuses(TypeError, "", pickle.dumps, each)


def test_the_key_is_an_age_identity_and_signs() -> None:
    """The recipient of 32 bytes of value 9 is not ours: the library that opens checks form and letters of a key."""
    key = OpeningKey(bytes([9]) * 32)
    assert AgeIdentity.read(key.age.secret) == key.age
    assert len(key.recipient) == 62
    assert verify(key.signing_key, b"data", key.sign(b"data"))
    assert not verify(OpeningKey.make().signing_key, b"data", key.sign(b"data"))
    assert key.signing_key != key.secret.hex()


@examples(25, 100)
@given(secret=st.binary(min_size=32, max_size=32))
def test_every_secret_is_written_as_age_writes_it(secret: bytes) -> None:
    made = AgeIdentity.of(secret)  # whose library refuses a key of which one letter is wrong
    assert unseal(seal(b"x", [made.recipient]), [made]) == b"x"
