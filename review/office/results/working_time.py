"""How long speakers worked at a corpus in the making, as the logs have it that came back."""

from __future__ import annotations

from dataclasses import dataclass

from harness.project.state import Project
from review.log.payloads import Judged
from review.office.making.reviews_made import made_here
from review.office.store.store import Office

_MS_PER_HOUR = 3_600_000


@dataclass(frozen=True)
class WorkingTime:
    """What the answers of one review took."""

    review: str
    kind: str
    """``translate`` or ``agree``."""
    people: int
    """Those of whom an answer came back."""
    answers: int
    """Also those that were changed later; of what was taken back nothing is known any more."""
    hours: float
    """While a sentence was on the screen and its person was active, by the laptop's own clock; reading what is asked, practising, breaks and
    talking are in no log."""


def worked_until_now(project: Project) -> list[WorkingTime] | None:
    """Return what speakers worked, from the reviews of the project's data folder; None where they are in another one."""
    if not project.state.reviews:
        return []
    if not made_here(project):
        return None
    with Office.open(project.home) as office:
        return working_times(project, office)


def working_times(project: Project, office: Office) -> list[WorkingTime]:
    """Return what the answers of each review of a project took, of those of which some came back; reviews that are not here are left out."""
    working_times = []
    for out in project.state.reviews:
        if not office.is_taken(out.review):
            continue
        events = office.events(office.review(out.review), shut=True)
        judgement_payloads = [
            event.payload for event in events if isinstance(event.payload, Judged)
        ]
        if judgement_payloads:
            hours = sum(payload.active_ms for payload in judgement_payloads) / _MS_PER_HOUR
            people = len({payload.reviewer for payload in judgement_payloads})
            working_times.append(
                WorkingTime(out.review, out.kind, people, len(judgement_payloads), hours)
            )
    return working_times
