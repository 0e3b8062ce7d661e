"""Keys of an installation, and signatures: kept where they can be, changed by nobody."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from keyring.errors import KeyringLocked

from harness.core.failures import KeyStoreError
from harness.sealed.keys import Identity, Role, key_phrase, write_private
from harness.sealed.sealing import AgeIdentity, read_age_identities
from harness.sealed.signature import new_seed, public_key, public_pem, sign, verify
from tests.keyring_in_memory import MemoryKeyring


class Forgetful(MemoryKeyring):
    """Takes what it is given, and gives nothing back."""

    def get_password(self, service: str, username: str) -> str | None:
        return None


class Locked(MemoryKeyring):
    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("private words of a backend")


def secrets_of(folder: Path) -> str:
    return "".join(p.read_text() for p in folder.rglob("*") if p.is_file())


def test_keys_are_made_once_and_kept_in_the_keyring(
    tmp_path: Path, memory_keyring: MemoryKeyring
) -> None:
    made = Identity.load(tmp_path, Role.LAPTOP)
    assert Identity.load(tmp_path, "laptop") == made
    assert list(memory_keyring.kept.values()) == [made.text()]
    assert made.seed.hex() not in secrets_of(tmp_path)
    assert "SECRET" not in secrets_of(tmp_path)


def test_two_folders_on_one_machine_never_share_a_key(tmp_path: Path) -> None:
    one, two = (
        Identity.load(tmp_path / "one", Role.LAPTOP),
        Identity.load(tmp_path / "two", Role.LAPTOP),
    )
    organisation = Identity.load(tmp_path / "one", Role.ORGANISATION)
    assert len({one.public, two.public, organisation.public}) == 3
    assert Identity.load(tmp_path / "one", Role.LAPTOP) == one


@pytest.mark.parametrize("ring", [NoKeyring, Forgetful], ids=["none", "forgetful"])
def test_without_a_keyring_they_lie_in_a_private_file(
    tmp_path: Path, ring: type[KeyringBackend]
) -> None:
    keyring.set_keyring(ring())
    folder = tmp_path / "data"
    made = Identity.load(folder, Role.ORGANISATION)
    file = folder / "organisation.key"
    assert file.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert Identity.load(folder, Role.ORGANISATION) == made
    assert read_age_identities(file) == [made.age]
    assert {path.name for path in folder.iterdir()} == {"organisation.key", "locks"}


def test_a_file_goes_before_the_keyring(tmp_path: Path, memory_keyring: MemoryKeyring) -> None:
    in_ring = Identity.load(tmp_path, Role.LAPTOP)
    other = Identity.make(Role.LAPTOP)
    write_private(tmp_path / "laptop.key", other.text())
    assert Identity.load(tmp_path, Role.LAPTOP) == other != in_ring


def lose(folder: Path, ring: MemoryKeyring) -> None:
    ring.kept.clear()


def lock(folder: Path, ring: MemoryKeyring) -> None:
    keyring.set_keyring(Locked())


def take_away(folder: Path, ring: MemoryKeyring) -> None:
    keyring.set_keyring(NoKeyring())


def spoil_entry(folder: Path, ring: MemoryKeyring) -> None:
    ring.kept = dict.fromkeys(ring.kept, "something else")


def spoil_pointer(folder: Path, ring: MemoryKeyring) -> None:
    (folder / "laptop.keyring").write_text("../../x")


def spoil_file(folder: Path, ring: MemoryKeyring) -> None:
    (folder / "laptop.key").write_text("AGE-SECRET-KEY-1" + "Q" * 58)


def spoil_secret(folder: Path, ring: MemoryKeyring) -> None:
    text = Identity.make(Role.LAPTOP).text()
    (folder / "laptop.key").write_text(text[:-3] + ("A" if text[-3] != "A" else "C") + text[-2:])


def no_text(folder: Path, ring: MemoryKeyring) -> None:
    (folder / "laptop.key").write_bytes(b"\xff\xfe")


@pytest.mark.parametrize(
    "harm",
    [lose, lock, take_away, spoil_entry, spoil_pointer, spoil_file, spoil_secret, no_text],
)
def test_keys_that_cannot_be_read_are_never_replaced(
    tmp_path: Path, memory_keyring: MemoryKeyring, harm: Any
) -> None:
    Identity.load(tmp_path, Role.LAPTOP)
    harm(tmp_path, memory_keyring)
    with pytest.raises(KeyStoreError) as refused:
        Identity.load(tmp_path, Role.LAPTOP)
    assert str(tmp_path) in str(refused.value) or "keyring gave" in str(refused.value)
    assert "SECRET" not in str(refused.value)
    assert "private words" not in str(refused.value)


def test_new_keys_can_be_asked_for_as_the_message_says(
    tmp_path: Path, memory_keyring: MemoryKeyring
) -> None:
    before = Identity.load(tmp_path, Role.LAPTOP)
    memory_keyring.kept.clear()
    with pytest.raises(KeyStoreError, match=r"delete .*laptop\.keyring"):
        Identity.load(tmp_path, Role.LAPTOP)
    (tmp_path / "laptop.keyring").unlink()
    assert Identity.load(tmp_path, Role.LAPTOP) != before


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(KeyStoreError, match="ROSETTA_HOME"):
        Identity.load(tmp_path / "file", Role.LAPTOP)


def test_threads_that_come_first_together_get_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: Identity.load(tmp_path, Role.LAPTOP), range(16)))
    assert len({each.public for each in made}) == 1


ASK = """
import sys
from pathlib import Path
from harness.sealed.keys import Identity
print(Identity.load(Path(sys.argv[1]), "laptop").public.signing_key)
"""


def test_processes_that_come_first_together_get_one_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    asking = [
        subprocess.Popen([sys.executable, "-c", ASK, tmp_path], stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    assert len({process.communicate()[0] for process in asking}) == 1
    assert all(process.returncode == 0 for process in asking)


def test_what_it_signs_verifies_under_its_public_key() -> None:
    made = Identity.make(Role.LAPTOP)
    assert verify(made.public.signing_key, b"text", made.sign(b"text"))
    assert made.public.recipient == made.age.recipient
    assert made.public.phrase == key_phrase(made.public.signing_key)


def test_the_words_of_a_key_are_pinned() -> None:
    # of the first public key of RFC 8032
    key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert key_phrase(key) == "eggplant ballet pumice furlong filter crisis"
    assert key_phrase(key, earlier=True) == "famuy gamiz rakih rapod lapos zodih"


def test_no_secret_is_shown_by_accident() -> None:
    made = Identity(Role.LAPTOP, bytes(32), AgeIdentity.make())
    assert "SECRET" not in repr(made)
    assert "x00" not in repr(made)


def test_a_secret_never_replaces_a_file(tmp_path: Path) -> None:
    write_private(tmp_path / "key", "one")
    with pytest.raises(FileExistsError):
        write_private(tmp_path / "key", "two")
    assert (tmp_path / "key").read_text() == "one"


# RFC 8032, section 7.1: seed, public key, message, signature
VECTORS = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
            "d25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
            "387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
]


@pytest.mark.parametrize(("seed", "public", "message", "signature"), VECTORS)
def test_the_vectors_of_the_rfc(seed: str, public: str, message: str, signature: str) -> None:
    assert public_key(bytes.fromhex(seed)) == public
    assert sign(bytes.fromhex(seed), bytes.fromhex(message)).hex() == signature
    assert verify(public, bytes.fromhex(message), bytes.fromhex(signature))


def test_other_bytes_keys_and_signatures_do_not_verify() -> None:
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


def test_the_text_form_is_that_of_rfc_8410() -> None:
    # RFC 8410, section 10.1
    assert public_pem("19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1") == (
        "-----BEGIN PUBLIC KEY-----\n"
        "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
        "-----END PUBLIC KEY-----\n"
    )
