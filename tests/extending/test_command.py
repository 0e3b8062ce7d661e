"""A new command is one file, whose first line says what it does."""

from __future__ import annotations

from pathlib import Path

import pytest

import rosetta_tui
import rosetta_tui.commands
from rosetta_tui.cli import main

FILE = '''"""``rosetta greet``: Say hello to somebody."""

import click


@click.command()
@click.argument("name")
def greet(name: str) -> None:
    """Say hello to NAME."""
    click.echo(f"Hello, {name}.")
'''


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code, *capsys.readouterr()


def test_one_file_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "commands"
    folder.mkdir()
    (folder / "greet.py").write_text(FILE, "utf-8")
    (folder / "parts.py").write_text('"""What commands share."""\n', "utf-8")
    (folder / "other.py").write_text(FILE, "utf-8")  # its first line names another command
    (folder / "broken.py").write_bytes(b"\xff")
    assert said(capsys, "greet", "Ana")[0] == 2
    monkeypatch.setattr(rosetta_tui, "__path__", [*rosetta_tui.__path__, str(tmp_path)])
    monkeypatch.setattr(
        rosetta_tui.commands, "__path__", [*rosetta_tui.commands.__path__, str(folder)]
    )
    assert said(capsys, "greet", "Ana") == (0, "Hello, Ana.\n", "")
    page = said(capsys, "--help")[1].splitlines()
    [line] = (each for each in page if each.endswith(" Say hello to somebody."))
    assert line.split()[0] == "greet"
    place = page.index(line)
    assert page[place - 1].startswith("  doctor ")
    assert page[place + 1] == ""
    assert "Say hello to NAME." in said(capsys, "help", "greet")[1]
    assert "Did you mean 'greet'?" in said(capsys, "gret")[2]
    assert "There is no command 'parts'." in said(capsys, "parts")[2]
