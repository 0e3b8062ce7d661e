"""``rosetta vault list``: Show what a vault holds and who can open it, without opening it."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import FILE, vault_at
from rosetta_tui.show.json_forms import print_form
from scoring.core.messages import counted

with when_used():
    from harness.consent import withdrawals_in_force
    from harness.sealed import keys
    from harness.store import withdrawn as withdrawals
    from harness.store.file import database
    from harness.vault import log, records
    from harness.vault.grants import messages as grant_messages
    from rosetta_tui.vault import messages as vault_words


@click.command("list")
@click.argument("vault", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(vault: Path, *, as_json: bool) -> None:
    """Show the corpora of VAULT, how many entries they have, and who can open it. Every byte is checked as it is read.

    No key is needed, and no text is opened.
    """
    state = vault_at(vault).read()
    name = state.founded.name
    now = withdrawals_in_force.standing(database.home())
    gone = {
        state_keeper: keeper
        for state_keeper in state.keepers.values()
        if (keeper := now.of_keeper(state.head.vault, state_keeper.signing_key))
    }
    by_log = {
        number: log.withdrawn_words(state.lines, line)
        for number, line in log.withdrawals_of(state.lines).items()
    }
    withdrawn = by_log | (_withdrawn(state.head) if now else {})
    document = {
        "vault": state.head.vault,
        "name": name,
        "log_lines": state.head.lines,
        "corpora": [
            {
                "id": number, "name": corpus.name,
                "entries": {str(s): n for s, n in corpus.entries.items()},
                "smallest_differences": {str(s): n for s, n in corpus.smallest_differences.items()},
                "withdrawn": withdrawn.get(number),
            }
            for number, corpus in state.head.corpora.items()
        ],
        "keepers": [
            {"name": keeper.name, "signing_key": keeper.signing_key, "recovery": keeper.recovery}
            for keeper in state.keepers.values()
        ],
        "threshold": 1 if state.split is None else state.split.threshold,
        "left_over": list(state.left_over),
        "taken_out_since": [keeper.signing_key for keeper in gone],
    }  # fmt: skip
    lines = [
        f"{name}: whole and unchanged, {counted(state.head.lines, 'line')} in its log",
        *chain.from_iterable(
            (
                f"  {corpus.name}: {grant_messages.counts(corpus.entries)}",
                *(f"    {line}" for line in vault_words.telling(corpus)),
                *(f"    {line}" for line in vault_words.told_outside(corpus)),
                *([f"    WITHDRAWN: {withdrawn[number]}"] if number in withdrawn else []),
            )
            for number, corpus in state.head.corpora.items()
        ),
        *([] if state.head.corpora else ["  no corpus yet: rosetta vault add"]),
        "It opens for:"
        if state.split is None
        else f"It opens for any {state.split.threshold} together of:",
        *(
            f"  {keeper.name}   {keys.key_phrase(keeper.signing_key)}"
            for keeper in state.keepers.values()
        ),
    ]
    lines += [
        f"OLDER COPY: {keeper.name} is no keeper any more, by a notice: {signed_notice.said}. Bring it up to date (rosetta vault export)."
        for keeper, signed_notice in gone.items()
    ]
    if state.left_over:
        lines.append("A change was stopped before its end; the next one clears what is left of it.")
    print_form("vault-list", document, lines, as_json=as_json)


def _withdrawn(head: records.Head) -> dict[str, str]:
    """Return of corpora that were taken back, by number, what the notice says."""
    with database.opened() as store:
        notices = ((corpus, withdrawals.withdrawn_of_vault(store, head.vault, corpus)) for corpus in head.corpora)  # fmt: skip
        return {number: notice.said for number, notice in notices if notice}
