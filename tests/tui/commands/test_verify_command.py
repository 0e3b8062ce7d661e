"""``rosetta verify`` over one file of each kind: whole, changed, cut, renamed, hostile, revoked, of a stranger."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest

from harness.core.canonical import canonical_bytes
from harness.sealed.keys import Identity, Role, key_phrase
from harness.vault.keepers import write_card
from review.verifying.verifying import FORMS, KINDS
from tests.tui.commands.certified_gold import TwoSides, ok, said, two_sides
from tests.tui.commands.every_file import every_file

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/schemas/verify.schema.json").read_bytes())
NOT_WRITTEN = {"sealed", "secret-keys", "released-difference", "released-refusal"}
"""Kinds that the tests below write themselves, or that are read by the same lines as another."""
UNSIGNED = {"scoring-proposal", "exchange-folder", "exchange-record", "corpus-project", "corpus"}
"""Kinds that nobody signs."""


@dataclass(frozen=True)
class EveryFile:
    sides: TwoSides
    paths: dict[str, Path]


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EveryFile]:
    folder = tmp_path_factory.mktemp("every")
    with pytest.MonkeyPatch.context() as patch:
        sides = two_sides(folder, patch)
        yield EveryFile(sides, every_file(sides, folder / "files"))


def told(path: Path, *more: str) -> dict[str, Any]:
    """Verify a file and return what is printed as JSON; what its exit code says must agree with it."""
    done = said(f"verify {path} --json {' '.join(more)}")
    assert done.exit_code in (0, 1), f"{done.output}{done.exception!r}"
    found: dict[str, Any] = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    assert found["holds"] is (done.exit_code == 0)
    return found


def unreadable(path: Path, *more: str) -> str:
    done = said(f"verify {path} {' '.join(more)}")
    code = (
        done.exit_code
        if isinstance(done.exception, SystemExit)
        else getattr(done.exception, "exit_code", 2)
    )
    assert code == 2, f"{done.output}{done.exception!r}"
    return f"{done.output}{done.exception}"


def test_every_kind_is_written_here(every: EveryFile) -> None:
    assert {each.name for each in KINDS} - NOT_WRITTEN == every.paths.keys()
    assert len(FORMS) == sum(len(each.forms) for each in KINDS)


@pytest.mark.parametrize("name", [each.name for each in KINDS if each.name not in NOT_WRITTEN])
def test_a_whole_file_holds(every: EveryFile, name: str) -> None:
    node = name.startswith("reference-")
    more = [f"--with {every.paths[name].with_name('node.pub.json')}"] if node else []
    found = told(every.paths[name], *more)
    assert found["kind"] == name
    assert found["holds"], found["checks"]
    assert bool(found["signers"]) is (name not in UNSIGNED)
    assert {check["name"] for check in found["checks"]} & {
        "signature",
        "key",
        "form",
        "unsigned",
    }, found["checks"]


_WORDS_ALONE = {"public-key"} | UNSIGNED
"""Another key is a key too."""


@pytest.mark.parametrize(
    "name", [each.name for each in KINDS if each.name not in NOT_WRITTEN | _WORDS_ALONE]
)
def test_a_changed_or_cut_file_does_not_hold(every: EveryFile, name: str, tmp_path: Path) -> None:
    shutil.copytree(
        every.paths[name].parent,
        tmp_path / "copy",
        ignore=shutil.ignore_patterns("exchange", "maintainer", "*.sqlite*", "locks"),
    )
    path, rng = tmp_path / "copy" / every.paths[name].name, Random(name)
    data = path.read_bytes()
    ends = [data[: len(data) // 2], data[:-2]]
    for place in (0, len(data) - 2, *rng.sample(range(len(data)), 6)):
        changed = bytearray(data)
        changed[place] ^= 1
        ends.append(bytes(changed))
    for content in ends:
        if _says_the_same(name, content, data):
            continue
        path.write_bytes(content)
        node = f"--with {path.with_name('node.pub.json')}" if name.startswith("reference-") else ""
        done = said(f"verify {path} --json {node}")
        holds = done.exit_code == 0 and not done.exception
        assert not holds, (done.output, content[:300])


def _says_the_same(name: str, content: bytes, data: bytes) -> bool:
    """Tell whether JSON whose layout is free says what it said: a blank for a line feed, a name of a key of the block."""
    if name not in {"card", "reference-signature"}:
        return False
    try:
        one, other = json.loads(content), json.loads(data)
    except ValueError:
        return False
    free = {"signedAt"}
    return all(one.get(key) == value for key, value in other.items() if key not in free)


def test_a_proposal_that_was_changed_does_not_hold(every: EveryFile, tmp_path: Path) -> None:
    path = tmp_path / "proposal.toml"
    path.write_bytes(every.paths["scoring-proposal"].read_bytes().replace(b"200", b"300"))
    assert not told(path)["holds"]


def test_who_signed_is_known_by_this_computer_or_by_six_words(every: EveryFile) -> None:
    path = every.paths["ownership"]
    found = told(path)
    known = {each["role"]: each["known"] for each in found["signers"]}
    assert known["organisation"] == "this organisation's key"
    assert known["developer"] is None
    words = key_phrase(every.sides.key())
    assert told(path, "--words", words.replace(" ", "-"))["holds"]
    other = key_phrase(Identity.make(Role.COMPUTER).public.signing_key).replace(" ", "-")
    assert not told(path, "--words", other)["holds"]
    assert "word" in unreadable(path, "--words", "nonsense")


def test_a_record_is_held_against_card_and_certificate(every: EveryFile, tmp_path: Path) -> None:
    path, sides = every.paths["ownership"], every.sides
    found = told(path, f"--with {sides.certificate}", f"--with {every.paths['released-card']}")
    assert found["holds"], found["checks"]
    assert {"card", "certificate"} <= {each["name"] for each in found["checks"] if each["ok"]}
    assert not told(path, f"--with {every.paths['card']}")["holds"]
    assert not told(path, f"--with {every.paths['certificate']}")["holds"]


def test_a_card_that_only_states_the_hash_is_not_the_one(every: EveryFile, tmp_path: Path) -> None:
    path, sides = every.paths["ownership"], every.sides
    made_up, raw = tmp_path / "made-up.json", json.loads(every.paths["card"].read_bytes())
    raw["scores"]["composite"] = 0.99
    made_up.write_text(json.dumps(raw | {"run_card_hash": sides.card}))
    altered, released = tmp_path / "altered.json", every.paths["released-card"].read_bytes()
    altered.write_bytes(canonical_bytes(json.loads(released) | {"submitter": "Bob"}))
    not_numbers = tmp_path / "nan.json"
    not_numbers.write_text(f'{{"run_card_hash":"{sides.card}","scores":NaN}}')
    for each, words in ((made_up, "was changed"), (altered, "changed"), (not_numbers, "")):
        for record in (path, every.paths["use"]):
            found = told(record, f"--with {each}")
            assert not found["holds"], each
            assert any(words in check["words"] for check in found["checks"] if check["ok"] is False)


def test_who_only_stands_in_the_terms_did_not_sign(every: EveryFile) -> None:
    """Anybody can name a developer: the developer's six words are those of a signer only once they signed."""
    sides = every.sides
    path = sides.proposed("one-sided")
    ok(f"ownership sign {path}")
    words = key_phrase(sides.key()).replace(" ", "-")
    found = told(path)
    assert [each["role"] for each in found["signers"]] == ["organisation"]
    [missing] = [each for each in found["checks"] if each["name"] == "developer"]
    assert missing["ok"] is None
    assert "Ann did not agree" in missing["words"]
    assert not told(path, "--words", words)["holds"]
    ok(f"ownership sign {path}", sides.developer)
    found = told(path, "--words", words)
    assert {each["role"] for each in found["signers"]} == {"organisation", "developer"}
    assert not {"organisation", "developer"} & {each["name"] for each in found["checks"]}


