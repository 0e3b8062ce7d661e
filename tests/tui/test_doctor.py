"""Doctor in a shell and as a screen."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from harness.doctor.finding import Finding, Health
from rosetta_tui.commands.doctor import doctor
from rosetta_tui.doctor.findings import color_system_of, finding_lines, summary, terminal
from rosetta_tui.doctor.screen import DoctorScreen, FindingRows
from rosetta_tui.settings.findings import chosen
from tests.review.thorough import times
from tests.tui.golden import SMALL, look
from tests.tui.scenes import HOSTILE, acting
from tests.tui.screens import App, at_rest, notices, press, showing, store, text

ROOT = Path(__file__).parents[2]

FINDINGS = [
    Finding("Program", "Python", Health.OK, "3.12.4 on Linux x86_64"),
    Finding(
        "Extras", "words", Health.MISSING,
        "not installed: word lists, by which words left untranslated are known. Install it beside the program:",
        ('python -m pip install "wordfreq>=3.1.1"',),
    ),
    Finding(
        "Data", "privacy", Health.BROKEN, "others of this computer may look into ~/rosetta (mode 755):",
        ('chmod 700 "~/rosetta"', 'chmod 600 "~/rosetta/rosetta.sqlite"'),
    ),
    Finding("Keys", "keyring", Health.UNKNOWN, "it cannot be known"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def own_home(home: Path) -> Path:
    return home


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    find_only(FINDINGS, monkeypatch)


def find_only(findings: Sequence[Finding], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command and the screen find these, and nothing about the terminal."""
    screen = "rosetta_tui.doctor.screen"
    for place in ("harness.doctor.examination", screen):
        monkeypatch.setattr(f"{place}.examine", lambda _: iter(findings))
    for place in ("rosetta_tui.doctor.findings", screen):
        monkeypatch.setattr(f"{place}.terminal", lambda *_: iter(()))


# In a shell


@pytest.mark.costly("examines this computer, three times")
def test_command_ends_with_one_only_where_something_is_broken(home: Path) -> None:
    result = CliRunner().invoke(doctor, [])
    assert result.exit_code == 0, result.output
    for words in ("✓ ok      Python: ", "Nothing is broken, ", "nothing was sent anywhere"):
        assert words in result.output
    (home / "settings.toml").write_text("colour = 'red'\n")
    result = CliRunner().invoke(doctor, [])
    assert result.exit_code == 1
    said = f"✗ broken  file: {home}/settings.toml: line 1: field 'colour' is not known"
    assert said in result.output
    told = json.loads(CliRunner().invoke(doctor, ["--json"]).stdout)
    assert told["healthy"] is False
    findings = told["findings"]
    assert [each["name"] for each in findings if each["health"] == "broken"] == ["file"]
    assert {each["health"] for each in findings} <= {str(each) for each in Health}
    assert findings[-1]["area"] == "Terminal"
    assert all(isinstance(line, str) for each in findings for line in each["mend"])


def test_a_row_does_not_end_where_its_mend_begins() -> None:
    assert FindingRows(FINDINGS).cells(2)[3].text.endswith("(mode 755) …")


def test_lines_and_counts() -> None:
    lines = list(finding_lines(FINDINGS[2], new_area=True))
    assert lines[0] == "Data"
    assert lines[1].startswith("  ✗ broken  privacy: others")
    assert lines[2] == '            chmod 700 "~/rosetta"'
    assert summary(FINDINGS) == "1 broken, 1 missing, 1 not known."
    assert summary(FINDINGS[:1]) == "Nothing is broken, nothing is missing."


# What is chosen for the app


def test_colours_and_keys_that_are_chosen_wrongly_are_named_with_their_line(home: Path) -> None:
    file = home / "settings.toml"
    file.write_text('theme = "purple"\n[keys]\nrefresh = "n"\nfilter = "escape"\nfly = "x"\nsort = "o"\n', "utf-8")
    told = [each.words.removeprefix(f"{file}: ") for each in chosen(home)]
    assert told[0].startswith("line 1: field 'theme' names no colours. There are: rosetta-dark")
    assert told[1].startswith("line 3: field 'keys.refresh' takes n, which is the key of Next match of the filter (")
    assert told[2].startswith("line 4: field 'keys.filter' takes esc, which is the key of the program")
    assert told[3].startswith("line 5: field 'keys.fly' names nothing that has a key.")
    file.write_text('theme = "rosetta-light"\n[keys]\nnew_run = "f6"\nrefresh = "f5"\n', "utf-8")
    assert [each.words for each in chosen(home)] == []


