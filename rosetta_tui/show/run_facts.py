"""What a line about a run says of it, in tables of the terminal and of the app."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from harness.core.failures import RunState
from harness.core.version import VERSION
from harness.store.attachments import UNCHECKED
from harness.store.run_list import CardLine, RunSummary, keep_lines, list_runs
from harness.store.runs import under_way
from rosetta_tui.show import figures

if TYPE_CHECKING:
    from harness.compare.pairs import ComparedRun

LINES = f"{VERSION}.3"
"""What makes lines; the second number rises when the same version of the program comes to make others."""


def listed_runs(connection: sqlite3.Connection, *, deleted: bool = False, summaries: bool = False) -> list[RunSummary]:
    """Return all runs as ``list_runs``, each with its line; those of finished ones are made of their cards once, then kept."""
    runs = runs_now(list_runs(connection, deleted=deleted, brief=True, made_by=LINES, summaries=summaries))
    new = {run.number: line_of(run._replace(certificates=(), checked=UNCHECKED)) for run in runs if run.line is None}
    keep_lines(connection, LINES, {run.number: new[run.number] for run in runs if run.line is None and run.card})
    runs = [run._replace(line=new[run.number]) if run.line is None else run for run in runs] if new else runs
    # what people found of a run is beside its card, and may change
    return [
        run._replace(line=line_of(run._replace(line=None))) if run.certificates or run.checked.reproduced else run
        for run in runs
    ]


def line_of(run: RunSummary) -> CardLine:
    """Return what lists show of a run; of one that was not read with its line it is made of the card and of the reviews."""
    if run.line is not None:
        return run.line
    from rosetta_tui.show.card_fields import card_line

    return card_line(run)


def runs_now(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """Return runs as they are now: one whose process is gone is stopped, whatever the store says."""
    ended = {RunState.STOPPED, RunState.COMPLETE}
    return [run if run.state in ended or under_way(run) else run._replace(state=RunState.STOPPED) for run in runs]


def composite_of(run: RunSummary) -> float | None:
    """Return the composite that a run's card states; None where it states none."""
    return line_of(run).values.get("composite")


def headline_id(run: RunSummary) -> str:
    """Return the metric that a run is shown by first; empty for none."""
    return next(iter(line_of(run).ids), "")


def headline(run: RunSummary) -> float | None:
    """Return what a finished run is shown by first: chrF++ of a translation."""
    return line_of(run).values.get(headline_id(run))


def tiered(run: RunSummary) -> bool:
    """Return whether a run may have a tier, as translations alone may."""
    if run.line is not None:
        return run.line.translates
    from rosetta_tui.show.card_fields import translates

    return translates(run)


def lead_words(run: RunSummary, *, other: bool = False, named: bool = False) -> tuple[str, str]:
    """Return chrF++ and composite; of a run under way those so far, which are no result yet.

    Of other tasks than translation the headline with its name, which has no composite next to it. ``other``: its
    composite has other inputs than most. ``named``: chrF++ bears its name too.
    """
    line = line_of(run)
    name = "chrF++ " if named and line.lead != figures.NONE and translates(run) else ""
    return name + line.lead, line.composite + OTHER_INPUTS * other


def run_label(run: RunSummary) -> str:
    """Return which run is meant: its corpus, its set-up, the beginning of its id."""
    return f"{run.dataset_id} · {setup_words(run)} · {run.run_id[:8]}"


def setup_words(run: RunSummary) -> str:
    """Return method, model and condition, after what parts it from others that have the same.

    A chosen name is in place of the method's. A name that is all of these stands once. A run whose outputs are those of another is marked, lest it is
    taken for a second experiment; so is one that asked again for another's failed entries.
    """
    again = "rescored" if run.rescore_of else "retried" if run.retry_of else ""
    parts = dict.fromkeys((run.distinction, run.method_name or run.method, run.model_slug, run.condition, again))
    return ("↺ " if again else "") + " · ".join(part for part in parts if part)


def when(seconds: float) -> str:
    """Return a Unix time as the date and time of this machine's place."""
    return str(datetime.fromtimestamp(seconds))[:16] if _in_calendar(seconds) else figures.NONE  # noqa: DTZ006