def test_a_use_is_held_against_card_and_certificate(every: EveryFile) -> None:
    path = every.paths["use"]
    found = told(
        path, f"--with {every.sides.certificate}", f"--with {every.paths['released-card']}"
    )
    assert found["holds"], found["checks"]
    assert {"card", "certificate"} <= {each["name"] for each in found["checks"] if each["ok"]}
    assert not told(path, f"--with {every.paths['card']}")["holds"]
    assert not told(path, f"--with {every.paths['certificate']}")["holds"]


@pytest.mark.parametrize("name", ["keeper", "notice", "statement", "row-proof", "vault-log"])
def test_a_file_that_nothing_is_held_against_is_named(every: EveryFile, name: str) -> None:
    found = told(every.paths[name], f"--with {every.paths['laptop']}")
    assert [each["ok"] for each in found["checks"] if each["name"] == "other file"] == [None]
    assert "nowhere" in unreadable(every.paths[name], "--with nowhere.json")


def test_a_key_with_something_behind_it_is_no_key(every: EveryFile, tmp_path: Path) -> None:
    path = tmp_path / "k.key"
    path.write_bytes(every.sides.key().encode() + b" " * 136)
    assert told(path)["kind"] == "public-key"
    path.write_bytes(path.read_bytes() + b"and anything")
    assert "no file that" in unreadable(path)


