"""The page's rules are those of the program: the same sittings show the same and write the same, byte for byte."""

import json
import re
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from tests.review.browser import scripts
from tests.review.browser.directed import DIRECTED, directed
from tests.review.browser.drivers import PROGRAMS, browser
from tests.review.browser.scripts import BUILT, HERE, WEB, in_node, need_modules, node
from tests.review.thorough import first, times


def differs(name: str, play: scripts.Play, theirs: Any) -> str:
    ours = play.result
    for number, (step, one, other) in enumerate(zip(play.steps, ours["shown"], theirs["shown"], strict=True)):
        if one != other:
            return f"{name}, step {number} {step}: {_first(one, other)}"
    return "" if ours == theirs else f"{name}: {_first(ours, theirs)}"


def _first(one: Any, other: Any, path: str = "") -> str:
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return next(_first(one[key], other[key], f"{path}.{key}") for key in one if one[key] != other[key])
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return next(_first(a, b, f"{path}[{n}]") for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
    return f"{path}: {one!r} here, {other!r} in JavaScript"


def compared(plays: dict[str, scripts.Play]) -> str:
    """Play in JavaScript what was played here, and return where they differ."""
    found = in_node("play", [play.script for play in plays.values()], HERE / "play.js")
    return "\n".join(filter(None, map(differs, plays, plays.values(), found)))


def played(make: Callable[[Path, pytest.MonkeyPatch], scripts.Play], folder: Path) -> scripts.Play:
    with pytest.MonkeyPatch.context() as patch:
        play = make(folder, patch)
        play.finish()
    return play


async def compared_in(name: str, plays: dict[str, scripts.Play], folder: Path) -> str:
    """Play in a browser what was played here, and return where they differ."""
    if which(PROGRAMS[name]) is None:
        pytest.skip(f"{PROGRAMS[name]} is not installed")
    data = ";".join(f"const script{n} = {json.dumps(play.script)}" for n, play in enumerate(plays.values()))
    sources = [
        (BUILT / "review.js").read_text("utf-8"),
        (HERE / "play.js").read_text("utf-8"),
        data.replace("</", r"<\/"),
    ]
    page = folder / "page.html"
    page.write_text("\n".join(["<meta charset=utf-8>", *(f"<script>{source}</script>" for source in sources)]), "utf-8")
    async with browser(name, folder / "profile", folder / "downloads") as window:
        await window.open(page)
        await window.until(f"typeof script{len(plays) - 1} === 'object'")
        shown = [json.loads(await window.run(f"play(script{n}).then(JSON.stringify)")) for n in range(len(plays))]
    return "\n".join(filter(None, map(differs, plays, plays.values(), shown)))


@pytest.mark.costly("plays whole sittings")
@pytest.mark.parametrize("seeds", first(1, [range(n, n + 40) for n in range(0, 400, 40)]), ids=str)
async def test_random_sittings_are_equal(tmp_path: Path, seeds: range) -> None:
    plays = {str(n): played(partial(scripts.at_random, seed=n), tmp_path / str(n)) for n in seeds}
    assert not compared(plays)
    if times(0, 1):  # each of them in a browser, too: forty in one, forty in the next
        assert not await compared_in([*PROGRAMS][seeds.start // 40 % 3], plays, tmp_path)


@pytest.mark.costly("plays whole sittings")
def test_directed_sittings_are_equal(tmp_path: Path) -> None:
    assert len(DIRECTED) >= 40
    assert not compared({name: played(partial(directed, name=name), tmp_path / name) for name in DIRECTED})


@pytest.mark.costly("it starts a browser, and plays sittings in it")
@pytest.mark.parametrize("name", PROGRAMS)
async def test_sittings_in_a_browser_are_equal(tmp_path: Path, name: str) -> None:
    chosen = [*DIRECTED][:: times(2, 1)]
    assert not await compared_in(
        name, {one: played(partial(directed, name=one), tmp_path / one) for one in chosen}, tmp_path
    )


def mutants() -> list[dict[str, str]]:
    lines = (HERE / "mutants.txt").read_text("utf-8").partition("\n\n")[2].splitlines()
    split = [re.fullmatch(r"([\w/.]+): (.*) ⇒ ?(.*)", line) for line in lines]
    return [
        dict(zip(("file", "before", "after"), (t.replace("\\n", "\n") for t in m.groups()), strict=True))
        for m in split
        if m
    ]


def test_mutants_change_one_place_of_the_rules() -> None:
    unfit = [m for m in mutants() if (WEB / m["file"]).read_text("utf-8").count(m["before"]) != 1]
    assert not unfit
    assert len(mutants()) >= 60


@pytest.mark.costly("plays whole sittings for each mutant")
@pytest.mark.parametrize("every", first(1, [20, 1]))
def test_mutants_of_the_rules_are_noticed(tmp_path: Path, every: int) -> None:
    need_modules()
    plays = {name: played(partial(directed, name=name), tmp_path / name) for name in DIRECTED}
    plays |= {
        str(n): played(partial(scripts.at_random, seed=n), tmp_path / str(n)) for n in range(30 if every == 1 else 0)
    }
    sittings = tmp_path / "sittings"
    known = ({"name": name, "script": play.script, "result": play.result} for name, play in plays.items())
    sittings.write_text("".join(f"{json.dumps(sitting)}\n" for sitting in known))
    tried, control = mutants()[::every], {"file": "main.js", "before": "", "after": ""}
    *found, same = node(HERE / "mutants.js", WEB, sittings, HERE / "play.js", given=[*tried, control])
    assert same is None, "without a mutant it is not the same either"
    survivors = [mutant for mutant, noticed in zip(tried, found, strict=True) if noticed is None]
    assert len(survivors) <= 0.05 * len(tried), survivors


def test_built_page_is_that_of_its_sources(tmp_path: Path) -> None:
    need_modules()
    subprocess.run(["node", "build.mjs", tmp_path], cwd=WEB, check=True)
    for name in ("review.js", "review.js.licences"):
        assert (tmp_path / name).read_bytes() == (BUILT / name).read_bytes(), "run `make web`"
