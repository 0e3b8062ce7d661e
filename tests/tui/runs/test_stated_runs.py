"""Runs of the list whose scores are only what a card from elsewhere states."""

from __future__ import annotations

from harness.store.others_cards import CheckedHere, Recount
from rosetta_tui.runs.table import COLUMNS, RunRows, run_words
from rosetta_tui.show.run_facts import HEADINGS, run_line
from tests.tui.runs.summaries import run

RESULT = [column.key for column in COLUMNS].index("result")


def test_a_card_nobody_scored_again_says_so_whole_in_the_list() -> None:
    stated = run(1, imported=True)
    counted = run(2, imported=True, checked=CheckedHere(recount=Recount(pinned=True)))
    other = run(3, imported=True, checked=CheckedHere(recount=Recount(True, ("chrF++ states 9",))))
    rows = RunRows([stated, counted, other, run(4)])
    words = [rows.cells(place)[RESULT].text for place in range(4)]
    assert [each.endswith(" (stated)") for each in words] == [True, False, True, False]
    assert rows.columns[RESULT].width >= max(map(len, words))
    assert RunRows([counted, run(4)]).columns == list(COLUMNS)
    assert "(stated)" in run_words(stated)[1]
    tiers = HEADINGS.index("tier")
    assert run_line(stated)[tiers].endswith(" (stated)")
    assert "stated" not in run_line(counted)[tiers]
