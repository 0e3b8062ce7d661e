"""``rosetta consent list``: Show what was withdrawn, by whom, and why it is believed here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import print_form

with when_used():
    from harness.consent import register
    from harness.store.file import database


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(*, as_json: bool) -> None:
    """Show every notice that is believed here, including those that were lifted. Nothing is ever removed from this list."""
    helds = register.held(register.lines_of(database.home()))
    lines = [line for held in helds for line in _lines(held)]
    document = {"notices": [_json(held) for held in helds]}
    print_form("consent-list", document, lines or ["Nothing was withdrawn."], as_json=as_json)


def _lines(held: register.Held) -> Iterator[str]:
    notice = held.notice
    yield f"{notice.number[:12]}  {notice.when[:10]}  {notice.about.words}"
    yield f"    {notice.by}: “{notice.reason}”"
    yield f"    {register.signer_words(notice, held.ground)}; here since {held.since[:10]}"
    if held.lifted is not None:
        own = held.lifted.signing_key == notice.signing_key
        whose = "" if own else ", on this computer only, not by anyone who withdrew it"
        yield f"    LIFTED{whose}: {held.lifted.by}, {held.lifted.when[:10]}: “{held.lifted.reason}”"


def _json(held: register.Held) -> dict[str, Any]:
    notice = held.notice
    return {
        "notice": notice.number,
        "when": notice.when,
        "by": notice.by,
        "signing_key": notice.signing_key,
        "reason": notice.reason,
        "about": notice.about.words,
        "what": notice.about.what,
        "ground": held.ground.value,
        "since": held.since,
        "lifted": None
        if held.lifted is None
        else {
            "notice": held.lifted.number,
            "when": held.lifted.when,
            "by": held.lifted.by,
            "reason": held.lifted.reason,
            "by_the_signer": held.lifted.signing_key == notice.signing_key,
        },
    }
