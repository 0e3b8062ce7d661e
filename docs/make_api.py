"""Writes the page of the package ``rosetta`` from its docstrings: ``python -P docs/make_api.py``."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from rosetta import functions, stored_run

PAGE = Path(__file__).parent / "api.md"

HEAD = """\
# The package `rosetta`

This page is written by `docs/make_api.py` from the docstrings of the package; a test fails where the two differ, and runs every example.

For notebooks and scripts: the same doors, rules and store as the program. A run that was begun here is in `rosetta runs list` and on
Home, and `rosetta resume` continues with it.

```python
import rosetta as ro

corpus = ro.load("my.tsv", source="en", target="crk")
run = ro.run(corpus, method="chat", endpoint="ollama", model="qwen2.5:7b", budget=1)
run.card.scores.chrf_plus_plus, run.tier.words
run  # in a notebook: shows itself (notebook.md)
run.frame()  # a table of pandas; or polars.DataFrame(run.entries())

other = ro.score(corpus, outputs=[...])
ro.compare(run, other)["chrf_plus_plus"].sentence
ro.metric("chrf++").corpus(outputs, references)
ro.verify("card.json").ok
ro.verdict("x.rosetta-evidence").certificate.outcome
ro.runs("tag:pilot")
```

## What is stable

* The names of `rosetta.__all__`, their parameters, and the members that this page lists, until the next major version (before 1.0: minor version).
* Options (`Choosing`, `Scoring`, `Options`) are [those of `rosetta run`](options.md), metrics as in [metrics.md](metrics.md), fields of a card as in [run-card.md](run-card.md).
* Everything else may change: other packages, the words of sentences and errors, the order of entries among events.

## What to know

* Errors are `HarnessError` (an option, a file, the store) or `CorpusError` (every problem of a corpus file with line and fix). Nothing is stored then.
* Secret entries: neither texts nor numbers are in `entries()`, no texts in events. `ro.load` reads your file: its texts are in `corpus.entries`.
* A run with secret entries, or with `offline=True`, refuses connections of the whole process to other machines until it ends. Restart the kernel of a notebook before you ask a model elsewhere.
* The store is that of the program; `ROSETTA_HOME` names another data folder.
* A method that does not return: `Interrupt` gives the prompt back after five seconds.

In the examples below the functions are named without `ro.`, and `demo` is the bundled corpus.
"""

FUNCTIONS = ("load", "run", "start", "score", "compare", "metric", "verify", "verdict", "runs")
CLASSES = (
    (stored_run, ("RunHandle", "ClaimedTier", "RunUnderWay")),
    (stored_run, ("RunComparison", "MetricDifference")),
    (functions, ("TextMetric", "RecordFields")),
)


def page() -> str:
    """Return the whole page."""
    lines = [HEAD, "## Functions\n"]
    found = _definitions(functions)
    lines += [f"### `{_signature(found[name])}`\n\n{_words(found[name])}\n" for name in FUNCTIONS]
    lines.append("## What they return\n")
    for module, names in CLASSES:
        there = _definitions(module)
        for name in names:
            lines.extend(_class(there[name]))
    return "\n".join(lines).rstrip() + "\n"


Definition = ast.FunctionDef | ast.ClassDef


def _definitions(module: ModuleType) -> dict[str, Definition]:
    tree = ast.parse(inspect.getsource(module))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _signature(node: Definition) -> str:
    if isinstance(node, ast.ClassDef):
        return node.name
    given = ast.unparse(node.args).removeprefix("self, ").removeprefix("self")
    returned = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    return f"{node.name}({given}){returned}"


def _words(node: Definition) -> str:
    """Return a docstring with its examples as code and its names in single backquotes."""
    text, _, examples = (ast.get_docstring(node) or "").partition("\n\n>>>")
    text = text.replace("``", "`")
    return text if not examples else f"{text}\n\n```pycon\n>>>{examples}\n```"


def _class(node: Definition) -> Iterator[str]:
    yield f"### `{node.name}`\n\n{_words(node)}\n"
    for name, words in _members(node):
        yield f"* `{name}`{f': {words}' if words else ''}"
    yield ""


def _members(node: Definition) -> Iterator[tuple[str, str]]:
    """Yield fields with the text below each, then properties and methods that are public."""
    for each, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(each, ast.AnnAssign):
            yield f"{ast.unparse(each.target)}: {ast.unparse(each.annotation)}", _text(after)
        elif isinstance(each, ast.FunctionDef) and each.name == "__init__":
            yield from _set(each)
        elif isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
            named = {ast.unparse(decorator) for decorator in each.decorator_list}
            returned = ast.unparse(each.returns) if each.returns is not None else ""
            name = f"{each.name}: {returned}" if "property" in named else _signature(each)
            yield name, " ".join(_words(each).split())


def _set(node: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Yield what a constructor sets and says something about."""
    for each, after in zip(node.body, [*node.body[1:], None], strict=True):
        target = each.targets[0] if isinstance(each, ast.Assign) else getattr(each, "target", None)
        if isinstance(target, ast.Attribute) and (words := _text(after)):
            yield target.attr, words


def _text(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return " ".join(str(node.value.value).replace("``", "`").split())
    return ""


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
