"""Which runs are compared: one more, one less, all against one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.screen import Screen

from harness.compare import LEAST_RUNS, MOST_RUNS
from harness.store.run_list import RunSummary
from rosetta_tui.show.run_facts import listed_runs, setup_words, when
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import background, telling
from rosetta_tui.toolkit.dialogs.choose import choose


class RunChoice:
    """The runs of a comparison and its baseline; a screen asks here for others."""

    def __init__(self, screen: Screen[Any], path: Path, runs: Sequence[str], changed: Callable[[], None]) -> None:
        self.runs = tuple(dict.fromkeys(runs))
        self.baseline: str | None = None
        """Id of the run with which all others are compared; None: every pair is."""
        self._screen, self._path, self._changed = screen, path, changed

    def _take(self, runs: tuple[str, ...], baseline: str | None) -> None:
        self.runs = runs
        self.baseline = baseline if baseline in runs else None
        self._changed()

    def add(self) -> None:
        """Prompt for one more run of the same corpus."""
        if len(self.runs) >= MOST_RUNS:
            message = f"At most {MOST_RUNS} runs are compared; x takes one out."
            self._screen.notify(message, markup=False)
        else:
            cannot = telling(self._screen, "The runs cannot be read")

            def read(store: sqlite3.Connection) -> list[RunSummary]:
                """Return runs that may compare with those taken: others over a corpus of the same name, newest first."""
                runs = listed_runs(store)
                there = {(run.dataset_id, run.language_pair) for run in runs if run.run_id in self.runs}
                others = [run for run in runs if run.run_id not in self.runs and run.done]
                return [run for run in others if (run.dataset_id, run.language_pair) in there]

            background(self._screen, self._path, "others", read, self._ask_other, cannot, asks=True)

    def _ask_other(self, others: Sequence[RunSummary]) -> None:
        if not others:
            self._screen.notify("There is no other run of this corpus.", markup=False)
            return
        words = {run.run_id: plain(f"{when(run.created)}  {setup_words(run)}  {run.state}") for run in others}
        choose(
            self._screen.app,
            "Compare with",
            words,
            others[0].run_id,
            lambda run_id: self._take((*self.runs, run_id), self.baseline),
        )

    @property
    def can_take_out(self) -> bool:
        """Return whether enough runs are left without one of them."""
        return len(self.runs) > LEAST_RUNS

    def take_out(self, names: Mapping[str, str]) -> None:
        """Prompt which run to leave out; ``names`` says what each is."""
        if not self.can_take_out:
            self._screen.notify("A comparison needs two runs.", markup=False)
            return

        def without(run_id: str) -> None:
            self._take(tuple(run for run in self.runs if run != run_id), self.baseline)

        choose(self._screen.app, "Take out", self._named(names), self.runs[-1], without)

    def choose_baseline(self, names: Mapping[str, str]) -> None:
        """Prompt with which run the others are compared; ``names`` says what each is."""
        words = {"": "every pair", **self._named(names)}
        choose(
            self._screen.app,
            "Compare all with",
            words,
            self.baseline or "",
            lambda run_id: self._take(self.runs, run_id or None),
        )

    def _named(self, names: Mapping[str, str]) -> dict[str, str]:
        return {id_: names.get(id_, f"–  {id_[:8]}, not compared") for id_ in self.runs}
