"""A sweep as a race: configurations that cannot be the best on its entries are stopped before all are paid for.

All runs take the entries in one shuffled order, block by block. Who continues follows from what the store has of whole
blocks alone, so that any worker, also after a kill, decides the same (``scoring.statistics.racing`` is the rule). What
was decided stands: a configuration whose run stopped on its own leaves the race, and where it comes back later those
that it was held against are as they were.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from corpora.model.task import TRANSLATION
from harness.compare.rows import scorer_of
from harness.core.failures import RunState
from harness.store.live_runs import is_held
from harness.store.results import read_statistics
from harness.store.runs import Run, find_by_id, set_live
from harness.store.sqlite.database import store_path
from harness.store.sqlite.openings import Live
from harness.store.sqlite.trouble import transaction
from harness.store.sweeps import StoredCell, configuration_name, read_cells, set_raced_out, stored_entries
from harness.sweep.expansion import SweepCell, scored_apart
from harness.sweep.plan import PlanFile
from harness.sweep.record import RacedOutRecord
from scoring.core.inventory import read_by
from scoring.core.specification import COMPOSITE
from scoring.statistics.racing import Race, shuffled
from scoring.statistics.significance import own_values

BLOCK = 10  # Entries between two decisions; where a call carries more of them, that many

_LATE = "embeddings"
"""The annotator of a composite's metric that is asked only when all outputs are in."""


@dataclass(frozen=True, slots=True)
class Racer:
    """One configuration of a race: a run, or several where it is repeated."""

    name: str
    cells: tuple[StoredCell, ...]
    runs: tuple[Run | None, ...]
    """Of its cells; None where one has not begun."""
    composites: Mapping[int, float]
    """Place in the corpus → mean over its runs of an entry's own composite, of the entries that all of them have."""

    @property
    def in_trouble(self) -> bool:
        """Return whether a run of it stopped on its own."""
        return any(cell.trouble is not None for cell in self.cells)

    @property
    def out_after(self) -> int | None:
        """After how many entries it was raced out; None where it was not."""
        raced = [cell.raced_out.get("entries") for cell in self.cells if cell.raced_out is not None]
        return min((entries for entries in raced if isinstance(entries, int)), default=None)


class SweepRace:
    """The race of one sweep; holds nothing that the store has not, so that several workers may have one each."""

    def __init__(self, cells: Sequence[SweepCell], seed: int) -> None:
        places = cells[0].request.positions
        self.order = tuple(places[rank] for rank in shuffled(len(places), seed))
        """Places in the corpus of all entries, in the order in which they are asked for."""
        self.block = max(BLOCK, *(cell.setup.batch_size for cell in cells))
        self._looked_at: object = None
        self._turns: dict[int, tuple[int, ...]] = {}

    def decide(self, connection: sqlite3.Connection, sweep: int) -> dict[int, tuple[int, ...]]:
        """Write down who is out by what the store has, and return what the others may have asked for by now.

        Of each cell whose configuration continues, by place: places in the corpus of entries, in the order of the race.
        """
        now = (stored_entries(connection, sweep), read_cells(connection, sweep))
        if now != self._looked_at:  # who waits for others looks often
            racers = read_racers(connection, sweep)
            race = self.replay(racers)
            for racer in racers:
                if racer.name in race.out and racer.out_after is None:
                    decided = RacedOutRecord(**asdict(race.out[racer.name]))
                    _stop(connection, sweep, racer, decided, len(self.order))
            alone = len(race.running) == 1  # nobody is left to be held against
            until = len(self.order) if alone else race.seen + self.block
            on = [racer for racer in racers if racer.name in race.running]
            self._turns = {cell.place: self.order[:until] for racer in on for cell in racer.cells}
            self._looked_at = now
        return self._turns

    def replay(self, racers: Sequence[Racer]) -> Race:
        """Run the race again over all blocks that every running configuration has."""
        # Three racers, blocks of ten: after each block that all three have, `Race` says who can no longer be ahead on
        # all entries. One is out after 20: the block of 30 needs the other two alone. Whoever replays the same rows
        # decides the same, so a worker that was killed changes nothing.
        race = Race([racer.name for racer in racers], len(self.order))
        named = {racer.name: racer for racer in racers}
        for start in range(0, len(self.order), self.block):
            block = self.order[start : start + self.block]
            lacking = [name for name in race.running if not named[name].composites.keys() >= {*block}]
            for name in lacking:
                if named[name].in_trouble:
                    race.leave(name)
            if not all(named[name].in_trouble for name in lacking):
                return race
            race.add({n: [named[n].composites[place] for place in block] for n in race.running})
            for name in race.running:
                if (known := named[name].out_after) is not None and known <= race.seen:
                    race.leave(name)
        return race


