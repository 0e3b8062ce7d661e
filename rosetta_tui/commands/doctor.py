"""``rosetta doctor``: Say what works here, what is missing, what to do.
``rosetta key``: Keep keys of model and translation services.
"""

from __future__ import annotations

import getpass
import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from functools import partial

import click

from harness.core.failures import KeyStoreError, UsageError
from harness.doctor.finding import Finding, Health
from harness.store.sqlite.database import home
from rosetta_tui.commands.naming import NamedCommands, when_used
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

with when_used():
    from harness.doctor import examination
    from harness.endpoint import endpoints
    from rosetta_tui import own_files
    from rosetta_tui.doctor import findings as messages
    from rosetta_tui.doctor import findings as terminal_facts
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
        form_text("doctor", messages.findings_json(findings)) if as_json else f"\n{messages.summary(findings)} {sent}"
    )
    if any(finding.health is Health.BROKEN for finding in findings):
        raise click.exceptions.Exit(1)


def _findings() -> Iterator[Finding]:
    yield from examination.looked_at("Program", own_files.own_files)
    yield from examination.examine(home())
    yield from examination.looked_at("App", partial(findings.chosen, home()))
    around = partial(terminal_facts.terminal, shutil.get_terminal_size(), os.environ)
    yield from examination.looked_at("Terminal", around)


# ---- Keep keys of model and translation services ----


@click.group(cls=NamedCommands)
def key() -> None:
    """Store keys of model and translation services in the operating system's keyring."""


@key.command("set")
@click.argument("name")
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the key from standard input.")
def set_(name: str, from_stdin: bool) -> None:
    """Store the key of NAME: an endpoint such as openrouter, or a host such as llm.example.org."""
    endpoints.checked_name(name)
    endpoints.set_key(name, sys.stdin.readline() if from_stdin else _typed(name))
    click.echo(plain(f"The key of {name} is stored."), err=True)


def _typed(name: str) -> str:
    """Prompt for a key that nobody sees; UsageError where there is no terminal that hides it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            return str(click.prompt(f"Key of {name}", hide_input=True))
        except getpass.GetPassWarning:
            raise UsageError(
                "There is no terminal here on which a key can be typed unseen. Give it on standard input: "
                f"rosetta key set {name} --stdin"
            ) from None


@key.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool) -> None:
    """List where keys are: in the keyring or in an environment variable. Never shows a key."""
    try:
        stored = endpoints.stored_names()
    except KeyStoreError as error:  # a machine without a keyring can still hold keys in variables
        click.echo(str(error), err=True)
        stored = []
    rows: list[dict[str, str | bool]] = []
    for name in dict.fromkeys([*endpoints.known_variables(), *stored]):
        variable = endpoints.variable_of(name)
        in_environment = bool(os.environ.get(variable, "").strip())
        if name in stored or in_environment:
            rows.append(
                {"name": name, "in_keyring": name in stored, "variable": variable, "in_environment": in_environment}
            )
    if as_json:
        click.echo(form_text("key-list", rows))
        return
    for row in rows:
        places = [str(row["variable"])] if row["in_environment"] else []
        places += ["keyring"] if row["in_keyring"] else []
        click.echo(plain(f"{row['name']:<16} {' and '.join(places)}"))
    if not rows:
        click.echo("No key is stored. Store one with: rosetta key set NAME", err=True)


@key.command("delete")
@click.argument("name")
def delete(name: str) -> None:
    """Delete the stored key of NAME."""
    if not endpoints.delete_key(name):
        raise UsageError(f"No key of {name} is stored. See: rosetta key list")
    click.echo(plain(f"The key of {name} is deleted."), err=True)
