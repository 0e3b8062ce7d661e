"""What README and docs say of the program is what the program does; generated pages are fresh."""

from __future__ import annotations

import re
import runpy
import shlex
from collections import defaultdict
from pathlib import Path

import click
import pytest
from textual.screen import Screen

from harness.compare.comparing import LEAST_RUNS, MOST_RUNS
from harness.core.calls import Usage
from harness.endpoint.prices import Prices
from rosetta_tui.commands import rosetta
from rosetta_tui.commands.compare import compare
from rosetta_tui.front import commands
from scoring.core.specification import specification
from scoring.statistics.confidence_sequence import WAGERS, enough
from scoring.statistics.intervals import DRAWS, LEVEL, SEED
from scoring.statistics.reproducibility import DECIDING, TOLERANCE
from scoring.statistics.significance import TRIALS

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def _calls(page: Path) -> list[str]:
    text = page.read_text("utf-8")
    blocks = "\n".join(re.findall(r"```(?:sh|console)?\n(.*?)```", text, re.DOTALL))
    lines = [line.strip().removeprefix("$ ") for line in blocks.replace("\\\n", " ").splitlines()]
    inline = re.findall(r"`(rosetta [^`]+)`", text)
    return [line for line in [*lines, *inline] if line.startswith("rosetta ")]


CALLS = [(page.name, call) for page in PAGES for call in _calls(page)]


def problem_of(call: str) -> str | None:
    """Return which word of a call is no command or option, or None."""
    words = shlex.split(call, comments=True)[1:]
    command: click.Command = rosetta
    context = click.Context(rosetta)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        if found is None:
            return f"there is no command {words[0]!r}"
        command, words = found, words[1:]
    known = {name for parameter in command.params for name in parameter.opts}
    known |= {"--help", "--version"}
    options = [word for word in words if re.fullmatch(r"--?[a-z][a-z-]*", word)]
    unknown = [word for word in options if word not in known]
    return f"there is no option {unknown}" if unknown else None


def test_every_call_in_the_docs_can_be_made() -> None:
    assert problem_of("rosetta runz list")
    assert problem_of("rosetta runs list --nothing")
    assert {f"{page}: {call}": why for page, call in CALLS if (why := problem_of(call))} == {}


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


DOCS = Path(__file__).parents[2] / "docs"
MADE = runpy.run_path(str(DOCS / "make_keys.py"))


def test_the_docs_list_every_screen_and_key() -> None:
    written = (DOCS / "app.md").read_text("utf-8").partition(MADE["BEGIN"])[2]
    assert written == f"\n{MADE['page']()}", "run: python -P docs/make_keys.py"


def test_every_key_of_a_screen_has_a_name_and_can_be_chosen_anew() -> None:
    nameless = [
        f"{kind.__name__}: {binding.key}"
        for kind in MADE["screens"]()
        for binding in MADE["bindings"](kind)
        if binding.id is None
    ]
    assert not nameless


def test_no_key_means_two_things_on_one_screen() -> None:
    """Two actions may share a key only where they share its name: one of them works at a time."""
    for kind in MADE["screens"]():
        names = defaultdict(set)
        for binding in MADE["bindings"](kind):
            for key in binding.key.split(","):
                names[key.strip()].add(binding.id)
        assert all(len(found) == 1 for found in names.values()), (kind, dict(names))


def test_every_screen_has_a_title_and_says_what_its_signs_mean() -> None:
    kinds: list[type[Screen[object]]] = MADE["screens"]()
    assert not [kind.__name__ for kind in kinds if not kind.TITLE]
    assert not [kind.__name__ for kind in kinds if not getattr(kind, "HELP", "")]


PAGE = Path(__file__).parents[2].joinpath("docs", "comparing.md").read_text("utf-8")


def test_every_option_has_its_row() -> None:
    told = set(re.findall(r"`(--[a-z]+)[ `]", PAGE.split("## Reading")[0]))
    assert told == {option for parameter in compare.params for option in parameter.opts if option.startswith("--")}  # fmt: skip


def test_the_numbers_of_the_tests_are_those_of_the_code() -> None:
    assert (LEAST_RUNS, MOST_RUNS) == (2, 6)
    assert "Two to six runs" in PAGE
    assert f"{DRAWS:,} paired resamples" in PAGE
    assert f"{TRIALS:,} shuffles" in PAGE
    assert f"{LEVEL:.0%}".replace("%", " %") in PAGE
    assert f"the same seed ({SEED})" in PAGE
    assert f"±{TOLERANCE:.0%}".replace("%", " %") in PAGE
    assert DECIDING == ("composite", "chrf_plus_plus")


def test_the_bets_are_as_many_and_as_large_as_told() -> None:
    assert len(WAGERS) == 12
    assert round(2.718281828 ** enough(LEVEL)) == 40
    assert "Twelve bets" in PAGE


def test_metrics_are_called_what_they_are() -> None:
    rows = specification().metrics
    assert rows["length_ratio"].info.better == "neither"
    assert rows["bleu"].level == "corpus"
    assert not rows["consistency_score"].interval
    assert rows["ter"].info.high == float("inf")
