"""``rosetta key``: Keep keys of model and translation services."""

from __future__ import annotations

import getpass
import os
import sys
import warnings

import click

from harness.core.failures import KeyStoreError, UsageError
from rosetta_tui.commands.naming import NamedCommands
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain


@click.group(cls=NamedCommands)
def key() -> None:
    """Store keys of model and translation services in the operating system's keyring."""


@key.command("set")
@click.argument("name")
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the key from standard input.")
def set_(name: str, from_stdin: bool) -> None:
    """Store the key of NAME: an endpoint such as openrouter, or a host such as llm.example.org."""
    from harness.endpoint.keys import checked_name, set_key

    checked_name(name)
    set_key(name, sys.stdin.readline() if from_stdin else _typed(name))
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
    rows = _rows()
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
    from harness.endpoint.keys import delete_key

    if not delete_key(name):
        raise UsageError(f"No key of {name} is stored. See: rosetta key list")
    click.echo(plain(f"The key of {name} is deleted."), err=True)


def _rows() -> list[dict[str, str | bool]]:
    """Return for each name that has a key where it is; the variable goes before the keyring.

    A machine without a keyring can still hold keys in variables, so it is reported and passed over.
    """
    from harness.endpoint.keys import known_variables, stored_names, variable_of

    try:
        stored = stored_names()
    except KeyStoreError as error:
        click.echo(str(error), err=True)
        stored = []
    names = dict.fromkeys([*known_variables(), *stored])
    rows: list[dict[str, str | bool]] = [
        {
            "name": name,
            "in_keyring": name in stored,
            "variable": variable_of(name),
            "in_environment": bool(os.environ.get(variable_of(name), "").strip()),
        }
        for name in names
    ]
    return [row for row in rows if row["in_keyring"] or row["in_environment"]]
