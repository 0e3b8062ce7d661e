"""``rosetta verify`` over one file of each kind: whole, changed, cut, hostile, revoked, of a stranger."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from harness.core.canonical import canonical_bytes
from harness.core.failures import StoreError, UsageError
from harness.sealed.keys import Identity, Role, key_phrase
from harness.sealed.sealing import seal_with_passphrase
from harness.vault.keepers import write_card
from review.verifying.verifying import FORMS, KINDS, FileVerdict
from tests.review.thorough import times
from tests.tui.commands.certified_gold import TwoSides
from tests.tui.commands.command_line import ok, said
from tests.tui.commands.every_file import EveryFile, looked

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/schemas/verify.schema.json").read_bytes())
NOT_WRITTEN = {"sealed", "secret-keys", "released-difference", "released-refusal"}
"""Kinds that the tests below write themselves, or that are read by the same lines as another."""
UNSIGNED = {"scoring-proposal", "exchange-folder", "exchange-record", "corpus-project", "corpus"}
WRITTEN = [each.name for each in KINDS if each.name not in NOT_WRITTEN]


def wrong(found: FileVerdict) -> dict[str, str]:
    return {each.name: each.words for each in found.checks if each.ok is False}


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A computer that knows nobody."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "stranger"))
    return tmp_path


def test_verify_prints_json_and_exit_code(every: EveryFile, stranger: Path) -> None:
    path = stranger / "use.json"
    whole = every.paths["use"].read_bytes()
    for content, code in ((whole, 0), (whole.replace(b"school", b"church"), 1)):
        path.write_bytes(content)
        done = said(f"verify {path} --json")
        found: dict[str, Any] = json.loads(done.stdout)
        assert (done.exit_code, found["holds"], found["kind"]) == (code, code == 0, "use")
    path.write_bytes(b"hello")
    assert isinstance(said(f"verify {path} --json").exception, UsageError)


def test_verify_every_kind_is_written_here(every: EveryFile) -> None:
    assert set(WRITTEN) == every.paths.keys()
    assert len(FORMS) == sum(len(each.forms) for each in KINDS)


def test_verify_whole_file_of_each_kind_holds(every: EveryFile) -> None:
    schema = Draft202012Validator(SCHEMA)
    for name, path in every.paths.items():
        node = [path.with_name("node.pub.json")] if name.startswith("reference-") else []
        found = looked(path, *node)
        assert (found.kind, found.holds) == (name, True), (name, found.checks)
        schema.validate({"version": 1, **found.as_json()})
        assert bool(found.signers) is (name not in UNSIGNED), name
        assert {each.name for each in found.checks} & {"signature", "key", "form", "unsigned"}, name


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("copied")


@pytest.mark.parametrize("name", sorted({*WRITTEN} - UNSIGNED - {"public-key"}))
def test_verify_changed_or_cut_file_fails(every: EveryFile, name: str, copied: Path) -> None:
    folder = every.paths[name].parent
    if not (copied / folder.name).exists():
        ignored = shutil.ignore_patterns("exchange", "maintainer", "*.sqlite*", "locks")
        shutil.copytree(folder, copied / folder.name, ignore=ignored)
    path, rng = copied / folder.name / every.paths[name].name, Random(name)
    data = every.paths[name].read_bytes()
    ends = [data[: len(data) // 2], data[:-2]]
    for place in (0, len(data) - 2, *rng.sample(range(len(data)), times(1, 6))):
        changed = bytearray(data)
        changed[place] ^= 1
        ends.append(bytes(changed))
    node = [path.with_name("node.pub.json")] if name.startswith("reference-") else []
    for content in ends:
        if not _says_the_same(name, content, data):
            path.write_bytes(content)
            assert not _holds(path, *node), content[:300]
    path.write_bytes(data)


def _holds(path: Path, *others: Path) -> bool:
    try:
        return looked(path, *others).holds
    except UsageError:
        return False


def _says_the_same(name: str, content: bytes, data: bytes) -> bool:
    """Return whether JSON of free layout says what it said: a blank for a line feed, a name of a key of the block."""
    if name not in {"card", "reference-signature"}:
        return False
    try:
        one, other = json.loads(content), json.loads(data)
    except ValueError:
        return False
    return all(one.get(key) == value for key, value in other.items() if key != "signedAt")


def test_verify_changed_proposal_fails(every: EveryFile, tmp_path: Path) -> None:
    path = tmp_path / "proposal.toml"
    path.write_bytes(every.paths["scoring-proposal"].read_bytes().replace(b"200", b"300"))
    assert not looked(path).holds


def test_verify_knows_signers_by_keys_or_words(every: EveryFile) -> None:
    path = every.paths["ownership"]
    known = {each.role: each.known for each in looked(path).signers}
    assert known == {"organisation": "this organisation's key", "developer": ""}
    assert looked(path, words=key_phrase(every.sides.key())).holds
    other = key_phrase(Identity.make(Role.COMPUTER).public.signing_key)
    assert not looked(path, words=other).holds
    assert said(f"verify {path} --words {other.replace(' ', '-')}").exit_code == 1
    with pytest.raises(UsageError):
        looked(path, words="nonsense")


def test_verify_card_that_only_states_the_hash_fails(every: EveryFile, tmp_path: Path) -> None:
    made_up, altered, nan = (tmp_path / f"{n}.json" for n in ("made-up", "altered", "nan"))
    raw = json.loads(every.paths["card"].read_bytes())
    raw["scores"]["composite"] = 0.99
    made_up.write_text(json.dumps(raw | {"run_card_hash": every.sides.card}))
    released = json.loads(every.paths["released-card"].read_bytes())
    altered.write_bytes(canonical_bytes(released | {"submitter": "Bob"}))
    nan.write_text(f'{{"run_card_hash":"{every.sides.card}","scores":NaN}}')
    for card, words in ((made_up, "was changed"), (altered, "changed"), (nan, "")):
        for record in ("ownership", "use"):
            found = wrong(looked(every.paths[record], card))
            assert any(words in each for each in found.values()), (card, record)


def test_verify_who_stands_in_the_terms_did_not_sign(sides: TwoSides) -> None:
    """Anybody can name a developer: the developer's six words are those of a signer only once they signed."""
    path, words = sides.proposed("one-sided"), key_phrase(sides.key())
    ok(f"ownership sign {path}")
    found = looked(path)
    assert [each.role for each in found.signers] == ["organisation"]
    [missing] = [each for each in found.checks if each.name == "developer"]
    assert missing.ok is None
    assert not looked(path, words=words).holds
    ok(f"ownership sign {path}", sides.developer)
    found = looked(path, words=words)
    assert {each.role for each in found.signers} == {"organisation", "developer"}
    assert not {"organisation", "developer"} & {each.name for each in found.checks}


