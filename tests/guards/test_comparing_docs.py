"""What docs/comparing.md says of comparisons is what the program does."""

from __future__ import annotations

import re
from pathlib import Path

from harness.compare.comparing import LEAST_RUNS, MOST_RUNS
from rosetta_tui.commands.compare import compare
from scoring.core.specification import specification
from scoring.statistics.confidence_sequence import _WAGERS, enough
from scoring.statistics.intervals import DRAWS, LEVEL, SEED
from scoring.statistics.reproducibility import DECIDING, TOLERANCE
from scoring.statistics.significance import TRIALS

PAGE = Path(__file__).parents[2].joinpath("docs", "comparing.md").read_text("utf-8")


def test_every_option_has_its_row() -> None:
    told = set(re.findall(r"`(--[a-z]+)[ `]", PAGE.split("## Reading")[0]))
    assert told == {option for parameter in compare.params for option in parameter.opts if option.startswith("--")}  # fmt: skip


def test_the_numbers_of_the_tests_are_those_of_the_code() -> None:
    assert (LEAST_RUNS, MOST_RUNS) == (2, 6)
    assert "Two to six runs" in PAGE
    assert f"{DRAWS:,} paired resamples" in PAGE
    assert f"{TRIALS:,} shuffles" in PAGE
    assert f"{LEVEL:.0%}".replace("%", " %") in PAGE
    assert f"the same seed ({SEED})" in PAGE
    assert f"±{TOLERANCE:.0%}".replace("%", " %") in PAGE
    assert DECIDING == ("composite", "chrf_plus_plus")


def test_the_bets_are_as_many_and_as_large_as_told() -> None:
    assert len(_WAGERS) == 12
    assert round(2.718281828 ** enough(LEVEL)) == 40
    assert "Twelve bets" in PAGE


def test_metrics_are_called_what_they_are() -> None:
    rows = specification().metrics
    assert rows["length_ratio"].info.better == "neither"
    assert rows["bleu"].level == "corpus"
    assert not rows["consistency_score"].interval
    assert rows["ter"].info.high == float("inf")
