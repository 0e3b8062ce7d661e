"""``rosetta verify`` over one file of each kind and over folders: whole, changed, hostile, revoked, beside another file."""

from __future__ import annotations

import json
import os
import re
import shutil
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest
from jsonschema import Draft202012Validator

from harness.card.checking.verdict import CardCheck
from harness.core.canonical import canonical_bytes
from harness.core.failures import StoreError, UsageError
from harness.sealed.keys import Identity, Role, key_phrase, public_pem
from harness.sealed.sealing import seal_with_passphrase
from harness.vault.keepers import write_card
from review.verifying import verifying
from review.verifying.kinds import ANY, NAMES
from review.verifying.verifying import FORMS, KINDS, FileVerdict
from tests.harness.sealed.refusals import refuses
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
def stranger(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on a computer that knows nobody."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path_factory.mktemp("stranger")))
    return tmp_path


def test_verify_prints_json_and_exit_code(every: EveryFile, stranger: Path) -> None:
    path = stranger / "statement.json"
    whole = every.paths["statement"].read_bytes()
    for content, code in ((whole, 0), (whole.replace(b"a-page", b"b-page"), 1)):
        path.write_bytes(content)
        done = said(f"verify {path} --json")
        found: dict[str, Any] = json.loads(done.stdout)
        assert (done.exit_code, found["holds"], found["kind"]) == (code, code == 0, "statement")
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
        found = wrong(looked(every.paths["ownership"], card))
        assert any(words in each for each in found.values()), card


def test_verify_who_stands_in_the_terms_did_not_sign(sides: TwoSides) -> None:
    """Anybody can name a developer: the developer's six words are those of a signer only once they signed."""
    path, words = sides.proposed("one-sided"), key_phrase(sides.key())
    ok(f"community answer {path} --sign")
    found = looked(path)
    assert [each.role for each in found.signers] == ["organisation"]
    [missing] = [each for each in found.checks if each.name == "developer"]
    assert missing.ok is None
    assert not looked(path, words=words).holds
    ok(f"community answer {path} --sign", sides.developer)
    found = looked(path, words=words)
    assert {each.role for each in found.signers} == {"organisation", "developer"}
    assert not {"organisation", "developer"} & {each.name for each in found.checks}


def test_verify_older_copy_and_refused_record_fail(sides: TwoSides) -> None:
    path = sides.proposed("old")
    older = path.read_bytes()
    ok(f"community answer {path} --refuse no")
    assert not looked(path).holds
    path.write_bytes(older)
    assert wrong(looked(path)).keys() == {"standing", "newest words"}


def test_verify_key_with_something_behind_it_is_none(every: EveryFile, tmp_path: Path) -> None:
    path = tmp_path / "k.key"
    path.write_bytes(every.sides.key().encode() + b" " * 136)
    assert looked(path).kind == "public-key"
    path.write_bytes(path.read_bytes() + b"and anything")
    refuses(UsageError, "", looked, path)


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
    assert looked(every.paths["profile"]).holds
    ok(f"community withdraw --signing-key {every.sides.organisation_key} --by Us --reason stolen")
    assert any("stolen" in words for words in wrong(looked(every.paths["profile"])).values())


UNREADABLE = [
    (b"", "not a file that"),
    (b"\x00" * 100, "not a file that"),
    (b"hello", "not a file that"),
    (b"{}", "not a file that"),
    (b"[1, 2]", "not a file that"),
    (b'{"format":"rosetta-ownership/9"}', "newest version"),
    (b'{"format":"rosetta-\x1b[2Jx/1"}', "not whole"),
    (b'{\n  "cost": 1,\n  "run_id": "a', "not whole"),
    (b'{"a":' * 3000 + b"1" + b"}" * 3000, "not a file that"),
    (b"# Rosetta: secret keys of this organisation", "SECRET"),
    (b"PK\x03\x04" + b"\x00" * 200, "not a file that"),
    (b"age-encryption.org/v1\n-> X25519 abc\nabc\n--- abc\n", ""),
]


def test_verify_what_is_none_of_ours_is_unreadable(stranger: Path) -> None:
    path = stranger / "x"
    for content, words in UNREADABLE:
        path.write_bytes(content)
        failed = refuses(UsageError, "", looked, path)
        assert words in str(failed), content
        assert "\x1b" not in str(failed)
    path.write_text('{"format":"rosetta-profile/1","name":"U')
    assert "not whole" in " ".join(wrong(looked(path)).values())
    path = stranger / "b.rosetta-batch"
    path.write_bytes(seal_with_passphrase(b"PK", "one two three four five six"))
    refuses(UsageError, "review verify CERTIFICATE --batch FILE", looked, path)


def test_verify_pipes_and_missing_files_are_unreadable(stranger: Path) -> None:
    os.mkfifo(stranger / "pipe")
    for path in (stranger, stranger / "none", stranger / "pipe", Path("/dev/zero")):
        refuses(UsageError, "", looked, path)


def test_verify_damaged_store_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "rosetta.sqlite").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    assert isinstance(said("runs list", tmp_path).exception, StoreError)
    done = said(f"verify {tmp_path}/x", tmp_path)  # 1 would say that the file does not hold
    assert isinstance(done.exception, UsageError)


