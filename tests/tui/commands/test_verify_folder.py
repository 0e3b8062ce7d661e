"""``rosetta verify FOLDER``, and that every kind of file that the program writes is one that verify knows."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from harness.core.failures import UsageError
from review.verifying import folders
from review.verifying.verifying import FORMS, KINDS
from tests.tui.commands.certified_gold import said, two_sides
from tests.tui.commands.every_file import every_file

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
ENDS = {
    ".rosetta-answer": "answer",
    ".rosetta-batch": "batch",
    ".rosetta-evidence": "evidence",
    ".rosetta-exchange": "exchange-list",
    ".rosetta-export": "sealed",
    ".rosetta-keeper": "keeper",
    ".rosetta-laptop": "laptop",
    ".rosetta-notice": "notice",
    ".rosetta-ownership": "ownership",
    ".rosetta-profile": "profile",
    ".rosetta-ratings": "sealed",
    ".rosetta-request": "request",
    ".rosetta-submission": "submission",
    ".rosetta-use": "use",
    ".rosetta-witness": "witness",
}
"""End of a file's name → the kind that verify knows it as."""


def _in_sources(pattern: str) -> set[str]:
    found: set[str] = set()
    for package in ("corpora", "scoring", "harness", "review", "rosetta_tui"):
        for path in (ROOT / package).rglob("*.py"):
            found |= set(re.findall(pattern, path.read_text("utf-8")))
    return found


def test_every_form_that_the_program_writes_is_known() -> None:
    """A form that is new here fails this until verify knows it, or a line says why no file has it."""
    forms = _in_sources(r'"(rosetta-[a-z-]+)/\d+["\\]')
    known = {each.partition("/")[0] for each in FORMS}
    assert forms - known == NO_FILE.keys()
    assert len(forms) > 30


def test_every_end_of_a_name_that_the_program_gives_is_of_a_known_kind() -> None:
    assert _in_sources(r'"(\.rosetta-[a-z-]+)"') == ENDS.keys()
    assert set(ENDS.values()) <= {each.name for each in KINDS}


def test_the_docs_list_every_kind() -> None:
    page = (ROOT / "docs/verifying.md").read_text("utf-8")
    listed = page.partition("<!-- kinds: begin -->\n")[2].partition("\n<!-- kinds: end -->")[0]
    assert listed == ", ".join(dict.fromkeys(each.what for each in KINDS)) + "."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    top = tmp_path_factory.mktemp("every")
    with pytest.MonkeyPatch.context() as patch:
        every_file(two_sides(top, patch), top / "files")
        for each in ("exchange", "maintainer", "sample", "drill", "made"):
            shutil.rmtree(top / "files" / each)
        yield top / "files"


def test_every_file_of_a_folder_gets_a_line_and_a_total(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
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
    done = said(f"verify {copy} --json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    wrong = {each["file"] for each in found["files"] if each["holds"] is False}
    assert wrong == {"card.json"}


def test_what_nobody_signs_is_not_told_as_verified(tmp_path: Path) -> None:
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


def test_links_hidden_files_and_pipes_are_left_alone(tmp_path: Path) -> None:
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


def test_a_folder_that_is_too_large_or_of_which_nothing_is_known_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