def test_verify_older_copy_and_refused_record_fail(sides: TwoSides) -> None:
    path = sides.proposed("old")
    older = path.read_bytes()
    ok(f"ownership refuse {path} --reason no")
    assert not looked(path).holds
    path.write_bytes(older)
    assert wrong(looked(path)).keys() == {"standing", "newest words"}


def test_verify_key_with_something_behind_it_is_none(every: EveryFile, tmp_path: Path) -> None:
    path = tmp_path / "k.key"
    path.write_bytes(every.sides.key().encode() + b" " * 136)
    assert looked(path).kind == "public-key"
    path.write_bytes(path.read_bytes() + b"and anything")
    with pytest.raises(UsageError):
        looked(path)


def test_verify_certificate_by_a_developer_is_anothers(every: EveryFile, stranger: Path) -> None:
    """The developer writes the organisation's certificate anew with a key of their own, and a record that names it."""
    sides, own = every.sides, Identity.make(Role.ORGANISATION)
    raw = json.loads(sides.certificate.read_bytes())
    raw["organisation"]["signing_key"] = own.public.signing_key
    forged = stranger / "f.certificate.json"
    forged.write_bytes(canonical_bytes(raw))
    (stranger / "f.certificate.sig").write_bytes(own.sign(forged.read_bytes()))
    assert said(f"verify {forged}", sides.organisation).exit_code == 1  # who issued it knows
    found = looked(forged)
    assert (found.holds, [each.known for each in found.signers]) == (True, [""])
    [words] = wrong(looked(every.paths["ownership"], forged)).values()
    assert "another organisation's key" in words
    assert "another certificate" in words


