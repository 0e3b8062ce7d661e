"""``rosetta gate``: Pass or fail a run by rules, for CI: exit code 0 or 1."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from harness.core.failures import UsageError
from harness.core.storage import PUBLISHED, write_file
from rosetta_tui.commands.naming import when_used
from rosetta_tui.front import FAILED
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

with when_used():
    from xml.etree import ElementTree as ET

    from harness.compare import gate as rules
    from harness.store.sqlite import database
    from rosetta_tui.compare import sentences
    from rosetta_tui.show import exporting, figures
    from scoring.core import inventory


@click.command()
@click.argument("run")
@click.option("--min", "least", multiple=True, metavar="METRIC=VALUE", help="The whole 95 % interval lies at or above it, such as composite=0.6 or chrf=45.")  # fmt: skip
@click.option("--max", "most", multiple=True, metavar="METRIC=VALUE", help="The same for scores of which less is better, such as ter=40.")  # fmt: skip
@click.option("--max-failed", metavar="SHARE", help="At most this share of the entries failed, such as 1% or 0.01.")
@click.option("--not-worse-than", "against", metavar="RUN", help="Not worse than RUN beyond chance, as `rosetta compare` tests it, by the metrics of --min and --max; else by chrF++ and composite.")  # fmt: skip
@click.option(
    "--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write a test report for the CI to show."
)
@click.option("--markdown", type=click.Path(path_type=Path), metavar="FILE", help="Write a table for a pull request; - is stdout.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def gate(
    run: str,
    least: Sequence[str],
    most: Sequence[str],
    max_failed: str | None,
    against: str | None,
    junit: Path | None,
    markdown: Path | None,
    *,
    as_json: bool,
) -> None:
    """Pass RUN (exit code 0) where it keeps every rule; else exit code 1 and a sentence for each that it breaks.

    A RUN is an id, its beginning, or `last`. A score is decided by its interval: 0.62 (0.57–0.67) does not show that
    0.60 is reached. A run that is not above what worthless outputs reach never passes.
    """
    limits = [rules.score_limit(words, "--min") for words in least]
    limits += [rules.score_limit(words, "--max") for words in most]
    share = None if max_failed is None else _share(max_failed)
    if not limits and share is None and against is None:
        raise UsageError("There is no rule. Add one, such as --min composite=0.6 or --not-worse-than RUN.")
    with database.opened() as connection:
        result = rules.gate_run(connection, run, limits=limits, most_failed=share, against=against)
    rows = [(check, *_words(check, result)) for check in result.checks]
    if junit is not None:
        write_file(junit, _junit(result.run_id, rows), overwrite=True, mode=PUBLISHED)
    if markdown is not None:
        records = [{"": _sign(check), "rule": rule, "finding": finding} for check, rule, finding in rows]
        table = exporting.table_text(records, exporting.TableFormat.MARKDOWN)
        if str(markdown) != "-":
            write_file(markdown, table.encode(), overwrite=True, mode=PUBLISHED)
        elif not as_json:
            click.echo(table, nl=False)
    if as_json:
        click.echo(form_text("gate", {**asdict(result), "passed": result.passed}))
    for line in _lines(result, rows):
        click.echo(plain(line), err=as_json or str(markdown) == "-")
    if not result.passed:
        sys.exit(FAILED)


def _share(words: str) -> float:
    """Read ``1%`` or ``0.01``."""
    try:
        share = float(words.removesuffix("%")) / (100 if words.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(f"--max-failed {words}: write a share of the entries, such as 1% or 0.01.")
    return share


def _sign(check: rules.GateCheck) -> str:
    return "✓" if check.passed else "✗"


def _words(check: rules.GateCheck, result: rules.GateResult) -> tuple[str, str]:
    """Return a rule, and what was finding of it."""
    match check.rule:
        case "floors":
            finding = "it is" if check.passed else f"`rosetta runs show {result.run_id[:8]}` says what reaches as much"
            return "above what worthless outputs reach", finding
        case "failed":
            rule = f"at most {100 * (check.limit or 0):g} % of the entries failed"
            return rule, check.reason or f"{100 * (check.value or 0):.3g} % failed"
    name = inventory.short_title(check.metric or "")
    if check.rule == "not_worse":
        return f"{name} not worse than of run {(result.against or '')[:8]}", _difference(check)
    rule = f"{name} {'at most' if check.at_most else 'at least'} {check.limit:g}"
    if check.value is None or check.lower is None:
        return rule, f"{figures.value(check.metric or '', check.value)}: {check.reason}"
    shown, *ends = (sentences.number(check.metric or "", end) for end in (check.value, check.lower, check.upper or 0))
    if check.reason:
        return rule, f"{shown}, {check.reason}"
    reached = check.value <= (check.limit or 0) if check.at_most else check.value >= (check.limit or 0)
    unsure = "" if check.passed or not reached else "; reached, but not beyond chance; more entries narrow the interval"
    return rule, f"{shown} ({ends[0]}–{ends[1]}){unsure}"


def _difference(check: rules.GateCheck) -> str:
    if check.value is None or check.metric is None:
        return f"they do not compare: {check.reason}"
    by, *ends = (sentences.number(check.metric, end, sign=True) for end in (check.value, check.lower or 0, check.upper or 0))  # fmt: skip
    return f"difference {by} ({ends[0]} … {ends[1]}){'' if check.passed else '; worse beyond chance'}"


def _lines(result: rules.GateResult, rows: Sequence[tuple[rules.GateCheck, str, str]]) -> Iterator[str]:
    for check, rule, finding in rows:
        yield f"{_sign(check)} {rule}: {finding}"
    broken = sum(not check.passed for check in result.checks)
    kept = f"keeps all {len(rows)} rules" if not broken else f"breaks {broken} of {len(rows)} rules"
    yield f"Run {result.run_id[:8]} {kept}."


def _junit(run_id: str, rows: Sequence[tuple[rules.GateCheck, str, str]]) -> bytes:
    """Return a test report: one case a rule, as CI servers read it."""
    failures = str(sum(not check.passed for check, *_ in rows))
    suite = ET.Element("testsuite", name="rosetta gate", tests=str(len(rows)), failures=failures, errors="0")
    for check, rule, finding in rows:
        case = ET.SubElement(suite, "testcase", classname=f"run {run_id[:8]}", name=plain(rule))
        if not check.passed:
            ET.SubElement(case, "failure", message=plain(finding))
    whole = ET.Element("testsuites")
    whole.append(suite)
    data: bytes = ET.tostring(whole, encoding="utf-8", xml_declaration=True)
    return data
