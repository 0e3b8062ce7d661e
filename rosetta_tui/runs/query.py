"""Which runs of the list are shown, and in which order, as a person types or chooses it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from corpora.text.comparison import comparison_form
from harness.store.run_list import RunSummary
from rosetta_tui.show.figures import better_arrow
from rosetta_tui.show.run_facts import composite_of, headline, headline_id, line_of, setup_words
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.ordered_table import RowOrder

_TERM = re.compile(r'(?:(?P<field>\w+):)?(?:"(?P<quoted>[^"]*)"?|(?P<bare>\S+))')
MOST_CHOICES = 200  # choices of a filter that are offered; typing finds the others too


def _states(run: RunSummary) -> Iterator[str]:
    yield run.state.value
    if run.failed:
        yield "failed"
    if run.imported:
        yield "imported"


FIELDS: Mapping[str, Callable[[RunSummary], Iterable[str]]] = {
    "state": _states,
    "corpus": lambda run: (run.dataset_id,),
    "pair": lambda run: (run.language_pair,),
    "method": lambda run: (run.method,),
    "model": lambda run: (run.model_slug,),
    "condition": lambda run: (run.condition,),
    "tag": lambda run: run.tags,
}
"""Name of a filter → what a run has to say to it; any of it will do."""


def _best(run: RunSummary) -> float | None:
    """Return what a run is shown by first, higher where it is better."""
    value = headline(run)
    less = better_arrow(headline_id(run)) == "↓"
    return -value if less and value is not None else value


_SORTS: Mapping[str, tuple[str, bool, Callable[[RunSummary], float | str | None]]] = {
    "when": ("newest", True, lambda run: run.created),
    "corpus": ("corpus", False, lambda run: run.dataset_id.casefold()),
    "method": ("method and model", False, lambda run: setup_words(run).casefold()),
    "result": ("tier", True, composite_of),
    "chrf": ("chrF++, or the task's score", True, _best),
    "composite": ("composite", True, composite_of),
    "cost": ("cost", False, lambda run: line_of(run).total_cost_usd),
    "failed": ("failed entries", True, lambda run: run.failed),
    "notes": ("tags", False, lambda run: " ".join(run.tags).casefold() or None),
}
"""Name → in words, whether the highest comes first, and what is compared; None comes last."""

SORT_WORDS = {name: words for name, (words, _, _) in _SORTS.items()}


@dataclass(frozen=True, slots=True)
class RunQuery(RowOrder):
    """A wish for runs, by default all, running ones first, then the newest; ``search`` holds words and filters as ``tag:x``."""

    sort: str = "when"

    def narrowed(self, term: str) -> RunQuery:
        """Add a filter, instead of another of the same field; one that holds already goes."""
        parts = [match.group(0) for match in _TERM.finditer(self.search)]
        field = term.partition(":")[0]
        kept = [part for part in parts if not part.startswith(f"{field}:")]
        return replace(self, search=" ".join(kept if term in parts else [*kept, term]))

    @property
    def words(self) -> str:
        """Return how this differs from the default; empty where it does not."""
        parts = [f"only: {plain(self.search)}"] if self.search.strip() else []
        if (self.sort, self.turned) != ("when", False):
            words, falling, _ = _SORTS[self.sort]
            parts.append(f"by {words} {'▼' if falling is not self.turned else '▲'}")
        return " · ".join(parts)

    def apply(self, runs: Sequence[RunSummary], first: frozenset[str]) -> list[RunSummary]:
        """Return the runs that fit, sorted; those in a state of ``first`` are on top where nothing else is asked."""
        terms = list(_terms(self.search))
        kept = [run for run in runs if all(_fits(run, *term) for term in terms)]
        _, falling, value = _SORTS[self.sort]
        known = [run for run in kept if value(run) is not None]
        known.sort(key=value, reverse=falling is not self.turned)  # type: ignore[arg-type]  # None was left out
        ordered = known + [run for run in kept if value(run) is None]
        if self.sort == "when" and not self.turned:
            ordered.sort(key=lambda run: run.state.value not in first)
        return ordered


def _folded(text: str) -> str:
    """Return what is compared: harmless as a field shows it, without the quotes that hold a filter together."""
    return comparison_form(plain(text).replace('"', " ")).casefold()


def _terms(search: str) -> Iterator[tuple[str | None, str]]:
    """Yield field and wanted text of each term; an unknown field belongs to the text."""
    for match in _TERM.finditer(search):
        field = match["field"]
        wanted = _folded(match["bare"] if match["quoted"] is None else match["quoted"])
        if field is None or field in FIELDS:
            yield field, wanted
        else:
            yield None, _folded(match.group(0))


def _fits(run: RunSummary, field: str | None, wanted: str) -> bool:
    if field is None:
        texts = (text for texts_of_field in FIELDS.values() for text in texts_of_field(run))
        return any(wanted in _folded(text) for text in (run.run_id, run.note, *texts))
    return any(wanted == _folded(field_text) for field_text in FIELDS[field](run))


def filters(runs: Sequence[RunSummary]) -> dict[str, str]:
    """Return the filters that narrow these runs down: what is typed for each → in words, with how many runs."""
    filters_found: dict[str, str] = {}
    for field, texts_of_field in FIELDS.items():
        counts = Counter(value for run in runs for value in set(texts_of_field(run)) if value)
        for value, count in counts.most_common():
            if count < len(runs):
                clean = plain(value).replace('"', " ")
                typed = f'{field}:"{clean}"' if not clean or re.search(r"\s", clean) else f"{field}:{clean}"
                filters_found[typed] = f"{field}  {plain(value)}  ({count:,})"
    return dict(list(filters_found.items())[:MOST_CHOICES])
