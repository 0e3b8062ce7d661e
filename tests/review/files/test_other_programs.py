"""The commands of docs/internals/review-files.md, run by the real programs on real files."""

import os
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from harness.sealed.keys import write_private
from harness.sealed.phrase import LIST, made_up, phrase
from harness.sealed.sealing import AgeIdentity, read_age_identities, seal_with_passphrase, unseal
from review.files.batch import open_batch, write_batch
from review.files.identities import read_code, write_laptop_card
from review.files.manifests import Organisation
from review.files.ratings import open_ratings, write_ratings
from review.office.results.results import governance_bundle
from tests.harness.sealed.refusals import refuses
from tests.review.files.made import LAPTOP, ORGANISATION, PEOPLE, REVIEWERS, batch, events
from tests.review.office.made import desk

PAGE = (Path(__file__).parents[3] / "docs" / "internals" / "review-files.md").read_text()
COMMANDS: list[str] = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
VECTORS: list[str] = re.findall(r"^```vector\n(.*?)\n```", PAGE, re.MULTILINE | re.DOTALL)
LISTED = Path(__file__).parents[3] / "docs" / "check-words.txt"
PROGRAMS = ("age", "age-keygen", "openssl", "unzip", "xxd", "sha256sum", "bash")

needs_programs = pytest.mark.skipif(
    not all(map(shutil.which, PROGRAMS)), reason=f"needs the programs {', '.join(PROGRAMS)}"
)
needs_age = pytest.mark.skipif(not shutil.which("age"), reason="needs the program age")

VERIFIED = "Signature Verified Successfully"


