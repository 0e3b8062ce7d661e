"""``rosetta run``: Translate a corpus with a method, scoring every entry; `--estimate` says what that would take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from harness.core.failures import UsageError
from harness.method.shipped import method_names
from rosetta_tui.commands.grouped_help import GroupedCommand
from rosetta_tui.commands.naming import in_lines, when_used
from rosetta_tui.commands.publish import SUBMIT, submitter
from rosetta_tui.request.options import CONFIRM, asked, granted_terms, make_request, nameless
from rosetta_tui.request.reading import load_corpus, selection
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

with when_used():
    from harness import api
    from harness.release import ledger
    from harness.store.file import database
    from rosetta_tui.report import estimate as report_estimate


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
@click.option("--estimate", is_flag=True, help="Run nothing: show what it would take in calls, tokens, money and time. No key is needed.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="With --estimate: print JSON.")
@in_lines
def run(style: str | None, submit: bool, estimate: bool, as_json: bool, **given: Any) -> None:
    """Translate the corpus FILE with a method, or have its questions answered, and score every entry as it comes.

    REFERENCE is the second of two text files that are aligned line by line. On a terminal the run is shown live;
    piped, it prints lines. The first Ctrl-C finishes what is under way and saves, the second stops at once; `rosetta
    resume` continues the run.

    The best guide of an estimate are earlier runs of the same method and model in the store. Where there are none,
    tokens are estimated from the very prompts that would be sent. Each number has its bounds, and nothing is sent.
    """
    from rosetta_tui.app.display import start_and_show

    if estimate:
        _refuse_with_estimate(style, given, submit=submit)
        _print_estimate(given, as_json=as_json)
        return
    if as_json:
        raise UsageError("--json goes with --estimate. The events of a run as JSON: --json-lines.")
    answers = ledger.own_ledger(database.home()) if given["confirm"] else None
    if answers is not None and given["vault"]:
        ledger.check_anchor(answers, given["vault"])
    corpus = load_corpus(given, given["reference"], terms=granted_terms(given))
    chosen = None if answers is None else ledger.confirming(corpus, selection(given), answers)
    request = make_request(corpus, given, chosen)
    for option, tag in nameless(request).items():
        click.echo(f"No name is known for the language {plain(tag)}, so that the prompt says its tag. Name it: {option} NAME.", err=True)  # fmt: skip
    start_and_show(request, style, submitter(request) if submit else None)


def _refuse_with_estimate(style: str | None, given: Mapping[str, Any], *, submit: bool) -> None:
    """Raise UsageError for options of a run that goes."""
    if style is not None or submit or (given["grant"] or given["ask"]) is not None:
        raise UsageError(
            "--estimate runs nothing: leave out --submit, --grant, --ask, --plain, --json-lines and --quiet."
        )


def _print_estimate(given: dict[str, Any], *, as_json: bool) -> None:
    corpus = load_corpus(given, given["reference"], work="estimate")
    run_estimate = api.estimate(database.default_path(), make_request(corpus, given))
    if as_json:
        click.echo(form_text("estimate", run_estimate.as_json()))
        return
    for label, words in report_estimate.estimate_rows(run_estimate):
        click.echo(plain(f"{label:<9}{words}"))
