"""Files and data folders that cannot be opened: each is told in its own words, and a second try works."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.core.canonical import canonical_bytes
from harness.core.storage_problems import StorageProblem
from harness.sealed.archive import pack
from harness.sealed.forms import FileProblem
from review.desktop.pages.choose_page import ChoosePage
from review.desktop.pages.first_pages import AskingPage, OrganisationPage
from review.files.batch import write_batch
from review.session.words.troubles import FILES, STICKS
from tests.desktop.trouble.starting import BEGINNINGS
from tests.desktop.trouble.told import copied, told
from tests.desktop.visit_scene import Enter
from tests.harness.process import ROOT
from tests.review.session.scenes import ORGANISATION, batch_of, items_of, write_file

SAID = {
    "newer": "A newer version of this program keeps your answers. Ask for it.",
    "theirs": "Another program uses the name of the file with your answers. Ask for help.",
    "no database": "Another program uses the name of the file with your answers. Ask for help.",
    "damaged": "The file with your answers is damaged. Ask for help. Do not delete anything.",
    "folder": "The program may not write on this computer's disk. Ask for help, then try again.",
}


def test_every_trouble_at_the_start_is_told_and_left_behind(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.desktop.trouble.starting", *BEGINNINGS],
        cwd=ROOT,
        env={**os.environ, "ROSETTA_HOME": str(tmp_path), "LC_ALL": "C.UTF-8"},
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [what for what, *_ in told] == [*BEGINNINGS, ""]
    for what, *said in told[:-1]:
        assert "The file with your answers does not open" in said, what
        assert SAID[what] in said, (what, said)
        assert len(said) >= 3, "a line for whoever helps"
    assert "There is nothing to look at yet." in told[-1]


GOOD = write_batch(batch_of(items_of(2)))


def restated(**changes: Any) -> bytes:
    """The same review whose signed head says something else."""
    read = zipfile.ZipFile(io.BytesIO(GOOD))
    members = {name: read.read(name) for name in read.namelist() if "manifest" not in name}
    stated = json.loads(read.read("manifest.json")) | changes
    stated["members"] = {n: hashlib.sha256(c).hexdigest() for n, c in members.items()}
    content = canonical_bytes(stated)
    return pack({**members, "manifest.json": content, "manifest.sig": ORGANISATION.sign(content)})


def flipped() -> bytes:
    """One byte of a sentence is another."""
    at = GOOD.index(b"Candidate 2")
    return GOOD[:at] + b"c" + GOOD[at + 1 :]


def repacked() -> bytes:
    """Somebody unpacked it and packed it again with a usual program."""
    read, made = zipfile.ZipFile(io.BytesIO(GOOD)), io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as written:
        for name in read.namelist():
            written.writestr(name, read.read(name))
    return made.getvalue()


FILES_AND_WORDS: dict[str, tuple[Callable[[], bytes], FileProblem]] = {
    "cut": (lambda: GOOD[: len(GOOD) // 2], FileProblem.CUT_SHORT),
    "changed": (flipped, FileProblem.DAMAGED),
    "repacked": (repacked, FileProblem.REPACKED),
    "a picture": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(5000), FileProblem.NOT_OURS),
    "empty": (lambda: b"", FileProblem.CUT_SHORT),
    "ratings": (lambda: restated(format="rosetta-ratings/1"), FileProblem.NOT_OURS),
    "newer": (lambda: restated(format="rosetta-batch/4"), FileProblem.NEWER),
    "contradictory": (lambda: restated(orders={}), FileProblem.INVALID),
}


@pytest.mark.parametrize("name", list(FILES_AND_WORDS))
def test_a_file_that_is_not_taken(enter: Enter, tmp_path: Path, name: str) -> None:
    made, problem = FILES_AND_WORDS[name]
    file = write_file(batch_of(items_of(2)), tmp_path / "stick")
    good = file.read_bytes()
    file.write_bytes(made())
    entry = enter(places=[file])
    entry.page(ChoosePage)
    heard = told(entry)
    assert heard is not None
    assert heard.said == f"{file.name}: {FILES[problem]}"
    assert heard.detail.startswith(f"{file}: ")
    assert heard.said.partition(": ")[2] not in heard.detail
    assert "Candidate" not in heard.detail
    assert copied(entry) == heard.detail
    assert entry.laptop.batches() == ()
    file.write_bytes(good)
    entry.press("\r")
    entry.page(OrganisationPage)
    assert told(entry) is None


def test_a_stick_that_is_gone_between_list_and_key(enter: Enter, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    write_file(batch_of(items_of(2)), stick)
    entry = enter(sticks=[stick])
    stick.rename(tmp_path / "pocket")
    entry.press("\r")
    entry.page(ChoosePage)
    heard = told(entry)
    assert heard is not None
    assert heard.said == STICKS[StorageProblem.GONE]
    (tmp_path / "pocket").rename(stick)
    entry.click("Look again")
    entry.press("\r")
    entry.page(OrganisationPage)


def test_a_file_of_another_laptop_asks_for_nothing_that_helps_nobody(
    enter: Enter, tmp_path: Path
) -> None:
    from harness.sealed.sealing import AgeIdentity, seal

    file = tmp_path / "theirs.rosetta-batch"
    file.write_bytes(seal(GOOD, [AgeIdentity.make().recipient]))
    entry = enter(places=[file])
    entry.page(ChoosePage)
    heard = told(entry)
    assert heard is not None
    assert heard.said == f"{file.name}: {FILES[FileProblem.WRONG_KEY]}"


def test_what_was_typed_stays_when_the_secret_words_are_wrong(enter: Enter, tmp_path: Path) -> None:
    from harness.sealed.sealing import seal_with_passphrase

    file = tmp_path / "locked.rosetta-batch"
    file.write_bytes(seal_with_passphrase(GOOD, "kizun gorot sapos gipad"))
    entry = enter(places=[file])
    page = entry.page(AskingPage)
    entry.type("four wrong secret words")
    entry.press("\r")
    heard = told(entry)
    assert heard is not None
    assert heard.said == FILES[FileProblem.WRONG_KEY]
    assert entry.page(AskingPage) is page
    assert page.text == "four wrong secret words"


def test_a_pipe_under_a_files_name_stops_nobody(enter: Enter, tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no pipes with names")
    stick = tmp_path / "stick"
    stick.mkdir()
    os.mkfifo(stick / "odd.rosetta-batch")
    entry = enter(places=[stick / "odd.rosetta-batch"])
    entry.page(ChoosePage)
    assert told(entry) is not None
    shutil.rmtree(stick)