def test_verify_hostile_words_are_shown_as_symbols(stranger: Path) -> None:
    path = stranger / "h\x1b[2J.rosetta-keeper"
    path.write_bytes(write_card(Identity.make(Role.KEEPER), "Mal\x1b[2J\u202elory"))
    assert not {"\x1b", "\u202e"} & set(ok(f"verify {path}"))


ROOT = Path(__file__).parents[3]
FOLDER_SCHEMA = json.loads((ROOT / "docs/schemas/verify-folder.schema.json").read_bytes())
NO_FILE = {
    "rosetta-answer": "within the file of an answer, whose other half is the sealed share",
    "rosetta-calibration-proposal": "TOML, known by its first lines",
    "rosetta-card-seal": "within the file of a seal",
    "rosetta-consent-given": "within the envelope of a corpus",
    "rosetta-export": "sealed: known by its lock",
    "rosetta-former-key": "the first line within what is sealed for a keeper",
    "rosetta-ownership-act": "within a record of ownership",
    "rosetta-ownership-terms": "within a record of ownership",
    "rosetta-ratings": "sealed: known by its lock",
    "rosetta-review-key": "within evidence",
    "rosetta-row-salt": "a word that is hashed",
    "rosetta-share": "the first line within what is sealed for a keeper",
    "rosetta-vault-texts": "sealed within a vault",
}
"""Forms that no file of their own has, or that are known otherwise."""
_ENDS = "answer batch evidence keeper laptop notice ownership profile request submission witness"
ENDS = {f".rosetta-{name}": name for name in _ENDS.split()} | {
    ".rosetta-exchange": "exchange-list",
    ".rosetta-export": "sealed",
    ".rosetta-ratings": "sealed",
}
"""End of a file's name → the kind that verify knows it as."""


_PAIRS = """
card-seal+card card-seal+row-proof row-proof+card reproduction+card released-card+release-ledger
coarse-certificate+release-ledger coarse-certificate+released-card certificate+batch evidence+batch
evidence+certificate ownership+released-card ownership+coarse-certificate profile+statement request+vault-log answer+vault-log vault-head+vault-log
answer+request share-tried+vault-log register+notice exchange-list+card
saw+laptop
"""
TOGETHER = {(one, other) for one, _, other in (each.partition("+") for each in _PAIRS.split())}
"""Of the files that are written here."""


def _in_sources(pattern: str) -> set[str]:
    found: set[str] = set()
    for package in ("corpora", "scoring", "harness", "review", "rosetta_tui"):
        for path in (ROOT / package).rglob("*.py"):
            found |= set(re.findall(pattern, path.read_text("utf-8")))
    return found


