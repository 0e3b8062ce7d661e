"""Which laptops speak for whom, in words for the organiser; nobody is accused by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from review.files.reviewer_codes import printed

if TYPE_CHECKING:
    from review.office.intake.speaking import Several, Speaker, Speaking


def codes(people: Sequence[str]) -> str:
    """Name people by their codes, as they stand on the cards."""

    return ", ".join(map(printed, people))


def voice_lines(found: Speaking) -> Iterator[str]:
    """Say all that an organiser should look into about who speaks for whom in a review."""
    for each in found.several:
        yield several_words(each)
    for laptop in found.shared:
        yield shared_words(laptop.name, laptop.people)
    for laptop in found.laptops:
        if laptop.far_ahead:
            yield far_words(laptop.name)
        if laptop.removed is not None:
            yield removed_words(laptop)


def several_words(person: Several) -> str:
    """Say that several laptops speak for one person, and what the organiser can say to it."""

    code = printed(person.code)
    laptops = " and ".join(person.laptops)
    if person.waits:
        first, *others = person.laptops
        return (
            f"LOOK: {code} is heard from {laptops}. None of these ratings count until you say which laptop speaks "
            f'for this person. Ask them, then: rosetta review enrol "{first}" --speaks-for {code}   '
            f'(or the other one; for both, because the person sat at both, add --with "{others[0] if others else first}")'
        )
    return (
        f"NOTE: {code} is heard from {laptops}. You said who speaks for this person: "
        f"{' and '.join(person.counted)}."
    )


def waiting_words(waiting: int, people: int, review: str) -> str:
    """Say how many people of a review are not counted, and where it is decided; empty where all are."""
    if not waiting:
        return ""
    verb, them = ("is", "this person") if waiting == 1 else ("are", "each of them")
    return (
        f"{waiting} of {people} people {verb} not counted: several laptops speak for {them}. "
        f"Say which does: rosetta review status {review}"
    )


def shared_words(name: str, people: Sequence[str], called: str = "") -> str:
    """Say that one laptop speaks for several people; ``called`` is by what a command finds it, its name if empty."""
    return (
        f"LOOK: {name} speaks for {len(people)} people: {codes(people)}. That is fine where they share this computer. "
        f'If they do not, ask them; a laptop is taken out with: rosetta review enrol --remove "{called or name}" --reason "…"'
    )


def far_words(name: str) -> str:
    """Say that a laptop's log has a time that cannot be."""
    return (
        f"LOOK: the log of {name} counts further than any laptop's can: it was not written by this program as it is. "
        "It does not come before or after what other laptops say of a person unless you let both speak. Ask whose it is."
    )


def removed_words(laptop: Speaker) -> str:
    """Say that a laptop is taken out."""
    reason = f" ({laptop.removed})" if laptop.removed else ""
    return (
        f"NOTE: {laptop.name} is taken out{reason}: nothing that it says counts. "
        f'Undo it: rosetta review enrol --remove --undo "{laptop.name}"'
    )
