"""Keys of an installation, and signatures: kept where they can be, changed by nobody."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from keyring.errors import KeyringLocked

from harness.core.failures import KeyStoreError
from harness.sealed.keys import Identity, Role, key_phrase, write_private
from harness.sealed.sealing import AgeIdentity, read_age_identities
from harness.sealed.signature import new_seed, public_key, public_pem, sign, verify
from tests.harness.sealed.refusals import refuses
from tests.keyring_in_memory import MemoryKeyring


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


def test_keys_of_threads_that_come_first_together_are_one(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: Identity.load(tmp_path, Role.LAPTOP), range(16)))
    assert len({each.public for each in made}) == 1


ASK = """
import sys
from pathlib import Path
from harness.sealed.keys import Identity
print(Identity.load(Path(sys.argv[1]), "laptop").public.signing_key)
"""


@pytest.mark.costly("two processes race for one key")
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


def test_words_of_a_key_are_pinned() -> None:
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
    pem = public_pem("19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1")
    key = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="
    assert pem == f"-----BEGIN PUBLIC KEY-----\n{key}\n-----END PUBLIC KEY-----\n"
