"""How a person's own editor is asked for a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from rosetta_tui.corpus.originals import editor_command, system_command
from rosetta_tui.toolkit.form.file_choice import MOST_SHOWN, matching

FILE = Path("/a b/c.json")


@pytest.mark.parametrize(
    ("named", "command"),
    [
        ("vim", ["vim", "+7", "/a b/c.json"]),
        ("/usr/bin/nano -w", ["/usr/bin/nano", "-w", "+7", "/a b/c.json"]),
        ("code --wait", ["code", "--wait", "--goto", "/a b/c.json:7"]),
        ("hx", ["hx", "/a b/c.json:7"]),
        ("'my editor'", ["my editor", "/a b/c.json"]),
    ],
)
def test_an_editor_gets_the_line_in_its_own_way(named: str, command: list[str]) -> None:
    assert editor_command(FILE, 7, {"EDITOR": named}) == command
    assert editor_command(FILE, 7, {"VISUAL": named, "EDITOR": "x"}) == command


def test_without_a_line_the_file_alone_is_opened() -> None:
    assert editor_command(FILE, None, {"EDITOR": "vim"}) == ["vim", "/a b/c.json"]


@pytest.mark.parametrize("environment", [{}, {"EDITOR": ""}, {"EDITOR": "'open"}], ids=str)
def test_no_editor_is_no_command(environment: dict[str, str]) -> None:
    assert editor_command(FILE, 7, environment) is None


def test_each_system_opens_a_file_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    assert system_command(FILE, "darwin") == ["open", "/a b/c.json"]
    assert system_command(FILE, "win32") == ["cmd", "/c", "start", "", "/a b/c.json"]
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert system_command(FILE, "linux") is None


def test_paths_are_listed_by_how_they_begin(tmp_path: Path) -> None:
    for name in ("Alpha.json", "alpine.txt", "beta.csv", ".hidden.json", "a.exe"):
        (tmp_path / name).write_text("")
    (tmp_path / "album").mkdir()
    for number in range(100):
        (tmp_path / f"z{number:03}.csv").write_text("")
    suffixes = (".json", ".csv", ".txt")

    def listed(typed: str) -> list[str]:
        return [each.removeprefix(f"{tmp_path}/") for each in matching(typed, suffixes)]

    assert listed(f"{tmp_path}/al") == ["album/", "Alpha.json", "alpine.txt"]
    assert listed(f"{tmp_path}/.h") == [".hidden.json"]
    assert listed(f"{tmp_path}/beta.csv") == []
    assert len(listed(f"{tmp_path}/z")) == MOST_SHOWN
    assert listed(f"{tmp_path}/nowhere/x") == []
    assert listed("\x00/x") == []
