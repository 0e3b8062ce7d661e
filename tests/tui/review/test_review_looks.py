"""Whoever reads ratings has looked: each way to them is written down, and the gate asks to be surer afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from corpora.samples import DEMO_CORPUS, sample_path
from review.files.batch import Batch
from review.log.payloads import HarmFlag, Rate
from review.office.store.store import Office
from review.rating import Rating
from rosetta_tui.commands.calibrate import calibrate
from rosetta_tui.commands.review import review
from tests.review.verdict import histories
from tests.review.verdict.certified import deliver
from tests.tui.review.exported import batch, home, rosetta, template

__all__ = ["batch", "home", "template"]


def looks(home: Path) -> dict[str, int]:
    with Office.open(home) as office:
        return dict(office.state(office.review("spring")).looks)


def rated_once_more(home: Path) -> None:
    """Let one person rate one item anew: other ratings than those that were read."""
    with Office.open(home) as office:
        found = office.review("spring")
        who, order = next(iter(found.key.orders.items()))
        laptop = histories.Chain(Random(3))
        laptop.lamport = 10**6
        laptop.write(
            Rate(
                wall=histories.WALL, reviewer=who, batch=found.key.batches[0], item=order[0],
                position=0, active_ms=5, face="lines", version="0", rating=Rating.GIST,
            )
        )  # fmt: skip
        deliver(office.connection, found.key, tuple(laptop.events))


def page(_: Path) -> str:
    """Write the page where a certificate was issued before the last ratings came."""
    return rosetta("page", "spring", "--overwrite").output


def calibrated(_: Path) -> str:
    done = CliRunner().invoke(calibrate, ["--review", "spring"])
    assert done.exit_code == 0, done.output
    return done.output


WAYS: dict[str, Callable[[Path], str]] = {
    "calibrate": calibrated,
    "table": lambda folder: rosetta("export", "--csv", str(folder / "t.csv")).output,
    "shared task": lambda folder: rosetta("export", "--mtme", str(folder / "m")).output,
    "sealed": lambda folder: rosetta("export", "-o", str(folder / "s")).output,
    "decisions": lambda _: CliRunner().invoke(review, ["adjudicate", "--all"], input="q\n").output,
    "decisions as JSON": lambda _: rosetta("adjudicate", "--all", "--json").output,
}


@pytest.mark.parametrize("way", WAYS)
def test_who_reads_ratings_before_the_gate_has_looked(
    way: str, home: Path, tmp_path: Path, batch: Batch
) -> None:
    harm(home, batch)
    assert looks(home) == {}
    assert "look 1 at the ratings" in WAYS[way](tmp_path)
    [number] = looks(home).values()
    assert number == 1
    [same] = json.loads(rosetta("gate", "--json").stdout)
    assert (same["look"], same["confidence"]) == (1, "0.950000")
    rated_once_more(home)  # on a laptop of its own
    [found] = json.loads(rosetta("gate", "--anyway", "--json").stdout)
    assert (found["look"], found["confidence"]) == (2, "0.975000")


def harm(home: Path, batch: Batch) -> None:
    """Let one translation be called harmful, so that there is something to decide."""
    with Office.open(home) as office:
        key = office.review("spring").key
        item = next(i for i in key.core if key.items[i].control is None)
        laptop = histories.Chain(Random(4))
        laptop.lamport = 10**5
        about = {"reviewer": next(iter(key.orders)), "batch": key.batches[0]}
        laptop.write(HarmFlag(wall=histories.WALL, item=item, harmful=True, **about))
        deliver(office.connection, key, tuple(laptop.events))


def test_the_page_for_speakers_is_a_look_where_ratings_came_after_the_certificate(
    home: Path, tmp_path: Path
) -> None:
    rosetta("gate", "spring", "--issue", "-o", str(tmp_path / "issued"))
    assert "look" not in page(home)
    rated_once_more(home)
    assert "look 2 at the ratings" in page(home)
    assert list(looks(home).values()) == [2]


def test_what_tells_nothing_of_ratings_is_no_look(home: Path, tmp_path: Path) -> None:
    rosetta("status")
    rosetta("status", "spring", "--json")
    rosetta("variants", str(sample_path(DEMO_CORPUS)), "spring", "--json")
    rosetta("adjudicate")  # no flag, nothing that split the panel
    assert looks(home) == {}
    rosetta("gate", "spring", "--issue", "-o", str(tmp_path / "issued"))
    [certificate] = (tmp_path / "issued").glob("*.certificate.json")
    rated_once_more(home)
    rosetta("verify", str(certificate))
    rosetta("attach", str(certificate))
    assert list(looks(home).values()) == [1]
