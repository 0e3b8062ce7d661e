"""A stick with ratings."""

from __future__ import annotations

from pathlib import Path

from rosetta_tui.review.organiser.desk import OrganiserDesk
from rosetta_tui.review.organiser.pages.importing import ImportScreen
from tests.review.office import made as office_made
from tests.review.office.made import Person
from tests.tui.review.organising import (
    Alone,
    keep_keys,
)
from tests.tui.screens import App


class Stick:
    """An organisation's review, its laptops, and a stick on which their files come back."""

    def __init__(self, folder: Path) -> None:
        self.made = office_made.desk(folder / "home", reviewers=2, items=12)
        self.made.office.close()
        keep_keys(folder / "home", self.made.identity)
        self.desk = OrganiserDesk(folder / "home", folder / "home" / "rosetta.sqlite")
        self.path = folder / "stick"
        self.path.mkdir()
        self.people = [
            Person(folder / f"laptop {place}", self.made.batch, code)
            for place, code in enumerate(self.made.codes)
        ]

    def hand_over(self, place: int, name: str = "") -> Path:
        path = self.path / (name or f"ratings {place}.rosetta-ratings")
        path.write_bytes(self.people[place].handed_over())
        return path

    def app(self) -> App:
        return Alone(None, self.desk.runs)

    def imports(self) -> ImportScreen:
        return ImportScreen(self.desk)
