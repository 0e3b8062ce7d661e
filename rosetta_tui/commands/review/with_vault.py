"""Commands about a review of runs from a vault: how its texts are opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.core.failures import UsageError
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.vault import vault_request

if TYPE_CHECKING:
    from harness.vault.request import VaultRequest

with when_used():
    from harness.run import vault_opening
    from harness.sealed import keys
    from harness.store import runs
    from harness.store.sqlite import database
    from harness.vault import request
    from review.files import identities
    from review.office.making import reviewed_runs
    from review.office.store import store


def _request(given: Mapping[str, Any], work: str, *, several: bool) -> VaultRequest | None:
    """Read the options about a vault; keepers who are elsewhere are asked for one run, in the folder of the files."""
    file = (given.get("folder") or Path()) / f"{work}{request.REQUEST_SUFFIX}"
    return vault_request({**given, "request": file}, work, asks=not several)


def handing_out(given: Mapping[str, Any], *, several: bool) -> reviewed_runs.TextOpening:
    """Return what opens runs whose sentences go to the laptops of ``--for``; nothing is opened yet. UsageError as of ``handed_to``.

    ``several``: of several runs, or for a plan alone: then keepers who are elsewhere are not asked.
    """
    asked = _request(given, "review", several=several)
    if asked is None:
        return reviewed_runs.without_vault
    laptops = handed_to(given)
    return lambda connection, run: vault_opening.open_again(connection, run, asked, "review", laptops=laptops)


def laptop_cards(_ctx: click.Context, _option: click.Parameter, files: Sequence[Path]) -> list[identities.LaptopCard]:
    """Read the cards of ``--for``, each file once: what is examined, written into a log and sealed for are the same keys."""
    return [identities.laptop_card_in(file) for file in files]


def handed_to(given: Mapping[str, Any]) -> list[keys.PublicIdentity]:
    """Return the laptops for which sentences from a vault are sealed; none where no vault is named.

    UsageError where they are not named, or more would go along than the opening is for.
    """
    if given["vault"] is None:
        return []
    if given["passphrases"] or not given["laptops"]:
        raise UsageError(
            "Sentences from a vault are sealed for laptops that are named, so that its log and its keepers know whose: add --for "
            "LAPTOP-FILE for each (`rosetta review enrol --card` writes it there), and leave --passphrases out."
        )
    if given.get("context") == "all":
        raise UsageError("--context all: of a vault only the sentences go along that are asked about. Leave it out.")
    return [laptop.public for laptop in given["laptops"]]


def open_review(
    review: store.Review,
    work: str,
    given: Mapping[str, Any],
    laptops: Sequence[keys.PublicIdentity] = (),
    *,
    dry_run: bool = False,
) -> None:
    """Open the texts of a review of runs from a vault; those of any other need none.

    ``laptops``: those that they are sealed for. ``dry_run``: for a plan alone. UsageError where no vault is named, or one that is not the runs'.
    """
    asked = _request(given, work, several=dry_run or len(review.vault_runs) > 1)
    if not review.vault_runs:
        if asked is not None:
            raise UsageError(f"Review {review.name!r} is not of runs from a vault: leave --vault out.")
        return
    with database.opened() as connection:
        for run_id in review.vault_runs:
            run = runs.find_run(connection, run_id)
            vault_opening.open_again(connection, run, asked, work, laptops=laptops)