def check_race(found: PlanFile, cells: Sequence[SweepCell]) -> None:
    """Raise UsageError where the runs of a plan cannot race."""
    configurations = {configuration_name(cell.name, cell.replicate) for cell in cells}
    if len(configurations) < 2:
        raise found.wrong("a race takes two configurations or more: race without it.", "race")
    if any(cell.request.plan.scoring != cells[0].request.plan.scoring for cell in cells):
        words = "runs that are scored in different ways cannot race: say it under [fixed]."
        raise found.wrong(words, "race")
    if words := scored_apart(cells):
        raise found.wrong(f"such runs cannot race: {words}", "race")
    if cells[0].request.corpus.dataset.task != TRANSLATION:
        raise found.wrong("a race is decided by the composite, which translations alone have.", "race")


def read_racers(connection: sqlite3.Connection, sweep: int) -> list[Racer]:
    """Return the configurations of a sweep with what their runs have, in the order of the plan."""
    grouped: dict[str, list[StoredCell]] = {}
    for read_cell in read_cells(connection, sweep):
        name = configuration_name(read_cell.named.name, read_cell.named.replicate)
        grouped.setdefault(name, []).append(read_cell)
    racers = []
    for name, cells in grouped.items():
        stored = [find_by_id(connection, cell.run_id) for cell in cells]
        runs = tuple(None if run is None or run.trashed is not None else run for run in stored)
        known = [{} if run is None else entry_scores(connection, run) for run in runs]
        shared = set(known[0]).intersection(*known[1:])
        means = {place: float(np.mean([scores[place] for scores in known])) for place in shared}
        racers.append(Racer(name, tuple(cells), runs, means))
    return racers


def entry_scores(connection: sqlite3.Connection, run: Run) -> dict[int, float]:
    """Return the entries' own composites (0-1) of a run by place in the corpus; 0 where an entry has none.

    What needs all outputs has no weight in them, also where a run has it already.
    """
    packed = dict(read_statistics(connection, run.id))
    scorer = scorer_of(connection, run)
    late = read_by(_LATE, scorer.ids) if (run.opening.scoring or {}).get(_LATE) else ()
    table = scorer.unpack_table([*packed.values()], {*scorer.ids} - {*late})
    composites = np.nan_to_num(own_values(table)[COMPOSITE])
    return dict(zip(packed, composites.tolist(), strict=True))


def _stop(connection: sqlite3.Connection, sweep: int, racer: Racer, decided: RacedOutRecord, total: int) -> None:
    """Write down that a configuration is out, with each of its runs that is not complete."""
    left = [
        (cell, run)
        for cell, run in zip(racer.cells, racer.runs, strict=True)
        if run is None or run.state is not RunState.COMPLETE
    ]
    if not left:
        return
    with transaction(connection):
        set_raced_out(connection, sweep, [cell.place for cell, _ in left], decided.model_dump_json())
        for _, run in left:
            if run is not None and not is_held(store_path(connection), run.run_id):
                so_far = {} if run.live is None else run.live.so_far
                why = Live(so_far=so_far, reason=decided.words(total))
                set_live(connection, run.id, RunState.STOPPED, why)
