"""An office with two enrolled laptops, fresh for each attack of a speaker."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from review.office.store.store import Office
from review.rating import Rating
from tests.review.attacks.stage import Stage
from tests.review.office.made import Desk, Person, desk


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = desk(tmp_path_factory.mktemp("office"), reviewers=3, items=30)
    with made.office:
        yield made


@pytest.fixture
def stage(template: Desk, tmp_path: Path) -> Iterator[Stage]:
    home = tmp_path / "home"
    shutil.copytree(template.folder, home)
    with Office.open(home) as office:
        made = Desk(home, office, template.identity, office.review("demo"), template.batch)
        people = [Person(tmp_path / name, made.batch, made.codes[n]) for n, name in enumerate("am")]
        for person in people:
            person.rate([Rating.GIST, Rating.REJECT, Rating.GIST])
            key = person.identity.public
            office.enrol(key.signing_key, f"laptop {key.phrase[:5]}", key.recipient)
        yield Stage(tmp_path, made, people[0], people[1], made.codes[2])
