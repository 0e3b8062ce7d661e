"""A review with ratings, ready to hand on."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner, Result

from review.files.batch import Batch, open_batch
from review.log.payloads import Comment, Suggest
from review.office.store.store import Office
from review.rating import Rating
from review.verdict.panel.key import AnswerKey, ControlKind
from rosetta_tui.commands.review import review
from tests.review.office import made

COMMENT = "Mi dirus tion alie, =kara"


WORDING = "Tute alia traduko."


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a review of the demo that five people rated as good, mostly."""
    folder = tmp_path_factory.mktemp("rated")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ROSETTA_HOME", str(folder / "home"))
        patched.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
        made.store_runs(folder / "home")
        _rate(folder)
    return folder


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(template / "home", tmp_path / "home")
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def batch(template: Path) -> Batch:
    return open_batch((template / "stick" / "spring.rosetta-batch").read_bytes())


def rosetta(*arguments: str) -> Result:
    result = CliRunner().invoke(review, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def _rate(folder: Path) -> None:
    stick, home = folder / "stick", folder / "home"
    rosetta("create", "last", "--organisation", "The council", "-o", str(stick), "--seed", "3", "--name", "spring", "--reviewers", "5")  # fmt: skip
    batch = open_batch((stick / "spring.rosetta-batch").read_bytes())
    with Office.open(home) as office:
        key = office.review("spring").key
    for number, (who, code) in enumerate(made.codes_of(home).items()):
        person = made.Person(folder / code, batch, who)
        person.rate(_ratings(number, [key.items[item].control for item in person.order]))
        if number < 2:
            _write(person, key)
        (stick / f"{number}.rosetta-ratings").write_bytes(person.handed_over())
        person.laptop.close()
    rosetta("import", str(stick), "--enrol", "--yes")


def _ratings(seed: int, controls: Iterable[ControlKind | None]) -> list[Rating]:
    draw = Random(seed)
    good = [Rating.ACCEPTABLE, Rating.EXCELLENT, Rating.EXCELLENT]
    return [Rating.REJECT if control == "bad" else draw.choice(good) for control in controls]


def _write(person: made.Person, key: AnswerKey) -> None:
    """Leave a comment and a better wording at the first real item."""
    item = key.core[0]
    place = {"wall": made.WALL, "reviewer": person.code, "batch": person.batch.manifest.batch}
    person.laptop.append(Comment(**place, item=item, text=COMMENT))
    person.laptop.append(Suggest(**place, item=item, text=WORDING))
