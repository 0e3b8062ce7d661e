"""Commands by name: imported when they are used, a wrong name answered with the nearest, one style of errors.

An error on standard error begins with ``error: ``, a warning with ``warning: ``, anyone who found it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from typing import Any, ClassVar, TypeVar

import click

from corpora.text.messages import near_names, one_of
from rosetta_tui.front import ORDER, PACKAGES, commands, module_of
from rosetta_tui.show.text import plain

ERROR = "error: "
_WHOLE = 1000
"""More characters than the first sentence of any command's help has."""
Command = TypeVar("Command", bound=Callable[..., Any])


@contextmanager
def when_used() -> Iterator[None]:
    """Load each module of ours that is imported in the block when something of it is first used.

    So a command's help page and its wrong usage cost what its options cost, and no library of its work. It is for files
    of commands, which import nothing of ours inside functions as well. Only whole modules wait (``from harness.card
    import load``); a name that is taken out of one (``from harness.card.rows import load_card``) loads it at once. Touch a module first in the main thread: Python 3.11 loads without a lock.
    """
    sys.meta_path.insert(0, _Waiting)
    try:
        yield
    finally:
        sys.meta_path.remove(_Waiting)


class _Waiting:
    """Finds our modules and leaves running them for later; packages are run at once, for their ways to modules."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, _: object = None) -> ModuleSpec | None:
        """Return where a module of ours is, with a loader that waits; None for all that is not ours."""
        module_spec = PathFinder.find_spec(name, path) if name.partition(".")[0] in PACKAGES else None
        if module_spec is None or module_spec.loader is None or module_spec.submodule_search_locations is not None:
            return module_spec
        module_spec.loader = LazyLoader(module_spec.loader)
        return module_spec


def in_lines(command: Command) -> Command:
    """Add the options that show a run as lines."""
    for names, style, help_ in (
        (("-q", "--quiet"), "summary", "Only what it came to, at the end."),
        (("--json-lines",), "json-lines", "One JSON object for each event."),
        (("--plain",), "plain", "Lines instead of the live screen."),
    ):
        command = click.option(*names, "style", flag_value=style, help=help_)(command)
    return command


DETACH = click.option("--detach", "style", flag_value="detached", help="Print the run's id and run on without this terminal.")  # fmt: skip


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
            guess = f"Did you mean {one_of(map(repr, near))}?" if near else f"There are {', '.join(known)}."
            raise click.UsageError(f"There is no command {args[0][:40]!r}. {guess}", ctx) from None

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in the order in which the commands were added."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands, each with the whole first sentence of its help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(_WHOLE)) for name, command in self.commands.items()])


class FiledCommands(NamedCommands):
    """A group whose commands are in files of its folder, each imported when it is used."""

    folder: ClassVar[str] = ""
    """The name of its folder in ``rosetta_tui/commands``; empty for that folder itself."""
    order: ClassVar[tuple[str, ...]] = ORDER
    """Names in the order in which they are needed; others come after them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in their order."""
        return list(commands(self.folder, self.order))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command of this name, which its file may call by it with ``_`` behind; None where there is none."""
        place = module_of(self.folder, cmd_name)
        if place is None:
            return None
        module = importlib.import_module(place)
        # the name with _ first: the plain one may be a module that waits, which a look would load
        stem = cmd_name.replace("-", "_")
        named = (getattr(module, name, None) for name in (f"{stem}_", stem))
        return next((command for command in named if isinstance(command, click.Command)), None)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            listed = commands(self.folder, self.order)
            formatter.write_dl([(name, does) for name, (_, does) in listed.items()])


def error_lines(words: str) -> Iterator[str]:
    """Yield a failure's lines as they are printed; each problem of a file says itself what it is."""
    first, *rest = (plain(line) for line in words.splitlines() or [""])
    yield first if first.startswith((ERROR, "warning: ")) else f"{ERROR}{first}"
    yield from rest


def usage_lines(error: click.ClickException) -> Iterator[str]:
    """Yield the lines for wrong usage: what is wrong, the nearest that is right, and where help is."""
    words = error.format_message().replace("\n\t", " ")  # a list of choices, one a line
    if isinstance(error, click.NoSuchOption):
        params = [] if error.ctx is None else error.ctx.command.get_params(error.ctx)
        shown = (param for param in params if isinstance(param, click.Option) and not param.hidden)
        names = (name for option in shown for name in (*option.opts, *option.secondary_opts))
        near = near_names(error.option_name, [name for name in names if name.startswith("--")])
        words = f"There is no option {error.option_name}."
        words += f" Did you mean {one_of(near)}?" if near else ""
    yield from error_lines(words)
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        yield f"`{context.command_path} -h` shows how it is used."