def test_verify_knows_every_form_that_is_written() -> None:
    """A form that is new here fails this until verify knows it, or a line says why no file has it."""
    forms = _in_sources(r'"(rosetta-[a-z-]+)/\d+["\\]')
    known = {each.partition("/")[0] for each in FORMS}
    assert forms - known == NO_FILE.keys()
    assert len(forms) > 30


def test_verify_knows_every_end_of_a_name() -> None:
    assert _in_sources(r'"(\.rosetta-[a-z-]+)"') == ENDS.keys()
    assert set(ENDS.values()) <= {each.name for each in KINDS}


def test_docs_list_every_kind_of_file() -> None:
    page = (ROOT / "docs/verifying.md").read_text("utf-8")
    listed = page.partition("<!-- kinds: begin -->\n")[2].partition("\n<!-- kinds: end -->")[0]
    assert listed == ", ".join(dict.fromkeys(each.what for each in KINDS)) + "."


def path_of(every: EveryFile, name: str) -> Path:
    paths = every.paths | every.more
    return paths["seen"] if name == "laptop" else paths[name]


def beside(file: Path, other: Path) -> tuple[bool, list[bool | None]]:
    """Return whether a file holds, and what was said of the other one."""
    found = looked(file, other)
    return found.holds, [each.ok for each in found.checks if each not in alone(file)]


@cache
def alone(file: Path) -> tuple[CardCheck, ...]:
    return looked(file).checks


def test_verify_with_table_names_kinds_that_there_are() -> None:
    known = {each.name for each in KINDS} | {ANY}
    assert {name for pair in NAMES for name in pair} <= known


@pytest.mark.costly("each kind beside each that belongs to it")
def test_verify_with_what_belongs_together_holds(every: EveryFile) -> None:
    for pair in TOGETHER:
        for first, second in (pair, pair[::-1]) if times(0, 1) else (pair,):
            holds, found = beside(path_of(every, first), path_of(every, second))
            unsaid = (first, second) == ("certificate", "evidence")  # looked at without a word
            assert unsaid or True in found, (first, second, found)
            assert holds, (first, second)


@pytest.mark.costly("each kind beside each that does not belong to it")
def test_verify_with_every_other_pair_fails(every: EveryFile) -> None:
    paths = every.paths | every.more
    wrong = [pair for pair in NAMES if set(pair) <= paths.keys() and pair not in TOGETHER]
    wrong += [(one, "other-card") for one, other in NAMES if other == "card" and one in paths]
    wrong += [("witness", "laptop"), ("witness", "seen"), ("exchange-list", "other-card")]
    wrong += [("keeper", "vault-log")]
    for one, other in wrong:
        holds, found = beside(paths[one], paths[other])
        assert (holds, False in found) == (False, True), (one, other, found)


def test_verify_with_changed_card_fails(every: EveryFile, tmp_path: Path) -> None:
    """A card whose numbers were changed and whose hash was left is not the card that was signed."""
    changed = tmp_path / "card.json"
    raw = json.loads(every.paths["card"].read_bytes())
    raw["scores"]["composite"] = 0.99
    changed.write_text(json.dumps(raw))
    for each in ("card-seal", "row-proof", "reproduction"):
        holds, found = beside(every.paths[each], changed)
        assert (holds, False in found) == (False, True), each


def test_verify_with_a_key_asks_who_signed(every: EveryFile, tmp_path: Path) -> None:
    mine, seal = tmp_path / "mine.pem", every.paths["card-seal"]
    mine.write_text(public_pem(looked(seal).signers[0].key))
    assert beside(seal, mine) == (True, [True])
    mine.write_text(public_pem(Identity.make(Role.COMPUTER).public.signing_key))
    assert beside(seal, mine) == (False, [False])
    done = said(f"verify {seal} --with {mine} --json")
    assert (done.exit_code, json.loads(done.stdout)["holds"]) == (1, False)


def test_verify_with_what_nothing_names_says_so(every: EveryFile, tmp_path: Path) -> None:
    notes, paths = tmp_path / "notes.txt", every.paths
    notes.write_text("hello")
    for other in (notes, paths["laptop"]):
        assert beside(paths["card-seal"], other) == (True, [None])
    for name in ("keeper", "notice", "statement", "row-proof", "vault-log"):
        assert beside(paths[name], paths["laptop"]) == (True, [None]), name
    refuses(UsageError, "", looked, paths["keeper"], Path("nowhere.json"))


