"""What a notice that was carried says of a certificate: of its corpus, of a person, of the key that signed it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.sealed.keys import Identity, Role
from review.office.store.store import Office
from review.verdict.certificate.evidence import read_evidence_file
from rosetta_tui.commands import rosetta
from tests.tui.review.gated import filled, invoke, issued, reviewed

REASON = ("--reason", "as asked", "--by", "Council")


def consent(*arguments: object) -> str:
    done = CliRunner().invoke(rosetta, ["consent", *map(str, arguments)])
    if done.exception is not None:
        raise done.exception
    return done.output


def test_an_old_certificate_says_what_was_taken_back_since(
    office: Office,
    home: Path,
    card: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    review = filled(office, home, reviewed(card))
    certificate = issued(tmp_path)
    [file] = certificate.parent.glob("*.rosetta-evidence")
    evidence = tmp_path / f"alone{file.suffix}"
    shutil.copy(file, evidence)
    who = next(iter(review.key.orders))
    invoke("withdraw", "spring", review.code(who), "--scope", "batch", "--yes")
    consent("withdraw", "--signing-key", "own", *REASON)
    consent("export", tmp_path / "notices")
    own = Identity.load(home, Role.ORGANISATION).public
    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setenv("ROSETTA_HOME", str(elsewhere))
    done = invoke("verify", evidence)
    assert (done.exit_code, "consent" in done.stdout) == (0, False)
    person, key = sorted(
        (tmp_path / "notices").iterdir(), key=lambda each: b'"key"' in each.read_bytes()
    )
    assert review.code(who).encode() not in person.read_bytes()
    assert who.encode() not in person.read_bytes()
    consent("take", person, "--words", own.phrase)
    done = invoke("verify", evidence)
    assert done.exit_code == 1
    assert "✗ consent: withdrawn for what a person gave in the review spring" in done.stdout
    assert "✓ verdict: computed again, byte for byte" in done.stdout
    consent("take", key)  # it says it of itself
    assert "what this key signed may be of whoever has it now" in invoke("verify", evidence).stdout


def test_a_certificate_about_a_withdrawn_corpus_says_so_by_its_name_and_languages(
    office: Office,
    home: Path,
    card: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    filled(office, home, reviewed(card))
    [evidence] = issued(tmp_path).parent.glob("*.rosetta-evidence")
    stated = read_evidence_file(evidence).certificate
    name = json.loads(stated)["run"]["dataset_id"]
    (tmp_path / "same.tsv").write_text(f"# id: {name}\nid\tsource\treference\n1\tone\tunu\n")
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "elsewhere"))
    consent("withdraw", "--corpus", tmp_path / "same.tsv", "--source-language", "en",
            "--target-language", "eo", *REASON)  # fmt: skip
    done = invoke("verify", evidence)
    assert (done.exit_code, "✗ consent: withdrawn for the corpus" in done.stdout) == (1, True)
