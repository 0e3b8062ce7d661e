"""``rosetta vault list``: Show what a vault holds and who can open it, without opening it.
``rosetta vault log``: Show who did what with a vault, and why.
``rosetta vault open``: Try whether your keys open a corpus; no text is shown or written.
``rosetta vault check-up``: Say what is due with a vault, or do it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

import click

from corpora.files.json_types import JsonObject
from corpora.text.messages import counted
from harness.core.failures import UsageError
from harness.method.option_table import SEGMENTS
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import (
    FILE,
    acting,
    changing,
    dealt_anew,
    grants_at,
    keeper,
    seal_stored,
    threshold,
    vault_at,
)
from rosetta_tui.commands.vault.sharing import purpose as why
from rosetta_tui.request.vault import tell, together, wait
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain

with when_used():
    from corpora.model import entry
    from harness.consent import checks as consent
    from harness.consent import withdrawals_in_force
    from harness.sealed import keys
    from harness.store import withdrawn as withdrawals
    from harness.store.sqlite import database
    from harness.vault import log, sealed_corpus, vault_records
    from harness.vault import opening as vault_opening
    from harness.vault import request as requests
    from harness.vault.grants import files, using
    from harness.vault.grants import files as grant_messages
    from rosetta_tui.vault import facts, messages


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
        number: log.withdrawn_words(state.lines, line) for number, line in log.withdrawals_of(state.lines).items()
    }
    withdrawn = by_log | (_withdrawn(state.head) if now else {})
    document: JsonObject = {
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
                *(f"    {line}" for line in messages.telling(corpus)),
                *(f"    {line}" for line in messages.told_outside(corpus)),
                *([f"    WITHDRAWN: {withdrawn[number]}"] if number in withdrawn else []),
            )
            for number, corpus in state.head.corpora.items()
        ),
        *([] if state.head.corpora else ["  no corpus yet: rosetta vault add"]),
        "It opens for:" if state.split is None else f"It opens for any {state.split.threshold} together of:",
        *(f"  {keeper.name}   {keys.key_phrase(keeper.signing_key)}" for keeper in state.keepers.values()),
    ]
    lines += [
        f"OLDER COPY: {keeper.name} is no keeper any more, by a notice: {signed_notice.said}. Bring it up to date (rosetta vault export)."
        for keeper, signed_notice in gone.items()
    ]
    if state.left_over:
        lines.append("A change was stopped before its end; the next one clears what is left of it.")
    print_form("vault-list", document, lines, as_json=as_json)


def _withdrawn(head: vault_records.Head) -> dict[str, str]:
    """Return of corpora that were taken back, by number, what the notice says."""
    with database.opened() as store:
        notices = ((corpus, withdrawals.withdrawn_of_vault(store, head.vault, corpus)) for corpus in head.corpora)
        return {number: notice.said for number, notice in notices if notice}


# ---- Show who did what with a vault, and why ----


@click.command("log")
@click.argument("vault", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def log_(vault: Path, *, as_json: bool) -> None:
    """Show the log of VAULT, the oldest line first. Its chain and every signature are checked; no key is needed."""
    acts = messages.logged_acts(vault_at(vault).read())
    lines = [
        f"{act.when}  {act.by}: {act.words}"
        + (f" ({act.purpose})" if act.purpose else "")
        + (" [the clock of an earlier line was wrong]" if act.clock_set_back else "")
        for act in acts
    ]
    print_form("vault-log", [asdict(act) for act in acts], lines, as_json=as_json)


# ---- Try whether your keys open a corpus; no text is shown or written ----


@click.command("open")
@changing
@together
@click.argument("corpus")
@why
@click.option("--segment", "chosen", multiple=True, type=click.Choice(SEGMENTS), help="Only entries of this segment. Default: all but held_out, which is never opened.")  # fmt: skip
def open_(
    vault: Path,
    key: Path | None,
    others: tuple[Path, ...],
    corpus: str,
    purpose: str,
    chosen: tuple[str, ...],
    *,
    clock_was_wrong: bool,
) -> None:
    """Open every text of CORPUS in memory and check it, so that you know that your keys work and nothing is damaged.

    The log of VAULT records the opening and its purpose first. Nothing is shown, and nothing is kept. Where several
    keepers open it together, either they are here (--with), or they are asked, and the same command continues.
    """
    made = vault_at(vault, clock_was_wrong=clock_was_wrong)
    segments = [entry.Segment(segment_name) for segment_name in chosen]
    if made.read().split is not None and not others:
        file = Path(f"open{requests.REQUEST_SUFFIX}")
        awaited = using.AwaitedGrant(grants_at(vault, clock_was_wrong=clock_was_wrong), None, file, tell, wait)
        opened = vault_opening.unsealed(*awaited.opening(corpus, keeper(key), segments, purpose))
    else:
        identity, opening = acting(made, key, others)
        opened = vault_opening.unsealed(*made.trial(corpus, purpose, identity, segments, opening))
    count = counted(len(opened.entries), "entry", "entries")
    click.echo(plain(f"{corpus}: {count} opened with your keys, each text is whole. The log records it."))
    for words in _taken_back(opened):
        click.echo(plain(words))


def _taken_back(opened: sealed_corpus.UnsealedCorpus) -> Iterator[str]:
    """Yield what of the opened entries no run is given, because consent for it was withdrawn."""
    corpus = vault_opening.corpus_of(opened)
    try:
        kept = consent.with_consent(corpus, withdrawals_in_force.standing(database.home()))
    except withdrawals_in_force.Withdrawn as error:
        yield f"None of it is opened for a run: consent was withdrawn for {error.notice.said}."
        return
    warned = {warning.message for warning in corpus.warnings}
    new = (warning.message for warning in kept.warnings if warning.message not in warned)
    yield from (f"For a run, {message}" for message in new)


# ---- Say what is due with a vault, or do it ----

_ACTS = ("rotate", "shares")


@click.command("check-up")
@changing
@click.argument("corpus", required=False)
@click.option("--do", "act", type=click.Choice(_ACTS), help="rotate: move entries of CORPUS into another segment. shares: make new shares and seal all texts again.")  # fmt: skip
@click.option("--purpose", metavar="WORDS", help="With --do: why. The log keeps these words, so name nobody and quote no text.")  # fmt: skip
@click.option("--count", type=click.IntRange(1), help="With --do rotate: how many entries; they are drawn at random.")
@click.option("--from", "source", type=click.Choice(SEGMENTS), default="held_out", show_default=True, help="With --do rotate.")  # fmt: skip
@click.option("--to", "target", type=click.Choice(SEGMENTS), default="gold_standard", show_default=True, help="With --do rotate.")  # fmt: skip
@together
@threshold
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check_up_(
    vault: Path,
    corpus: str | None,
    act: str | None,
    purpose: str | None,
    count: int | None,
    source: str,
    target: str,
    key: Path | None,
    others: tuple[Path, ...],
    threshold: int | None,
    *,
    clock_was_wrong: bool,
    as_json: bool,
) -> None:
    """Show what is due with VAULT, each with its command: keys or shares to try, answers used up, a copy to make.

    No key is needed for that. With --do it is done instead, and the log of VAULT records why: entries are moved
    without opening a text (those of held_out are used only once they were moved, and what was open once cannot become
    secret again), or as many keepers as open VAULT come together and get new shares, and no earlier share opens it.
    """
    if act is None:
        if corpus or purpose or count:
            raise UsageError(f"Say what to do: --do {' or --do '.join(_ACTS)}.")
        home = database.home()
        state_facts = facts.vault_facts(vault, home)
        items = facts.check_up(state_facts, facts.told_scores(home), str(vault), datetime.now(UTC))
        document: JsonObject = {"vault": state_facts.state.head.vault, "name": state_facts.name, "items": [item.as_json() for item in items]}  # fmt: skip
        print_form("vault-check-up", document, facts.check_up_lines(items), as_json=as_json)
        return
    if purpose is None or (act == "rotate" and not (corpus and count)):
        raise UsageError("--do rotate needs CORPUS, --count and --purpose; --do shares needs --purpose.")
    made = vault_at(vault, clock_was_wrong=clock_was_wrong)
    if corpus and count:
        segments = entry.Segment(source), entry.Segment(target)
        state = made.rotate(corpus, *segments, count, purpose, keeper(key))
        _, stored = sealed_corpus.corpus_named(state, corpus)
        click.echo(plain(f"{corpus}: {counted(count, 'entry', 'entries')} moved from {source} to {target}. Now: {files.counts(stored.entries)}."))  # fmt: skip
        return
    identity, opening = acting(made, key, others)
    before = made.read()
    state = made.refresh(purpose, identity, opening, threshold)
    dealt_anew(state)
    seal_stored(before, state, identity, opening)
