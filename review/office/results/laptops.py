"""On which laptop something was said: what a log knows of who sat there, since each review gives people other codes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from harness.project.state import Project
from review.log.payloads import Translate
from review.office.store.store import Office, Review


def laptop_of_event(office: Office, review: Review) -> dict[str, str]:
    """Return id of an event of a review → the laptop that wrote it, by its signing key; one that continues with another's log is that one."""
    of = _owners(office)
    return {event.id: of(event.device) for event in office.events(review, shut=True)}


def laptops_that_wrote(project: Project, office: Office) -> dict[int, frozenset[str]]:
    """Return entry → the laptops on which a translation of it was written, in any review of a project, also one that was changed later."""
    of = _owners(office)
    found: dict[int, set[str]] = defaultdict(set)
    for out in project.state.reviews:
        if out.kind != "translate":
            continue
        review = office.review(out.review)
        for event in office.events(review, shut=True):
            payload = event.payload
            if isinstance(payload, Translate) and payload.item in review.key.items:
                entry = review.key.items[payload.item].entry
                if isinstance(entry, int):
                    found[entry].add(of(event.device))
    return {entry: frozenset(laptops) for entry, laptops in found.items()}


def first_of(office: Office) -> dict[str, str]:
    """Return signing key of a laptop → that of the one whose log it continues with, its own where it began one."""
    before = {laptop.signing_key: laptop.instead_of for laptop in office.laptops()}
    return {key: _first(key, before) for key in before}


def _first(key: str, before: dict[str, str | None]) -> str:
    seen = {key}
    while (earlier := before.get(key)) is not None and earlier not in seen:
        seen.add(key := earlier)
    return key


def _owners(office: Office) -> Callable[[str], str]:
    """Return what gives the laptop of a device; a device that nobody vouched for stands for itself."""
    devices, first = office.devices(), first_of(office)

    def owner(device: str) -> str:
        key = devices.get(device, device)
        return first.get(key, key)

    return owner
