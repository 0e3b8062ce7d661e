"""Commands by name: imported when they are used, a wrong name answered with the nearest, one style of errors.

An error on standard error begins with ``error: ``, a warning with ``warning: ``, whoever found it.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping

import click

from corpora.text.near_names import near_names, one_of
from rosetta_tui.show.text import plain

ERROR = "error: "


class NamedCommands(click.Group):
    """A group that answers a wrong name with the nearest of its commands."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first argument names; UsageError with the nearest where there is none."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            known = self.list_commands(ctx)
            if args[0] in known or args[0].startswith("-"):
                raise
            near = near_names(args[0], known)
            guess = (
                f"Did you mean {one_of(map(repr, near))}?"
                if near
                else f"There are {', '.join(known)}."
            )
            raise click.UsageError(f"There is no command {args[0][:40]!r}. {guess}", ctx) from None


class TabledCommands(NamedCommands):
    """A group whose commands are listed in a table, and imported when they are used."""

    table: Mapping[str, str]
    """Name → what it does, in the order in which they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in the order of the table."""
        return list(self.table)

    def place(self, name: str) -> tuple[str, str]:
        """Return the module that holds the command of this name, and what it is called there."""
        raise NotImplementedError

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command of this name; None where there is none."""
        if cmd_name not in self.table:
            return None
        module, attribute = self.place(cmd_name)
        command = getattr(importlib.import_module(module), attribute)
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands from the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.table.items()))


def error_lines(words: str) -> Iterator[str]:
    """Yield a failure's lines as they are printed; each problem of a file says itself what it is."""
    first, *rest = (plain(line) for line in words.splitlines() or [""])
    yield first if first.startswith((ERROR, "warning: ")) else f"{ERROR}{first}"
    yield from rest


def _options(context: click.Context | None) -> list[str]:
    """Return the long names of the options that a command shows in its help."""
    params = [] if context is None else context.command.get_params(context)
    shown = (each for each in params if isinstance(each, click.Option) and not each.hidden)
    names = (name for option in shown for name in (*option.opts, *option.secondary_opts))
    return [name for name in names if name.startswith("--")]


def usage_lines(error: click.ClickException) -> Iterator[str]:
    """Yield the lines for wrong usage: what is wrong, the nearest that is right, and where help is."""
    words = error.format_message()
    if isinstance(error, click.NoSuchOption):
        near = near_names(error.option_name, _options(error.ctx))
        words = f"There is no option {error.option_name}."
        words += f" Did you mean {one_of(near)}?" if near else ""
    yield from error_lines(words)
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        yield f"`{context.command_path} -h` shows how it is used."
