"""A laptop's data folder, a stick with a review on it, and what is on the disk afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.sealed.chain import check_chain
from review.files.batch import Batch
from review.log.event import Event
from review.log.fold import ReviewerState, fold
from review.log.laptop import Laptop
from review.log.payloads import Face
from review.rating import Relation
from review.session.opening import Opening
from tests.review.session.scenes import CODE, batch_of, items_of, write_file

COMMENT = "Your comment"
"""The name of the box for one."""


@dataclass(frozen=True)
class Stage:
    """Where one person sits down."""

    folder: Path
    batch: Batch

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def stick(self) -> Path:
        return self.folder / "stick"

    @property
    def file(self) -> Path:
        return self.stick / f"{self.batch.manifest.title}.rosetta-batch"

    def know(self, *, agreed: bool = True) -> Stage:
        """Let the organisation be trusted, the code known and, unless told otherwise, the consent given."""
        with Laptop.open(self.home) as laptop:
            opening = Opening(laptop, language="en")
            opening.accept(self.batch)
            opening.reviewer(self.batch, CODE)
            if agreed:
                session = opening.session(self.batch, CODE, Face.DESKTOP)
                session.agree(share_corrections=False)
                session.relate(Relation.NEITHER)
        return self

    def events(self) -> list[Event]:
        """Return what is on the disk; its chain is whole."""
        with Laptop.open(self.home) as laptop:
            events = list(laptop.events())
        report = check_chain(events)
        assert report.whole, report
        assert not any(chain.forked for chain in report.chains), report
        return events

    def state(self) -> ReviewerState:
        return fold(self.events()).reviewers[self.batch.manifest.batch, CODE]

    def handed_over(self) -> list[Path]:
        return sorted(self.stick.glob("*.rosetta-ratings"))


def stage(folder: Path, batch: Batch | None = None, texts: Sequence[str] = ()) -> Stage:
    """Put a batch on a stick; ``texts`` are the translations of its items, where they matter."""
    if batch is None:
        items = items_of(max(4, len(texts)))
        changed = [item.model_copy(update={"candidate": text}) for item, text in zip(items, texts, strict=False)]
        batch = batch_of([*changed, *items[len(changed) :]])
    made = Stage(folder, batch)
    write_file(batch, made.stick)
    return made