async def test_unknown_colours_are_told_at_the_start(home: Path) -> None:
    (home / "settings.toml").write_text('theme = "purple"\n', "utf-8")
    async with at_rest(App(None, store(home)), SMALL) as (app, _):
        [note] = notices(app)
        assert "line 1: field 'theme' names no colours" in note


# The terminal


def facts(**environment: str) -> dict[str, Finding]:
    found = terminal((100, 30), {"TERM": "xterm-256color", **environment})
    return {each.name: each for each in found}


def test_colours_are_those_that_the_terminal_states() -> None:
    assert facts(COLORTERM="truecolor")["colours"].words.startswith("16 million")
    assert facts()["colours"].words.startswith("256")
    assert facts(TERM="xterm")["colours"].words.startswith("16:")
    assert facts(NO_COLOR="1")["colours"].words.startswith("none, because NO_COLOR")
    assert facts(TERM="dumb")["colours"].health is Health.MISSING
    for term in (
        "",
        "dumb",
        "unknown",
        "xterm",
        "xterm-16color",
        "xterm-256color",
        "xterm-kitty",
        "XTERM-256COLOR",
        "screen.x-y",
    ):
        for said in ("", "truecolor", " 24bit ", "yes"):
            given = {"TERM": term, "COLORTERM": said}
            assert color_system_of(given) == Console(force_terminal=True, _environ=given).color_system, given


def test_small_window_is_told() -> None:
    found = {each.name: each for each in terminal((60, 20), {"TERM": "xterm"})}
    assert found["size"].health is Health.MISSING


@pytest.mark.skipif(sys.platform == "win32", reason="the program that is made is a shell's")
def test_font_must_have_all_letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two fonts share the Cherokee sample (13e3 13b3 13a9) between them; the last letter ends a range."""
    fonts = ["20-7e 14b 142 250-259", "13a0-13b3", "13b4-13ff 25c6 2588 25b6", "900-939 93f"]
    lister = tmp_path / "fc-list"
    lister.write_text("#!/bin/sh\nprintf '%s\\n' " + " ".join(f"'{each}'" for each in fonts))
    lister.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    gone = [each.words for each in terminal((80, 24), {}) if each.name == "fonts"]
    assert [words.removeprefix("none installed for ").split()[0] for words in gone] == [
        "Canadian", "Cherokee", "Arabic",
    ]  # fmt: skip


def test_fonts_over_ssh_are_those_of_another_computer() -> None:
    found = facts(SSH_CONNECTION="10.0.0.1 1 10.0.0.2 22")
    assert found["fonts"].health is Health.UNKNOWN
    assert found["name"].words.endswith("in ssh")


# The screen


@pytest.mark.usefixtures("known")
async def test_screen_copies_what_mends_and_leaves_out_what_is_ok(home: Path) -> None:
    screen = DoctorScreen(store(home))
    async with showing(App(None, store(home)), screen, SMALL, notifications=True) as (app, pilot):
        await press(pilot, "down", "down")
        look("doctor", app)
        assert "1 broken, 1 missing, 1 not known." in text(app)
        await press(pilot, "home", "m")
        assert app.clipboard == ""
        await press(pilot, "f")
        assert "Python" not in text(app)
        await press(pilot, "down", "m")
        assert app.clipboard == "\n".join(FINDINGS[2].mend)
        await pilot.press("home", "enter")
        assert app.clipboard == FINDINGS[1].mend[0]
        await press(pilot, "r")
        assert screen.table.rows.count == 3
        await press(pilot, "q")
        assert app.screen is not screen


async def test_no_text_of_outside_acts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = HOSTILE[:: times(3, 1)]
    found = [Finding(each, each, Health.BROKEN, each, (each,)) for each in texts]
    find_only(found, monkeypatch)
    screen = DoctorScreen(store(home))
    async with showing(App(None, store(home)), screen, SMALL, notifications=True) as (app, pilot):
        for _ in texts:
            await pilot.press("m", "down")
            assert acting((text(app) + app.clipboard).replace("\n", "")) == []
        assert screen.is_current
    result = CliRunner().invoke(doctor, [])
    assert acting(result.output.replace("\n", "")) == []
    assert result.exit_code == 1