def test_verify_folder_has_a_line_for_each_file(every: EveryFile, tmp_path: Path) -> None:
    copy, apart = tmp_path / "copy", ("exchange", "maintainer", "sample", "made")
    folder = every.paths["corpus"].parent
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(*apart))
    for each in copy.rglob("*"):  # a manifest of a node needs its key, which a folder does not name
        if each.name.startswith("score-manifest"):
            each.unlink()
    done = said(f"verify {copy}")
    assert done.exit_code == 0, done.output
    *lines, total = done.output.splitlines()
    there = [e for e in copy.rglob("*") if e.is_file() and not e.name.startswith(".")]
    assert len([each for each in lines if each[:1] in "✓✗–"]) == len(there)
    [corpus] = [each for each in lines if " corpus.json " in each]
    assert corpus.startswith("– corpus.json")
    assert "signed by nobody" in total
    assert " 0 do not," in total
    card = json.loads((copy / "card.json").read_bytes())
    card["run_id"] = "f" * 32
    (copy / "card.json").write_text(json.dumps(card))
    for each in [*copy.iterdir()]:  # one that holds and one that does not are enough
        if each.name not in {"card.json", "key.pem"}:
            shutil.rmtree(each) if each.is_dir() else each.unlink()
    done = said(f"verify {copy} --json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    jsonschema.validate(found, FOLDER_SCHEMA)
    wrong = {each["file"] for each in found["files"] if each["holds"] is False}
    assert wrong == {"card.json"}


def test_verify_folder_of_unsigned_files_verifies_nothing(stranger: Path) -> None:
    entry = {"id": 1, "source": "a", "reference": "b", "segment": "development"}
    told = {"dataset": {"id": "made"}, "entries": [entry]}
    (stranger / "corpus.json").write_text(json.dumps(told), "utf-8")
    (stranger / "project.json").write_text('{"format": "rosetta-corpus-project/1"}', "utf-8")
    done = said(f"verify {stranger}")
    assert done.exit_code == 0, done.output
    assert "✓" not in done.output
    assert "2 files: 0 hold, 0 do not, 2 signed by nobody, 0 could not be examined." in done.output
    found = json.loads(said(f"verify {stranger} --json").stdout)
    jsonschema.validate(found, FOLDER_SCHEMA)
    assert [each["holds"] for each in found["files"]] == [None, None]
    assert "Nothing in it could be checked" in said(f"verify {stranger / 'corpus.json'}").output


def test_verify_folder_leaves_links_and_pipes_alone(stranger: Path) -> None:
    inside, outside = stranger / "inside", stranger / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "k.pem").write_text("ab" * 32)
    (inside / "k").write_text("cd" * 32)
    (inside / "link").symlink_to(outside / "k.pem")
    (inside / "links").symlink_to(outside)
    (inside / ".hidden").write_text("ab" * 32)
    os.mkfifo(inside / "pipe")
    done = said(f"verify {inside} --json")
    assert [each["file"] for each in json.loads(done.stdout)["files"]] == ["k"]


def test_verify_folder_has_limits(stranger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (stranger / "a").write_text("hello")
    done = said(f"verify {stranger}")
    assert done.exit_code == 2
    assert "1 file: 0 hold, 0 do not, 0 signed by nobody, 1 could not be examined." in done.output
    assert isinstance(said(f"verify {stranger} --with {stranger}/a").exception, UsageError)
    (stranger / "b").write_text("hello")
    monkeypatch.setattr(verifying, "MOST_FILES", 1)
    told = said(f"verify {stranger}")
    assert "holds 2 files, and 1 are examined" in str(told.exception)
    deep = stranger.joinpath(*"123456789")
    deep.mkdir(parents=True)
    told = said(f"verify {stranger}")
    assert "more than 8 folders within folders" in str(told.exception)
