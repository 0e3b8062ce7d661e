"""``rosetta doctor``: Say what works here, what is missing, what to do."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from functools import partial

import click

from harness.doctor.finding import Finding, Health
from harness.store.file.database import home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

with when_used():
    from harness.doctor import examination
    from rosetta_tui import own_files
    from rosetta_tui.doctor import messages, terminal_facts
    from rosetta_tui.settings import findings


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(as_json: bool) -> None:
    """Check everything Rosetta needs or can use here, and show what is missing and what to do.

    Nothing is changed, and nothing is sent anywhere. Exit 1 where something is broken; what is only missing
    is no failure.
    """
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    findings: list[Finding] = []
    for finding in _findings():
        if not as_json:
            new_area = not findings or findings[-1].area != finding.area
            for line in messages.finding_lines(finding, new_area=new_area, width=width):
                click.echo(plain(line))
        findings.append(finding)
    sent = "Nothing was changed, and nothing was sent anywhere."
    click.echo(
        form_text("doctor", messages.findings_json(findings))
        if as_json
        else f"\n{messages.summary(findings)} {sent}"
    )
    if any(finding.health is Health.BROKEN for finding in findings):
        raise click.exceptions.Exit(1)


def _findings() -> Iterator[Finding]:
    yield from examination.looked_at("Program", own_files.own_files)
    yield from examination.examine(home())
    yield from examination.looked_at("App", partial(findings.chosen, home()))
    widths, size = terminal_facts.differing_widths(), shutil.get_terminal_size()
    yield from examination.looked_at(
        "Terminal", partial(terminal_facts.terminal, size, os.environ, widths)
    )
