"""``rosetta vault log``: Show who did what with a vault, and what for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import FILE, counts, vault_at
from rosetta_tui.show.json_forms import print_form
from scoring.core.wording import counted

with when_used():
    from harness.vault import ledger, log, records


@click.command("log")
@click.argument("vault", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def log_(vault: Path, *, as_json: bool) -> None:
    """Show the log of VAULT, the oldest line first. Its chain and every signature are checked; no key is needed."""
    state = vault_at(vault).read()
    names = {each.signing_key: each.name for each in state.founded.keepers}
    names |= {each.signing_key: "the keepers together" for each in log.splits_of(state.lines)}
    rows: list[dict[str, Any]] = []
    corpora = {number: each.name for number, each in state.head.corpora.items()}
    for each in state.lines:
        act = each.record.act
        by = names[each.record.by]
        if isinstance(act, records.Enrolled):  # a name counts from its line on
            names[act.keeper.signing_key] = act.keeper.name
        if isinstance(act, records.Dealt):
            names |= {each.signing_key: each.name for each in act.keepers}
        rows.append(
            {
                "when": each.record.when,
                "by": by,
                "what": act.what,
                "words": _words(act, corpora, names),
                "purpose": getattr(getattr(act, "request", act), "purpose", None),
                "clock_set_back": each.record.clock_set_back,
                "id": each.id,
            }
        )
    lines = [
        f"{row['when']}  {row['by']}: {row['words']}"
        + (f" ({row['purpose']})" if row["purpose"] else "")
        + (" [the clock of an earlier line was wrong]" if row["clock_set_back"] else "")
        for row in rows
    ]
    print_form("vault-log", rows, lines, as_json=as_json)


_WORKS = {
    "run": "the run",
    "score": "the scoring",
    "estimate": "an estimate of a run",
    "resume": "going on with the run",
    "retry": "asking again for failed entries of the run",
    "rescore": "scoring again the run",
    "seal": "signing the card of the run",
    "check": "checks and counts",
    "script": "a script or notebook",
    "export": "the community's own export, in open files",
}


def _words(act: records.Act, corpora: dict[str, str], names: Mapping[str, str]) -> str:
    match act:
        case records.Added():
            words = f"put in {act.name!r}: {counts(act.entries)}"
        case records.Opened() | records.Used() | records.OpenedByGrant():
            words = _opened_words(act, corpora[act.corpus])
        case records.Rotated():
            moved = f"{counted(len(act.entries), 'entry', 'entries')} of {corpora[act.corpus]!r}"
            words = f"moved {moved} from {act.source} to {act.target}"
        case records.CopyMade():
            words = "made a sealed copy"
        case records.CardSealed():
            words = f"signed the card {act.card[:16]} of a run"
        case records.GrantAsked() | records.Answered():
            words = _grant_words(act, names)
        case _:
            words = _of_keepers(act, names)
    return words


def _of_keepers(
    act: records.Founded | records.Enrolled | records.Revoked | records.Dealt,
    names: Mapping[str, str],
) -> str:
    match act:
        case records.Founded():
            who = ", ".join(each.name for each in act.keepers)
            together = f"{act.split.threshold} together of " if act.split else ""
            words = f"made the vault {act.name!r}; it opens for {together}{who}"
        case records.Enrolled():
            words = f"took {act.keeper.name} in as a keeper"
        case records.Revoked():
            words = f"took {names[act.keeper]} out and sealed every text anew"
        case records.Dealt():
            who = ", ".join(each.name for each in act.keepers)
            words = f"dealt the shares anew; it opens for {act.split.threshold} together of {who}"
            words += ", and sealed every text anew" if act.sealed_anew else ""
    return words


def _opened_words(act: records.Opened | records.Used | records.OpenedByGrant, corpus: str) -> str:
    """Say how something was opened, and what for where the program knows."""
    run = "" if isinstance(act, records.Opened) or not act.run else f" {act.run[:8]}"
    what = f"opened {corpus!r}"
    if isinstance(act, records.Used):
        what = f"{what} for {_WORKS[act.work]}{run}"
    if isinstance(act, records.OpenedByGrant):
        what = f"used the grant {act.grant[:8]} up and {what}{f' for the run{run}' if run else ''}"
    if isinstance(act, records.Used | records.OpenedByGrant) and act.despite_network:
        what += f" despite a network, because: {act.despite_network}"
    return f"{what}: {counts(act.entries)}"


def _run_words(run: records.RunTerms) -> str:
    return (
        f"{_WORKS.get(run.method, run.method)} {run.run[:8]}"
        if run.run
        else f"a run of {run.method}"
    )


def _grant_words(act: records.GrantAsked | records.Answered, names: Mapping[str, str]) -> str:
    if isinstance(act, records.Answered):
        said = "allows it" if act.answer.allowed else "refuses it"
        said += f": {act.answer.reason}" if act.answer.reason else ""
        return f"took in what {names[act.answer.keeper]} says to {act.answer.request[:8]}: {said}"
    request = act.request
    what = f" for {_run_words(request.run)}" if request.run else ""
    return f"asked to open {request.name!r} once{what}: {counts(request.entries)}; it is {ledger.request_id(request)[:8]}"
