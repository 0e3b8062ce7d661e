"""The commands of docs/certificate.md, run as they stand there by the programs that they name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from review.verdict.certificate.evidence import (
    EvidenceFile,
    own_program,
    own_program_sha256,
    pack_evidence,
)
from tests.review.verdict.certified import SIGNER, changed, issue, review_of

PAGE = (Path(__file__).parents[3] / "docs" / "certificate.md").read_text("utf-8")
BLOCKS: list[str] = re.findall(r"^```\w*\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
KEY = SIGNER.public.signing_key
PROGRAMS = ("bash", "openssl", "unzip", "xxd")

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, PROGRAMS)), reason=f"needs the programs {', '.join(PROGRAMS)}"
)


def run(folder: Path, word: str) -> tuple[int, str]:
    """Run the one block of the page that holds this word, with the organisation's key put in."""
    [block] = [each for each in BLOCKS if word in each]
    script = block.replace("KEY=…", f"KEY={KEY}").replace("evidence KEY", f"evidence {KEY}")
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o700)
    done = subprocess.run(
        ["bash", "-c", "set -euo pipefail\n" + script],
        cwd=folder,
        env={"PATH": f"{folder}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"},
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.returncode, done.stdout


def written(folder: Path, file: EvidenceFile) -> None:
    (folder / "NAME.certificate.json").write_bytes(file.certificate)
    (folder / "NAME.certificate.sig").write_bytes(file.signature)
    evidence = pack_evidence(file.certificate, file.signature, file.evidence)
    (folder / "NAME.rosetta-evidence").write_bytes(evidence)


def test_openssl_makes_the_key_from_its_digits_and_verifies_the_signature(tmp_path: Path) -> None:
    written(tmp_path, issue(review_of(1)))
    assert run(tmp_path, "openssl") == (0, "Signature Verified Successfully\n")


def test_openssl_refuses_a_certificate_that_was_changed(tmp_path: Path) -> None:
    written(tmp_path, changed(issue(review_of(1)), lambda c: c.update(review="another")))
    code, said = run(tmp_path, "openssl")
    assert (code != 0, "Signature Verification Failure" in said) == (True, True)


def test_the_second_verifier_says_that_it_holds(
    tmp_path: Path,
) -> None:
    written(tmp_path, issue(review_of(1)))
    (tmp_path / "rosetta_verify.py").write_bytes(own_program())
    code, said = run(tmp_path, "python rosetta_verify.py")
    hashed, held = said.splitlines()
    assert (code, hashed.split()[0]) == (0, own_program_sha256())
    assert (held.startswith("Holds: go, run "), held.endswith(KEY)) == (True, True)
