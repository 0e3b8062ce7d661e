"""The page's rules are those of the program: the same sittings show the same and write the same, byte for byte."""

import json
import subprocess
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from tests.review.browser import scripts
from tests.review.browser.directed import DIRECTED, directed
from tests.review.thorough import first

HERE = Path(__file__).parent
BUILT = HERE.parents[2] / "review" / "browser" / "built" / "review.js"


def in_node(function: str, arguments: Iterable[Any], *files: Path) -> list[Any]:
    """Call a function of the built page in node, once for each argument."""
    if which("node") is None:
        pytest.skip("node is not installed: what JavaScript does is not compared")
    lines = "".join(f"{json.dumps(argument)}\n" for argument in arguments)
    done = subprocess.run(
        ["node", HERE / "node.js", BUILT, function, *files],
        input=lines,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.split("\n")[:-1]]


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
    return "\n".join(
        filter(None, (differs(name, play, theirs) for (name, play), theirs in zip(plays.items(), found, strict=True)))
    )


def played(make: Callable[[Path, pytest.MonkeyPatch], scripts.Play], folder: Path) -> scripts.Play:
    with pytest.MonkeyPatch.context() as patch:
        play = make(folder, patch)
        play.finish()
    return play


@pytest.mark.costly("plays whole sittings")
@pytest.mark.parametrize("seeds", first(1, [range(n, n + 40) for n in range(0, 400, 40)]), ids=str)
def test_random_sittings_are_equal(tmp_path: Path, seeds: range) -> None:
    assert not compared({str(n): played(partial(scripts.at_random, seed=n), tmp_path / str(n)) for n in seeds})


@pytest.mark.costly("plays whole sittings")
def test_directed_sittings_are_equal(tmp_path: Path) -> None:
    assert len(DIRECTED) >= 40
    assert not compared({name: played(partial(directed, name=name), tmp_path / name) for name in DIRECTED})
