"""Writes what is made of the table of options: ``python -P docs/make_options.py``.

The page ``options.md``, ``rosetta/options.py``, which types the options for editors and type checkers, and
``rosetta_tui/completion.txt``, which shells complete from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from harness.endpoint.endpoints import presets
from harness.method.method_names import SHIPPED
from harness.method.option_table import (
    ENTRIES,
    GROUPS,
    METHOD,
    METHODS,
    OPTIONS,
    RUN,
    SCORING,
    SEVERAL,
    OptionKind,
    RunOption,
)
from rosetta_tui.commands import rosetta
from scoring.core.inventory import shipped_inventory, typed_name

PAGE = Path(__file__).parent / "options.md"
MODULE = Path(__file__).parents[1] / "rosetta" / "options.py"

HEAD = """\
# Options of a run

This page is written by `docs/make_options.py`, as the help page, the form and the package are, from one table; a test fails where they differ.

`rosetta run` takes all of them. In the form of a new run (`n`) each has the field that is named; ^t shows the rare ones. In the package
[`rosetta`](api.md) an option has the name without `--` and with `_` for `-` (`--check`, `--tool`, `--set`, `--tag` are `checks`, `tools`, `settings`, `tags`).
"""
_ALSO = {"score": "score", "resume": "resume", "retry": "retry", "reproduce": "runs reproduce"}


def page() -> str:
    """Return the whole page."""
    lines = [HEAD]
    for group in GROUPS:
        lines += [f"## {group.title}\n", "| option | field | what it is for | default | also |", "|---|---|---|---|---|"]  # fmt: skip
        lines += [_row(option) for option in group.options if not option.argument]
        lines.append("")
    lines += ["## Which method takes what\n", "| method | needs | may have |", "|---|---|---|"]
    for name, (needs, takes) in METHODS.items():
        lines.append(f"| `{name}` | {_flags(needs)} | {_flags(takes)} |")
    return "\n".join(lines) + "\n"


def _row(option: RunOption) -> str:
    opt, also = option.opt.partition("/")[0], ", ".join(_ALSO[name] for name in option.also)
    return f"| `{opt}` | {option.label} | {_escaped(option.help)} | {option.default} | {also} |"


def _flags(names: Iterable[str]) -> str:
    return " ".join(f"`{OPTIONS[name].opt}`" for name in names if name in OPTIONS)


def _escaped(words: str) -> str:
    return words.replace("|", "\\|")


MODULE_HEAD = '''\
"""What a run can be told, by name: the options of ``rosetta run``, typed for editors and type checkers.

Written by ``docs/make_options.py`` from ``harness.method.option_table``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from corpora.files.json_types import JsonObject

File = str | Path
'''
_TYPES = {
    OptionKind.WHOLE: "int",
    OptionKind.NUMBER: "float",
    OptionKind.FILE: "File",
    OptionKind.PAIRS: "JsonObject",
    OptionKind.SWITCH: "bool",
}


def module() -> str:
    """Return the text of ``rosetta/options.py``."""
    of_runs = [o for group in (METHOD, RUN, SCORING) for o in group.options if o.name not in {"method", "repeats"}]
    scored = [option for option in of_runs if "score" in option.also]
    others = [option for option in of_runs if "score" not in option.also]
    parts = (
        ("Choosing", "TypedDict", "Which entries of a corpus take part; without any of these, all.", ENTRIES.options),
        ("Scoring", "Choosing", "What outputs are scored with, and where metrics find what they need.", scored),
        ("Options", "Scoring", "How a run translates, and how it goes about its calls.", others),
    )  # fmt: skip
    return MODULE_HEAD + "".join(
        f'\n\nclass {name}({base}, total=False):\n    """{words}"""\n\n' + "".join(_fields(options))
        for name, base, words, options in parts
    )


def _fields(options: Iterable[RunOption]) -> Iterator[str]:
    for option in options:
        kind = _TYPES.get(option.kind, "str")
        if option.kind in SEVERAL and option.kind is not OptionKind.PAIRS:
            kind = f"Sequence[{'int' if option.whole_numbers else 'str'}]"
        default = f" Default: {option.default}." if option.default else ""
        yield f'    {option.name}: {option.python or kind}\n    """{_named(option.help)}{default}"""\n'


def _named(words: str) -> str:
    """Write options by their names in the package."""
    names = {option.opt: option.name for option in OPTIONS.values()}
    return re.sub(r"--[a-z-]+", lambda m: f"``{names[m[0]]}``" if m[0] in names else m[0], words)


COMPLETION = Path(__file__).parents[1] / "rosetta_tui" / "completion.txt"
_KINDS = {"run": "run", "runs": "run", "run_id": "run", "method": "method", "model": "model", "endpoint": "endpoint",
          "metric": "metric", "metrics": "metric", "sort": "metric"}  # fmt: skip
"""Name of a parameter → what its values are."""


def completion() -> str:
    """Return the text of ``rosetta_tui/completion.txt``; its form is explained in ``rosetta_tui/completion.py``."""
    metrics = dict.fromkeys([*map(typed_name, shipped_inventory()), "composite"])
    values = {"method": SHIPPED, "endpoint": presets("chat"), "metric": metrics}
    lines = [f"={kind}\t{' '.join(names)}\t\n" for kind, names in values.items()]
    for name, command in _commands(rosetta, ""):
        tokens = [*(token for parameter in command.params for token in _tokens(parameter)), "--help"]
        does = command.get_short_help_str(1000)
        lines.append(f"{name}\t{' '.join(tokens)}\t{does.partition('; `')[0].rstrip('.')}\n")
    return "".join(lines)


def _commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, group
    context = click.Context(group)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        if isinstance(command, click.Group):
            yield from _commands(command, f"{name} {word}".lstrip())
        elif command is not None:
            yield f"{name} {word}".lstrip(), command


def _tokens(parameter: click.Parameter) -> Iterator[str]:
    kind = _KINDS.get(parameter.name or "", "")
    if "RUN" in re.findall(r"[A-Z]+", parameter.metavar or ""):
        kind = "run"
    elif parameter.metavar == "METRIC=VALUE":
        kind = "metric="
    elif re.fullmatch(r"\[[a-z|]+\]", parameter.metavar or ""):
        kind = str(parameter.metavar).strip("[]")
    elif isinstance(parameter.type, click.Choice):
        kind = "|".join([*map(str, parameter.type.choices), ""])
    if isinstance(parameter, click.Argument):
        yield f"@{kind}{'*' if parameter.nargs == -1 else ''}"
    elif isinstance(parameter, click.Option) and not parameter.hidden:
        takes = "" if parameter.is_flag or parameter.count else f":{kind}"
        yield from (f"{name}{takes}" for name in (*parameter.opts, *parameter.secondary_opts))


if __name__ == "__main__":
    COMPLETION.write_text(completion(), "utf-8")
    PAGE.write_text(page(), "utf-8")
    MODULE.write_text(module(), "utf-8")