def run(folder: Path, commands: list[str]) -> str:
    """Run blocks of the page as one script that stops at the first failure; gives all it said."""
    done = subprocess.run(
        ["bash", "-c", "set -euo pipefail\n" + "\n".join(commands)], cwd=folder, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8"},
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


def block(beginning: str) -> str:
    (found,) = [each for each in COMMANDS if each.startswith(beginning)]
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the page supposes: files of a review whose recovery key the real program made."""
    run(tmp_path, [block("age-keygen")])
    (recovery,) = read_age_identities(tmp_path / "recovery.txt")
    organisation = Organisation(
        name="The council",
        signing_key=ORGANISATION.public.signing_key,
        recipients=(ORGANISATION.public.recipient, recovery.recipient),
    )
    of = batch(organisation=organisation, secret=True)
    write_private(tmp_path / "laptop.key", LAPTOP.text())
    sealed = write_batch(of, recipients=[LAPTOP.public.recipient])
    (tmp_path / "Sealed.rosetta-batch").write_bytes(sealed)
    written = write_ratings(tmp_path, events(5), of, LAPTOP, PEOPLE[0])
    written.path.rename(tmp_path / "Spring.rosetta-ratings")
    (tmp_path / "written").write_text(written.phrase)
    shutil.copy(LISTED, tmp_path)
    (tmp_path / "Library.rosetta-laptop").write_bytes(write_laptop_card(LAPTOP, "Library"))
    return tmp_path


def in_order(*beginnings: str) -> list[str]:
    return [block(each) for each in beginnings]


OPENING = (
    "bits()", "age --decrypt --identity recovery.txt --output ratings", "sed -n", "words", "for member",
)  # fmt: skip


@needs_programs
def test_ratings_open_and_verify_without_us(folder: Path) -> None:
    said = run(folder, in_order(*OPENING))
    for words in (VERIFIED, "README.txt is what was signed", "events.jsonl is what was signed", "the last event is there"):  # fmt: skip
        assert words in said
    assert f"{LAPTOP.public.phrase} \n" in said
    assert f"{(folder / 'written').read_text()} \n" in said
    file, manifest = (folder / "ratings" / name for name in ("events.jsonl", "manifest.json"))
    assert file.read_bytes().splitlines() == [event.line() for event in events(5)]
    run(folder, in_order("bits()", "age --recipient"))
    identities = read_age_identities(folder / "recovery.txt")
    again = open_ratings((folder / "Again.rosetta-ratings").read_bytes(), identities)
    assert len(again.lines) == 5
    file.write_bytes(file.read_bytes().replace(b"gist", b"GIST"))  # what was changed is noticed
    said = run(folder, [*in_order("bits()", "sed -n"), block("for member") + "\ntrue"])
    assert "events.jsonl is what was signed" not in said
    manifest.write_bytes(manifest.read_bytes().replace(b"spring", b"summer"))
    refuses(AssertionError, "Signature Verification Failure", run, folder, in_order("sed -n"))


@needs_programs
def test_batch_code_and_card_verify_without_us(folder: Path) -> None:
    (folder / "code.txt").write_text(f"{REVIEWERS[0]}\n")
    said = run(folder, in_order("field()", "age --decrypt --identity laptop.key", "code="))
    assert said.count(VERIFIED) == 2
    opened = open_batch((folder / "Sealed.rosetta-batch").read_bytes(), [LAPTOP.age])
    assert (folder / "batch.zip").read_bytes() == opened.archive
    assert said.endswith(f"the batch is for {PEOPLE[0]}\n")
    (folder / "code.txt").write_text("YBKCTGFM\n")
    refuses(AssertionError, "", run, folder, in_order("code="))


@needs_programs
def test_export_opens_and_verifies_without_us(folder: Path, tmp_path: Path) -> None:
    (recovery,) = read_age_identities(folder / "recovery.txt")
    with desk(tmp_path / "home", reviewers=2).office as office:
        [review] = office.reviews()
        organisation = review.manifest.organisation.model_copy(
            update={"recipients": (ORGANISATION.public.recipient, recovery.recipient)}
        )
        manifest = review.manifest.model_copy(update={"organisation": organisation})
        vars(review)["manifest"] = manifest
        sealed = governance_bundle(office, review, {}, ORGANISATION, "2026-11-20T10:00:00Z")
    (folder / "Spring.rosetta-export").write_bytes(sealed)
    said = run(folder, in_order("age --decrypt --identity recovery.txt --output export"))
    assert VERIFIED in said
    assert said.count("is what was signed") == 5


def test_every_command_and_vector_of_the_page_is_tested() -> None:
    beginnings = (
        "age-keygen", *OPENING, "age --decrypt --identity laptop.key", "code=",
        "age --decrypt --identity recovery.txt --output export", "field()", "age --recipient",
    )  # fmt: skip
    assert sorted(in_order(*beginnings)) == sorted(COMMANDS)
    digest, _, said = VECTORS[0].partition("\n")
    assert phrase(digest) == said
    digits, _, said = VECTORS[1].partition(" ")
    assert (made_up(bytes.fromhex(digits)), read_code(VECTORS[2])) == (said, VECTORS[2])
    assert tuple(LISTED.read_text("ascii").split()) == LIST
    assert sha256(batch().manifest_bytes).hexdigest() == batch().sha256


@needs_age
@pytest.mark.parametrize("size", [0, 65_536, 65_537])
def test_real_program_opens_any_length(tmp_path: Path, size: int) -> None:
    identity, plain = AgeIdentity.make(), os.urandom(size)
    (tmp_path / "plain").write_bytes(plain)
    run(tmp_path, [f"age -r {identity.recipient} -o sealed plain"])
    assert unseal((tmp_path / "sealed").read_bytes(), [identity]) == plain


@needs_age
def test_real_program_opens_what_a_passphrase_sealed(tmp_path: Path) -> None:
    pexpect = pytest.importorskip("pexpect")
    data = os.urandom(65_537)
    (tmp_path / "Secret.rosetta-batch").write_bytes(seal_with_passphrase(data, "kizun gorot sapos"))
    command = re.search(r"`(age --decrypt --output[^`]*)`", PAGE)
    assert command is not None
    asking = pexpect.spawn(command[1], cwd=str(tmp_path), timeout=600)
    asking.expect("passphrase")
    asking.sendline("kizun gorot sapos")
    asking.expect(pexpect.EOF)
    asking.close()
    assert (asking.exitstatus, (tmp_path / "batch.zip").read_bytes()) == (0, data)
