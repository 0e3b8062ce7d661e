"""Commands about a review of runs from a vault: how its texts are opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from harness.core.failures import UsageError
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.vault import vault_request

with when_used():
    from harness.run import vault_opening
    from harness.sealed import keys
    from harness.store import runs
    from harness.store.file import database
    from review.files import identities
    from review.office.making import reviewed_runs
    from review.office.store import store


def handing_out(given: Mapping[str, Any], *, dry_run: bool) -> reviewed_runs.TextOpening:
    """Return what opens runs whose sentences go to the laptops of ``--for``; nothing is opened yet. UsageError as of ``handed_to``."""
    asked = vault_request(given, "review")
    if asked is None:
        return reviewed_runs.without_vault
    laptops = handed_to(given, dry_run=dry_run)
    return lambda connection, run: vault_opening.open_again(connection, run, asked, "review", laptops=laptops)


def laptop_cards(_ctx: click.Context, _option: click.Parameter, files: Sequence[Path]) -> list[identities.LaptopCard]:
    """Read the cards of ``--for``, each file once: what is examined, written into a log and sealed for are the same keys."""
    return [identities.laptop_card_in(file) for file in files]


def handed_to(given: Mapping[str, Any], *, dry_run: bool) -> list[keys.PublicIdentity]:
    """Return the laptops for which sentences from a vault are sealed; none where no vault is named.

    UsageError where they are not named, more would go along than the opening is for, or a grant would be used up for nothing.
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
    if dry_run and (given["grant"] or given["ask"]) is not None:
        raise UsageError(
            "--dry-run with --grant would use the grant up and hand nothing out, and --ask asks for the real thing. Leave --dry-run out."
        )
    return [laptop.public for laptop in given["laptops"]]


def require_one(names: Sequence[str], given: Mapping[str, Any]) -> None:
    """Raise UsageError where one grant is to open several runs."""
    if (given["grant"] or given["ask"]) is not None and len(names) > 1:
        raise UsageError(
            "A grant is for one run. Make a review of each on its own, or bring the keepers together on this computer (--with FILE)."
        )


def open_review(
    review: store.Review, work: str, given: Mapping[str, Any], laptops: Sequence[keys.PublicIdentity] = ()
) -> None:
    """Open the texts of a review of runs from a vault; those of any other need none.

    ``laptops``: those that they are sealed for. UsageError where no vault is named, or one that is not the runs'.
    """
    asked = vault_request(given, work)
    if not review.vault_runs:
        if asked is not None:
            raise UsageError(f"Review {review.name!r} is not of runs from a vault: leave --vault out.")
        return
    require_one(review.vault_runs, given)
    with database.opened() as connection:
        for run_id in review.vault_runs:
            run = runs.find_run(connection, run_id)
            vault_opening.open_again(connection, run, asked, work, laptops=laptops)
