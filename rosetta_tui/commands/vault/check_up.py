"""``rosetta vault check-up``: Say what is due with a vault, or do it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from corpora.files.json_types import JsonObject
from corpora.text.messages import counted
from harness.core.failures import UsageError
from harness.method.option_table import SEGMENTS
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import acting, changing, dealt_anew, keeper, seal_stored, threshold, vault_at
from rosetta_tui.request.vault import together
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain

with when_used():
    from corpora.model import entry
    from harness.store.sqlite import database
    from harness.vault import sealed_corpus
    from harness.vault.grants import files
    from rosetta_tui.vault import check_up, facts

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
        items = check_up.check_up(state_facts, facts.told_scores(home), str(vault), datetime.now(UTC))
        document: JsonObject = {"vault": state_facts.state.head.vault, "name": state_facts.name, "items": [item.as_json() for item in items]}  # fmt: skip
        print_form("vault-check-up", document, check_up.check_up_lines(items), as_json=as_json)
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
