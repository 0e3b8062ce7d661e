"""Keys of an installation and signatures; Merkle trees against published vectors; signed lines that name each other."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from itertools import permutations
from pathlib import Path

import keyring
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from keyring.errors import KeyringLocked

from harness.core.failures import KeyStoreError
from harness.sealed.archive import signed_record
from harness.sealed.chain import (
    ChainedRecord,
    chained_lines,
    inclusion_path,
    leaf_hash,
    node_hash,
    root_by_path,
    tree_root,
)
from harness.sealed.keys import (
    Identity,
    Role,
    key_phrase,
    new_seed,
    public_key,
    public_pem,
    sign,
    verify,
    write_private,
)
from harness.sealed.sealing import AgeIdentity, read_age_identities
from harness.sealed.strict_records import Count, StrictRecord
from tests.harness.sealed.refusals import refuses
from tests.keyring_in_memory import MemoryKeyring
from tests.review.thorough import examples


class Forgetful(MemoryKeyring):
    """Takes what it is given, and gives nothing back."""

    def get_password(self, service: str, username: str) -> str | None:
        return None


class Locked(MemoryKeyring):
    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("private words of a backend")


def test_keys_are_made_once_in_the_keyring(tmp_path: Path, memory_keyring: MemoryKeyring) -> None:
    made = Identity.load(tmp_path, Role.LAPTOP)
    assert Identity.load(tmp_path, "laptop") == made
    assert list(memory_keyring.kept.values()) == [made.text()]
    on_disk = "".join(p.read_text() for p in tmp_path.rglob("*") if p.is_file())
    assert made.seed.hex() not in on_disk
    assert "SECRET" not in on_disk
    other = Identity.load(tmp_path / "other", Role.LAPTOP)
    organisation = Identity.load(tmp_path, Role.ORGANISATION)
    assert len({made.public, other.public, organisation.public}) == 3
    assert Identity.load(tmp_path, Role.LAPTOP) == made
    in_a_file = Identity.make(Role.LAPTOP)  # a file goes before the keyring
    write_private(tmp_path / "laptop.key", in_a_file.text())
    assert Identity.load(tmp_path, Role.LAPTOP) == in_a_file != made


@pytest.mark.parametrize("ring", [NoKeyring, Forgetful], ids=["none", "forgetful"])
def test_keys_without_a_keyring_lie_in_a_file(tmp_path: Path, ring: type[KeyringBackend]) -> None:
    keyring.set_keyring(ring())
    folder = tmp_path / "data"
    made = Identity.load(folder, Role.ORGANISATION)
    file = folder / "organisation.key"
    assert file.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert Identity.load(folder, Role.ORGANISATION) == made
    assert read_age_identities(file) == [made.age]
    assert {path.name for path in folder.iterdir()} == {"organisation.key", "locks"}


def spoil_secret(folder: Path, _: MemoryKeyring) -> None:
    text = Identity.make(Role.LAPTOP).text()
    (folder / "laptop.key").write_text(text[:-3] + ("A" if text[-3] != "A" else "C") + text[-2:])


HARMS: dict[str, Callable[[Path, MemoryKeyring], object]] = {
    "lost": lambda _, ring: ring.kept.clear(),
    "locked": lambda *_: keyring.set_keyring(Locked()),
    "keyring taken away": lambda *_: keyring.set_keyring(NoKeyring()),
    "entry spoilt": lambda _, ring: setattr(ring, "kept", dict.fromkeys(ring.kept, "something else")),
    "pointer spoilt": lambda folder, _: (folder / "laptop.keyring").write_text("../../x"),
    "file spoilt": lambda folder, _: (folder / "laptop.key").write_text("AGE-SECRET-KEY-1" + "Q" * 58),
    "secret spoilt": spoil_secret,
    "no text": lambda folder, _: (folder / "laptop.key").write_bytes(b"\xff\xfe"),
}  # fmt: skip


@pytest.mark.parametrize("harm", HARMS)
def test_unreadable_keys_stay(tmp_path: Path, memory_keyring: MemoryKeyring, harm: str) -> None:
    before = Identity.load(tmp_path, Role.LAPTOP)
    HARMS[harm](tmp_path, memory_keyring)
    error = refuses(KeyStoreError, "", Identity.load, tmp_path, Role.LAPTOP)
    said = str(error)
    assert str(tmp_path) in said or "keyring gave" in said
    assert "SECRET" not in said
    assert "private words" not in said
    if harm == "lost":  # new ones can be asked for as the message says
        refuses(KeyStoreError, r"delete .*laptop\.keyring", Identity.load, tmp_path, Role.LAPTOP)
        (tmp_path / "laptop.keyring").unlink()
        assert Identity.load(tmp_path, Role.LAPTOP) != before


def test_keys_in_a_folder_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refuses(KeyStoreError, "ROSETTA_HOME", Identity.load, tmp_path / "file", Role.LAPTOP)
    write_private(tmp_path / "key", "one")
    refuses(FileExistsError, "", write_private, tmp_path / "key", "two")
    assert (tmp_path / "key").read_text() == "one"
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: Identity.load(tmp_path, Role.LAPTOP), range(16)))
    assert len({each.public for each in made}) == 1


ASK = """
import sys
from pathlib import Path
from harness.sealed.keys import Identity
print(Identity.load(Path(sys.argv[1]), "laptop").public.signing_key)
"""


@pytest.mark.thorough
def test_keys_of_processes_at_once_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    told = [sys.executable, "-c", ASK, str(tmp_path)]
    asking = [subprocess.Popen(told, stdout=subprocess.PIPE) for _ in range(2)]
    assert len({process.communicate()[0] for process in asking}) == 1
    assert all(process.returncode == 0 for process in asking)


def test_signature_verifies_and_keys_show_no_secret() -> None:
    made = Identity.make(Role.LAPTOP)
    assert verify(made.public.signing_key, b"text", made.sign(b"text"))
    assert made.public.recipient == made.age.recipient
    assert made.public.phrase == key_phrase(made.public.signing_key)
    plain = repr(Identity(Role.LAPTOP, bytes(32), AgeIdentity.make()))
    assert "SECRET" not in plain
    assert "x00" not in plain
    # of the first public key of RFC 8032
    key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert key_phrase(key) == "eggplant ballet pumice furlong filter crisis"
    assert key_phrase(key, earlier=True) == "famuy gamiz rakih rapod lapos zodih"


# RFC 8032, section 7.1: seed, public key, message, signature
VECTORS = [
    ("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"),
    ("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"),
]  # fmt: skip


def test_vectors_of_the_rfc_verify_and_other_bytes_do_not() -> None:
    for told in VECTORS:
        seed, _, message, signature = map(bytes.fromhex, told)
        assert (public_key(seed), sign(seed, message)) == (told[1], signature)
        assert verify(told[1], message, signature)
    seed = new_seed()
    public, signature = public_key(seed), sign(seed, b"text")
    assert verify(public, b"text", signature)
    assert not verify(public, b"texts", signature)
    assert not verify(public_key(new_seed()), b"text", signature)
    assert not verify("no key", b"text", signature)
    assert not verify(public[:-2], b"text", signature)
    assert not verify(public, b"text", b"")
    # the order of the group added to the second half: the same equation, another encoding
    order = 2**252 + 27742317777372353535851937790883648493
    second = (int.from_bytes(signature[32:], "little") + order).to_bytes(32, "little")
    assert not verify(public, b"text", signature[:32] + second)
    # RFC 8410, section 10.1
    pem = public_pem("19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1")
    key = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="
    assert pem == f"-----BEGIN PUBLIC KEY-----\n{key}\n-----END PUBLIC KEY-----\n"


LEAVES = [
    bytes.fromhex(each)
    for each in (
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
    )
]  # fmt: skip
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
"""Root of the first n leaves, n from 0 (certificate-transparency: testonly constants, RFC 6962)."""

PATHS = [
    (0, 1, []),
    (0, 8, [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ]),
    (5, 8, [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]),
    (2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]),
    (1, 5, [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ]),
]  # fmt: skip
"""Place, leaves, and the published path between them."""


def hashes(count: int) -> list[bytes]:
    return [leaf_hash(each) for each in LEAVES[:count]]


def test_the_published_roots_and_paths() -> None:
    assert [tree_root(hashes(count)).hex() for count in range(len(ROOTS))] == ROOTS
    for place, count, path in PATHS:
        assert [each.hex() for each in inclusion_path(hashes(count), place)] == path
        told = [bytes.fromhex(each) for each in path]
        assert root_by_path(leaf_hash(LEAVES[place]), place, count, told).hex() == ROOTS[count]


def by_definition(leaves: list[bytes]) -> bytes:
    """RFC 9162 §2.1.1, word by word."""
    if len(leaves) < 2:
        return sha256(b"\0" + leaves[0]).digest()
    part = 1
    while part * 2 < len(leaves):
        part *= 2
    return sha256(b"\1" + by_definition(leaves[:part]) + by_definition(leaves[part:])).digest()


@examples(30, 60)
@given(st.integers(1, 70), st.data())
def test_each_leaf_leads_to_the_root_from_its_place_only(size: int, data: st.DataObject) -> None:
    contents = [bytes([number]) for number in range(size)]
    leaves = [leaf_hash(each) for each in contents]
    root = tree_root(leaves)
    assert root == by_definition(contents)
    place = data.draw(st.integers(0, size - 1))
    path = inclusion_path(leaves, place)
    assert root_by_path(leaves[place], place, size, path) == root
    elsewhere = data.draw(st.integers(-2, size + 2).filter(lambda each: each != place))
    assert root_by_path(leaves[place], elsewhere, size, path) != root
    other = data.draw(st.sampled_from([path[:-1], [*path, root], [*path[::-1], root]]))
    if other != path:
        assert root_by_path(leaves[place], place, size, other) != root


def test_a_node_is_no_leaf() -> None:
    # without the prefixes the four nodes above eight leaves would be a tree of four leaves with the same root
    leaves = hashes(8)
    root = tree_root(leaves)
    pairs = [one + two for one, two in zip(leaves[::2], leaves[1::2], strict=True)]
    assert tree_root([leaf_hash(each) for each in pairs]) != root
    path = inclusion_path(leaves, 0)[1:]
    assert root_by_path(node_hash(*leaves[:2]), 0, 4, path) == root  # its own hash would do
    assert root_by_path(leaf_hash(pairs[0]), 0, 4, path) != root  # what is shown as a leaf does not


# Signed lines

ME = Identity.make(Role.COMPUTER)


class Said(StrictRecord):
    seq: Count
    prev: str
    words: str


class SignedSaid(Said, ChainedRecord):
    pass


def written(words: Sequence[str]) -> list[bytes]:
    made: list[bytes] = []
    for place, each in enumerate(words):
        prev = sha256(made[-1]).hexdigest() if made else ""
        made.append(signed_record(Said(seq=place, prev=prev, words=each), ME))
    return made


def read(contents: Sequence[bytes]) -> list[str]:
    def wrong(place: int, reason: str) -> Exception:
        return LookupError(f"line {place}: {reason}")

    lines = chained_lines(contents, SignedSaid, "a line", wrong, most=4096)
    return [line.words for line, content in lines if content in contents]


def test_lines_in_their_order_are_read_and_no_other_order() -> None:
    lines = written(["one", "two", "three"])
    assert read(lines) == ["one", "two", "three"]
    assert read(lines[:2]) == ["one", "two"], "what is cut at the end is known elsewhere"
    assert read([]) == []
    for count in (1, 2, 3):
        for other in permutations(lines, count):
            if list(other) != lines[:count]:
                refuses(LookupError, "a line before it is missing", read, other)
    others = written(["eins", "zwei"])
    words = "line 1: a line before it is missing"
    refuses(LookupError, words, read, [others[0], lines[1]])


def test_lines_in_another_form_do_not_count() -> None:
    first, second = written(["one", "two"])
    for other in (second + b" ", json.dumps(json.loads(second)).encode(), second.replace(b'"two"', b'"tw\\u006f"')):
        refuses(LookupError, "line 1: it is not written in the one canonical form", read, [first, other])
    refuses(LookupError, "line 1: it is not a line of this form", read, [first, b"{}"])
