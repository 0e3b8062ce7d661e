"""Evidence is enough for two programs to find the verdict again, and has no text; what was changed is named."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from hashlib import sha256
from importlib import resources
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness.core.canonical import canonical_bytes
from harness.core.failures import HarnessError, UsageError
from harness.sealed.archive import pack, unpack
from harness.sealed.keys import Identity
from harness.sealed.strict_records import FileError
from review.log.event import Event, events_sha256
from review.log.payloads import Adjudicate, Comment, Consent, HarmFlag, OrganiserLook, Scope, Skip, Suggest
from review.rating import CannotJudge
from review.verdict.certificate.certify import certified_laptops, read_verdict, without_names
from review.verdict.certificate.evidence import (
    EARLIER_PROGRAMS,
    Evidence,
    EvidenceFile,
    events_bytes,
    looked_at,
    own_program,
    own_program_sha256,
    pack_evidence,
    read_devices,
    read_events_bytes,
    unpack_evidence,
)
from review.verdict.certificate.verifying import Verification, verify
from review.verdict.gate.careless import not_worse_p
from review.verdict.gate.key import AnswerKey
from review.verdict.stand_alone import rosetta_verify as second
from review.verdict.stand_alone.rosetta_verify import MEMBERS
from rosetta_tui.review.organiser.words.gate import verification_lines
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import times
from tests.review.verdict import histories
from tests.review.verdict.certified import (
    GO,
    NO_GO,
    SIGNER,
    asked_alone,
    certificate_of,
    certified,
    changed,
    issue,
    packed,
    review_of,
    withdrawn,
)
from tests.review.verdict.histories import ORGANISATION, RUN, WALL, Chain, erase_withdrawn, evidence_of, later
from tests.scoring.late import stats


def verified(file: EvidenceFile, evidence: Evidence | None = None) -> Verification:
    return verify(file.certificate, file.signature, evidence or file.evidence)


def wrong(file: EvidenceFile, evidence: Evidence | None = None) -> str:
    done = verified(file, evidence)
    assert not done.ok
    return next(check.name for check in done.checks if check.ok is False)


def test_random_reviews_hold_to_both_programs(tmp_path: Path) -> None:
    held = 0
    for seed in range(times(3, 300)):
        try:
            file = issue(histories.history(Random(seed)))
        except HarnessError:
            continue  # too little was rated
        done = verified(file)
        assert (done.ok, done.differences) == (True, ()), done.checks
        assert "byte for byte" in done.words
        assert asked_alone(packed(file, tmp_path / "x.rosetta-evidence"))[0] == 0
        held += 1
    assert held


def test_verifying_tells_what_laptops_could_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = replace(GO, mischief=1.0)
    assert "not shown" not in "".join(verification_lines(verified(issue(review_of(1, shape)))))
    monkeypatch.setattr(histories, "UNSAID", CannotJudge.NOT_SHOWN)
    done = verified(issue(review_of(1, replace(shape, looks=2))))
    assert done.ok
    unrated = list(done.not_shown.values()).count(False)
    (told,) = [line for line in verification_lines(done) if "not shown" in line]
    assert told.startswith(f"! not shown: {len(done.not_shown)} item")
    assert f"asked; {unrated} of them nobody rated" in told


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "$.verdict.outcome": lambda c: c["verdict"].update(outcome="no_go"),
    "$.verdict.numbers.lower": lambda c: c["verdict"]["numbers"].update(lower="0.999999"),
    "$.verdict.numbers.reviewers[0]": lambda c: c["verdict"]["numbers"]["reviewers"].__setitem__(0, "1.000000"),
    "$.agreement.ac2.interval.lower": lambda c: c["agreement"]["ac2"]["interval"].update(lower="0.000000"),
    "$.panel.reviewers": lambda c: c["panel"].update(reviewers=50),
    "$.panel.chosen": lambda c: c["panel"].update(chosen="by lot"),
    "$.run.run_card_hash": lambda c: c["run"].update(run_card_hash="0" * 64),
    "$.run.segments": lambda c: c["run"].update(segments={"development": 60}),
    "$.review": lambda c: c.update(review="another"),
    "$.policy.community_reviewers": lambda c: c["policy"].update(community_reviewers=1),
    "$.log.withdrawals": lambda c: c["log"].update(withdrawals=2),
}  # fmt: skip


def test_changed_value_is_named_by_its_path() -> None:
    """The organisation itself is wrong."""
    for path, change in CHANGES.items():
        done = verified(changed(certified(), change, SIGNER))
        assert [check.name for check in done.checks if check.ok is False] == ["verdict"]
        assert any(each.path.startswith(path) for each in done.differences), path


def test_field_of_no_verdict_is_refused() -> None:
    with pytest.raises(UsageError, match=r"verdict\.note"):
        verified(changed(certified(), lambda c: c["verdict"].update(note=None), SIGNER))


@pytest.mark.parametrize(("name", "block", "change"), [
    ("policy", "policy", {"sha256": "0" * 64}), ("log", "log", {"sha256": "0" * 64}),
    ("chains", "log", {"gaps": 1}),
    ("devices", "log", {"devices_sha256": "0" * 64}),
])  # fmt: skip
def test_evidence_not_certified_is_named(name: str, block: str, change: dict[str, Any]) -> None:
    file = changed(certified(), lambda c: c[block].update(change), SIGNER)
    assert wrong(file) == name
    assert "not computed" in verified(file).checks[-1].words


def test_evidence_of_which_something_was_changed_is_refused() -> None:
    file = certified()
    old = file.evidence
    softer = replace(old, policy=old.policy.replace(b"share = 0.70", b"share = 0.10"))
    assert wrong(file, softer) == "policy"
    assert wrong(file, replace(old, key=old.key.model_copy(update={"seed": 8}))) == "answer key"
    assert wrong(file, replace(old, events=old.events[1:])) in {"log", "chains", "devices"}
    assert wrong(file, replace(old, devices={})) == "devices"
    assert wrong(file, replace(old, organisation_device="1" * 16)) == "devices"
    assert not verified(file, review_of(2)).ok
    strange = Identity.make(SIGNER.role).sign(file.certificate)
    assert wrong(changed(file, CHANGES["$.verdict.outcome"])) == "signature"
    for signature in (b"", strange):
        assert wrong(replace(file, signature=signature)) == "signature"
    device = next(e.device for e in old.events if e.device != ORGANISATION)
    known = {name: key for name, key in old.devices.items() if name != device}
    assert wrong(issue(replace(old, devices=known))) == "chains"  # a laptop that nobody knows


def test_after_a_withdrawal_all_but_the_numbers_holds() -> None:
    file = certified()
    evidence = file.evidence
    now = later(evidence, erase_withdrawn(withdrawn(evidence)))
    done = verified(file, now)
    gone = now.withheld - evidence.withheld
    assert gone > 60
    assert (done.ok, done.missing) == (False, gone)
    assert [(check.name, check.ok) for check in done.checks if not check.ok] == [("verdict", None)]
    assert done.without == read_verdict(now, RUN, 1).verdict.outcome
    assert f"{gone:,} contents are missing; 1 person took theirs back since" in done.words
    assert "rosetta review gate --issue" in done.words
    anew = verified(issue(now, issued="2026-06-01T00:00:00Z"))
    assert (anew.ok, anew.certificate.log.withdrawals) == (True, 1)
    only_words = erase_withdrawn(withdrawn(evidence, Scope.COMMENTS))
    assert verified(file, later(evidence, only_words)).ok


def test_contents_that_nobody_withdrew_must_be_there() -> None:
    file = certified()
    evidence = file.evidence
    victim = next(e for e in evidence.events if e.kind == "rate")
    missing = evidence_of(evidence.key, [e.erased() if e is victim else e for e in evidence.events])
    assert wrong(file, missing) == "contents"
    assert "nobody has taken any back" in verified(file, missing).checks[-1].words
    # who wants to hide ratings may let somebody withdraw and strip those of others along with theirs
    events = erase_withdrawn(withdrawn(evidence))
    stripped = [event.erased() if event.kind == "rate" else event for event in events]
    done = verified(file, later(evidence, stripped))
    assert (done.ok, done.broken) == (False, True)
    told = next(check.words for check in done.checks if check.name == "contents")
    assert "answers are missing whose people took nothing back" in told
    # who took back before the issue explains nothing that is missing since
    now = later(evidence, events)
    file = issue(now)
    assert verified(file).ok
    victim = next(e for e in now.events if e.kind == "rate" and e.payload is not None)
    fewer = [e.erased() if e is victim else e for e in now.events]
    assert wrong(file, later(evidence, fewer)) == "contents"


@pytest.mark.parametrize("strata", [{}, {1: 5, 2: -5}, {9: 1}, {1: 2**53 - 1, 2: -1}], ids=str)
def test_answer_key_that_fits_no_review_is_refused(strata: dict[int, int]) -> None:
    """Even where its organisation signed it: an evidence file comes from anywhere."""
    file = certified()
    key = histories.with_run(file.evidence.key, strata=strata)
    odd = evidence_of(key, list(file.evidence.events))
    stated = {"key_sha256": odd.key_sha256, "batches": dict(odd.key.batch_sha256)}
    assert wrong(changed(file, lambda c: c.update(stated), SIGNER), odd) == "verdict"


PRIVATE = "said between us"


def with_words() -> tuple[AnswerKey, list[Event]]:
    rng = Random(3)
    key = histories.make_key(rng, GO)
    events = histories.make_events(rng, GO, key)
    who, item, batch = next(iter(key.orders)), next(iter(key.items)), key.batches[0]
    laptop, office = Chain(rng), Chain(rng, "0e" * 8)
    about = {"wall": WALL, "reviewer": who, "batch": batch, "item": item}
    laptop.write(Comment(**about, text=PRIVATE))
    laptop.write(Suggest(**about, text=PRIVATE))
    laptop.write(Skip(**about))
    office.write(Adjudicate(wall=WALL, batch=batch, item=item, harmful=None, note=PRIVATE))
    return key, [*events, *laptop.events, *office.events]


def test_no_text_is_in_the_file() -> None:
    key, events = with_words()
    evidence = evidence_of(key, events)
    file = issue(evidence)
    packed = pack_evidence(file.certificate, file.signature, evidence)
    assert PRIVATE.encode() in events_bytes(events)
    assert PRIVATE.encode() not in packed
    assert b"said in private" not in packed  # the history's own comments
    assert {e.id for e in evidence.events} == {e.id for e in events}


def test_a_decision_with_a_note_is_to_be_made_again() -> None:
    key, events = with_words()
    item, batch = next(iter(key.items)), key.batches[0]
    office = Chain(Random(4))
    office.write(Adjudicate(wall=WALL, batch=batch, item=item, harmful=True, note=PRIVATE))
    caught = refuses(UsageError, "rosetta review adjudicate", evidence_of, key, [*events, *office.events])
    assert PRIVATE not in str(caught)


def test_a_file_read_back_is_the_same_evidence() -> None:
    for seed in range(times(2, 100)):
        evidence = histories.history(Random(seed))
        packed = pack_evidence(b"{}", b"s" * 64, evidence)
        read = unpack_evidence(packed)
        assert (read.certificate, read.signature) == (b"{}", b"s" * 64)
        assert (read.evidence.events, read.evidence.key) == (evidence.events, evidence.key)
        assert read.evidence.devices_bytes == evidence.devices_bytes
        assert pack_evidence(b"{}", b"s" * 64, read.evidence) == packed


def test_tips_fix_the_whole_set_whatever_comes_later() -> None:
    evidence = review_of(5)
    later = Chain(Random(9), evidence.events[0].device)
    later.events = [e for e in evidence.events if e.device == later.device]
    later.lamport = 10**6
    batch = evidence.key.batches[0]
    for number in range(3):
        said = OrganiserLook(wall=WALL, batch=batch, run_id=RUN, events_sha256=f"{number:064x}")
        later.write(said)
    grown = evidence_of(evidence.key, [*evidence.events, *later.events])
    assert len(grown.events) == len(evidence.events) + 3
    assert grown.up_to(evidence.tips).events == evidence.events
    assert grown.up_to([]).events == ()


def test_a_missing_event_is_a_gap() -> None:
    evidence = review_of(6)
    assert evidence.gaps() == 0
    [(device, _)] = Counter(e.device for e in evidence.events).most_common(1)
    chain = sorted((e for e in evidence.events if e.device == device), key=lambda e: e.seq)
    for place, gaps in ((4, 1), (-1, 0)):
        fewer = [e for e in evidence.events if e is not chain[place]]
        assert evidence_of(evidence.key, fewer).gaps() == gaps


def test_a_look_is_new_where_ratings_changed_and_nowhere_else() -> None:
    key, events = with_words()
    batches = set(key.batches)
    seen = looked_at(events, batches)
    without_talk = [e for e in events if e.kind not in {"comment", "adjudicate", "look", "suggest"}]
    assert looked_at(without_talk, batches) == seen
    rated = next(e for e in events if e.kind == "rate")
    assert looked_at([e for e in events if e is not rated], batches) != seen
    assert looked_at([e.erased() if e is rated else e for e in events], batches) != seen


def test_looks_of_the_organisation_count_and_no_others() -> None:
    rng = Random(8)
    shape = histories.replace(GO, looks=3)
    key = histories.make_key(rng, shape)
    evidence = evidence_of(key, histories.make_events(rng, shape, key))
    assert evidence.organisation_device == ORGANISATION
    assert evidence.state.looks == {RUN: 3}  # a laptop wrote one more
    assert read_verdict(evidence, RUN).verdict.look == 3


def test_what_is_no_list_of_devices_is_refused() -> None:
    for content in (
        b"", b"[]", b"{}", b'{"organisation":1,"devices":{}}', b"[" * 99_999,
        b'{"organisation":"a","devices":[]}', b'{"organisation":"a","devices":{"b":3}}',
    ):  # fmt: skip
        refuses(UsageError, r"devices\.json", read_devices, content, "devices.json")


def test_a_changed_event_is_named_by_its_line() -> None:
    lines = events_bytes(review_of(7).events)
    moved = read_events_bytes(lines.replace(b'"seq":3,', b'"seq":4,', 1))
    whole = events_sha256(e.id for e in read_events_bytes(lines))
    assert events_sha256(e.id for e in moved) != whole  # a head has no other guard than its id
    for old, new in ((b'"excellent"', b'"reject"'), (b'"rate"', b'"skip"'), (b"{", b"[")):
        bad = lines.replace(old, new, 1)
        assert bad != lines
        refuses(UsageError, r"events\.jsonl, line \d+", read_events_bytes, bad)


def test_file_that_is_none_is_refused() -> None:
    names = [*MEMBERS, "signed.json", "rosetta_verify.py", "README.txt"]
    members = unpack(pack_evidence(b"{}", b"s", review_of(7)), names, ())
    for name in ("policy.toml", "key.json", "events.jsonl"):
        rest = {each: data for each, data in members.items() if each != name}
        refuses(FileError, "", unpack_evidence, pack(rest))
    for name in ("key.json", "events.jsonl", "devices.json"):
        refuses(UsageError, "", unpack_evidence, pack({**members, name: b"{not json"}))
    refuses(FileError, "", unpack_evidence, b"PK nothing of the kind")


PROGRAM = resources.files("review.verdict.stand_alone").joinpath("rosetta_verify.py")


def found_by_second(evidence: Evidence) -> dict[str, Any]:
    key = json.loads(evidence.key_bytes)
    # its own steps one by one: what it finds on the way is compared, and not its last word alone
    read, fold, panel_of, decide = second._read_log, second._fold, second._panel_of, second._decide
    state = fold(read(events_bytes(evidence.events)), key, set(evidence.own_devices), dict(evidence.devices))
    policy = tomllib.loads(evidence.policy.decode(), parse_float=Decimal)
    verdict = decide(panel_of(state, key, key["runs"][0]), policy)[1]
    return {**verdict, "laptops": state["laptops"]}


def test_both_programs_give_one_verdict() -> None:
    """Undo, several laptops, harm and its decisions, controls, withdrawals, gaps in ratings, one stratum, unanimity."""
    met: Counter[str] = Counter()
    for seed in range(count := times(4, 1000)):
        evidence = histories.history(Random(seed), {0: GO, 5: NO_GO}.get(seed % 10))
        mine = without_names(read_verdict(evidence, RUN).verdict).model_dump(mode="json")
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
    for df in (1, 78.6779, 1.5, 4, 1000)[:: times(3, 1)]:
        for p in (0.6, 0.95, 0.975, 0.9999):
            found = second._student(p, df)  # its own likewise
            assert found == pytest.approx(float(stats.t.ppf(p, df)), rel=1e-10)


def test_its_mann_whitney_is_that_of_the_gate() -> None:
    rng = Random(5)
    for _ in range(50):
        pairs = [(rng.randrange(4), rng.randrange(4)) for _ in range(rng.randrange(2, 9))]
        found = second._not_worse_p(pairs)  # no file has so few sentences
        assert found == not_worse_p(*map(list, zip(*pairs, strict=True))), pairs


def test_program_is_short_stands_alone_and_is_hashed() -> None:
    text = PROGRAM.read_text("utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    docstring = (ast.get_docstring(ast.parse(text), clean=False) or "").count("\n") + 1
    assert len(lines) - docstring < 460
    modules = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    outside = {name.split(".")[0] for name in modules} - set(sys.stdlib_module_names)
    assert outside == {"cryptography"}
    # Who changes the program writes its hash there, and, once it was given out, the earlier one into the list.
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


PAGE = (Path(__file__).parents[3] / "docs" / "internals" / "certificate.md").read_text("utf-8")
BLOCKS: list[str] = re.findall(r"^```\w*\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(not all(map(shutil.which, ("bash", "openssl", "unzip", "xxd"))), reason="needs other programs")
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
