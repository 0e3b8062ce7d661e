"""Runs from a vault that each keeper opens alone: allowed by another keeper over a stick, or by who runs, in one go."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.store.file.sealing import forget_keys
from harness.vault.opening import vault_at
from tests.harness.vault.made import readable
from tests.tui.commands.vault_office import Homes, faults, numbered

RUN = ("--method", "copy-source", "--segment", "gold_standard", "--metrics", "chrf")
HERE = "--vault elders --purpose"


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Homes]:
    monkeypatch.setattr("harness.endpoint.ways_out.ways_out", lambda: ())
    yield Homes(tmp_path, monkeypatch, numbered(), threshold=1)
    forget_keys()


def lines(homes: Homes) -> int:
    office = homes.folder / "office"
    return vault_at(office / "elders", office).read().head.lines


def test_another_keeper_allows_a_run_over_a_stick(homes: Homes) -> None:
    asked = homes("office", "grant request elders greetings {stick}/a.rosetta-request --purpose spring", *RUN)  # fmt: skip
    assert "One keeper must allow it" in asked
    homes("office", "export elders {stick}/elders --purpose", "for the keepers")
    said = homes("school", "grant allow {stick}/elders {stick}/a.rosetta-request --to {stick}/s.rosetta-answer")  # fmt: skip
    assert "a run of the method copy-source" in said
    granted = "run greetings --vault elders --grant {stick}/a.rosetta-request"
    assert "Too few keepers allow it. 1 must allow it." in homes.types("office", granted, *RUN)
    assert "1 must allow it. Allowed by School." in homes("office", "grant take elders {stick}/s.rosetta-answer")  # fmt: skip
    other = homes.types("office", granted, *RUN[:-1], "bleu")
    assert "with other options, files, metrics or entries" in other
    done = homes.types("office", granted, *RUN)
    assert "chrF++" in done
    assert "You allow" not in done
    assert "was used up at" in homes.types("office", granted, *RUN)
    assert "used up the grant" in homes("office", "log elders").splitlines()[-1]
    assert readable(homes.folder) == []


def test_an_answer_that_nobody_asked_for_is_named(homes: Homes, tmp_path: Path) -> None:
    homes("office", "export elders {stick}/elders --purpose copy")
    homes("school", "grant request {stick}/elders greetings {stick}/b.rosetta-request --purpose hidden")  # fmt: skip
    homes("school", "grant allow {stick}/elders {stick}/b.rosetta-request --to {stick}/b.rosetta-answer")  # fmt: skip
    said = homes("office", "grant take elders {stick}/b.rosetta-answer")
    assert "This answer, of School, is to the request whose words are" in said
    assert "ask again: rosetta vault grant request" in said
    other = Homes(_folder(tmp_path), homes.monkeypatch, numbered(), threshold=1)
    foreign = other("office", f"grant take elders {homes.stick}/b.rosetta-answer")
    assert "of somebody who is no keeper of this vault, is for another vault (number" in foreign


def _folder(tmp_path: Path) -> Path:
    made = tmp_path / "others"
    made.mkdir()
    return made


def test_who_runs_allows_it_in_one_go_and_what_is_released_asks_the_budget_first(
    homes: Homes,
) -> None:
    before = lines(homes)
    said = homes.types("office", f"run greetings {HERE} spring", *RUN)
    shown = said[: said.index("chrF++")]
    assert "You allow, as a keeper, to open 'greetings' once: 5 gold_standard" in shown
    assert "what for    spring" in shown
    assert "a run of the method copy-source" in shown
    assert lines(homes) == before + 1
    homes.types("office", f"score --rescore last {HERE} again --metrics bleu")
    [first, again] = json.loads(homes("office", "grant show elders --json"))
    assert faults("vault-grants", [first, again]) == []
    assert (first["run"]["method"], first["needed"], bool(first["used"])) == ("copy-source", 1, True)  # fmt: skip
    assert again["run"]["method"] == "rescore"
    assert "Allowed by who asked, and used up at once" in homes("office", "grant show elders")
    assert "(copy-source, allowed once, as" in homes("office", "log elders")
    ids = [each["run_id"] for each in json.loads(homes.types("office", "runs list --json"))]
    used = lines(homes)
    assert "Written" in homes.types("office", f"runs export {ids[0]} {HERE} ann --submitter Ann -o ann.json")  # fmt: skip
    assert lines(homes) == used + 1
    refused = homes.types("office", f"runs export {ids[1]} {HERE} ann --submitter Ann -o b.json")
    assert "The next one is given from" in refused
    assert lines(homes) == used + 1  # nothing was opened, and no grant used up for it
    assert "Written" in homes.types("office", f"runs export {ids[0]} {HERE} ann --submitter Ann -o c.json")  # fmt: skip
    verified = homes.types("office", "runs verify ann.json")
    assert "✓ key: the key of this computer's keeper" in verified
    assert "– key: whose it is" in homes.types("school", "runs verify ../office/ann.json")
    assert readable(homes.folder) == []


def test_how_two_runs_differ_is_told_with_the_vault_and_stands_in_its_log(homes: Homes) -> None:
    for method in ("copy-source", "constant --text said"):
        homes.types("office", f"run greetings {HERE} spring -m {method} --metrics chrf")
    other, one = (each["run_id"] for each in json.loads(homes.types("office", "runs list --json")))
    differ = f"vault compare {one} {other} -o d.json"
    before = lines(homes)
    assert "were not told" in homes.types("office", f"{differ} {HERE} told")
    assert lines(homes) == before  # nothing was opened for it
    homes.types("office", "vault budget --pause 0")
    for submitter, run in (("Ann", one), ("Ben", other)):
        homes.types(
            "office", f"runs export {run} {HERE} told --submitter {submitter} -o {submitter}.json"
        )
    before = lines(homes)
    assert "name it with --vault FOLDER" in homes.types("office", differ)
    assert "Name each run once" in homes.types(
        "office", f"vault compare {one} {one} -o d.json {HERE} told"
    )
    assert lines(homes) == before
    said = homes.types("office", f"{differ} {HERE} told")
    assert f"telling how others differ from the run {one}" in said
    assert lines(homes) == before + 2
    assert (
        "telling how others differ from the run" in homes("office", "log elders").splitlines()[-1]
    )
    assert "✓ signature" in homes.types("office", "runs verify d.json")
    homes.types("office", "vault budget --pause 24")
    again = homes.types("office", f"{differ} {HERE} told --overwrite")
    assert "The next one is given from" in again
    assert lines(homes) == before + 2
    assert readable(homes.folder) == []
