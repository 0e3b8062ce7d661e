"""Two programs, written apart from each other, find one verdict; and the second one stands alone."""

from __future__ import annotations

import ast
import json
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
from harness.sealed.archive import pack
from review.log.payloads import Consent, HarmFlag
from review.verdict.certificate.certify import certified_laptops, read_verdict, without_names
from review.verdict.certificate.evidence import (
    EARLIER_PROGRAMS,
    Evidence,
    events_bytes,
    own_program_sha256,
    pack_evidence,
)
from review.verdict.certificate.verifying import verify
from review.verdict.stand_alone import rosetta_verify as second
from tests.review.thorough import times
from tests.review.verdict import histories
from tests.review.verdict.alone import asked_alone
from tests.review.verdict.certified import (
    GO,
    NO_GO,
    SIGNER,
    certificate_of,
    changed,
    issue,
    review_of,
)
from tests.review.verdict.histories import RUN, WALL, Chain
from tests.review.verdict.withdrawn import withdrawn

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


@pytest.mark.thorough
def test_both_programs_give_one_verdict() -> None:
    """Undo, several laptops, harm and its decisions, controls, withdrawals, gaps in ratings, one stratum, unanimity."""
    outcomes: Counter[str] = Counter()
    for seed in range(times(40, 1000)):
        evidence = histories.history(Random(seed), {0: GO, 5: NO_GO}.get(seed % 10))
        mine = without_names(read_verdict(evidence, RUN).verdict)
        mine["laptops"] = certified_laptops(evidence.voices).model_dump(mode="json")
        theirs = found_by_second(evidence)
        assert canonical_bytes(mine) == canonical_bytes(theirs), (
            seed,
            second._differing(mine, theirs, "$"),  # it names the first difference
        )
        outcomes[mine["outcome"]] += 1
        outcomes["flagged"] += mine["without_flagged"] is not None
        outcomes["controls failed"] += any(f["code"] == "controls_failed" for f in mine["findings"])
        outcomes["waiting"] += mine["laptops"]["waiting"] > 0
        outcomes["decided"] += mine["laptops"]["decided"] > 0
        outcomes["taken out"] += bool(mine["laptops"]["removed"])
        outcomes["repeat flagged"] += _flags_a_repeat(evidence)
    met = {what for what, count in outcomes.items() if count}
    wanted = {"go", "no_go", "discuss", "insufficient", "controls failed", "repeat flagged"}
    wanted |= {"waiting", "decided", "taken out"}
    assert wanted <= met, outcomes
    print(outcomes)


def _flags_a_repeat(evidence: Evidence) -> bool:
    items = evidence.key.items
    said = (e.payload for e in evidence.events if isinstance(e.payload, HarmFlag))
    return any(flag.harmful and items[flag.item].control == "repeat" for flag in said)


def test_its_quantiles_are_those_of_another_library() -> None:
    for a, b in ((0.5, 0.5), (1, 1), (3, 40), (57.3, 8.2), (2500, 2500), (0.5, 39.3)):
        for p in (1e-6, 0.05, 0.3, 0.5, 0.9, 0.975, 0.9999):
            found = second._beta_quantile(p, a, b)  # it has no SciPy, so it has its own
            assert found == pytest.approx(float(stats.beta.ppf(p, a, b)), rel=1e-10), (a, b, p)
    for df in (1, 1.5, 4, 78.6779, 1000):
        for p in (0.6, 0.95, 0.975, 0.9999):
            found = second._student(p, df)  # its own likewise
            assert found == pytest.approx(float(stats.t.ppf(p, df)), rel=1e-10)


def test_its_mann_whitney_is_that_of_another_library() -> None:
    rng = Random(5)
    for _ in range(50):
        pairs = [(rng.randrange(4), rng.randrange(4)) for _ in range(rng.randrange(2, 6))]
        bad, good = zip(*pairs, strict=True)

        def smaller(x: Any, y: Any, axis: int = -1, size: int = len(bad)) -> Any:
            import numpy as np

            ranks = stats.rankdata(np.concatenate([x, y], axis=axis), axis=axis)
            return ranks[..., :size].sum(axis=axis)

        p = stats.permutation_test(
            (bad, good), smaller, alternative="less", n_resamples=float("inf"), vectorized=True
        ).pvalue
        found = second._not_worse_p(pairs)  # no file has so few sentences
        assert float(found) == pytest.approx(p)


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
    page = (Path(__file__).parents[3] / "docs" / "certificate.md").read_text("utf-8")
    assert f"```sha256\n{found}\n```" in page
    assert certificate_of(issue(review_of(1))).verifier_sha256 == found == own_program_sha256()
    assert found not in EARLIER_PROGRAMS


