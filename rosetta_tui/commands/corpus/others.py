"""Whom ``rosetta corpus agree`` gives translations: laptops on which they were not written, since nobody agrees with themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from harness.core.failures import UsageError
from harness.store.file.database import home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain
from scoring.core.messages import counted

with when_used():
    from harness.project import state
    from review.office.making import of_project
    from review.office.results import laptops
    from review.office.store import store

_MENDS = (
    "Name the laptop of another speaker (--for), add --passphrases and give the cards to others, or say --shared-laptop where "
    "another person sits at it."
)


def of_others(
    project: state.Project, entries: Sequence[state.ProjectEntry], given: Mapping[str, Any]
) -> tuple[list[state.ProjectEntry], frozenset[str]]:
    """Return the entries that the laptops of ``--for`` may look over, and the known laptops for which nothing is sealed.

    UsageError where nothing is left to hand out, or no laptop for secret sentences.
    """
    if not entries or given["passphrases"]:
        return list(entries), frozenset()
    with store.Office.open(home()) as office:
        wrote, first = laptops.laptops_that_wrote(project, office), laptops.first_of(office)
        known = {
            laptop.signing_key: laptop.name for laptop in office.laptops() if laptop.removed is None
        }
    if given["laptops"]:
        named = {laptop.public.signing_key for laptop in given["laptops"]}
        return _for_named(
            entries, wrote, {first.get(signing_key, signing_key) for signing_key in named}
        ), frozenset()
    writers = {key for entry in entries for key in wrote.get(entry.id, ())}
    not_for = frozenset(key for key in known if first[key] in writers)
    if of_project.secret_among(entries):
        _say_not_for(known, not_for)
    return list(entries), not_for


def _say_not_for(known: Mapping[str, str], not_for: frozenset[str]) -> None:
    """Name the known laptops for which nothing is sealed; UsageError where none is left."""
    if known and not_for == known.keys():
        raise UsageError(
            f"Every laptop that is known here wrote some of these translations. {_MENDS}"
        )
    for key in sorted(not_for):
        click.echo(plain(f"Not for the laptop {known[key]}: some of these translations were written on it."), err=True)  # fmt: skip


def _for_named(
    entries: Sequence[state.ProjectEntry],
    wrote: Mapping[int, frozenset[str]],
    named: set[str],
) -> list[state.ProjectEntry]:
    """Return what was written on none of the named laptops, and say how much was."""
    left = of_project.written_elsewhere(entries, wrote, named)
    if not left:
        raise UsageError(
            f"All {counted(len(entries), 'translation')} that wait were written on the laptops of --for. {_MENDS}"
        )
    if own := len(entries) - len(left):
        click.echo(plain(f"Left out: {counted(own, 'translation')} that these laptops wrote themselves; make another batch of them for another laptop."), err=True)  # fmt: skip
    return left