def test_verify_believes_a_node_by_the_named_key(every: EveryFile, tmp_path: Path) -> None:
    path = every.paths["reference-manifest"]
    key = path.with_name("node.pub.json")
    found = looked(path, key)
    assert ("signature", True) in {(each.name, each.ok) for each in found.checks}
    assert ("score chrf", "41.5") in found.facts
    assert not looked(path, every.paths["public-key"]).holds
    block = json.loads(path.with_name(f"{path.name}.sig.json").read_bytes())
    for name in ("payloadSha256", "keyId"):
        copy = Path(shutil.copy(path, tmp_path / name))
        changed = json.dumps(block | {name: "0" * len(block[name])})
        copy.with_name(f"{name}.sig.json").write_text(changed)
        assert not looked(copy, key).holds, name
    assert not looked(Path(shutil.copy(path, tmp_path / "m.json"))).holds


def test_verify_revoked_key_fails(every: EveryFile, stranger: Path) -> None:
    assert looked(every.paths["use"]).holds
    ok(f"consent withdraw --signing-key {every.sides.organisation_key} --by Us --reason stolen")
    assert any("stolen" in words for words in wrong(looked(every.paths["use"])).values())


UNREADABLE = [
    (b"", "no file that"),
    (b"\x00" * 100, "no file that"),
    (b"hello", "no file that"),
    (b"{}", "no file that"),
    (b"[1, 2]", "no file that"),
    (b'{"format":"rosetta-ownership/9"}', "newest version"),
    (b'{"format":"rosetta-\x1b[2Jx/1"}', "not whole"),
    (b'{\n  "cost": 1,\n  "run_id": "a', "not whole"),
    (b'{"a":' * 3000 + b"1" + b"}" * 3000, "no file that"),
    (b"# Rosetta: secret keys of this organisation", "SECRET"),
    (b"PK\x03\x04" + b"\x00" * 200, "no file that"),
    (b"age-encryption.org/v1\n-> X25519 abc\nabc\n--- abc\n", ""),
]


def test_verify_what_is_none_of_ours_is_unreadable(stranger: Path) -> None:
    path = stranger / "x"
    for content, words in UNREADABLE:
        path.write_bytes(content)
        with pytest.raises(UsageError) as failed:
            looked(path)
        assert words in str(failed.value), content
        assert "\x1b" not in str(failed.value)
    path.write_text('{"format":"rosetta-profile/1","name":"U')
    assert "not whole" in " ".join(wrong(looked(path)).values())
    path = stranger / "b.rosetta-batch"
    path.write_bytes(seal_with_passphrase(b"PK", "one two three four five six"))
    with pytest.raises(UsageError, match="review verify CERTIFICATE --batch FILE"):
        looked(path)


def test_verify_pipes_and_missing_files_are_unreadable(stranger: Path) -> None:
    os.mkfifo(stranger / "pipe")
    for path in (stranger, stranger / "none", stranger / "pipe", Path("/dev/zero")):
        with pytest.raises(UsageError):
            looked(path)


def test_verify_damaged_store_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "rosetta.sqlite").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    assert isinstance(said("runs list", tmp_path).exception, StoreError)
    done = said(f"verify {tmp_path}/x", tmp_path)  # 1 would say that the file does not hold
    assert isinstance(done.exception, UsageError)


def test_verify_hostile_words_are_shown_as_symbols(stranger: Path) -> None:
    path = stranger / "h\x1b[2J.rosetta-keeper"
    path.write_bytes(write_card(Identity.make(Role.KEEPER), "Mal\x1b[2J\u202elory"))
    assert not {"\x1b", "\u202e"} & set(ok(f"verify {path}"))
