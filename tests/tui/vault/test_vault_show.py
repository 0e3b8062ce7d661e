"""``rosetta vault show`` in a real terminal, and what the screen says of a copy from before a keeper was taken out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.core.failures import UsageError
from harness.sealed.keys import Identity, Role
from rosetta_tui.commands import rosetta
from rosetta_tui.vault.screen import VaultScreen
from tests.keyring_in_memory import memory_keyring
from tests.tui.commands.vault_office import Office
from tests.tui.screens import App, press, showing, text
from tests.tui.vault.made import filled


@pytest.fixture(autouse=True)
def keyring() -> Iterator[None]:
    with memory_keyring():
        yield


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of the system")
def test_it_opens_at_the_vault_and_q_leads_home(tmp_path: Path) -> None:
    from tests.tui.real.pseudo import Pseudo

    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    folder = filled(home, tmp_path / "elders").folder
    with Pseudo(home, "vault", "show", folder) as terminal:
        terminal.wait_for("› Vaults › Words of the elders", "✓ whole and unchanged", "greetings")
        assert "preparing …" in terminal.drawn.decode("utf-8", "replace")
        terminal.press("q")
        terminal.wait_for("› Vaults   1 vault", "✓ whole")
        terminal.press("q")
        terminal.wait_for("› Home", "Run the demo")
        terminal.press("q")
        assert terminal.ended() == 0


def test_without_a_terminal_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    done = CliRunner().invoke(rosetta, ["vault", "show", "v"])
    assert isinstance(done.exception, UsageError)
    assert "The app needs a terminal" in str(done.exception)


async def test_an_older_copy_says_who_was_taken_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = Office(tmp_path, monkeypatch)
    office("card School.rosetta-keeper", at="school")
    office("init v --as Office --recovery rec.txt --keeper School.rosetta-keeper --name x")
    office("export v stick --purpose copy")
    office("revoke v School --purpose left --notice school.rosetta-notice")
    words = Identity.load(tmp_path / "office", Role.ORGANISATION).public.phrase
    library = tmp_path / "library"
    library.mkdir(mode=0o700)
    monkeypatch.setenv("ROSETTA_HOME", str(library))
    made = VaultScreen(library / "rosetta.sqlite", tmp_path / "stick")
    async with showing(App(None, library / "rosetta.sqlite"), made, (120, 30)) as (app, pilot):
        assert "✓ whole and unchanged" in text(app)
        taken = ["consent", "take", "school.rosetta-notice", "--words", words]
        assert CliRunner().invoke(rosetta, taken).exit_code == 0
        await press(pilot, "2")
        assert "! an older copy" in text(app)
        assert "OLDER COPY: School is no keeper any more, by a notice" in text(app)
        assert "2 Keepers 1" in text(app)
        assert "taken out" in text(app)
