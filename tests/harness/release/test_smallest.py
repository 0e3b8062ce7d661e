"""The smallest difference that a set can tell, by the demonstration's sentences."""

from importlib.resources import files

import pytest

from corpora.formats.load import load
from corpora.model.entry import Entry, Segment
from harness.release.smallest import FEWEST, by_segment, smallest_difference
from scoring.statistics.smallest import Z_BOTH


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return list(load(str(files("corpora.samples").joinpath("eo-demo-v1.json"))).entries)


def test_it_is_two_point_eight_standard_errors_and_halves_with_four_times_the_entries(
    entries: list[Entry],
) -> None:
    assert pytest.approx(2.8016) == Z_BOTH  # 1.959964 + 0.841621, of a normal table
    once, four_times = smallest_difference(entries), smallest_difference(entries * 4)
    assert once is not None
    assert four_times is not None
    assert 5 < once < 12
    assert four_times == pytest.approx(once / 2, rel=0.15)
    assert smallest_difference(entries) == once


def test_it_is_said_of_secret_segments_that_have_enough(entries: list[Entry]) -> None:
    segments = [Segment.GOLD_STANDARD] * 40 + [Segment.HELD_OUT] * (FEWEST - 1)
    segments += [Segment.DEVELOPMENT] * (len(entries) - len(segments))
    given = [
        each.model_copy(update={"segment": segment})
        for each, segment in zip(entries, segments, strict=True)
    ]
    found = by_segment(given)
    assert list(found) == [Segment.GOLD_STANDARD]
    assert found[Segment.GOLD_STANDARD][0] == 40
    assert smallest_difference(given[: FEWEST - 1]) is None
    assert (
        smallest_difference([each.model_copy(update={"of_task": "qa"}) for each in given]) is None
    )