def run(file: Path, *arguments: str) -> tuple[int, str]:
    """Run the program as a person does: another process, nothing of ours on its path."""
    program = file.with_name("rosetta_verify.py")
    program.write_bytes(PROGRAM.read_bytes())
    command = [sys.executable, "-I", str(program), str(file), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=file.parent)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_it_reads_the_file_that_travels(tmp_path: Path) -> None:
    file = issue(review_of(1))
    packed = tmp_path / "x.rosetta-evidence"
    packed.write_bytes(pack_evidence(file.certificate, file.signature, file.evidence))
    key = SIGNER.public.signing_key
    certified = f"run {RUN}, certificate SHA-256 {sha256(file.certificate).hexdigest()}"
    assert run(packed) == (0, f"Holds: go, {certified}, signed with {key}\n")
    assert run(packed, key)[0] == 0
    code, said = run(packed, "0" * 64)
    assert (code, "signed with another key" in said) == (1, True)
    assert said.startswith(f"Does not hold: {certified}\n")


def test_what_is_not_there_or_no_evidence_is_told_in_words(tmp_path: Path) -> None:
    missing, folder, text = (tmp_path / f"{name}.rosetta-evidence" for name in ("a", "b", "c"))
    folder.mkdir()
    text.write_text("nothing")
    assert run(missing) == (1, f"Not read: {missing} cannot be read: No such file or directory\n")
    assert run(folder) == (1, f"Not read: {folder} cannot be read: Is a directory\n")
    assert run(text) == (1, f"Not read: {text} cannot be read: File is not a zip file\n")


def members(file: Any, **changes: bytes) -> bytes:
    """Pack an evidence file of which some members are others."""
    from harness.sealed.archive import unpack

    names = [*second.MEMBERS, "signed.json", "rosetta_verify.py", "README.txt"]
    whole = unpack(pack_evidence(file.certificate, file.signature, file.evidence), names)
    return pack({**whole, **{name.replace("_", "."): data for name, data in changes.items()}})


def test_it_names_what_was_changed(tmp_path: Path) -> None:
    evidence = review_of(1)
    file = issue(evidence)
    events = events_bytes(evidence.events)
    wrong = changed(file, lambda c: c["verdict"]["numbers"].update(lower="0.999999"), SIGNER)
    cases = {
        "signature": (members(file, certificate_json=changed(file, lambda c: c.update(review="x")).certificate), "InvalidSignature"),
        "number": (pack_evidence(wrong.certificate, wrong.signature, evidence), "$.verdict.numbers.lower is 0.999999"),
        "rating": (members(file, events_jsonl=events.replace(b'"excellent"', b'"reject"', 1)), "was changed"),
        "event": (members(file, events_jsonl=events.split(b"\n", 1)[1]), "$.log.sha256"),
        "policy": (members(file, policy_toml=evidence.policy.replace(b"share = 0.70", b"share = 0.10")), "$.policy.sha256"),
        "key": (members(file, key_json=evidence.key_bytes.replace(b'"seed":7', b'"seed":8')), "$.key_sha256"),
        "no zip": (b"nothing", "cannot be read: File is not a zip file"),
        "empty": (pack({"certificate.json": b"[]"}), "KeyError"),
    }  # fmt: skip
    for name, (content, words) in cases.items():
        path = tmp_path / f"{name.replace(' ', '-')}.rosetta-evidence"
        path.write_bytes(content)
        code, said = run(path)
        assert (code, words in said) == (1, True), (name, said)


def test_both_agree_on_certificates_too(tmp_path: Path) -> None:
    path = tmp_path / "x.rosetta-evidence"
    seen = 0
    for seed in range(times(2, 40)):
        try:
            file = issue(histories.history(Random(seed + 500)))
        except HarnessError:
            continue
        path.write_bytes(pack_evidence(file.certificate, file.signature, file.evidence))
        assert asked_alone(path)[0] == 0
        seen += 1
    assert seen


