"""Private members of other modules are touched only where a line says why."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "corpora", "scoring", "harness", "review", "rosetta_tui", "rosetta", "benchmarks", "tests",
)  # fmt: skip
DOCUMENTED = {"_asdict", "_exit", "_field_defaults", "_fields", "_getframe", "_make", "_replace", "_repr_html_"}
"""What the standard library, and IPython, document as public in spite of the underscore."""
BY_NAME = {"delattr", "getattr", "hasattr", "setattr"}
"""Functions, and methods of ``monkeypatch``, that reach a member by its name in a string."""
FEWEST_WORDS = 3
OFTEN = 3
"""A reason that is given more often belongs into one function that all call."""

_MARK = re.compile(r"noqa:\s*[A-Z0-9, ]+|type:\s*ignore\S*|pragma:.*")


_CANDIDATE = re.compile(
    r"(?<!\bself)(?<!\bcls)(?<!\bsuper\(\))\.(_[^\W_]\w*)|import \(?\s*(_[^\W_]\w*)|[\"'][\w.]*?\.?(_[^\W_]\w*)[\"']"
)
_SOME = re.compile(r"(?<!self)(?<!cls)\._[^\W_]|import .*\b_[^\W_]|[\"'](?:[\w.]*\.)?_[^\W_]")
_HINT = re.compile(r"[.'\" (]_")
_OWN = re.compile(r"(?:def|class) (_\w+)|\b(_\w+)(?:: [^=\n]+)? =")


@cache
def candidates(source: str) -> tuple[int, ...]:
    """Return the lines on which a scan finds a private name that the file does not define; cheaper than parsing."""
    hinted = (pair for pair in enumerate(source.splitlines(), 1) if _HINT.search(pair[1]))
    suspect = [pair for pair in hinted if _SOME.search(pair[1])]
    own = DOCUMENTED.union(*_OWN.findall(source)) if suspect else DOCUMENTED
    return tuple(
        number
        for number, line in suspect
        if any(own.isdisjoint(filter(None, names)) for names in _CANDIDATE.findall(line))
    )


@cache
def private_uses(source: str) -> frozenset[tuple[int, str]]:
    """Return the line and the name of each private member of something that is defined elsewhere."""
    tree = ast.parse(source)
    own = DOCUMENTED.union(_defined(tree))
    return frozenset(
        (line, name) for node in ast.walk(tree) for line, name in _reached(node) if _private(name) and name not in own
    )


def reason(lines: list[str], line: int) -> str:
    """Return what a comment says on a line (counted from 1), or alone on the line above it."""
    above = lines[line - 2].strip() if line > 1 else ""
    return _comment(lines[line - 1]) or (_comment(above) if above.startswith("#") else "")


def unexplained(source: str) -> list[str]:
    """Return ``line: name`` of each use without a reason."""
    lines = source.splitlines()
    if all(_explained(lines, line) for line in candidates(source)):
        return []
    return [f"{line}: {name}" for line, name in sorted(private_uses(source)) if not _explained(lines, line)]


def _explained(lines: list[str], line: int) -> bool:
    return len(reason(lines, line).split()) >= FEWEST_WORDS


def _private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _of_self(node):
            yield node.attr


def _of_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}


def _reached(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Attribute) and not _of_self(node) and not _of_base(node):
        yield node.end_lineno or node.lineno, node.attr
    elif isinstance(node, ast.ImportFrom):
        yield from ((each.lineno, each.name) for each in node.names)
    elif isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        called = node.func.id if isinstance(node.func, ast.Name) else called
        for given in node.args[:2] if called in BY_NAME else ():
            if isinstance(given, ast.Constant) and isinstance(given.value, str):
                yield given.lineno, given.value.rpartition(".")[2]


def _of_base(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.value.func.id == "super"


def _comment(line: str) -> str:
    return _MARK.sub("", line.partition("#")[2]).strip(" #")


@cache
def _sources() -> dict[str, str]:
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
    }


@pytest.mark.parametrize(("source", "found"), [
    ("page._box.clear()", ["1: _box"]), ("from rich import _wrap", ["1: _wrap"]),
    ("monkeypatch.setattr(stick, '_flush', full)", ["1: _flush"]),
    ("monkeypatch.setattr('harness.sealed.stick._flush', full)", ["1: _flush"]),
    ("getattr(home, '_acts')", ["1: _acts"]), ("page._box  # noqa: SLF001", ["1: _box"]),
    ("page._box  # why not", ["1: _box"]), ("page._box  # Qt tells nobody else", []),
    ("# Qt tells nobody else\npage._box", []),
    ("before()  # it is the first\npage._box", ["2: _box"]), ("def _box(): ...\nmodule._box", []),
    ("class A:\n def __init__(self, other):\n  self._b = other._b", []), ("super()._box", []),
    ("os._exit(0)", []), ("page.__dict__", []),
])  # fmt: skip
def test_a_use_without_a_reason_is_found(source: str, found: list[str]) -> None:
    assert unexplained(source) == found


@pytest.mark.costly("scans every file of the tree")
def test_private_members_are_touched_only_where_a_line_says_why() -> None:
    found = {path: uses for path, source in _sources().items() if (uses := unexplained(source))}
    assert found == {}


def test_no_reason_is_pasted() -> None:
    given: Counter[str] = Counter()
    for source in _sources().values():
        lines = source.splitlines()
        given.update(reason(lines, line) for line in candidates(source) if _explained(lines, line))
    assert {each: times for each, times in given.items() if times > OFTEN} == {}
