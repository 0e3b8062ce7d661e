"""Offices with reviews in them, and the organiser's screens over them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.screen import Screen

from corpora.model.entry import Segment
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity
from harness.store.sqlite.database import open_store
from review.files.manifests import BatchItem
from review.log.event import Event
from review.log.payloads import HarmFlag, Rate
from review.office.store import store
from review.office.store.store import Office
from review.verdict.certificate.evidence import Evidence
from review.verdict.gate.policy import proposed
from rosetta_tui.review.organiser.pages.review import SECTIONS, ReviewScreen
from rosetta_tui.review.organiser.service import OrganiserService
from tests.review.office.made import copied, kept
from tests.review.verdict import certified, histories
from tests.review.verdict.histories import Shape
from tests.review.verdict.signing import LAPTOP, with_batches
from tests.tui.review.gated import sealed_run
from tests.tui.screens import App, rest, text

_SMALL = Shape(reviewers=3, items=52, strata=(1, 2), bad=3, repeats=5, mischief=0.0, careless=0.0)
GO = replace(_SMALL, quality=0.97)
OPEN = replace(_SMALL, quality=0.8)
MIXED = replace(OPEN, reviewers=5, mischief=0.3)
"""People who skip, undo, cannot judge and leave early."""
SMALL, LARGE = (80, 24), (160, 48)


@dataclass
class Scene:
    """One review in an office."""

    folder: Path
    evidence: Evidence
    identity: Identity
    events: list[Event]
    """Those that came back so far."""

    @property
    def desk(self) -> OrganiserService:
        return OrganiserService(self.folder, self.folder / "rosetta.sqlite")

    @property
    def run_id(self) -> str:
        return self.evidence.key.runs[0].run_id

    def office(self) -> Office:
        return Office.open(self.folder)

    def kinds(self) -> list[str]:
        """What the organisation itself wrote down."""
        with self.office() as office:
            review = office.review("spring")
            return [str(e.kind) for e in office.events(review) if e.device in office.own_devices]


def keep_keys(folder: Path, identity: Identity) -> None:
    """Put an organisation's keys into its folder, so that no keyring is asked."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "organisation.key"
    path.write_text(identity.text())
    path.chmod(0o600)


_made: dict[str, tuple[Evidence, Identity]] = {}


def scene(
    folder: Path,
    shape: Shape = OPEN,
    seed: int = 3,
    *,
    fluent: bool = False,
    back: float = 1.0,
    segment: str = "development",
    texts: Sequence[str] = (),
    flag: bool = False,
) -> Scene:
    """Copy a review of random people, which is made once for each kind.

    ``fluent``: about a run of the store; ``back``: how much came back; ``flag``: one item is called harmful.
    """
    name = f"scene {shape} {seed} {fluent} {back} {segment} {texts} {flag}"

    def fill(to: Path) -> None:
        identity = Identity.make(Role.ORGANISATION)
        keep_keys(to, identity)
        open_store(to / "rosetta.sqlite").close()
        card = sealed_run(to, Segment(segment)) if fluent else None
        made_up = certified.review_of(seed, shape, run=card)
        key = histories.with_run(made_up.key, segments={segment: 60})
        events = [e for e in made_up.events if e.device != histories.ORGANISATION]
        if flag:  # the last word of a laptop
            device, said = next(
                (e.device, e.payload) for e in events if isinstance(e.payload, Rate) and e.payload.item in key.core
            )
            chain = histories.Chain(Random(1), device)
            chain.events = [e for e in events if e.device == device]
            chain.lamport = max(e.lamport for e in events)
            item = next(i for i in key.core if key.items[i].control is None)
            who = {"wall": said.wall, "reviewer": said.reviewer, "batch": said.batch}
            chain.write(HarmFlag(item=item, harmful=True, **who))
            events.append(chain.events[-1])
        evidence = histories.evidence_of(key, events)
        recipients = (identity.public.recipient, AgeIdentity.make().recipient)
        key, manifests = with_batches(evidence.key, proposed()[1], identity, recipients)
        shown = [
            BatchItem(id=i, source=f"source of {i}", candidate=text)
            for i, text in zip(key.items, cycle(texts or ["a candidate"]))
        ]
        with pytest.MonkeyPatch.context() as patch, Office.open(to) as office:
            patch.setattr(store, "utc_now", lambda: "2026-05-05T10:00:00Z")
            office.create_review(key, proposed()[1], manifests, shown)
        bring(Scene(to, evidence, identity, []), back)
        _made[name] = evidence, identity

    copied(kept(name, fill), folder)
    evidence, identity = _made[name]
    there = list(evidence.events)[: round(back * len(evidence.events))]
    return Scene(folder, evidence, identity, there)


def bring(made: Scene, share: float) -> None:
    """Take in the first share of all events."""
    every = list(made.evidence.events)
    part = every[: round(share * len(every))]
    new = part[len(made.events) :]
    with made.office() as office:
        office.enrol(LAPTOP.public.signing_key, "laptop 1")
        certified.deliver(office.connection, made.evidence.key, tuple(new))
    made.events = part


class Alone(App):
    """The app without its first screen, which only costs time where another one is tested."""

    def on_mount(self, event: events.Mount) -> None:  # type: ignore[override]
        event.prevent_default()


@asynccontextmanager
async def organising(
    made: Scene, size: tuple[int, int] = LARGE, section: str = "", *, notifications: bool = False
) -> AsyncIterator[tuple[App, Pilot[Any]]]:
    """Run the app of an organiser, with the review open where a section of it is named."""
    app = Alone(None, made.folder / "rosetta.sqlite")
    async with app.run_test(size=size, notifications=notifications) as pilot:
        if section:
            await open_review(pilot, made, section)
        yield app, pilot


async def press(pilot: Pilot[Any], *keys: str) -> str:
    """Press keys one by one, each with all that it brings; gives the screen."""
    for key in keys:
        await pilot.press(key)
        await rest(pilot)
    return text(pilot.app)


async def show_screen(pilot: Pilot[Any], screen: Screen[Any]) -> str:
    pilot.app.push_screen(screen)
    await rest(pilot)
    return text(pilot.app)


async def open_review(pilot: Pilot[Any], made: Scene, section: str = SECTIONS[0]) -> str:
    return await show_screen(pilot, ReviewScreen(made.desk, "spring", section))


def words(screen: str) -> str:
    """Return a screen's text on one line without the frame of a dialog, wherever it wraps."""
    inside = (line.split("│")[1] if line.count("│") == 2 else line for line in screen.split("\n"))
    return " ".join(" ".join(inside).split())
