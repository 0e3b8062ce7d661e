"""What is wrong with a file, in lines that a person can read through."""

from __future__ import annotations

import pytest

from corpora.files.problems import Findings, Problem
from rosetta_tui.request.reading import MOST_ALIKE, MOST_LINES, MOST_PLACES, print_problems


def said(problems: list[Problem], capsys: pytest.CaptureFixture[str]) -> list[str]:
    print_problems(problems)
    return capsys.readouterr().err.splitlines()


def test_many_that_differ_by_their_line_are_said_once_with_their_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    findings = Findings("a.tsv")
    for number in range(500):
        findings.error("It is no segment.", "Write another.", line=number + 2, entry=number + 1)
        if number == 30:
            findings.error("It is missing.", "Give one.", line=number + 2, field="reference")
    lines = said(findings.problems, capsys)
    assert len(lines) == MOST_ALIKE + 2
    assert lines[MOST_ALIKE].startswith("… and the same on lines 7, 8, 9, ")
    assert lines[MOST_ALIKE].endswith(f"and {500 - MOST_ALIKE - MOST_PLACES} more.")
    assert "line 32, field 'reference': It is missing." in lines[-1]


@pytest.mark.parametrize("count", [1, MOST_ALIKE, MOST_ALIKE + 1])
def test_few_are_said_each(capsys: pytest.CaptureFixture[str], count: int) -> None:
    findings = Findings("a.tsv")
    for number in range(count):
        findings.error("It is no segment.", "Write another.", line=number + 2)
    assert said(findings.problems, capsys) == [str(each) for each in findings.problems]


def test_where_a_form_has_no_lines_the_entries_are_named_and_hostile_ids_do_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    findings = Findings("a.json")
    for number in range(MOST_ALIKE + 2):
        findings.error("It is no segment.", "Write another.", entry=f"e{number}\x1b[2J")
    lines = said(findings.problems, capsys)
    assert lines[-1].startswith(f"… and the same in the entries e{MOST_ALIKE}")
    assert "\x1b" not in "".join(lines)


def test_what_has_no_place_is_counted_and_all_kinds_together_have_an_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    findings = Findings("a.json")
    for _ in range(MOST_ALIKE + 9):
        findings.error("It is odd.", "Look at it.")
    assert said(findings.problems, capsys)[-1].startswith("… and the same 9 times more")
    for number in range(MOST_LINES):
        findings.error(f"It is {number}.", "Look at it.")
    lines = said(findings.problems, capsys)
    assert len(lines) == MOST_LINES + 1
    assert lines[-1] == f"… and {MOST_ALIKE + 1} more; `rosetta corpus check --json` lists all."
