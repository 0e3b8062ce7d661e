"""What README and docs say about the command line is what the command line knows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from harness.core.calls import Usage
from harness.endpoint.prices import Prices
from rosetta_tui.commands import rosetta
from rosetta_tui.front import commands

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def _calls(page: Path) -> list[str]:
    text = page.read_text("utf-8")
    blocks = "\n".join(re.findall(r"```(?:sh|console)?\n(.*?)```", text, re.DOTALL))
    lines = [line.strip().removeprefix("$ ") for line in blocks.replace("\\\n", " ").splitlines()]
    inline = re.findall(r"`(rosetta [^`]+)`", text)
    return [line for line in [*lines, *inline] if line.startswith("rosetta ")]


CALLS = [(page.name, call) for page in PAGES for call in _calls(page)]


@pytest.mark.parametrize(("page", "call"), CALLS, ids=[f"{p}: {c}" for p, c in CALLS])
def test_every_call_in_the_docs_names_a_command_and_options_that_exist(
    page: str, call: str
) -> None:
    words = shlex.split(call, comments=True)[1:]
    command: click.Command = rosetta
    context = click.Context(rosetta)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found is not None, f"{page}: there is no command {words[0]!r}"
        command, words = found, words[1:]
    known = {name for parameter in command.params for name in parameter.opts} | {
        "--help",
        "--version",
    }
    unknown = [
        word for word in words if re.fullmatch(r"--?[a-z][a-z-]*", word) and word not in known
    ]
    assert not unknown, f"{page}: {call!r} uses {unknown}"


def test_every_command_is_in_the_docs() -> None:
    told = " ".join(call for _, call in CALLS)
    missing = [name for name in commands() if f"rosetta {name}" not in told]
    assert not missing


def test_the_price_table_of_the_docs_can_be_used(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "prices.md").read_text("utf-8")
    [table] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    own = tmp_path / "prices.toml"
    own.write_text(table, "utf-8")
    price = Prices(own).price("llm.example.org", "example/translator-7b")
    assert price is not None
    assert price.cost(Usage(1_000_000, 1_000_000, 0, 0)) == pytest.approx(2.0)


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https://)([^)#]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
