"""A run from a vault judged by speakers: sealed for their laptops, rated, decided, certified, shown at its card."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.core.failures import UsageError
from harness.run import vault_opening
from harness.sealed.forms import FileError
from harness.sealed.keys import Identity, Role
from harness.store.file.database import opened
from harness.store.file.sealing import StoreSealed, forget_keys
from harness.store.runs import find_run
from harness.vault.opening import vault_at
from harness.vault.records import Used
from review.files.batch import open_batch
from review.files.statements import write_laptop_card
from review.office.items.reviewed_runs import read_runs
from review.office.store.store import Office
from review.rating import Rating
from rosetta_tui.commands import rosetta
from rosetta_tui.commands.review import adjudicate
from tests.tui.commands.sealed_review import (
    OPENING,
    careful,
    create,
    newest,
    run_sealed,
    speakers,
)
from tests.tui.commands.submission_desk import CANARY, Desk


@pytest.fixture(autouse=True)
def _on_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A person reads; what was opened in one test is shut in the next."""
    monkeypatch.setattr(adjudicate, "on_terminal", lambda: True)
    forget_keys()
    yield
    forget_keys()


def lines(desk: Desk, vault: str = "elders") -> list[str]:
    """The lines of the vault's log, in words."""
    return desk(f"vault log {vault}").strip().splitlines()


def readable(*folders: Path) -> list[Path]:
    """The files in which the canary can be read."""
    files = (each for folder in folders for each in folder.rglob("*") if each.is_file())
    return [each for each in files if CANARY.encode() in each.read_bytes()]


def asks(desk: Desk, line: str, *more: str, typed: str) -> str:
    """Type a command that asks, and the answers."""
    said = CliRunner().invoke(rosetta, [*line.split(), *more], input=typed)
    return f"{said.output}{said.exception or ''}"


@pytest.mark.costly("three laptops rate a sealed review up to its certificate")
def test_vault_review_from_laptops_to_the_card(desk: Desk) -> None:
    run, panel = run_sealed(desk), speakers(desk)
    forget_keys()
    said = create(desk, panel.named, *OPENING)
    assert CANARY not in said
    assert said.count("the laptop whose six words are") == len(panel.laptops)
    assert (
        f"sealing for speakers' laptops sentences of the run {run[:8]} (allowed once"
        in lines(desk)[-1]
    )
    review, stick, out = newest(desk), desk.folder / "stick", desk.folder / "out"
    [batch] = stick.glob("*.rosetta-batch")
    with pytest.raises(FileError):
        open_batch(batch.read_bytes(), [Identity.load(desk.home, Role.ORGANISATION).age])
    harmful = panel.rate(stick, review, careful(review))
    forget_keys()
    opened = len(lines(desk))
    assert desk("review import stick").count("added") == len(panel.laptops)
    assert "84 of 84 decisions are here" in desk("review status last")
    assert "called harmful" in desk("review gate last")
    assert '"flags": 1' in desk("review adjudicate last --json")
    with Office.open(desk.home) as office, pytest.raises(StoreSealed, match="opened with it only"):
        _ = office.review("last").texts
    assert "its texts are opened with the vault only" in asks(
        desk, "review adjudicate last", typed="q\n"
    )
    assert len(lines(desk)) == opened
    typed = f"c\nwho says {harmful}\nAnna\nc\nan odd word\nAnna\n"
    said = asks(desk, "review adjudicate last", *OPENING, typed=typed)
    assert f"Original     {CANARY}" in said
    assert "Cleared." in said
    assert "deciding on what speakers flagged in the run" in lines(desk)[-1]
    forget_keys()
    assert "GO" in desk("review gate last --issue -o out")
    [certificate] = out.glob("*.certificate.json")
    assert "It is community-validated." in desk(f"review attach {certificate}")
    shown = desk("runs show last")
    assert "✓ gate: go by panel of 3" in shown
    assert "✓ entries: 30 out of the vault" in shown
    assert "community-validated" in desk("leaderboard")
    assert "coarse numbers: what left in its place follows from it" in desk(f"verify {certificate}")
    desk("review page last -o page.html")
    desk("review export last -o out")
    assert len(lines(desk)) == opened + 1
    assert readable(desk.home, stick, out, desk.folder / "elders") == []


