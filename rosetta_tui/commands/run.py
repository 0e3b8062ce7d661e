"""``rosetta run``: Translate a corpus with a method, scoring every entry."""

from __future__ import annotations

from typing import Any

import click

from harness.method.shipped import method_names
from rosetta_tui.commands.grouped_help import GroupedCommand
from rosetta_tui.commands.naming import in_lines, when_used
from rosetta_tui.commands.publish import SUBMIT, submitter
from rosetta_tui.request.options import CONFIRM, asked, granted_terms, make_request, nameless
from rosetta_tui.request.reading import load_corpus, selection
from rosetta_tui.show.text import plain

with when_used():
    from harness.release import ledger
    from harness.store.file import database


class _WithMethods(GroupedCommand):
    """Lists the methods below its options, plug-ins that are installed too."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the names of all methods with a word on each."""
        with formatter.section("Methods"):
            formatter.write_dl(
                [
                    *method_names().items(),
                    ("FILE.py", "your own `def translate(text)`, or FILE.py:CLASS"),
                ]
            )


@click.command(cls=_WithMethods, params=list(asked.params))
@CONFIRM
@SUBMIT
@in_lines
def run(style: str | None, submit: bool, **given: Any) -> None:
    """Translate the corpus FILE with a method, or have its questions answered, and score every entry as it comes.

    REFERENCE is the second of two text files that are aligned line by line. On a terminal the run is shown live;
    piped, it prints lines. The first Ctrl-C finishes what is under way and saves, the second stops at once; `rosetta
    resume` continues the run.
    """
    from rosetta_tui.app.display import start_and_show

    answers = ledger.own_ledger(database.home()) if given["confirm"] else None
    if answers is not None and given["vault"]:
        ledger.check_anchor(answers, given["vault"])
    corpus = load_corpus(given, given["reference"], terms=granted_terms(given))
    chosen = None if answers is None else ledger.confirming(corpus, selection(given), answers)
    request = make_request(corpus, given, chosen)
    for option, tag in nameless(request).items():
        click.echo(f"No name is known for the language {plain(tag)}, so that the prompt says its tag. Name it: {option} NAME.", err=True)  # fmt: skip
    start_and_show(request, style, submitter(request) if submit else None)
