"""``rosetta verify FILE --with OTHER`` and ``rosetta verify FOLDER``, and that verify knows every kind that is written."""

from __future__ import annotations

import json
import os
import re
import shutil
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from harness.card.checking.verify import CardCheck
from harness.core.failures import UsageError
from harness.sealed.keys import Identity, Role
from harness.sealed.signature import public_pem
from review.verifying import folders
from review.verifying.held import ANY, NAMES
from review.verifying.verifying import FORMS, KINDS
from tests.tui.commands.command_line import said
from tests.tui.commands.every_file import EveryFile, looked

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "docs/schemas/verify-folder.schema.json").read_bytes())
NO_FILE = {
    "rosetta-answer": "within the file of an answer, whose other half is the sealed share",
    "rosetta-calibration-proposal": "TOML, known by its first lines",
    "rosetta-card-seal": "within the file of a seal",
    "rosetta-consent-given": "within the envelope of a corpus",
    "rosetta-drill-share": "within what a drill seals for a keeper",
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
_ENDS = (
    "answer batch evidence keeper laptop notice ownership profile request submission use witness"
)
ENDS = {f".rosetta-{name}": name for name in _ENDS.split()} | {
    ".rosetta-exchange": "exchange-list",
    ".rosetta-export": "sealed",
    ".rosetta-ratings": "sealed",
}
"""End of a file's name → the kind that verify knows it as."""


TOGETHER = {
    (pair.split("+")[0], pair.split("+")[1])
    for pair in [
        "card-seal+card",
        "card-seal+row-proof",
        "row-proof+card",
        "reproduction+card",
        "released-card+release-ledger",
        "coarse-certificate+release-ledger",
        "coarse-certificate+released-card",
        "certificate+batch",
        "evidence+batch",
        "evidence+certificate",
        "ownership+released-card",
        "ownership+coarse-certificate",
        "use+released-card",
        "use+coarse-certificate",
        "profile+statement",
        "request+vault-log",
        "answer+vault-log",
        "vault-head+vault-log",
        "answer+request",
        "drill+vault-log",
        "drill-answer+drill",
        "register+notice",
        "exchange-list+card",
        "use-end+use-begun",
        "saw+laptop",
    ]
}
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


@pytest.mark.parametrize("pair", sorted(TOGETHER), ids="+".join)
def test_verify_with_what_belongs_together_holds(every: EveryFile, pair: tuple[str, str]) -> None:
    for first, second in (pair, pair[::-1]):
        holds, found = beside(path_of(every, first), path_of(every, second))
        unsaid = (first, second) == ("certificate", "evidence")  # looked at without a word
        assert unsaid or True in found, (first, second, found)
        assert holds == (first != "use-begun"), (first, second)


@pytest.mark.parametrize("part", range(4))
def test_verify_with_every_other_pair_fails(every: EveryFile, part: int) -> None:
    paths = every.paths | every.more
    wrong = [pair for pair in NAMES if set(pair) <= paths.keys() and pair not in TOGETHER]
    wrong += [(one, "other-card") for one, other in NAMES if other == "card" and one in paths]
    wrong += [("witness", "laptop"), ("witness", "seen"), ("exchange-list", "other-card")]
    wrong += [("keeper", "vault-log"), ("use-end", "use"), ("use", "use-end")]
    for one, other in wrong[part::4]:
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


def test_verify_use_whose_end_is_known_fails(every: EveryFile, tmp_path: Path) -> None:
    [found] = [each for each in looked(every.more["use-begun"]).checks if each.ok is False]
    assert (found.name, "until 2026-02-03: over" in found.words) == ("standing", True)
    assert said(f"verify {every.more['use-begun']}", tmp_path).exit_code == 0


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
    with pytest.raises(UsageError):
        looked(paths["keeper"], Path("nowhere.json"))


def test_verify_folder_has_a_line_for_each_file(every: EveryFile, tmp_path: Path) -> None:
    copy, apart = tmp_path / "copy", ("exchange", "maintainer", "sample", "drill", "made")
    folder = every.paths["corpus"].parent
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(*apart))
    for each in copy.rglob("*"):  # a manifest of a node needs its key, which a folder does not name
        if each.name.startswith("score-manifest"):
            each.unlink()
    done = said(f"verify {copy}")
    assert done.exit_code == 0, done.output
    *lines, total = done.output.splitlines()
    assert len([each for each in lines if each[:1] in "✓✗–"]) == len(
        [each for each in copy.rglob("*") if each.is_file() and not each.name.startswith(".")]
    )
    [corpus] = [each for each in lines if " corpus.json " in each]
    assert corpus.startswith("– corpus.json")
    assert "nobody signs a corpus" in corpus
    assert sum("`rosetta verify` knows: the log of a vault" in each for each in lines) == 1
    assert "signed by nobody" in total
    assert " 0 do not," in total
    (copy / "card.json").write_bytes((copy / "card.json").read_bytes().replace(b'"id": ', b'"id" :', 1))  # fmt: skip
    card = json.loads((copy / "card.json").read_bytes())
    card["run_id"] = "f" * 32
    (copy / "card.json").write_text(json.dumps(card))
    for each in [*copy.iterdir()]:  # one that holds and one that does not are enough
        if each.name not in {"card.json", "key.pem"}:
            shutil.rmtree(each) if each.is_dir() else each.unlink()
    done = said(f"verify {copy} --json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    wrong = {each["file"] for each in found["files"] if each["holds"] is False}
    assert wrong == {"card.json"}


def test_verify_folder_of_unsigned_files_verifies_nothing(tmp_path: Path) -> None:
    entry = {"id": 1, "source": "a", "reference": "b", "segment": "development"}
    told = {"dataset": {"id": "made"}, "entries": [entry]}
    (tmp_path / "corpus.json").write_text(json.dumps(told), "utf-8")
    (tmp_path / "project.json").write_text('{"format": "rosetta-corpus-project/1"}', "utf-8")
    done = said(f"verify {tmp_path}")
    assert done.exit_code == 0, done.output
    assert "✓" not in done.output
    assert "2 files: 0 hold, 0 do not, 2 signed by nobody, 0 could not be looked at." in done.output
    found = json.loads(said(f"verify {tmp_path} --json").stdout)
    jsonschema.validate(found, SCHEMA)
    assert [each["holds"] for each in found["files"]] == [None, None]
    assert "Nothing in it could be checked" in said(f"verify {tmp_path / 'corpus.json'}").output


def test_verify_folder_leaves_links_and_pipes_alone(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
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


def test_verify_folder_has_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("hello")
    done = said(f"verify {tmp_path}")
    assert done.exit_code == 2
    assert "1 file: 0 hold, 0 do not, 0 signed by nobody, 1 could not be looked at." in done.output
    assert isinstance(said(f"verify {tmp_path} --with {tmp_path}/a").exception, UsageError)
    (tmp_path / "b").write_text("hello")
    monkeypatch.setattr(folders, "MOST_FILES", 1)
    told = said(f"verify {tmp_path}")
    assert "holds 2 files, and 1 are looked at" in str(told.exception)
    deep = tmp_path.joinpath(*"123456789")
    deep.mkdir(parents=True)
    told = said(f"verify {tmp_path}")
    assert "more than 8 folders within folders" in str(told.exception)