def test_a_certificate_that_a_developer_issues_is_another_organisations(
    every: EveryFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The developer writes the organisation's certificate anew with a key of their own, and a record that names it."""
    sides, own = every.sides, Identity.make(Role.ORGANISATION)
    raw = json.loads(sides.certificate.read_bytes())
    raw["organisation"]["signing_key"] = own.public.signing_key
    forged = tmp_path / "f.certificate.json"
    forged.write_bytes(canonical_bytes(raw))
    (tmp_path / "f.certificate.sig").write_bytes(own.sign(forged.read_bytes()))
    assert not told(forged)["holds"]  # here it is known what the organisation issued
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "stranger"))
    found = told(forged)
    assert found["holds"]
    assert [each["known"] for each in found["signers"]] == [None]
    checks = told(every.paths["ownership"], f"--with {forged}")["checks"]
    [wrong] = [each["words"] for each in checks if each["ok"] is False]
    assert "another organisation's key" in wrong
    assert "another certificate" in wrong


def test_an_older_copy_and_a_revoked_record_do_not_hold(every: EveryFile, tmp_path: Path) -> None:
    sides = every.sides
    path = sides.proposed("old")
    older = path.read_bytes()
    ok(f"ownership refuse {path} --reason no")
    assert not told(path)["holds"]
    path.write_bytes(older)
    found = told(path)
    assert {each["name"] for each in found["checks"] if each["ok"] is False} == {
        "standing",
        "newest words",
    }


def test_a_node_is_believed_by_the_key_that_is_named(every: EveryFile, tmp_path: Path) -> None:
    path = every.paths["reference-manifest"]
    key = path.with_name("node.pub.json")
    found = told(path, f"--with {key}")
    assert {
        "name": "signature",
        "ok": True,
        "words": "as the node with this key signed it",
    } in found["checks"]
    assert ("score chrf", "41.5") in {(each["name"], each["words"]) for each in found["facts"]}
    other = told(path, f"--with {every.paths['public-key']}")
    assert not other["holds"]
    for name in ("payloadSha256", "keyId"):
        copy, block = tmp_path / name, path.with_name(f"{path.name}.sig.json")
        shutil.copy(path, copy)
        raw = json.loads(block.read_bytes())
        copy.with_name(f"{name}.sig.json").write_text(
            json.dumps(raw | {name: "0" * len(raw[name])})
        )
        assert not told(copy, f"--with {key}")["holds"], name
    alone = shutil.copy(path, tmp_path / "m.json")
    assert not told(Path(alone))["holds"]


def test_a_revoked_key_is_told(
    every: EveryFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("ROSETTA_HOME", str(home))
    assert told(every.paths["use"])["holds"]
    ok(f"consent withdraw --signing-key {every.sides.organisation_key} --by Us --reason stolen")
    found = told(every.paths["use"])
    assert not found["holds"]
    assert any("stolen" in each["words"] for each in found["checks"])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no file that"),
        (b"\x00" * 100, "no file that"),
        (b"hello", "no file that"),
        (b'{"format":"rosetta-ownership/9"}', "newest version"),
        (b'{"format":"rosetta-\x1b[2Jx/1"}', "not whole"),
        (b'{"a":' * 3000 + b"1" + b"}" * 3000, "no file that"),
        (b"# Rosetta: secret keys of this organisation", "SECRET"),
        (b"PK\x03\x04" + b"\x00" * 200, "no file that"),
        (b"age-encryption.org/v1\n-> X25519 abc\nabc\n--- abc\n", ""),
        (b"[1, 2]", "no file that"),
    ],
    ids=range(10),
)
def test_what_is_none_of_ours_is_unreadable(
    tmp_path: Path, content: bytes, words: str, every: EveryFile
) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    found = unreadable(path)
    assert words in found
    assert "\x1b" not in found


def test_folders_pipes_and_what_is_not_there_are_unreadable(
    tmp_path: Path, every: EveryFile
) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "none", tmp_path / "pipe", Path("/dev/zero")):
        unreadable(path)


def test_hostile_words_are_shown_as_symbols(tmp_path: Path, every: EveryFile) -> None:
    path = tmp_path / "h\x1b[2J.rosetta-keeper"
    path.write_bytes(write_card(Identity.make(Role.KEEPER), "Mal\x1b[2J\u202elory"))
    done = said(f"verify {tmp_path}/h\x1b[2J.rosetta-keeper")
    assert done.exit_code == 0
    assert "\x1b" not in done.output
    assert "\u202e" not in done.output
