"""Tables that are wider than the terminal stand under each other, and lose nothing."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from rosetta_tui.show.text import WIDEST, stacked, table
from tests.tui.scenes import HOSTILE

WORDS = st.text("aé猫b", min_size=1, max_size=6)


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    columns = draw(st.integers(2, 12))
    return draw(
        st.lists(st.lists(WORDS, min_size=columns, max_size=columns), min_size=1, max_size=4)
    )


@given(tables(), st.integers(30, 100))
def test_nothing_is_wider_than_the_terminal_and_nothing_is_lost(
    rows: list[list[str]], width: int
) -> None:
    lines = list(stacked(rows, width))
    assert all(cell_len(line) <= width for line in lines)
    parts = [lines[start : start + len(rows)] for start in range(0, len(lines), len(rows))]
    shown = [
        [cell for part in parts for cell in part[place].split()[1:]] for place in range(len(rows))
    ]
    assert shown == [row[1:] for row in rows]
    assert all(part[place].split()[0] == row[0] for part in parts for place, row in enumerate(rows))


@given(tables())
def test_a_pipe_gets_all_columns_side_by_side(rows: list[list[str]]) -> None:
    assert list(stacked(rows, None)) == list(table(rows))
    assert list(stacked(rows, 500)) == list(table(rows))


def test_a_column_too_wide_for_any_terminal_stands_alone_and_hostile_text_is_harmless() -> None:
    rows = [["a", "x" * (WIDEST + 9), each, "d"] for each in HOSTILE]
    lines = list(stacked(rows, 20))
    assert len(lines) == 3 * len(rows)
    assert not any(unicodedata.category(sign) == "Cc" for line in lines for sign in line)
