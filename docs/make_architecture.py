"""Draws the map of ``docs/internals/architecture.md`` from the import contracts: ``python -P docs/make_architecture.py``."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "internals" / "architecture.md"
BEGIN, END = "<!-- map: begin -->\n", "<!-- map: end -->"


def page() -> str:
    """Return the whole page, with the map drawn again between its marks."""
    text = PAGE.read_text("utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}```text\n{drawing()}```\n{END}{after}"


def drawing() -> str:
    """Return the map: packages from the top to the ground, each with its rooms in the order of its contract."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = [each for each in contracts["contracts"] if each["type"] == "layers"]
    [packages] = [each["layers"] for each in layers if set(rooms(each)) == set(contracts["root_packages"])]
    return "\n".join("".join(f"{line}\n" for line in _package(name, layers)) for name in packages)


def rooms(contract: dict[str, Any]) -> list[str]:
    """Return the rooms that a contract of layers names, from the top."""
    return [room for layer in contract["layers"] for room in re.split(r" [|:] ", layer)]


def sentence(module: str) -> str:
    """Return the first sentence of a module's docstring; a package's is in its ``__init__``."""
    path = ROOT / module.replace(".", "/")
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    told = ast.get_docstring(ast.parse(source.read_text("utf-8"))) or ""
    return " ".join(told.partition("\n\n")[0].split())


def _package(name: str, layers: list[dict[str, Any]]) -> Iterator[str]:
    yield f"{name}: {sentence(name)}"
    yield from _inside(name, layers, "  ")


def _inside(name: str, layers: list[dict[str, Any]], indent: str) -> Iterator[str]:
    """Yield the rooms of a package; those that one rule joins stand behind one bracket."""
    for contract in layers:
        if contract.get("containers") != [name]:
            continue
        for layer in contract["layers"]:
            beside = sorted(re.split(r" [|:] ", layer))
            for place, room in enumerate(beside):
                yield f"{indent}{_bracket(place, len(beside))} {room:<13} {sentence(f'{name}.{room}')}"
                yield from _inside(f"{name}.{room}", layers, f"{indent}     ")


def _bracket(place: int, count: int) -> str:
    if count == 1:
        return "─"
    return "┌" if place == 0 else "└" if place == count - 1 else "│"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
