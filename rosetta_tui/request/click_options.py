"""The options of the command line and their help page, made of the table of options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any, Final, TypeVar

import click

from harness.method.option_table import (
    CORPUS,
    ENTRIES,
    GROUPS,
    METHOD,
    OPTIONS,
    RUN,
    SEVERAL,
    OptionKind,
    RunOption,
    of_command,
)

Command = TypeVar("Command", bound=Callable[..., Any])


def adding(*names: str) -> Callable[[Command], Command]:
    """Return the decorator that adds these options of the table to a command, in this order."""
    return _adding(OPTIONS[name] for name in names)


def adding_those_of(command: str) -> Callable[[Command], Command]:
    """Return the decorator that adds every option of a run that another command takes as well."""
    return _adding(of_command(command))


def _adding(options: Iterable[RunOption]) -> Callable[[Command], Command]:
    decorators = [*map(_decorator, options)]

    def add(command: Command) -> Command:
        for decorate in reversed(decorators):
            command = decorate(command)
        return command

    return add


def _decorator(option: RunOption) -> Callable[[Command], Command]:
    if option.argument:
        return click.argument(option.name, type=_type(option), required=option.required)
    default = f" Default: {option.default}." if option.default not in ("", "all", "none") else ""
    unset = {"default": None} if "/" in option.opt else {}
    return click.option(
        *(name for name in (option.opt, option.short, option.name) if name),
        type=_type(option),
        multiple=option.kind in SEVERAL,
        required=option.required,
        metavar=option.metavar or ("NAME=JSON" if option.kind is OptionKind.PAIRS else None),
        help=f"{option.help}{default}",
        is_flag=True if option.kind is OptionKind.SWITCH else None,
        **unset,
    )


def _type(option: RunOption) -> Any:
    """Return how the command line reads a value; None where click needs no help."""
    if option.kind in (OptionKind.FILE, OptionKind.FILES):
        return click.Path(path_type=Path)
    if option.kind is OptionKind.NUMBER:
        return click.FloatRange(option.least, option.most, min_open=True)
    if option.kind is OptionKind.WHOLE or option.whole_numbers:
        least, most = (None if bound is None else int(bound) for bound in (option.least, option.most))
        return int if least is most is None else click.IntRange(least, most)
    return click.Choice(option.choices) if option.choices else None


# ---- Help pages in two steps: the options that most people need, then all others by group.

COMMON: Final = (
    *(option.name for group in (METHOD, CORPUS, ENTRIES, RUN) for option in group.options if option.common),
    "estimate",
)  # fmt: skip
"""The options that ``-h`` explains."""

ALL: Final = "--all"


class GroupedCommand(click.Command):
    """Explains the common options with ``-h``, and every option by group with ``-h --all``."""

    _every = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; ``--all`` means something beside ``-h`` alone."""
        self._every = ALL in args and not {"-h", "--help"}.isdisjoint(args)
        return super().parse_args(ctx, [arg for arg in args if not (self._every and arg == ALL)])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the common options, then the names of the others or all of them explained."""
        shown = [
            get_param
            for get_param in self.get_params(ctx)
            if isinstance(get_param, click.Option) and not get_param.hidden
        ]
        options = [option for option in shown if "--help" not in option.opts]
        helping = [option for option in shown if "--help" in option.opts]
        _write(ctx, formatter, "Options", [*_named(options, COMMON), *helping])
        named = [(group, [name for name in group.names if name not in COMMON]) for group in GROUPS]
        groups = [(group.title, members) for group, names in named if (members := _named(options, names))]
        groups.append(("What the command does", [o for o in options if o.name not in {*COMMON, *OPTIONS}]))
        if self._every:
            for title, members in groups:
                _write(ctx, formatter, title, members)
            return
        with formatter.section(f"More options, which `{ctx.command_path} -h {ALL}` explains"):
            for title, members in groups:
                line = f"{title}: {' '.join(max(member.opts, key=len) for member in members)}"
                # Break between names and never inside one, as click does at hyphens.
                lines = wrap(
                    line, formatter.width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
                )
                formatter.write("\n".join(lines) + "\n")


def _write(ctx: click.Context, formatter: click.HelpFormatter, title: str, options: Iterable[click.Option]) -> None:
    with formatter.section(title):
        records = (option.get_help_record(ctx) for option in options)
        formatter.write_dl([record for record in records if record is not None])


def _named(options: Sequence[click.Option], names: Iterable[str]) -> list[click.Option]:
    """Return the options of these names, in the names' order; two options may share a name."""
    return [option for name in names for option in options if option.name == name]
