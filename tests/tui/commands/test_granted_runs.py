"""Runs from a vault that two of three keepers open together: by a grant over a stick, or with both at one computer."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.sealed.keys import Identity, Role
from harness.store.file.database import opened
from harness.store.file.sealing import forget_keys
from review.files.statements import write_laptop_card
from tests.harness.vault.made import CANARY, readable
from tests.tui.commands.processes import Rosetta
from tests.tui.commands.vault_office import (
    DESPITE,
    HOMES,
    METHOD,
    RUN,
    Homes,
    asked,
    grants,
    numbered,
)
from tests.tui.real.pseudo import Pseudo

PAGE = Path(__file__).parents[3] / "docs" / "grants.md"
SMALL = [
    "--organisation",
    "Council",
    "--reviewers",
    "2",
    "--items",
    "4",
    "--bad",
    "0",
    "--repeats",
    "0",
    "--anchors",
    "0",
    "--anyway",
]


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Homes]:
    made = Homes(tmp_path, monkeypatch, numbered())
    (tmp_path / "office" / "back.py").write_text(METHOD, "utf-8")
    (tmp_path / "office" / "retried").touch()
    yield made
    forget_keys()


def test_granted_run_is_made_once(homes: Homes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.endpoint.ways_out.ways_out", lambda: ("a cable",))
    granted = asked(homes, "a", "--method", "copy-source", *RUN)
    said = homes.types("office", f"run greetings {granted} --method copy-source", *RUN, *DESPITE)
    assert "chrF++" in said, said
    [grant] = grants(homes)
    assert grant.used
    again = homes.types("office", f"run greetings {granted} --method copy-source", *RUN, *DESPITE)
    assert "was used up at" in again
    assert len(json.loads(homes.types("office", "runs list --json"))) == 1
    log = homes("office", "log elders").splitlines()[-1]
    assert "used up the grant" in log
    assert "for the run" in log
    assert "despite a network, because: made-up sentences" in log
    assert readable(homes.folder) == []


WRONG = [
    ("another method", "run greetings {} --method constant --text Jes", RUN, "for the method 'copy-source', and this is the method 'constant'"),
    ("other metrics", "run greetings {} --method copy-source", (*RUN[:3], "bleu"), "with other options, files, metrics or entries"),
    ("other entries", "run greetings {} --method copy-source", (*RUN, "--limit", "2"), "with other options, files, metrics or entries"),
    ("another corpus", "run songs {} --method copy-source", RUN, "for the corpus 'greetings', and this is 'songs'"),
    ("a purpose beside it", "run greetings {} --purpose x --method copy-source", RUN, "leave --purpose out"),
    ("a keeper beside it", "run greetings {} --with x --method copy-source", RUN, "leave --with out"),
    ("a card beside it", "run greetings {} --cards --method copy-source", RUN, "leave --cards out"),
    ("no vault", "run greetings {} --method copy-source", RUN, "--grant goes with --vault"),
    ("no request", "run greetings {} --method copy-source", RUN, "put the stick back"),
]  # fmt: skip


def test_granted_run_that_is_another_uses_nothing_up(homes: Homes, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    granted = asked(homes, "a", "--method", "copy-source", *RUN)
    for name, line, words, said in WRONG:
        given = granted.partition("elders ")[2] if name == "no vault" else granted
        given = given.replace("a.rosetta", "b.rosetta") if name == "no request" else given
        despite = () if name == "no vault" else DESPITE
        assert said in homes.types("office", line.format(given), *words, *despite), name
    with monkeypatch.context() as newer:
        newer.setattr("harness.run.run_terms.VERSION", "9.9.9")
        said = homes.types("office", f"run greetings {granted} -m copy-source", *RUN, *DESPITE)
        assert "and this is 9.9.9, which may score differently" in said
    shutil.copytree(homes.folder / "office" / "elders", homes.folder / "school" / "elders")
    said = homes.types("school", f"run greetings {granted} -m copy-source", *RUN, *DESPITE)
    assert "made on another computer" in said
    with monkeypatch.context() as later:
        later.setattr("harness.vault.ledger.Grant.expired", lambda *_: True)
        said = homes.types("office", f"run greetings {granted} -m copy-source", *RUN, *DESPITE)
        assert "This grant could be used until" in said
    assert not grants(homes)[0].used
    assert homes.types("office", "runs list --json").strip() == "[]"
    assert "chrF++" in homes.types("office", f"run greetings {granted} -m copy-source", *RUN, *DESPITE)  # fmt: skip


def test_granted_run_that_was_cut_goes_on_by_a_new_grant(homes: Homes) -> None:
    """One keeper alone opens nothing of it."""
    office, method = homes.folder / "office", ("--method", "copy-source", *RUN)
    granted = asked(homes, "a", *method)
    homes.types("office", f"run greetings {granted}", *method, *DESPITE)
    with opened(office / "rosetta.sqlite") as store:
        store.execute("UPDATE runs SET run_card = NULL, state = 'stopped'")
        store.execute("DELETE FROM results WHERE position > 2")
    forget_keys()
    assert "used up at" in homes.types("office", f"resume last {granted}", *DESPITE)
    alone = homes.types("office", "resume last --vault elders --purpose on", *DESPITE)
    assert "opens for 2 of its 3 keepers together" in alone
    other = asked(homes, "b", *method)
    assert "this is resume of run" in homes.types("office", f"resume last {other}", *DESPITE)
    on = asked(homes, "c", "--resume", "last")
    assert "this is resume of run" not in homes.types("office", f"resume last {on} --keep-failed", *DESPITE)  # fmt: skip
    [run] = json.loads(homes.types("office", "runs list --json"))
    assert run["state"] == "complete"
    shutil.copy(homes.folder / "school" / "keeper.key", homes.stick / "school.key")
    here = "--vault elders --with {stick}/school.key --purpose together"
    forget_keys()
    assert "chrF++" in homes.types("office", f"score --rescore last {here} --metrics bleu", *DESPITE)  # fmt: skip
    forget_keys()
    assert "A grant is given for a run" in homes.types("office", f"score --rescore last {on}", *DESPITE)  # fmt: skip
    seal = asked(homes, "d", "--seal", "last")
    assert "Its six words are" in homes.types("office", f"runs sign last {seal}", *DESPITE)
    log = homes("office", "log elders")
    assert f"for going on with the run {run['run_id'][:8]}" in log
    assert "for signing the card of the run" in log
    assert readable(homes.folder) == []


def test_vault_run_opens_for_keepers_at_one_table(homes: Homes, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr("harness.endpoint.ways_out.ways_out", lambda: ())
    shutil.copy(homes.folder / "school" / "keeper.key", homes.stick / "school.key")
    here = "--vault elders --with {stick}/school.key --purpose together"
    assert "chrF++" in homes.types("office", f"run greetings {here} -m copy-source", *RUN)
    office = homes.folder / "office"
    rows = ["entry_id,rating", *[f"{n},{n % 4}" for n in range(5)]]
    (office / "ratings.csv").write_text("\n".join(rows))
    forget_keys()
    calibrate = "calibrate last --ratings ratings.csv"
    assert "--vault FOLDER" in homes.types("office", calibrate)
    assert "5 ratings" in homes.types("office", f"{calibrate} {here}")
    assert "opened with the vault only" in homes.types(
        "office", "review create last --organisation Council"
    )
    assert "has a new share" in homes(
        "office", "refresh elders --with {stick}/school.key --purpose seen"
    )
    forget_keys()
    rescored = homes.types("office", f"score --rescore last~0 {here} --metrics bleu")
    assert "chrF++" in rescored, rescored
    forget_keys()
    shutil.copytree(office, homes.folder / "at home")  # another computer of the same keeper
    assert "1 corpus of this vault stored here is sealed for those who open it now" in homes(
        "office", "refresh elders --anew --with {stick}/school.key --purpose lost"
    )
    shutil.rmtree(homes.folder / "at home" / "elders")
    shutil.copytree(office / "elders", homes.folder / "at home" / "elders")
    for home in ("office", "at home"):
        forget_keys()
        assert "chrF++" in homes.types(home, f"score --rescore last {here} --metrics ter")
    works = [line.split("for ")[-1] for line in homes("office", "log elders").splitlines()]
    assert works[3].startswith("comparing with people's ratings the run")
    assert CANARY not in "".join(works)


@pytest.mark.costly("a real terminal")
def test_vault_run_texts_are_read_on_the_screen_opened(homes: Homes) -> None:
    office = homes.folder / "office"
    shutil.copy(homes.folder / "school" / "keeper.key", homes.stick / "school.key")
    here = (
        "--vault", str(office / "elders"), "--with", str(homes.stick / "school.key"),
        "--purpose", "reading them together", *DESPITE,
    )  # fmt: skip
    assert "chrF++" in homes.types("office", "run greetings -m copy-source", *here, *RUN)
    with Pseudo(office, "watch", "last") as closed:
        closed.wait_for("(sealed)", "chrF")
        assert CANARY.encode() not in closed.drawn
    with Pseudo(office, "watch", "last", *here) as opened:
        opened.wait_for(f"{CANARY} so", "chrF")
        opened.press("\x11")
        assert opened.ended() == 0
    assert "reading on the screen the run" in homes("office", "log elders")
    assert "for reading on the screen" in homes.types("office", "watch last", *here)
    assert readable(homes.folder) == []


@pytest.mark.costly("walks a page of the docs, with a process that is killed")
def test_grants_page_can_be_walked(homes: Homes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of "Four steps", "A run" and "A review"; the run is killed, so that it can go on, and nothing is flagged."""
    monkeypatch.setattr("harness.endpoint.ways_out.ways_out", lambda: ())
    monkeypatch.setattr("rosetta_tui.commands.review.adjudicate.on_terminal", lambda: True)
    for home in HOMES:
        (homes.folder / home / "stick").symlink_to(homes.stick, target_is_directory=True)
    office = homes.folder / "office"
    for name in ("blue", "red"):
        card = write_laptop_card(Identity.make(Role.LAPTOP), name)
        (office / f"{name}.rosetta-laptop").write_bytes(card)
    page = PAGE.read_text("utf-8").partition("\n## What is said when")[0]
    lines = [line.partition(" # ")[0].strip() for line in page.splitlines() if line.startswith("rosetta ")]  # fmt: skip
    assert len(lines) >= 14
    run_id, said = "", ""
    for line in lines:
        typed = line.removeprefix("rosetta ").replace("1a2b3c4d", run_id)
        words = shlex.split(typed.replace("copy-source", f"{office / 'back.py'}:Backwards"))
        if words[0] == "run":
            at = [str(office / each) if each.startswith(("elders", "stick/")) else each for each in words]  # fmt: skip
            assert Rosetta(office)(*at, *DESPITE)[0] == -signal.SIGKILL
            run_id = json.loads(homes.types("office", "runs list --json"))[0]["run_id"][:8]
            continue
        at_home = next((h for h in HOMES if any(f"{h}.rosetta" in w for w in words[-4:])), "office")
        home = at_home if words[2] in ("allow", "refuse") else "office"
        more = {"resume": ["--keep-failed"], "review": SMALL if words[1] == "create" else []}.get(words[0], [])  # fmt: skip
        said = homes.types(home, words[0], *words[1:], *more)
        assert "rror: " not in said, (line, said)
        request = next((w for w in words if w.endswith(".rosetta-request")), "")
        if words[2] == "request" and "spring" not in request:
            allowed_by_two(homes, request)
    assert [bool(each.used) for each in grants(homes)] == [True] * 5 + [False]
    assert "Nothing waits" in said
    assert json.loads((office / "ann.json").read_text())
    assert readable(homes.folder) == []


def allowed_by_two(homes: Homes, request: str) -> None:
    """Have the office and the school allow a request, and take both answers in."""
    for home in HOMES[:2]:
        vault = "elders" if home == "office" else "stick/elders"
        homes(home, f"grant allow {vault} {request} --to {request}.{home}.rosetta-answer")
        assert "allows it" in homes("office", f"grant take elders {request}.{home}.rosetta-answer")
