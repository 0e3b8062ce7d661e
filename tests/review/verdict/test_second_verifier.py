"""Two programs, written apart from each other, find one verdict; and the second one stands alone."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from hashlib import sha256
from importlib import resources
from pathlib import Path
from random import Random
from typing import Any

import pytest
from scipy import stats

from harness.core.canonical import canonical_bytes
from harness.core.failures import HarnessError
from harness.sealed.archive import pack, unpack
from review.log.payloads import Consent, HarmFlag
from review.verdict.certificate.certify import certified_laptops, read_verdict, without_names
from review.verdict.certificate.evidence import (
    EARLIER_PROGRAMS,
    Evidence,
    EvidenceFile,
    events_bytes,
    own_program,
    own_program_sha256,
    pack_evidence,
)
from review.verdict.certificate.verifying import verify
from review.verdict.gate.careless import not_worse_p
from review.verdict.stand_alone import rosetta_verify as second
from tests.review.thorough import times
from tests.review.verdict import histories
from tests.review.verdict.alone import asked_alone
from tests.review.verdict.certified import (
    GO,
    NO_GO,
    SIGNER,
    certificate_of,
    certified,
    changed,
    issue,
    packed,
    review_of,
    withdrawn,
)
from tests.review.verdict.histories import RUN, WALL, Chain

PROGRAM = resources.files("review.verdict.stand_alone").joinpath("rosetta_verify.py")


def found_by_second(evidence: Evidence) -> dict[str, Any]:
    key = json.loads(evidence.key_bytes)
    # its own steps one by one: what it finds on the way is compared, and not its last word alone
    read, fold, panel_of, decide = second._read_log, second._fold, second._panel_of, second._decide
    state = fold(
        read(events_bytes(evidence.events)), key, set(evidence.own_devices), dict(evidence.devices)
    )
    policy = tomllib.loads(evidence.policy.decode(), parse_float=Decimal)
    verdict = decide(panel_of(state, key, key["runs"][0]), policy)[1]
    return {**verdict, "laptops": state["laptops"]}


def test_both_programs_give_one_verdict() -> None:
    """Undo, several laptops, harm and its decisions, controls, withdrawals, gaps in ratings, one stratum, unanimity."""
    met: Counter[str] = Counter()
    for seed in range(count := times(4, 1000)):
        evidence = histories.history(Random(seed), {0: GO, 5: NO_GO}.get(seed % 10))
        mine = without_names(read_verdict(evidence, RUN).verdict)
        mine["laptops"] = certified_laptops(evidence.voices).model_dump(mode="json")
        theirs = found_by_second(evidence)
        assert canonical_bytes(mine) == canonical_bytes(theirs), (
            seed,
            second._differing(mine, theirs, "$"),  # it names the first difference
        )
        met[mine["outcome"]] += 1
        met["controls failed"] += any(f["code"] == "controls_failed" for f in mine["findings"])
        met["waiting"] += mine["laptops"]["waiting"] > 0
        met["decided"] += mine["laptops"]["decided"] > 0
        met["taken out"] += bool(mine["laptops"]["removed"])
        met["repeat flagged"] += _flags_a_repeat(evidence)
    wanted = {"go", "no_go", "discuss", "insufficient", "controls failed", "repeat flagged"}
    wanted |= {"waiting", "decided", "taken out"}
    assert count < 40 or wanted <= set(+met), met


def _flags_a_repeat(evidence: Evidence) -> bool:
    items = evidence.key.items
    said = (e.payload for e in evidence.events if isinstance(e.payload, HarmFlag))
    return any(flag.harmful and items[flag.item].control == "repeat" for flag in said)


def test_its_quantiles_are_those_of_another_library() -> None:
    for a, b in ((0.5, 0.5), (3, 40), (57.3, 8.2), (0.5, 39.3))[:: times(2, 1)]:
        for p in (1e-6, 0.05, 0.5, 0.975, 0.9999)[:: times(2, 1)]:
            found = second._beta_quantile(p, a, b)  # it has no SciPy, so it has its own
            assert found == pytest.approx(float(stats.beta.ppf(p, a, b)), rel=1e-10), (a, b, p)
    for df in (1, 1.5, 4, 78.6779, 1000):
        for p in (0.6, 0.95, 0.975, 0.9999):
            found = second._student(p, df)  # its own likewise
            assert found == pytest.approx(float(stats.t.ppf(p, df)), rel=1e-10)


def test_its_mann_whitney_is_that_of_the_gate() -> None:
    rng = Random(5)
    for _ in range(50):
        pairs = [(rng.randrange(4), rng.randrange(4)) for _ in range(rng.randrange(2, 9))]
        found = second._not_worse_p(pairs)  # no file has so few sentences
        assert found == not_worse_p(*map(list, zip(*pairs, strict=True))), pairs


def test_it_is_short_and_stands_alone() -> None:
    text = PROGRAM.read_text("utf-8")
    lines = [
        line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")
    ]
    docstring = (ast.get_docstring(ast.parse(text), clean=False) or "").count("\n") + 1
    assert len(lines) - docstring < 460
    modules = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    outside = {name.split(".")[0] for name in modules} - set(sys.stdlib_module_names)
    assert outside == {"cryptography"}


def test_its_hash_stands_in_the_docs_and_in_the_certificate() -> None:
    """Who changes the program writes its hash there, and, once it was given out, the earlier one into the list."""
    found = sha256(PROGRAM.read_bytes()).hexdigest()
    assert f"```sha256\n{found}\n```" in PAGE
    assert certificate_of(certified()).verifier_sha256 == found == own_program_sha256()
    assert found not in EARLIER_PROGRAMS


def test_program_reads_the_file_that_travels(tmp_path: Path) -> None:
    path = packed(certified(), tmp_path / "x.rosetta-evidence")
    key = SIGNER.public.signing_key
    sha = sha256(certified().certificate).hexdigest()
    held = f"run {RUN}, certificate SHA-256 {sha}"
    (program := tmp_path / "rosetta_verify.py").write_bytes(PROGRAM.read_bytes())
    command = [sys.executable, "-I", str(program), str(path)]  # as a person does it
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"Holds: go, {held}, signed with {key}\n"
    assert asked_alone(path, key)[0] == 0
    code, said = asked_alone(path, "0" * 64)
    assert (code, "signed with another key" in said) == (1, True)
    assert said.startswith(f"Does not hold: {held}\n")
    missing, folder, text = (tmp_path / f"{name}.rosetta-evidence" for name in ("a", "b", "c"))
    folder.mkdir()
    text.write_text("nothing")
    for wrong, why in ((missing, "No such file or directory"), (folder, "Is a directory"), (text, "File is not a zip file")):  # fmt: skip
        assert asked_alone(wrong) == (1, f"Not read: {wrong} cannot be read: {why}\n")
    hostile = changed(certified(), lambda c: c.update(review="\x1b[2J\u202e"), SIGNER)
    code, said = asked_alone(packed(hostile, path))
    assert (code, said.isascii(), "\x1b" in said) == (1, True, False)


def members(file: EvidenceFile, **changes: bytes) -> bytes:
    """Pack an evidence file of which some members are others."""
    names = [*second.MEMBERS, "signed.json", "rosetta_verify.py", "README.txt"]
    whole = unpack(pack_evidence(file.certificate, file.signature, file.evidence), names)
    return pack({**whole, **{name.replace("_", "."): data for name, data in changes.items()}})


def test_program_names_what_was_changed(tmp_path: Path) -> None:
    file = certified()
    evidence, path = file.evidence, tmp_path / "x.rosetta-evidence"
    events = events_bytes(evidence.events)
    wrong = changed(file, lambda c: c["verdict"]["numbers"].update(lower="0.999999"), SIGNER)
    cases = [
        (members(file, certificate_json=changed(file, lambda c: c.update(review="x")).certificate), "InvalidSignature"),
        (pack_evidence(wrong.certificate, wrong.signature, evidence), "$.verdict.numbers.lower is 0.999999"),
        (members(file, events_jsonl=events.replace(b'"excellent"', b'"reject"', 1)), "was changed"),
        (members(file, events_jsonl=events.split(b"\n", 1)[1]), "$.log.sha256"),
        (members(file, policy_toml=evidence.policy.replace(b"share = 0.70", b"share = 0.10")), "$.policy.sha256"),
        (members(file, key_json=evidence.key_bytes.replace(b'"seed":7', b'"seed":8')), "$.key_sha256"),
        (b"nothing", "cannot be read: File is not a zip file"),
        (pack({"certificate.json": b"[]"}), "KeyError"),
    ]  # fmt: skip
    for content, words in cases:
        path.write_bytes(content)
        code, said = asked_alone(path)
        assert (code, words in said) == (1, True), (words, said)


def tampered(evidence: Evidence, rng: Random) -> Evidence:
    """Change something, at random, of what others signed or of what that covers; their order says nothing."""
    laptops, events = list(evidence.handed_over), list(evidence.events)
    place = rng.randrange(len(laptops))
    match rng.randrange(9):
        case 0:
            del laptops[place]
        case 1:
            data = bytearray(laptops[place].signature)
            data[rng.randrange(64)] ^= 1
            laptops[place] = replace(laptops[place], signature=bytes(data))
        case 2:
            laptops[place] = laptops[rng.randrange(len(laptops))]
        case 3:
            del events[rng.randrange(len(events))]
        case 4:
            said = rng.choice([at for at, e in enumerate(events) if e.kind == "rate"])
            events[said] = events[said].erased()
        case 5:
            laptops.append(rng.choice(list(evidence.batches.values())))
        case 6:
            events = [e for e in events if e.kind != rng.choice(("consent", "undo", "harm"))]
        case 7:
            laptops.reverse()
        case _:
            seed = {"seed": rng.randrange(7)}
            return replace(evidence, key=evidence.key.model_copy(update=seed))
    return replace(evidence, handed_over=tuple(laptops), events=tuple(events))


@pytest.mark.thorough
def test_both_agree_on_what_was_tampered_with(tmp_path: Path) -> None:
    """Whatever was changed of the signed files or the log: both hold it, or both do not."""
    path, outcomes = tmp_path / "x.rosetta-evidence", Counter[bool]()
    for seed in range(times(24, 400)):
        rng = Random(seed)
        shape = histories.replace(GO, mischief=rng.choice((0.0, 1.0)), apart=bool(seed % 2))
        evidence = tampered(review_of(seed % 3, shape), rng)
        try:
            file = issue(evidence)
        except HarnessError:
            continue
        path.write_bytes(pack_evidence(file.certificate, file.signature, evidence))
        holds = verify(file.certificate, file.signature, evidence).ok
        assert (asked_alone(path)[0] == 0) is holds, seed
        outcomes[holds] += 1
    assert outcomes[True]
    assert outcomes[False] > outcomes.total() / 2


def test_later_events_do_not_touch_it_and_gaps_are_told(tmp_path: Path) -> None:
    file = certified()
    evidence, path = file.evidence, tmp_path / "x.rosetta-evidence"
    taken = withdrawn(evidence)
    now = histories.later(evidence, taken)
    assert asked_alone(packed(replace(file, evidence=now), path))[0] == 0  # all can be computed
    erased = histories.later(evidence, histories.erase_withdrawn(taken))
    code, said = asked_alone(packed(replace(file, evidence=erased), path))
    gone = erased.withheld - evidence.withheld
    assert (code, f"{gone} contents are missing" in said) == (1, True)


def test_evidence_written_again_after_another_laptop_is_the_same(tmp_path: Path) -> None:
    file = certified()
    evidence, path = file.evidence, tmp_path / "x.rosetta-evidence"
    late = Chain(Random(9))
    who, batch = next(iter(evidence.key.orders)), evidence.key.batches[0]
    late.write(
        Consent(
            wall=WALL, reviewer=who, batch=batch, consent_sha256="c" * 64, language="en",
            share_corrections=False,
        )
    )  # fmt: skip
    later = histories.later(evidence, [*evidence.events, *late.events])
    assert later.devices_bytes != evidence.devices_bytes
    assert verify(file.certificate, file.signature, later).ok
    code, said = asked_alone(packed(replace(file, evidence=later), path))
    assert (code, said.startswith("Holds: go, run ")) == (0, True)
    stranger = json.loads(later.devices_bytes)
    stranger["devices"][next(iter(evidence.devices))] = "cc" * 32
    path.write_bytes(members(replace(file, evidence=later), devices_json=canonical_bytes(stranger)))
    assert "$.log.devices_sha256" in asked_alone(path)[1]


PAGE = (Path(__file__).parents[3] / "docs" / "certificate.md").read_text("utf-8")
BLOCKS: list[str] = re.findall(r"^```\w*\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(
    not all(map(shutil.which, ("bash", "openssl", "unzip", "xxd"))), reason="needs other programs"
)
def test_commands_of_the_page_verify_a_certificate(tmp_path: Path) -> None:
    key = SIGNER.public.signing_key

    def run(word: str) -> tuple[int, str]:
        """Run the one block of the page that holds this word, with the organisation's key put in."""
        [block] = [each for each in BLOCKS if word in each]
        script = block.replace("KEY=…", f"KEY={key}").replace("evidence KEY", f"evidence {key}")
        done = subprocess.run(
            ["bash", "-c", "set -euo pipefail\n" + script], cwd=tmp_path, check=False, text=True,
            env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return done.returncode, done.stdout

    (tmp_path / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tmp_path / "python").chmod(0o700)
    (tmp_path / "rosetta_verify.py").write_bytes(own_program())
    packed(certified(), tmp_path / "NAME.rosetta-evidence")
    (tmp_path / "NAME.certificate.sig").write_bytes(certified().signature)
    (tmp_path / "NAME.certificate.json").write_bytes(certified().certificate)
    assert run("openssl") == (0, "Signature Verified Successfully\n")
    code, said = run("python rosetta_verify.py")
    hashed, held = said.splitlines()
    assert (code, hashed.split()[0]) == (0, own_program_sha256())
    assert (held.startswith("Holds: go, run "), held.endswith(key)) == (True, True)
    edited = changed(certified(), lambda c: c.update(review="another")).certificate
    (tmp_path / "NAME.certificate.json").write_bytes(edited)
    code, said = run("openssl")
    assert (code != 0, "Signature Verification Failure" in said) == (True, True)