def failed_words(failed: int, failures: Mapping[str, int]) -> str:
    """Return for a cell how many entries failed, and how: ``18 connection``, ``20: connection 18, empty 2``."""
    if len(failures) < 2:
        return " ".join([f"{failed:,}", *map(_kind, failures)])
    return f"{failed:,}: {_kinds(failures)}"


def failed_told(failed: int, failures: Mapping[str, int]) -> str:
    """Return for a sentence how many entries failed, and how: ``18 failed (connection)``."""
    kinds = ", ".join(map(_kind, failures)) if len(failures) < 2 else _kinds(failures)
    return f"{failed:,} failed ({kinds})" if kinds else f"{failed:,} failed"


def _kinds(failures: Mapping[str, int]) -> str:
    return ", ".join(f"{_kind(name)} {count:,}" for name, count in failures.items())


def _kind(name: str) -> str:
    return name.replace("_", " ")


def iso(seconds: float) -> str | None:
    """Return a Unix time as ISO 8601 in UTC, to the millisecond as in a card; None where no calendar has it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds") if _in_calendar(seconds) else None


def _in_calendar(seconds: float) -> bool:
    """Return whether a time is of the years 1970 to 9998: every place of the world has a date for it."""
    return 0 <= seconds < 253_370_764_800


OTHER_INPUTS = "≠"  # marks a composite that does not compare with most of its corpus
OTHER_INPUTS_WORDS = (
    "≠ a composite of other inputs than most runs of this corpus have: neither it nor its tier compares with theirs"
)


def other_inputs(runs: Sequence[RunSummary]) -> frozenset[str]:
    """Return the runs whose composites weigh other inputs than most (or the newest, in a tie) over the same corpus file."""
    kinds: dict[str, dict[str, list[str]]] = {}
    for run in runs:
        line = line_of(run)
        if run.card is not None and line.values.get("composite") is not None:
            kinds.setdefault(line.corpus, {}).setdefault(line.weighed, []).append(run.run_id)
    others: list[str] = []
    for of_corpus in kinds.values():
        most = max(of_corpus.values(), key=len)
        others += [run_id for ids in of_corpus.values() if ids is not most for run_id in ids]
    return frozenset(others)


# As a line of a list

TIER = "tier"  # heading of the column that says what may be claimed
CAVEATS = "caveats"  # heading: which part of the outputs fails; left out where none does

HEADINGS = ("when", "run", "corpus", "method", "state", "chrF++", "composite", TIER, CAVEATS, "cost", "failed")

OF_TRANSLATIONS = ("composite", TIER, CAVEATS)  # columns in which runs of other tasks have nothing


def translates(run: RunSummary) -> bool:
    """Return whether a run is of translations; one that says nothing of its task, nor by its score so far, counts as one."""
    return tiered(run) and (run.card is not None or len(run.so_far) != 1)


def headings(runs: Sequence[RunSummary]) -> tuple[str, ...]:
    """Return HEADINGS; where runs of another task are among them, the score's does not name one metric."""
    mixed = not all(map(translates, runs))
    return tuple("score" if mixed and name == "chrF++" else name for name in HEADINGS)


def stated_mark(run: RunSummary | ComparedRun) -> str:
    """Return what stands behind the claim of a card whose outputs nobody scored again here; empty for any other."""
    return " (stated)" if run.stated else ""


def run_line(run: RunSummary, *, other: bool = False, named: bool = False) -> tuple[str, ...]:
    """Return a run's cells under HEADINGS; ``other``: other composite inputs than most; ``named``: chrF++ bears its name."""
    line = line_of(run)
    lead, composite = lead_words(run, other=other, named=named)
    claims = run.card is not None and line.translates
    return (
        when(run.created),
        run.run_id[:8],
        f"{run.dataset_id} {run.language_pair}",
        setup_words(run),
        _state(run),
        lead,
        composite,
        line.tier + stated_mark(run) if claims else figures.NONE,
        line.caveats,
        figures.in_column(line.cost),
        failed_words(run.failed, run.failures),
    )


def _state(run: RunSummary) -> str:
    if run.card is None:
        return f"{run.state} {run.done}/{run.total}"
    parts = ["imported" if run.imported else str(run.state), "unverified" if line_of(run).unverified else ""]
    return ", ".join(part for part in parts if part)
