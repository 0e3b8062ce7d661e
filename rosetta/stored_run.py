"""A run of the store, as a notebook holds it, and one that is under way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.files.json_types import Json
from harness.card.checking.lint_subject import findings_of, stored_subject
from harness.card.comparability import card_id
from harness.card.model import RunCard
from harness.card.reading import block, inside_words, must_be_released, number, refuse_to_leave
from harness.card.rows import entry_scores, load_card, raw_card
from harness.compare.comparing import compare_runs, require_two
from harness.compare.pairs import Pair
from harness.compare.parts import entries_where
from harness.compare.rows import scorer_of
from harness.core.failures import UsageError
from harness.run.events import Event, Finished
from harness.store.attachments import attached_to
from harness.store.corpora.entries import open_entries
from harness.store.results import entry_ids, read_results, stored_positions
from harness.store.run_list import list_runs
from harness.store.runs import Run, find_run
from harness.store.sqlite.database import opened
from rosetta_tui.compare.sentences import lettered, sentence
from rosetta_tui.html.page import notebook_table
from rosetta_tui.report.run import without_secrets
from rosetta_tui.session.engine import Engine
from rosetta_tui.show.card_fields import (
    claimable,
    review_of,
    stated_findings,
    stated_metrics,
    tier_words,
    with_interval,
)
from rosetta_tui.show.figures import p_value, scale, value
from rosetta_tui.show.run_facts import runs_now, setup_words, tiered
from scoring.core.inventory import metric_named, unknown_metric
from scoring.core.inventory import title as metric_title
from scoring.core.specification import COMPOSITE, Tier
from scoring.findings.finding import finding_sentence

if TYPE_CHECKING:
    import sqlite3

    from harness.api import Ready
    from scoring.findings.finding import OutputFinding


@dataclass(frozen=True, slots=True)
class ClaimedTier:
    """What may be said in public of a run."""

    name: Tier
    """The tier that may be claimed; a text, such as ``functional``."""
    words: str
    """The same with its composite, what people said, and its caveats."""

    def __str__(self) -> str:
        """Return the words."""
        return self.words


@dataclass(frozen=True, slots=True)
class RunHandle:
    """One run of the store; everything is read when it is asked for."""

    run_id: str
    store: Path
    """Path of the store that has it."""

    @property
    def id(self) -> str:
        """The run's id, as ``rosetta runs show`` takes it."""
        return self.run_id

    @property
    def state(self) -> str:
        """``complete`` where it is sealed, ``stopped`` where it was cut, ``running`` where it is under way."""
        with self._opened() as connection:
            run_summaries = runs_now(list_runs(connection, run_id=self.run_id, brief=True))
        return str(run_summaries[0].state) if run_summaries else "deleted"

    @property
    def reason(self) -> str | None:
        """Why it stopped on its own, in words; None where it did not."""
        with self._opened() as connection:
            live = self._read(connection).live
        return None if live is None else live.reason

    @property
    def card(self) -> RunCard:
        """The sealed card, typed: ``run.card.scores.chrf_plus_plus``; HarnessError before the run is complete.

        Of a run with secret entries UsageError: its numbers leave as a released card only (docs/released.md).
        """
        with self._opened() as connection:
            run = self._read(connection)
            refuse_to_leave(connection, [run])
            return load_card(connection, run.id)

    @property
    def tier(self) -> ClaimedTier:
        """Return what may be claimed of it in public: at most ``functional`` until people have reviewed it.

        Of a run with secret entries UsageError, as its words have a score.
        """
        with self._opened() as connection:
            run = self._read(connection)
            refuse_to_leave(connection, [run])
            card = raw_card(connection, run)
            review = review_of(card, attached_to(connection, run.id))
        return ClaimedTier(claimable(card, review), tier_words(card, review))

    @property
    def findings(self) -> tuple[OutputFinding, ...]:
        """Return the faults that can be named in the outputs without a model, the most frequent first: code, entries, examples, cost.

        Empty for a run that is not of translations. HarnessError before the run is complete. Of a run with secret
        entries UsageError.
        """
        with self._opened() as connection:
            run = self._read(connection)
            refuse_to_leave(connection, [run])
            return findings_of(stored_subject(connection, run)) or ()

    def entries(self, where: str = "") -> list[dict[str, Json]]:
        """Return one row for each finished entry, in the order of the corpus, with every metric that it has.

        ``pandas.DataFrame(run.entries())`` and ``polars.DataFrame(run.entries())`` make a table of them. Of a
        secret entry a row has the id and ``withheld`` alone: neither texts nor numbers (docs/corpora.md).

        ``where`` is a filter (docs/filters.md), such as ``chrf<30 why:quotes``; it finds no secret entry. Raises HarnessError
        where it cannot be read.
        """
        with self._opened() as connection:
            run = self._read(connection)
            corpus = open_entries(connection, run.corpus, run.positions)
            results = {result.position: result for result in read_results(connection, run.id, sorted(corpus))}
            ids, done = entry_ids(connection, run.id), sorted(stored_positions(connection, run.id))
            scorer = scorer_of(connection, run)
            fitting = entries_where(connection, run, scorer, where) if where else None
        rows: list[dict[str, Json]] = []
        for place in done:
            entry = corpus.get(place)
            withheld = entry is None or bool((entry.model_extra or {}).get("withheld"))  # or it came without its texts
            if fitting is not None and (withheld or place not in fitting):
                continue
            row: dict[str, Json] = {"entry_id": card_id(ids[place]), "withheld": withheld}
            if entry is not None and not withheld:
                result = results[place]
                row["source"], row["reference"] = entry.source, entry.reference
                row["variants"], row["output"] = list(entry.variants), result.output
                row |= {name: _plain(getattr(entry, field)) for name, field in _TAGS.items()}
                row |= entry_scores(result, scorer)
                row |= {name: _plain(getattr(result, name)) for name in _OUTCOME}
            rows.append(row)
        return rows

    def frame(self) -> Any:
        """Return ``entries()`` as a ``pandas.DataFrame``; UsageError where pandas is not installed."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise UsageError(
                "frame() needs the package pandas, which is not installed. Install it: pip install pandas. "
                "Or make another table of run.entries(), such as polars.DataFrame(run.entries())."
            ) from None
        return pandas.DataFrame(self.entries())

    def _repr_html_(self) -> str:
        """Show the run in a notebook: what it is, what it may be called, its scores and its faults, but no text of an entry."""
        with self._opened() as connection:
            run = self._read(connection)
            [summary] = runs_now(list_runs(connection, run_id=self.run_id, brief=True))
            title = f"Run {self.run_id[:8]}: {setup_words(summary)}"
            lines = [f"{summary.dataset_id} · {summary.language_pair} · {summary.state}"]
            if must_be_released(connection, run):
                return notebook_table(title, [*lines, inside_words(self.run_id)])
            if summary.card is None:
                return notebook_table(
                    title, [*lines, f"{summary.done:,} of {summary.total:,} entries. {self.reason or ''}"]
                )
            card = raw_card(connection, run)
            review = review_of(card, attached_to(connection, run.id))
        scores = block(card, "scores")
        stated = [id_ for id_ in (*stated_metrics([scores]), COMPOSITE) if number(scores.get(id_)) is not None]
        rows = [(metric_title(id_), with_interval(scores, id_), scale(id_)) for id_ in stated]
        claim = [tier_words(card, review)] if tiered(summary) else []
        faults = [f"{finding_sentence(finding)}." for finding in stated_findings(card)]
        return notebook_table(title, [*lines, *claim, *faults], ("metric", "value (95 % interval)", "range"), rows)

    def _opened(self) -> Any:
        return opened(self.store)

    def _read(self, connection: sqlite3.Connection) -> Run:
        return find_run(connection, self.run_id)


def _plain(value: Any) -> Any:
    """Return a name of a list as plain text, which every table takes."""
    return str(value) if isinstance(value, str) else value


_TAGS = {
    "segment": "segment",
    "difficulty": "difficulty",
    "provenance": "provenance",
    "register": "register_",
    "context": "context",
    "variety": "variety",
    "orthography": "orthography",
}
"""Name in a row → field of an entry."""
_OUTCOME = (
    "error_class", "error", "latency_seconds", "cached", "attempts", "prompt_tokens", "completion_tokens",
    "cost_usd", "spent_usd",
)  # fmt: skip
"""Fields of a result that a row has."""


class RunUnderWay:
    """A run that was begun: iterate over it for its events, or ask for its ``result``."""

    def __init__(self, ready: Ready) -> None:
        self.run = RunHandle(ready.run_id, ready.path)
        """The run, as far as it is stored."""
        self._secret = ready.cleared.clearance.secret
        self._engine: Engine = Engine(ready)
        self._engine.start()

    def __iter__(self) -> Iterator[Event]:
        """Yield the events as they come, until the end.

        Of secret entries their outputs and how they came out are left out, and of a run with such entries all scores.
        """
        while not self._engine.wait(_LOOK_SECONDS):
            yield from map(self._open, self._engine.events.drain())
        yield from map(self._open, self._engine.events.drain())

    def _repr_html_(self) -> str:
        return self.run._repr_html_()

    def _open(self, event: Event) -> Event:
        return without_secrets(event, self._secret)

    def stop(self) -> None:
        """Finish what is under way and store it; the run can continue with ``rosetta resume``."""
        self._engine.control.drain()

    def result(self) -> RunHandle:
        """Wait for the end; raises what made the run fail.

        Where the wait is interrupted (Ctrl-C, "Interrupt" in a notebook), the run is broken off and stays in the
        store as one that stopped.
        """
        self.finished()
        return self.run

    def finished(self) -> Finished:
        """Wait for the end and return the last event, as ``result`` does."""
        try:
            while not self._engine.wait(_LOOK_SECONDS):
                pass
        except KeyboardInterrupt:
            self._engine.control.stop()
            self._engine.wait(_PATIENCE_SECONDS)
            raise
        return self._engine.result()


_LOOK_SECONDS = 0.1
_PATIENCE_SECONDS = 5.0
"""How long a run that is broken off may take before the caller continues without it."""


# ---- Two runs held against each other, metric by metric ----


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """How two runs differ by one metric, over the entries that both have."""

    metric: str
    first: float
    second: float
    difference: float
    """``second - first``."""
    ci_lower: float
    ci_upper: float
    """Ends of the 95 % interval of the difference, by paired bootstrap."""
    p: float
    """Of the approximate randomisation, by Holm over all pairs of the comparison."""
    p_bootstrap: float
    significant: bool
    better: str | None
    """``first`` or ``second``; None where that may be chance, or no direction is better."""
    sentence: str
    """The same in words; A is the first run, B the second."""


class RunComparison(Mapping[str, MetricDifference]):
    """The differences of two runs by metric id; any name of a metric finds its own, such as ``chrf++``."""

    def __init__(self, pair: Pair) -> None:
        self.left_out: Mapping[str, str] = dict(pair.left_out)
        """Metric id → why the two do not compare by it."""
        self._names = list(lettered((pair.first, pair.second)).values())
        self._differences = {}
        for metric, difference in pair.by_metric.items():
            sure = pair.significant(metric)
            self._differences[metric] = MetricDifference(
                metric=metric,
                first=difference.first,
                second=difference.second,
                difference=difference.difference,
                ci_lower=difference.lower,
                ci_upper=difference.upper,
                p=pair.p_adjusted[metric],
                p_bootstrap=difference.p_bootstrap,
                significant=sure,
                better=difference.ahead if sure and difference.direction != "neither" else None,
                sentence=sentence(pair, metric),
            )

    def __getitem__(self, name: str) -> MetricDifference:
        """Return the difference by a metric; KeyError says why there is none."""
        id_ = metric_named(name)
        if id_ is None:
            raise KeyError(unknown_metric(name))
        if id_ not in self._differences:
            raise KeyError(f"{id_}: {self.left_out.get(id_, 'it has no value in both')}")
        return self._differences[id_]

    def _repr_html_(self) -> str:
        """Show the differences in a notebook, metric by metric."""
        rows = [
            (
                metric_title(id_), value(id_, one.first), value(id_, one.second),
                f"{value(id_, one.difference)} ({value(id_, one.ci_lower)} … {value(id_, one.ci_upper)})",
                p_value(one.p), {"first": "A", "second": "B"}.get(one.better or "", "–"),
            )
            for id_, one in self._differences.items()
        ]  # fmt: skip
        head = ("metric", "A", "B", "B − A (95 % interval)", "p (Holm)", "better")
        return notebook_table("Comparison of two runs, A and B", self._names, head, rows)

    def __iter__(self) -> Iterator[str]:
        """Yield the ids of the metrics by which the two compare."""
        return iter(self._differences)

    def __len__(self) -> int:
        """Return by how many metrics they compare."""
        return len(self._differences)


def compared(store: Path, first: str, second: str) -> RunComparison:
    """Compare two complete runs of a store by their ids; UsageError with the reasons where they do not compare.

    Of runs with secret entries UsageError too: only ``rosetta vault compare`` shows how they differ.
    """
    with opened(store) as connection:
        refuse_to_leave(connection, [find_run(connection, run_id) for run_id in (first, second)])
        comparison = compare_runs(connection, [first, second])
    require_two(comparison)
    if comparison.running:
        raise UsageError("One of the two runs is not complete. Wait for it, or continue with it.")
    return RunComparison(comparison.pairs[0])