def tampered(evidence: Evidence, rng: Random) -> Evidence:
    """Change something, at random, of what others signed or of what that covers; their order says nothing."""
    laptops, events = list(evidence.handed_over), list(evidence.events)
    what = rng.randrange(9)
    place = rng.randrange(len(laptops))
    if what == 0:
        del laptops[place]
    elif what == 1:
        data = bytearray(laptops[place].signature)
        data[rng.randrange(64)] ^= 1
        laptops[place] = replace(laptops[place], signature=bytes(data))
    elif what == 2:
        laptops[place] = laptops[rng.randrange(len(laptops))]
    elif what == 3:
        del events[rng.randrange(len(events))]
    elif what == 4:
        said = rng.choice([at for at, e in enumerate(events) if e.kind == "rate"])
        events[said] = events[said].erased()
    elif what == 5:
        laptops.append(rng.choice(list(evidence.batches.values())))
    elif what == 6:
        events = [e for e in events if e.kind != rng.choice(("consent", "undo", "harm"))]
    elif what == 7:
        laptops.reverse()
    else:
        key = evidence.key.model_copy(update={"seed": rng.randrange(7)})
        return replace(evidence, key=key)
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


def test_hostile_names_do_nothing_on_the_terminal(tmp_path: Path) -> None:
    file = changed(issue(review_of(1)), lambda c: c.update(review="\x1b[2J\u202e"), SIGNER)
    path = tmp_path / "x.rosetta-evidence"
    path.write_bytes(pack_evidence(file.certificate, file.signature, file.evidence))
    code, said = run(path)
    assert (code, said.isascii(), "\x1b" in said) == (1, True, False)


def test_later_events_do_not_touch_it_and_missing_contents_are_told(tmp_path: Path) -> None:
    evidence = review_of(1)
    file = issue(evidence)
    path = tmp_path / "x.rosetta-evidence"
    taken = withdrawn(evidence)
    now = histories.later(evidence, taken)
    path.write_bytes(pack_evidence(file.certificate, file.signature, now))
    assert run(path)[0] == 0  # what is not erased can be computed again
    erased = histories.later(evidence, histories.erase_withdrawn(taken))
    path.write_bytes(pack_evidence(file.certificate, file.signature, erased))
    code, said = run(path)
    gone = erased.withheld - evidence.withheld
    assert (code, f"{gone} contents are missing" in said) == (1, True)


def test_evidence_written_again_after_another_laptop_came_is_the_same_to_both(
    tmp_path: Path,
) -> None:
    evidence = review_of(1)
    file = issue(evidence)
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
    path = tmp_path / "x.rosetta-evidence"
    path.write_bytes(pack_evidence(file.certificate, file.signature, later))
    code, said = run(path)
    assert (code, said.startswith("Holds: go, run ")) == (0, True)
    stranger = json.loads(later.devices_bytes)
    stranger["devices"][next(iter(evidence.devices))] = "cc" * 32
    path.write_bytes(members(replace(file, evidence=later), devices_json=canonical_bytes(stranger)))
    assert "$.log.devices_sha256" in run(path)[1]


@pytest.mark.thorough
def test_both_programs_state_one_list_of_decisions_about_harm(tmp_path: Path) -> None:
    """Reasons, decisions of before reasons, flags that were withdrawn, and what nobody has decided."""
    seen: Counter[bool | str] = Counter()
    for seed in range(40):
        shape = replace(GO, mischief=0.3, repeats_flagged=0.05, items=72)
        evidence = histories.history(Random(seed), shape)
        try:
            file = issue(evidence)
        except HarnessError:
            continue
        stated = json.loads(file.certificate)
        packed = tmp_path / f"{seed}.rosetta-evidence"
        packed.write_bytes(pack_evidence(file.certificate, file.signature, file.evidence))
        assert asked_alone(packed)[1].startswith("Holds: "), seed
        seen.update(bool(each["reason"]) for each in stated["harm"])
        seen.update(f"{name} {count}" for name, count in stated["relations"].items() if count)
        assert sum(stated["relations"].values()) == stated["panel"]["reviewers"]
        forged = changed(file, lambda raw: raw["relations"].update(made=5, knows=0), SIGNER)
        packed.write_bytes(pack_evidence(forged.certificate, forged.signature, evidence))
        assert asked_alone(packed)[1].startswith("Does not hold: ")
        assert not verify(forged.certificate, forged.signature, evidence).ok
        for name in ("reason", "by"):
            if stated["harm"]:
                forged = changed(file, lambda raw, n=name: raw["harm"][0].update({n: "x"}), SIGNER)
                packed.write_bytes(pack_evidence(forged.certificate, forged.signature, evidence))
                assert asked_alone(packed)[1].startswith("Does not hold: ")
                assert not verify(forged.certificate, forged.signature, evidence).ok
    assert min(seen[True], seen[False]) > 0, seen
    assert {said.split()[0] for said in seen if isinstance(said, str)} == set(second.NEAR)
