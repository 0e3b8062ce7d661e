"""Help pages in two steps: the options that most people need, then all others by group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import Final

import click

COMMON: Final = (
    "method", "model", "endpoint", "prompt", "coaching", "source_language", "target_language", "limit", "segment",
    "budget", "offline", "estimate",
)  # fmt: skip
"""The options that ``-h`` explains."""

GROUPS: Final = {
    "Corpus and entries": (
        "form", "task", "source_column", "reference_column", "other_reference", "corpus_id", "difficulty", "entries",
        "sample", "seed", "source_name", "target_name",
    ),
    "Method": (
        "temperature", "max_tokens", "batch_size", "max_retries", "checks", "tools", "glossary", "word_list",
        "model_folder", "outputs", "method_class", "translator", "text", "region", "body", "settings",
    ),
    "Calls and money": ("concurrency", "timeout", "attempts", "prices", "no_cache", "keep_failed"),
    "Scoring": (
        "metrics", "scoring", "multi_ref", "language_card", "analyser", "terms", "gloss_dictionary", "embeddings",
        "embeddings_model", "judge", "judge_model", "comet", "bertscore",
    ),
    "Secret texts": (
        "ask", "grant", "vault", "purpose", "vault_key", "clock_was_wrong", "despite_network", "others", "cards",
        "trust_local_server", "may_send",
    ),
}  # fmt: skip
"""Heading → names of options; those of no group stand under *The run itself*."""

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
        groups = list(_groups(options))
        if self._every:
            for title, members in groups:
                _write(ctx, formatter, title, members)
            return
        with formatter.section(f"More options, which `{ctx.command_path} -h {ALL}` explains"):
            for title, members in groups:
                names = " ".join(max(member.opts, key=len) for member in members)
                formatter.write(_wrapped(f"{title}: {names}", formatter.width))


def _write(
    ctx: click.Context, formatter: click.HelpFormatter, title: str, options: Iterable[click.Option]
) -> None:
    with formatter.section(title):
        records = (option.get_help_record(ctx) for option in options)
        formatter.write_dl([record for record in records if record is not None])


def _named(options: Sequence[click.Option], names: Iterable[str]) -> list[click.Option]:
    """Return the options of these names, in the names' order; two options may share a name."""
    return [option for name in names for option in options if option.name == name]


def _groups(options: Sequence[click.Option]) -> Iterator[tuple[str, list[click.Option]]]:
    """Yield the groups that have options, by heading."""
    for title, names in GROUPS.items():
        if members := _named(options, names):
            yield title, members
    grouped = {*COMMON, *(name for names in GROUPS.values() for name in names)}
    yield "The run itself", [option for option in options if option.name not in grouped]


def _wrapped(line: str, width: int) -> str:
    """Break between names and never inside one, as click does at hyphens."""
    lines = wrap(line, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(lines) + "\n"
