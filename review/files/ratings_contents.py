"""What a laptop signs for beside the bytes of its file: where each chain ends, and whose answers stand where."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from review.files.batch_form import BatchManifest
from review.files.ratings_form import Places, SignedChain
from review.log.chain import tips_of
from review.log.event import Event
from review.log.payloads import ANSWERS, OfItem, OfReviewer, Withdraw
from review.log.withdrawal import reach


def chains_of(events: Iterable[Event]) -> dict[str, SignedChain]:
    """Return device → how many events of its chain there are, and at which of them it ends."""
    devices: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        devices[event.device].append(event)
    return {
        device: SignedChain(events=len(every), tips=tuple(tips_of(every)))
        for device, every in sorted(devices.items())
    }


def contents_of(events: Iterable[Event], manifest: BatchManifest) -> dict[str, dict[str, Places]]:
    """Return reviewer → device → the stretches of places that hold this person's answers to a batch.

    A stretch runs over heads of other kinds, such as comments, and ends before an answer of somebody else.
    """
    found: dict[str, dict[str, list[tuple[int, int]]]] = {}
    last: dict[str, tuple[str, int] | None] = {}
    for event in sorted(events, key=lambda each: (each.device, each.seq, each.id)):
        if event.kind not in ANSWERS:
            continue
        who = answers(event, manifest)
        before = last.get(event.device)
        last[event.device] = None if who is None else (who, event.seq)
        if who is None:
            continue
        stretches = found.setdefault(who, {}).setdefault(event.device, [])
        if before is not None and before[0] == who:
            stretches[-1] = (stretches[-1][0], event.seq)
        else:
            stretches.append((event.seq, event.seq))
    return {
        who: {device: tuple(stretches) for device, stretches in sorted(devices.items())}
        for who, devices in sorted(found.items())
    }


def answers(event: Event, manifest: BatchManifest) -> str | None:
    """Return whose answer to a batch an event is; None for what the batch did not ask, or has no content."""
    said = event.payload
    if not isinstance(said, OfReviewer | Withdraw) or not manifest.order(said.reviewer):
        return None
    batch = reach(said) if isinstance(said, Withdraw) else said.batch
    if batch not in {manifest.batch} | ({None} if isinstance(said, Withdraw) else set()):
        return None
    if isinstance(said, OfItem) and said.item not in manifest.order(said.reviewer):
        return None
    return said.reviewer