def test_vault_review_refuses_before_the_vault_opens(desk: Desk) -> None:
    run_sealed(desk)
    panel = speakers(desk, 1)
    desk("vault init others --name Others --as Office --recovery rec2.txt")
    named, before = panel.named, lines(desk)
    Path("blank.toml").write_text("", "utf-8")
    Path("there").mkdir()
    Path("there/eo-gold-1.rosetta-batch").write_text("", "utf-8")
    for options, words in (
        ([*named], "its texts are opened with the vault only"),
        ([*OPENING], "add --for"),
        ([*named, *OPENING, "--passphrases"], "leave --passphrases out"),
        ([*named, "--vault", "elders", "--purpose", " "], "asks for --purpose"),
        ([*named, "--purpose", "speakers judge"], "goes with --vault"),
        ([*named, "--vault", "others", "--purpose", "x"], "out of another vault"),
        ([*named, *OPENING, "--context", "all"], "--context all"),
        ([*named, *OPENING, "--items", "19"], "wants 20 sentences rated, and these are 19"),
        ([*named, *OPENING, "--reviewers", "2"], "wants 3 reviewers, and these are 2"),
        ([*named, *OPENING, "--name", "a/b"], "make a name"),
        ([*named, *OPENING, "--training", "blank.toml"], "blank.toml"),
        ([*named, *OPENING, "--recipient", "age1nobody"], "age1nobody"),
        ([*named, *OPENING, "--segment", "development"], "no entry of these segments"),
        ([*named, "--vault", "elders", "--grant", "x", "--dry-run"], "use the grant up"),
        ([*named, "--vault", "elders", "--grant", "x", "--shares"], "leave --shares out"),
        ([*named, "--vault", "elders", "--grant", "x", "--purpose", "y"], "leave --purpose out"),
        (["--for", "blank.toml", *OPENING], "blank.toml: This is not the card of a laptop"),
        ([*named, *OPENING, "--cards", "blank.toml"], "blank.toml is there already"),
        ([*named, *OPENING, "-o", "there"], "eo-gold-1.rosetta-batch is there already"),
        (
            [*named, *OPENING, "--font", "no.ttf", "--font-licence", "no.txt"],
            "no.ttf cannot be read",
        ),
        ([*named, *OPENING, "--font", "blank.toml"], "belong together"),
    ):
        assert words in create(desk, options, code=2), options
    assert "out of one" not in "".join(lines(desk))
    assert lines(desk) == before
    assert len(lines(desk, "others")) == 1
    assert not list(Path().glob("stick/*"))


def test_vault_second_review_refuses_before_it_opens(desk: Desk) -> None:
    run_sealed(desk)
    panel = speakers(desk)
    create(desk, panel.named, *OPENING)
    panel.rate(desk.folder / "stick", newest(desk), lambda n, _: list(Rating)[3 * (n > 0)])
    desk("review import stick")
    second, before = ("review second last -o again", *panel.named, *OPENING), lines(desk)
    Path("blank.toml").write_text("", "utf-8")
    for options, words in (
        (["--cards", "blank.toml"], "blank.toml is there already"),
        (["--name", "a/b"], "make a name"),
        (["--recipient", "age1nobody"], "age1nobody"),
        (["--font", "no.ttf", "--font-licence", "no.txt"], "no.ttf cannot be read"),
    ):
        assert words in desk(*second, *options, code=2), options
    assert lines(desk) == before
    assert "Written: again" in desk(*second)
    assert len(lines(desk)) == len(before) + 1


def test_vault_review_seals_for_the_cards_it_showed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Looked at, written into the log and sealed for are the same keys, whatever lies on the stick by then."""
    run_sealed(desk)
    panel, opening = speakers(desk), vault_opening.open_again
    cards = sorted(desk.folder.glob("*.rosetta-laptop"))
    others = [write_laptop_card(Identity.make(Role.LAPTOP), each.stem) for each in cards]

    def swapped(*given: Any, **named: Any) -> None:
        for path, other in zip(cards, others, strict=True):
            path.write_bytes(other)
        opening(*given, **named)

    monkeypatch.setattr(vault_opening, "open_again", swapped)
    create(desk, panel.named, *OPENING)
    [batch] = (desk.folder / "stick").glob("*.rosetta-batch")
    named = {each.public.signing_key: each.public.recipient for each in panel.laptops.values()}
    for each in panel.laptops.values():
        assert open_batch(batch.read_bytes(), [each.age]).items
    with Office.open(desk.home) as office:
        assert {each.signing_key: each.recipient for each in office.laptops()} == named
    used = vault_at(desk.folder / "elders", desk.home).read().lines[-1].record.act
    assert isinstance(used, Used)
    assert used.grant is not None
    assert used.grant.run is not None
    assert dict(zip(used.grant.run.laptops, used.grant.run.recipients, strict=True)) == named


def test_vault_review_has_only_what_the_run_scored(desk: Desk) -> None:
    """Of two runs over one corpus each was opened for its own entries."""
    run_sealed(desk)
    more = ("--purpose", "two sentences", "--despite-network", "a test", "--plain")
    desk("run eo-gold --vault elders --method copy-source --limit 2", *more)
    with opened() as store:
        [short] = find_run(store, "last").positions[-1:]
        assert short == 1
        read = read_runs(store, ["last"], (), lambda *_: None)
        assert len(read.corpus) == len(read.shared) == 2
        both = read_runs(store, ["last", "last~1"], (), lambda *_: None)
        assert (len(both.corpus), len(both.shared)) == (30, 2)
        assert both.vault_runs == tuple(each.run.run_id for each in both.runs)
        with pytest.raises(UsageError, match="opened with the vault only"):
            read_runs(store, ["last"])
    (desk.folder / "open.tsv").write_text("id\tsource\treference\na\tone\tunu\n", "utf-8")
    desk("run open.tsv --method copy-source --source-language en --target-language eo --plain")
    panel, before = speakers(desk, 1), lines(desk)
    two = f"review create last last~1 --organisation Council --anyway {' '.join(panel.named)}"
    assert "not out of one vault" in asks(desk, two, *OPENING, typed="")
    granted = ("--vault", "elders", "--grant", "x")
    assert "--grant was given for one run" in asks(desk, two, *granted, typed="")
    assert lines(desk) == before
